#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# libgraft.so exports, under a version, the calls that the headers in graft/host/ declare, and nothing else; what is
# external in libgraft.a, in libgraft-sdk.a and in the program has our prefix, so that it cannot meet the names of whoever
# links it.
# usage: library_symbols.sh SHARED STATIC INCLUDE SDK-INCLUDE SDK-STATIC PROGRAM
set -eu
shared=$1 static=$2 include=$3 sdk=$4 sdk_static=$5 program=$6
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failed=0

none() { # none WHAT FILE: the file is empty
    if [ -s "$2" ]; then
        echo "$1:"
        sed 's/^/    /' "$2"
        failed=1
    fi
}

# Statement by statement, as the compiler reads them; the headers of the SDK, which are included, declare one call.
for header in "$include"/graft/host/*.h; do
    cc -E -P -I "$include" -I "$sdk" "$header"
done | tr '\n' ' ' | tr ';{}' '[\n*]' | grep -v -w -e static -e return -e graft_plugin_entry -e '.*=.*' |
    sed -n 's/^ *[a-z][^(=]*[ *]\(graft_[a-z0-9_]*\) *(.*/\1/p' | sort -u >"$scratch/declared"
nm -D --defined-only "$shared" | awk '$2 != "A" {print $3}' >"$scratch/versioned"
sed 's/@.*//' "$scratch/versioned" | sort >"$scratch/exported"
comm -23 "$scratch/declared" "$scratch/exported" >"$scratch/missing"
comm -13 "$scratch/declared" "$scratch/exported" >"$scratch/surplus"
grep -v '@@GRAFT_[0-9]*$' "$scratch/versioned" >"$scratch/bare" || true
none "declared in graft/host/ but not exported" "$scratch/missing"
none "exported but not declared in graft/host/" "$scratch/surplus"
none "exported without a version" "$scratch/bare"

soname=$(readelf -d "$shared" | sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p')
if [ "$soname" != libgraft.so.1 ]; then
    echo "the soname is '$soname', not libgraft.so.1"
    failed=1
fi

without_prefix() { # without_prefix FILE: the sanitizers, coverage and the C library add names of their own
    nm -g --defined-only "$1" | awk 'NF == 3 {print $3}' | grep -v -e '^graft_' -e '^_' -e '@' -e '^data_start$' || true
}

nm -g --defined-only "$static" | awk 'NF == 3 {print $3}' >"$scratch/external"
without_prefix "$static" >"$scratch/foreign"
none "external in libgraft.a without the prefix graft_" "$scratch/foreign"
without_prefix "$sdk_static" >"$scratch/foreign"
none "external in libgraft-sdk.a without the prefix graft_" "$scratch/foreign"
# mold drops the version of what every linker copies from the C library into a program: streams, environ.
without_prefix "$program" | grep -v -x -e main -e environ -e stdin -e stdout -e stderr >"$scratch/foreign" || true
none "external in the program without the prefix graft_" "$scratch/foreign"

echo "libgraft.so exports $(wc -l <"$scratch/exported") calls; libgraft.a has $(wc -l <"$scratch/external") symbols"
[ -s "$scratch/exported" ] && [ -s "$scratch/external" ] && [ "$failed" -eq 0 ]
