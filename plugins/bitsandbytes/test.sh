#!/bin/sh
# What a bitsandbytes checkpoint may have wrong is an error that names tensor and field, modules that were not converted
# are left alone, shards may split a module, and the number of threads changes nothing. The build's goldens hold logits,
# exact weights and saving, plugins/lora/joined.sh adapters around it.
# usage: test.sh HOST PLUGINS_FOLDER GOLDENS_FOLDER
. "$(dirname "$0")/../../tests/quantized.sh"
sound=bnb_nf4_double_qwen3
q=model.layers.0.self_attn.q_proj state=quant_state.bitsandbytes__nf4

apart() { # with projections that none joins
    run --plugins bitsandbytes
}

refused() { # refused WORDS...: exit status 4, and each of the words in the message
    status=0
    apart >"$scratch/out" 2>&1 || status=$?
    [ "$status" = 4 ] || fail "exit status $status instead of 4: $(cat "$scratch/out")"
    grep -q '[^ ]*\.\(json\|safetensors\): ' "$scratch/out" || fail "no file in: $(cat "$scratch/out")"
    for words; do
        grep -qF "$words" "$scratch/out" || fail "no \"$words\" in: $(cat "$scratch/out")"
    done
}

edit() { # edit FROM TO [CASE]: an edit of the weights, as long as each other, that must change something
    fresh "${3:-}"
    LC_ALL=C sed "s/$1/$2/g" "$scratch/model/model.safetensors" >"$scratch/edited"
    cmp -s "$scratch/edited" "$scratch/model/model.safetensors" && fail "$1 is not in the weights"
    cp "$scratch/edited" "$scratch/model/model.safetensors"
}

echo 'nothing to name: the config selects the plugin'
for case in nf4_llama:Linear4bit nf4_double_qwen3:Linear4bit fp4_qwen2:Linear4bit int8_llama:Linear8bitLt; do
    fresh "bnb_${case%:*}"
    one=$(run --threads 1)
    [ "$one" = "$(run --threads 3)" ] || fail "$case differs with the number of threads"
    [ "$one" = "$(apart)" ] || fail "$case differs where projections are apart"
    "$host" plan --plugins-dir "$plugins" --model "$scratch/model" >"$scratch/plan"
    grep -q "Linear -> ${case#*:} by bitsandbytes" "$scratch/plan" || fail "$case: the plugin was not used"
    grep -q 'weight: Concatenate(dim=0), row blocks' "$scratch/plan" || fail "$case: not joined: $(cat "$scratch/plan")"
    grep -q 'leaves 1 module alone, lm_head: no tensor' "$scratch/plan" || fail "$case: no note on lm_head"
    grep -q ' 0 bytes copied' "$scratch/plan" || fail "$case: something is copied: $(cat "$scratch/plan")"
done

echo 'a saved directory has the parts of a joined projection one after the other'
fresh
one=$(run)
"$host" save --quiet --plugins-dir "$plugins" --model "$scratch/model" --output "$scratch/runtime" --runtime-layout
mv "$scratch/model" "$scratch/first" && mv "$scratch/runtime" "$scratch/model"
[ "$one" = "$(run)" ] || fail 'differs in the runtime layout'
"$host" save --quiet --plugins-dir "$plugins" --model "$scratch/model" --output "$scratch/back"
cmp "$scratch/first/model.safetensors" "$scratch/back/model.safetensors" || fail 'other bytes'

echo 'shards that split a module'
fresh
"$host" save --quiet --plugins-dir "$plugins" --model "$scratch/model" --output "$scratch/sharded" --max-shard-size 9000
grep -o "\"$q.weight[a-z_.0-9]*\": *\"[^\"]*\"" "$scratch/sharded/model.safetensors.index.json" | sed 's/.*: *//' |
    sort -u >"$scratch/files"
[ "$(wc -l <"$scratch/files")" -gt 1 ] || fail 'q_proj is in one file'
rm -rf "$scratch/model" && mv "$scratch/sharded" "$scratch/model"
[ "$one" = "$(run)" ] || fail 'differs in shards'

echo 'experts one by one, taken apart by this plugin or by another'
fresh bnb_nf4_mixtral
one=$(run)
"$host" plan --plugins-dir "$plugins" --plugins bitsandbytes --model "$scratch/model" >"$scratch/plan"
grep -q 'MixtralExperts -> BitsAndBytesExperts by bitsandbytes' "$scratch/plan" || fail 'experts were not replaced'
[ "$one" = "$(apart)" ] || fail 'differs with experts as Linears'

