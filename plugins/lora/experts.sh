#!/bin/sh
# Adapters for experts that are modules, under whatever class their projections have.
# usage: experts.sh HOST PLUGINS_FOLDER GOLDENS_FOLDER MAKE_ADAPTER
set -eu
host=$1 plugins=$2 quantized=$3/quantized make_adapter=$4
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

fail() {
    echo "$1" >&2
    exit 1
}

make() { # make CASE LAYERS HIDDEN INNER: an adapter for all experts, and another one
    case=$1 layers=$2 hidden=$3 inner=$4
    set -- # the shapes
    for expert in $(seq 0 $((experts - 1))); do
        at=model.layers.#.mlp.experts.$expert
        set -- "$@" "$at.gate_proj:$inner:$hidden" "$at.up_proj:$inner:$hidden" "$at.down_proj:$hidden:$inner"
    done
    for seed in 1 2; do
        mkdir "$scratch/$case.$seed"
        "$make_adapter" "$scratch/$case.$seed" $seed "$layers" 3 "$@"
    done
}

run() { # run NAME PLUGINS OPTIONS
    name=$1 loaded=$2
    shift 2
    "$host" --plugins-dir "$plugins" --plugins "$loaded" --model "$quantized/$case" --dtype float32 --output-ids \
        --max-new-tokens 3 --logits "$scratch/$name.logits" "$@" >"$scratch/$name.ids" 2>"$scratch/$name.report" ||
        fail "$case, $name: $(cat "$scratch/$name.report")"
}

for line in 'gptq_int4_qwen2_moe gptq 2 3 128 64' 'awq_int4_qwen2_moe awq 2 4 128 64' 'fp8_block_qwen3_moe fp8 2 4 128 48' \
    'gptq_int4_mixtral gptq 2 3 64 64'; do
    # shellcheck disable=SC2086 # words
    set -- $line
    method=$2 experts=$4
    echo "$1"
    make "$1" "$3" "$5" "$6"
    list=$method,lora,sequential_experts,fused_qkv one=$scratch/$case.1 two=$scratch/$case.2
    run base "$method,sequential_experts" --input-ids 5,6,7,8,9
    run off "$list" --input-ids 5,6,7,8,9 --adapter "$one" --adapter-scale default=0
    cmp -s "$scratch/base.logits" "$scratch/off.logits" || fail "$case: a scale of 0 changes results"
    run one "$list" --input-ids 5,6,7,8,9 --adapter "$one"
    cmp -s "$scratch/base.logits" "$scratch/one.logits" && fail "$case: an adapter changes nothing"
    grep -q " -> LoraLinear by lora .* in $((2 * 3 * experts)) modules" "$scratch/one.report" ||
        fail "$case: not all projections are wrapped: $(cat "$scratch/one.report")"

    run two "$list" --input-ids 3,1 --adapter "$two"
    run none "$method,sequential_experts" --input-ids 4
    run batch "$list" --adapter a="$one" --adapter b="$two" --input-ids 5,6,7,8,9 --prompt-adapter a --input-ids 3,1 \
        --prompt-adapter b --input-ids 4 --prompt-adapter __base__
    cat "$scratch/one.ids" "$scratch/two.ids" "$scratch/none.ids" | cmp - "$scratch/batch.ids" ||
        fail "$case: an adapter for each prompt"
done

echo 'fp8 lists experts itself'
case=fp8_block_qwen3_moe
run itself fp8,lora --input-ids 5,6,7,8,9 --adapter "$scratch/$case.1"
run listed fp8,lora,sequential_experts --input-ids 5,6,7,8,9 --adapter "$scratch/$case.1"
cmp "$scratch/itself.logits" "$scratch/listed.logits" || fail 'other results with sequential_experts'
