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

plan() {
    "$host" plan --plugins-dir "$plugins" --model "$scratch/model" "$@" \
        >"$scratch/plan"
}

edit() { # edit FROM TO [CASE]: an edit of the weights, as long as each other, that must change something
    fresh "${3:-}"
    LC_ALL=C sed "s/$1/$2/g" "$scratch/model/model.safetensors" >"$scratch/edited"
    cmp -s "$scratch/edited" "$scratch/model/model.safetensors" && fail "$1 is not in the weights"
    cp "$scratch/edited" "$scratch/model/model.safetensors"
}

poke() { # poke TENSOR BYTES: its first bytes
    fresh
    # shellcheck disable=SC2059 # bytes are written in octal
    printf "$2" | dd of="$scratch/model/model.safetensors" bs=1 seek="$(offset_of "$1")" conv=notrunc 2>/dev/null
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
    grep -q "Linear -> ${class%:*} by bitlinear (.*) in ${class#*:} modules" "$scratch/plan" ||
        fail "$case: $(cat "$scratch/plan")"
    grep -q ' 0 bytes copied' "$scratch/plan" || fail "$case: something is copied: $(cat "$scratch/plan")"
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
grep -q 'Linear -> AutoBitLinear by bitlinear (.*) -> LoraLinear by lora (.*) in 4 modules' "$scratch/plan" ||
    fail "not around it: $(cat "$scratch/plan")"

echo 'projections that nobody can join stay apart'
fresh bitnet_bitlinear_llama
plan --plugins fused_qkv,bitlinear
grep -q 'note .*fused_qkv.*weight' "$scratch/plan" || fail "no note: $(cat "$scratch/plan")"

echo 'shards that split a module'
fresh
one=$(run)
"$host" save --quiet --plugins-dir "$plugins" --model "$scratch/model" \
    --output "$scratch/sharded" --max-shard-size 1000
rm -rf "$scratch/model" && mv "$scratch/sharded" "$scratch/model"
[ "$one" = "$(run)" ] || fail 'differs in shards'

echo 'bad configs'
config '"linear_class": "autobitlinear"' '"linear_class": "bitlinea"'
refused config.json quantization_config.linear_class '"bitlinea"'
config '"quantization_mode": "offline"' '"quantization_mode": "of line"'
refused config.json quantization_config.quantization_mode '"of line"'
config '"quantization_mode": "online"' '"quantization_mode": "on line"' bitnet_online
refused config.json quantization_config.quantization_mode '"on line"'
config '"quant_method": "bitnet"' '"quant_method": "bitnet", "use_rms_norm": 1'
refused config.json quantization_config.use_rms_norm 'a boolean'
config '"quant_method": "bitnet"' '"quant_method": "bitnet", "use_rms_norm": true'
refused "$q.rms_norm.weight" missing
config '^    "rms_norm_eps": 1e-05,' '    "rms_norm_eps": 0,' bitnet_bias_norm_qwen2
refused config.json quantization_config.rms_norm_eps
config '"modules_to_not_convert": null' '"modules_to_not_convert": ["lm_head", "q_proj"]' bitnet_online
refused config.json quantization_config.modules_to_not_convert 'null or ["lm_head"]'
config '"intermediate_size": 72' '"intermediate_size": 70'
refused model.layers.0.mlp.gate_proj 'out_features: expected a multiple of 4, got 70'
config '"intermediate_size": 72' '"intermediate_size": 76'
refused model.layers.0.mlp.gate_proj.weight '[19, 32]' '[18, 32]'

echo 'bad tensors'
edit "$q.weight_scale\"" "$q.weight_scala\""
refused "$q.weight: type U8" "$q.weight_scala"
edit "\"$q.weight\":{\"dtype\":\"U8\"" "\"$q.weight\":{\"dtype\":\"I8\""
refused "$q.weight" U8 I8
poke "$q.weight" '\377'
refused "$q" 'weight: row 0 has a code of 3'
poke "$q.weight_scale" '\200\377' # bf16: no number
refused "$q" 'weight_scale: expected a number above 0, got'
poke "$q.weight_scale" '\000\000'
refused "$q" 'weight_scale: expected a number above 0, got 0'
fresh bitnet_online
printf '\200\177' | dd of="$scratch/model/model.safetensors" bs=1 seek="$(offset_of "$q.weight")" conv=notrunc 2>/dev/null
refused "$q" 'weight: expected finite numbers, got an infinite one or NaN'
