#!/bin/sh
# What a bitsandbytes checkpoint may have wrong is an error that names tensor and field, modules that were not converted
# are left alone, shards may split a module, and the number of threads changes nothing. The build's goldens hold logits,
# exact weights and saving, plugins/lora/joined.sh adapters around it.
# usage: test.sh HOST PLUGINS_FOLDER GOLDENS_FOLDER
. "$(dirname "$0")/../../tests/quantized.sh"
sound=bnb_nf4_double_qwen3
apart=bitsandbytes # projections that none joins
q=model.layers.0.self_attn.q_proj state=quant_state.bitsandbytes__nf4

echo 'nothing to name: the config selects the plugin'
for case in nf4_llama:Linear4bit nf4_double_qwen3:Linear4bit fp4_qwen2:Linear4bit int8_llama:Linear8bitLt; do
    fresh "bnb_${case%:*}"
    threads
    same "$case, projections apart" --plugins bitsandbytes
    plan
    says "Linear -> ${case#*:} by bitsandbytes"
    says 'weight: Concatenate(dim=0), row blocks'
    says 'leaves 1 module alone, lm_head: no tensor'
    says ' 0 bytes copied'
done

echo 'a saved directory has the parts of a joined projection one after the other'
fresh
one=$(run)
"$host" save --quiet --plugins-dir "$plugins" --model "$scratch/model" --output "$scratch/runtime" --runtime-layout
mv "$scratch/model" "$scratch/first" && mv "$scratch/runtime" "$scratch/model"
same 'the runtime layout'
"$host" save --quiet --plugins-dir "$plugins" --model "$scratch/model" --output "$scratch/back"
cmp "$scratch/first/model.safetensors" "$scratch/back/model.safetensors" || fail 'other bytes'

echo 'shards that split a module'
sharded 9000 "$q.weight[a-z_.0-9]*"

echo 'experts one by one, taken apart by this plugin or by another'
fresh bnb_nf4_mixtral
one=$(run)
plan --plugins bitsandbytes
says 'MixtralExperts -> BitsAndBytesExperts by bitsandbytes'
same 'experts as Linears' --plugins bitsandbytes

echo 'bad configs'
bad '"bnb_4bit_quant_type": "nf4"' '"bnb_4bit_quant_type": "nf5"' \
    config.json quantization_config.bnb_4bit_quant_type '"nf5"'
bad '"bnb_4bit_quant_storage": "uint8"' '"bnb_4bit_quant_storage": "bfloat16"' \
    config.json quantization_config.bnb_4bit_quant_storage '"bfloat16"'
bad '"bnb_4bit_use_double_quant": true' '"bnb_4bit_use_double_quant": 1' \
    config.json quantization_config.bnb_4bit_use_double_quant 'a boolean'
bad '"bnb_4bit_use_double_quant": true' '"bnb_4bit_use_double_quant": false' "$q.weight.absmax" U8 F32
bad '"bnb_4bit_quant_type": "nf4"' '"bnb_4bit_quant_type": "fp4"' "$q.weight.quant_state.bitsandbytes__fp4" missing
bad '"load_in_4bit": true' '"load_in_4bit": false' "$q.weight"
bad '"intermediate_size": 192' '"intermediate_size": 320' model.layers.0.mlp.gate_proj.weight

echo 'bad quant states'
spoilt '"blocksize": 64' '"blocksize": 65' "$q.weight.$state: blocksize" 'a power of two, got 65'
spoilt '"blocksize": 64' '"blocksize": 16' "$q.weight.$state: blocksize" 'expected 32 to 4096, got 16'
spoilt '"blocksize": 64' '"blocksize": 32' "$q.weight.absmax: has 256 elements, expected 512"
spoilt '"blocksize": 64' '"block_siz": 64' "$q.weight.$state: blocksize" missing
spoilt '"shape": \[128, 128\]' '"shape": [128, 126]' "$q.weight.$state: shape: expected [128, 128], got [128, 126]"
spoilt '"shape": \[128, 128\]' '"shape": [129, 128]' "$q.weight.$state: shape: expected [128, 128], got [129, 128]"
spoilt '"shape": \[128, 128\]' '"shape": [ 64, 128]' "$q.weight.$state: ends before"
spoilt '"shape": \[128, 128\]' '"shape": "128, 128"' "$q.weight.$state: shape: expected an array"
spoilt '"quant_type": "nf4"' '"quant_type": "nf8"' "$q.weight.$state: quant_type" '"nf4", got "nf8"'
spoilt '"nested_blocksize": 256' '"nested_blocksize": 128' "$q.weight.nested_absmax: has 1 elements, expected 2"
spoilt '"nested_blocksize": 256' '"nested_blocksize": 0  ' "$q.weight.$state: nested_blocksize"
spoilt '"nested_dtype": "float32"' '"nested_dtype": "float16"' "$q.weight.$state: nested_dtype" float16
spoilt '"nested_offset": [0-9]' '"nested_offset": x' "$q.weight.$state"
spoilt '"nested_offset"' '"nested_onset_"' "$q.weight.$state: nested_offset" 'a number, got nothing'
spoilt '{"quant_type"' '["quant_type"' "$q.weight.$state"

echo 'bad tensors'
spoilt "$q.weight.nested_absmax\"" "$q.weight.nested_absmux\"" "$q.weight.nested_absmax" missing
spoilt "$q.weight.quant_map\"" "$q.weight.quant_mop\"" "$q.weight.quant_map" missing
spoilt "$q.weight.nested_quant_map\"" "$q.weight.nested_quant_mop\"" "$q.weight.nested_quant_map" missing
spoilt "$(printf '\377\372\242=')" "$(printf '\377\372\242>')" "$q.weight.quant_map: number" # 0.0796, as F32
sound=bnb_int8_llama
spoilt "$q.SCB\"" "$q.SCC\"" "$q.weight"
fresh
size=$(wc -c <"$scratch/model/model.safetensors") # the last byte is v_proj's
printf '\001' | dd of="$scratch/model/model.safetensors" bs=1 seek=$((size - 1)) conv=notrunc 2>/dev/null
refused model.layers.0.self_attn.v_proj 'weight_format: expected 0 (rows in their usual order), got 1'
