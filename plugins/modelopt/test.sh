#!/bin/sh
# What a checkpoint by Model Optimizer may have wrong is an error that names tensor or field, modules that were not
# converted are left alone, both formats may be in one model, and the number of threads changes nothing. The build's
# goldens hold logits, exact weights and saving.
# usage: test.sh HOST PLUGINS_FOLDER GOLDENS_FOLDER
. "$(dirname "$0")/../../tests/quantized.sh"

fresh() { # fresh CASE: a sound checkpoint
    rm -rf "$scratch/model"
    cp -r "$goldens/quantized/modelopt_$1" "$scratch/model"
    chmod -R u+w "$scratch/model"
}

edit() { # edit FROM TO: an edit of config.json, all in one line, that must change something
    tr -d '\n' <"$scratch/model/config.json" >"$scratch/line"
    sed "s/$1/$2/" "$scratch/line" >"$scratch/model/config.json"
    cmp -s "$scratch/line" "$scratch/model/config.json" && fail "$1 is not in config.json"
    return 0
}

rename() { # rename FROM TO: in the names of tensors and what is said of them, as long as each other
    cp "$scratch/model/model.safetensors" "$scratch/before"
    LC_ALL=C sed -i "s/$1/$2/g" "$scratch/model/model.safetensors"
    cmp -s "$scratch/before" "$scratch/model/model.safetensors" && fail "$1 is not in model.safetensors"
    return 0
}

plan() {
    "$host" plan --plugins-dir "$plugins" --model "$scratch/model" --strict "$@" >"$scratch/plan"
}

echo 'nothing to name: the config selects the plugin; scales of activations and of the cache are no surprise'
for case in 'fp8_llama FP8 weight_scale' 'nvfp4_qwen3_moe NVFP4 weight_scale_2'; do
    # shellcheck disable=SC2086 # three words
    set -- $case
    fresh "$1"
    one=$(run --threads 1)
    [ "$one" = "$(run --threads 3)" ] || fail "$1 differs with the number of threads"
    plan
    grep -q "Linear -> ModelOpt$2Linear by modelopt" "$scratch/plan" || fail 'the plugin was not used'
    grep -q "note .*fused_qkv: .* leaves 1 module alone, model.layers.1.self_attn: \"$3\"" "$scratch/plan" ||
        fail "nothing says why those of layer 1 stay apart: $(cat "$scratch/plan")"
done

echo 'experts one by one, taken apart by this plugin or by another'
plan
grep -q 'Qwen3MoeExperts -> ModuleListExperts by sequential_experts' "$scratch/plan" || fail 'it did not give way'
plan --plugins modelopt
grep -q 'Qwen3MoeExperts -> ModelOptExperts by modelopt' "$scratch/plan" || fail 'experts were not replaced'
[ "$one" = "$(run --plugins modelopt)" ] || fail 'differs with experts as Linears'

echo 'other words for the same: weights only, what is mixed, what older configs leave out'
edit '"NVFP4"' '"W4A16_NVFP4"'
[ "$one" = "$(run)" ] || fail 'differs with W4A16_NVFP4'
edit '"W4A16_NVFP4"' '"MIXED_PRECISION"'
[ "$one" = "$(run)" ] || fail 'differs with MIXED_PRECISION'
edit '"config_groups": {.*"ignore"' '"ignore"'
[ "$one" = "$(run)" ] || fail 'differs without config_groups'
rename '\.input_scale"' '.input_scole"'
[ "$one" = "$(run)" ] || fail 'differs without input_scale'

echo 'bad configs'
fresh fp8_llama
edit '"quant_algo": "FP8"' '"quant_algo": "W4A8_AWQ"'
refused config.json quantization_config.quant_algo 'got "W4A8_AWQ"'
fresh fp8_llama
edit '"quant_algo": "FP8"' '"quant_algo": 8'
refused config.json 'quantization_config.quant_algo: expected a string'
fresh fp8_llama
edit '"quant_algo": "FP8"' '"quant_algo": "NVFP4"'
refused model.layers.0. 'no tensor "weight_scale_2"' '"NVFP4"'
fresh nvfp4_qwen3_moe
edit '"quant_algo": "NVFP4"' '"quant_algo": "FP8"'
refused model.layers.0. 'a tensor "weight_scale_2"' '"FP8"'
fresh fp8_llama
edit '"quantization_config"' '"quantized"'
refused model.layers.0. F8_E4M3
echo '{}' >"$scratch/model/hf_quant_config.json"
refused model.layers.0. F8_E4M3 'hf_quant_config.json says how weights are quantized, but config.json has no'

echo 'bad tensors of FP8'
fresh fp8_llama
rename '0\.mlp\.up_proj\.weight_scale"' '0.mlp.up_proj.weight_scole"'
refused model.layers.0.mlp.up_proj.weight F8_E4M3
fresh fp8_llama
rename '0\.mlp\.up_proj\.weight"' '0.mlp.up_proj.waight"'
refused model.layers.0.mlp.up_proj.weight
fresh fp8_llama
rename '\(1\.mlp\.up_proj\.weight_scale":{[^}]*\)F32' '\1I32'
refused model.layers.1.mlp.up_proj.weight_scale 'type I32, expected F32'
fresh fp8_llama # the names of two tensors, the one for the other
rename '"model.norm.weight"' '"@"'
rename '"model.layers.1.mlp.up_proj.weight_scale"' '"model.norm.weight"'
rename '"@"' '"model.layers.1.mlp.up_proj.weight_scale"'
refused model.layers.1.mlp.up_proj.weight_scale 'expected [1]' '[64]'

echo 'bad tensors of NVFP4'
up=model.layers.1.mlp.experts.0.up_proj
spoilt() { # spoilt TENSOR FROM TO WORDS...: something that is said of one of those
    fresh nvfp4_qwen3_moe
    rename "\\($up\\.$1\":{[^}]*\\)$2" "\\1$3"
    shift 3
    refused "$up" "$@"
}
spoilt weight_scale F8_E4M3 F8_E5M2 'type F8_E5M2, expected F8_E4M3'
spoilt weight_scale 48,4 64,3 '[48, 4]' '[64, 3]'
spoilt weight_scale_2 F32 I32 'type I32, expected F32'
spoilt weight U8 I8 'type I8, expected U8'
spoilt weight 48,32 32,48 '[48, 32]' '[32, 48]'
fresh nvfp4_qwen3_moe
rename "$up.weight_scale\"" "$up.weight_scole\""
refused $up.weight_scale missing
fresh nvfp4_qwen3_moe
rename "$up.weight_scale_2\"" "$up.weight_scole_2\""
refused $up 'no tensor "weight_scale_2"'
for bytes in '\000\000\000\000' '\000\000\200\277' '\000\000\300\177' '\000\000\200\177'; do
    fresh nvfp4_qwen3_moe
    poke $up.weight_scale_2 "$bytes"
    refused $up 'weight_scale_2: expected a finite number above 0, got '
done
fresh nvfp4_qwen3_moe
rename "$up"'\.input_scale\(":{[^}]*\)\[]\(.*\.experts\.1\.up_proj\.\)input_scale"' "$up"'.pre_quant_scale\1[1]\2inputs"'
refused $up 'pre_quant_scale: inputs that are scaled beforehand are not read'
