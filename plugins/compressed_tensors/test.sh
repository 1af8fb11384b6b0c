#!/bin/sh
# What a compressed-tensors checkpoint may have wrong is an error that names tensor or field, modules that were not
# converted are left alone, shards may split a module, and the number of threads changes nothing. The build's goldens
# hold logits, exact weights and saving.
# usage: test.sh HOST PLUGINS_FOLDER GOLDENS_FOLDER
. "$(dirname "$0")/../../tests/quantized.sh"

config() { # config CASE FROM TO: with an edit of its config.json, in one line, that must change something
    fresh "$1"
    tr -d '\n' <"$scratch/model/config.json" >"$scratch/line"
    sed "s/$2/$3/" "$scratch/line" >"$scratch/model/config.json"
    cmp -s "$scratch/line" "$scratch/model/config.json" && fail "$2 is not in the config.json of $1"
    return 0
}

rename() { # rename FROM TO: in the names of tensors and what is said of them, as long as each other
    LC_ALL=C sed -i "s/$1/$2/g" "$scratch/model/model.safetensors"
}

echo 'other spellings'
while read -r name from to; do
    fresh "$name"
    right=$(run)
    config "$name" "$from" "$to"
    [ "$(run)" = "$right" ] || fail "$to: another result"
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
"$host" plan --plugins-dir "$plugins" --model "$scratch/model" >"$scratch/plan"
grep -q 'note *quantization_config.kv_cache_scheme: the cache of keys and values is not quantized by it' \
    "$scratch/plan" || fail 'no note on the cache'

echo 'nothing to name: the config selects the plugin'
fresh ct_mixed_qwen3
one=$(run --threads 1)
[ "$one" = "$(run --threads 3)" ] || fail 'differs with the number of threads'
"$host" plan --plugins-dir "$plugins" --model "$scratch/model" >"$scratch/plan"
grep -q 'Linear -> CompressedLinear by compressed_tensors' "$scratch/plan" || fail 'the plugin was not used'
grep -q 'note .*leaves 1 module alone, lm_head: no tensor "weight_scale"' "$scratch/plan" || fail 'no note on lm_head'

echo 'more tokens at once than read the codes: panels, in bf16 where float32 is not asked for'
ids() { # ids FIELD: of the golden
    tr -d '\n ' <"$goldens/quantized/ct_mixed_qwen3/golden.json" | sed "s/.*\"$1\":\[\([0-9,]*\)\].*/\1/"
}
prompt=$(ids input_ids),$(ids greedy_ids | cut -d , -f 1-8)
for dtype in auto float32; do
    [ "$("$host" --quiet --plugins-dir "$plugins" --model "$scratch/model" --input-ids "$prompt" --max-new-tokens 4 \
        --output-ids --dtype "$dtype")" = "$(ids greedy_ids | cut -d , -f 9-12)" ] || fail "other ids with --dtype $dtype"
done

echo 'scales of float4: their divisor, where it is the same, leaves projections joined'
fresh ct_nvfp4_qwen3
one=$(run --threads 1)
[ "$one" = "$(run --threads 3)" ] || fail 'differs with the number of threads'
"$host" plan --plugins-dir "$plugins" --model "$scratch/model" --strict >"$scratch/plan"
grep -q 'note .*fused_qkv: .* leaves 1 module alone, model.layers.1.self_attn: .*"weight_global_scale"' "$scratch/plan" ||
    fail "nothing says why those of layer 1 stay apart: $(cat "$scratch/plan")"

echo 'shards that split a module'
fresh ct_mixed_qwen3
one=$(run)
"$host" save --quiet --plugins-dir "$plugins" --model "$scratch/model" --output "$scratch/sharded" --max-shard-size 8000
grep -o '"model.layers.0.mlp.up_proj.weight_[a-z]*": *"[^"]*"' "$scratch/sharded/model.safetensors.index.json" |
    sed 's/.*: *//' | sort -u >"$scratch/files"
