#!/bin/sh
# What a GPTQ checkpoint may have wrong is an error that names tensor or field, other models are left alone, and the
# number of threads changes nothing. The build's goldens hold logits, exact weights and saving.
# usage: test.sh HOST PLUGINS_FOLDER GOLDENS_FOLDER
. "$(dirname "$0")/../../tests/quantized.sh"

sound=gptq_int4_desc_act_llama

echo 'nothing to name: the config selects the plugin'
fresh
threads
plan
says 'Linear -> GPTQLinear by gptq'
says 'note .*leaves 1 module alone, lm_head: no tensor "qweight"'
grep -q 'initial' "$scratch/plan" && fail 'a bias that nobody has is made'
"$host" plan --plugins-dir "$plugins" --model "$goldens/plain/llama_bf16" >"$scratch/plan"
says 'note .*plugins .* gptq, .* have no effect on this model: quantization_config.quant_method is none of .*"gptq"'
"$host" inspect "$plugins/gptq/gptq.so" >"$scratch/inspect"
for words in 'quant_methods' 'conditions' 'qweight'; do
    grep -q "$words" "$scratch/inspect" || fail "inspect lacks $words"
done

echo 'bits of a weight'
"$host" bench --plugins-dir "$plugins" --model "$goldens/quantized/gptq_int4_desc_act_llama" --prompt-tokens 2 \
    --new-tokens 1 --repeat 1 --json >"$scratch/bench"
grep -q '"weights": 272768,' "$scratch/bench" || fail 'not as many weights as the codes stand for'
grep -q '"bits_per_weight": 5.976536837165' "$scratch/bench" || fail 'not the bits of codes and scales'
# Twice what codes of projections stand for, their biases, norms and a row of the embedding: 245760 + 1792 + 640 + 128.
grep -q '"operations_per_token": 496640,' "$scratch/bench" || fail 'not as many operations as there are weights'

echo 'bad configs'
bad '"bits": 4' '"bits": 9' config.json quantization_config.bits 'expected 2 to 8, got 9'
bad '"bits": 4' '"bits": 3' qweight 'expected [12, 128], but the checkpoint has the shape [16, 128]'
bad '"bits": 4' '"bits": 8' qweight
bad '"group_size": 32' '"group_size": 0' config.json quantization_config.group_size
bad '"group_size": 32' '"group_size": 64' qzeros '[4, 16]'
bad '"quant_method": "gptq"' '"quant_method": "gptq", "checkpoint_format": "marlin"' \
    config.json quantization_config.checkpoint_format marlin

echo 'fields of several names, in small letters and large'
fresh
one=$(run)
while read -r fields; do
    config '"quant_method": "gptq"' "$fields"
    same "$fields"
done <<'END'
"quant_method": "GPTQ"
"quant_method": "gptq", "format": "gptq"
"quant_method": "gptq", "checkpoint_format": "GPTQ", "format": "gptq", "pack_dtype": "int32"
"quant_method": "gptq", "w_bit": 4, "q_group_size": 32, "is_marlin_format": false
END
while read -r field fields; do
    config '"quant_method": "gptq"' "\"quant_method\": \"gptq\", $fields"
    refused config.json "quantization_config.$field: expected"
done <<'END'
format "format": "marlin"
format "format": "BITBLAS"
format "checkpoint_format": "gptq", "format": "gptq_v2"
version "version": "gemm"
w_bit "w_bit": 8
q_group_size "q_group_size": 64
pack_dtype "pack_dtype": "int8"
is_marlin_format "is_marlin_format": true
END
sound=gptq_v2_int4_asym_desc_act_llama
fresh
one=$(run)
config '"checkpoint_format"' '"format"'
same 'version 2 under its other name'
sound=gptq_int4_desc_act_llama
bad '"quant_method": "gptq"' '"quant_method": "unheard"' config.json unheard 'plugin'

echo 'fields of single modules: the first pattern that matches counts, and what it lacks is that of all'
fresh
one=$(run)
config '"bits": 4,' '"bits": 8, "dynamic": {"lm_head": {}, "+:.*\\\\.(mlp|self_attn)\\\\.": {"bits": 4}, ".*": {"bits": 2}},'
same 'dynamic bits'
config '"group_size": 32' '"group_size": 64, "dynamic": {".*_proj": {"group_size": 32}}'
same 'dynamic groups'
bad '"bits": 4,' '"bits": 4, "dynamic": {"layers": {"bits": 8}, "model.*up_proj": {"bits": 8}},' \
    model.layers.0.mlp.up_proj qweight
