#!/bin/sh
# What a checkpoint by torchao may have wrong is an error that names file and field or tensor, and projections are joined.
# The build's goldens hold logits, exact weights and saving.
# usage: test.sh HOST PLUGINS_FOLDER GOLDENS_FOLDER
. "$(dirname "$0")/../../tests/quantized.sh"

echo 'nothing to name: the config selects the plugin'
for case in int8_llama:TorchAoInt8Linear int8_qwen2:TorchAoInt8Linear int4_qwen3:TorchAoInt4Linear; do
    class=${case#*:} case=${case%:*}
    fresh "torchao_$case"
    one=$(run --threads 1)
    [ "$one" = "$(run --threads 3)" ] || fail "$case differs with the number of threads"
    [ "$one" = "$(run --plugins torchao)" ] || fail "$case differs where projections are apart"
    "$host" plan --plugins-dir "$plugins" --model "$scratch/model" >"$scratch/plan"
    grep -q "Linear -> $class by torchao" "$scratch/plan" || fail "$case: not used: $(cat "$scratch/plan")"
    if grep -q 'unused' "$scratch/plan"; then fail "$case: fields that nobody reads: $(cat "$scratch/plan")"; fi
done

echo 'bad configs'
config Int8WeightOnlyConfig Float8WeightOnlyConfig torchao_int8_llama
refused config.json quantization_config.quant_type.default._type 'no plugin here reads "Float8WeightOnlyConfig"'
config PLAIN TILE_PACKED_TO_4D torchao_int4_qwen3
refused config.json int4_packing_format._data TILE_PACKED_TO_4D
config PerRow PerToken torchao_int8_llama
refused config.json granularity._type 'expected "PerRow", "PerGroup" or "PerTensor", got "PerToken"'
config '"group_size": 32' '"group_size": 48' torchao_int4_qwen3
refused config.json 'group_size: groups of 48 inputs do not divide 64 inputs'
config '"group_size": 32' '"group_size": 16' torchao_int8_qwen2
refused _weight_scale
config PerRow PerTensor torchao_int8_llama
refused _weight_scale

echo 'bad tensors'
fresh torchao_int8_llama
printf '\001' | dd of="$scratch/model/model.safetensors" bs=1 \
    seek="$(offset_of model.layers.0.mlp.up_proj._weight_zero_point)" conv=notrunc 2>/dev/null
refused model.safetensors 'model.layers.0.mlp.up_proj: _weight_zero_point: expected zeros, because weights are symmetric, got 1'
fresh torchao_int4_qwen3
LC_ALL=C sed 's/o_proj._weight_scale/o_proj._weight_skale/' "$scratch/model/model.safetensors" >"$scratch/edited"
cp "$scratch/edited" "$scratch/model/model.safetensors"
refused model.safetensors o_proj _scales
