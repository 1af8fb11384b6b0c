#!/bin/sh
# Gemma 2 scales and bounds its scores by arguments: a replacement that does not know them is an error, one that passes
# everything on is not.
# usage: attention_features.sh HOST MODEL DEAF_ATTENTION LOGGING_ATTENTION BORROWING
# BORROWING is a model whose last layers attend to the keys and values of earlier ones.
set -eu
host=$1 model=$2 deaf=$3 logging=$4 borrowing=$5
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/deaf" "$scratch/logging"
cp "$deaf" "$scratch/deaf/"
cp "$logging" "$scratch/logging/"

status=0
"$host" --quiet --model "$model" --plugins-dir "$scratch/deaf" --input-ids 5,6 --output-ids \
    2>"$scratch/error" || status=$?
[ "$status" = 3 ]
grep -q ': model.layers.0.self_attn: DeafAttention does not know feature 0x1 of its interface, which this model needs' \
    "$scratch/error"
"$host" verify --model "$model" --plugins-dir "$scratch/logging" --input-ids 5,6,7 \
    --tolerance 0 2>/dev/null | grep -c 'Gemma2Attention -> LoggingAttention by logging_attention: largest difference 0 ' |
    grep -qx 3

# The original of a layer that borrows keys finds those of the layer that has them.
"$host" verify --model "$borrowing" --plugins-dir "$scratch/logging" --input-ids 5,6,7 \
    --tolerance 0 2>/dev/null | grep 'model.layers.[4-6].self_attn: ' |
    grep -c 'Gemma4TextAttention -> LoggingAttention by logging_attention: largest difference 0 ' | grep -qx 3
