#!/bin/sh
# What a checkpoint in MXFP4 may have wrong is an error that names tensor or field, other models are left alone, and
# neither threads, shards nor other plugins change anything. The build's goldens hold logits and saving, test_weights.c
# exact weights.
# usage: test.sh HOST PLUGINS_FOLDER GOLDENS_FOLDER
. "$(dirname "$0")/../../tests/quantized.sh"
sound=mxfp4_gpt_oss
packed=$goldens/quantized/mxfp4_gpt_oss

on_host() { # on_host COMMAND OPTION...: with all plugins and families
    "$host" "$@" --plugins-dir "$plugins" --plugins-dir "$plugins/families"
}

run() {
    on_host run --quiet --model "$scratch/model" --input-ids 1,2,3,4,5,6,7,8,9 --input-ids 10 --max-new-tokens 4 \
        --output-ids "$@"
}

plan() {
    on_host plan --model "$scratch/model" "$@" >"$scratch/plan"
}

echo 'nothing to name: the config selects the plugin, and others leave its modules alone'
fresh
plan --strict
says 'GptOssExperts -> Mxfp4GptOssExperts by mxfp4'
says ' 0 bytes copied'
says 'note .*plugin sequential_experts has no effect on this model'
fresh ../plain/gpt_oss
plan
says 'note .*plugins .* mxfp4[ ,].*have no effect on this model: quantization_config.quant_method is none of .*"mxfp4"'
"$host" inspect "$plugins/mxfp4/mxfp4.so" >"$scratch/inspect"
for words in 'quant_methods' 'conditions' 'gate_up_proj_blocks'; do
    grep -q "$words" "$scratch/inspect" || fail "inspect lacks $words"
done

echo 'what the tensors say counts, not the config: experts that were not converted'
one=$(run)
edited config.json '"vocab_size"' '"quantization_config": {"quant_method": "mxfp4"}, &'
same 'plain experts under a quantization_config'

echo 'threads, shards, prompts one by one'
fresh
threads
on_host save --model "$packed" --output "$scratch/shards" --max-shard-size 8KB >"$scratch/out"
[ -e "$scratch/shards/model.safetensors.index.json" ] || fail 'no shards'
rm -r "$scratch/model" && mv "$scratch/shards" "$scratch/model"
same 'in shards'
on_host bench --model "$packed" --prompt-tokens 4 --new-tokens 2 --repeat 1 --json >"$scratch/bench.json"
grep -q generation "$scratch/bench.json" || fail 'bench measured nothing'

echo 'bad configs'
bad '"intermediate_size": 64' '"intermediate_size": 48' \
    'layers.0.mlp.experts' 'intermediate_size is 48, expected a multiple of 32'
bad '"intermediate_size": 64' '"intermediate_size": 96' \
    model.layers.0.mlp.experts.gate_up_proj_blocks '[4, 192, 2, 16]' '[4, 128, 2, 16]'
bad '"quant_method": "mxfp4"' '"quant_method": "mxfp6"' config.json mxfp6 plugin

echo 'bad tensors'
for tensor in 0.mlp.experts.down_proj_blocks 1.mlp.experts.gate_up_proj_scales 1.mlp.experts.down_proj_bias; do
    spoilt "$tensor\"" "${tensor%?}z\"" "model.layers.$tensor"
done
