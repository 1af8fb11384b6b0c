#!/bin/sh
# Several processes, each with a part of every layer, choose the tokens that one chooses, and their logits are as close as
# sums in another order are.
# usage: test.sh HOST PLUGINS_FOLDER GOLDENS
set -eu
host=$1 plugins=$2 goldens=$3
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
# shellcheck source=../mpi/ranks.sh
. "$(dirname "$0")/../mpi/ranks.sh"

numbers() { # numbers FILE: of a safetensors file, a line each
    skip=$(($(od -An -tu8 -N8 "$1") + 8))
    od -An -v -w4 -tf4 -j "$skip" "$1"
}

# The largest difference, against the largest number: the tolerance of the goldens.
close() { # close FILE FILE WHAT BOUND
    numbers "$1" >"$scratch/a"
    numbers "$2" >"$scratch/b"
    paste "$scratch/a" "$scratch/b" | awk -v what="$3" -v bound="$4" '
        { d = $1 - $2; d = d < 0 ? -d : d; s = $1 < 0 ? -$1 : $1; if (d > most) most = d; if (s > scale) scale = s }
        END { if (NR == 0 || most != most || most > bound * (scale > 1 ? scale : 1)) {
            print what ": logits differ by " most " of " scale; exit 1 } }' >&2
}

plan=
same() { # same N MODEL PLUGINS BOUND OPTIONS...: divided by `plan`, or as the model's type is
    n=$1 model=$2 list=$3 bound=$4
    shift 4
    "$host" --quiet --plugins-dir "$plugins" --plugins-dir "$plugins/families" ${list:+--plugins "$list"} --model "$model" \
        --logits "$scratch/one" --output-ids "$@" >"$scratch/one.ids"
    ranks "$n" --quiet --plugins "tensor_parallel${list:+,$list}" ${plan:+--plugin-option "tensor_parallel.plan=$plan"} \
        --model "$model" --logits "$scratch/many" --output-ids "$@" >"$scratch/many.ids"
    cmp -s "$scratch/one.ids" "$scratch/many.ids" || fail "$model on $n: other ids: $(cat "$scratch/many.ids")"
    close "$scratch/one" "$scratch/many" "$model on $n" "$bound"
}

prompts='--input-ids 5,6,7,8,9,10,11 --input-ids 9,8 --input-ids 3,1,4,1,5 --max-new-tokens 24'
# shellcheck disable=SC2086 # words
{
    same 2 "$goldens/llama" "" 5e-5 $prompts --dtype float32
    same 2 "$goldens/llama_tied_bf16" "" 2e-2 $prompts
    same 2 "$goldens/llama_bias" "" 5e-5 $prompts --dtype float32
    same 2 "$goldens/llama" fused_qkv 5e-5 $prompts --dtype float32
    same 4 "$goldens/llama_mha" "" 5e-5 $prompts --dtype float32
    same 2 "$goldens/qwen2_moe_mlp_only" sequential_experts 5e-5 $prompts --dtype float32
    same 2 "$goldens/qwen3_moe" "" 5e-5 $prompts --dtype float32
    same 2 "$goldens/qwen2_moe" expert_parallel,sequential_experts 5e-5 $prompts --dtype float32
    same 2 "$goldens/gemma2" "" 5e-5 $prompts --dtype float32
    same 2 "$goldens/gpt_neox" "" 5e-5 $prompts --dtype float32
    same 2 "$plugins/families/olmo2/goldens/olmo2" olmo2 5e-5 $prompts --dtype float32
    same 2 "$goldens/phi3" "" 5e-5 $prompts --dtype float32
    same 2 "$goldens/deepseek_v3" "" 5e-5 $prompts --dtype float32
    same 2 "$goldens/llama_tied" fused_qkv,compressed_tensors 2e-2 $prompts --quantize int8+head
}

