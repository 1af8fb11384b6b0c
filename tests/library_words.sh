#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Usage: library_words.sh SOURCE: the library's strings name no option and no command of the program: those are the
# program's own (host/cli), which puts them in the place of the library's words (host/cli/hints.c).
set -eu
host=$1/host
. "$1/tests/tap.sh"

# Lines of FILES with a string literal in which an option or a command of the program stands.
spoken() {
    grep -nE '"[^"]*(--[a-z]|\<host (run|plan|save|list|inspect|verify|bench|tokenize|perplexity)\>)' "$@" || true
}

# The style of a page has names that begin like options.
files=$(find "$host" -name '*.[ch]' ! -path "$host/cli/*" ! -path "$host/main.c" ! -path "$host/examples/*" ! -name '*_style.c')
# shellcheck disable=SC2086 # one word a file
check "strings of the library name no options and commands" "" "$(spoken $files)"

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
printf 'hint(error, "choose another with --kernels");\nfine(a --b);\nhint("see host plan --json");\n' >"$scratch/fault.c"
check "an option and a command are found" 2 "$(spoken "$scratch/fault.c" | wc -l | tr -d ' ')"

# What is put in another's place is still what the library says.
sed -nE '/^static const struct translation/,/^};/s/^    \{"([^"]*)",.*/\1/p' "$host/cli/hints.c" >"$scratch/words"
while IFS= read -r words; do
    # shellcheck disable=SC2086
    check "the library says: $words" 1 "$(cat $files | grep -cF "\"$words\"" | sed 's/[2-9]/1/')"
done <"$scratch/words"
check "all words were looked for" yes "$([ "$(wc -l <"$scratch/words")" -ge 13 ] && echo yes || echo no)"
# shellcheck disable=SC2086
check "the library says that a plugin has to be enabled" 3 "$(cat $files | grep -cF "enable it by id")"
echo "1..$number"
exit "$failed"
