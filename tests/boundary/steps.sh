#!/bin/sh
# What a step of generating takes, in instructions, against what it took when that was last looked at: a change that makes
# it slower, or faster, shows here whatever else runs on the machine. Of small models, so that what surrounds the
# arithmetic counts; with scalar kernels and with AVX2, which valgrind counts on any machine that has it. Reports in TAP.
# usage: steps.sh HOST GOLDENS SEED BUILD     SEED is tests/boundary/seed.c; BUILD says which compiler made HOST, and how:
#                     "gcc 12 -O3"
set -u
. "$(dirname "$0")/../tap.sh"
host=$(realpath "$1")
goldens=$(realpath "$2")
seed=$(realpath "$3")
recorded_with='gcc 12 -O3'
if ! command -v valgrind >/dev/null 2>&1; then
    echo '1..0 # SKIP valgrind is not installed: nothing here counts instructions'
    exit 0
fi
if [ "$(uname -m)" != x86_64 ] || [ "$4" != "$recorded_with" ]; then
    echo "1..0 # SKIP recorded on x86_64 with $recorded_with, this is $(uname -m) with $4"
    exit 0
fi
if ! grep -qw avx2 /proc/cpuinfo; then
    echo '1..0 # SKIP this processor has no AVX2'
    exit 0
fi
band=3 # percent: compilers and C libraries differ by less, and a copy or a loop too many is more
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1

count() { # count ISA TOKENS MODEL OPTIONS...: the instructions of generating so many, on one thread
    isa=$1 tokens=$2 model=$3
    shift 3
    LD_PRELOAD=$seed GRAFT_ISA=$isa valgrind --tool=callgrind --callgrind-out-file=/dev/null "$host" --quiet --threads 1 \
        --model "$model" "$@" --max-new-tokens "$tokens" --output-ids >ids 2>log
    sed -n 's/^==.*Collected *: *//p' log
}

compare() { # compare NAME ISA RECORDED MODEL OPTIONS...: a step, from two runs of other lengths
    name=$1 isa=$2 recorded=$3
    shift 3
    "$host" --quiet --model "$@" --max-new-tokens 1 >/dev/null 2>&1 # tries the plugin, if nobody has
    short=$(count "$isa" 3 "$@") long=$(count "$isa" 11 "$@")
    check "$name, $isa: no sequence ends early" '' "$(awk -F, 'NF != 11' ids)$(head -c 2000 log | grep -v '^==')"
    now=$(((${long:-0} - ${short:-0}) / 8))
    echo "# $name, $isa: $now instructions a step, recorded $recorded"
    check "$name, $isa: within $band % of what is recorded" yes \
        "$(if [ $((now * 100)) -ge $((recorded * (100 - band))) ] && [ $((now * 100)) -le $((recorded * (100 + band))) ]; then
            echo yes
        else
            echo "$now, not $recorded: if that was meant, record it"
        fi)"
}

# name, instruction set, instructions a step, model, options. One sequence; four, whose tokens go together.
one='--input-ids 5,6,7'
four="$one --input-ids 8,9 --input-ids 10 --input-ids 11,12,13,14"
while read -r name isa recorded model options; do
    # shellcheck disable=SC2086 # options are words
    compare "$name" "$isa" "$recorded" "$model" $options </dev/null
done <<LIST
llama scalar 2294000 $goldens/plain/llama $one
llama avx2 137800 $goldens/plain/llama $one
llama_bf16 avx2 126800 $goldens/plain/llama_bf16 $one
llama_bf16_of_four avx2 247300 $goldens/plain/llama_bf16 $four
llama_of_four avx2 285500 $goldens/plain/llama $four
qwen2_moe avx2 200000 $goldens/plain/qwen2_moe $one
mistral_sliding avx2 61000 $goldens/plain/mistral_sliding $one
mamba2 avx2 69200 $goldens/plain/mamba2 $one
LIST

echo "1..$number"
exit "$failed"
