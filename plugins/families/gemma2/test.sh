#!/bin/sh
# The plugin as its users meet it: what is listed, planned and observed of a model that the host alone does not know.
# usage: test.sh HOST FOLDER (of the plugin, and of goldens/)
set -eu
host=$1 folder=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
model=$folder/goldens/gemma2

if "$host" plan --model "$model" >"$scratch/out" 2>&1; then exit 1; fi
grep -q 'model_type: "gemma2" is not known; known are ' "$scratch/out"

"$host" list --families --plugins-dir "$folder" | grep -q '^gemma2: Gemma2ForCausalLM, Gemma2Model, Gemma2ForSequenceClassification, Gemma2ForTokenClassification; by plugin gemma2 ('
"$host" plan --model "$model" --plugins-dir "$folder" --strict >"$scratch/plan"
grep -q 'Gemma2ForCausalLM (gemma2, by plugin gemma2), ' "$scratch/plan"
grep -q ' 0 bytes copied' "$scratch/plan"
if grep 'unexpected\|problem\|note' "$scratch/plan"; then exit 1; fi
"$host" plan --model "$model" --plugins-dir "$folder" --json >"$scratch/plan.json"
for class in Gemma2Model Gemma2TextScaledWordEmbedding Gemma2DecoderLayer Gemma2Attention Gemma2MLP Gemma2RMSNorm Gemma2RotaryEmbedding; do
    grep -q "\"class\": \"$class\"" "$scratch/plan.json"
done
if grep Llama "$scratch/plan.json"; then exit 1; fi
"$host" plan --model "$model" --plugins-dir "$folder" --html "$scratch/plan.html"
grep -q Gemma2DecoderLayer "$scratch/plan.html"

"$host" bench --model "$model" --plugins-dir "$folder" --prompt-tokens 4 --new-tokens 2 --repeat 1 --modules --json \
    >"$scratch/bench.json"
grep -q '"class": "Gemma2Attention"' "$scratch/bench.json"
"$host" --quiet --model "$model" --plugins-dir "$folder" --input-ids 5,6,7 --max-new-tokens 1 --output-ids \
    --hidden-states "$scratch/hidden.safetensors" --attentions "$scratch/attentions.safetensors" >"$scratch/ids"
grep -q 'hidden_states.layer.1' "$scratch/hidden.safetensors"
grep -q 'attentions.1' "$scratch/attentions.safetensors"

# Gemma 3, with the plugins that know attention and MLPs.
text=$folder/goldens/gemma3_text
"$host" list --families --plugins-dir "$folder" |
    grep -q '^gemma3_text: Gemma3ForCausalLM, Gemma3TextModel, Gemma3TextForSequenceClassification; by plugin gemma2 ('
"$host" plan --model "$text" --plugins-dir "$folder" --strict --json >"$scratch/plan.json"
for class in Gemma3TextModel Gemma3TextScaledWordEmbedding Gemma3DecoderLayer Gemma3Attention Gemma3MLP Gemma3RMSNorm Gemma3RotaryEmbedding; do
    grep -q "\"class\": \"$class\"" "$scratch/plan.json"
done
if grep 'Llama\|Gemma2' "$scratch/plan.json"; then exit 1; fi
"$host" plan --model "$text" --plugins-dir "$folder" --html "$scratch/plan.html"
grep -q Gemma3DecoderLayer "$scratch/plan.html"
"$host" --quiet --model "$text" --plugins-dir "$folder" --input-ids 5,6,7 --max-new-tokens 1 --output-ids \
    --hidden-states "$scratch/hidden.safetensors" --attentions "$scratch/attentions.safetensors" >"$scratch/ids"
grep -q 'attentions.5' "$scratch/attentions.safetensors"

# What config.json cannot say.
refused() {
    cp -r "$model/." "$scratch/model"
    sed "$1" "$model/config.json" >"$scratch/model/config.json"
    if "$host" plan --model "$scratch/model" --plugins-dir "$folder" 2>"$scratch/error"; then exit 1; fi
    grep -q "config.json: $2" "$scratch/error" || { cat "$scratch/error" && exit 1; }
}
refused 's/"sliding_window": 6/"sliding_window": 0/' 'sliding_window: expected 1 to '
refused 's/"sliding_window": 6/"sliding_window": null/' 'sliding_window: missing, expected an integer'
refused 's/"hidden_size"/"layer_types": ["full_attention"], &/' \
    'layer_types: expected num_hidden_layers (3) entries, got 1'
