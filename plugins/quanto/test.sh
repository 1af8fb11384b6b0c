#!/bin/sh
# What a checkpoint by Quanto may have wrong is an error that names file and field, and modules join or stay apart with a
# line. The build's goldens hold logits, exact weights and saving.
# usage: test.sh HOST PLUGINS_FOLDER GOLDENS_FOLDER
. "$(dirname "$0")/../../tests/quantized.sh"

echo 'nothing to name: the config selects the plugin'
for case in int4_llama int2_qwen2 int8_qwen2 float8_qwen3; do
    fresh "quanto_$case"
    threads
    same "$case, projections apart" --plugins quanto
    plan
    says 'Linear -> QLinear by quanto'
    case $case in
    *8_*) says 'weight._data: Concatenate(dim=0)' ;;
    *) says '"weight._data._data" of q_proj is nothing that can be joined' ;;
    esac
done

echo 'bad configs'
sound=quanto_int4_llama
bad '"weights": "int4"' '"weights": "int2"' weight._data._data
bad '"weights": "int4"' '"weights": "int8"' weight._data: missing
bad '"intermediate_size": 256' '"intermediate_size": 320' model.layers.0.mlp
sound=quanto_int8_qwen2
bad '"weights": "int8"' '"weights": "float8"' weight._data F8_E4M3 I8
sound=quanto_float8_qwen3
bad '"weights": "float8"' '"weights": "float9"' config.json \
    'quantization_config.weights: expected "int8", "float8", "int4" or "int2", got "float9"'
sound=quanto_int2_qwen2
bad '"weights": "int2"' '"weights": 2' config.json 'quantization_config.weights: expected a string, got an integer (2)'
