#!/bin/sh
# What a compressed-tensors checkpoint may have wrong is an error that names tensor or field, modules that were not
# converted are left alone, shards may split a module, and the number of threads changes nothing. The build's goldens
# hold logits, exact weights and saving.
# usage: test.sh HOST PLUGINS_FOLDER GOLDENS_FOLDER
. "$(dirname "$0")/../../tests/quantized.sh"

one_line=1

echo 'other spellings'
while read -r sound from to; do
    fresh
    one=$(run)
    config "$from" "$to"
    same "$to"
done <<'END'
ct_w4a16_llama "compressed-tensors" "Compressed-Tensors"
ct_w4a16_llama "strategy":."group" "strategy":"GROUP"
ct_w4a16_llama "strategy":."group" "strategy":null
ct_w4a16_llama "type":."int" "type":"INT"
ct_w4a16_llama "actorder":.null "actorder":false
ct_w4a16_llama "actorder":.null "actorder":"static"
ct_w4a16_actorder_llama "actorder":."group" "actorder":true
ct_w4a16_actorder_llama "actorder":."group" "actorder":"dynamic"
ct_fp8_block_llama "block_structure":.\[[^]]*\] "block_structure":"128x128"
ct_w4a16_llama "kv_cache_scheme":.null "kv_cache_scheme":{"num_bits":8,"type":"float"}
END
plan
says 'note *quantization_config.kv_cache_scheme: the cache of keys and values is not quantized by it'

echo 'nothing to name: the config selects the plugin'
sound=ct_mixed_qwen3
fresh
threads
plan
says 'Linear -> CompressedLinear by compressed_tensors'
says 'note .*leaves 1 module alone, lm_head: no tensor "weight_scale"'

echo 'panels'
panels

echo 'shards that split a module'
sharded 8000 'model.layers.0.mlp.up_proj.weight_[a-z]*'

echo 'scales of float4: their divisor, where it is the same, leaves projections joined'
sound=ct_nvfp4_qwen3
fresh
threads
plan --strict
says 'note .*fused_qkv: .* leaves 1 module alone, model.layers.1.self_attn: .*"weight_global_scale"'

echo 'bad configs'
group=quantization_config.config_groups.group_0
sound=ct_w4a16_llama
bad '"num_bits": 4' '"num_bits": 3' config.json $group.weights.num_bits 'expected 4 or 8, got 3'
bad '"num_bits": 4' '"num_bits": 8' model.layers.0.self_attn.q_proj.weight_packed '[128, 32]' '[128, 16]'
bad '"group_size": 128' '"group_size": 0' config.json $group.weights.group_size 'got 0'
bad '"group_size": 128' '"group_size": 64' weight_scale '[128, 2]' '[128, 1]'
bad '"group_size": 128' '"group_size": 12' model.layers.0.self_attn. 'groups of 12 inputs do not fill words'
bad '"pack-quantized"' '"mxfp6-pack-quantized"' config.json quantization_config.format mxfp6-pack-quantized
bad '"pack-quantized"' '"nvfp4-pack-quantized"' config.json $group.weights.type 'expected "float", got "int"'
bad '"actorder": null' '"actorder": "sometimes"' config.json $group.weights.actorder sometimes
sound=ct_w8a8_int8_llama
bad '\("weights": .*\)"num_bits": 8' '\1"num_bits": 4' config.json $group.weights.num_bits 'expected 8, got 4'
bad '\("weights": .*\)"symmetric": true' '\1"symmetric": false' config.json $group.weights.symmetric
sound=ct_mxfp4_llama
bad '\("weights": .*\)"num_bits": 4' '\1"num_bits": 8' config.json $group.weights.num_bits 'expected 4, got 8'
bad '\("weights": .*\)"group_size": 32' '\1"group_size": 16' config.json $group.weights.group_size 'expected 32, got 16'
sound=ct_nvfp4_qwen3
bad '\("weights": .*\)"strategy": "tensor_group"' '\1"strategy": "group"' \
    config.json $group.weights.strategy 'expected "tensor_group", got "group"'
bad '"dynamic": "local"' '"dynamic": "sometimes"' config.json $group.input_activations.dynamic 'expected a boolean'
bad 'nvfp4-pack-quantized' 'mxfp4-pack-quantized' \
    config.json $group.weights.strategy 'expected "group", got "tensor_group"'
sound=ct_mixed_qwen3
bad '"format": "float-quantized"' '"format": "marlin-24"' config.json $group.format marlin-24
bad '"sparsity_config": {}' '"quantization_config": {"format": "dense"}' \
    config.json quantization_config.quantization_config
