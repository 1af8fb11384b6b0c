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
    one=$(run --threads 1)
    [ "$one" = "$(run --threads 3)" ] || fail "$case differs with the number of threads"
    [ "$one" = "$(run --plugins hqq)" ] || fail "$case differs where projections are apart"
    "$host" plan --plugins-dir "$plugins" --model "$scratch/model" >"$scratch/plan"
    grep -q 'Linear -> HQQLinear by hqq' "$scratch/plan" || fail "$case: the plugin was not used: $(cat "$scratch/plan")"
done
grep -q 'W_q: Concatenate(dim=0)' "$scratch/plan" || fail "8 bits were not joined: $(cat "$scratch/plan")"
fresh
"$host" plan --plugins-dir "$plugins" --model "$scratch/model" >"$scratch/plan"
grep -q '"W_q" of q_proj is nothing that can be joined' "$scratch/plan" || fail "no line on 4 bits: $(cat "$scratch/plan")"

echo 'bad configs'
config '"axis": 1' '"axis": 0'
refused config.json "$params.axis: expected 1, groups of inputs, got 0"
config '"nbits": 4' '"nbits": 1'
refused config.json "$params.nbits: expected 2, 3, 4, 5, 6 or 8, got 1"
config '"nbits": 4' '"nbits": 1.58'
refused config.json "$params.nbits: expected an integer, got a fractional number (1.58)"
config '"nbits": 4,' ''
refused config.json "$params.nbits: missing"
config '"nbits": 4' '"nbits": 8'
refused "$q.W_q"
config '"group_size": 64' '"group_size": 48'
refused config.json "$params.group_size: expected a number that divides 128 inputs, got 48"
config '"group_size": 64' '"group_size": 32'
refused "$q.W_q"
config '"group_size": 64' '"group_size": "64"'
refused config.json "$params.group_size: expected an integer"
config '"view_as_float": false' '"view_as_float": true'
refused config.json "$params.view_as_float: expected false"
config '"channel_wise": true' '"channel_wise": false'
refused config.json "$params.channel_wise: expected true"
config '"offload_meta": false' '"offload_meta": true'
refused config.json 'quantization_config.quant_config.offload_meta: expected false'
config '"zero_quant_params": null' '"zero_quant_params": {"nbits": 8}'
refused config.json 'quantization_config.quant_config.zero_quant_params: expected null'
config '"weight_quant_params"' '"weights_quant_params"'
refused config.json 'quantization_config.quant_config: expected "weight_quant_params", or an entry for "self_attn.'
config '"self_attn.q_proj"' '"self_attn.w_proj"' hqq_mixed_qwen2
refused config.json 'or an entry for "self_attn.q_proj"'

echo 'a module that contradicts the config'
config '"nbits": 5' '"nbits": 6' hqq_mixed_qwen2
refused model.layers.0.mlp.down_proj 'nbits: expected 6, got 5'
