#!/bin/sh
# The plugin stays out unless named, takes projections, experts and heads, costs what the README says, and agrees with
# itself whatever the layout, the instruction set and the number of threads.
# usage: test.sh HOST PLUGINS_FOLDER ROOT GOLDENS_FOLDER
set -eu
host=$1 plugins=$2 root=$3 goldens=$4/plain
demo=$root/demo/tiny-qwen2-moe
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

fail() {
    echo "$1" >&2
    exit 1
}

plan() { # plan PLUGINS OPTIONS
    list=$1
    shift
    "$host" plan --plugins-dir "$plugins" --plugins "$list" "$@"
}

logits() { # logits FILE IDS OPTIONS
    file=$1 ids=$2
    shift 2
    "$host" --quiet --plugins-dir "$plugins" --input-ids "$ids" --max-new-tokens 1 --output-ids \
        --logits "$scratch/$file" "$@" >/dev/null
}

few=5,6,7,8,9
many=5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25

echo 'a directory that holds it is not enough'
"$host" plan --model "$demo" --plugins-dir "$plugins" >"$scratch/all"
grep -q 'by int4_linear' "$scratch/all" && fail 'int4_linear took effect without being named'

echo 'which Linears'
plan sequential_experts,int4_linear --model "$demo" --json >"$scratch/plan"
grep -B2 '"original_class": "Linear"' "$scratch/plan" | sed -n 's/.*"path": "\(.*\)",/\1/p' >"$scratch/taken"
for path in lm_head model.layers.0.self_attn.q_proj model.layers.0.mlp.shared_expert.down_proj \
    model.layers.0.mlp.experts.7.down_proj; do
    grep -qx "$path" "$scratch/taken" || fail "$path is not taken"
done
grep -v '_proj$' "$scratch/taken" | grep -vx lm_head && fail 'something else is taken'
plan int4_linear --model "$demo" | grep -q 'Qwen2MoeExperts -> Int4Experts by int4_linear .* in 4 modules' ||
    fail 'stacked experts are not taken'
plan int4_linear --model "$demo" | grep -q 'GptOss' && fail 'a note on a class of other models'

echo 'stacked experts give what lists of them give, however they lie in the file'
for case in qwen2_moe qwen2_moe_stacked mixtral mixtral_stacked qwen3_moe_bf16; do
    for dtype in float32 auto; do
        for ids in $few $many; do
            logits stack.safetensors "$ids" --model "$goldens/$case" --plugins int4_linear --dtype $dtype
            logits list.safetensors "$ids" --model "$goldens/$case" --plugins sequential_experts,int4_linear --dtype $dtype
            cmp -s "$scratch/stack.safetensors" "$scratch/list.safetensors" || fail "$case, $dtype: stack and list differ"
        done
    done
done

echo 'stacks of gpt-oss, where gate and up are by turns and inputs come first'
gpt_oss=$goldens/gpt_oss
"$host" verify --model "$gpt_oss" --plugins-dir "$plugins" --plugins int4_linear \
    --tolerance 9 --input-ids $few --max-new-tokens 0 >"$scratch/verify"
sed -n 's/^.*experts: GptOssExperts -> Int4TurnedExperts .*largest difference \([^ ]*\) (values up to \([^;]*\));.*/\1 \2/p' \
    "$scratch/verify" | awk '{ n++; ok += $1 > 0 && $1 < 0.2 * $2 } END { exit !(n == 3 && ok == n) }' ||
    fail "gpt_oss: $(cat "$scratch/verify")"

echo 'perplexity'
perplexity() {
    "$host" perplexity --quiet --plugins-dir "$plugins" --model "$demo" --text "$root/tests/data/perplexity/stories.txt" \
        "$@" | sed 's/^perplexity \([^:]*\):.*/\1/'
}
original=$(perplexity --no-plugins)
for list in int4_linear sequential_experts,int4_linear; do
    got=$(perplexity --plugins "$list")
    awk -v a="$got" -v b="$original" 'BEGIN { d = a / b - 1; exit !(d != 0 && d < 0.02 && d > -0.02) }' ||
        fail "$list: perplexity $got, of the original $original"
done

