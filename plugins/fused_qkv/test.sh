#!/bin/sh
# The plugin alone, on a model of each family: it takes every attention, agrees with the original to the bit, and copies
# nothing.
# usage: test.sh HOST PLUGINS_FOLDER GOLDENS_FOLDER
set -eu
host=$1 plugins=$2 goldens=$3
for case in llama_bias llama_tied_bf16 mistral qwen2_moe_gqa qwen3 mixtral qwen3_moe; do
    model=$goldens/plain/$case
    report=$("$host" plan --model "$model" --plugins-dir "$plugins" --plugins fused_qkv)
    echo "$case"
    echo "$report" | grep -q 'qkv_proj.weight: Concatenate(dim=0), row blocks'
    echo "$report" | grep -q ' 0 bytes copied'
    if echo "$report" | grep 'self_attn.q_proj'; then exit 1; fi # nothing of the original layout is left
    for dtype in float32 auto; do
        "$host" verify --model "$model" --plugins-dir "$plugins" --plugins fused_qkv --dtype $dtype --tolerance 0 >/dev/null
    done
done