echo 'bad configs'
config '"bnb_4bit_quant_type": "nf4"' '"bnb_4bit_quant_type": "nf5"'
refused config.json quantization_config.bnb_4bit_quant_type '"nf5"'
config '"bnb_4bit_quant_storage": "uint8"' '"bnb_4bit_quant_storage": "bfloat16"'
refused config.json quantization_config.bnb_4bit_quant_storage '"bfloat16"'
config '"bnb_4bit_use_double_quant": true' '"bnb_4bit_use_double_quant": 1'
refused config.json quantization_config.bnb_4bit_use_double_quant 'a boolean'
config '"bnb_4bit_use_double_quant": true' '"bnb_4bit_use_double_quant": false'
refused "$q.weight.absmax" U8 F32
config '"bnb_4bit_quant_type": "nf4"' '"bnb_4bit_quant_type": "fp4"'
refused "$q.weight.quant_state.bitsandbytes__fp4" missing
config '"load_in_4bit": true' '"load_in_4bit": false'
refused "$q.weight"
config '"intermediate_size": 192' '"intermediate_size": 320'
refused model.layers.0.mlp.gate_proj.weight

echo 'bad quant states'
edit '"blocksize": 64' '"blocksize": 65'
refused "$q.weight.$state: blocksize" 'a power of two, got 65'
edit '"blocksize": 64' '"blocksize": 16'
refused "$q.weight.$state: blocksize" 'expected 32 to 4096, got 16'
edit '"blocksize": 64' '"blocksize": 32'
refused "$q.weight.absmax: has 256 elements, expected 512"
edit '"blocksize": 64' '"block_siz": 64'
refused "$q.weight.$state: blocksize" missing
edit '"shape": \[128, 128\]' '"shape": [128, 126]'
refused "$q.weight.$state: shape: expected [128, 128], got [128, 126]"
edit '"shape": \[128, 128\]' '"shape": [129, 128]'
refused "$q.weight.$state: shape: expected [128, 128], got [129, 128]"
edit '"shape": \[128, 128\]' '"shape": [ 64, 128]'
refused "$q.weight.$state: ends before"
edit '"shape": \[128, 128\]' '"shape": "128, 128"'
refused "$q.weight.$state: shape: expected an array"
edit '"quant_type": "nf4"' '"quant_type": "nf8"'
refused "$q.weight.$state: quant_type" '"nf4", got "nf8"'
edit '"nested_blocksize": 256' '"nested_blocksize": 128'
refused "$q.weight.nested_absmax: has 1 elements, expected 2"
edit '"nested_blocksize": 256' '"nested_blocksize": 0  '
refused "$q.weight.$state: nested_blocksize"
edit '"nested_dtype": "float32"' '"nested_dtype": "float16"'
refused "$q.weight.$state: nested_dtype" float16
edit '"nested_offset": [0-9]' '"nested_offset": x'
refused "$q.weight.$state"
edit '"nested_offset"' '"nested_onset_"'
refused "$q.weight.$state: nested_offset" 'a number, got nothing'
edit '{"quant_type"' '["quant_type"'
refused "$q.weight.$state"

echo 'bad tensors'
edit "$q.weight.nested_absmax\"" "$q.weight.nested_absmux\""
refused "$q.weight.nested_absmax" missing
edit "$q.weight.quant_map\"" "$q.weight.quant_mop\""
refused "$q.weight.quant_map" missing
edit "$q.weight.nested_quant_map\"" "$q.weight.nested_quant_mop\""
refused "$q.weight.nested_quant_map" missing
edit "$(printf '\377\372\242=')" "$(printf '\377\372\242>')" # 0.0796, as F32
refused "$q.weight.quant_map: number"
edit "$q.SCB\"" "$q.SCC\"" bnb_int8_llama
refused "$q.weight"
fresh bnb_int8_llama
size=$(wc -c <"$scratch/model/model.safetensors") # the last byte is v_proj's
printf '\001' | dd of="$scratch/model/model.safetensors" bs=1 seek=$((size - 1)) conv=notrunc 2>/dev/null
refused model.layers.0.self_attn.v_proj 'weight_format: expected 0 (rows in their usual order), got 1'
