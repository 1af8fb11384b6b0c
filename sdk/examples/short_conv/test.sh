#!/bin/sh
# The example on a small llama: on request only, it takes effect, the plan counts its states, and neither neighbours in a batch nor the
# place where a prompt ends make a difference.
# usage: test.sh HOST LLAMA_FOLDER SHORT_CONV
set -eu
host=$1 model=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cp "$3" "$scratch/"

"$host" plan --model "$model" --plugins-dir "$scratch" | grep 'replaced   nothing'
use="--plugins-dir $scratch --plugins short_conv"
# shellcheck disable=SC2086 # words
"$host" plan --model "$model" $use | grep ', 2048 bytes of state for each sequence$'
"$host" plan --model "$model" --plugins-dir "$scratch" --enable short_conv | grep ', 2048 bytes of state for each sequence$'
# shellcheck disable=SC2086 # words
"$host" plan --model "$model" $use --json | grep '"state_bytes": 2048'
"$host" plan --model "$model" --json | grep '"state_bytes": 0'
if "$host" plan --model "$model" | grep 'of state'; then exit 1; fi
# shellcheck disable=SC2086 # words
"$host" inspect ShortConvDecoderLayer --model "$model" $use --json | tr -d ' \n' |
    grep '"states":\[{"name":"hidden_states","shape":\[2,64\],"dtype":"F32"}\]'

ids() { # ids NEW-TOKENS OPTION...
    count=$1
    shift
    "$host" run --model "$model" --report none --quiet --output-ids --max-new-tokens "$count" "$@"
}
with() {
    ids "$@" --plugins-dir "$scratch" --plugins short_conv
}
first=$(with 6 --input-ids 1,5,9,2,7)
second=$(with 6 --input-ids 3,4)
[ "$first" != "$(ids 6 --input-ids 1,5,9,2,7)" ]
[ "$(with 6 --input-ids 1,5,9,2,7 --input-ids 3,4)" = "$(printf '%s\n%s' "$first" "$second")" ]
begun=$(echo "$first" | cut -d, -f 1-3)
[ "$(with 3 --input-ids "1,5,9,2,7,$begun")" = "$(echo "$first" | cut -d, -f 4-6)" ]
