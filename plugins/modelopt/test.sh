#!/bin/sh
# What a checkpoint by Model Optimizer may have wrong is an error that names tensor or field, modules that were not
# converted are left alone, both formats may be in one model, and the number of threads changes nothing. The build's
# goldens hold logits, exact weights and saving.
# usage: test.sh HOST PLUGINS_FOLDER GOLDENS_FOLDER
. "$(dirname "$0")/../../tests/quantized.sh"

one_line=1

echo 'nothing to name: the config selects the plugin; scales of activations and of the cache are no surprise'
for case in 'fp8_llama FP8 weight_scale' 'nvfp4_qwen3_moe NVFP4 weight_scale_2'; do
    # shellcheck disable=SC2086 # three words
    set -- $case
    fresh "modelopt_$1"
    threads
    plan --strict
    says "Linear -> ModelOpt$2Linear by modelopt"
    says "note .*fused_qkv: .* leaves 1 module alone, model.layers.1.self_attn: \"$3\""
done

echo 'experts one by one, taken apart by this plugin or by another'
plan --strict
says 'Qwen3MoeExperts -> ModuleListExperts by sequential_experts'
plan --strict --plugins modelopt
says 'Qwen3MoeExperts -> ModelOptExperts by modelopt'
same 'experts as Linears' --plugins modelopt

echo 'other words for the same: weights only, what is mixed, what older configs leave out'
edited config.json '"NVFP4"' '"W4A16_NVFP4"'
same 'with W4A16_NVFP4'
edited config.json '"W4A16_NVFP4"' '"MIXED_PRECISION"'
same 'with MIXED_PRECISION'
edited config.json '"config_groups": {.*"ignore"' '"ignore"'
same 'without config_groups'
weights '\.input_scale"' '.input_scole"'
same 'without input_scale'

echo 'bad configs'
sound=modelopt_fp8_llama
algo=quantization_config.quant_algo
bad '"quant_algo": "FP8"' '"quant_algo": "W4A8_AWQ"' config.json $algo 'got "W4A8_AWQ"'
bad '"quant_algo": "FP8"' '"quant_algo": 8' config.json "$algo: expected a string"
bad '"quant_algo": "FP8"' '"quant_algo": "NVFP4"' model.layers.0. 'no tensor "weight_scale_2"' '"NVFP4"'
bad '"quantization_config"' '"quantized"' model.layers.0. F8_E4M3
echo '{}' >"$scratch/model/hf_quant_config.json"
refused model.layers.0. F8_E4M3 'hf_quant_config.json says how weights are quantized, but config.json has no'

echo 'bad tensors of FP8'
up=model.layers.0.mlp.up_proj
spoilt "$up\\.weight_scale\"" "$up.weight_scole\"" $up.weight F8_E4M3
spoilt "$up\\.weight\"" "$up.waight\"" $up.weight
up=model.layers.1.mlp.up_proj
spoilt "\\($up\\.weight_scale\":{[^}]*\\)F32" '\1I32' $up.weight_scale 'type I32, expected F32'
fresh # the names of two tensors, the one for the other
weights '"model.norm.weight"' '"@"'
weights "\"$up.weight_scale\"" '"model.norm.weight"'
weights '"@"' "\"$up.weight_scale\""
refused $up.weight_scale 'expected [1]' '[64]'

echo 'bad tensors of NVFP4'
sound=modelopt_nvfp4_qwen3_moe
up=model.layers.1.mlp.experts.0.up_proj
bad '"quant_algo": "NVFP4"' '"quant_algo": "FP8"' model.layers.0. 'a tensor "weight_scale_2"' '"FP8"'
said() { # said TENSOR FROM TO WORDS...: something else that is said of one of those
    tensor=$1 from=$2 to=$3
    shift 3
    spoilt "\\($up\\.$tensor\":{[^}]*\\)$from" "\\1$to" "$up" "$@"
}
said weight_scale F8_E4M3 F8_E5M2 'type F8_E5M2, expected F8_E4M3'
said weight_scale 48,4 64,3 '[48, 4]' '[64, 3]'
said weight_scale_2 F32 I32 'type I32, expected F32'
said weight U8 I8 'type I8, expected U8'
said weight 48,32 32,48 '[48, 32]' '[32, 48]'
spoilt "$up.weight_scale\"" "$up.weight_scole\"" $up.weight_scale missing
spoilt "$up.weight_scale_2\"" "$up.weight_scole_2\"" $up 'no tensor "weight_scale_2"'
for bytes in '\000\000\000\000' '\000\000\200\277' '\000\000\300\177' '\000\000\200\177'; do
    fresh
    poke $up.weight_scale_2 "$bytes"
    refused $up 'weight_scale_2: expected a finite number above 0, got '
done
spoilt "$up"'\.input_scale\(":{[^}]*\)\[]\(.*\.experts\.1\.up_proj\.\)input_scale"' "$up"'.pre_quant_scale\1[1]\2inputs"' \
    $up 'pre_quant_scale: inputs that are scaled beforehand are not read'
