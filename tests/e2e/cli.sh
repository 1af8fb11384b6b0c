#!/bin/sh
# What scripts and people rely on when all goes well: what is printed, where, and what options change. Reports in TAP.
# usage: cli.sh HOST ROOT PLUGINS...     PLUGINS are those that ship, and the example quantized_linear
set -u
. "$(dirname "$0")/../tap.sh"
host=$(realpath "$1")
root=$(realpath "$2")
shift 2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/plugins" && cp "$@" "$scratch/plugins/" && cd "$scratch" || exit 1
demo=$root/demo/tiny-qwen2-moe
llama=$root/tests/goldens/plain/llama

# Runs the program: out, err and $status. One that hangs fails.
host() {
    status=0
    timeout 120 "$host" "$@" >out 2>err </dev/null || status=$?
}

# An array of numbers, "a,b,c", from a JSON file.
numbers() { # numbers FILE KEY
    tr -d ' \n' <"$1" | sed "s/.*\"$2\":\[\([0-9,]*\)\].*/\1/"
}

# The length of a safetensors file's header.
header_length() {
    echo $(($(od -An -tu8 -N8 "$1")))
}

host --version
check 'version: exit status' 0 "$status"
has 'version: names program and ABI' 'plugin ABI' out
check 'version: nothing on stderr' '' "$(cat err)"
host --help
check 'help: exit status' 0 "$status"
for word in run plan tokenize list --model --plugins-dir --prompt --input-ids --max-new-tokens --dtype; do
    has "help: names $word" "$word" out
done
host pack --help
has 'help of a command: its options' '  --key FILE ' out
check 'help of a command: not those of others' '' "$(grep -e '--model' -e 'save:' -e 'family new:' out)"
mv out help
host help pack
check 'help of a command, asked for the other way' '' "$(diff help out)"
host help
has 'help as a word' '  --model DIR ' out

# run
host --model "$llama" --plugins-dir plugins
check 'run without prompt: exit status' 0 "$status"
check 'run without prompt: prints nothing' '' "$(cat out)"
has 'report: says what was replaced by whom' 'LlamaAttention' err
has 'report: names the plugin' 'fused_qkv' err
has 'report: counts the plugins that are not used' ' plugins not used; --report full names them' err
check 'report: does not name them' '' "$(grep -F sequential_experts err)"
counted=$(sed -n 's/^  note  *\([0-9]*\) plugins not used;.*/\1/p' err)
host --model "$llama" --plugins-dir plugins --report full
has 'report full: names the plugin' 'fused_qkv' err
has 'report full: says why plugins are not used' 'plugin sequential_experts has no effect on this model' err
check 'report full: names as many as were counted' "$counted" "$(sed -nE 's/^  note +plugins? //p; s/^  note +([^ ]*\.so: [^ ]* is not used, because)/\1/p' err |
    sed -E 's/ (have|has|are|is) .*//; s/,| and /\n/g' | grep -c .)"
host plan --model "$llama" --plugins-dir plugins
has 'plan: names them' 'plugin sequential_experts has no effect on this model' out
host --model "$llama" --plugins-dir plugins --plugins sequential_experts,lora,gptq
has 'report: says why plugins that were named are not used' 'plugin sequential_experts has no effect on this model' err
mkdir one && cp plugins/sequential_experts.so one/
host --model "$llama" --plugins-dir one
has 'report: a single note is as short as a count' 'plugin sequential_experts has no effect on this model' err
host run --model="$llama" --plugins-dir=plugins/ --report=json
has 'report json: names the class' '"original_class": "LlamaAttention"' err
host --model "$llama/" --plugins-dir plugins --quiet
check 'quiet: no report' '' "$(cat err)"
host --model "$llama" --plugins-dir plugins --report none
check 'report none' '' "$(cat err)"
host --model "$llama" --plugins-dir plugins --no-plugins
check 'no-plugins: nothing is replaced' '' "$(grep -F fused_qkv err)"
host --model "$demo" --plugins-dir plugins --plugins sequential_experts
has 'plugins: the one that is listed' 'sequential_experts' err
check 'plugins: not the other' '' "$(grep -F 'by fused_qkv' err)"
mkfifo plugins/pipe.so && mkdir plugins/folder.so
host --model "$llama" --plugins-dir plugins
check 'what is no file is refused' 3 "$status"
has 'what is no file is refused: by its name' 'plugins/folder.so: expected a regular file, found a directory' err
rm -r plugins/pipe.so plugins/folder.so
echo junk >plugins/junk.so
host --model "$llama" --plugins-dir plugins --skip-bad-plugins
check 'skip-bad-plugins: exit status' 0 "$status"
has 'skip-bad-plugins: a note' 'plugins/junk.so' err
has 'skip-bad-plugins: the others work' 'fused_qkv' err
rm plugins/junk.so

