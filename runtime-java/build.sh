#!/bin/sh
# Compiles the runtime into a directory: runtime-java/build.sh OUT_DIR
# The same compiler gives the same bytes: no debug tables but source and lines, a fixed file order, a fixed encoding.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
out=${1:?usage: build.sh OUT_DIR}
javac=${JAVAC:-${JAVA_HOME:+$JAVA_HOME/bin/}javac}
mkdir -p "$out"
LC_ALL=C
export LC_ALL
stubs=$(mktemp -d)
trap 'rm -rf "$stubs"' EXIT
# What the JDK has and no compiler shows.
# shellcheck disable=SC2046
"$javac" --release 8 -Xlint:-options -proc:none -d "$stubs" $(find "$here/stubs" -name '*.java' | sort)
# shellcheck disable=SC2046
"$javac" --release 8 -Xlint:all,-options -Werror -proc:none -g:source,lines -encoding UTF-8 -implicit:none \
    -cp "$stubs" -d "$out" $(find "$here/src" -name '*.java' | sort)
# A stub takes the place of a class of Java 8 only where no release is given.
# shellcheck disable=SC2046
"$javac" -source 8 -target 8 -Xbootclasspath/p:"$stubs" -Xlint:all,-options -Werror -proc:none -g:source,lines \
    -encoding UTF-8 -implicit:none -cp "$out" -d "$out" $(find "$here/later" -name '*.java' | sort)
