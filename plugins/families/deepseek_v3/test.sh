#!/bin/sh
# The plugin as its users meet it: what is listed, planned and observed of a model that the host alone does not know,
# and that other plugins work on its parts.
# usage: test.sh HOST FOLDER (of the plugin, and of goldens/) PLUGINS (sequential_experts and int8_linear)
set -eu
host=$1 folder=$2 plugins=$3
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
model=$folder/goldens/deepseek_v3
prompt=31,7,19,44,36,51,22,18,4,14,4,61,36,41,31,33,27,30,51,19

if "$host" plan --model "$model" >"$scratch/out" 2>&1; then exit 1; fi
grep -q 'model_type: "deepseek_v3" is not known; known are ' "$scratch/out"

"$host" list --families --plugins-dir "$folder" |
    grep -q '^deepseek_v3: DeepseekV3ForCausalLM, DeepseekV3Model, DeepseekV3ForSequenceClassification, DeepseekV3ForTokenClassification; by plugin deepseek_v3 ('
"$host" plan --model "$folder/goldens/deepseek_v2" --plugins-dir "$folder" --strict --json >"$scratch/plan.json"
grep -q '"class": "DeepseekV2Moe"' "$scratch/plan.json"
if grep 'Llama\|Qwen\|DeepseekV3' "$scratch/plan.json"; then exit 1; fi
"$host" plan --model "$model" --plugins-dir "$folder" --strict >"$scratch/plan"
grep -q 'DeepseekV3ForCausalLM (deepseek_v3, by plugin deepseek_v3), ' "$scratch/plan"
grep -q ' 0 bytes copied' "$scratch/plan"
if grep 'unexpected\|problem\|note' "$scratch/plan"; then exit 1; fi
"$host" plan --model "$model" --plugins-dir "$folder" --json >"$scratch/plan.json"
for class in Model DecoderLayer Attention MLP MoE TopkRouter Experts RMSNorm RotaryEmbedding; do
    grep -q "\"class\": \"DeepseekV3$class\"" "$scratch/plan.json"
done
if grep 'Llama\|Qwen' "$scratch/plan.json"; then exit 1; fi
"$host" plan --model "$model" --plugins-dir "$folder" --html "$scratch/plan.html"
grep -q DeepseekV3MoE "$scratch/plan.html"

edited() { # edited SED-SCRIPT: a copy of the model
    rm -rf "$scratch/model"
    cp -r "$model" "$scratch/model"
    chmod -R u+w "$scratch/model"
    sed -i "$1" "$scratch/model/config.json"
}
# Layers behind the model's are ignored up to as many as config.json says predict further tokens.
edited 's/"num_nextn_predict_layers": 2/"num_nextn_predict_layers": 1/'
"$host" plan --model "$scratch/model" --plugins-dir "$folder" >"$scratch/plan"
grep -q 'unexpected .*model\.layers\.3\.' "$scratch/plan"
if grep 'model\.layers\.2\.' "$scratch/plan"; then exit 1; fi

ids() { # ids PLUGINS OPTION...
    enabled=$1
    shift
    "$host" --quiet --report none --model "$model" --plugins-dir "$folder" --plugins-dir "$plugins" \
        --plugins "$enabled" --output-ids "$@"
}
# Neither the others in a batch, nor pieces, nor guesses change what is said: attention is over latents in some of these
# forwards and over keys made from them in others. Nor does it matter whether kv_b_proj has a matrix that is stored.
for enabled in deepseek_v3 deepseek_v3,int8_linear; do
    first=$(ids "$enabled" --max-new-tokens 24 --input-ids "$prompt")
    second=$(ids "$enabled" --max-new-tokens 24 --input-ids 3,4,5)
    [ "$(ids "$enabled" --max-new-tokens 24 --input-ids "$prompt" --input-ids 3,4,5)" = \
        "$(printf '%s\n%s' "$first" "$second")" ]
    begun=$(echo "$first" | cut -d, -f 1-10)
    [ "$(ids "$enabled" --max-new-tokens 14 --input-ids "$prompt,$begun")" = "$(echo "$first" | cut -d, -f 11-24)" ]
    [ "$(ids "$enabled" --max-new-tokens 24 --input-ids "$prompt" --speculate 4)" = "$first" ]
done
[ "$(ids deepseek_v3,sequential_experts --max-new-tokens 24 --input-ids "$prompt")" = \
    "$(ids deepseek_v3 --max-new-tokens 24 --input-ids "$prompt")" ]
"$host" verify --model "$model" --plugins-dir "$folder" --plugins-dir "$plugins" \
    --plugins deepseek_v3,sequential_experts --input-ids "$prompt" >"$scratch/verify"
