#!/bin/sh
# The plugin as its users meet it: what is listed, planned, printed and observed of a model that the host alone does not
# know.
# usage: test.sh HOST FOLDER INT8_LINEAR      folders: of the plugin, and of goldens/; of the plugin int8_linear
set -eu
host=$1 folder=$2 int8_linear=$3
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
model=$folder/goldens/modernbert_mlm

if "$host" plan --model "$model" >"$scratch/out" 2>&1; then exit 1; fi
grep -q 'model_type: "modernbert" is not known; known are ' "$scratch/out"

"$host" list --families --plugins-dir "$folder" >"$scratch/out"
grep -q '^modernbert: ModernBertModel, ModernBertForMaskedLM, ModernBertForSequenceClassification, ModernBertForTokenClassification, ModernBertForQuestionAnswering; by plugin modernbert (' \
    "$scratch/out"
"$host" plan --model "$model" --plugins-dir "$folder" --strict >"$scratch/plan"
grep -q 'ModernBertForMaskedLM (modernbert, by plugin modernbert), ' "$scratch/plan"
grep -q ' 0 bytes copied' "$scratch/plan"
if grep 'unexpected\|problem\|note' "$scratch/plan"; then exit 1; fi
"$host" plan --model "$model" --plugins-dir "$folder" --html "$scratch/plan.html"
grep -q ModernBertEncoderLayer "$scratch/plan.html"

# Each task: masks, labels, vectors. A text is what its ids are.
"$host" --quiet --model "$model" --plugins-dir "$folder" --prompt 'the [MASK] board' >"$scratch/text"
"$host" --quiet --model "$model" --plugins-dir "$folder" --input-ids 0,38,4,47,2 >"$scratch/ids"
[ "$(wc -l <"$scratch/ids")" = 5 ]
cmp "$scratch/text" "$scratch/ids"
"$host" --quiet --model "$folder/goldens/modernbert_classifier_sharded" --plugins-dir "$folder" --prompt 'a board' \
    --text-pair 'the saw' >"$scratch/labels"
[ "$(cut -f 2 "$scratch/labels" | sort | tr '\n' ' ')" = 'bad good middling ' ]
sentence=$folder/goldens/modernbert_sentence
"$host" --quiet --model "$sentence" --plugins-dir "$folder" --embed --prompt 'who saws?' >"$scratch/text"
"$host" --quiet --model "$sentence" --plugins-dir "$folder" --embed --input-ids \
    "$(sed -n 's/.*"text_ids": \[\[[^]]*\], \[\([^]]*\)\].*/\1/p' "$sentence/golden.json" | tr -d ' ')" >"$scratch/ids"
cmp "$scratch/text" "$scratch/ids"

"$host" verify --model "$model" --plugins-dir "$folder" --attn-implementation eager --prompt 'the [MASK]' >"$scratch/out"
grep -q 'logits: largest difference' "$scratch/out"
"$host" save --quiet --model "$model" --plugins-dir "$folder" --output "$scratch/saved"
cmp "$model/model.safetensors" "$scratch/saved/model.safetensors"

# Another plugin takes its projections, four a layer.
"$host" plan --model "$model" --plugins-dir "$folder" --plugins-dir "$int8_linear" --plugins modernbert,int8_linear \
    >"$scratch/plan"
grep -q 'Linear -> Int8Linear by int8_linear (.*) in 16 modules' "$scratch/plan"

# A query of a layer with a window sees 3 tokens before it and 3 behind; in the first and fourth layer it sees all.
"$host" --quiet --model "$model" --plugins-dir "$folder" --input-ids 0,5,6,7,8,9,10,2 \
    --logits "$scratch/logits.safetensors" --hidden-states "$scratch/hidden.safetensors" \
    --attentions "$scratch/attentions.safetensors"
grep -q 'hidden_states.layer.3' "$scratch/hidden.safetensors"
header=$(od -An -t u8 -N 8 "$scratch/attentions.safetensors")
seen() { # LAYER: how many weights of the first head are not 0
    start=$(tail -c +9 "$scratch/attentions.safetensors" | head -c $((header)) |
        sed "s/.*\"attentions\.$1\":{[^}]*\"data_offsets\":\[\([0-9]*\),.*/\1/")
    od -An -v -t f4 -w4 -j $((header + 8 + start)) -N 256 "$scratch/attentions.safetensors" | awk '$1 != 0' | wc -l
}
[ "$(seen 0) $(seen 1) $(seen 2) $(seen 3)" = '64 44 44 64' ]

# What config.json cannot say.
refused() {
    cp -r "$model/." "$scratch/model"
    sed "$1" "$model/config.json" >"$scratch/model/config.json"
    if "$host" plan --model "$scratch/model" --plugins-dir "$folder" 2>"$scratch/error"; then exit 1; fi
    grep -q "config.json: $2" "$scratch/error" || { cat "$scratch/error" && exit 1; }
}
refused 's/"local_attention": 6/"local_attention": 1/' 'local_attention: expected 2 to '
refused 's/"global_attn_every_n_layers": 3/"global_attn_every_n_layers": 0/' 'global_attn_every_n_layers: expected 1 to '
refused 's/"hidden_size"/"layer_types": ["full_attention"], &/' \
    'layer_types: expected num_hidden_layers (4) entries, got 1'
refused 's/"num_attention_heads": 2/"num_attention_heads": 5/' 'num_attention_heads: 5 does not divide hidden_size (12)'
refused 's/"hidden_activation": "gelu"/"hidden_activation": "snake"/' 'hidden_activation: unknown activation "snake"'
refused 's/"classifier_activation": "gelu"/"classifier_activation": null/' \
    'classifier_activation: expected a string, got null'
refused 's/"norm_eps": 1e-05/"norm_eps": -1/' 'norm_eps: expected at least 0, got -1'
refused 's/"local_rope_theta": 10000.0/"local_rope_theta": 0/' 'local_rope_theta: expected more than 0, got 0'
model=$folder/goldens/modernbert_classifier_sharded
refused 's/"classifier_pooling": "cls"/"classifier_pooling": "max"/' \
    'classifier_pooling: expected "cls" or "mean", got "max"'
