#!/bin/sh
# What a checkpoint in MXFP4 may have wrong is an error that names tensor or field, other models are left alone, and
# neither threads, shards nor other plugins change anything. The build's goldens hold logits and saving, test_weights.c
# exact weights.
# usage: test.sh HOST PLUGINS_FOLDER GOLDENS_FOLDER
. "$(dirname "$0")/../../tests/scratch.sh"
host=$1 plugins=$2 goldens=$3
packed=$goldens/quantized/mxfp4_gpt_oss
plain=$goldens/plain/gpt_oss

fresh() { # fresh [MODEL]: a sound checkpoint
    rm -rf "$scratch/model"
    cp -r "${1-$packed}" "$scratch/model"
    chmod -R u+w "$scratch/model"
}

on_host() { # on_host COMMAND OPTION...: with all plugins and families
    "$host" "$@" --plugins-dir "$plugins" --plugins-dir "$plugins/families"
}

run() {
    on_host run --quiet --model "$scratch/model" --input-ids 1,2,3,4,5,6,7,8,9 --input-ids 10 --max-new-tokens 4 \
        --output-ids "$@"
}

refused() { # refused WORDS...: exit status 4, and each of the words in the message
    status=0
    run >"$scratch/out" 2>&1 || status=$?
    [ "$status" = 4 ] || fail "exit status $status instead of 4: $(cat "$scratch/out")"
    grep -q '[^ ]*\.\(json\|safetensors\): ' "$scratch/out" || fail "no file in: $(cat "$scratch/out")"
    for words; do
        grep -qF "$words" "$scratch/out" || fail "no \"$words\" in: $(cat "$scratch/out")"
    done
}

config() { # config FROM TO: an edit of config.json that must change something
    fresh
    sed "s/$1/$2/" "$scratch/model/config.json" >"$scratch/edited"
    cmp -s "$scratch/edited" "$scratch/model/config.json" && fail "$1 is not in config.json"
    cp "$scratch/edited" "$scratch/model/config.json"
}

renamed() { # renamed FROM TO: a tensor's name, of the same length
    fresh
    LC_ALL=C sed -i "s/$1\"/$2\"/" "$scratch/model/model.safetensors"
}

echo 'nothing to name: the config selects the plugin, and others leave its modules alone'
fresh
ids=$(run)
on_host plan --model "$scratch/model" --strict >"$scratch/plan"
grep -q 'GptOssExperts -> Mxfp4GptOssExperts by mxfp4' "$scratch/plan" || fail 'the plugin was not used'
grep -q ' 0 bytes copied' "$scratch/plan" || fail "something is copied: $(cat "$scratch/plan")"
grep -q 'note .*plugin sequential_experts has no effect on this model' "$scratch/plan" || fail 'no note on sequential_experts'
on_host plan --model "$plain" >"$scratch/plan"
grep -q 'note .*plugins .* mxfp4[ ,].*have no effect on this model: quantization_config.quant_method is none of .*"mxfp4"' \
    "$scratch/plan" || fail 'no note on a model that is not quantized'
"$host" inspect "$plugins/mxfp4/mxfp4.so" >"$scratch/inspect"
for words in 'quant_methods' 'conditions' 'gate_up_proj_blocks'; do
    grep -q "$words" "$scratch/inspect" || fail "inspect lacks $words"
done

echo 'what the tensors say counts, not the config: experts that were not converted'
fresh "$plain"
expected=$(run)
sed -i 's/"vocab_size"/"quantization_config": {"quant_method": "mxfp4"}, &/' "$scratch/model/config.json"
[ "$(run)" = "$expected" ] || fail 'plain experts differ under a quantization_config'

echo 'threads, shards, prompts one by one'
fresh
[ "$(run --threads 1)" = "$(run --threads 3)" ] || fail 'differs with the number of threads'
on_host save --model "$packed" --output "$scratch/shards" --max-shard-size 8KB >"$scratch/out"
[ -e "$scratch/shards/model.safetensors.index.json" ] || fail 'no shards'
fresh "$scratch/shards"
[ "$(run)" = "$ids" ] || fail 'differs in shards'
on_host bench --model "$packed" --prompt-tokens 4 --new-tokens 2 --repeat 1 --json >"$scratch/bench.json"
grep -q generation "$scratch/bench.json" || fail 'bench measured nothing'

echo 'bad configs'
config '"intermediate_size": 64' '"intermediate_size": 48'
refused 'layers.0.mlp.experts' 'intermediate_size is 48, expected a multiple of 32'
config '"intermediate_size": 64' '"intermediate_size": 96'
refused model.layers.0.mlp.experts.gate_up_proj_blocks '[4, 192, 2, 16]' '[4, 128, 2, 16]'
config '"quant_method": "mxfp4"' '"quant_method": "mxfp6"'
refused config.json mxfp6 plugin

echo 'bad tensors'
renamed 0.mlp.experts.down_proj_blocks 0.mlp.experts.down_proj_blockz
refused model.layers.0.mlp.experts.down_proj_blocks
renamed 1.mlp.experts.gate_up_proj_scales 1.mlp.experts.gate_up_proj_scalez
refused model.layers.1.mlp.experts.gate_up_proj_scales
renamed 1.mlp.experts.down_proj_bias 1.mlp.experts.down_proj_bios
refused model.layers.1.mlp.experts.down_proj_bias
