#!/bin/sh
# The plugin alone, on a model of each family: it takes every attention, agrees with the original to the bit, and copies
# nothing. Quantized projections join under every method; where they cannot, the plan says why.
# usage: test.sh HOST PLUGINS_FOLDER GOLDENS_FOLDER
. "$(dirname "$0")/../../tests/scratch.sh"
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

echo 'quantized: joined as they are stored, along outputs'
joined() { # joined CASE TENSOR HOW
    model=$goldens/quantized/$1
    "$host" plan --model "$model" --plugins-dir "$plugins" >"$scratch/plan"
    grep -q "qkv_proj\\.$2: Concatenate(dim=$3" "$scratch/plan" || fail "$1: $2 is not joined: $(cat "$scratch/plan")"
    if grep -q 'self_attn\.q_proj' "$scratch/plan"; then fail "$1: q_proj is left"; fi
    "$host" verify --model "$model" --plugins-dir "$plugins" --against "$model" --dtype float32 --tolerance 0 \
        >/dev/null || fail "$1: other results than with projections apart"
}
joined gptq_int8_qwen2 qweight '1), copied'
joined gptq_int4_asym_qwen3 qzeros '1), copied'
joined awq_int4_llama scales '1), copied'
joined ct_w4a16_llama weight_packed '0), row blocks'
joined ct_w4a16_asym_qwen3 weight_zero_point '0), copied'
joined ct_w8a8_int8_llama weight_scale '0), row blocks'
joined ct_mixed_qwen3 weight '0), row blocks'
joined fp8_e8m0_llama weight_scale_inv '0), copied'

echo 'and taken apart again, also by way of the runtime layout'
for case in gptq_int8_qwen2 ct_w8a16_qwen2; do
    model=$goldens/quantized/$case
    "$host" save --quiet --model "$model" --plugins-dir "$plugins" --runtime-layout --output "$scratch/runtime"
    "$host" plan --model "$scratch/runtime" --plugins-dir "$plugins" | grep -q ' 0 bytes copied' || fail "$case: copies"
    "$host" save --quiet --model "$scratch/runtime" --plugins-dir "$plugins" --output "$scratch/original"
    cmp "$model/model.safetensors" "$scratch/original/model.safetensors" || fail "$case: not as it was"
    rm -rf "$scratch/runtime" "$scratch/original"
done

echo 'apart, with a reason'
apart() { # apart MODEL REASON
    "$host" plan --model "$1" --plugins-dir "$plugins" >"$scratch/plan"
    grep -q "note  *fused_qkv: [a-z]* \"[A-Za-z$]*\" leaves .*: $2$" "$scratch/plan" ||
        fail "$1: no reason: $(cat "$scratch/plan")"
    if grep -q qkv_proj "$scratch/plan"; then fail "$1: joined nevertheless"; fi
}
apart "$goldens/quantized/gptq_int4_desc_act_llama" '"g_idx" of k_proj differs from that of q_proj'
apart "$goldens/quantized/ct_w4a16_actorder_llama" '"weight_g_idx" of k_proj differs from that of q_proj'
apart "$goldens/quantized/fp8_tensor_static_llama" '"weight_scale_inv" of k_proj differs from that of q_proj'
apart "$goldens/quantized/fp8_block_partial_llama" \
    '"weight_scale_inv" of q_proj ends inside a block, and cannot be followed by that of k_proj'
fresh() { # fresh CASE
    rm -rf "$scratch/model"
    cp -r "$goldens/quantized/$1" "$scratch/model"
    chmod -R u+w "$scratch/model"
}
fresh gptq_int8_qwen2
LC_ALL=C sed -i 's/k_proj\.qweight"/k_proj.qwaight"/' "$scratch/model/model.safetensors"
apart "$scratch/model" 'k_proj has no tensor "qweight", but v_proj has one'
fresh gptq_int8_qwen2
LC_ALL=C sed -i 's/v_proj\.scales"/v_proj.scalez"/' "$scratch/model/model.safetensors"
apart "$scratch/model" '"scales" of q_proj is there, but there is none of v_proj'
fresh gptq_int8_qwen2
sed -i 's/"bits": 8/"bits": 8, "dynamic": {"+:.*v_proj": {"group_size": 64}}/' "$scratch/model/config.json"
apart "$scratch/model" 'v_proj is stored in another way than q_proj'

echo 'of a part that cannot be read, errors name its own tensor'
status=0
"$host" --quiet --model "$scratch/model" --plugins-dir "$plugins" --input-ids 1 --output-ids >"$scratch/out" 2>&1 || status=$?
[ "$status" = 4 ] || fail "exit status $status instead of 4"
grep -q 'self_attn.v_proj' "$scratch/out" || fail "no name in: $(cat "$scratch/out")"
