#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Usage: layout.sh SOURCE sdk|host: what binaries rely on in the public headers below SOURCE/sdk or SOURCE/host.
set -eu
source=$1
here=$(dirname "$0")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
unset MALLOC_PERTURB_ # Ubuntu 24.04's mawk reads freed memory if a program has more than 4,096 bytes
find "$source/$2/include" -name '*.h' | LC_ALL=C sort | xargs awk -f "$here/declarations.awk" |
    awk -f "$here/layout.awk" >"$scratch/layout.c"
cc -I "$source/sdk/include" -I "$source/host/include" "$scratch/layout.c" -o "$scratch/layout"
"$scratch/layout"
