#!/bin/sh
# The plugins alone and over others: they stay out unless named, take the Linears they promise and no others, cost what
# the README says, and agree with themselves whatever the layout, the instruction set and the number of threads.
# usage: test.sh HOST PLUGINS_FOLDER ROOT GOLDENS_FOLDER
set -eu
host=$1 plugins=$2 root=$3
demo=$root/demo/tiny-qwen2-moe
text=$root/tests/data/perplexity/stories.txt
goldens=$4/plain
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

perplexity() { # perplexity OPTIONS
    "$host" perplexity --quiet --plugins-dir "$plugins" --text "$text" "$@" | sed 's/^perplexity \([^:]*\):.*/\1/'
}

logits() { # logits FILE OPTIONS
    file=$1
    shift
    "$host" --quiet --plugins-dir "$plugins" --input-ids 5,6,7,8,9,10,11,12,13,14,15 --max-new-tokens 1 --output-ids \
        --logits "$scratch/$file" "$@" >/dev/null
}

echo 'a directory that holds them is not enough'
"$host" plan --model "$demo" --plugins-dir "$plugins" >"$scratch/all"
grep -q 'by int8_linear' "$scratch/all" && fail 'int8_linear took effect without being named'
grep -q "note .*int8_linear and int8_linear_head are not used, because they change the model's results" "$scratch/all" ||
    fail 'no note that they stay out'
"$host" list --plugins-dir "$plugins" | grep -q '^int8_linear .*only with --plugins' || fail 'list'

echo 'which Linears'
plan int8_linear --model "$demo" --json >"$scratch/plan"
grep -B2 '"original_class": "Linear"' "$scratch/plan" | sed -n 's/.*"path": "\(.*\)",/\1/p' >"$scratch/taken"
grep -q 'layers.0.self_attn.q_proj' "$scratch/taken" || fail 'q_proj is not taken'
grep -q 'mlp.shared_expert.down_proj' "$scratch/taken" || fail 'down_proj is not taken'
grep -v '_proj$' "$scratch/taken" && fail 'something else is taken'
plan int8_linear_head --model "$demo" --json | grep -B2 '"original_class": "Linear"' | grep -q '"lm_head"' || fail 'head'
plan sequential_experts,int8_linear --model "$demo" --json | grep -B2 '"original_class": "Linear"' |
    grep -q 'mlp.experts.7.down_proj' || fail 'experts that are modules are not taken'

plan int8_linear --model "$demo" | grep -q 'Qwen2MoeExperts -> Int8Experts by int8_linear .* in 4 modules' ||
    fail 'stacked experts are not taken'

echo 'stacked experts give what lists of them give, however they lie in the file'
for case in qwen2_moe qwen2_moe_stacked mixtral mixtral_stacked qwen3_moe_bf16; do
    for group in 0 32; do
        set -- --model "$goldens/$case" --plugin-option int8_linear.group_size=$group --dtype float32
        logits stack.safetensors --plugins int8_linear "$@"
        logits list.safetensors --plugins sequential_experts,int8_linear "$@"
        cmp -s "$scratch/stack.safetensors" "$scratch/list.safetensors" || fail "$case: stack and list differ"
    done
done

echo 'stacks of gpt-oss, where gate and up are by turns and inputs come first'
gpt_oss=$goldens/gpt_oss
"$host" verify --model "$gpt_oss" --plugins-dir "$plugins" --plugins int8_linear \
    --tolerance 9 --input-ids 5,6,7,8,9 --max-new-tokens 0 >"$scratch/verify"
sed -n 's/^.*experts: GptOssExperts -> Int8TurnedExperts .*largest difference \([^ ]*\) (values up to \([^;]*\));.*/\1 \2/p' \
    "$scratch/verify" | awk '{ n++; ok += $1 > 0 && $1 < 0.02 * $2 } END { exit !(n == 3 && ok == n) }' ||
    fail "gpt_oss: $(cat "$scratch/verify")"

