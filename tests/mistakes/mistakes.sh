#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Usage: mistakes.sh HOST PLUGIN CASES EVERY [SANITIZED]: `validate` names each mistake of CASES, when PLUGIN makes it,
# by module, array and cause; and finds nothing when it makes none. A line of CASES is a mistake, the check that is made,
# and what a line of its report has to hold; each EVERY-th is tried. SANITIZED is the plugin with sanitizers. Reports in
# TAP.
set -u
. "$(dirname "$0")/../tap.sh"
host=$1 plugin=$2 cases=$3 every=$4 count=0
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

check 'without a mistake nothing is found' "1..$("$host" validate --list | wc -l)" \
    "$("$host" validate --quiet "$plugin" 2>&1)"
while IFS='|' read -r name only says; do
    case $name in '' | '#'*) continue ;; esac
    count=$((count + 1))
    [ $((count % every)) -eq 0 ] || continue
    GRAFT_TEST_MISTAKE=$name "$host" validate --quiet "$plugin" --only "$only" >"$scratch/out" 2>&1
    has "$name" "$says" "$scratch/out"
done <"$cases"
GRAFT_TEST_MISTAKE=says_it_guards "$host" validate "$plugin" --only call.statics >"$scratch/out" 2>&1
has 'one that guards its static variables is believed' '# SKIP llama: it says that it guards its static variables' \
    "$scratch/out"
check 'there are sixty mistakes' yes "$([ "$count" -ge 60 ] && echo yes || echo "$count")"
if [ $# -gt 4 ]; then
    check 'with sanitizers nothing is found without a mistake' "1..$("$host" validate --list | wc -l)" \
        "$("$host" validate --quiet "$5" 2>&1)"
    for mistake in overflows reads_past_malloc reads_past_x; do
        GRAFT_TEST_MISTAKE=$mistake "$host" validate --quiet "$5" --only call.bounds >"$scratch/$mistake" 2>&1
    done
    has 'what the undefined behaviour sanitizer says comes through' \
        'linear.c' "$scratch/overflows"
    has 'and is the cause' 'runtime error: signed integer overflow: ' "$scratch/overflows"
    has 'what the address sanitizer says is the cause' \
        'call.bounds: llama: AddressSanitizer: heap-buffer-overflow ' "$scratch/reads_past_malloc"
    has 'and it comes through' 'READ of size 4 at ' "$scratch/reads_past_malloc"
    has 'what we see ourselves is seen' \
        'Read 4 bytes past the end of x [41, 48] in forward of model.layers.0.mlp.down_proj (AcmeLinear)' "$scratch/reads_past_x"
fi
echo "1..$number"
exit "$failed"
