#!/bin/sh
# The plugin as its users meet it: what is listed, planned and said of a model that the host alone does not know.
# usage: test.sh HOST FOLDER (of the plugin, and of goldens/)
set -eu
host=$1 folder=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
model=$folder/goldens/gpt_neox

"$host" list --families --plugins-dir "$folder" |
    grep -q '^gpt_neox: GPTNeoXForCausalLM, GPTNeoXModel, GPTNeoXForSequenceClassification, GPTNeoXForTokenClassification, GPTNeoXForQuestionAnswering; by plugin gpt_neox ('
"$host" plan --model "$model" --plugins-dir "$folder" --strict >"$scratch/plan"
grep -q 'converted  1 tensors -> 1 parameters lm_head.weight: renamed' "$scratch/plan"
grep -q ' 0 bytes copied' "$scratch/plan"
if grep 'unexpected\|problem\|note' "$scratch/plan"; then exit 1; fi

# Two prompts in a batch are two prompts.
run() {
    "$host" --quiet --model "$model" --plugins-dir "$folder" --max-new-tokens 6 --output-ids "$@"
}
run --input-ids 5,6,7,8,9 >"$scratch/alone"
run --input-ids 11 >>"$scratch/alone"
run --input-ids 5,6,7,8,9 --input-ids 11 >"$scratch/together"
cmp "$scratch/alone" "$scratch/together"

# Errors call fields what config.json calls them.
refused() { # an edit of config.json, and what is said of it
    rm -rf "$scratch/model"
    cp -r "$model" "$scratch/model"
    sed "$1" "$model/config.json" >"$scratch/model/config.json"
    if "$host" plan --model "$scratch/model" --plugins-dir "$folder" >"$scratch/out" 2>&1; then exit 1; fi
    grep -q "config.json: $2" "$scratch/out"
}
refused 's/"rotary_pct": 0.5/"rotary_pct": 1.5/' 'rotary_pct: expected at most 1, and an even part of a head of 8, got 1.5'
refused 's/"rotary_pct": 0.5/"rotary_pct": 0.4/' 'rotary_pct: expected at most 1, and an even part of a head of 8, got 0.4'
refused 's/"rotary_emb_base": 10000/"rotary_emb_base": "x"/' 'rotary_emb_base: expected a number, got a string'
refused 's/"rotary_pct"/"rope_scaling": {"type": "lengthy"}, "rotary_pct"/' \
    'rope_scaling.type: "lengthy" is not supported, expected default, '
refused 's/"use_parallel_residual": true/"use_parallel_residual": 1/' 'use_parallel_residual: expected a boolean'
refused 's/"num_attention_heads": 4/"num_attention_heads": 5/' 'num_attention_heads: 5 does not divide hidden_size (32)'
