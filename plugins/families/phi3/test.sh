#!/bin/sh
# The plugin as its users meet it: what is listed, planned and generated of a model that the host alone does not know.
# usage: test.sh HOST FOLDER (of the plugin, and of goldens/)
set -eu
host=$1 folder=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
model=$folder/goldens/phi3

if "$host" plan --model "$model" >"$scratch/out" 2>&1; then exit 1; fi
grep -q 'model_type: "phi3" is not known; known are ' "$scratch/out"

"$host" list --families --plugins-dir "$folder" | grep -q '^phi3: Phi3ForCausalLM, Phi3Model, Phi3ForSequenceClassification, Phi3ForTokenClassification; by plugin phi3 ('
"$host" plan --model "$model" --plugins-dir "$folder" --strict >"$scratch/plan"
grep -q 'Phi3ForCausalLM (phi3, by plugin phi3), ' "$scratch/plan"
grep -q ' 0 bytes copied' "$scratch/plan"
if grep 'unexpected\|problem\|note\|converted' "$scratch/plan"; then exit 1; fi
"$host" plan --model "$model" --plugins-dir "$folder" --json >"$scratch/plan.json"
for class in Phi3Model Phi3DecoderLayer Phi3Attention Phi3MLP Phi3RMSNorm Phi3RotaryEmbedding; do
    grep -q "\"class\": \"$class\"" "$scratch/plan.json"
done
if grep Mistral "$scratch/plan.json"; then exit 1; fi
"$host" plan --model "$model" --plugins-dir "$folder" --html "$scratch/plan.html"
grep -q Phi3DecoderLayer "$scratch/plan.html"
"$host" bench --model "$model" --plugins-dir "$folder" --prompt-tokens 4 --new-tokens 2 --repeat 1 --modules --json \
    >"$scratch/bench.json"
grep -q '"class": "Phi3Attention"' "$scratch/bench.json"

run() { # run MODEL IDS COUNT OPTION...: what is generated
    of=$folder/goldens/$1 ids=$2 n=$3
    shift 3
    "$host" --quiet --model "$of" --plugins-dir "$folder" --input-ids "$ids" --max-new-tokens "$n" --output-ids "$@"
}
recorded() { # recorded FIELD: numbers of `crossing` in golden.json
    sed -n '/"crossing"/,$ s/.*"'"$1"'": \[\([0-9, ]*\)\].*/\1/p' "$folder/goldens/phi3_longrope/golden.json" | head -n 1 | tr -d ' '
}

# A sequence that grows past the original length is run again from its start, as in the reference: with guesses, and in a
# batch of which the others stay below.
prompt=$(recorded input_ids) wanted=$(recorded greedy_ids)
[ -n "$prompt" ] && [ -n "$wanted" ]
[ "$(run phi3_longrope "$prompt" 16)" = "$wanted" ]
[ "$(run phi3_longrope "$prompt" 16 --speculate 4)" = "$wanted" ]
run phi3_longrope 5,6,7 16 >"$scratch/alone"
[ "$(run phi3_longrope "$prompt" 16 --input-ids 5,6,7)" = "$wanted
$(cat "$scratch/alone")" ]

# Without frequencies of two kinds there is nothing to run again.
inspect() { # inspect MODEL: its root
    "$host" inspect Phi3ForCausalLM --model "$folder/goldens/$1" --plugins-dir "$folder"
}
inspect phi3_longrope | grep -q 'renewed_after: 32'
if inspect phi3 | grep renewed_after; then exit 1; fi

# A family file can split what is fused here: the same numbers, in other modules.
mkdir "$scratch/split"
cat >"$scratch/split/split.family.json" <<'END'
{"model_type": "phi3", "like": "mistral", "architectures": {"Phi3ForCausalLM": "MistralForCausalLM"},
 "classes": {
   "SplitAttention": {"base": "MistralAttention", "conversions": [
     {"sources": "qkv_proj.weight", "targets": ["q_proj.weight", "k_proj.weight", "v_proj.weight"],
      "operations": [{"op": "Split", "dim": 0}]}]},
   "SplitMLP": {"base": "MistralMLP", "conversions": [
     {"sources": "gate_up_proj.weight", "targets": ["gate_proj.weight", "up_proj.weight"],
      "operations": [{"op": "Split", "dim": 0}]}]}}}
END
run phi3 5,6,7,8,9,10,11 12 >"$scratch/fused"
"$host" --quiet --model "$model" --plugins-dir "$scratch/split" --input-ids 5,6,7,8,9,10,11 --max-new-tokens 12 --output-ids \
    >"$scratch/split/ids"
cmp "$scratch/fused" "$scratch/split/ids"

# What config.json cannot say.
refused() { # an edit of config.json, and what is said of it
    rm -rf "$scratch/model"
    cp -r "$folder/goldens/phi3_longrope" "$scratch/model"
    sed "$1" "$folder/goldens/phi3_longrope/config.json" >"$scratch/model/config.json"
    if "$host" plan --model "$scratch/model" --plugins-dir "$folder" >"$scratch/out" 2>&1; then exit 1; fi
    grep -q "config.json: $2" "$scratch/out" || { cat "$scratch/out" && exit 1; }
}
refused 's/"original_max_position_embeddings": 32/"original_max_position_embeddings": null/' 'original_max_position_embeddings: '
refused 's/"partial_rotary_factor": 0.5/"partial_rotary_factor": 0.25/' 'partial_rotary_factor: expected at most 1, and an even part of a head of 12, got 0.25'
refused 's/"num_key_value_heads": 1/"num_key_value_heads": 3/' 'num_key_value_heads: '