prompt=$(numbers "$llama/golden.json" input_ids)
wanted=$(numbers "$llama/golden.json" greedy_ids | cut -d , -f 1-4)
for dtype in float32 auto bfloat16; do
    host --quiet --model "$llama" --kv-cache-dtype "$dtype" --input-ids "$prompt" --max-new-tokens 4 --output-ids
    check "kv-cache-dtype $dtype: ids" "$wanted" "$(cat out)"
    host --quiet --model "$llama" --dtype "$dtype" --input-ids "$prompt" --max-new-tokens 4 --output-ids
    check "dtype $dtype: ids" "$wanted" "$(cat out)"
done
host --quiet --model "$llama" --input-ids "$prompt" --max-new-tokens 0 --output-ids
check 'no new tokens: an empty line' '0:' "$status:$(cat out)"
host --quiet --model "$llama" --input-ids 5,6,7 --max-new-tokens 3 --output-ids
first=$(cat out)
host --quiet --model "$llama" --input-ids "$prompt" --input-ids 5,6,7 --input-ids "$prompt" --max-new-tokens 3 \
    --output-ids --logits batch.safetensors
long=$(printf %s "$wanted" | cut -d , -f 1-3)
check 'batch: a line a sequence' "$(printf '%s\n' "$long" "$first" "$long")" "$(cat out)"
has 'batch: a tensor of logits a sequence' '"logits.2":{"dtype":"F32","shape":[24,583]' batch.safetensors
has 'batch: of each length' '"logits.1":{"dtype":"F32","shape":[3,583]' batch.safetensors

for threads in 1 2 3; do
    host --quiet --model "$demo" --plugins-dir plugins --dtype float32 --threads "$threads" --input-ids 523,525,260,524 \
        --max-new-tokens 1 --output-ids --logits "threads-$threads.safetensors"
done
has 'logits: shape and type' '"logits":{"dtype":"F32","shape":[4,1024]' threads-1.safetensors
cmp -s threads-1.safetensors threads-2.safetensors && cmp -s threads-1.safetensors threads-3.safetensors
check 'logits: the same with any number of threads' 0 $?
host --quiet --model "$demo" --dtype float32 --input-ids 523,525,260,524 --max-new-tokens 1 --output-ids \
    --logits original.safetensors
cmp -s original.safetensors threads-1.safetensors
check 'logits: the same with and without the plugins' 0 $?
check 'logits: the file has what its header says' $((8 + $(header_length original.safetensors) + 4 * 1024 * 4)) \
    "$(wc -c <original.safetensors)"

# Text. The reference's greedy continuations, without the end of text.
story=$(sed -n 's/^ *"text": "\(.*\)",$/\1/p' "$demo/expected.json" | sed 's/\\"/"/g' | head -n 1)
host --quiet --model "$demo" --plugins-dir plugins --dtype float32 --prompt 'Once upon a time' --max-new-tokens 100
check 'demo: the story with both plugins' "$story" "$(cat out)"
check 'demo: nothing else' '' "$(cat err)"
printf 'Once upon a time' >prompt.txt
host --quiet --model "$demo" --dtype float32 --prompt-file prompt.txt --max-new-tokens 100 --temperature 0
check 'demo: the story from a file, without plugins' "$story" "$(cat out)"
host --quiet --model "$demo" --prompt 'The opposite of hot is' --prompt 'Three apples and two apples make'
check 'demo: two short answers' "$(printf ' cold.\n five apples.')" "$(cat out)"

