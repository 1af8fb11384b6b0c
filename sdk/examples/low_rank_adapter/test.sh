#!/bin/sh
# The example, in whatever language, on a small llama: it does for an adapter what the plugin `lora` does, two of them add
# up, a scale counts, and what it does not do it refuses.
# usage: test.sh HOST LLAMA_FOLDER LOW_RANK_ADAPTER LORA
set -eu
host=$1 model=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/example" "$scratch/lora"
cp "$3" "$scratch/example/"
cp "$4" "$scratch/lora/"
adapter=$model/adapters/attention_r8

run() { # run OPTION...
    "$host" run --model "$model" --report none --quiet --output-ids --max-new-tokens 12 --input-ids 3,14,15 "$@"
}
plain=$(run --plugins-dir "$scratch/example")
adapted=$(run --plugins-dir "$scratch/example" --adapter "a=$adapter")
[ "$plain" = "$(run)" ]
"$host" plan --model "$model" --plugins-dir "$scratch/example" | grep 'has no effect on this model: no adapter is given$'
[ "$plain" != "$adapted" ]
[ "$adapted" = "$(run --plugins-dir "$scratch/lora" --adapter "a=$adapter")" ]
[ "$plain" = "$(run --plugins-dir "$scratch/example" --adapter "a=$adapter" --adapter-scale a=0)" ]
two() { # two FOLDER
    run --plugins-dir "$1" --adapter "a=$adapter" --adapter "b=$adapter" --adapter-scale b=0.5
}
[ "$(two "$scratch/example")" = "$(two "$scratch/lora")" ]
[ "$(two "$scratch/example")" != "$adapted" ]

status=0
run --plugins-dir "$scratch/example" --adapter "a=$model/adapters/patterns_rslora" 2>"$scratch/err" || status=$?
[ "$status" = 4 ]
grep 'patterns_rslora: adapter_config.json: use_rslora: expected none' "$scratch/err"
