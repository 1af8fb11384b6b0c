#!/bin/sh
# The plugin alone, on experts stored one by one and stacked: it takes every experts module, agrees with the original to
# the bit, and copies nothing.
# usage: test.sh HOST PLUGINS_FOLDER GOLDENS_FOLDER
set -eu
host=$1 plugins=$2 goldens=$3
for case in qwen2_moe_sharded_bf16 qwen2_moe_stacked mixtral qwen3_moe; do
    model=$goldens/plain/$case
    report=$("$host" plan --model "$model" --plugins-dir "$plugins" --plugins sequential_experts)
    echo "$case"
    echo "$report" | grep -q 'Experts -> ModuleListExperts by sequential_experts'
    echo "$report" | grep -q ' 0 bytes copied'
    if echo "$report" | grep 'gate_up_proj'; then exit 1; fi # nothing of the original layout is left
    for dtype in float32 auto; do
        "$host" verify --model "$model" --plugins-dir "$plugins" --plugins sequential_experts --dtype $dtype \
            --tolerance 0 >/dev/null
    done
done