grep -q 'DeepseekV3Experts -> ModuleListExperts by sequential_experts: largest difference 0 ' "$scratch/verify"
"$host" plan --model "$model" --plugins-dir "$folder" --plugins-dir "$plugins" \
    --plugins deepseek_v3,sequential_experts,int8_linear --json >"$scratch/plan.json"
for name in kv_a_proj_with_mqa kv_b_proj o_proj shared_experts.up_proj experts.7.down_proj; do
    grep -q "\"model.layers.1.[a-z_]*.$name.qweight\"" "$scratch/plan.json"
done
if grep 'mlp.gate.qweight' "$scratch/plan.json"; then exit 1; fi

"$host" bench --model "$model" --plugins-dir "$folder" --prompt-tokens 4 --new-tokens 2 --repeat 1 --modules --json \
    >"$scratch/bench.json"
grep -q '"class": "DeepseekV3TopkRouter"' "$scratch/bench.json"
grep -q '"cache_bytes_per_token": 192,' "$scratch/bench.json" # two layers of 16 + 8 floats
"$host" --quiet --model "$model" --plugins-dir "$folder" --input-ids 5,6,7 --max-new-tokens 1 --output-ids \
    --hidden-states "$scratch/hidden.safetensors" --attentions "$scratch/attentions.safetensors" \
    --router-logits "$scratch/router.safetensors" >"$scratch/ids"
grep -q 'hidden_states.layer.1' "$scratch/hidden.safetensors"
grep -q '"attentions.1":{[^}]*"shape":\[4,3,3\]' "$scratch/attentions.safetensors"
grep -q 'router.1.logits' "$scratch/router.safetensors"

# What config.json cannot say.
refused() { # refused SED-SCRIPT MESSAGE
    edited "$1"
    status=0
    "$host" plan --model "$scratch/model" --plugins-dir "$folder" >"$scratch/out" 2>&1 || status=$?
    [ "$status" = 4 ]
    grep -q "$2" "$scratch/out" || { cat "$scratch/out" && exit 1; }
}
refused 's/"n_group": 4/"n_group": 3/' \
    'config.json: n_group: expected a divisor of n_routed_experts (8) that leaves 2 or more in a group, got 3'
refused 's/"n_group": 4/"n_group": 8/' 'config.json: n_group: expected a divisor of n_routed_experts (8)'
refused 's/"topk_group": 2/"topk_group": 5/' 'config.json: topk_group: expected 1 to 4, got 5'
refused 's/"num_experts_per_tok": 3/"num_experts_per_tok": 5/' \
    'config.json: num_experts_per_tok: expected 1 to 4, got 5'
refused 's/"kv_lora_rank": 16/"kv_lora_rank": 0/' 'config.json: kv_lora_rank: expected 1 to '
refused 's/"q_lora_rank": 12/"q_lora_rank": "12"/' 'config.json: q_lora_rank: expected an integer, got a string'
refused 's/"qk_rope_head_dim": 8/"qk_rope_head_dim": 7/' 'config.json: qk_rope_head_dim: expected an even number'
refused 's/"num_key_value_heads": 4/"num_key_value_heads": 2/' \
    'config.json: num_key_value_heads: expected num_attention_heads (4), got 2'
refused 's/"num_key_value_heads": 4/"num_key_value_heads": 0/' 'config.json: num_key_value_heads: expected 1 to '
refused 's/"scoring_func": "sigmoid"/"scoring_func": "softmax"/' \
    'config.json: scoring_func: expected "sigmoid", got "softmax"'
refused 's/"topk_method": "noaux_tc"/"topk_method": "greedy"/' \
    'config.json: topk_method: expected "noaux_tc", got "greedy"'
refused 's/"moe_layer_freq": 1/"moe_layer_freq": 2/' 'config.json: moe_layer_freq: expected 1 to 1, got 2'
# Groups of one head, or of none, are no groups: the reference divides the heads by this number, rounding down.
usual=$(ids deepseek_v3 --max-new-tokens 8 --input-ids "$prompt")
for groups in 3 8 null; do
    edited "s/\"num_key_value_heads\": 4/\"num_key_value_heads\": $groups/"
    [ "$("$host" --quiet --model "$scratch/model" --plugins-dir "$folder" --strict --output-ids --max-new-tokens 8 \
        --input-ids "$prompt")" = "$usual" ]
done
model=$folder/goldens/deepseek_v2
refused 's/"topk_method": "group_limited_greedy"/"topk_method": "noaux_tc"/' \
    'config.json: topk_method: expected "greedy" or "group_limited_greedy", got "noaux_tc"'
refused 's/"n_group": 4/"n_group": null/' 'config.json: n_group: missing, expected an integer'
refused 's/"hidden_size"/"scoring_func": "sigmoid", &/' 'config.json: scoring_func: expected "softmax", got "sigmoid"'
