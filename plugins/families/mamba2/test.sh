#!/bin/sh
# The plugin as its users meet it: what is listed and planned of a model without attention, and that neither the others
# in a batch, nor pieces, nor guesses change what it says.
# usage: test.sh HOST FOLDER (of the plugin, and of goldens/) MY_SILU
set -eu
host=$1 folder=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
model=$folder/goldens/mamba2
prompt=31,7,19,44,36,51,22,18,4,14,4,61,36,41,31,33,27,30,51,19,8,56,10,10
mkdir "$scratch/plugins"
cp "$3" "$scratch/plugins/"

"$host" list --families --plugins-dir "$folder" | grep -q '^mamba2: Mamba2ForCausalLM, Mamba2Model; by plugin mamba2 ('
"$host" plan --model "$model" --plugins-dir "$folder" --strict >"$scratch/plan"
grep -q 'Mamba2ForCausalLM (mamba2, by plugin mamba2), ' "$scratch/plan"
# Two layers, each with states of [3, 88] and [6, 10, 8] floats.
grep -q ' 0 bytes copied, .* 11904 bytes of state for each sequence' "$scratch/plan"
if grep 'unexpected\|problem\|note' "$scratch/plan"; then exit 1; fi

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

# A replaced activation runs beside the original one on the same states.
"$host" verify --model "$model" --plugins-dir "$folder" --plugins-dir "$scratch/plugins" --input-ids "$prompt" \
    --input-ids 3,4 >"$scratch/verify"
grep -q MySiLU "$scratch/verify"
"$host" bench --model "$model" --plugins-dir "$folder" --prompt-tokens 4 --new-tokens 2 --repeat 1 --modules --json \
    >"$scratch/bench.json"
grep -q '"state_bytes_per_token": 5952,' "$scratch/bench.json"
grep -q '"class": "Mamba2Block"' "$scratch/bench.json"
grep -q '"class": "Mamba2Mixer"' "$scratch/bench.json"
"$host" --quiet --model "$model" --plugins-dir "$folder" --input-ids 5,6,7 --max-new-tokens 1 --output-ids \
    --hidden-states "$scratch/hidden.safetensors" >"$scratch/ids"
grep -q 'hidden_states.layer.1' "$scratch/hidden.safetensors"
status=0
ids --input-ids 5,6,7 --max-new-tokens 1 --attentions "$scratch/attentions.safetensors" 2>"$scratch/out" || status=$?
[ "$status" = 2 ]
grep -q 'the model has no attention' "$scratch/out"

# Faults of config.json, and the ways of writing an infinite limit.
edited() { # edited SED-SCRIPT: a copy of the model
    rm -rf "$scratch/model"
    cp -r "$model" "$scratch/model"
    chmod -R u+w "$scratch/model"
    sed -i "$1" "$scratch/model/config.json"
}
fails() { # fails SED-SCRIPT MESSAGE
    edited "$1"
    status=0
    "$host" plan --model "$scratch/model" --plugins-dir "$folder" >"$scratch/out" 2>&1 || status=$?
    [ "$status" = 4 ]
    grep -q "config.json: $2" "$scratch/out"
}
fails 's/"num_heads": 6/"num_heads": 5/' 'num_heads 5 times head_dim 8 is not hidden_size 24 times expand 2'
fails 's/"n_groups": 2/"n_groups": 4/' 'n_groups 4 does not divide num_heads 6'
fails 's/"conv_kernel": 4/"conv_kernel": 1/' 'conv_kernel: expected 2 to 64, got 1'
fails 's/"time_step_limit": \[/"time_step_limit": 1, "_": [/' 'time_step_limit: expected an array of two numbers'
fails 's/^    0.0,$/    "0",/' 'time_step_limit.0: expected a number, got a string'
fails 's/"layer_norm_epsilon": 1e-05/"layer_norm_epsilon": Infinity/' 'layer_norm_epsilon: expected a finite number'
edited 's/"__float__": "Infinity"/"__float__": "NaN"/'
if "$host" plan --model "$scratch/model" --plugins-dir "$folder" >"$scratch/out" 2>&1; then exit 1; fi
grep -q 'time_step_limit.1: expected a number, got NaN' "$scratch/out"
edited '/^    {$/,/^    }$/c\    Infinity'
[ "$("$host" --quiet --report none --model "$scratch/model" --plugins-dir "$folder" --output-ids \
    --max-new-tokens 24 --input-ids "$prompt")" = "$first" ]