# Weights that do not lie on a boundary of their type are copied, and that is all.
mkdir shifted
cp "$llama"/*.json shifted/
length=$(header_length "$llama/model.safetensors")
{
    # shellcheck disable=SC2059 # the format is the bytes
    printf "$(printf '\\%03o\\%03o' $(((length + 1) % 256)) $(((length + 1) / 256)))\\0\\0\\0\\0\\0\\0"
    tail -c +9 "$llama/model.safetensors" | head -c "$length"
    printf ' '
    tail -c "+$((9 + length))" "$llama/model.safetensors"
} >shifted/model.safetensors
host --model shifted --dtype float32 --input-ids "$prompt" --max-new-tokens 4 --output-ids
check 'misaligned weights: ids' "$wanted" "$(cat out)"
check 'misaligned weights: they are copied' '' "$(grep -F ' 0 bytes copied' err)"

# plan
host plan --model "$llama" --plugins-dir plugins --json
check 'plan: exit status' 0 "$status"
for key in model_type architecture modules parameters missing unexpected mismatched copied_bytes mapped_bytes plugins \
    notes; do
    has "plan: has $key" "\"$key\":" out
done
has 'plan: original class' '"original_class": "LlamaAttention"' out
has 'plan: sources of a joined parameter' 'model.layers.1.self_attn.q_proj.weight' out
host plan --model "$llama" --plugins-dir plugins
has 'plan: as text' 'LlamaAttention' out

# list
host list --plugins-dir plugins
check 'list: a line a plugin' \
    "$({ basename -s .so plugins/*.so && basename -s .family.json plugins/*.family.json; } | tr '\n' ' ' | sed 's/ $//')" "$(sed 's/ .*//' out | tr '\n' ' ' | sed 's/ $//')"
host list --classes
has 'list: classes' 'Qwen2MoeAttention graft.self_attention/1' out
host list --families
has 'list: families' 'llama: LlamaForCausalLM, LlamaModel, LlamaForSequenceClassification' out
host list --families --json
has 'list: families as JSON' '"interface": "graft.sequence_classifier/1"' out
host list --families --classes
has 'list: one thing at a time' 'use only one of --classes, --families and --installed' err
host list --plugins-dir plugins --json
has 'list: as JSON' '"fused_qkv"' out

# What a custom operation makes of a joined tensor is made of all that was joined.
host plan --model "$llama" --plugins-dir plugins --plugins quantized_linear,fused_qkv
has 'plan: tensors after a custom operation' \
    '6 tensors -> 2 parameters model.layers.*.self_attn.qkv_proj.codes: example_int8_rows, computed' out
host plan --model "$llama" --plugins-dir plugins --plugins quantized_linear,fused_qkv --json
tr -d ' \n' <out >flat
layer=model.layers.0.self_attn
has 'plan JSON: tensors after a custom operation' \
    "\"sources\":[\"$layer.q_proj.weight\",\"$layer.k_proj.weight\",\"$layer.v_proj.weight\"]" flat