# Quantized projections are divided in whole groups of inputs and words of outputs, as the class of each says.
quantized=$goldens/../quantized
# shellcheck disable=SC2086 # words
{
    same 2 "$quantized/gptq_int4_mixtral" gptq,sequential_experts 5e-5 $prompts --dtype float32
    same 2 "$quantized/gptq_int4_qwen2_moe" gptq,sequential_experts 5e-5 $prompts --dtype float32
    same 2 "$quantized/awq_int4_qwen2_moe" awq,sequential_experts 5e-5 $prompts --dtype float32
    same 2 "$quantized/awq_int4_llama" awq 5e-5 $prompts --dtype float32
    same 2 "$quantized/auto_round_asym_qwen3_moe" gptq,sequential_experts 5e-5 $prompts --dtype float32
    plan=mlp.gate_proj=colwise,mlp.up_proj=colwise,mlp.down_proj=rowwise
    same 2 "$quantized/fp8_block_qwen3" fp8 5e-5 $prompts --dtype float32
    plan=
    same 2 "$quantized/fp8_tensor_static_llama" fp8 5e-5 $prompts --dtype float32
    same 2 "$quantized/ct_w4a16_llama" compressed_tensors 5e-5 $prompts --dtype float32
    same 2 "$quantized/ct_fp8_static_llama" compressed_tensors 5e-5 $prompts --dtype float32
    same 2 "$quantized/ct_w8a8_int8_llama" compressed_tensors 5e-5 $prompts --dtype float32
    same 2 "$quantized/ct_nvfp4_qwen3" compressed_tensors 5e-5 $prompts --dtype float32
    same 2 "$quantized/fbgemm_fp8_llama" fp8 5e-5 $prompts --dtype float32
    same 2 "$quantized/mxfp8_qwen3" fp8 5e-5 $prompts --dtype float32
    same 2 "$quantized/modelopt_nvfp4_qwen3_moe" modelopt 5e-5 $prompts --dtype float32
    same 2 "$quantized/bnb_int8_llama" bitsandbytes 5e-5 $prompts --dtype float32
    same 2 "$quantized/quanto_int8_qwen2" quanto 5e-5 $prompts --dtype float32
    same 2 "$quantized/quanto_float8_qwen3" quanto 5e-5 $prompts --dtype float32
    same 2 "$quantized/auto_round_gptq_mixed_llama" gptq 5e-5 $prompts --dtype float32
    plan=self_attn.q_proj=colwise,self_attn.k_proj=colwise,self_attn.v_proj=colwise,self_attn.o_proj=rowwise
    same 2 "$quantized/ct_mixed_qwen3" compressed_tensors 5e-5 $prompts --dtype float32
    plan=
}

# What fused_qkv would join of them is no longer what the checkpoint has: it leaves these attentions alone, and says so.
# shellcheck disable=SC2086 # words
{
    same 2 "$quantized/ct_w4a16_llama" fused_qkv,compressed_tensors 5e-5 $prompts --dtype float32
    same 2 "$quantized/ct_w8a8_int8_llama" fused_qkv,compressed_tensors 5e-5 $prompts --dtype float32
    same 2 "$quantized/awq_int4_llama" fused_qkv,awq 5e-5 $prompts --dtype float32
}
launch -n 2 "$host" plan --plugins-dir "$plugins" --parallel mpi --plugins tensor_parallel,fused_qkv,compressed_tensors \
    --model "$quantized/ct_w4a16_llama" >"$scratch/plan"
grep -q 'note .*fused_qkv: class "LlamaAttention" leaves 2 modules alone.*"weight_packed" of k_proj' "$scratch/plan" ||
    fail "nothing says why queries, keys and values stay apart: $(cat "$scratch/plan")"