refused 's/"hidden_size"/"layer_types": ["full_attention", "full_attention", "linear_attention"], &/' \
    'layer_types.2: expected "full_attention" or "sliding_attention", got "linear_attention"'
refused 's/"hidden_size"/"layer_types": "full_attention", &/' 'layer_types: expected an array, got a string'
refused 's/"hidden_size"/"layer_types": ["full_attention", null, "full_attention"], &/' \
    'layer_types.1: expected a string, got null'
refused 's/"query_pre_attn_scalar": 12/"query_pre_attn_scalar": 0/' 'query_pre_attn_scalar: expected more than 0'
refused 's/"attn_logit_softcapping": 2.0/"attn_logit_softcapping": -2.0/' 'attn_logit_softcapping: expected more than 0'
refused 's/"hidden_activation": "gelu_pytorch_tanh"/"hidden_activation": "mish"/' 'hidden_activation: unknown activation "mish"'
refused 's/"use_bidirectional_attention": null/"use_bidirectional_attention": true/' \
    'use_bidirectional_attention: true is not supported for this model type'

model=$text
refused 's/"rope_local_base_freq": 50.0/"rope_local_base_freq": -1.0/' 'rope_local_base_freq: expected more than 0, got -1'
refused 's/"rope_theta"/"rope_parameters": {"full_attention": {"rope_theta": 5.0}}, &/' \
    'rope_scaling: not supported beside rope_parameters'
refused 's/"rope_scaling"/"rope_parameters": {"sliding_attention": {"rope_type": "?"}}, "_"/' \
    'rope_parameters.sliding_attention.rope_type: "?" is not supported'
refused 's/"rope_scaling"/"rope_parameters": {"full_attention": {"partial_rotary_factor": 0.5, "rope_type": "linear", "factor": 2.0}}, "_"/' \
    'rope_parameters.full_attention.partial_rotary_factor: expected 1: the model rotates whole heads'
sed 's/"rope_scaling"/"rope_parameters": {"full_attention": {"partial_rotary_factor": 0.5}}, "_"/' "$model/config.json" \
    >"$scratch/model/config.json" # without such a type it says nothing
"$host" plan --model "$scratch/model" --plugins-dir "$folder" >"$scratch/out"
refused 's/"hidden_size"/"sliding_window_pattern": 0, &/' 'sliding_window_pattern: expected 1 to '
refused 's/"use_bidirectional_attention": false/"use_bidirectional_attention": true/; s/"sliding_window": 6/"sliding_window": 1/' \
    'sliding_window: expected 2 or more with use_bidirectional_attention, got 1'

# The embedding's scale, sqrt(24), is rounded to bf16 where the model computes in bf16.
embedding() { # CASE DTYPE: the first number of token 5's embedding
    "$host" --quiet --model "$folder/goldens/$1" --plugins-dir "$folder" --dtype "$2" --input-ids 5 --max-new-tokens 1 \
        --output-ids --hidden-states "$scratch/$2.safetensors" >"$scratch/ids"
    header=$(od -An -t u8 -N 8 "$scratch/$2.safetensors")
    start=$(tail -c +9 "$scratch/$2.safetensors" | head -c $((header)) |
        sed 's/.*"hidden_states\.embeddings":{[^}]*"data_offsets":\[\([0-9]*\),.*/\1/')
    od -An -t f4 -j $((header + 8 + start)) -N 4 "$scratch/$2.safetensors"
}
ratio() { # CASE: of both scales
    echo "$(embedding "$1" auto) $(embedding "$1" float32)" | awk '{printf "%.4f", $1 / $2}'
}
[ "$(ratio gemma2)" = 1.0000 ]
[ "$(ratio gemma2_bf16)" = 1.0015 ]
