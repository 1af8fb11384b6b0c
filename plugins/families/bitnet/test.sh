#!/bin/sh
# The plugin as its users meet it: what is listed, planned and refused of a model that the host alone does not know.
# usage: test.sh HOST FOLDER (of the plugin, and of goldens/)
set -eu
host=$1 folder=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
model=$folder/goldens/bitnet_tied_bf16

"$host" list --families --plugins-dir "$folder" |
    grep -q '^bitnet: BitNetForCausalLM, BitNetModel; by plugin bitnet ('
"$host" plan --model "$model" --plugins-dir "$folder" --strict >"$scratch/plan"
grep -q 'BitNetForCausalLM (bitnet, by plugin bitnet), ' "$scratch/plan"
grep -q ' 0 bytes copied' "$scratch/plan"
if grep 'unexpected\|problem\|note' "$scratch/plan"; then exit 1; fi
"$host" plan --model "$model" --plugins-dir "$folder" --json >"$scratch/plan.json"
for class in BitNetModel BitNetDecoderLayer BitNetAttention BitNetMLP BitNetRMSNorm BitNetRotaryEmbedding \
    ReLUSquaredActivation; do
    grep -q "\"class\": \"$class\"" "$scratch/plan.json"
done
if grep Llama "$scratch/plan.json"; then exit 1; fi

# Two prompts in a batch are two prompts, and threads change nothing.
run() { # OPTION...
    "$host" --quiet --model "$model" --plugins-dir "$folder" --max-new-tokens 8 --output-ids "$@"
}
run --input-ids 5,6,7,8,9,10,11,12 >"$scratch/alone"
run --input-ids 11 >>"$scratch/alone"
run --input-ids 5,6,7,8,9,10,11,12 --input-ids 11 --threads 3 >"$scratch/together"
cmp "$scratch/alone" "$scratch/together"

changed() { # an edit of config.json, which must change something
    rm -rf "$scratch/model"
    cp -r "$model" "$scratch/model"
    sed "$1" "$model/config.json" >"$scratch/model/config.json"
    if cmp -s "$model/config.json" "$scratch/model/config.json"; then exit 1; fi
}
# What is left out means what it means there.
changed '/"hidden_act"/d; /"rms_norm_eps"/d; /"rope_theta"/d; /"num_key_value_heads"/d'
"$host" plan --model "$scratch/model" --plugins-dir "$folder" --json 2>&1 >"$scratch/plan.json" |
    grep -q 'config.json: num_key_value_heads' # 5 of them, where there are 4 of queries
changed '/"hidden_act"/d; /"rms_norm_eps"/d; /"rope_theta"/d'
"$host" --quiet --model "$scratch/model" --plugins-dir "$folder" --max-new-tokens 8 --output-ids \
    --input-ids 5,6,7,8,9,10,11,12 | cmp - "$scratch/alone" 2>&1 | grep -q EOF # the same line

refused() { # an edit of config.json, and what is said of it
    changed "$1"
    if "$host" plan --model "$scratch/model" --plugins-dir "$folder" >"$scratch/out" 2>&1; then exit 1; fi
    grep -q "config.json: $2" "$scratch/out" || { cat "$scratch/out" && exit 1; }
}
refused 's/"hidden_act": "relu2"/"hidden_act": "relu3"/' 'hidden_act: unknown activation "relu3"'
refused 's/"hidden_act": "relu2"/"hidden_act": 2/' 'hidden_act: expected a string'
refused 's/"hidden_size": 24/"hidden_size": 24, "head_dim": 4/' \
    'hidden_size: expected num_attention_heads times head_dim (16), got 24'
