#!/bin/sh
# What an FP8 checkpoint may have wrong is an error that names tensor or field, modules that were not converted are left
# alone, shards may split a module, and the number of threads changes nothing. The build's goldens hold logits, exact
# weights and saving.
# usage: test.sh HOST PLUGINS_FOLDER GOLDENS_FOLDER
. "$(dirname "$0")/../../tests/quantized.sh"
sound=fp8_block_partial_llama

config() { # config FROM TO: an edit of config.json, all in one line, that must change something
    fresh
    tr -d '\n' <"$scratch/model/config.json" | sed "s/$1/$2/" >"$scratch/edited"
    grep -qF "$2" "$scratch/edited" || fail "$1 is not in config.json"
    cp "$scratch/edited" "$scratch/model/config.json"
}

rename() { # rename FROM TO: in the names of tensors, as long as each other
    LC_ALL=C sed -i "s/$1/$2/g" "$scratch/model/model.safetensors"
}

echo 'nothing to name: the config selects the plugin'
fresh
one=$(run --threads 1)
[ "$one" = "$(run --threads 3)" ] || fail 'differs with the number of threads'
"$host" plan --plugins-dir "$plugins" --model "$scratch/model" >"$scratch/plan"
grep -q 'Linear -> FP8Linear by fp8' "$scratch/plan" || fail 'the plugin was not used'
grep -q 'note .*leaves 1 module alone, lm_head: none of the tensors' "$scratch/plan" || fail 'no note on lm_head'

echo 'more tokens at once than read the codes: panels, in bf16 where float32 is not asked for'
ids() { # ids FIELD: of the golden
    tr -d '\n ' <"$goldens/quantized/fp8_block_partial_llama/golden.json" | sed "s/.*\"$1\":\[\([0-9,]*\)\].*/\1/"
}
prompt=$(ids input_ids),$(ids greedy_ids | cut -d , -f 1-8)
for dtype in auto float32; do
    [ "$("$host" --quiet --plugins-dir "$plugins" --model "$scratch/model" --input-ids "$prompt" --max-new-tokens 4 \
        --output-ids --dtype "$dtype")" = "$(ids greedy_ids | cut -d , -f 9-12)" ] || fail "other ids with --dtype $dtype"
done

echo 'shards that split a module'
"$host" save --quiet --plugins-dir "$plugins" --model "$scratch/model" --output "$scratch/sharded" --max-shard-size 20000
grep -o '"model.layers.0.mlp.up_proj.weight[a-z_]*": *"[^"]*"' "$scratch/sharded/model.safetensors.index.json" |
    sed 's/.*: *//' | sort -u >"$scratch/files"
[ "$(wc -l <"$scratch/files")" = 2 ] || fail "up_proj is in $(wc -l <"$scratch/files") files, not in two"
mv "$scratch/sharded" "$scratch/whole" && rm -rf "$scratch/model" && mv "$scratch/whole" "$scratch/model"
[ "$one" = "$(run)" ] || fail 'differs in shards'

echo 'experts one by one, taken apart by this plugin or by another'
fresh fp8_block_qwen3_moe
one=$(run)
"$host" plan --plugins-dir "$plugins" --model "$scratch/model" >"$scratch/plan"
grep -q 'Qwen3MoeExperts -> ModuleListExperts by sequential_experts' "$scratch/plan" || fail 'it did not give way'
"$host" plan --plugins-dir "$plugins" --plugins fp8 --model "$scratch/model" >"$scratch/plan"
grep -q 'Qwen3MoeExperts -> FP8Experts by fp8' "$scratch/plan" || fail 'experts were not replaced'
[ "$one" = "$(run --plugins fp8)" ] || fail 'differs with experts as Linears'
[ "$one" = "$(run --plugins fp8,sequential_experts)" ] || fail 'the order of the user is not heeded'
"$host" inspect "$plugins/fp8/fp8.so" | grep -q 'gives_way: true' || fail 'inspect lacks gives_way'

echo 'other names of the scales'
fresh fp8_tensor_static_llama
one=$(run)
rename '\.activation_scale"' '.input_scale"     '
rename '\.weight_scale_inv"' '.weight_scale"    '
[ "$one" = "$(run)" ] || fail 'differs with weight_scale and input_scale'

echo 'bad configs'
block='"weight_block_size": \[ *128, *128 *\]'
config "$block" '"weight_block_size": [0, 128]'
refused config.json quantization_config.weight_block_size.0 'got 0'
config "$block" '"weight_block_size": 128'
refused config.json quantization_config.weight_block_size 'an array of rows and columns'
config "$block" '"weight_block_size": [64, 128]'
refused model.layers.0.self_attn.q_proj.weight_scale_inv '[3, 2]' '[2, 2]'
config "$block" '"weight_block_size": null'
refused weight_scale_inv '[1]'
config '"e4m3"' '"e5m2"'
refused config.json quantization_config.fmt e5m2
config '"dynamic"' '"static"'
refused model.layers.0.self_attn.q_proj.activation_scale
config '"dynamic"' '"sometimes"'
refused config.json quantization_config.activation_scheme sometimes

echo 'bad tensors'
fresh
rename '0\.mlp\.up_proj\.weight_scale_inv"' '0.mlp.up_proj.weight_scale_out"'
refused model.layers.0.mlp.up_proj.weight F8_E4M3
fresh
rename '0\.mlp\.up_proj\.weight"' '0.mlp.up_proj.wait"  '
refused model.layers.0.mlp.up_proj.weight

echo 'a scale for each row'
fresh fbgemm_fp8_llama
one=$(run --threads 1)
[ "$one" = "$(run --threads 3)" ] || fail 'differs with the number of threads'
rename '\(0\.mlp\.up_proj\.weight_scale":{[^}]*\)\[112,1]' '\1[1,112]'
refused model.layers.0.mlp.up_proj.weight_scale_inv '[112, 1]' '[1, 112]'
fresh fbgemm_fp8_llama
rename '\(0\.mlp\.up_proj\.weight_scale":{[^}]*\)F32' '\1I32'
refused model.layers.0.mlp.up_proj.weight_scale 'type I32'
fresh fbgemm_fp8_llama
rename '0\.mlp\.up_proj\.weight_scale"' '0.mlp.up_proj.weight_scole"'
refused model.layers.0.mlp.up_proj.weight F8_E4M3

echo 'a byte for 32 inputs, whether a field says so or not'
fresh mxfp8_qwen3
one=$(run)
tr -d '\n' <"$scratch/model/config.json" | sed 's/"weight_block_size": \[[^]]*]/"weight_block_size": null/' >"$scratch/edited"
grep -qF '"weight_block_size": null' "$scratch/edited" || fail 'weight_block_size is not in config.json'
cp "$scratch/edited" "$scratch/model/config.json"
[ "$one" = "$(run)" ] || fail 'differs without weight_block_size'
rename '\(0\.mlp\.up_proj\.weight_scale_inv":{[^}]*\)\[128,2]' '\1[64,4] '
refused model.layers.0.mlp.up_proj.weight_scale_inv '[128, 2]' '[64, 4]'
fresh mxfp8_qwen3
rename '\(0\.mlp\.up_proj\.weight_scale_inv":{[^}]*\)U8' '\1I8'
refused model.layers.0.mlp.up_proj.weight_scale_inv 'type I8, expected U8'
fresh mxfp8_qwen3
rename '0\.mlp\.up_proj\.weight_scale_inv"' '0.mlp.up_proj.weight_scale_out"'
refused model.layers.0.mlp.up_proj.weight F8_E4M3
