#!/bin/sh
# Models whose layers keep states of sequences, as their users meet them: what is planned and recorded, and that neither
# the others in a batch, nor pieces, nor guesses, nor instruction sets change what they say. Reports in TAP.
# usage: mixers.sh HOST GOLDENS SEQUENTIAL_EXPERTS (its folder) MY_SILU
set -u
. "$(dirname "$0")/../tap.sh"
host=$(realpath "$1") goldens=$2 experts=$3
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
prompt=31,7,19,44,36,51,22,18,4,14,4,61,36,41,31,33,27,30,51,19,8,56,10,10
mkdir "$scratch/silu"
cp "$4" "$scratch/silu/"

ids() { # ids OPTION...
    "$host" --quiet --report none --model "$model" --output-ids "$@"
}

planned() { # planned NAME BYTES: of state for each sequence
    name=$1 model=$goldens/plain/$1
    "$host" plan --model "$model" --strict >"$scratch/plan" 2>&1
    check "$name: all is used" '' "$(grep 'unexpected\|problem\|note\|not used' "$scratch/plan")"
    has "$name: states" " 0 bytes copied, " "$scratch/plan"
    has "$name: $2 bytes of state" " $2 bytes of state for each sequence" "$scratch/plan"
}

same() { # same NAME [FOLDER]
    model=$goldens/${2:-plain}/$1
    first=$(ids --max-new-tokens 24 --input-ids "$prompt")
    second=$(ids --max-new-tokens 24 --input-ids 3,4,5)
    check "$1: beside another sequence" "$(printf '%s\n%s' "$first" "$second")" \
        "$(ids --max-new-tokens 24 --input-ids "$prompt" --input-ids 3,4,5)"
    begun=$(echo "$first" | cut -d, -f 1-10)
    check "$1: from the middle" "$(echo "$first" | cut -d, -f 11-24)" \
        "$(ids --max-new-tokens 14 --input-ids "$prompt,$begun")"
    for isa in scalar avx2 avx512; do # those that this processor has; their sums differ by rounding
        check "$1: $isa" "$first" "$(GRAFT_ISA=$isa ids --max-new-tokens 24 --input-ids "$prompt")"
    done
    repeated=$prompt,$prompt,$prompt
    greedy=$(ids --max-new-tokens 40 --input-ids "$repeated")
    for count in 1 4 8; do
        check "$1: $count guesses" "$greedy" \
            "$(ids --max-new-tokens 40 --input-ids "$repeated" --speculate "$count")"
    done
}

verified() { # verified NAME FOLDER TEXT: with the plugins of the folder
    "$host" verify --model "$goldens/plain/$1" --plugins-dir "$2" --input-ids "$prompt" --input-ids 3,4 \
        >"$scratch/verify" 2>&1
    has "$1: $3" "$3" "$scratch/verify"
}

measured() { # measured NAME BYTES CLASS...: of state read and written for a token
    "$host" bench --model "$goldens/plain/$1" --prompt-tokens 4 --new-tokens 2 --repeat 1 --modules --json \
        >"$scratch/bench.json" 2>"$scratch/log"
    has "$1: state of a token" "\"state_bytes_per_token\": $2," "$scratch/bench.json"
    bench=$1
    shift 2
    for class; do
        has "$bench: $class is measured" "\"class\": \"$class\"" "$scratch/bench.json"
    done
}

edited() { # edited NAME SED-SCRIPT: a copy of the model
    rm -rf "$scratch/model"
    cp -r "$goldens/plain/$1" "$scratch/model"
    chmod -R u+w "$scratch/model"
    sed -i "$2" "$scratch/model/config.json"
    model=$scratch/model
}

fails() { # fails NAME SED-SCRIPT MESSAGE
    edited "$1" "$2"
    status=0
    "$host" plan --model "$model" >"$scratch/out" 2>&1 || status=$?
    check "$1: exit status of $3" 4 "$status"
    has "$1: $3" "config.json: $3" "$scratch/out"
}

says_the_same() { # says_the_same NAME WHAT SED-SCRIPT
    model=$goldens/plain/$1
    first=$(ids --max-new-tokens 24 --input-ids "$prompt")
    edited "$1" "$3"
    check "$1: $2" "$first" "$(ids --max-new-tokens 24 --input-ids "$prompt")"
}

# Two layers, each with states of [3, 48] and [10, 48] floats.
planned falcon_mamba 9984
same falcon_mamba
verified falcon_mamba "$scratch/silu" MySiLU
measured falcon_mamba 4992 FalconMambaMixer FalconMambaWeightlessRMSNorm Conv1d
# The width of the mixers is what the config says, whatever follows from other fields.
says_the_same falcon_mamba 'expand with intermediate_size' 's/"expand": 2/"expand": 16/'
says_the_same falcon_mamba 'the usual rank' 's/"time_step_rank": 2/"time_step_rank": "auto"/'
fails falcon_mamba 's/"conv_kernel": 4/"conv_kernel": 1/' 'conv_kernel: expected 2 to 64, got 1'
fails falcon_mamba 's/"intermediate_size": 48/"intermediate_size": 0/' 'intermediate_size: expected 1 to '
fails falcon_mamba 's/"mixer_rms_eps": 1e-06/"mixer_rms_eps": -1/' 'mixer_rms_eps: expected at least 0, got -1'
fails falcon_mamba 's/"time_step_rank": 2/"time_step_rank": "some"/' 'time_step_rank: expected an integer, got a string'
# An epsilon of 0 is none: nobody takes it for one that is missing.
for epsilon in 0.0 1e-300; do
    edited falcon_mamba \
        "s/\"mixer_rms_eps\": [^,]*/\"mixer_rms_eps\": $epsilon/; s/\"layer_norm_epsilon\": [^,]*/\"layer_norm_epsilon\": $epsilon/"
    ids --max-new-tokens 1 --input-ids "$prompt" --logits "$scratch/$epsilon.safetensors" >"$scratch/ids"
