#!/bin/sh
# Encoders on the command line. Reports in TAP.
# usage: encoders.sh HOST GOLDENS BROAD NARROW QUANTIZER     plugins with the patterns Bert and .*SelfAttention$, and one
# that quantizes
set -u
. "$(dirname "$0")/../tap.sh"
host=$(realpath "$1")
cases=$(realpath "$2")/encoders
readers=$(realpath "$2")/readers
quantizer=$(realpath "$5")
llama=$(realpath "$2")/plain/llama
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/broad" "$scratch/narrow"
cp "$3" "$scratch/broad/" && cp "$4" "$scratch/narrow/" && cd "$scratch" || exit 1

# Runs the program on stdin: out, err and $status. One that hangs fails.
host() {
    status=0
    timeout 60 "$host" "$@" >out 2>err || status=$?
}

# Predictions for masks
host --quiet --model "$cases/bert_mlm" --prompt 'the [MASK] cuts a [MASK].' </dev/null
check 'predictions: exit status' 0 "$status"
check 'predictions: five a mask, an empty line between them' '5 1 5' \
    "$(awk 'NF == 0 { printf "%d 1 ", n; n = 0; next } { n++ } END { print n }' out)"
check 'predictions: a probability and a token' 10 "$(grep -c "^[0-9.e-]*$(printf '\t')[^ ]*$" out)"
check 'predictions: best first' "$(head -n 5 out)" "$(head -n 5 out | sort -gr)"
mv out two
host --quiet --model "$cases/bert_mlm" --prompt 'the [MASK] cuts a [MASK].' --prompt 'a [MASK].' --top-k 1 </dev/null
check 'predictions: top-k, texts in order' "$(sed -n '1p;6,7p' two)" "$(head -n 3 out)"
host --quiet --model "$cases/bert_mlm" --prompt 'a [MASK].' --json --top-k 2 </dev/null
check 'predictions, JSON: one line a text' 1 "$(wc -l <out)"
has 'predictions, JSON: the pipeline'"'"'s keys' '"token_str": ' out
printf 'the [MASK] cuts a [MASK].\na [MASK].\n' >lines
host --quiet --model "$cases/bert_mlm" --lines --top-k 1 <lines
check 'predictions: lines of stdin' "$(sed -n '1p;6,7p' two)" "$(head -n 3 out)"
host --quiet --model "$cases/bert_mlm" --prompt 'the board' </dev/null
check 'predictions: nothing to fill in' 2 "$status"
has 'predictions: says so' 'text 1 has no [MASK]' err
host --quiet --model "$cases/bert_mlm" --input-ids 2,5,4,3 --output-ids --top-k 1 </dev/null
check 'predictions: ids' 1 "$(grep -c "$(printf '\t')[0-9]*$" out)"
host --quiet --model "$cases/bert_mlm" --input-ids 2,5,12,4,6,7,3 --input-ids 2,3 --logits logits.st </dev/null
check 'logits: of ids alone, nothing printed' '0:' "$status:$(cat out)"
has 'logits: each text' '"logits.0":{"dtype":"F32","shape":[7,86]' logits.st
has 'logits: and the other' '"logits.1":{"dtype":"F32","shape":[2,86]' logits.st

# Labels
host --quiet --model "$cases/bert_classifier" --prompt 'the table is good' </dev/null
check 'labels: exit status' 0 "$status"
check 'labels: every one' 'bad good middling' "$(cut -f 2 out | sort | tr '\n' ' ' | sed 's/ $//')"
check 'labels: best first' "$(cat out)" "$(sort -gr out)"
check 'labels: probabilities add up' 1 "$(cut -f 1 out | awk '{ sum += $1 } END { print (sum > 0.9999 && sum < 1.0001) }')"
host --quiet --model "$cases/bert_classifier" --prompt 'the table' --text-pair 'is good' --json </dev/null
check 'labels: a pair as JSON' 1 "$(wc -l <out)"
mv out pair
printf 'the table\tis good\n' >lines
host --quiet --model "$cases/bert_classifier" --pairs --json <lines
check 'labels: the pair from stdin' "$(cat pair)" "$(cat out)"
host --quiet --model "$cases/bert_classifier" --input-ids 2,5,7,3,30,26,3 --token-type-ids 0,0,0,0,1,1,1 --json \
    --logits logits.st </dev/null
