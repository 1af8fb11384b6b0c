#!/bin/sh
# The plugin as its users meet it: what is listed, planned and observed of a model that the host alone does not know.
# usage: test.sh HOST FOLDER (of the plugin, and of goldens/)
set -eu
host=$1 folder=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
model=$folder/goldens/starcoder2

"$host" list --families --plugins-dir "$folder" |
    grep -q '^starcoder2: Starcoder2ForCausalLM, Starcoder2Model, Starcoder2ForSequenceClassification, Starcoder2ForTokenClassification; by plugin starcoder2 ('
"$host" plan --model "$model" --plugins-dir "$folder" --strict >"$scratch/plan"
grep -q 'Starcoder2ForCausalLM (starcoder2, by plugin starcoder2), ' "$scratch/plan"
grep -q ' 0 bytes copied' "$scratch/plan"
if grep 'unexpected\|problem\|note' "$scratch/plan"; then exit 1; fi
"$host" plan --model "$model" --plugins-dir "$folder" --json >"$scratch/plan.json"
for class in Starcoder2Model Starcoder2DecoderLayer Starcoder2Attention Starcoder2MLP LayerNorm Starcoder2RotaryEmbedding; do
    grep -q "\"class\": \"$class\"" "$scratch/plan.json"
done
if grep Llama "$scratch/plan.json"; then exit 1; fi

# Two prompts in a batch are two prompts, also past the window.
run() { # OPTION...
    "$host" --quiet --model "$model" --plugins-dir "$folder" --max-new-tokens 8 --output-ids "$@"
}
run --input-ids 5,6,7,8,9,10,11,12 >"$scratch/alone"
run --input-ids 11 >>"$scratch/alone"
run --input-ids 5,6,7,8,9,10,11,12 --input-ids 11 >"$scratch/together"
cmp "$scratch/alone" "$scratch/together"

# Plugins for attention and for Linears fit without naming it.
int8=$folder/../../compressed_tensors
"$host" plan --model "$model" --plugins-dir "$folder" --plugins-dir "$int8" --plugins compressed_tensors,starcoder2 --quantize int8 --strict |
    grep -q 'replaced   Linear -> CompressedLinear by compressed_tensors (.*) in 12 modules'

# What config.json cannot say.
refused() { # an edit of config.json, and what is said of it
    rm -rf "$scratch/model"
    cp -r "$model" "$scratch/model"
    sed "$1" "$model/config.json" >"$scratch/model/config.json"
    if "$host" plan --model "$scratch/model" --plugins-dir "$folder" >"$scratch/out" 2>&1; then exit 1; fi
    grep -q "config.json: $2" "$scratch/out" || { cat "$scratch/out" && exit 1; }
}
refused 's/"sliding_window": 6/"sliding_window": 0/' 'sliding_window: expected 1 to '
refused 's/"use_bias": true/"use_bias": 1/' 'use_bias: expected a boolean, got an integer'
refused 's/"norm_epsilon": 1e-05/"norm_epsilon": -1/' 'norm_epsilon: expected at least 0, got -1'
