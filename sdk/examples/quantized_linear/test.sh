#!/bin/sh
# The example, in whatever language, on a small llama: on request only, close to the original, closer with more bits, the
# same with any number of threads and in a batch; and the layout that it saves gives the same again.
# usage: test.sh HOST LLAMA_FOLDER QUANTIZED_LINEAR
set -eu
host=$1 model=$2 id=$(basename "$3" .so)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/plugins"
cp "$3" "$scratch/plugins/"

"$host" plan --model "$model" --plugins-dir "$scratch/plugins" | grep 'replaced   nothing'
use="--plugins-dir $scratch/plugins --plugins $id"
# shellcheck disable=SC2086 # words
{
    "$host" plan --model "$model" $use | grep "Linear -> ExampleInt8Linear[A-Za-z]* by $id .* in 14 modules"
    worst() { # worst OPTION...: the largest difference of any module
        "$host" verify --model "$model" $use --tolerance 9 --input-ids 5,6,7 "$@" 2>/dev/null |
            sed -n 's/^model.*: largest difference \([^ ]*\) .*/\1/p' | sort -g | tail -n 1
    }
    eight=$(worst) four=$(worst --plugin-option "$id.bits=4")
    awk -v a="$eight" -v b="$four" 'BEGIN { exit !(a > 0 && a < 0.05 && b > 4 * a && b < 1) }'

    run() { # run OPTION...
        "$host" run --model "$model" --report none --quiet --output-ids --max-new-tokens 8 "$@"
    }
    first=$(run $use --input-ids 5,6,7 --threads 1)
    second=$(run $use --input-ids 9,8)
    [ "$(run $use --input-ids 5,6,7 --threads 3)" = "$first" ]
    [ "$(run $use --input-ids 5,6,7 --input-ids 9,8)" = "$(printf '%s\n%s' "$first" "$second")" ]
    "$host" save --model "$model" $use --runtime-layout --quiet --output "$scratch/saved"
    grep -q '"dtype":"I8"' "$scratch/saved/model.safetensors"
    model=$scratch/saved
    [ "$(run $use --input-ids 5,6,7)" = "$first" ]
}