# Three ranks have a head each of a model with three, which a patch makes of one with four; 128 outputs do not divide.
mkdir "$scratch/three"
cp "$goldens/llama_mha"/* "$scratch/three"
sed 's/"num_attention_heads": 4/"num_attention_heads": 3/; s/"num_key_value_heads": 4/"num_key_value_heads": 3/' \
    "$goldens/llama_mha/config.json" >"$scratch/three/config.json"
slice() { # slice PATTERN DIM
    printf '{"kind": "converter", "source_patterns": "%s.weight", "target_patterns": "%s.weight",' "$1" "$1"
    printf '"operations": [{"op": "Slice", "dim": %s, "length": 3, "of": 4}]}' "$2"
}
printf '{"conversions": [%s, %s, %s, %s]}\n' "$(slice q_proj 0)" "$(slice k_proj 0)" "$(slice v_proj 0)" \
    "$(slice o_proj 1)" >"$scratch/three.json"
# shellcheck disable=SC2086 # words
{
    same 3 "$scratch/three" "" 5e-5 $prompts --dtype float32 --patch "$scratch/three.json"
    plan=mlp.gate_proj=colwise,mlp.up_proj=colwise,mlp.down_proj=rowwise
    same 3 "$goldens/llama_bias" "" 5e-5 $prompts --dtype float32
    plan=
}

# The plan may be config.json's, whose styles are known or refused.
planned() { # planned NAME STYLE: a model with a plan of that style for one projection
    mkdir "$scratch/$1"
    cp "$goldens/llama"/* "$scratch/$1"
    chmod u+w "$scratch/$1/config.json"
    sed "s/^{/{\"base_model_tp_plan\": {\"layers.*.mlp.gate_proj\": \"colwise\", \"layers.*.mlp.up_proj\": \"colwise\",\
        \"layers.*.mlp.down_proj\": \"$2\"},/" "$goldens/llama/config.json" >"$scratch/$1/config.json"
}
planned known rowwise
planned unknown sideways
# shellcheck disable=SC2086 # words
same 2 "$scratch/known" "" 5e-5 $prompts --dtype float32

# A rank has a part of what there is, and none of it is unexpected.
launch -n 2 "$host" plan --plugins-dir "$plugins" --parallel mpi --plugins tensor_parallel --model "$goldens/llama" --json \
    >"$scratch/plan"
grep -q '"unexpected": *\[\]' "$scratch/plan" || fail "unexpected tensors"
grep -q '"elsewhere_bytes": *[1-9]' "$scratch/plan" || fail "nothing is elsewhere"

# The cache has keys and values of the own heads.
kept() { # kept COMMAND...: bytes that rank 0 keeps of each token
    "$@" 2>/dev/null | sed -n 's/.*"cache_bytes_per_token": *\([0-9]*\).*/\1/p'
}
bench="$host bench --plugins-dir $plugins --model $goldens/llama --prompt-tokens 2 --new-tokens 1 --repeat 1 --json"
# shellcheck disable=SC2086 # words
all=$(kept $bench) own=$(kept launch -n 2 $bench --parallel mpi --plugins tensor_parallel)
{ [ "$all" -gt 0 ] && [ "$((2 * own))" = "$all" ]; } || fail "the cache has $own of $all bytes"

