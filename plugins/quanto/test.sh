#!/bin/sh
# What a checkpoint by Quanto may have wrong is an error that names file and field, and modules join or stay apart with a
# line. The build's goldens hold logits, exact weights and saving.
# usage: test.sh HOST PLUGINS_FOLDER GOLDENS_FOLDER
. "$(dirname "$0")/../../tests/quantized.sh"

echo 'nothing to name: the config selects the plugin'
for case in int4_llama int2_qwen2 int8_qwen2 float8_qwen3; do
    fresh "quanto_$case"
    one=$(run --threads 1)
    [ "$one" = "$(run --threads 3)" ] || fail "$case differs with the number of threads"
    [ "$one" = "$(run --plugins quanto)" ] || fail "$case differs where projections are apart"
    "$host" plan --plugins-dir "$plugins" --model "$scratch/model" >"$scratch/plan"
    grep -q 'Linear -> QLinear by quanto' "$scratch/plan" || fail "$case: not used: $(cat "$scratch/plan")"
    case $case in
    *8_*) grep -q 'weight._data: Concatenate(dim=0)' "$scratch/plan" || fail "not joined: $(cat "$scratch/plan")" ;;
    *) grep -q '"weight._data._data" of q_proj is nothing that can be joined' "$scratch/plan" || fail "no line: $(cat "$scratch/plan")" ;;
    esac
done

echo 'bad configs'
config '"weights": "int4"' '"weights": "int2"' quanto_int4_llama
refused weight._data._data
config '"weights": "int4"' '"weights": "int8"' quanto_int4_llama
refused weight._data: missing
config '"weights": "int8"' '"weights": "float8"' quanto_int8_qwen2
refused weight._data F8_E4M3 I8
config '"weights": "float8"' '"weights": "float9"' quanto_float8_qwen3
refused config.json 'quantization_config.weights: expected "int8", "float8", "int4" or "int2", got "float9"'
config '"weights": "int2"' '"weights": 2' quanto_int2_qwen2
refused config.json 'quantization_config.weights: expected a string, got an integer (2)'
config '"intermediate_size": 256' '"intermediate_size": 320' quanto_int4_llama
refused model.layers.0.mlp
