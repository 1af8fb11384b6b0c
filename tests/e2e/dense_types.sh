#!/bin/sh
# Families that a file describes, with the plugins that replace what they are made of: projections that are joined,
# Linears of eight bits, and adapters. Reports in TAP.
# usage: dense_types.sh HOST TYPES PLUGINS MAKE_ADAPTER     TYPES is the folder of miniatures of model types
set -u
. "$(dirname "$0")/../tap.sh"
host=$(realpath "$1") types=$2 plugins=$3 make_adapter=$4
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

for type in smollm3 gemma2 cohere-qk_norm stablelm-parallel nanochat diffllama doge granite_swa-no_rope bitnet; do
    "$host" verify --model "$types/$type" --plugins-dir "$plugins" --plugins fused_qkv --input-ids 5,6,7,8 \
        --tolerance 0 >"$scratch/out" 2>&1
    check "$type: joined projections change no bit" 0 $?
    has "$type: they are joined" 'Attention -> FusedQKVAttention by fused_qkv: largest difference 0 ' "$scratch/out"
done

ids() { # ids OPTION...
    "$host" --quiet --plugins-dir "$plugins" --model "$types/smollm3" --input-ids 5,6,7,8 --max-new-tokens 2 \
        --output-ids "$@"
}
ids --plugins compressed_tensors --quantize int8 --logits "$scratch/eight" >"$scratch/ids"
check 'eight bits: exit status' 0 $?
ids --plugins fused_qkv,compressed_tensors --quantize int8 --logits "$scratch/joined" >"$scratch/ids"
check 'eight bits, joined: the same' '' "$(cmp "$scratch/eight" "$scratch/joined" 2>&1)"
ids --logits "$scratch/plain" >"$scratch/ids"
check 'eight bits are other numbers' different "$(cmp -s "$scratch/eight" "$scratch/plain" || echo different)"

mkdir "$scratch/adapter"
size=$(sed -n 's/.*"hidden_size": \([0-9]*\).*/\1/p' "$types/smollm3/config.json")
heads=$(sed -n 's/.*"num_attention_heads": \([0-9]*\).*/\1/p' "$types/smollm3/config.json")
"$make_adapter" "$scratch/adapter" 1 2 2 "model.layers.#.self_attn.q_proj:$size:$((size / heads * heads))"
ids --adapter "$scratch/adapter" --logits "$scratch/adapted" >"$scratch/ids"
check 'an adapter: exit status' 0 $?
check 'an adapter changes something' different "$(cmp -s "$scratch/adapted" "$scratch/plain" || echo different)"
ids --plugins fused_qkv,lora --adapter "$scratch/adapter" --logits "$scratch/joined" >"$scratch/ids"
check 'an adapter around a part of what is joined' '' "$(cmp "$scratch/adapted" "$scratch/joined" 2>&1)"

echo "1..$number"
exit "$failed"
