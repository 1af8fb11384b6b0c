#!/bin/sh
# What a checkpoint by torchao may have wrong is an error that names file and field or tensor, and projections are joined.
# The build's goldens hold logits, exact weights and saving.
# usage: test.sh HOST PLUGINS_FOLDER GOLDENS_FOLDER
. "$(dirname "$0")/../../tests/quantized.sh"

echo 'nothing to name: the config selects the plugin'
for case in int8_llama:TorchAoInt8Linear int8_qwen2:TorchAoInt8Linear int4_qwen3:TorchAoInt4Linear; do
    class=${case#*:} case=${case%:*}
    fresh "torchao_$case"
    threads
    same "$case, projections apart" --plugins torchao
    plan
    says "Linear -> $class by torchao"
    if grep -q 'unused' "$scratch/plan"; then fail "$case: fields that nobody reads: $(cat "$scratch/plan")"; fi
done

echo 'bad configs'
sound=torchao_int8_llama
bad Int8WeightOnlyConfig Float8WeightOnlyConfig config.json quantization_config.quant_type.default._type \
    'no plugin here reads "Float8WeightOnlyConfig"'
bad PerRow PerToken config.json granularity._type 'expected "PerRow", "PerGroup" or "PerTensor", got "PerToken"'
bad PerRow PerTensor _weight_scale
sound=torchao_int4_qwen3
bad PLAIN TILE_PACKED_TO_4D config.json int4_packing_format._data TILE_PACKED_TO_4D
bad '"group_size": 32' '"group_size": 48' config.json 'group_size: groups of 48 inputs do not divide 64 inputs'
sound=torchao_int8_qwen2
bad '"group_size": 32' '"group_size": 16' _weight_scale

echo 'bad tensors'
sound=torchao_int8_llama
fresh
poke model.layers.0.mlp.up_proj._weight_zero_point '\001'
refused model.safetensors 'model.layers.0.mlp.up_proj: _weight_zero_point: expected zeros, because weights are symmetric, got 1'
sound=torchao_int4_qwen3
spoilt 'o_proj._weight_scale' 'o_proj._weight_skale' model.safetensors o_proj _scales