has 'labels: logits of a text' '"logits":{"dtype":"F32","shape":[1,3]' logits.st
# If num_labels and id2label disagree, num_labels counts, and names are LABEL_N.
mkdir renamed && ln -s "$cases/bert_classifier/"* renamed/ && rm renamed/config.json
awk '/"id2label"/ { print "  \"num_labels\": 3,"; print; getline; sub(/,$/, ""); print; while (!/}/) getline }
    { print }' "$cases/bert_classifier/config.json" >renamed/config.json
host --quiet --model renamed --prompt 'the table is good' </dev/null
check 'labels: num_labels says another number than id2label' 'LABEL_0 LABEL_1 LABEL_2' \
    "$(cut -f 2 out | sort | tr '\n' ' ' | sed 's/ $//')"
echo 'no tab' >lines
host --quiet --model "$cases/bert_classifier" --pairs <lines
check 'labels: no pair' 5 "$status"
has 'labels: names the line' 'standard input: line 1' err

# Labels of tokens: what the reference's model gives for the same text
host --quiet --dtype float32 --model "$cases/bert_tokens" --prompt 'the joiner saws a board.' </dev/null
check 'tokens: exit status' 0 "$status"
check 'tokens: a label and a word each' 'good the|good joiner|good saw|good ##s|good a|good board|good .|' \
    "$(awk '{ printf "%s %s|", $2, $3 }' out)"
check 'tokens: probabilities' '0.604 0.709 0.618 0.746 0.575 0.589 0.632 ' "$(awk '{ printf "%.3f ", $1 }' out)"
host --quiet --model "$cases/bert_tokens" --prompt 'the joiner saws a board.' --json --top-k 2 </dev/null
check 'tokens, JSON: one line a text' 1 "$(wc -l <out)"
has 'tokens, JSON: the pipeline'"'"'s keys' '"index": 4, "word": "##s"' out

# Answers, likewise
question='who saws?'
context='the old joiner saws a board, and the carpenter is good.'
host --quiet --dtype float32 --model "$cases/bert_answers_causal" --prompt "$question" --text-pair "$context" \
    --top-k 3 </dev/null
check 'answers: exit status' 0 "$status"
check 'answers: the best three' 's a board, and the|s a board, and the carpenter is good|board, and the|' \
    "$(cut -f 2 out | tr '\n' '|')"
check 'answers: probabilities' '0.0194 0.0178 0.0173 ' "$(awk '{ printf "%.4f ", $1 }' out)"
mv out given
printf '%s\t%s\n' "$question" "$context" >lines
host --quiet --dtype float32 --model "$cases/bert_answers_causal" --pairs --top-k 3 <lines
check 'answers: the pair from stdin' "$(cat given)" "$(cat out)"
host --quiet --model "$cases/bert_answers_causal" --prompt "$question" --text-pair "$context" --json </dev/null
has 'answers, JSON: where it stands' '"start_index": 10, "end_index": 15' out
host --quiet --model "$cases/bert_answers_causal" --input-ids 2,5,6,7,3,8,9,10,3 --token-type-ids 0,0,0,0,0,1,1,1,0 \
    --output-ids --top-k 2 </dev/null
check 'answers: ids of the second text' 2 "$(cut -f 2 out | grep -cE '^(8|8,9|8,9,10|9|9,10|10)$')"
host --quiet --model "$cases/bert_answers_causal" --prompt "$context" </dev/null
check 'answers: no question' 2 "$status"
has 'answers: says so' 'text 1: expected a question and a text that has the answer' err

# Vectors
host --quiet --model "$cases/bert_sentence" --embed --prompt 'The joiner planes a board.' --prompt 'who saws?' </dev/null
check 'vectors: a JSON array a text' 2 "$(grep -c '^\[[0-9.,e-]*\]$' out)"
check 'vectors: cls and mean' 24 "$(head -n 1 out | tr ',' '\n' | wc -l)"
check 'vectors: of length 1' 1 "$(head -n 1 out | tr -d '[]' | tr ',' '\n' |
    awk '{ sum += $1 * $1 } END { print (sum > 0.99999 && sum < 1.00001) }')"
