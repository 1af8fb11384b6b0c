#!/bin/sh
# The family file as its users meet it: what is listed, planned and said of a model that the host alone does not know.
# usage: test.sh HOST FOLDER QUANTIZED_LINEAR     the folder of the file, and of goldens/; the example
set -eu
host=$1 folder=$2 quantized_linear=$3
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
model=$folder/goldens/gpt2

"$host" list --families --plugins-dir "$folder" | grep -q '^gpt2: GPT2LMHeadModel, GPT2Model, GPT2ForSequenceClassification, GPT2ForTokenClassification, GPT2ForQuestionAnswering; by plugin gpt2 ('
"$host" plan --model "$model" --plugins-dir "$folder" --strict >"$scratch/plan"
for name in attn.c_attn attn.c_proj mlp.c_fc mlp.c_proj; do # square or not
    grep -q "converted  2 tensors -> 2 parameters transformer.h.*.$name.weight: Transpose(dim0=0, dim1=1), copied" \
        "$scratch/plan"
done
if grep 'unexpected\|problem\|note' "$scratch/plan"; then exit 1; fi

# Two prompts in a batch are two prompts.
run() { # how many tokens, options
    n=$1
    shift
    "$host" --quiet --model "$model" --plugins-dir "$folder" --max-new-tokens "$n" --output-ids "$@"
}
run 6 --input-ids 5,6,7,8,9 >"$scratch/alone"
run 6 --input-ids 11 >>"$scratch/alone"
run 6 --input-ids 5,6,7,8,9 --input-ids 11 >"$scratch/together"
cmp "$scratch/alone" "$scratch/together"

# What replaces a Linear gets the transposed weight, also of the square c_proj: rounded to 8 bits it says the same.
echo '{"classes": {"Linear": {"class": "ExampleInt8Linear", "module_path": "[.]c_(attn|proj|fc)$"}}}' >"$scratch/int8.json"
int8="--plugins-dir $(dirname "$quantized_linear") --patch $scratch/int8.json"
# shellcheck disable=SC2086 # words
{
    run 6 $int8 --input-ids 5,6,7,8,9 --input-ids 11 >"$scratch/int8"
    cmp "$scratch/together" "$scratch/int8"
    "$host" plan --model "$model" --plugins-dir "$folder" $int8 --strict >"$scratch/plan"
    grep -q 'replaced   Linear -> ExampleInt8Linear .* in 8 modules' "$scratch/plan"

    # The original is one of this family, too.
    "$host" verify --model "$model" --plugins-dir "$folder" $int8 --input-ids 5,6,7,8,9 --tolerance 0.5 >"$scratch/verify"
    grep -q '^transformer.h.1.attn.c_proj: Linear -> ExampleInt8Linear' "$scratch/verify"
    grep -q '^greedy ids: the same' "$scratch/verify"
    "$host" bench --model "$model" --plugins-dir "$folder" $int8 --modules --prompt-tokens 4 --new-tokens 2 --repeat 1 \
        >"$scratch/bench"
    grep -q ExampleInt8Linear "$scratch/bench"
}

# Positions end.
if run 40 --input-ids 5,6,7,8,9 >"$scratch/out" 2>&1; then exit 1; fi
grep -q '33 tokens, but the model has positions for 32' "$scratch/out"
"$host" bench --model "$model" --plugins-dir "$folder" --new-tokens 4 --repeat 1 --json >"$scratch/bench"
grep -q '"prompt_tokens": 28,' "$scratch/bench"
for sizes in '--prompt-tokens 29 --new-tokens 4' '--new-tokens 32'; do
    # shellcheck disable=SC2086 # words
    if "$host" bench --model "$model" --plugins-dir "$folder" $sizes >"$scratch/out" 2>&1; then exit 1; fi
    grep -q 'prompt-tokens and --new-tokens: .* do not fit together in .* 32 positions' "$scratch/out"
done

# Errors call fields what config.json calls them.
refused() { # an edit of config.json, and what is said of it
    rm -rf "$scratch/model"
    cp -r "$model" "$scratch/model"
    sed "$1" "$model/config.json" >"$scratch/model/config.json"
    if "$host" plan --model "$scratch/model" --plugins-dir "$folder" >"$scratch/out" 2>&1; then exit 1; fi
    grep -q "config.json: $2" "$scratch/out"
}
refused 's/"n_head": 4/"n_head": 5/' 'n_head: 5 does not divide n_embd (24)'
refused 's/"n_layer": 2/"n_layer": 5000/' 'n_layer: expected 1 to 4096, got 5000'
refused 's/"n_embd": 24/"n_embd": null/' 'n_embd: expected an integer, got null'
refused 's/"gelu_new"/"gelu_newest"/' 'activation_function: unknown activation "gelu_newest"'
refused 's/"gelu_new"/null/' 'activation_function: expected a string, got null'
