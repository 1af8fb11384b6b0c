#!/bin/sh
# Perplexity of the demo model: as transformers computes it, and the same whatever the threads. Reports in TAP.
# usage: perplexity.sh HOST ROOT
set -u
. "$(dirname "$0")/../tap.sh"
host=$(realpath "$1")
root=$(realpath "$2")
data=$root/tests/data/perplexity
model=$root/demo/tiny-qwen2-moe
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

measure() { # measure OPTIONS
    timeout 120 "$host" perplexity --quiet --model "$model" --text "$data/stories.txt" "$@" 2>&1
}

field() { # field NAME: of a JSON document on stdin
    sed -n "s/.*\"$1\": \([-+.0-9e]*\).*/\1/p"
}

# near A B RELATIVE
near() {
    awk -v a="$1" -v b="$2" -v r="$3" 'BEGIN { d = a - b; d = d < 0 ? -d : d; print (a != "" && d <= r * b) ? "near" : a " is not " b }'
}

while read -r window predicted mean perplexity; do
    measure --dtype float32 --window "$window" --json >"$scratch/out"
    check "window $window: predicted tokens" "$predicted" "$(field predicted_tokens <"$scratch/out")"
    check "window $window: mean" near "$(near "$(field mean_negative_log_likelihood <"$scratch/out")" "$mean" 1e-6)"
    check "window $window: perplexity" near "$(near "$(field perplexity <"$scratch/out")" "$perplexity" 1e-5)"
done <"$data/expected"

once=$(measure --dtype float32 --window 100 --threads 1 --json)
for threads in 2 3; do
    check "$threads threads: the same" "$once" "$(measure --dtype float32 --window 100 --threads $threads --json)"
done
tokens=$(echo "$once" | field tokens)
whole=$(measure --dtype float32 --window "$tokens" --json | field perplexity)
check 'a window longer than the text is the whole text' "$whole" \
    "$(measure --dtype float32 --window 1000000000000 --json | field perplexity)"
wanted=$(sed -n 's/^512 [0-9]* [.0-9]* //p' "$data/expected")
check 'bf16 is near' near "$(near "$(measure --json | field perplexity)" "$wanted" 0.05)"
check 'as text' \
    "perplexity 4.04191: 764 tokens predicted in 2 windows of 512; 16.00 bits per weight, 1.39 MB read per token" \
    "$(measure --dtype float32)"
"$host" perplexity --model "$model" --text "$data/stories.txt" >"$scratch/out" 2>"$scratch/err"
check 'the report goes to stderr, the result to stdout' 1 "$(wc -l <"$scratch/out")"
check 'no progress without a terminal' '' "$(grep -F ' of 766 tokens' "$scratch/err")"
echo "1..$number"
exit "$failed"
