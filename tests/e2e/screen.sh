#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What takes longer than a second shows how far it is: on a terminal, on a line that is gone in the end. Reports in TAP.
# usage: screen.sh HOST ROOT SLOW   SLOW is a plugin that is slow to open
set -u
. "$(dirname "$0")/../tap.sh"
program=$(realpath "$1")
root=$(realpath "$2")
slow=$(realpath "$3")
demo=$root/demo/tiny-qwen2-moe
llama=$root/tests/goldens/plain/llama
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1

if ! script -qec true /dev/null >/dev/null 2>&1; then
    echo '1..0 # SKIP there is no script(1) to make a terminal with'
    exit 0
fi

# terminal COMMAND: runs it on a terminal; what that is sent goes to `seen`, a line for each that is written over
terminal() {
    script -qec "$1" /dev/null </dev/null | tr '\r' '\n' >seen
}

# Measuring the speed of memory, before each run and once more, takes more than a second anywhere.
bench="'$program' bench --model '$llama' --prompt-tokens 32 --new-tokens 4 --repeat 8"
terminal "$bench 2>err"
check 'stderr is no terminal: no progress' '' "$(cat err)$(grep measuring seen)"
has 'stderr is no terminal: a result' 'prompt tokens' seen
terminal "$bench --quiet"
check '--quiet: no progress' '' "$(grep measuring seen)"
terminal "$bench >out"
has 'a terminal: progress' 'measuring: ' seen
check 'a terminal: how much of it' yes "$(grep -qE '^measuring: [0-7] of 8 runs, [0-9]+ s *$' seen && echo yes)"
check 'a terminal: the line is cleared' '' "$(tail -n 1 seen | tr -d ' ')"
check 'a terminal: not on stdout' '' "$(grep measuring out)"

# Each check takes a third of a second with this plugin; the line says which one it is, and how many are made.
validate="'$program' validate --only file --only descriptor '$slow'"
terminal "$validate 2>err"
check 'validate, stderr is no terminal: no progress' '' "$(cat err)$(grep ' checks, ' seen)"
terminal "$validate --quiet"
check 'validate --quiet: no progress' '' "$(grep ' checks, ' seen)"
terminal "$validate >out"
check 'validate: what is checked, and how much of it' yes \
    "$(grep -qE '^descriptor\.[a-z_]*: [1-9][0-9]* of [0-9]+ checks, [1-9][0-9]* s *$' seen && echo yes)"
check 'validate: not on stdout' '' "$(grep ' checks, ' out)"
check 'validate: the line is cleared' '' "$(tail -n 1 seen | tr -d ' ')"
terminal "$validate"
check 'validate: results have lines of their own' "$(grep -c '^ok ' out)" "$(grep -c '^ok ' seen)"
check 'validate: the last is the plan' "$(tail -n 1 out)" "$(grep . seen | tail -n 1)"

# What is quick shows nothing, and text that comes out is left alone.
terminal "'$program' --report none --model '$demo' --prompt 'The opposite of hot is'"
check 'a short text: nothing but the text' ' cold.' "$(grep . seen)"
terminal "'$program' --report none --model '$demo' --input-ids 5,6 --max-new-tokens 2 --output-ids"
check 'ids: nothing but ids' 1 "$(grep -c . seen)"
echo "1..$number"
exit "$failed"
