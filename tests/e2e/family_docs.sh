#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The documents about family files say what the program does, that about model types which of them run, and those with
# reports of `validate` how many checks it makes (docs/family.md, docs/family.schema.json, docs/models.md,
# docs/validate.md, docs/guide). Reports in TAP.
# usage: family_docs.sh HOST ROOT MODELS     MODELS is the folder of a build that has the golden cases of types
# shellcheck disable=SC2016 # backquotes of Markdown
set -u
. "$(dirname "$0")/../tap.sh"
host=$(realpath "$1") root=$(realpath "$2") models=$(realpath "$3")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1

# What is made of the program, made again.
mkdir -p copy/docs/guide
documents="family.md family.schema.json models.md validate.md $(cd "$root/docs" && echo guide/*.md)"
for document in $documents; do
    cp "$root/docs/$document" "copy/docs/$document" && chmod u+w "copy/docs/$document"
done
"$root/scripts/renew-docs" "$host" copy 2>err
check 'renew-docs: no messages' '' "$(cat err)"
for document in $documents; do
    check "$document is as scripts/renew-docs writes it" '' "$(diff "$root/docs/$document" "copy/docs/$document" | head -n 20)"
done
check 'reports of validate are there' many "$([ "$(cat copy/docs/guide/*.md copy/docs/validate.md | grep -c '^    1\.\.[0-9]')" -gt 4 ] && echo many)"
check 'the tables have rows' many "$([ "$(grep -c '^| `' copy/docs/family.md)" -gt 100 ] && echo many)"

# Members: of the schema, of the table, and those that the program takes.
sed -n '/^ "properties": {/,$p' "$root/docs/family.schema.json" | grep -o '^  "[a-z_$]*"' | tr -d ' "' | sort >schema
{
    echo "\$schema"
    sed -n '/^## Members/,/^## /p' "$root/docs/family.md" | grep '^| `' | sed 's/ | .*//' | grep -o '`[a-z_]*`' | tr -d '`'
} | sort >table
check 'the table of members has those of the schema' "$(cat schema)" "$(cat table)"
mkdir wrong
while read -r member; do
    echo "{\"model_type\": \"acme\", \"like\": \"llama\", \"$member\": 7}" >wrong/acme.family.json
    "$host" list --plugins-dir wrong >out 2>err
    grep -q "unknown field\|$member: no such" err && echo "$member"
done <schema >unknown
check 'the program knows them' '' "$(cat unknown)"
echo '{"model_type": "acme", "like": "llama", "other": 7}' >wrong/acme.family.json
"$host" list --plugins-dir wrong >out 2>err
has 'and no other' 'other: unknown field' err

# The example: Granite in four choices.
mkdir example
sed -n '/^Granite is Llama/,/^    }$/p' "$root/docs/family.md" | grep '^    ' >example/granite.family.json
case=$models/granite-multipliers
ids=$(sed -n 's/.*"input_ids": \[\([0-9, ]*\)\].*/\1/p' "$models/cases.json" | tr -d ' ')
"$host" run --quiet --plugins-dir example --plugins granite --model "$case" --input-ids "$ids" --max-new-tokens 1 --output-ids \
    --dtype float32 --logits logits.safetensors >out 2>err
check 'the example runs' 0 $?
numbers() { # numbers FILE: its last 1920 numbers
    tail -c 7680 "$1" | od -An -v -tf4 -w4
}
numbers logits.safetensors >ours
numbers "$case/golden.safetensors" >theirs
check 'the example has the logits of the reference' 0 \
    "$(paste ours theirs | awk '{ d = $1 - $2; if (d > 1e-4 || d < -1e-4) n++ } END { print NR == 1920 ? n + 0 : NR " numbers" }')"

# Files of known types can lie among plugins.
mkdir shown
"$host" family show qwen3 >shown/qwen3.family.json
"$host" list --families --plugins-dir shown --plugins qwen3 >out 2>err
has 'family show: a file like any other' 'qwen3: Qwen3ForCausalLM' out
has 'family show: it goes first' 'by plugin qwen3' out

refused() { # refused WHAT MESSAGE WORD...: misuse
    what=$1 message=$2
    shift 2
    "$host" family "$@" >out 2>err
    check "$what: exit status" 2 $?
    has "$what: says so" "$message" err
}
refused 'no word' 'family: expected choices, new or show'
refused 'another word' 'family: expected choices, new or show' old
refused 'choices of something' 'choices: takes nothing more' choices llama
refused 'no type' 'show: expected one model type' show
refused 'two types' 'show: expected one model type' show llama qwen3
refused 'an unknown type' 'lama: not a model type that a family file describes' show lama
refused 'no directory' 'new: expected one model directory' new
refused 'show with --json' '--json: is for `family choices`' show llama --json
refused 'show with --like' '--like: is for `family new`' show llama --like llama
refused 'an option of other commands' 'not an option of this command' choices --model x
echo "1..$number"
exit "$failed"
