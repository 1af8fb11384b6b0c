#!/bin/sh
# Several processes with some of the experts each give the ids of one, whatever the experts are made of.
# usage: test.sh HOST PLUGINS_FOLDER GOLDENS
set -eu
host=$1 plugins=$2 goldens=$3
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
# shellcheck source=../mpi/ranks.sh
. "$(dirname "$0")/../mpi/ranks.sh"

divide=experts
same() { # same N MODEL PLUGINS OPTIONS...: ids, with `divide` as it is; reports are in $scratch/report
    n=$1 model=$2 list=$3
    shift 3
    "$host" --quiet --plugins-dir "$plugins" --plugins-dir "$plugins/families" ${list:+--plugins "$list"} --model "$model" \
        --output-ids "$@" >"$scratch/one"
    ranks "$n" --report json --plugins "expert_parallel${list:+,$list}" --plugin-option "expert_parallel.divide=$divide" \
        --model "$model" --output-ids "$@" >"$scratch/many" 2>"$scratch/report" || fail "$model on $n: $(cat "$scratch/report")"
    cmp -s "$scratch/one" "$scratch/many" || fail "$model on $n: $(cat "$scratch/many") instead of $(cat "$scratch/one")"
}

prompts='--input-ids 5,6,7,8,9,10,11 --input-ids 9,8 --input-ids 3,1,4,1,5 --max-new-tokens 12 --dtype float32'
# shellcheck disable=SC2086 # words
{
    same 2 "$goldens/qwen2_moe" "" $prompts
    same 3 "$goldens/qwen2_moe_stacked" "" $prompts
    same 3 "$goldens/mixtral" sequential_experts $prompts
    same 2 "$goldens/qwen2_moe_stacked" sequential_experts $prompts
    same 2 "$goldens/qwen3_moe" compressed_tensors $prompts --quantize int8
    same 2 "$goldens/qwen2_moe_sparse_step" sequential_experts $prompts --temperature 2 --seed 11
    same 3 "$goldens/gpt_oss" "" $prompts
    same 2 "$goldens/deepseek_v3" sequential_experts $prompts

    divide=width
    same 2 "$goldens/qwen2_moe" "" $prompts
    same 3 "$goldens/qwen2_moe_stacked" "" $prompts
    same 2 "$goldens/mixtral" sequential_experts $prompts
    same 2 "$goldens/deepseek_v3" sequential_experts $prompts
}

refused 2 "4 experts cannot be divided among 5 processes" -n 5 "$host" --plugins-dir "$plugins" --parallel mpi --quiet \
    --plugins expert_parallel --model "$goldens/mixtral" --input-ids 5 --output-ids --max-new-tokens 1

# Each has its run of the experts alone, as a stack or as a list, and packs no others.
for list in expert_parallel expert_parallel,sequential_experts; do
    elsewhere=$(ranks 2 --plugins "$list" --model "$goldens/qwen2_moe" --report json --input-ids 5 --output-ids \
        --max-new-tokens 1 2>&1 | sed -n 's/.*"tensors_elsewhere": *\([0-9]*\).*/\1/p' | tr '\n' ' ')
    [ "$elsewhere" = "18 18 " ] || fail "$list: ranks have other experts: $elsewhere"
done

# Files with experts of others need not be here; those with own ones are missed by name.
"$host" save --quiet --model "$goldens/qwen2_moe" --output "$scratch/whole" --max-shard-size 12KB
part first "experts\\.[345]\\."
part last "experts\\.[012]\\."
each="$host --quiet --plugins-dir $plugins --parallel mpi --input-ids 5,6,7 --output-ids --max-new-tokens 5 --dtype float32"
for list in expert_parallel expert_parallel,sequential_experts; do
    # shellcheck disable=SC2086 # words
    {
        launch -n 2 $each --plugins "$list" --model "$scratch/whole" >"$scratch/one"
        launch -n 1 $each --plugins "$list" --model "$scratch/first" : -n 1 $each --plugins "$list" --model "$scratch/last" \
            >"$scratch/many" || fail "$list: parts of a model"
        cmp "$scratch/one" "$scratch/many" || fail "$list: parts of a model: other ids"
        refused 4 'weight_map lists "model-' -n 1 $each --plugins "$list" --model "$scratch/last" : \
            -n 1 $each --plugins "$list" --model "$scratch/first"
    }
done

