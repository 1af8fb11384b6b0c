#!/bin/sh
# The plugin as its users meet it: what is listed, planned and observed of a model that the host alone does not know.
# usage: test.sh HOST FOLDER (of the plugin, and of goldens/)
set -eu
host=$1 folder=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
model=$folder/goldens/gpt_oss
plugins=$folder/../..

"$host" list --families --plugins-dir "$folder" | grep -q '^gpt_oss: GptOssForCausalLM, GptOssModel, GptOssForSequenceClassification, GptOssForTokenClassification; by plugin gpt_oss ('
"$host" inspect "$folder/gpt_oss.so" --json | tr -d ' \n' >"$scratch/inspected"
grep -q '"name":"rope_parameters","default":{}' "$scratch/inspected"
grep -q '"name":"rope_parameters.rope_type","default":"yarn"' "$scratch/inspected"

"$host" plan --model "$model" --plugins-dir "$folder" --strict >"$scratch/plan"
grep -q 'GptOssForCausalLM (gpt_oss, by plugin gpt_oss), ' "$scratch/plan"
grep -qF 'experts.gate_up_proj: Transpose(dim0=1, dim1=2), Interleave(dim=1), copied' "$scratch/plan"
if grep 'unexpected\|problem\|note' "$scratch/plan"; then exit 1; fi
"$host" plan --model "$model" --plugins-dir "$folder" --json >"$scratch/plan.json"
for class in GptOssModel GptOssDecoderLayer GptOssAttention GptOssMLP GptOssTopKRouter GptOssExperts GptOssRMSNorm GptOssRotaryEmbedding; do
    grep -q "\"class\": \"$class\"" "$scratch/plan.json"
done
if grep 'Llama\|Mixtral' "$scratch/plan.json"; then exit 1; fi
"$host" plan --model "$model" --plugins-dir "$folder" --html "$scratch/plan.html"
grep -q GptOssExperts "$scratch/plan.html"

"$host" bench --model "$model" --plugins-dir "$folder" --prompt-tokens 4 --new-tokens 2 --repeat 1 --modules --json \
    >"$scratch/bench.json"
grep -q '"class": "GptOssExperts"' "$scratch/bench.json"
"$host" --quiet --model "$model" --plugins-dir "$folder" --input-ids 5,6,7 --max-new-tokens 1 --output-ids \
    --hidden-states "$scratch/hidden.safetensors" --router-logits "$scratch/router.safetensors" \
    --attentions "$scratch/attentions.safetensors" >"$scratch/ids"
grep -q 'hidden_states.layer.2' "$scratch/hidden.safetensors"
grep -q 'router.2' "$scratch/router.safetensors"
grep -q 'attentions.2' "$scratch/attentions.safetensors"

# Two prompts in a batch are two prompts, whatever computes the experts, and whoever else is asked to replace them.
run() { # OPTION...
    "$host" --quiet --model "$model" --plugins-dir "$folder" --max-new-tokens 8 --output-ids "$@"
}
run --input-ids 5,6,7,8,9,10,11,12 >"$scratch/alone"
run --input-ids 13 >>"$scratch/alone"
for options in '' '--experts-implementation eager' '--experts-implementation batched_mm' \
    "--plugins-dir $plugins/sequential_experts --plugins-dir $plugins/fused_qkv"; do
    # shellcheck disable=SC2086 # words
    run --input-ids 5,6,7,8,9,10,11,12 --input-ids 13 $options >"$scratch/together"
    cmp "$scratch/alone" "$scratch/together"
done
"$host" plan --model "$model" --plugins-dir "$folder" --plugins-dir "$plugins/sequential_experts" >"$scratch/plan"
grep -q 'note .*sequential_experts: .* leaves 3 modules alone, first model.layers.0.mlp.experts: one of the tensors "gate_up_proj_bias",' \
    "$scratch/plan"

# Linears are replaced as in any family.
"$host" verify --model "$model" --plugins-dir "$folder" --plugins-dir "$plugins/int8_linear" \
    --plugins int8_linear,gpt_oss --input-ids 5,6,7 --tolerance 0.5 >"$scratch/verify"
grep -q '^model.layers.1.self_attn.q_proj: Linear -> Int8Linear by int8_linear: ' "$scratch/verify"
grep -q '^greedy ids: the same' "$scratch/verify"

# What config.json cannot say.
refused() { # an edit of config.json, and what is said of it
    rm -rf "$scratch/model"
    cp -r "$model" "$scratch/model"
    sed "$1" "$model/config.json" >"$scratch/model/config.json"
    if "$host" plan --model "$scratch/model" --plugins-dir "$folder" >"$scratch/out" 2>&1; then exit 1; fi
    grep -qF "config.json: $2" "$scratch/out" || { cat "$scratch/out" && exit 1; }
}
refused 's/"num_local_experts": 5/"num_local_experts": 0/' 'num_local_experts: expected 1 to 4096, got 0'
refused 's/"num_experts_per_tok": 2/"num_experts_per_tok": 6/' 'num_experts_per_tok: expected 1 to 5, got 6'
refused 's/"swiglu_limit": 1.5/"swiglu_limit": 0/' 'swiglu_limit: expected more than 0, got 0'
refused 's/"swiglu_limit": 1.5/"swiglu_limit": null/' 'swiglu_limit: expected a number, got null'
refused 's/"swiglu_alpha": 1.702/"swiglu_alpha": "1.702"/' 'swiglu_alpha: expected a number, got a string'
refused 's/"sliding_window": 6/"sliding_window": 0/' 'sliding_window: expected 1 to '
refused 's/"sliding_window": 6/"sliding_window": null, "layer_types": ["full_attention", "sliding_attention", "full_attention"]/' \
    'layer_types.1: "sliding_attention" needs a window'
refused 's/"hidden_size"/"layer_types": ["full_attention"], &/' 'layer_types: expected num_hidden_layers (3) entries, got 1'
refused 's/"factor": 4.0/"factor": 0/' 'rope_scaling.factor: expected more than 0, got 0'