bad '"bits": 4,' '"bits": 4, "dynamic": {"(": {}},' config.json

echo 'fields of single experts, under the names that the checkpoint has for them'
others='".*self_attn": {"bits": 4}, ".*shared_expert": {"bits": 4}'
while read -r sound pattern; do
    fresh
    one=$(run)
    config '"bits": 4,' "\"bits\": 8, \"dynamic\": {\"$pattern\": {\"bits\": 4}, $others},"
    same "$pattern"
done <<'END'
gptq_int4_qwen2_moe .*mlp\\\\.experts\\\\.[0-9]+\\\\.(gate|up|down)_proj
gptq_int4_mixtral .*block_sparse_moe\\\\.experts\\\\.[0-9]+\\\\.w[123]
END
sound=gptq_int4_qwen2_moe
bad '"bits": 4,' '"bits": 4, "dynamic": {".*experts\\\\.1\\\\.gate_proj": {"bits": 8}},' \
    model.layers.0.mlp.experts.1.gate_proj.qweight 'expected [32, 64]'

echo 'AutoRound: both ways to name the layout, and what single modules have'
sound=auto_round_gptq_mixed_llama
fresh
one=$(run)
plan
grep -q 'is not used' "$scratch/plan" && fail 'a note on the ways that the config does not go'
says 'note .*plugin awq has no effect on this model: quantization_config.packing_format is none of "auto_round:auto_awq"'
config '"quant_method": "auto-round"' '"quant_method": "intel\/auto-round"'
sed -i 's/"packing_format": "auto_round:auto_gptq"/"backend": "auto_round:gptq:exllamav2"/' "$scratch/model/config.json"
same 'an old name of the layout'
config '"bits": 4,' '"bits": 4, "backend": "auto_round:awq",'
same 'a backend beside packing_format'
config '"model\.layers\.1\.mlp' '"model.layers.9.mlp'
same 'a pattern'
config '"extra_config": {' '"extra_config": {"": {}, ".*_proj": {}, "mlp": {"bits": 3}, "model.layers.0.mlp.up": {"bits": 3},'
same 'what says nothing, or means no module'
bad '"extra_config": {' '"extra_config": {"mlp.*_proj$": {"bits": 2},' model.layers.0.mlp. qweight
bad '"extra_config": {' '"extra_config": {"model.layers.0.mlp.up_proj": {"group_size": 64},' \
    model.layers.0.mlp.up_proj '[2, 16]'
bad '"extra_config": {' '"extra_config": {"(": {"bits": 8},' config.json
bad '"extra_config": {' '"extra_config": 4, "other": {' \
    config.json 'quantization_config.extra_config: expected an object, got an integer'

echo 'AutoRound: what is not read'
bad '"auto_round:auto_gptq"' '"auto_round:mlx"' \
    config.json 'quantization_config.packing_format: no plugin here reads "auto_round:mlx" of quant_method "auto-round"'
bad '"packing_format"' '"packed"' config.json 'quantization_config.packing_format: missing' '"auto-round"'
bad '"packing_format": "auto_round:auto_gptq"' '"backend": "auto_round:marlin"' \
    config.json 'quantization_config.backend: no plugin here reads "auto_round:marlin"'
bad '"packing_format": "auto_round:auto_gptq"' '"packing_format": ["auto_round"]' \
    config.json 'quantization_config.packing_format: expected a string, got an array'
bad '"data_type": "int"' '"data_type": "mx_int"' \
    config.json 'quantization_config.data_type: no plugin here reads "mx_int"'
bad '"data_type": "int"' '"data_type": "int_asym_dq"' \
    config.json 'quantization_config.data_type: expected "int", got "int_asym_dq"'
bad '"bits": 4,' '"bits": 4, "act_bits": 8,' config.json 'quantization_config.act_bits: expected 16, got 8'
bad '"bits": 4,' '"bits": 4, "rotation_config": {"block_size": 32},' \
    config.json 'quantization_config.rotation_config: not read by this plugin'
sound=gptq_int4_desc_act_llama

echo 'bad tensors'
spoilt '0\.mlp\.up_proj\.g_idx"' '0.mlp.up_proj.g_idz"' model.layers.0.mlp.up_proj.g_idx
spoilt '0\.mlp\.up_proj\.scales"' '0.mlp.up_proj.scalez"' model.layers.0.mlp.up_proj.scales
fresh
poke model.layers.1.mlp.down_proj.g_idx '\377\377\377\177' 20
refused model.layers.1.mlp.down_proj 'g_idx: element 5 is 2147483647'