echo 'perplexity'
original=$(perplexity --model "$demo" --dtype float32)
for list in int8_linear int8_linear_head int8_linear,int8_linear_head sequential_experts,int8_linear; do
    got=$(perplexity --model "$demo" --dtype float32 --plugins "$list")
    awk -v a="$got" -v b="$original" 'BEGIN { d = a / b - 1; exit !(d != 0 && d < 0.01 && d > -0.01) }' ||
        fail "$list: perplexity $got, of the original $original"
done
both=int8_linear,int8_linear_head
eight=$(perplexity --model "$demo" --plugins $both)
sixteen=$(perplexity --model "$demo" --plugins $both --plugin-option int8_linear.activation_bits=16 \
    --plugin-option int8_linear_head.activation_bits=16)
awk -v a="$eight" -v b="$sixteen" 'BEGIN { d = a / b - 1; exit !(d < 0.005 && d > -0.01) }' ||
    fail "activations in 8 bits: perplexity $eight, with 16 bits $sixteen"

echo 'over fused_qkv: rows are quantized by themselves, so nothing changes'
for case in llama_bias llama_bf16 mistral_f16 qwen3 qwen2_moe_gqa; do
    logits plain.safetensors --model "$goldens/$case" --plugins int8_linear
    logits fused.safetensors --model "$goldens/$case" --plugins fused_qkv,int8_linear
    cmp -s "$scratch/plain.safetensors" "$scratch/fused.safetensors" || fail "$case: differs over fused_qkv"
    plan fused_qkv,int8_linear --model "$goldens/$case" --json | tr -d ' \n' | grep -q '"unexpected":\[\]' ||
        fail "$case: tensors are left over"
done

echo 'threads'
logits one.safetensors --model "$demo" --plugins int8_linear,int8_linear_head --threads 1
logits three.safetensors --model "$demo" --plugins int8_linear,int8_linear_head --threads 3
cmp -s "$scratch/one.safetensors" "$scratch/three.safetensors" || fail 'differs with the number of threads'

echo 'instruction sets'
wanted=$(perplexity --model "$demo" --dtype float32 --plugins int8_linear --window 8)
for isa in scalar avx2; do
    got=$(GRAFT_ISA=$isa perplexity --model "$demo" --dtype float32 --plugins int8_linear --window 8)
    awk -v a="$got" -v b="$wanted" 'BEGIN { d = a / b - 1; exit !(d < 2e-5 && d > -2e-5) }' ||
        fail "$isa: perplexity $got instead of $wanted"
done

echo 'verify reports the error of each module'
"$host" verify --model "$demo" --plugins-dir "$plugins" --plugins int8_linear --tolerance 1 >"$scratch/verify" || true
grep -q 'q_proj: Linear -> Int8Linear by int8_linear: largest difference' "$scratch/verify" || fail 'verify'

echo 'saving'
status=0
"$host" save --model "$demo" --plugins-dir "$plugins" --plugins int8_linear --output "$scratch/original" \
    2>"$scratch/err" || status=$?
[ "$status" = 3 ] || fail "saving in the original format: exit status $status"
grep -q 'int8_rows of plugin int8_linear' "$scratch/err" || fail 'it does not say why'
[ ! -e "$scratch/original" ] || fail 'it left something'
for list in int8_linear fused_qkv,int8_linear,int8_linear_head; do
    logits before.safetensors --model "$demo" --plugins "$list"
    "$host" save --model "$demo" --plugins-dir "$plugins" --plugins "$list" --output "$scratch/saved" \
        --runtime-layout --quiet
    grep -q '"dtype":"I8"' "$scratch/saved/model.safetensors" || fail 'no int8 in the file'
    logits after.safetensors --model "$scratch/saved" --plugins "$list"
    cmp -s "$scratch/before.safetensors" "$scratch/after.safetensors" || fail "$list: differs after saving"
    plan "$list" --model "$scratch/saved" | grep -q ' 0 bytes copied' || fail "$list: the saved layout is not viewed"
    if "$host" --quiet --model "$scratch/saved" --input-ids 1 --output-ids 2>"$scratch/err"; then
        fail 'the quantized layout loads without the plugin'
    fi
    grep -q 'int8_linear' "$scratch/err" || fail 'it does not say which plugin is needed'
    rm -r "$scratch/saved"
done

