#!/bin/sh
# What an HQQ checkpoint may have wrong is an error that names file and field, and modules join or stay apart with a line.
# The build's goldens hold logits, exact weights and saving.
# usage: test.sh HOST PLUGINS_FOLDER GOLDENS_FOLDER
. "$(dirname "$0")/../../tests/quantized.sh"
sound=hqq_int4_llama
q=model.layers.0.self_attn.q_proj params=quantization_config.quant_config.weight_quant_params

echo 'nothing to name: the config selects the plugin'
for case in hqq_int4_llama hqq_mixed_qwen2; do
    fresh "$case"
    threads
    same "$case, projections apart" --plugins hqq
    plan
    says 'Linear -> HQQLinear by hqq'
done
says 'W_q: Concatenate(dim=0)' # of 8 bits
fresh
plan
says '"W_q" of q_proj is nothing that can be joined' # of 4 bits

echo 'bad configs'
bad '"axis": 1' '"axis": 0' config.json "$params.axis: expected 1, groups of inputs, got 0"
bad '"nbits": 4' '"nbits": 1' config.json "$params.nbits: expected 2, 3, 4, 5, 6 or 8, got 1"
bad '"nbits": 4' '"nbits": 1.58' config.json "$params.nbits: expected an integer, got a fractional number (1.58)"
bad '"nbits": 4,' '' config.json "$params.nbits: missing"
bad '"nbits": 4' '"nbits": 8' "$q.W_q"
bad '"group_size": 64' '"group_size": 48' \
    config.json "$params.group_size: expected a number that divides 128 inputs, got 48"
bad '"group_size": 64' '"group_size": 32' "$q.W_q"
bad '"group_size": 64' '"group_size": "64"' config.json "$params.group_size: expected an integer"
bad '"view_as_float": false' '"view_as_float": true' config.json "$params.view_as_float: expected false"
bad '"channel_wise": true' '"channel_wise": false' config.json "$params.channel_wise: expected true"
bad '"offload_meta": false' '"offload_meta": true' \
    config.json 'quantization_config.quant_config.offload_meta: expected false'
bad '"zero_quant_params": null' '"zero_quant_params": {"nbits": 8}' \
    config.json 'quantization_config.quant_config.zero_quant_params: expected null'
bad '"weight_quant_params"' '"weights_quant_params"' \
    config.json 'quantization_config.quant_config: expected "weight_quant_params", or an entry for "self_attn.'
sound=hqq_mixed_qwen2
bad '"self_attn.q_proj"' '"self_attn.w_proj"' config.json 'or an entry for "self_attn.q_proj"'

echo 'a module that contradicts the config'
bad '"nbits": 5' '"nbits": 6' model.layers.0.mlp.down_proj 'nbits: expected 6, got 5'
