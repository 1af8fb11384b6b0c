#!/bin/sh
# deepseek_v2, deepseek_v3 and gpt_oss as their users meet them: what is planned and observed, that results depend neither
# on the batch nor on how keys are made, that plugins work on their parts, and what their configs cannot say.
# usage: moe.sh HOST PLUGINS_FOLDER GOLDENS_FOLDER
. "$(dirname "$0")/../scratch.sh"
host=$1 plugins=$2 goldens=$3/plain
prompt=31,7,19,44,36,51,22,18,4,14,4,61,36,41,31,33,27,30,51,19

edited() { # edited MODEL SED-SCRIPT: a copy of the golden model in $scratch/model
    rm -rf "$scratch/model"
    cp -r "$goldens/$1" "$scratch/model"
    chmod -R u+w "$scratch/model"
    sed -i "$2" "$scratch/model/config.json"
}

refused() { # refused MODEL SED-SCRIPT MESSAGE: exit status 4
    edited "$1" "$2"
    status=0
    "$host" plan --model "$scratch/model" >"$scratch/out" 2>&1 || status=$?
    [ "$status" = 4 ] || fail "$1, $2: exit status $status: $(cat "$scratch/out")"
    grep -qF "config.json: $3" "$scratch/out" || fail "$1, $2: $(cat "$scratch/out")"
}

has_classes() { # has_classes PLAN PREFIX CLASS...: and none of another family
    plan=$1 prefix=$2
    shift 2
    for class; do
        grep -q "\"class\": \"$prefix$class\"" "$plan" || fail "no $prefix$class"
    done
    if grep '"class": "\(Llama\|Qwen\|Mixtral\)' "$plan"; then exit 1; fi
}

echo 'plans'
for model in deepseek_v2 deepseek_v3 gpt_oss; do
    "$host" plan --model "$goldens/$model" --strict >"$scratch/plan"
    if grep 'unexpected\|problem\|note' "$scratch/plan"; then exit 1; fi
    "$host" plan --model "$goldens/$model" --strict --json >"$scratch/$model.json"
done
"$host" plan --model "$goldens/deepseek_v3" | grep -q ' 0 bytes copied'
has_classes "$scratch/deepseek_v2.json" DeepseekV2 Model DecoderLayer Attention MLP Moe TopkRouter Experts RMSNorm \
    RotaryEmbedding
has_classes "$scratch/deepseek_v3.json" DeepseekV3 Model DecoderLayer Attention MLP MoE TopkRouter Experts RMSNorm \
    RotaryEmbedding
has_classes "$scratch/gpt_oss.json" GptOss Model DecoderLayer Attention MLP TopKRouter Experts RMSNorm RotaryEmbedding
"$host" plan --model "$goldens/gpt_oss" |
    grep -qF 'experts.gate_up_proj: Transpose(dim0=1, dim1=2), Interleave(dim=1), copied'

echo 'layers after those of the model are left out, as many as config.json says'
edited deepseek_v3 's/"num_nextn_predict_layers": 2/"num_nextn_predict_layers": 1/'
"$host" plan --model "$scratch/model" >"$scratch/plan"
grep -q 'unexpected .*model\.layers\.3\.' "$scratch/plan"
if grep 'model\.layers\.2\.' "$scratch/plan"; then exit 1; fi

ids() { # ids MODEL PLUGINS OPTION...
    model=$1 enabled=$2
    shift 2
    # shellcheck disable=SC2086 # words: there may be options after the plugins
    if [ -n "$enabled" ]; then set -- --plugins-dir "$plugins" --plugins $enabled "$@"; fi
    "$host" --quiet --report none --model "$model" --output-ids "$@"
}

echo 'neither the others in a batch, nor pieces, nor guesses change what is said'
# Attention is over latents in some of these forwards and over keys made from them in others; kv_b_proj has a matrix that
# is stored, or none.
v3=$goldens/deepseek_v3
for enabled in '' 'compressed_tensors --quantize int8'; do
    first=$(ids "$v3" "$enabled" --max-new-tokens 24 --input-ids "$prompt")
    second=$(ids "$v3" "$enabled" --max-new-tokens 24 --input-ids 3,4,5)
    [ "$(ids "$v3" "$enabled" --max-new-tokens 24 --input-ids "$prompt" --input-ids 3,4,5)" = \
        "$(printf '%s\n%s' "$first" "$second")" ] || fail 'in a batch'
    begun=$(echo "$first" | cut -d, -f 1-10)
    [ "$(ids "$v3" "$enabled" --max-new-tokens 14 --input-ids "$prompt,$begun")" = \
        "$(echo "$first" | cut -d, -f 11-24)" ] || fail 'in pieces'
    [ "$(ids "$v3" "$enabled" --max-new-tokens 24 --input-ids "$prompt" --speculate 4)" = "$first" ] || fail 'guesses'