# Quantized experts, one by one, are elsewhere under the numbers that they have; stacks of MXFP4 are sliced.
quantized=$goldens/../quantized
divide=experts
lacking() { # how many tensors each rank of the last run lacked
    sed -n 's/.*"tensors_elsewhere": *\([0-9]*\).*/\1/p' "$scratch/report" | tr '\n' ' '
}
for line in "gptq_int4_qwen2_moe gptq 48 24" "awq_int4_qwen2_moe awq 36 36" "fp8_block_mixtral fp8 24 12" \
    "ct_w4a16_mixtral compressed_tensors 36 18" "gptq_int4_mixtral gptq,sequential_experts 48 24"; do
    # shellcheck disable=SC2086 # words
    set -- $line
    # shellcheck disable=SC2086 # words
    same 2 "$quantized/$1" "$2" $prompts
    tensors=$(lacking)
    [ "$tensors" = "$3 $4 " ] || fail "$1: ranks have other experts: $tensors"
done
# shellcheck disable=SC2086 # words
same 2 "$quantized/mxfp4_gpt_oss" mxfp4 $prompts
launch -n 2 "$host" plan --plugins-dir "$plugins" --parallel mpi --plugins expert_parallel,mxfp4 \
    --model "$quantized/mxfp4_gpt_oss" --json >"$scratch/plan"
grep -q '"elsewhere_bytes": *[1-9]' "$scratch/plan" || fail "no part of a stack is elsewhere"

"$host" save --quiet --plugins-dir "$plugins" --model "$quantized/awq_int4_qwen2_moe" --output "$scratch/packed" \
    --max-shard-size 4KB
rm -r "$scratch/whole" "$scratch/first" "$scratch/last"
mv "$scratch/packed" "$scratch/whole"
part first "experts\\.[23]\\."
part last "experts\\.[01]\\."
each="$each --plugins expert_parallel,awq"
# shellcheck disable=SC2086 # words
{
    launch -n 2 $each --model "$scratch/whole" >"$scratch/one"
    launch -n 1 $each --model "$scratch/first" : -n 1 $each --model "$scratch/last" >"$scratch/many" || fail "parts of a packed model"
    cmp "$scratch/one" "$scratch/many" || fail "parts of a packed model: other ids"
    refused 4 'weight_map lists "model-' -n 1 $each --model "$scratch/last" : -n 1 $each --model "$scratch/first"
}

# The config may say what is divided: all experts, or those of some layers, in the words of one version or another.
planned() { # planned NAME RULES: a model with that plan
    mkdir "$scratch/plan_$1"
    cp "$goldens/qwen2_moe"/* "$scratch/plan_$1"
    chmod u+w "$scratch/plan_$1/config.json"
    sed "s/^{/{\"base_model_ep_plan\": {$2},/" "$goldens/qwen2_moe/config.json" >"$scratch/plan_$1/config.json"
}
stacks='"layers.*.mlp.experts.gate_up_proj": "grouped_gemm", "layers.*.mlp.experts.down_proj": "grouped_gemm"'
planned new "$stacks, \"layers.*.mlp.experts\": \"ep_dispatch_experts\""
planned old "\"layers.*.mlp.gate\": \"ep_router\", $stacks, \"layers.*.mlp.experts\": \"moe_tp_experts\""
planned first '"layers.0.mlp.experts": "ep_dispatch_experts", "layers.*.mlp.shared_expert.up_proj": "colwise"'
planned unknown '"layers.*.mlp.experts": "ep_sideways"'
planned none '"layers.*.mlp.shared_expert.up_proj": "colwise"'
for line in "new 18 18" "old 18 18" "first 9 9"; do
    # shellcheck disable=SC2086 # words
    set -- $line
    # shellcheck disable=SC2086 # words
    same 2 "$scratch/plan_$1" "" $prompts
    tensors=$(lacking)
    [ "$tensors" = "$2 $3 " ] || fail "plan $1: ranks have other experts: $tensors"
done
each="$host --quiet --plugins-dir $plugins --parallel mpi --plugins expert_parallel --input-ids 5 --output-ids --model"
# shellcheck disable=SC2086 # words
{
    refused 4 'another one for "layers.*.mlp.experts"' -n 2 $each "$scratch/plan_unknown"
    refused 4 'expected a rule with grouped_gemm or ep_dispatch_experts, got none' -n 2 $each "$scratch/plan_none"
}
