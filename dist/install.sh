#!/bin/sh
# Installs `instrument` from its release: the binary, the agent, manual pages, completions and documentation.
set -eu

usage() {
    cat <<'HELP'
install.sh [--prefix DIR] [ARCHIVE]     install below DIR (default: /usr/local as root, otherwise ~/.local)
install.sh [--prefix DIR] --uninstall   remove what was installed there

ARCHIVE is instrument-VERSION-linux-ARCHITECTURE.tar.gz, as a file or an https:// address; SHA256SUMS has to lie beside it.
Without ARCHIVE this script installs what it was unpacked with. Nothing is installed if a checksum differs.
HELP
}

fail() {
    echo "install.sh: $*" >&2
    exit 1
}

prefix='' archive='' action=install
while [ $# -gt 0 ]; do
    case $1 in
    --prefix) [ $# -ge 2 ] || fail "--prefix needs a folder"; prefix=$2; shift 2 ;;
    --prefix=*) prefix=${1#*=}; shift ;;
    --uninstall) action=uninstall; shift ;;
    -h | --help) usage; exit ;;
    -*) usage >&2; exit 2 ;;
    *) archive=$1; shift ;;
    esac
done
if [ -z "$prefix" ]; then
    if [ "$(id -u)" = 0 ]; then prefix=/usr/local; else prefix=${HOME:?}/.local; fi
fi
case $prefix in /*) ;; *) prefix=$PWD/$prefix ;; esac
# The list of what was installed, relative to the prefix.
list=$prefix/lib/instrument/installed-files

# Removes the files of the list that stand in the way of no other list, and the folders that are empty then.
remove() {
    while IFS= read -r file; do
        rm -f "$prefix/$file"
        folder=$(dirname "$file")
        while [ "$folder" != . ] && rmdir "$prefix/$folder" 2>/dev/null; do folder=$(dirname "$folder"); done
    done <"$1"
}

if [ $action = uninstall ]; then
    [ -f "$list" ] || fail "nothing is installed below $prefix: there is no $list"
    copy=$(mktemp)
    cp "$list" "$copy"
    rm -f "$list"
    remove "$copy"
    rm -f "$copy"
    echo "removed from $prefix"
    exit
fi

[ "$(uname -s)" = Linux ] || fail "the release is for Linux; this is $(uname -s). Build it from the sources: cargo build --release"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

if [ -n "$archive" ]; then
    name=$(basename "$archive")
    case $archive in
    https://*)
        command -v curl >/dev/null || fail "curl is needed to fetch $archive"
        for file in "$name" SHA256SUMS; do
            curl --proto '=https' --tlsv1.2 -fsSL -o "$work/$file" "${archive%/*}/$file" || fail "cannot fetch ${archive%/*}/$file"
        done
        archive=$work/$name sums=$work/SHA256SUMS
        ;;
    *)
        [ -f "$archive" ] || fail "there is no file $archive"
        sums=$(dirname "$archive")/SHA256SUMS
        [ -f "$sums" ] || fail "there is no $sums to check $name with"
        ;;
    esac
    wanted=$(awk -v name="$name" '$2 == name { print $1 }' "$sums")
    [ -n "$wanted" ] || fail "$sums does not name $name"
    found=$(sha256sum <"$archive" | cut -d' ' -f1)
    [ "$wanted" = "$found" ] || fail "$name is damaged: its SHA-256 is $found, it should be $wanted"
    mkdir "$work/unpacked"
    tar -xzf "$archive" -C "$work/unpacked"
    set -- "$work/unpacked"/instrument-*
    from=$1
else
    from=$(cd "$(dirname "$0")" && pwd)
fi

cd "$from"
if [ ! -f SHA256SUMS ] || [ ! -f bin/instrument ]; then fail "$from is no unpacked release; name the archive"; fi
sha256sum --check --quiet --strict SHA256SUMS || fail "$from is damaged; unpack it again"
# Before anything is written: a glibc that is too old, or none, as on Alpine.
bin/instrument --version >/dev/null || fail "bin/instrument does not run here; it needs Linux on $(basename "$from" | sed 's/.*-linux-//') with glibc"

mkdir -p "$prefix/lib/instrument"
sed 's/^[0-9a-f]* [ *]//' SHA256SUMS | grep -v '^install.sh$' >"$work/files"
if [ -f "$list" ]; then
    # An older version: what this one does not have goes.
    grep -vxF -f "$work/files" "$list" >"$work/old" || true
    remove "$work/old"
fi
while IFS= read -r file; do
    mkdir -p "$prefix/$(dirname "$file")"
    # Under another name first: a binary that runs cannot be written to, and nobody sees half a file.
    cp "$file" "$prefix/$file.new"
    case $file in bin/*) chmod 755 "$prefix/$file.new" ;; *) chmod 644 "$prefix/$file.new" ;; esac
    mv -f "$prefix/$file.new" "$prefix/$file"
done <"$work/files"
cp "$work/files" "$list.new"
mv -f "$list.new" "$list"
echo "installed $("$prefix/bin/instrument" -V) below $prefix; $0 --prefix $prefix --uninstall removes it"
case :$PATH: in *":$prefix/bin:"*) ;; *) echo "note: $prefix/bin is not on the PATH" ;; esac
