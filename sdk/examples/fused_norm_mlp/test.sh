#!/bin/sh
# The example on every Qwen3: both classes, the bits of the original, no copy, and the file that it was read from; and
# the same around a plugin that replaces the MLP.
# usage: test.sh HOST GOLDENS_FOLDER FUSED_NORM_MLP FUSED_GATE_UP
set -eu
host=$1 goldens=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/alone" "$scratch/both"
cp "$3" "$scratch/alone/"
cp "$3" "$4" "$scratch/both/"
for case in qwen3 qwen3_bf16 qwen3_bias qwen3_head_dim_absent qwen3_sliding qwen3_tied_f16; do
    model=$goldens/plain/$case
    echo "$case"
    report=$("$host" plan --model "$model" --plugins-dir "$scratch/alone" --strict)
    echo "$report" | grep -q 'Qwen3DecoderLayer -> FusedQwen3DecoderLayerNoNorm by fused_norm_mlp'
    echo "$report" | grep -q 'Qwen3MLP -> FusedNormMLP by fused_norm_mlp'
    echo "$report" | grep -q 'mlp.norm_weight: renamed, row blocks'
    echo "$report" | grep -q ' 0 bytes copied'
    document=$("$host" plan --model "$model" --plugins-dir "$scratch/alone" --json)
    if echo "$document" | grep '"path": .*post_attention_layernorm'; then exit 1; fi
    for dtype in float32 auto; do
        "$host" verify --model "$model" --plugins-dir "$scratch/alone" --dtype $dtype --tolerance 0 >/dev/null
    done
    rm -rf "$scratch/saved"
    "$host" save --quiet --model "$model" --plugins-dir "$scratch/alone" --output "$scratch/saved"
    for file in "$model"/model*.safetensors; do
        cmp "$file" "$scratch/saved/${file##*/}"
    done

    report=$("$host" plan --model "$model" --plugins-dir "$scratch/both" --plugins fused_gate_up,fused_norm_mlp)
    echo "$report" | grep -q 'Qwen3MLP -> FusedGateUpMLP by fused_gate_up (.*) -> FusedNormMLP by fused_norm_mlp'
    echo "$report" | grep -q 'Qwen3DecoderLayer -> FusedQwen3DecoderLayerNoNorm by fused_norm_mlp'
    "$host" verify --model "$model" --plugins-dir "$scratch/both" --plugins fused_gate_up,fused_norm_mlp --tolerance 0 >/dev/null
    rm -rf "$scratch/saved"
    "$host" save --quiet --model "$model" --plugins-dir "$scratch/both" --output "$scratch/saved"
    for file in "$model"/model*.safetensors; do
        cmp "$file" "$scratch/saved/${file##*/}"
    done
done