echo 'groups of a row: closer to the original, in products of few tokens and of many'
group='--plugin-option int8_linear.group_size=32'
largest() { # largest OPTIONS: the error of a module, as verify has it
    "$host" verify --model "$demo" --plugins-dir "$plugins" --plugins int8_linear --tolerance 1 "$@" |
        sed -n 's/^model.layers.0.self_attn.q_proj: .*largest difference \([^ ]*\) .*/\1/p'
}
for ids in 5,6,7 5,6,7,8,9,10,11,12,13,14,15; do
    # shellcheck disable=SC2086 # two words
    rows=$(largest --max-new-tokens 0 --input-ids $ids) groups=$(largest --max-new-tokens 0 --input-ids $ids $group)
    awk -v a="$groups" -v b="$rows" 'BEGIN { exit !(a > 0 && a < b) }' || fail "$ids: $groups with groups, $rows without"
done

echo 'a saved directory knows its options'
# shellcheck disable=SC2086
{
    logits before.safetensors --model "$demo" --plugins int8_linear $group
    "$host" save --model "$demo" --plugins-dir "$plugins" --plugins int8_linear $group --output "$scratch/saved" \
        --runtime-layout --quiet
    logits after.safetensors --model "$scratch/saved" --plugins int8_linear $group
    cmp -s "$scratch/before.safetensors" "$scratch/after.safetensors" || fail 'groups differ after saving'
    plan int8_linear --model "$scratch/saved" $group | grep -q 'was saved with' && fail 'a note without a reason'
}
grep -q '{"plugin": "int8_linear", "name": "group_size", "value": "32"}' "$scratch/saved/graft_journal.json" ||
    fail 'the journal lacks the option'
plan int8_linear --model "$scratch/saved" >"$scratch/plan"
grep -q 'note .*saved with int8_linear.group_size=32, but now it is 0' "$scratch/plan" || fail 'no note on the option'
if "$host" --quiet --model "$scratch/saved" --plugins-dir "$plugins" --plugins int8_linear --input-ids 1 --output-ids \
    2>"$scratch/err"; then
    fail 'scales of another size were taken'
fi
grep -q 'saved with int8_linear.group_size=32; load it with the same' "$scratch/err" || fail 'it does not say with what'
rm -r "$scratch/saved"

echo 'a head that is tied to the embedding'
for case in qwen3_tied_f16; do
    model=$goldens/$case
    plan int8_linear_head --model "$model" --strict --json | tr -d ' \n' >"$scratch/plan"
    grep -q '"name":"lm_head.qweight"[^}]*"sources":\["model.embed_tokens.weight"\]' "$scratch/plan" || fail "$case: plan"
    logits before.safetensors --model "$model" --plugins int8_linear_head
    "$host" verify --model "$model" --plugins-dir "$plugins" --plugins int8_linear_head --tolerance 1 >"$scratch/verify" || true
    sed -n 's/^lm_head: Linear -> Int8Linear .*largest difference \([^ ]*\) (values up to \([^;]*\));.*/\1 \2/p' \
        "$scratch/verify" | awk '{ ok = $1 > 0 && $1 < 0.02 * $2 } END { exit !ok }' || fail "$case: verify"
    rm -rf "$scratch/saved" "$scratch/original"
    "$host" save --model "$model" --plugins-dir "$plugins" --plugins int8_linear_head --output "$scratch/original" --quiet
    cmp "$model/model.safetensors" "$scratch/original/model.safetensors" || fail "$case: the original layout"
    "$host" save --model "$model" --plugins-dir "$plugins" --plugins int8_linear_head --output "$scratch/saved" \
        --runtime-layout --quiet
    logits after.safetensors --model "$scratch/saved" --plugins int8_linear_head
    cmp -s "$scratch/before.safetensors" "$scratch/after.safetensors" || fail "$case: differs after saving"
    rm -rf "$scratch/original"
    "$host" save --model "$scratch/saved" --plugins-dir "$plugins" --plugins int8_linear_head --output "$scratch/original" --quiet
    cmp "$model/model.safetensors" "$scratch/original/model.safetensors" || fail "$case: back from the runtime layout"
    rm -rf "$scratch/saved" "$scratch/original"
done
