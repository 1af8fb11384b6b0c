#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Usage: choices_read.sh SOURCE: every choice of family files (host/arch/*/choices.h) is read by some code. One that is
# accepted and documented, and that nobody reads, would let a family file ask for what is never done.
set -eu
host=$1/host
. "$1/tests/tap.sh"

# The numbers of choices that stand in FOLDER/choices.h and in no other file but the table of their names.
unread() { # unread HOST
    for header in "$1"/arch/*/choices.h; do
        sed -nE 's/^    ([DV]_[A-Z0-9_]+),.*/\1/p' "$header"
    done | sort -u >"$scratch/choices"
    find "$1" -name '*.[ch]' ! -name 'choices.[ch]' -exec grep -ohE '\b[DV]_[A-Z0-9_]+' {} + | sort -u >"$scratch/read"
    comm -23 "$scratch/choices" "$scratch/read" | grep -v '_COUNT$' || true
}

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
check "every choice is read" "" "$(unread "$host")"
check "choices were found" yes "$([ "$(wc -l <"$scratch/choices")" -ge 300 ] && echo yes || echo no)"

# A choice that nobody reads is found.
mkdir -p "$scratch/host/arch/decoder"
printf 'enum {\n    D_READ,\n    D_UNREAD, /* why */\n\n    D_COUNT\n};\n' >"$scratch/host/arch/decoder/choices.h"
printf '[D_READ] = 1, [D_UNREAD] = 2\n' >"$scratch/host/arch/decoder/choices.c"
printf 'read(D_READ);\n' >"$scratch/host/arch/decoder/layer.c"
check "found: a choice that is in the table alone" D_UNREAD "$(unread "$scratch/host")"
echo "1..$number"
exit "$failed"