done
check 'falcon_mamba: no epsilon' '' "$(cmp "$scratch/0.0.safetensors" "$scratch/1e-300.safetensors" 2>&1)"

# Two layers, each with states of [3, 88] and [6, 10, 8] floats.
planned mamba2 11904
same mamba2
verified mamba2 "$scratch/silu" MySiLU
measured mamba2 5952 Mamba2Block Mamba2Mixer MambaRMSNormGated
model=$goldens/plain/mamba2
ids --input-ids 5,6,7 --max-new-tokens 1 --attentions "$scratch/attentions.safetensors" >"$scratch/out" 2>&1
has 'mamba2: attentions are not there' 'the model has no attention' "$scratch/out"
fails mamba2 's/"num_heads": 6/"num_heads": 5/' 'expand * hidden_size: expected heads times their width, 5 * 8, got 48'
fails mamba2 's/"n_groups": 2/"n_groups": 4/' 'n_groups: 4 does not divide the number of heads (6)'
fails mamba2 's/^    0.0,$/    "0",/' 'time_step_limit.0: expected a number, got a string'
fails mamba2 's/"layer_norm_epsilon": 1e-05/"layer_norm_epsilon": Infinity/' 'layer_norm_epsilon: expected a finite number'
fails mamba2 's/"__float__": "Infinity"/"__float__": "NaN"/' 'time_step_limit.1: expected a'
says_the_same mamba2 'another infinity' '/^    {$/,/^    }$/c\    Infinity'

# Three layers, each with states of [3, 64] and [4, 6, 10] floats.
planned qwen3_next 10368
same qwen3_next
verified qwen3_next "$scratch/silu" MySiLU
verified qwen3_next "$experts" 'Qwen3NextExperts -> ModuleListExperts by sequential_experts: largest difference 0 '
measured qwen3_next 5184 Qwen3NextAttention Qwen3NextGatedDeltaNet Qwen3NextRMSNormGated Conv1d
model=$goldens/plain/qwen3_next
ids --input-ids 5,6,7 --max-new-tokens 1 --hidden-states "$scratch/hidden.safetensors" \
    --attentions "$scratch/attentions.safetensors" --router-logits "$scratch/router.safetensors" >"$scratch/ids"
has 'qwen3_next: hidden states' hidden_states.layer.3 "$scratch/hidden.safetensors"
has 'qwen3_next: attentions' attentions.3 "$scratch/attentions.safetensors"
check 'qwen3_next: no attention' '' "$(grep -a attentions.0 "$scratch/attentions.safetensors")"
has 'qwen3_next: routers' router.0.logits "$scratch/router.safetensors"
fails qwen3_next 's/"linear_num_key_heads": 2/"linear_num_key_heads": 3/' \
    'linear_num_key_heads: 3 does not divide the number of heads of values (4)'
fails qwen3_next 's/"linear_conv_kernel_dim": 4/"linear_conv_kernel_dim": 1/' 'linear_conv_kernel_dim: expected 2 to 64, got 1'
fails qwen3_next 's/"linear_key_head_dim": 6/"linear_key_head_dim": null/' 'linear_key_head_dim: expected an integer, got null'
fails qwen3_next 's/"full_attention_interval": 4/"full_attention_interval": 0/' 'full_attention_interval'
fails qwen3_next 's/"hidden_act": "silu"/"hidden_act": "gelu"/' \
    'hidden_act: expected "silu" in a model with linear attention, got "gelu"'
fails qwen3_next 's/"hidden_size"/"layer_types": ["full_attention"], &/' \
    'layer_types: expected num_hidden_layers (4) entries, got 1'
fails qwen3_next 's/"hidden_size"/"layer_types": ["a", "a", "a", "a"], &/' \
    'layer_types.0: expected "full_attention" or "linear_attention", got "a"'

# The other mixers, and layers that have one beside attention, or none of both.
for name in bailing_hybrid-mla falcon_h1-multipliers jamba-attention kimi_linear-mla lfm2-conv minimax \
    nemotron_h-latent recurrent_gemma-attention rwkv; do
    same "$name" types
done
# Layers as the letters of older files say.
model=$goldens/types/nemotron_h-latent
first=$(ids --max-new-tokens 24 --input-ids "$prompt")
rm -rf "$scratch/model"
cp -r "$model" "$scratch/model"
chmod -R u+w "$scratch/model"
awk '/"layers_block_type": \[/ { print "  \"hybrid_override_pattern\": \"ME*-\","; skip = 1 } !skip { print } skip && /\]/ { skip = 0 }' \
    "$model/config.json" >"$scratch/model/config.json"
model=$scratch/model
check 'nemotron_h: layers as letters' "$first" "$(ids --max-new-tokens 24 --input-ids "$prompt" 2>&1)"

echo "1..$number"
exit "$failed"
