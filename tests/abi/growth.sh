#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Usage: growth.sh SOURCE BUILD MODELS MESON [OPTION...]: the ABI grows without breaking a binary. A copy of the tree, every
# struct of its SDK headers a field longer, is built with the OPTIONs of meson; its host has to run the plugins of BUILD,
# and the host of BUILD its plugins, with the ids that BUILD gives by itself.
set -u
source=$1 build=$2 models=$3 meson=$4
shift 4
. "$source/tests/tap.sh"
work=$build/abi-growth tree=$build/abi-growth/tree grown=$build/abi-growth/build
mkdir -p "$tree"
log=$work/log

# Copied anew each time, with the times of the files: the second run builds what changed.
for part in "$source"/*; do
    case ${part##*/} in
    build* | tests | demo) ;;
    *) cp -Rp "$part" "$tree/" ;;
    esac
done
for header in "$source"/sdk/include/graft/*.h; do
    awk -f "$source/tests/abi/grow_headers.awk" "$header" >"$work/header" 2>>"$work/count"
    touch -r "$header" "$work/header"
    mv "$work/header" "$tree/sdk/include/graft/${header##*/}"
done
structs=$(awk '{ n += $1 } END { print n + 0 }' "$work/count")
rm -f "$work/count"
check 'the headers have structs to grow' yes "$([ "$structs" -gt 90 ] && echo yes || echo "no: $structs")"
[ -f "$grown/build.ninja" ] || "$meson" setup "$grown" "$tree" -Dtests=false "$@" >"$log" 2>&1 || cat "$log"
# What runs below, and no more: loops of coded weights would take three times as long as all of it.
set -- host/graft
for plugin in fused_qkv sequential_experts patch_embed_linear lora; do
    set -- "$@" "plugins/$plugin/$plugin.so"
done
for example in logging_attention short_conv fused_norm_mlp fused_gate_up implementations; do
    set -- "$@" "sdk/examples/$example/$example.so"
done
ninja -C "$grown" "$@" >>"$log" 2>&1
status=$?
check 'the grown tree builds' 0 "$status"
[ "$status" -eq 0 ] || { tail -n 20 "$log" | sed 's/^/# /'; echo "1..$number"; exit 1; }

ids() { # ids HOST PLUGINS OPTION...: what is generated
    host=$1 plugins=$2
    shift 2
    timeout 300 "$host" run --plugins-dir "$plugins" --report none --quiet --output-ids "$@" 2>&1
}
today() { # today WHAT PLUGINS OPTION...: the same for plugins that the grown tree does not build
    what=$1 folder=$2
    shift 2
    wanted=$(ids "$build/host/graft" "$build/$folder" "$@")
    check "$what gives ids" yes "$(echo "$wanted" | grep -qE '^[0-9]+(,[0-9]+)*$' && echo yes || echo "$wanted")"
    check "$what: plugins of today on a grown host" "$wanted" "$(ids "$grown/host/graft" "$build/$folder" "$@")"
}
both() { # both WHAT PLUGINS OPTION...: PLUGINS is a folder of a build
    today "$@"
    what=$1 folder=$2
    shift 2
    check "$what: grown plugins on the host of today" "$wanted" "$(ids "$build/host/graft" "$grown/$folder" "$@")"
}
prompt='--input-ids 1,5,9,2,7 --input-ids 3,4 --max-new-tokens 6'
# shellcheck disable=SC2086 # a list of words
{
    both 'fused_qkv with sequential_experts' plugins --model "$models/patched/qwen2_moe_doc_example" $prompt
    today 'compressed_tensors' plugins --plugins compressed_tensors --quantize int8 --model "$models/plain/llama" $prompt
    both 'lora around quantized_linear' plugins/lora --plugins-dir "$build/sdk/examples/quantized_linear" \
        --plugins lora,quantized_linear --plugin-option quantized_linear.bits=4 --model "$source/tests/goldens/lora/llama" \
        --adapter "$source/tests/goldens/lora/llama/adapters/attention_r8" $prompt
    both 'patch_embed_linear' plugins --fusion patch_embeddings --model "$source/demo/tiny-qwen2-vl" \
        --image "$source/demo/tiny-qwen2-vl/samples/1-green-circle-on-yellow.png" --prompt 'What is it?' --max-new-tokens 4
    both 'logging_attention' sdk/examples/logging_attention --model "$models/plain/llama" $prompt
    both 'short_conv' sdk/examples/short_conv --plugins short_conv --model "$models/plain/llama" $prompt
    both 'fused_norm_mlp' sdk/examples/fused_norm_mlp --model "$models/plain/qwen3" $prompt
    both 'a chain of fused_gate_up' sdk/examples/fused_gate_up --model "$models/plain/qwen3" $prompt \
        --fuse 'model.layers.*.post_attention_layernorm,model.layers.*.mlp'
    today 'a chain' tests/fuse --model "$models/plain/qwen3" $prompt \
        --fuse 'model.layers.*.post_attention_layernorm,model.layers.*.mlp'
    both 'implementations by name' sdk/examples/implementations --model "$models/plain/qwen2_moe" $prompt \
        --attn-implementation plain --experts-implementation plain --kernels plain
}
# Copies of calls that plugins make: each module of theirs is wrapped, so each call is compared.
"$grown/host/graft" verify --plugins-dir "$build/plugins/fused_qkv" --plugins-dir "$build/tests/boundary" \
    --model "$models/plain/llama" --tolerance 0 >"$log" 2>&1
status=$?
check 'verify: plugins of today on a grown host' 0 "$status"
[ "$status" -eq 0 ] || tail -n 20 "$log" | sed 's/^/# /'
echo "1..$number"
exit "$failed"