done
oss=$goldens/gpt_oss
alone=$(ids "$oss" '' --max-new-tokens 8 --input-ids 5,6,7,8,9,10,11,12 && ids "$oss" '' --max-new-tokens 8 --input-ids 13)
for options in '' '--experts-implementation eager' '--experts-implementation batched_mm'; do
    # shellcheck disable=SC2086 # words
    [ "$(ids "$oss" '' --max-new-tokens 8 --input-ids 5,6,7,8,9,10,11,12 --input-ids 13 $options)" = "$alone" ] ||
        fail "gpt_oss $options"
done

echo 'experts one by one, Linears in int8'
[ "$(ids "$v3" sequential_experts --max-new-tokens 24 --input-ids "$prompt")" = \
    "$(ids "$v3" '' --max-new-tokens 24 --input-ids "$prompt")" ]
"$host" verify --model "$v3" --plugins-dir "$plugins" --plugins sequential_experts --input-ids "$prompt" >"$scratch/verify"
grep -q 'DeepseekV3Experts -> ModuleListExperts by sequential_experts: largest difference 0 ' "$scratch/verify"
"$host" plan --model "$v3" --plugins-dir "$plugins" --plugins compressed_tensors \
    --quantize int8 --json >"$scratch/plan.json"
for name in kv_a_proj_with_mqa kv_b_proj o_proj shared_experts.up_proj experts.7.down_proj; do
    grep -q "\"model.layers.1.[a-z_]*.$name.weight_packed\"" "$scratch/plan.json" || fail "$name stays"
done
if grep 'mlp.gate.weight_packed' "$scratch/plan.json"; then exit 1; fi
"$host" plan --model "$oss" --plugins-dir "$plugins" --plugins sequential_experts >"$scratch/plan"
grep -q 'note .*sequential_experts has no effect on this model: swiglu_limit is set' "$scratch/plan"

# Stacks that files call otherwise, or have turned; inputs that are weighted; a family with a list of experts.
for model in granitemoe llama4_text glm4_moe jetmoe mimo_v2_flash; do
    "$host" verify --model "$goldens/../types/$model" --plugins-dir "$plugins" --plugins sequential_experts,fused_qkv \
        --input-ids 5,17,33,9,71,44,12 --tolerance 0 >"$scratch/verify"
    grep -q 'Experts -> ModuleListExperts by sequential_experts: largest difference 0 ' "$scratch/verify" || fail "$model"
done

echo 'what is observed'
"$host" bench --model "$v3" --prompt-tokens 4 --new-tokens 2 --repeat 1 --modules --json >"$scratch/bench.json"
grep -q '"class": "DeepseekV3TopkRouter"' "$scratch/bench.json"
grep -q '"cache_bytes_per_token": 192,' "$scratch/bench.json" # two layers of 16 + 8 floats
for model in "$v3" "$oss"; do
    "$host" --quiet --model "$model" --input-ids 5,6,7 --max-new-tokens 1 --output-ids \
        --hidden-states "$scratch/hidden.safetensors" --attentions "$scratch/attentions.safetensors" \
        --router-logits "$scratch/router.safetensors" >"$scratch/ids"
    grep -q 'hidden_states.layer.1' "$scratch/hidden.safetensors"
    grep -q '"attentions.1":{[^}]*"shape":\[4,3,3\]' "$scratch/attentions.safetensors"
    grep -q 'router.1.logits' "$scratch/router.safetensors"
done

echo 'what config.json cannot say'
refused deepseek_v3 's/"n_group": 4/"n_group": 3/' \
    'n_group: expected a divisor of the number of experts (8) that leaves 2 or more in a group, got 3'
