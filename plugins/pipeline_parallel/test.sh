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
    same 2 "$goldens/gemma2" "" $prompts
    same 2 "$plugins/families/gpt2/goldens/gpt2" gpt2 $prompts
    same 2 "$goldens/llama_tied" compressed_tensors $prompts --quantize int8+head
    same 2 "$goldens/qwen2_moe" compressed_tensors $prompts --quantize int8
    same 2 "$goldens/llama" "" --speculate 4 --input-ids 5,6,5,6,5,6,5,6 --input-ids 7,7,7,7 --max-new-tokens 16
    same 2 "$goldens/llama" "" --temperature 2 --seed 11 $prompts
    same 2 "$goldens/llama" "" --num-beams 4 --num-return-sequences 2 --no-repeat-ngram-size 2 $prompts
    same 3 "$goldens/qwen3_sliding" "" --guidance-scale 2 --suppress-tokens 1,2 $prompts
}

# An adapter's tensors for layers of others are elsewhere with these.
adapted=$(dirname "$0")/../../tests/goldens/lora/qwen2_moe
# shellcheck disable=SC2086 # words
same 2 "$adapted" lora --adapter "$adapted/adapters/every_expert" $prompts

# Pictures go from rank 0, which reads them, to the first stage, which alone has the tower.
pictures=$(cd "$(dirname "$0")/../../demo/tiny-qwen2-vl" && pwd)
circle=$pictures/samples/1-green-circle-on-yellow.png square=$pictures/samples/2-blue-square-on-yellow.png
chat() { printf '<|im_start|>user\n%s<|im_end|>\n<|im_start|>assistant\n' "$1"; }
place='<|vision_start|><|image_pad|><|vision_end|>'
same 3 "$pictures" "" --image "$circle" --prompt "What is in the picture?" --max-new-tokens 12
same 2 "$pictures" "" --image "$square" --image "$circle" --prompt "$(chat "${place}What shape is it?")" \
    --prompt "$(chat "Hello")" --prompt "$(chat "${place}What is in the picture?")" --max-new-tokens 12
elsewhere() { # elsewhere N OPTIONS...: how many tensors each rank lacks
    n=$1
    shift
    ranks "$n" --plugins pipeline_parallel --report json "$@" 2>&1 |
        sed -n 's/.*"tensors_elsewhere": *\([0-9]*\).*/\1/p' | tr '\n' ' '
}
lacking=$(elsewhere 2 --model "$pictures" --image "$circle" --prompt "What is it?" --max-new-tokens 1)
[ "$lacking" = "43 25 " ] || fail "ranks have other parts of a model with a tower: $lacking"

# As many texts as stages, or more, of unlike lengths: all ranks have one under way.
waves=
for i in 1 2 3 4 5 6 7; do waves="$waves --input-ids $i,$((i * 7)),$((50 - i))"; done
# shellcheck disable=SC2086 # words
{
    same 2 "$goldens/llama" "" --input-ids 5,6 --input-ids 9,8,7,6,5,4,3,2,1,9,8,7,6,5,4,3,2,1 --max-new-tokens 20
    same 3 "$goldens/qwen3_sliding" "" $waves --max-new-tokens 20
    same 3 "$goldens/qwen2_moe_sparse_step" "" $waves --max-new-tokens 20 --temperature 2 --seed 3
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

# A head that is the table of the embeddings needs that one's file on rank 0, too.
"$host" save --quiet --model "$goldens/qwen2_tied_sharded" --output "$scratch/tied" --max-shard-size 6KB
table=$(sed -n 's/.*"model.embed_tokens.weight": "\(.*\)".*/\1/p' "$scratch/tied/model.safetensors.index.json")
cp -r "$scratch/tied" "$scratch/headless"
rm "$scratch/headless/$table"
one="$host --quiet --plugins-dir $plugins --parallel mpi --plugins pipeline_parallel --input-ids 5,6,7 --output-ids"
# shellcheck disable=SC2086 # words
refused 4 "weight_map lists \"$table\" for 1 tensors (\"model.embed_tokens.weight\"), but that file does not exist" \
    -n 1 $one --model "$scratch/headless" : -n 1 $one --model "$scratch/tied"

# Layers are divided by bytes: every other one has experts, and embeddings and head weigh almost as much as one without.
# The first stage has the embeddings, the last one norm and head.
lacking=$(elsewhere 3 --model "$model" --input-ids 5 --output-ids --max-new-tokens 1)
[ "$lacking" = "54 72 44 " ] || fail "ranks have other layers: $lacking"

# The cache has keys and values of the own layers: of one in four on rank 0, then of three.
kept() { # kept COMMAND...: bytes that rank 0 keeps of each token
    "$@" 2>/dev/null | sed -n 's/.*"cache_bytes_per_token": *\([0-9]*\).*/\1/p'
}
bench="$host bench --plugins-dir $plugins --model $model --prompt-tokens 2 --new-tokens 1 --repeat 1 --json"
# shellcheck disable=SC2086 # words
{
    each="$bench --parallel mpi --plugins pipeline_parallel --plugin-option"
    all=$(kept $bench)
    one=$(kept launch -n 2 $each pipeline_parallel.layers=3,1)
    three=$(kept launch -n 2 $each pipeline_parallel.layers=1,3)
}
[ "$((one * 4)) $((one + three))" = "$all $all" ] || fail "the cache of $all bytes is divided into $one and $three"