bad '"sparsity_config": {}' '"sparsity_config": {"format": "sparse-24-bitmask"}' \
    config.json quantization_config.sparsity_config.format sparse-24-bitmask
bad '"transform_config": {}' '"transform_config": {"config_groups": {}}' \
    config.json quantization_config.transform_config
config '"sparsity_config": {}' '"sparsity_config": {"format": "dense", "targets": []}'
run >/dev/null
bad 're:\.\*mlp' 're:.*mlps' config.json quantization_config.config_groups model.layers.0.mlp
bad 're:\.\*mlp' 're:(.*mlp' config.json 'invalid regular expression' '(.*mlp'
sound=ct_fp8_block_llama
bad '"strategy": "block"' '"strategy": "tensor_group"' config.json $group.weights.strategy tensor_group
bad '"block_structure": \[ *128' '"block_structure": [-1' config.json $group.weights.block_structure.0 'got -1'
bad '"block_structure": \[[^]]*\]' '"block_structure": "128x"' config.json $group.weights.block_structure 128x
sound=ct_fp8_static_llama
bad '\("weights": .*\)"type": "float"' '\1"type": "int"' config.json $group.weights.type '"int"'

echo 'bad tensors'
sound=ct_w4a16_asym_qwen3
spoilt '0\.mlp\.up_proj\.weight_zero_point"' '0.mlp.up_proj.weight_zero_paint"' \
    model.layers.0.mlp.up_proj.weight_zero_point
sound=ct_w4a16_llama
spoilt '0\.mlp\.up_proj\.weight_packed"' '0.mlp.up_proj.weight_packet"' model.layers.0.mlp.up_proj.weight_packed
sound=ct_fp8_static_llama
spoilt '0\.mlp\.up_proj\.input_scale"' '0.mlp.up_proj.input_scole"' model.layers.0.mlp.up_proj.input_scale
sound=ct_w8a16_qwen2
fresh
poke model.layers.1.mlp.down_proj.weight_shape '\140\000\000\000\000\000\000\000\204'
refused model.layers.1.mlp.down_proj 'weight_shape: expected [96, 130], got [96, 132]'
sound=ct_w4a16_actorder_llama
fresh
poke model.layers.0.mlp.down_proj.weight_g_idx '\006'
refused model.layers.0.mlp.down_proj 'weight_g_idx: element 0 is 6, expected a group, 0 to 5'
poke model.layers.0.mlp.down_proj.weight_g_idx '\377\377\377\377'
refused model.layers.0.mlp.down_proj 'weight_g_idx: element 0 is -1'
sound=ct_nvfp4_qwen3
spoilt '1\.mlp\.up_proj\.weight_global_scale"' '1.mlp.up_proj.weight_global_scole"' \
    model.layers.1.mlp.up_proj.weight_global_scale
spoilt '1\.mlp\.up_proj\.input_global_scale"' '1.mlp.up_proj.input_global_scole"' \
    model.layers.1.mlp.up_proj.input_global_scale
for bytes in '\000\000\000\000' '\000\000\200\277' '\000\000\300\177' '\000\000\200\177'; do
    fresh
    poke model.layers.1.mlp.up_proj.weight_global_scale "$bytes"
    refused model.layers.1.mlp.up_proj 'weight_global_scale: expected a finite number above 0, got '
done
spoilt '\(1\.mlp\.up_proj\.weight_scale":{[^}]*\)\[160,5]' '\1[100,8]' \
    model.layers.1.mlp.up_proj.weight_scale '[160, 5]' '[100, 8]'
spoilt '\(1\.mlp\.up_proj\.weight_scale":{[^}]*\)F8_E4M3' '\1F8_E5M2' \
    model.layers.1.mlp.up_proj.weight_scale 'type F8_E5M2, expected F8_E4M3'
sound=ct_nvfp4_qwen3
fresh # where the number before it is not there, but two are here
weights '\(1\.mlp\.up_proj\.input_global_scale":{[^}]*\)\[1]\([^}]*\)\[72,76]' '\1[0]\2[72,72]'
weights '\(1\.mlp\.up_proj\.weight_global_scale":{[^}]*\)\[1]\([^}]*\)\[76,80]' '\1[2]\2[72,80]'
refused model.layers.1.mlp.up_proj.weight_global_scale '[1]' '[2]'
sound=ct_mxfp4_llama
spoilt '\(1\.mlp\.up_proj\.weight_scale":{[^}]*\)U8' '\1I8' \
    model.layers.1.mlp.up_proj.weight_scale 'type I8, expected U8'
spoilt '\(1\.mlp\.up_proj\.weight_packed":{[^}]*\)\[160,48]' '\1[192,40]' \
    model.layers.1.mlp.up_proj.weight_packed '[160, 48]' '[192, 40]'