refused deepseek_v3 's/"n_group": 4/"n_group": 8/' 'n_group: expected a divisor of the number of experts (8)'
refused deepseek_v3 's/"topk_group": 2/"topk_group": 5/' 'topk_group: expected 1 to 4, got 5'
refused deepseek_v3 's/"num_experts_per_tok": 3/"num_experts_per_tok": 5/' 'num_experts_per_tok: expected 1 to 4, got 5'
refused deepseek_v3 's/"kv_lora_rank": 16/"kv_lora_rank": 0/' 'kv_lora_rank: expected 1 to '
refused deepseek_v3 's/"kv_lora_rank": 16/"kv_lora_rank": null/' 'kv_lora_rank: expected an integer, got null'
refused deepseek_v3 's/"q_lora_rank": 12/"q_lora_rank": "12"/' 'q_lora_rank: expected an integer, got a string'
refused deepseek_v3 's/"qk_rope_head_dim": 8/"qk_rope_head_dim": 7/' 'qk_rope_head_dim: expected an even number'
refused deepseek_v3 's/"num_key_value_heads": 4/"num_key_value_heads": 2/' \
    'num_key_value_heads: expected num_attention_heads (4), got 2'
refused deepseek_v3 's/"num_key_value_heads": 4/"num_key_value_heads": 0/' 'num_key_value_heads: expected 1 to '
refused deepseek_v3 's/"scoring_func": "sigmoid"/"scoring_func": "softmax"/' 'scoring_func'
refused deepseek_v3 's/"topk_method": "noaux_tc"/"topk_method": "greedy"/' 'topk_method'
refused deepseek_v3 's/"moe_layer_freq": 1/"moe_layer_freq": 2/' 'moe_layer_freq'
refused deepseek_v2 's/"topk_method": "group_limited_greedy"/"topk_method": "noaux_tc"/' 'topk_method'
refused deepseek_v2 's/"hidden_size"/"scoring_func": "sigmoid", &/' 'scoring_func'
refused gpt_oss 's/"num_local_experts": 5/"num_local_experts": 0/' 'num_local_experts: expected at least 1 expert, got 0'
refused gpt_oss 's/"num_experts_per_tok": 2/"num_experts_per_tok": 6/' \
    'num_experts_per_tok: expected at most the number of experts (5), got 6'
refused gpt_oss 's/"swiglu_limit": 1.5/"swiglu_limit": 0/' 'swiglu_limit: expected more than 0, got 0'
refused gpt_oss 's/"swiglu_limit": 1.5/"swiglu_limit": null/' 'swiglu_limit: expected a number, got null'
refused gpt_oss 's/"swiglu_alpha": 1.702/"swiglu_alpha": "1.702"/' 'swiglu_alpha: expected a number, got a string'
refused gpt_oss 's/"sliding_window": 6/"sliding_window": 0/' 'sliding_window: expected 1 to '
refused gpt_oss 's/"sliding_window": 6/"sliding_window": null, "layer_types": ["full_attention", "sliding_attention", "full_attention"]/' \
    'layer_types.1: "sliding_attention" needs a window'
refused gpt_oss 's/"hidden_size"/"layer_types": ["full_attention"], &/' \
    'layer_types: expected num_hidden_layers (3) entries, got 1'
refused gpt_oss 's/"factor": 4.0/"factor": 0/' 'rope_scaling.factor: expected more than 0, got 0'
types=../types
refused $types/phimoe 's/"num_experts_per_tok": 2/"num_experts_per_tok": 3/' \
    'num_experts_per_tok: expected 2, as this router always chooses, got 3'
refused $types/llama4_text 's/"hidden_size"/"is_causal": false, &/' \
    'attention_chunk_size: not supported beside attention in both directions'
refused $types/llama4_text 's/"attention_chunk_size": [0-9]*/"attention_chunk_size": 0/' \
    'attention_chunk_size: expected 1 to '
refused $types/jetmoe 's/"num_experts_per_tok": 2/"num_experts_per_tok": 5/' \
    'num_experts_per_tok: expected at most the number of experts (4), got 5'
refused $types/laguna 's/"moe_apply_router_weight_on_input": false/"moe_apply_router_weight_on_input": true/' \
    'moe_apply_router_weight_on_input'
refused $types/cohere2_moe 's/"hidden_size"/"expert_selection_fn": "best", &/' 'expert_selection_fn'
# Groups of one head, or of none, are no groups: the reference divides the heads by this number, rounding down.
usual=$(ids "$v3" '' --max-new-tokens 8 --input-ids "$prompt")
for groups in 3 8 null; do
    edited deepseek_v3 "s/\"num_key_value_heads\": 4/\"num_key_value_heads\": $groups/"
    [ "$(ids "$scratch/model" '' --strict --max-new-tokens 8 --input-ids "$prompt")" = "$usual" ] || fail "$groups groups"
done
