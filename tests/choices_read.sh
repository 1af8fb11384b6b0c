#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Usage: choices_read.sh SOURCE: every choice of family files (host/arch/*/choice_list.h) is read by some code. One that is
# accepted and documented, and that nobody reads, would let a family file ask for what is never done.
set -eu
host=$1/host
. "$1/tests/tap.sh"

# The numbers of choices that stand in FOLDER/choice_list.h and in no other file but the table of their names.
unread() { # unread HOST
    sed -nE 's/^CHOICE\(([DV]_[A-Z0-9_]+),.*/\1/p' "$1"/arch/*/choice_list.h | sort -u >"$scratch/choices"
    find "$1" -name '*.[ch]' ! -name 'choices.[ch]' ! -name choice_list.h -exec grep -ohE '\b[DV]_[A-Z0-9_]+' {} + | sort -u >"$scratch/read"
    comm -23 "$scratch/choices" "$scratch/read" | grep -v '_COUNT$' || true
}

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
check "every choice is read" "" "$(unread "$host")"
check "choices were found" yes "$([ "$(wc -l <"$scratch/choices")" -ge 300 ] && echo yes || echo no)"

# A choice that nobody reads is found.
mkdir -p "$scratch/host/arch/decoder"
printf 'CHOICE(D_READ, INT, 1)\nCHOICE(D_UNREAD,\n       INT, 2) /* why */\n' >"$scratch/host/arch/decoder/choice_list.h"
printf 'read(D_READ);\n' >"$scratch/host/arch/decoder/layer.c"
check "found: a choice that is in the table alone" D_UNREAD "$(unread "$scratch/host")"
echo "1..$number"
exit "$failed"
