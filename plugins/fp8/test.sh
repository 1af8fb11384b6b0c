#!/bin/sh
# What an FP8 checkpoint may have wrong is an error that names tensor or field, modules that were not converted are left
# alone, shards may split a module, and the number of threads changes nothing. The build's goldens hold logits, exact
# weights and saving.
# usage: test.sh HOST PLUGINS_FOLDER GOLDENS_FOLDER
. "$(dirname "$0")/../../tests/quantized.sh"
sound=fp8_block_partial_llama

one_line=1

echo 'nothing to name: the config selects the plugin'
fresh
threads
plan
says 'Linear -> FP8Linear by fp8'
says 'note .*leaves 1 module alone, lm_head: none of the tensors'

echo 'panels'
panels

echo 'shards that split a module'
sharded 20000 'model.layers.0.mlp.up_proj.weight[a-z_]*'

echo 'experts one by one, taken apart by this plugin or by another'
fresh fp8_block_qwen3_moe
one=$(run)
plan
says 'Qwen3MoeExperts -> ModuleListExperts by sequential_experts'
plan --plugins fp8
says 'Qwen3MoeExperts -> FP8Experts by fp8'
same 'experts as Linears' --plugins fp8
same 'the order of the user' --plugins fp8,sequential_experts
"$host" inspect "$plugins/fp8/fp8.so" | grep -q 'gives_way: true' || fail 'inspect lacks gives_way'

echo 'other names of the scales'
fresh fp8_tensor_static_llama
one=$(run)
weights '\.activation_scale"' '.input_scale"     '
weights '\.weight_scale_inv"' '.weight_scale"    '
same 'weight_scale and input_scale'

echo 'bad configs'
up=model.layers.0.mlp.up_proj
block='"weight_block_size": \[ *128, *128 *\]'
bad "$block" '"weight_block_size": [0, 128]' config.json quantization_config.weight_block_size.0 'got 0'
bad "$block" '"weight_block_size": 128' \
    config.json quantization_config.weight_block_size 'an array of rows and columns'
bad "$block" '"weight_block_size": [64, 128]' model.layers.0.self_attn.q_proj.weight_scale_inv '[3, 2]' '[2, 2]'
bad "$block" '"weight_block_size": null' weight_scale_inv '[1]'
bad '"e4m3"' '"e5m2"' config.json quantization_config.fmt e5m2
bad '"dynamic"' '"static"' model.layers.0.self_attn.q_proj.activation_scale
bad '"dynamic"' '"sometimes"' config.json quantization_config.activation_scheme sometimes

echo 'bad tensors'
spoilt '0\.mlp\.up_proj\.weight_scale_inv"' '0.mlp.up_proj.weight_scale_out"' $up.weight F8_E4M3
spoilt '0\.mlp\.up_proj\.weight"' '0.mlp.up_proj.wait"  ' $up.weight

echo 'a scale for each row'
sound=fbgemm_fp8_llama
fresh
threads
spoilt '\(0\.mlp\.up_proj\.weight_scale":{[^}]*\)\[112,1]' '\1[1,112]' $up.weight_scale_inv '[112, 1]' '[1, 112]'
spoilt '\(0\.mlp\.up_proj\.weight_scale":{[^}]*\)F32' '\1I32' $up.weight_scale 'type I32'
spoilt '0\.mlp\.up_proj\.weight_scale"' '0.mlp.up_proj.weight_scole"' $up.weight F8_E4M3

echo 'a byte for 32 inputs, whether a field says so or not'
sound=mxfp8_qwen3
fresh
one=$(run)
config '"weight_block_size": \[[^]]*]' '"weight_block_size": null'
same 'without weight_block_size'
spoilt '\(0\.mlp\.up_proj\.weight_scale_inv":{[^}]*\)\[128,2]' '\1[64,4] ' $up.weight_scale_inv '[128, 2]' '[64, 4]'
spoilt '\(0\.mlp\.up_proj\.weight_scale_inv":{[^}]*\)U8' '\1I8' $up.weight_scale_inv 'type I8, expected U8'
spoilt '0\.mlp\.up_proj\.weight_scale_inv"' '0.mlp.up_proj.weight_scale_out"' $up.weight F8_E4M3
