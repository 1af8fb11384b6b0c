#!/bin/sh
# The plugin as its users meet it: what is listed, planned and observed of a model that the host alone does not know.
# usage: test.sh HOST FOLDER (of the plugin, and of goldens/)
set -eu
host=$1 folder=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
model=$folder/goldens/olmo2

if "$host" plan --model "$model" >"$scratch/out" 2>&1; then exit 1; fi
grep -q 'model_type: "olmo2" is not known' "$scratch/out"

"$host" list --families --plugins-dir "$folder" | grep -q '^olmo2: Olmo2ForCausalLM, Olmo2Model, Olmo2ForSequenceClassification; by plugin olmo2 ('
"$host" inspect "$folder/olmo2.so" --json >"$scratch/inspected"
grep -q '"Olmo2ForCausalLM": "Olmo2ForCausalLM"' "$scratch/inspected"
grep -q '"base": "LlamaDecoderLayer"' "$scratch/inspected"
grep -q '"default": 50304' "$scratch/inspected"

"$host" plan --model "$model" --plugins-dir "$folder" --strict >"$scratch/plan"
grep -q 'Olmo2ForCausalLM (olmo2, by plugin olmo2), ' "$scratch/plan"
grep -q ' 0 bytes copied' "$scratch/plan"
if grep 'unexpected\|problem\|note' "$scratch/plan"; then exit 1; fi
"$host" plan --model "$model" --plugins-dir "$folder" --json >"$scratch/plan.json"
for class in Olmo2Model Olmo2DecoderLayer Olmo2Attention Olmo2MLP Olmo2RMSNorm Olmo2RotaryEmbedding; do
    grep -q "\"class\": \"$class\"" "$scratch/plan.json"
done
if grep Llama "$scratch/plan.json"; then exit 1; fi
"$host" plan --model "$model" --plugins-dir "$folder" --html "$scratch/plan.html"
grep -q Olmo2DecoderLayer "$scratch/plan.html"

"$host" bench --model "$model" --plugins-dir "$folder" --prompt-tokens 4 --new-tokens 2 --repeat 1 --modules --json \
    >"$scratch/bench.json"
grep -q '"class": "Olmo2Attention"' "$scratch/bench.json"
"$host" --quiet --model "$model" --plugins-dir "$folder" --input-ids 5,6,7 --max-new-tokens 1 --output-ids \
    --hidden-states "$scratch/hidden.safetensors" --attentions "$scratch/attentions.safetensors" >"$scratch/ids"
grep -q 'hidden_states.layer.1' "$scratch/hidden.safetensors"
grep -q 'attentions.1' "$scratch/attentions.safetensors"

# There is no original to compare a family with.
status=0
"$host" verify --model "$model" --plugins-dir "$folder" >"$scratch/out" 2>"$scratch/err" || status=$?
[ "$status" = 6 ]
grep -q 'so there is nothing to compare; plugin olmo2 brings its type and replaces nothing' "$scratch/err"