# What cannot be divided is refused by its numbers.
each="$host --quiet --plugins-dir $plugins --plugins-dir $plugins/families --parallel mpi --input-ids 5,6,7 --output-ids"
# shellcheck disable=SC2086 # words
{
    refused 2 "num_key_value_heads 1 cannot be divided among 2 processes (model.layers.0.self_attn)" \
        -n 2 $each --plugins tensor_parallel --model "$goldens/llama_one_kv_head"
    refused 2 "num_attention_heads 4 cannot be divided among 3 processes" \
        -n 3 $each --plugins tensor_parallel --model "$goldens/llama"
    refused 2 'there is no plan for models of the type "gpt2"' \
        -n 2 $each --plugins tensor_parallel,gpt2 --model "$plugins/families/gpt2/goldens/gpt2"
    refused 2 'model.layers.0.mlp.down_proj: 192 inputs cannot be divided in 2: "qzeros" has them in steps of 64' \
        -n 2 $each --plugins tensor_parallel,gptq --model "$quantized/gptq_int4_asym_qwen3"
    refused 2 'o_proj: inputs cannot be divided in 2: GPTQLinear does not say how they lie in "g_idx"' \
        -n 2 $each --plugins tensor_parallel,gptq --model "$quantized/gptq_int4_desc_act_llama"
    refused 2 'q_proj: 160 outputs cannot be divided in 2: "weight_scale_inv" has them in steps of 128' \
        -n 2 $each --plugins tensor_parallel,fp8 --model "$quantized/fp8_block_partial_llama"
    refused 2 'outputs cannot be divided in 2: GPTQLinear does not say how they lie in "qzeros"' \
        -n 2 $each --plugins tensor_parallel,gptq --model "$quantized/auto_round_bits_llama"
    refused 2 'outputs cannot be divided in 2: HQQLinear does not say how they lie in "W_q"' \
        -n 2 $each --plugins tensor_parallel,hqq --model "$quantized/hqq_int4_llama"
    refused 2 'outputs cannot be divided in 2: QLinear does not say how they lie in "weight._data._data"' \
        -n 2 $each --plugins tensor_parallel,quanto --model "$quantized/quanto_int4_llama"
    refused 2 'outputs cannot be divided in 2: Linear4bit does not say how they lie in "weight.absmax"' \
        -n 2 $each --plugins tensor_parallel,bitsandbytes --model "$quantized/bnb_nf4_llama"
    refused 2 'q_proj: BitLinear cannot be divided: a scale is of all inputs of a token, or of all weights' \
        -n 2 $each --plugins tensor_parallel,bitlinear --model "$quantized/bitnet_bitlinear_llama"
    refused 4 'base_model_tp_plan: expected' -n 2 $each --plugins tensor_parallel --model "$scratch/unknown"
    refused 2 'got "lm_head=sideways"' \
        -n 2 $each --plugins tensor_parallel --plugin-option tensor_parallel.plan=lm_head=sideways --model "$goldens/llama"
}
status=0
"$host" save --parallel mpi --plugins-dir "$plugins" --model "$goldens/llama" --output "$scratch/saved" \
    >/dev/null 2>"$scratch/err" || status=$?
if [ "$status" != 2 ] || ! grep -qF -- '--parallel' "$scratch/err"; then
    fail "save: $(cat "$scratch/err")"
fi

# One process alone is what it was.
"$host" --quiet --model "$goldens/llama" --input-ids 5,6,7 --output-ids --max-new-tokens 8 >"$scratch/one.ids"
"$host" --quiet --plugins-dir "$plugins" --plugins tensor_parallel --model "$goldens/llama" --input-ids 5,6,7 --output-ids \
    --max-new-tokens 8 >"$scratch/alone.ids"
cmp "$scratch/one.ids" "$scratch/alone.ids" || fail "alone: other ids"

# A rank that is killed takes the others with it.
long="$host bench --plugins-dir $plugins --parallel mpi --plugins tensor_parallel --model $goldens/llama --repeat 10000"
# shellcheck disable=SC2016,SC2086 # the shell that is started knows the process's number; words
timeout 60 mpirun --oversubscribe --bind-to none -n 1 $long : \
    -n 1 sh -c 'echo $$ >"$0"; exec "$@"' "$scratch/pid" $long >/dev/null 2>&1 &
run=$!
while [ ! -s "$scratch/pid" ]; do
    kill -0 "$run" || fail "mpirun ended before the rank began"
    sleep 0.1
done
sleep 1
kill -KILL "$(cat "$scratch/pid")" || fail "it ended by itself"
before=$(date +%s)
wait "$run" && fail "a killed rank went unnoticed"
[ $(($(date +%s) - before)) -le 3 ] || fail "the others went on for more than 3 seconds"