[ "$(wc -l <"$scratch/files")" -gt 1 ] || fail 'all tensors of up_proj are in one file'
rm -rf "$scratch/model" && mv "$scratch/sharded" "$scratch/model"
[ "$one" = "$(run)" ] || fail 'differs in shards'

echo 'bad configs'
group=quantization_config.config_groups.group_0
config ct_w4a16_llama '"num_bits": 4' '"num_bits": 3'
refused config.json $group.weights.num_bits 'expected 4 or 8, got 3'
config ct_w8a8_int8_llama '\("weights": .*\)"num_bits": 8' '\1"num_bits": 4'
refused config.json $group.weights.num_bits 'expected 8, got 4'
config ct_w4a16_llama '"num_bits": 4' '"num_bits": 8'
refused model.layers.0.self_attn.q_proj.weight_packed '[128, 32]' '[128, 16]'
config ct_w4a16_llama '"group_size": 128' '"group_size": 0'
refused config.json $group.weights.group_size 'got 0'
config ct_w4a16_llama '"group_size": 128' '"group_size": 64'
refused weight_scale '[128, 2]' '[128, 1]'
config ct_w4a16_llama '"group_size": 128' '"group_size": 12'
refused model.layers.0.self_attn. 'groups of 12 inputs do not fill words'
config ct_w4a16_llama '"pack-quantized"' '"mxfp6-pack-quantized"'
refused config.json quantization_config.format mxfp6-pack-quantized
config ct_w4a16_llama '"pack-quantized"' '"nvfp4-pack-quantized"'
refused config.json $group.weights.type 'expected "float", got "int"'
config ct_mxfp4_llama '\("weights": .*\)"num_bits": 4' '\1"num_bits": 8'
refused config.json $group.weights.num_bits 'expected 4, got 8'
config ct_mxfp4_llama '\("weights": .*\)"group_size": 32' '\1"group_size": 16'
refused config.json $group.weights.group_size 'expected 32, got 16'
config ct_nvfp4_qwen3 '\("weights": .*\)"strategy": "tensor_group"' '\1"strategy": "group"'
refused config.json $group.weights.strategy 'expected "tensor_group", got "group"'
config ct_nvfp4_qwen3 '"dynamic": "local"' '"dynamic": "sometimes"'
refused config.json $group.input_activations.dynamic 'expected a boolean'
config ct_nvfp4_qwen3 'nvfp4-pack-quantized' 'mxfp4-pack-quantized'
refused config.json $group.weights.strategy 'expected "group", got "tensor_group"'
config ct_mixed_qwen3 '"format": "float-quantized"' '"format": "marlin-24"'
refused config.json $group.format marlin-24
config ct_fp8_block_llama '"strategy": "block"' '"strategy": "tensor_group"'
refused config.json $group.weights.strategy tensor_group
config ct_fp8_block_llama '"block_structure": \[ *128' '"block_structure": [-1'
refused config.json $group.weights.block_structure.0 'got -1'
config ct_fp8_static_llama '\("weights": .*\)"type": "float"' '\1"type": "int"'
refused config.json $group.weights.type '"int"'
config ct_w8a8_int8_llama '\("weights": .*\)"symmetric": true' '\1"symmetric": false'
refused config.json $group.weights.symmetric
config ct_w4a16_llama '"actorder": null' '"actorder": "sometimes"'
refused config.json $group.weights.actorder sometimes
config ct_mixed_qwen3 '"sparsity_config": {}' '"quantization_config": {"format": "dense"}'
refused config.json quantization_config.quantization_config
config ct_fp8_block_llama '"block_structure": \[[^]]*\]' '"block_structure": "128x"'
refused config.json $group.weights.block_structure 128x
config ct_mixed_qwen3 '"sparsity_config": {}' '"sparsity_config": {"format": "sparse-24-bitmask"}'
refused config.json quantization_config.sparsity_config.format sparse-24-bitmask
config ct_mixed_qwen3 '"transform_config": {}' '"transform_config": {"config_groups": {}}'
refused config.json quantization_config.transform_config
config ct_mixed_qwen3 '"sparsity_config": {}' '"sparsity_config": {"format": "dense", "targets": []}'
run >/dev/null
config ct_mixed_qwen3 're:\.\*mlp' 're:.*mlps'
refused config.json quantization_config.config_groups model.layers.0.mlp
config ct_mixed_qwen3 're:\.\*mlp' 're:(.*mlp'
refused config.json 'invalid regular expression' '(.*mlp'

