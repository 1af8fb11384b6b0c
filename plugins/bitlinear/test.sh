#!/bin/sh
# What a BitNet checkpoint may have wrong is an error that names tensor or field, modules that were not converted are
# left alone, adapters go around others, and the number of threads changes nothing. The build's goldens hold logits,
# exact weights and saving.
# usage: test.sh HOST PLUGINS_FOLDER GOLDENS_FOLDER MAKE_ADAPTER
. "$(dirname "$0")/../../tests/quantized.sh"
make_adapter=$4
sound=bitnet_offline
q=model.layers.0.self_attn.q_proj

run() {
    "$host" --quiet --plugins-dir "$plugins" --model "$scratch/model" \
        --input-ids 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20 --max-new-tokens 4 --output-ids "$@"
}

echo 'nothing to name: the config selects the plugin'
for case in offline:AutoBitLinear:14 bitlinear_llama:BitLinear:7 bias_norm_qwen2:AutoBitLinear:7 \
    online:OnlineAutoBitLinear:14; do
    class=${case#*:}
    fresh "bitnet_${case%%:*}"
    one=$(run --threads 1 --logits "$scratch/one")
    [ "$one" = "$(run --threads 3 --logits "$scratch/three")" ] || fail "$case: other ids with threads"
    cmp "$scratch/one" "$scratch/three" || fail "$case differs with the number of threads"
    plan
    says "Linear -> ${class%:*} by bitlinear (.*) in ${class#*:} modules"
    says ' 0 bytes copied'
done

echo 'an adapter goes around it'
fresh
mkdir "$scratch/adapter"
"$make_adapter" "$scratch/adapter" 1 2 3 'model.layers.#.self_attn.q_proj:32:32' 'model.layers.#.mlp.down_proj:32:72'
run --logits "$scratch/base" >"$scratch/ids"
run --adapter "$scratch/adapter" --logits "$scratch/adapted" >"$scratch/ids.adapted"
cmp -s "$scratch/base" "$scratch/adapted" && fail 'the adapter changes nothing'
run --adapter a="$scratch/adapter" --adapter-scale a=0 --logits "$scratch/adapted" >"$scratch/ids.adapted"
cmp "$scratch/base" "$scratch/adapted" || fail 'an adapter times 0 changes something'
plan --adapter "$scratch/adapter"
says 'Linear -> AutoBitLinear by bitlinear (.*) -> LoraLinear by lora (.*) in 4 modules'

echo 'projections that nobody can join stay apart'
fresh bitnet_bitlinear_llama
plan --plugins fused_qkv,bitlinear
says 'note .*fused_qkv.*weight'

echo 'shards that split a module'
sharded 256 "$q.weight[a-z_]*"

echo 'bad configs'
quantization=quantization_config
bad '"linear_class": "autobitlinear"' '"linear_class": "bitlinea"' config.json $quantization.linear_class '"bitlinea"'
bad '"quantization_mode": "offline"' '"quantization_mode": "of line"' \
    config.json $quantization.quantization_mode '"of line"'
bad '"quant_method": "bitnet"' '"quant_method": "bitnet", "use_rms_norm": 1' \
    config.json $quantization.use_rms_norm 'a boolean'
bad '"quant_method": "bitnet"' '"quant_method": "bitnet", "use_rms_norm": true' "$q.rms_norm.weight" missing
bad '"intermediate_size": 72' '"intermediate_size": 70' \
    model.layers.0.mlp.gate_proj 'out_features: expected a multiple of 4, got 70'
bad '"intermediate_size": 72' '"intermediate_size": 76' model.layers.0.mlp.gate_proj.weight '[19, 32]' '[18, 32]'
sound=bitnet_bias_norm_qwen2
bad '^    "rms_norm_eps": 1e-05,' '    "rms_norm_eps": 0,' config.json $quantization.rms_norm_eps
sound=bitnet_online
bad '"quantization_mode": "online"' '"quantization_mode": "on line"' \
    config.json $quantization.quantization_mode '"on line"'
bad '"modules_to_not_convert": null' '"modules_to_not_convert": ["lm_head", "q_proj"]' \
    config.json $quantization.modules_to_not_convert 'null or ["lm_head"]'

echo 'bad tensors'
fresh
poke "$q.weight" '\200\177'
refused "$q" 'weight: expected finite numbers, got an infinite one or NaN'
sound=bitnet_offline
spoilt "$q.weight_scale\"" "$q.weight_scala\"" "$q.weight: type U8" "$q.weight_scala"
spoilt "\"$q.weight\":{\"dtype\":\"U8\"" "\"$q.weight\":{\"dtype\":\"I8\"" "$q.weight" U8 I8
fresh
poke "$q.weight" '\377'
refused "$q" 'weight: row 0 has a code of 3'
fresh
poke "$q.weight_scale" '\200\377' # bf16: no number
refused "$q" 'weight_scale: expected a number above 0, got'
poke "$q.weight_scale" '\000\000'
refused "$q" 'weight_scale: expected a number above 0, got 0'
