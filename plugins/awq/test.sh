#!/bin/sh
# What an AWQ checkpoint may have wrong is an error that names the field. The build's goldens hold logits, exact weights
# and saving.
# usage: test.sh HOST PLUGINS_FOLDER GOLDENS_FOLDER
set -eu
host=$1 plugins=$2 goldens=$3
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

fail() {
    echo "$1" >&2
    exit 1
}

run() {
    "$host" --quiet --plugins-dir "$plugins" --model "$scratch/model" --input-ids 1,2,3 --max-new-tokens 2 --output-ids
}

sound=awq_int4_llama

fresh() { # fresh FROM TO: a sound checkpoint, but for that edit of config.json
    rm -rf "$scratch/model"
    cp -r "$goldens/quantized/$sound" "$scratch/model"
    chmod -R u+w "$scratch/model"
    run >"$scratch/right"
    sed "s/$1/$2/" "$goldens/quantized/$sound/config.json" >"$scratch/model/config.json"
}

refused() { # refused FROM TO WORDS...: with that edit
    fresh "$1" "$2"
    shift 2
    status=0
    run >"$scratch/out" 2>&1 || status=$?
    [ "$status" = 4 ] || fail "exit status $status instead of 4: $(cat "$scratch/out")"
    grep -q '[^ ]*\.\(json\|safetensors\): ' "$scratch/out" || fail "no file in: $(cat "$scratch/out")"
    for words; do
        grep -qF "$words" "$scratch/out" || fail "no \"$words\" in: $(cat "$scratch/out")"
    done
}

refused '"bits": 4' '"bits": 8' config.json quantization_config.bits 'expected 4, got 8'
refused '"version": "gemm"' '"version": "gemv"' config.json quantization_config.version gemv
refused '"group_size": 128' '"group_size": 64' qzeros
refused '"version": "gemm"' '"format": "llm-awq"' config.json 'quantization_config.format: expected "gemm", got "llm-awq"'
refused '"version": "gemm"' '"version": "gemm", "format": "gemv"' config.json 'quantization_config.format: expected the value of'
refused '"version": "gemm"' '"backend": "llm-awq"' config.json 'quantization_config.backend: the layout of "llm-awq"'
refused '"version": "gemm"' '"pack_dtype": "int16"' config.json 'quantization_config.pack_dtype: expected "int32"'
same() { # same FROM TO: with that edit, the same ids
    fresh "$1" "$2"
    run | cmp -s - "$scratch/right" || fail "$2: another result"
}
same '"version": "gemm"' '"version": "GEMM"'
same '"version": "gemm"' '"format": "gemm"'
same '"bits": 4' '"w_bit": 4'
same '"group_size": 128' '"q_group_size": 128'
same '"quant_method": "awq"' '"quant_method": "AWQ"'

sound=auto_round_awq_llama
fresh '"packing_format": "auto_round:auto_awq"' '"backend": "auto_round:awq:gemm"'
run | cmp -s - "$scratch/right" || fail 'an old name of the layout gives another result'
refused '"extra_config": {' '"extra_config": {".*up_proj": {"bits": 8},' config.json quantization_config.bits \
    'expected 4, got 8 (model.layers.0.mlp.'
refused '"bits": 4' '"bits": 4, "act_bits": 8' config.json 'quantization_config.act_bits: expected 16, got 8'
refused '"auto_round:auto_awq"' '"auto_round:awq_v2"' config.json \
    'quantization_config.packing_format: no plugin here reads "auto_round:awq_v2" of quant_method "auto-round"'
