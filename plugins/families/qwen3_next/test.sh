#!/bin/sh
# The plugin as its users meet it: what is listed, planned and recorded of a model in which some layers have attention
# and the others states, and that neither the others in a batch, nor pieces, nor guesses change what it says.
# usage: test.sh HOST FOLDER (of the plugin, and of goldens/) SEQUENTIAL_EXPERTS (its folder) MY_SILU
set -eu
host=$1 folder=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
model=$folder/goldens/qwen3_next
prompt=31,7,19,44,36,51,22,18,4,14,4,61,36,41,31,33,27,30,51,19,8,56,10,10
mkdir "$scratch/plugins"
cp "$4" "$scratch/plugins/"

"$host" list --families --plugins-dir "$folder" |
    grep -q '^qwen3_next: Qwen3NextForCausalLM, Qwen3NextModel, Qwen3NextForSequenceClassification, Qwen3NextForTokenClassification, Qwen3NextForQuestionAnswering; by plugin qwen3_next ('
"$host" plan --model "$model" --plugins-dir "$folder" --strict >"$scratch/plan"
grep -q 'Qwen3NextForCausalLM (qwen3_next, by plugin qwen3_next), ' "$scratch/plan"
# Three layers, each with states of [3, 64] and [4, 6, 10] floats.
grep -q ' 0 bytes copied, .* 10368 bytes of state for each sequence' "$scratch/plan"
if grep 'unexpected\|problem\|note' "$scratch/plan"; then exit 1; fi
"$host" plan --model "$model" --plugins-dir "$folder" --html "$scratch/plan.html"
grep -q Qwen3NextGatedDeltaNet "$scratch/plan.html"

ids() { # ids OPTION...
    "$host" --quiet --report none --model "$model" --plugins-dir "$folder" --output-ids "$@"
}
first=$(ids --max-new-tokens 24 --input-ids "$prompt")
second=$(ids --max-new-tokens 24 --input-ids 3,4,5)
[ "$(ids --max-new-tokens 24 --input-ids "$prompt" --input-ids 3,4,5)" = "$(printf '%s\n%s' "$first" "$second")" ]
begun=$(echo "$first" | cut -d, -f 1-10)
[ "$(ids --max-new-tokens 14 --input-ids "$prompt,$begun")" = "$(echo "$first" | cut -d, -f 11-24)" ]
for isa in scalar avx2 avx512; do # those that this processor has; their sums differ by rounding
    [ "$(GRAFT_ISA=$isa ids --max-new-tokens 24 --input-ids "$prompt")" = "$first" ]
done
repeated=$prompt,$prompt,$prompt
for count in 1 4 8; do
    [ "$(ids --max-new-tokens 40 --input-ids "$repeated" --speculate "$count")" = \
        "$(ids --max-new-tokens 40 --input-ids "$repeated")" ]
done

# Other plugins fit: experts one by one give the same bits; a replaced activation runs beside the original one.
[ "$(ids --max-new-tokens 24 --input-ids "$prompt" --plugins-dir "$3")" = "$first" ]
verified() { # verified FOLDER: with its plugins
    "$host" verify --model "$model" --plugins-dir "$folder" --plugins-dir "$1" --input-ids "$prompt" --input-ids 3,4
}
verified "$3" | grep -q 'Qwen3NextExperts -> ModuleListExperts by sequential_experts: largest difference 0 '
verified "$scratch/plugins" | grep -q MySiLU

"$host" bench --model "$model" --plugins-dir "$folder" --prompt-tokens 4 --new-tokens 2 --repeat 1 --modules --json \
    >"$scratch/bench.json"
grep -q '"state_bytes_per_token": 5184,' "$scratch/bench.json"
for class in Qwen3NextAttention Qwen3NextGatedDeltaNet Conv1d; do
    grep -q "\"class\": \"$class\"" "$scratch/bench.json"
done
"$host" --quiet --model "$model" --plugins-dir "$folder" --input-ids 5,6,7 --max-new-tokens 1 --output-ids \
    --hidden-states "$scratch/hidden.safetensors" --attentions "$scratch/attentions.safetensors" \
    --router-logits "$scratch/router.safetensors" >"$scratch/ids"
grep -q 'hidden_states.layer.3' "$scratch/hidden.safetensors"
grep -q 'attentions.3' "$scratch/attentions.safetensors"
if grep -q 'attentions.0' "$scratch/attentions.safetensors"; then exit 1; fi
grep -q 'router.0.logits' "$scratch/router.safetensors"

fails() { # fails SED-SCRIPT MESSAGE
    rm -rf "$scratch/model"
    cp -r "$model" "$scratch/model"
    chmod -R u+w "$scratch/model"
    sed -i "$1" "$scratch/model/config.json"
    status=0
    "$host" plan --model "$scratch/model" --plugins-dir "$folder" >"$scratch/out" 2>&1 || status=$?
    [ "$status" = 4 ]
    grep -q "config.json: $2" "$scratch/out" || { cat "$scratch/out" && exit 1; }
}
fails 's/"linear_num_key_heads": 2/"linear_num_key_heads": 3/' \
    'linear_num_key_heads: 3 does not divide linear_num_value_heads (4)'
fails 's/"linear_conv_kernel_dim": 4/"linear_conv_kernel_dim": 1/' 'linear_conv_kernel_dim: expected 2 to 64, got 1'
fails 's/"linear_key_head_dim": 6/"linear_key_head_dim": null/' 'linear_key_head_dim: missing, expected an integer'
fails 's/"full_attention_interval": 4/"full_attention_interval": 0/' 'full_attention_interval: expected 1 to '
fails 's/"hidden_act": "silu"/"hidden_act": "gelu"/' 'hidden_act: expected "silu" in a model with linear attention, got "gelu"'
fails 's/"hidden_size"/"layer_types": ["full_attention"], &/' 'layer_types: expected num_hidden_layers (4) entries, got 1'
fails 's/"hidden_size"/"layer_types": ["a", "a", "a", "a"], &/' \
    'layer_types.0: expected "full_attention" or "linear_attention", got "a"'