# Options of plugins
int8='--plugins-dir plugins --plugins quantized_linear --plugin-option quantized_linear.bits=4'
# shellcheck disable=SC2086 # a list of words
{
    host list $int8
    has 'list: options' 'options bits=4;' out
    host inspect plugins/quantized_linear.so --plugin-option quantized_linear.bits=4 --json
    tr -d ' \n' <out >flat
    has 'inspect: options' '"kind":"int"' flat
    has 'inspect: options, chosen' '"default":"8","choices":["4","8"],"value":"4"' flat
    host plan --model "$llama" $int8 --plugin-option quantized_linear.bit=4
    check 'an option that is unknown' 2 "$status"
    has 'an option that is unknown: message' 'plugin quantized_linear has no option "bit"; it has: bits' err
    host plan --model "$llama" $int8 --json
    tr -d ' \n' <out >flat
    has 'plan JSON: options' '"options":{"bits":"4"}' flat
    host plan --model "$llama" $int8 --no-plugins
    check 'options without plugins' 0 "$status"
}

# tokenize
tokenize() { # tokenize TEXT OPTIONS
    text=$1
    shift
    printf '%b' "$text" | timeout 60 "$host" tokenize --model "$demo" "$@" 2>&1
}
check 'tokenize: ids' 523,525,260,524 "$(tokenize 'Once upon a time\n')"
check 'tokenize: a line a text' "$(printf '523,525,260,524\n\n523,525,260,524')" \
    "$(tokenize 'Once upon a time\n\nOnce upon a time')"
check 'tokenize: JSON' '[523,525,260,524]' "$(tokenize '"Once upon a time"\n' --json | tr -d ' ')"
check 'tokenize: decode' 'Once upon a time' "$(tokenize '523,525,260,524\n' --decode)"
check 'tokenize: decode JSON' '"Once upon a time"' "$(tokenize '[523, 525, 260, 524]\n' --decode --json)"
made=$root/tests/data/tokenizer/directories
sentence='The joiner planes a board of oak.'
check 'tokenize: vocab.txt instead of tokenizer.json' 2,176,28,119,107,178,113,200,19,184,199,217,135,9,3 \
    "$(echo "$sentence" | "$host" tokenize --model "$made/bert" 2>&1)"
check 'tokenize: a SentencePiece model' 1,334,299,316,419,324,298,267,297,278,273,277,340,277,302,323 \
    "$(echo "$sentence" | "$host" tokenize --model "$made/mistral" 2>&1)"
check 'tokenize: notes on stderr' 23,15,26 "$(echo 'the hat' | "$host" tokenize --model "$made/added_decoder" 2>err)"
check 'tokenize: a note' 1 "$(grep -c '^note: tokenizer_config.json: the token "hat" gets the id 26, not 3' err)"
check 'tokenize: no note with --quiet' 23,15,26 \
    "$(echo 'the hat' | "$host" tokenize --quiet --model "$made/added_decoder" 2>&1)"
refuses() { # refuses LINE OPTIONS
    line=$1
    shift
    printf '%s\n' "$line" | timeout 60 "$host" tokenize --model "$demo" "$@" >out 2>err
    check "tokenize $*: $line: exit status" 5 $?
    check "tokenize $*: $line: one line" 1 "$(wc -l <err)"
}
for line in '"not closed' 7 '{}' '"lone \ud800"'; do
    refuses "$line" --json
done
for line in 1,x -1 99999999999; do
    refuses "$line" --decode
done
for line in '["1"]' '[1.5]' '[1' '"1"'; do
    refuses "$line" --decode --json
done

# Output that cannot be written is an error, not silence.
if [ -c /dev/full ]; then
    for arguments in --help --version "plan --model $llama" "list --classes" \
        "--quiet --model $llama --input-ids 1 --max-new-tokens 1 --output-ids"; do
        # shellcheck disable=SC2086 # words
        timeout 60 "$host" $arguments >/dev/full 2>err
        check "full disk: $arguments" 5 $?
        check "full disk: $arguments: one line" 1 "$(wc -l <err)"
    done
fi
timeout 60 "$host" --quiet --model "$llama" --input-ids 1 --max-new-tokens 1 --output-ids --logits l.safetensors >&- 2>err
check 'closed stdout: exit status' 5 $?

check 'the goldens and the demo are as before' '' "$(find "$root/demo" "$llama" -newer plugins -type f)"
echo "1..$number"
exit "$failed"
