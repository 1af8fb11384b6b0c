#!/bin/sh
# Several processes give what one gives, to the bit; they touch what is theirs, and fail with one voice.
# usage: test.sh HOST PLUGINS_FOLDER GOLDENS
set -eu
host=$1 plugins=$2 goldens=$3
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

if ! command -v mpirun >/dev/null 2>&1 || [ ! -f "$plugins/mpi/mpi.so" ]; then
    echo "skipped: there is no mpirun, or the plugin mpi was not built"
    exit 77
fi

fail() {
    echo "$1" >&2
    exit 1
}

# As root in containers, more ranks than cores, and no waiting in spinning loops.
# MPI leaves memory behind when it ends.
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_mpi_yield_when_idle=1 OMP_NUM_THREADS=1
ranks() { # ranks N OPTIONS...
    n=$1
    shift
    timeout 120 mpirun -q --oversubscribe --bind-to none -n "$n" "$host" --plugins-dir "$plugins" --plugins-dir "$plugins/families" --parallel mpi "$@"
}

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
    same 2 "$goldens/llama" "" --speculate 4 --input-ids 5,6,5,6,5,6,5,6 --input-ids 7,7,7,7 --max-new-tokens 16
    same 2 "$goldens/llama" "" --temperature 2 --seed 11 $prompts
}

# Sampling without a seed differs from run to run, not from rank to rank.
ids=$(ranks 2 --quiet --plugins pipeline_parallel --model "$goldens/llama" --temperature 3 --input-ids 5,6,7 \
    --output-ids --max-new-tokens 6)
[ "$(echo "$ids" | tr ',' '\n' | wc -l)" -le 6 ] || fail "unseeded: $ids"

# The prompt is read by rank 0 alone.
text="$host --quiet --plugins-dir $plugins --parallel mpi --plugins pipeline_parallel --model $goldens/llama"
text="$text --max-new-tokens 5 --prompt-file"
echo "What is left?" >"$scratch/prompt"
"$host" --quiet --model "$goldens/llama" --max-new-tokens 5 --prompt-file "$scratch/prompt" >"$scratch/one.text"
# shellcheck disable=SC2086 # words
mpirun -q --oversubscribe --bind-to none -n 1 $text "$scratch/prompt" : -n 1 $text "$scratch/none" >"$scratch/many.text"
cmp "$scratch/one.text" "$scratch/many.text" || fail "a prompt from a file: another text"

# What lies elsewhere need not be here: each rank has the files of its own layers.
model=$goldens/qwen2_moe_sparse_step
"$host" save --quiet --model "$model" --output "$scratch/whole" --max-shard-size 20KB
part() { # part NAME OTHERS: a copy without the files that hold nothing but layers of others
    cp -r "$scratch/whole" "$scratch/$1"
    grep '"model-' "$scratch/whole/model.safetensors.index.json" | grep -v "layers\\.[$2]\\." | sed 's/.*: "//; s/".*//' |
        sort -u >"$scratch/needed"
    for file in "$scratch/$1"/model-*.safetensors; do
        grep -qxF "${file##*/}" "$scratch/needed" || rm "$file"
    done
    [ "$(ls "$scratch/$1")" != "$(ls "$scratch/whole")" ] || fail "$1 has all files"
}
part last 01
part first 23
each="$host --quiet --plugins-dir $plugins --parallel mpi --plugins pipeline_parallel --input-ids 5,6,7 --output-ids"
each="$each --max-new-tokens 5"
"$host" --quiet --model "$model" --input-ids 5,6,7 --output-ids --max-new-tokens 5 >"$scratch/one.ids"
# shellcheck disable=SC2086 # words
mpirun -q --oversubscribe --bind-to none -n 1 $each --model "$scratch/last" : -n 1 $each --model "$scratch/first" \
    >"$scratch/many.ids" || fail "parts of a model"
cmp "$scratch/one.ids" "$scratch/many.ids" || fail "parts of a model: other ids"

# One that fails ends all, soon, with one line and its exit status.
refused() { # refused STATUS WORDS COMMAND...
    wanted=$1 words=$2 status=0
    shift 2
    timeout 20 "$@" >/dev/null 2>"$scratch/err" || status=$?
    [ "$status" = "$wanted" ] || fail "exit status $status instead of $wanted: $(cat "$scratch/err")"
    [ "$(grep -c . "$scratch/err")" = 1 ] || fail "more than one line: $(cat "$scratch/err")"
    grep -qF "$words" "$scratch/err" || fail "expected \"$words\": $(cat "$scratch/err")"
}
start="mpirun -q --oversubscribe --bind-to none"
# shellcheck disable=SC2086 # words
{
    refused 4 'weight_map lists "model-' $start -n 1 $each --model "$scratch/whole" : -n 1 $each --model "$scratch/last"
    refused 2 "the options of rank 1 are not those of rank 0" \
        $start -n 1 $each --model "$model" : -n 1 $each --speculate 3 --model "$model"
    refused 2 "4 layers cannot be divided among 5 processes" $start -n 5 $each --model "$model"
    refused 2 "expected 2 numbers that add up to 4 layers" \
        $start -n 2 $each --model "$model" --plugin-option pipeline_parallel.layers=1,2
    refused 4 "$scratch/none" $start -n 3 $each --model "$scratch/none"
}

# A rank that is killed takes the others with it.
long="$host bench --plugins-dir $plugins --parallel mpi --plugins pipeline_parallel --model $goldens/llama --repeat 10000"
# shellcheck disable=SC2016,SC2086 # the shell that is started knows the process's number; words
timeout 60 mpirun -q --oversubscribe --bind-to none -n 1 $long : \
    -n 1 sh -c 'echo $$ >"$0"; exec "$@"' "$scratch/pid" $long >/dev/null 2>&1 &
run=$!
while [ ! -s "$scratch/pid" ]; do sleep 0.1; done
sleep 1
kill -KILL "$(cat "$scratch/pid")" || fail "it ended by itself"
before=$(date +%s)
wait "$run" && fail "a killed rank went unnoticed"
[ $(($(date +%s) - before)) -le 3 ] || fail "the others went on for more than 3 seconds"
