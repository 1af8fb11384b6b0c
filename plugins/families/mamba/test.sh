#!/bin/sh
# The plugin as its users meet it: what is listed and planned of its model types, and that neither the others in a batch,
# nor pieces, nor guesses change what they say.
# usage: test.sh HOST FOLDER (of the plugin, and of goldens/) MY_SILU
set -eu
host=$1 folder=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
model=$folder/goldens/falcon_mamba
prompt=31,7,19,44,36,51,22,18,4,14,4,61,36,41,31,33,27,30,51,19,8,56,10,10
mkdir "$scratch/plugins"
cp "$3" "$scratch/plugins/"

"$host" list --families --plugins-dir "$folder" >"$scratch/families"
grep -q '^mamba: MambaForCausalLM, MambaModel; by plugin mamba (' "$scratch/families"
grep -q '^falcon_mamba: FalconMambaForCausalLM, FalconMambaModel; by plugin mamba (' "$scratch/families"
"$host" plan --model "$model" --plugins-dir "$folder" --strict >"$scratch/plan"
grep -q 'FalconMambaForCausalLM (falcon_mamba, by plugin mamba), ' "$scratch/plan"
# Two layers, each with states of [3, 48] and [10, 48] floats.
grep -q ' 0 bytes copied, .* 9984 bytes of state for each sequence' "$scratch/plan"
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
# The width of the mixers is what the config says, whatever follows from other fields.
cp -r "$model" "$scratch/model" && chmod -R u+w "$scratch/model"
sed 's/"expand": 2/"expand": 16/' "$model/config.json" >"$scratch/model/config.json"
[ "$("$host" --quiet --report none --model "$scratch/model" --plugins-dir "$folder" --output-ids --max-new-tokens 24 \
    --input-ids "$prompt")" = "$first" ]
repeated=$prompt,$prompt,$prompt
for count in 1 4 8; do
    [ "$(ids --max-new-tokens 40 --input-ids "$repeated" --speculate "$count")" = \
        "$(ids --max-new-tokens 40 --input-ids "$repeated")" ]
done

"$host" verify --model "$model" --plugins-dir "$folder" --plugins-dir "$scratch/plugins" --input-ids "$prompt" \
    --input-ids 3,4 >"$scratch/verify"
grep -q MySiLU "$scratch/verify"
"$host" bench --model "$model" --plugins-dir "$folder" --prompt-tokens 4 --new-tokens 2 --repeat 1 --modules --json \
    >"$scratch/bench.json"
grep -q '"state_bytes_per_token": 4992,' "$scratch/bench.json"
weights=$(sed -n 's/.*"bytes_per_step": \([0-9]*\),$/\1/p' "$scratch/bench.json")
grep -q "\"read_bytes_per_step\": $((weights + 4992))," "$scratch/bench.json"
for class in FalconMambaMixer FalconMambaWeightlessRMSNorm Conv1d; do
    grep -q "\"class\": \"$class\"" "$scratch/bench.json"
done

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
    grep -q "config.json: $2" "$scratch/out" || { cat "$scratch/out" && exit 1; }
}
fails 's/"conv_kernel": 4/"conv_kernel": 1/' 'conv_kernel: expected 2 to 64, got 1'
fails 's/"expand": 2/"expand": 0/; s/"intermediate_size": 48,//' 'expand: expected 1 to 64, got 0'
fails 's/"intermediate_size": 48/"intermediate_size": 0/' 'intermediate_size: expected 1 to '
fails 's/"time_step_rank": 2/"time_step_rank": "some"/' 'time_step_rank: expected an integer, got a string'
fails 's/"mixer_rms_eps": 1e-06/"mixer_rms_eps": -1/' 'mixer_rms_eps: expected at least 0, got -1'
# An epsilon of 0 is none: nobody takes it for one that is missing.
for epsilon in 0.0 1e-300; do
    edited "s/\"mixer_rms_eps\": [^,]*/\"mixer_rms_eps\": $epsilon/; s/\"layer_norm_epsilon\": [^,]*/\"layer_norm_epsilon\": $epsilon/"
    grep -c "eps.*\": $epsilon" "$scratch/model/config.json" | grep -qx 2
    "$host" --quiet --report none --model "$scratch/model" --plugins-dir "$folder" --output-ids --max-new-tokens 1 \
        --input-ids "$prompt" --logits "$scratch/$epsilon.safetensors" >"$scratch/ids"
done
cmp "$scratch/0.0.safetensors" "$scratch/1e-300.safetensors"
edited 's/"time_step_rank": 2/"time_step_rank": "auto"/'
[ "$("$host" --quiet --report none --model "$scratch/model" --plugins-dir "$folder" --output-ids \
    --max-new-tokens 24 --input-ids "$prompt")" = "$first" ]
