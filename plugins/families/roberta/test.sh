#!/bin/sh
# The plugin as its users meet it: what is listed, planned, printed and observed of a model that the host alone does not
# know.
# usage: test.sh HOST FOLDER (of the plugin, and of goldens/)
set -eu
host=$1 folder=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
model=$folder/goldens/roberta_mlm

if "$host" plan --model "$model" >"$scratch/out" 2>&1; then exit 1; fi
grep -q 'model_type: "roberta" is not known; known are ' "$scratch/out"

"$host" list --families --plugins-dir "$folder" |
    grep -q '^roberta: RobertaModel, RobertaForMaskedLM, RobertaForSequenceClassification, RobertaForTokenClassification, RobertaForQuestionAnswering; by plugin roberta ('
"$host" plan --model "$model" --plugins-dir "$folder" --strict >"$scratch/plan"
grep -q 'RobertaForMaskedLM (roberta, by plugin roberta), ' "$scratch/plan"
grep -q ' 0 bytes copied' "$scratch/plan"
if grep 'unexpected\|problem\|note' "$scratch/plan"; then exit 1; fi
"$host" plan --model "$model" --plugins-dir "$folder" --json >"$scratch/plan.json"
if grep '"class": "Bert' "$scratch/plan.json"; then exit 1; fi
"$host" plan --model "$model" --plugins-dir "$folder" --html "$scratch/plan.html"
grep -q RobertaSelfAttention "$scratch/plan.html"

# Each task: masks, labels, vectors. A text is what its ids are.
"$host" --quiet --model "$model" --plugins-dir "$folder" --prompt 'the <mask> board' >"$scratch/text"
"$host" --quiet --model "$model" --plugins-dir "$folder" --input-ids 0,38,4,47,2 >"$scratch/ids"
[ "$(wc -l <"$scratch/ids")" = 5 ]
cmp "$scratch/text" "$scratch/ids"
"$host" --quiet --model "$folder/goldens/roberta_classifier_bf16" --plugins-dir "$folder" --prompt 'a board' \
    --text-pair 'the saw' >"$scratch/labels"
[ "$(cut -f 2 "$scratch/labels" | sort | tr '\n' ' ')" = 'bad good middling ' ]
sentence=$folder/goldens/roberta_sentence
"$host" --quiet --model "$sentence" --plugins-dir "$folder" --embed --prompt 'who saws?' >"$scratch/text"
"$host" --quiet --model "$sentence" --plugins-dir "$folder" --embed --input-ids \
    "$(sed -n 's/.*"text_ids": \[\[[^]]*\], \[\([^]]*\)\].*/\1/p' "$sentence/golden.json" | tr -d ' ')" >"$scratch/ids"
cmp "$scratch/text" "$scratch/ids"

# 26 rows for positions, of which the first two are padding's and nobody's.
"$host" --quiet --model "$model" --plugins-dir "$folder" --input-ids "$(seq -s , 5 28)" --logits "$scratch/logits.safetensors"
if "$host" --model "$model" --plugins-dir "$folder" --input-ids "$(seq -s , 5 29)" --logits "$scratch/logits.safetensors" \
    2>"$scratch/error"; then exit 1; fi
grep -q '25 tokens, but the model reads at most 24' "$scratch/error"

"$host" verify --model "$model" --plugins-dir "$folder" --attn-implementation eager --prompt 'the <mask>' >"$scratch/out"
grep -q 'logits: largest difference' "$scratch/out"
"$host" --quiet --model "$model" --plugins-dir "$folder" --input-ids 0,5,2 --logits "$scratch/logits.safetensors" \
    --hidden-states "$scratch/hidden.safetensors" --attentions "$scratch/attentions.safetensors"
grep -q 'hidden_states.layer.1' "$scratch/hidden.safetensors"
grep -q 'attentions.1' "$scratch/attentions.safetensors"
"$host" save --quiet --model "$model" --plugins-dir "$folder" --output "$scratch/saved"
cmp "$model/model.safetensors" "$scratch/saved/model.safetensors"

# What config.json cannot say.
refused() {
    cp -r "$model/." "$scratch/model"
    sed "$1" "$model/config.json" >"$scratch/model/config.json"
    if "$host" plan --model "$scratch/model" --plugins-dir "$folder" 2>"$scratch/error"; then exit 1; fi
    grep -q "config.json: $2" "$scratch/error" || { cat "$scratch/error" && exit 1; }
}
refused 's/"pad_token_id": 1/"pad_token_id": null/' 'pad_token_id: missing, expected an integer'
refused 's/"pad_token_id": 1/"pad_token_id": 25/' 'pad_token_id: expected 0 to 24, got 25'
refused 's/"is_decoder": false/"is_decoder": true/' 'is_decoder: true is not supported'
refused 's/"hidden_act": "relu"/"hidden_act": "snake"/' 'hidden_act: unknown activation "snake"'
model=$folder/goldens/roberta_classifier_bf16
refused 's/"id2label": {/"id2label": 3, "_": {/' 'id2label: expected an object, got an integer'
