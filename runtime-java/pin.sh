#!/bin/sh
# Writes the pinned profiles of this format version: runtime-java/pin.sh. Only for a new version or a new case: the files
# are there to prove that old profiles stay readable.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$here/build.sh" "$work/classes"
javac -cp "$work/classes" -d "$work/classes" "$here/test/Victim.java"
mkdir -p "$work/classes/META-INF/instrument"
gzip -9n > "$work/classes/META-INF/instrument/ids.gz" <<'IDS'
instrument ids 1
class Victim Victim.java
1 leaf (I)I 21 9 0000000000000001
2 thrower (I)I 33 9 0000000000000002
3 through (I)I 48 9 0000000000000003
4 inside (I)I 61 9 0000000000000004
5 divide (I)I 79 9 0000000000000005
IDS
for case in "$@"; do
    (cd "$work" && java -Dinstrument.out="$work/v1-$case.iprof" -cp classes Victim "$case")
    cp "$work/v1-$case.iprof" "$here/../crates/trace/tests/profiles/"
done