echo 'bad tensors'
fresh ct_w4a16_asym_qwen3
rename '0\.mlp\.up_proj\.weight_zero_point"' '0.mlp.up_proj.weight_zero_paint"'
refused model.layers.0.mlp.up_proj.weight_zero_point
fresh ct_w4a16_llama
rename '0\.mlp\.up_proj\.weight_packed"' '0.mlp.up_proj.weight_packet"'
refused model.layers.0.mlp.up_proj.weight_packed
fresh ct_fp8_static_llama
rename '0\.mlp\.up_proj\.input_scale"' '0.mlp.up_proj.input_scole"'
refused model.layers.0.mlp.up_proj.input_scale
fresh ct_w8a16_qwen2
poke model.layers.1.mlp.down_proj.weight_shape '\140\000\000\000\000\000\000\000\204'
refused model.layers.1.mlp.down_proj 'weight_shape: expected [96, 130], got [96, 132]'
fresh ct_w4a16_actorder_llama
poke model.layers.0.mlp.down_proj.weight_g_idx '\006'
refused model.layers.0.mlp.down_proj 'weight_g_idx: element 0 is 6, expected a group, 0 to 5'
poke model.layers.0.mlp.down_proj.weight_g_idx '\377\377\377\377'
refused model.layers.0.mlp.down_proj 'weight_g_idx: element 0 is -1'
fresh ct_nvfp4_qwen3
rename '1\.mlp\.up_proj\.weight_global_scale"' '1.mlp.up_proj.weight_global_scole"'
refused model.layers.1.mlp.up_proj.weight_global_scale
fresh ct_nvfp4_qwen3
rename '1\.mlp\.up_proj\.input_global_scale"' '1.mlp.up_proj.input_global_scole"'
refused model.layers.1.mlp.up_proj.input_global_scale
for bytes in '\000\000\000\000' '\000\000\200\277' '\000\000\300\177' '\000\000\200\177'; do
    fresh ct_nvfp4_qwen3
    poke model.layers.1.mlp.up_proj.weight_global_scale "$bytes"
    refused model.layers.1.mlp.up_proj 'weight_global_scale: expected a finite number above 0, got '
done
fresh ct_nvfp4_qwen3
rename '\(1\.mlp\.up_proj\.weight_scale":{[^}]*\)\[160,5]' '\1[100,8]'
refused model.layers.1.mlp.up_proj.weight_scale '[160, 5]' '[100, 8]'
fresh ct_nvfp4_qwen3
rename '\(1\.mlp\.up_proj\.weight_scale":{[^}]*\)F8_E4M3' '\1F8_E5M2'
refused model.layers.1.mlp.up_proj.weight_scale 'type F8_E5M2, expected F8_E4M3'
fresh ct_nvfp4_qwen3 # where the number before it is not there, but two are here
rename '\(1\.mlp\.up_proj\.input_global_scale":{[^}]*\)\[1]\([^}]*\)\[72,76]' '\1[0]\2[72,72]'
rename '\(1\.mlp\.up_proj\.weight_global_scale":{[^}]*\)\[1]\([^}]*\)\[76,80]' '\1[2]\2[72,80]'
refused model.layers.1.mlp.up_proj.weight_global_scale '[1]' '[2]'
fresh ct_mxfp4_llama
rename '\(1\.mlp\.up_proj\.weight_scale":{[^}]*\)U8' '\1I8'
refused model.layers.1.mlp.up_proj.weight_scale 'type I8, expected U8'
fresh ct_mxfp4_llama
rename '\(1\.mlp\.up_proj\.weight_packed":{[^}]*\)\[160,48]' '\1[192,40]'
refused model.layers.1.mlp.up_proj.weight_packed '[160, 48]' '[192, 40]'
