#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Usage: guide.sh SOURCE BUILD MESON: the commands that docs/plugin-guide.md and its chapters show work, in their order, with
# what is installed and nothing else, and print what the documents say: each line of it that is not shortened ("...") and
# has no measured time. Reports in TAP.
# shellcheck disable=SC1091,SC2317 # the scripts that guide.awk makes, and the functions that they call
set -u
. "$1/tests/tap.sh"
source=$(realpath "$1") build=$(realpath "$2") meson=$3
here=$source/tests/languages
scratch=$(mktemp -d "$build/guide-XXXXXX")
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
"$meson" install -C "$build" --no-rebuild --destdir "$scratch/root" >install.log 2>&1 || {
    tail -n 20 install.log
    exit 1
}
PKG_CONFIG_PATH=$scratch/$(dirname "$(find root -name graft-sdk.pc)")
prefix=$(realpath "$(find root -type d -path '*/include/graft')/../..")
PATH=$prefix/bin:$PATH CARGO_NET_OFFLINE=true
export PKG_CONFIG_PATH PATH CARGO_NET_OFFLINE
unset PKG_CONFIG_SYSROOT_DIR LD_LIBRARY_PATH CARGO_TARGET_DIR
if ! grep -q pcfiledir "$PKG_CONFIG_PATH/graft-sdk.pc"; then
    echo '1..0 # SKIP the .pc files lead to the prefix, not to this copy of it'
    exit 0
fi

# What an author has at a step: the example as far as the guide has come with it.
example=$prefix/share/graft/examples/fused_gate_up/fused_gate_up.c
part() { # part SED-SCRIPT: the example without what that leaves out
    sed "$1" "$example" >fused_gate_up.c
}
later='/\.create = /d; /\.destroy = /d; /\.forward = &vtable/d'
section() {
    case $1 in
    '## 3. Describe') part "$later; /\.conversions = /d; /\.n_conversions = /d; /\.conversion_stride = /d" ;;
    '## 4. Convert') part "$later" ;;
    '## 5. Create and forward') part '' ;;
    esac
}
ran() { # ran N STATUS: whether the command did what the document says
    title="$name: $(head -n 1 "$steps/$1.command")"
    number=$((number + 1))
    missing=$(grep -v -e '\.\.\.' -e '[0-9] ms' "$steps/$1.wanted" | while read -r line; do
        grep -qF -e "$line" "$steps/$1.got" || echo "$line"
    done)
    # What shows an error or a report of one may fail.
    if { [ "$2" -eq 0 ] || grep -q -e '^graft: ' -e '^==' "$steps/$1.wanted"; } && [ -z "$missing" ]; then
        echo "ok $number - $title"
    else
        echo "not ok $number - $title"
        printf 'exit status %s; missing:\n%s\ngot:\n%s\n' "$2" "$missing" "$(tail -c 3000 "$steps/$1.got")" | sed 's/^/#   /'
        failed=1
    fi
}
document() { # document FILE [FOLDER]: its commands, in a folder of their own that begins as a copy of the other
    name=$(basename "$1" .md)
    cp -r "${2-empty}" "$name"
    cd "$name" || exit 1
    steps=$scratch/steps-$name
    mkdir "$steps"
    awk -f "$here/guide.awk" FOLDER="$steps" "$prefix/share/doc/graft/docs/$1" >"$steps/script"
    find "$steps" -name '*.c' -o -name '*.cc' | while read -r file; do cp "$file" .; done
    . "$steps/script"
    cd "$scratch" || exit 1
}
unless() { # unless COMMAND DOCUMENT: without the command it is left out
    command -v "$1" >/dev/null && return 1
    number=$((number + 1))
    echo "ok $number # SKIP $2: there is no $1"
}
mkdir empty
document plugin-guide.md
document guide/testing.md plugin-guide
unless dpkg-deb guide/shipping.md || document guide/shipping.md plugin-guide
unless c++ guide/cpp.md || document guide/cpp.md plugin-guide
unless cargo guide/rust.md || document guide/rust.md plugin-guide
unless gdb guide/debugging.md || unless valgrind guide/debugging.md || document guide/debugging.md plugin-guide
check 'there were commands' yes "$([ "$number" -gt 40 ] && echo yes || echo "no, $number")"
echo "1..$number"
exit "$failed"
