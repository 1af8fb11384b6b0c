#!/bin/sh
# Adapters for experts: for those that are modules, under whatever class their projections have, and for stacked ones.
# usage: experts.sh HOST PLUGINS_FOLDER GOLDENS_FOLDER MAKE_ADAPTER MAKE_ROUNDED
. "$(dirname "$0")/../../tests/scratch.sh"
host=$1 plugins=$2 goldens=$3 quantized=$3/quantized make_adapter=$4 make_rounded=$5

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

rounded() { # rounded ADAPTER: a copy of it in bf16, as $scratch/rounded
    mkdir -p "$scratch/rounded"
    cp "$1/adapter_config.json" "$scratch/rounded"
    "$make_rounded" "$1/adapter_model.safetensors" "$scratch/rounded/adapter_model.safetensors"
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
    rounded "$one"
    run stored "$list" --input-ids 5,6,7,8,9 --adapter "$scratch/rounded"
    run bf16 "$list" --input-ids 5,6,7,8,9 --adapter "$one" --plugin-option lora.dtype=bfloat16
    cmp "$scratch/stored.logits" "$scratch/bf16.logits" || fail "$case: rounded, not as an adapter stored in bf16"

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

# Adapters that have experts stacked, as PEFT does for target_parameters.
stacked=$goldens/adapters
families=$plugins/families
oss=$goldens/plain/gpt_oss

ids() { # ids MODEL PLUGINS OPTIONS
    base=$1 loaded=$2
    shift 2
    "$host" --quiet --plugins-dir "$plugins" --plugins-dir "$families" --plugins "$loaded" --model "$base" \
        --dtype float32 --output-ids --max-new-tokens 6 "$@"
}

for line in "$oss fused_qkv gpt_oss_experts gpt_oss_one" "$quantized/mxfp4_gpt_oss mxfp4 gpt_oss_mxfp4 gpt_oss_mxfp4" \
    "$goldens/plain/qwen2_moe_gqa fused_qkv qwen2_moe_experts qwen2_moe_experts"; do
    # shellcheck disable=SC2086 # words
    set -- $line
    echo "stacked: $2"
    one="--adapter one=$stacked/$3" two="--adapter two=$stacked/$4"
    [ "$3" = "$4" ] && two="$two --adapter-scale two=-0.5"
    ids "$1" "$2" --input-ids 5,6,7,8,9 >"$scratch/none"
    # shellcheck disable=SC2086
    ids "$1" "lora,$2" --input-ids 5,6,7,8,9 $one --adapter-scale one=0 | cmp - "$scratch/none" ||
        fail 'a scale of 0 changes ids'
    # shellcheck disable=SC2086
    {
        ids "$1" "lora,$2" --input-ids 5,6,7,8,9 $one
        ids "$1" "lora,$2" --input-ids 3,1 $two
    } >"$scratch/alone"
    head -n 1 "$scratch/alone" | cmp -s - "$scratch/none" && fail 'an adapter changes nothing'
    # shellcheck disable=SC2086
    ids "$1" "lora,$2" $one $two --input-ids 5,6,7,8,9 --prompt-adapter one --input-ids 3,1 --prompt-adapter two \
        --input-ids 5,6,7,8,9 --prompt-adapter __base__ >"$scratch/batch"
    cat "$scratch/alone" "$scratch/none" | cmp - "$scratch/batch" || fail 'an adapter for each prompt'
    # shellcheck disable=SC2086
    ids "$1" "lora,$2" --threads 3 --input-ids 5,6,7,8,9 $one >"$scratch/threads"
    head -n 1 "$scratch/alone" | cmp - "$scratch/threads" || fail 'differs with the number of threads'
done

for name in gpt_oss_experts gpt_oss_one; do
    echo "stacked, rounded: $name"
    rounded "$stacked/$name"
    for prompt in 5,6,7 "$(seq -s, 1 40)"; do
        ids "$oss" fused_qkv,lora --input-ids "$prompt" --adapter "$scratch/rounded" --logits "$scratch/stored.logits" \
            >"$scratch/stored"
        ids "$oss" fused_qkv,lora --input-ids "$prompt" --adapter "$stacked/$name" --logits "$scratch/rounded.logits" \
            --plugin-option lora.dtype=bfloat16 >"$scratch/ids"
        cmp "$scratch/stored" "$scratch/ids" || fail 'other ids'
        cmp "$scratch/stored.logits" "$scratch/rounded.logits" || fail 'other logits'
    done
done

refused() { # refused WORDS SCRIPT [MODEL PLUGINS [ADAPTER]]: an adapter whose config a script of sed has changed
    rm -rf "$scratch/faulty"
    cp -r "$stacked/${5-gpt_oss_experts}" "$scratch/faulty"
    sed "$2" "$stacked/${5-gpt_oss_experts}/adapter_config.json" >"$scratch/faulty/adapter_config.json"
    status=0
    ids "${3-$oss}" "lora,${4-fused_qkv}" --adapter "$scratch/faulty" --input-ids 5 >"$scratch/out" 2>&1 || status=$?
    [ "$status" = 4 ] || fail "exit status $status instead of 4: $(cat "$scratch/out")"
    grep -qF "$1" "$scratch/out" || fail "no \"$1\" in: $(cat "$scratch/out")"
}
echo 'stacked: what is wrong'
refused 'adapter_config.json: target_parameters: does not name model.layers.0.mlp.experts.gate_up_proj' 's/experts.gate_up_proj"/experts.gate_proj"/'
refused 'adapter_config.json: target_parameters: does not name model.layers.0.mlp.experts.down_proj' 's/"mlp.experts.down_proj"/"down"/'
refused 'adapter_config.json: target_parameters: names two of model.layers.1.mlp.experts' 's/"1.mlp/"mlp/;s/"2.mlp/"mlp/' \
    "$oss" fused_qkv gpt_oss_one
refused 'model.layers.1.mlp.experts.adapter.default.gate_up_proj_lora_A: expected [15, 24]' 's/"r": 2/"r": 3/' \
    "$oss" fused_qkv gpt_oss_one
refused 'mlp.experts.adapter.default.down_proj_lora_A: expected [20, 12]' 's/"experts.down_proj": 3/"experts.down_proj": 4/'
refused 'adapter_config.json: lora_alpha: expected a number' 's/"lora_alpha": 8/"lora_alpha": "8"/'
refused 'an adapter for stacked experts (target_parameters), which these are not' '' "$quantized/fp8_block_qwen3_moe" \
    fp8 qwen2_moe_experts