echo 'larger groups: fewer bytes, and what the README says'
bits() { # bits GROUP_SIZE
    "$host" bench --plugins-dir "$plugins" --plugins int4_linear --plugin-option int4_linear.group_size="$1" --model "$demo" \
        --prompt-tokens 2 --new-tokens 1 --repeat 1 --json | sed -n 's/.*"bytes_per_token": \([0-9]*\).*/\1/p'
}
[ "$(bits 128)" -lt "$(bits 64)" ] || fail 'groups of 128 are read as those of 64'
[ "$(bits 64)" -lt "$(bits 32)" ] || fail 'groups of 64 are read as those of 32'
for size in 64 128; do
    got=$(perplexity --plugins int4_linear --plugin-option int4_linear.group_size=$size)
    awk -v a="$got" -v b="$original" -v size="$size" \
        'BEGIN { d = a / b - 1; exit !(d != 0 && d < 0.0004 * size + 0.004 && d > -0.02) }' ||
        fail "groups of $size: perplexity $got, of the original $original"
done
for bits in 8 16; do
    set -- --model "$demo" --plugin-option int4_linear.group_size=128 --plugin-option int4_linear.activation_bits=$bits
    logits stack.safetensors "$many" --plugins int4_linear "$@"
    logits list.safetensors "$many" --plugins sequential_experts,int4_linear "$@"
    cmp -s "$scratch/stack.safetensors" "$scratch/list.safetensors" || fail "$bits bits: stack and list differ"
done

echo 'activations in 8 bits'
eight=$(perplexity --plugins int4_linear)
sixteen=$(perplexity --plugins int4_linear --plugin-option int4_linear.activation_bits=16)
awk -v a="$eight" -v b="$sixteen" 'BEGIN { d = a / b - 1; exit !(d < 0.005 && d > -0.01) }' ||
    fail "perplexity $eight, with 16 bits $sixteen"

echo 'threads and instruction sets'
for ids in $few $many; do
    logits one.safetensors "$ids" --model "$demo" --plugins int4_linear --threads 1
    logits three.safetensors "$ids" --model "$demo" --plugins int4_linear --threads 3
    cmp -s "$scratch/one.safetensors" "$scratch/three.safetensors" || fail 'differs with the number of threads'
done
# GRAFT_ISA may change the last digits of a sum and nothing else.
for isa in scalar avx2 avx512; do
    GRAFT_ISA=$isa "$host" --quiet --plugins-dir "$plugins" --model "$demo" --plugins int4_linear --dtype float32 \
        --input-ids "$many" --max-new-tokens 12 --output-ids
done | uniq | wc -l | grep -qx ' *1' || fail 'differs with the instruction set'

echo 'over fused_qkv: rows are quantized by themselves, so nothing changes'
logits apart.safetensors "$many" --model "$goldens/llama_bf16" --plugins int4_linear
logits fused.safetensors "$many" --model "$goldens/llama_bf16" --plugins fused_qkv,int4_linear
cmp -s "$scratch/apart.safetensors" "$scratch/fused.safetensors" || fail 'fused_qkv changes the result'
"$host" save --model "$goldens/llama_bf16" --plugins-dir "$plugins" --plugins int4_linear --output "$scratch/saved" \
    --runtime-layout --quiet
logits fused.safetensors "$many" --model "$scratch/saved" --plugins fused_qkv,int4_linear
cmp -s "$scratch/apart.safetensors" "$scratch/fused.safetensors" || fail 'what was saved apart is not joined'
plan fused_qkv,int4_linear --model "$scratch/saved" | grep -q 'qkv_proj.qweight: Concatenate.*row blocks' ||
    fail 'what was saved apart is copied'
rm -r "$scratch/saved"

echo 'saving'
status=0
"$host" save --model "$demo" --plugins-dir "$plugins" --plugins int4_linear --output "$scratch/original" \
    2>"$scratch/err" || status=$?
[ "$status" = 3 ] || fail "saving in the original format: exit status $status"
grep -q 'int4_rows of plugin int4_linear' "$scratch/err" || fail 'it does not say why'
for list in int4_linear sequential_experts,int4_linear; do
    logits before.safetensors "$few" --model "$demo" --plugins "$list"
    "$host" save --model "$demo" --plugins-dir "$plugins" --plugins "$list" --output "$scratch/saved" \
        --runtime-layout --quiet
    logits after.safetensors "$few" --model "$scratch/saved" --plugins "$list"
    cmp -s "$scratch/before.safetensors" "$scratch/after.safetensors" || fail "$list: differs after saving"
    plan "$list" --model "$scratch/saved" | grep -q ' 0 bytes copied' || fail "$list: the saved layout is not viewed"
    rm -r "$scratch/saved"
done