mv out given
printf 'The joiner planes a board.\nwho saws?' >lines
host --quiet --model "$cases/bert_sentence" --embed <lines
check 'vectors: lines of stdin' "$(cat given)" "$(cat out)"
host save --quiet --model "$cases/bert_sentence" --output vectors </dev/null
host --quiet --model vectors --embed <lines
check 'vectors: of what was saved' "$(cat given)" "$(cat out)"
cp -rL "$cases/bert_sentence" modules && chmod -R u+w modules && mkdir modules/9_Dense modules/other
echo weights >modules/9_Dense/model.safetensors && echo other >modules/other/config.json
sed 's/^\[/[ { "idx": 9, "path": "9_Dense\/" },/' "$cases/bert_sentence/modules.json" >modules/modules.json
host save --model modules --output whole </dev/null
check 'vectors: modules are saved with their weights' weights "$(cat whole/9_Dense/model.safetensors)"
check 'vectors: modules are saved, each' "$(cat modules/1_Pooling/config.json)" "$(cat whole/1_Pooling/config.json)"
check 'vectors: other folders are not' 1 "$(grep -c 'not copied:.*other' err)"
i=0
while [ "$i" -lt 1500 ]; do
    echo 'The joiner planes a board.'
    echo 'who saws?'
    i=$((i + 1))
done >many
host --quiet --dtype float32 --model "$cases/bert_sentence" --embed <many
check 'vectors: many lines, in order' 3000 "$(wc -l <out)"
sort -u out >many.out
check 'vectors: of all batches' 2 "$(wc -l <many.out)"
echo 'Oak and pine are rough; the carpenter cuts the old table leg with a saw.' >lines
host --model "$cases/bert_sentence" --embed --report none <lines
check 'vectors: a long text is cut' 0 "$status"
has 'vectors: that is said' '1 texts were longer than 10 tokens' err
host --quiet --model "$cases/bert_sentence" --embed </dev/null
check 'vectors: of no lines' '0:' "$status:$(cat out)"
host --quiet --model "$cases/bert_sentence" --prompt 'who' </dev/null
check 'no head: exit status' 2 "$status"
has 'no head: what to do' '--embed' err
host --quiet --model "$llama" --embed --input-ids 1,2 </dev/null
check 'a decoder without files that say how has no vectors' 4 "$status"
has 'which files these are' 'modules.json: missing: expected the file of sentence-transformers' err

# The other commands
host plan --json --model "$cases/bert_mlm" </dev/null
check 'plan: exit status' 0 "$status"
has 'plan: the older name of a weight' 'LayerNorm.gamma' out
host plan --model "$cases/bert_mlm" </dev/null
has 'plan: who renames it' 'LayerNorm.weight: renamed, by a list for the whole model, ' out
host save --quiet --model "$cases/bert_mlm" --output saved </dev/null
check 'save: exit status' 0 "$status"
has 'save: under the names of the file' 'LayerNorm.gamma' saved/model.safetensors
host bench --model "$cases/bert_mlm" </dev/null
check 'bench: refused' 2 "$status"
has 'bench: says why' 'does not generate text, which is what bench measures' err
host inspect BertSelfAttention --model "$cases/bert_mlm" </dev/null
has 'inspect: a class' 'interface: graft.self_attention/1' out
host verify --model "$cases/bert_mlm" --plugins-dir narrow --prompt 'the [MASK]' --json </dev/null
check 'verify: exit status' 0 "$status"
check 'verify: every difference is 0' '' "$(grep '"largest_difference"' out | grep -v ': 0.0')"
check 'verify: every module is compared' '' "$(grep -F '"compared": false' out)"
host verify --model "$cases/bert_sentence" --plugins-dir narrow --prompt 'the' </dev/null
has 'verify: hidden states where there are no logits' 'hidden_states: largest difference 0' out

