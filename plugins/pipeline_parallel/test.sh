#!/bin/sh
# Several processes give what one gives, to the bit; each has its own layers, in memory and on disk.
# usage: test.sh HOST PLUGINS_FOLDER GOLDENS
set -eu
host=$1 plugins=$2 goldens=$3
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# shellcheck source=../mpi/ranks.sh
. "$(dirname "$0")/../mpi/ranks.sh"

same() { # same N MODEL PLUGINS OPTIONS...: ids, and logits where they are asked for
    n=$1 model=$2 list=$3
    shift 3
    "$host" --quiet --plugins-dir "$plugins" --plugins-dir "$plugins/families" ${list:+--plugins "$list"} --model "$model" --logits "$scratch/one" \
        --output-ids "$@" >"$scratch/one.ids"
    ranks "$n" --quiet --plugins "pipeline_parallel${list:+,$list}" --model "$model" --logits "$scratch/many" --output-ids \
        "$@" >"$scratch/many.ids"
    cmp -s "$scratch/one.ids" "$scratch/many.ids" || fail "$model on $n: other ids: $(cat "$scratch/many.ids")"
    cmp "$scratch/one" "$scratch/many" || fail "$model on $n: other logits"
}

prompts='--input-ids 5,6,7,8,9,10,11 --input-ids 9,8 --input-ids 3,1,4,1,5 --max-new-tokens 12'
# shellcheck disable=SC2086 # words
{
    same 2 "$goldens/llama" fused_qkv $prompts
    same 3 "$goldens/qwen2_moe_sparse_step" sequential_experts $prompts --dtype float32
    same 3 "$goldens/qwen3_sliding" "" $prompts
    same 2 "$plugins/families/gemma2/goldens/gemma2" gemma2 $prompts
    same 2 "$plugins/families/gpt2/goldens/gpt2" gpt2 $prompts
    same 2 "$goldens/llama_tied" int8_linear,int8_linear_head $prompts
    same 2 "$goldens/qwen2_moe" sequential_experts,int4_linear $prompts
    same 2 "$goldens/llama" "" --speculate 4 --input-ids 5,6,5,6,5,6,5,6 --input-ids 7,7,7,7 --max-new-tokens 16
    same 2 "$goldens/llama" "" --temperature 2 --seed 11 $prompts
}

# The prompt is read by rank 0 alone.
text="$host --quiet --plugins-dir $plugins --parallel mpi --plugins pipeline_parallel --model $goldens/llama"
text="$text --max-new-tokens 5 --prompt-file"
echo "What is left?" >"$scratch/prompt"
"$host" --quiet --model "$goldens/llama" --max-new-tokens 5 --prompt-file "$scratch/prompt" >"$scratch/one.text"
# shellcheck disable=SC2086 # words
launch -n 1 $text "$scratch/prompt" : -n 1 $text "$scratch/none" >"$scratch/many.text"
cmp "$scratch/one.text" "$scratch/many.text" || fail "a prompt from a file: another text"

# What lies elsewhere need not be here: each rank has the files of its own layers, the first stage those of the embeddings,
# the last one those of norm and head.
model=$goldens/qwen2_moe_sparse_step
"$host" save --quiet --model "$model" --output "$scratch/whole" --max-shard-size 20KB
part last "layers\\.[01]\\.\\|embed_tokens"
part first "layers\\.[23]\\.\\|model\\.norm\\|lm_head"
each="$host --quiet --plugins-dir $plugins --parallel mpi --plugins pipeline_parallel --input-ids 5,6,7 --output-ids"
each="$each --max-new-tokens 5"
"$host" --quiet --model "$model" --input-ids 5,6,7 --output-ids --max-new-tokens 5 >"$scratch/one.ids"
# shellcheck disable=SC2086 # words
launch -n 1 $each --model "$scratch/last" : -n 1 $each --model "$scratch/first" \
    >"$scratch/many.ids" || fail "parts of a model"
cmp "$scratch/one.ids" "$scratch/many.ids" || fail "parts of a model: other ids"

# shellcheck disable=SC2086 # words
{
    refused 4 'weight_map lists "model-' -n 1 $each --model "$scratch/whole" : -n 1 $each --model "$scratch/last"
    refused 2 "4 layers cannot be divided among 5 processes" -n 5 $each --model "$model"
    refused 2 "expected 2 numbers that add up to 4 layers" \
        -n 2 $each --model "$model" --plugin-option pipeline_parallel.layers=1,2
}

# Layers are divided by bytes: every other one has experts, and embeddings and head weigh almost as much as one without.
# The first stage has the embeddings, the last one norm and head.
elsewhere=$(ranks 3 --plugins pipeline_parallel --model "$model" --report json --input-ids 5 --output-ids --max-new-tokens 1 2>&1 |
    sed -n 's/.*"tensors_elsewhere": *\([0-9]*\).*/\1/p' | tr '\n' ' ')
[ "$elsewhere" = "54 72 44 " ] || fail "ranks have other layers: $elsewhere"

# The cache has keys and values of the own layers: of one in four on rank 0, then of three.
kept() { # kept COMMAND...: bytes that rank 0 keeps of each token
    "$@" 2>/dev/null | sed -n 's/.*"cache_bytes_per_token": *\([0-9]*\).*/\1/p'
}
bench="$host bench --plugins-dir $plugins --model $model --repeat 1 --json"
# shellcheck disable=SC2086 # words
{
    each="$bench --parallel mpi --plugins pipeline_parallel --plugin-option"
    all=$(kept $bench)
    one=$(kept launch -n 2 $each pipeline_parallel.layers=3,1)
    three=$(kept launch -n 2 $each pipeline_parallel.layers=1,3)
}
[ "$((one * 4)) $((one + three))" = "$all $all" ] || fail "the cache of $all bytes is divided into $one and $three"