# RoBERTa: of 26 rows for positions the first two are padding's and nobody's.
host --quiet --model "$cases/roberta_mlm" --prompt 'the <mask> board' </dev/null
mv out text
host --quiet --model "$cases/roberta_mlm" --input-ids 0,38,4,47,2 </dev/null
check 'roberta: a text is what its ids are' "$(cat text)" "$(cat out)"
host --quiet --model "$cases/roberta_mlm" --input-ids "$(seq -s , 5 28)" --logits logits.st </dev/null
check 'roberta: as many tokens as positions' 0 "$status"
host --quiet --model "$cases/roberta_mlm" --input-ids "$(seq -s , 5 29)" --logits logits.st </dev/null
check 'roberta: one more' 2 "$status"
has 'roberta: how many there may be' '25 tokens, but the model reads at most 24' err
host verify --model "$cases/roberta_mlm" --attn-implementation eager --prompt 'the <mask>' </dev/null
has 'roberta: another attention' 'logits: largest difference' out

# ModernBERT: a query of a layer with a window sees 3 tokens before it and 3 after; in the first and fourth layer all.
host --quiet --model "$cases/modernbert_mlm" --input-ids 0,5,6,7,8,9,10,2 --logits logits.st --hidden-states hidden.st \
    --attentions attentions.st </dev/null
has 'modernbert: hidden states of its layers' 'hidden_states.layer.3' hidden.st
header=$(od -An -t u8 -N 8 attentions.st)
seen() { # seen LAYER: how many weights of the first head are not 0
    start=$(tail -c +9 attentions.st | head -c $((header)) |
        sed "s/.*\"attentions\.$1\":{[^}]*\"data_offsets\":\[\([0-9]*\),.*/\1/")
    od -An -v -t f4 -w4 -j $((header + 8 + start)) -N 256 attentions.st | awk '$1 != 0' | wc -l
}
check 'modernbert: what a query sees' '64 44 44 64' "$(seen 0) $(seen 1) $(seen 2) $(seen 3)"

# Weights of 8 bits: probabilities are near those of the weights that they are made of.
for type in albert deberta-v2 distilbert electra mpnet; do
    host --quiet --dtype float32 --model "$readers/$type-sequences" --input-ids 5,17,33,9 </dev/null
    sort -k 2 out >exact
    host --quiet --dtype float32 --plugins-dir "$quantizer" --quantize int8 --model "$readers/$type-sequences" \
        --input-ids 5,17,33,9 </dev/null
    sort -k 2 out >coded
    check "$type, int8: other weights" different "$(cmp -s exact coded && echo same || echo different)"
    check "$type, int8: three labels, near" 3 \
        "$(paste exact coded | awk '$2 == $4 && $1 - $3 < 0.02 && $3 - $1 < 0.02' | wc -l)"
done

# The pattern that hits other classes, too
host --model "$cases/bert_sentence" --plugins-dir broad --embed --prompt 'who' </dev/null
check 'broad pattern: refused' 3 "$status"
has 'broad pattern: another class that it hits' 'also matches BertModel (graft.base_model/1)' err
has 'broad pattern: the class that fits' 'classes that fit: BertSelfAttention' err
# shellcheck disable=SC2016 # a pattern
has 'broad pattern: one that works' 'use the pattern "^(BertSelfAttention)$"' err
host --quiet --model "$cases/bert_sentence" --embed --prompt 'who saws?' </dev/null
mv out original
host --model "$cases/bert_sentence" --plugins-dir broad --skip-bad-plugins --embed --prompt 'who saws?' </dev/null
check 'broad pattern, skipped: the original vector' "0:$(cat original)" "$status:$(cat out)"
has 'broad pattern, skipped: a note' 'note       broad/broad_attention.so: skipped: pattern "Bert" for' err
check 'broad pattern, skipped: nothing is replaced' 1 "$(grep -c 'replaced   nothing' err)"
check 'broad pattern, skipped: one note' 1 "$(grep -c 'note ' err)"
host --model "$cases/bert_sentence" --plugins-dir narrow --embed --prompt 'who saws?' </dev/null
check 'narrow pattern: exit status' 0 "$status"
check 'narrow pattern: the same vector' "$(cat original)" "$(cat out)"
has 'narrow pattern: reported' 'BertSelfAttention' err
echo "1..$number"
exit "$failed"
