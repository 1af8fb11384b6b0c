#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Usage: growth.sh TODAY GROWN: the ABI grows without breaking a binary. TODAY is a build of the tree; GROWN is one with the
# option grown_headers, where each struct of the SDK's headers has a field more, and may have sanitizers. The host of each
# has to run the plugins of the other, with the ids that TODAY gives by itself. Reports in TAP.
set -u
today=$(realpath "$1") grown=$(realpath "$2")
source=$(realpath "$(dirname "$0")/../..")
models=$today/tests/goldens/models
. "$source/tests/tap.sh"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
count() { # count BUILD: structs whose last field is one that only a later version has
    cat "$1"/sdk/include/graft/*.h 2>/dev/null | grep -c 'added_later'
}
structs=$(count "$grown")
check 'the headers of the grown build have structs that grew' yes "$([ "$structs" -gt 90 ] && echo yes || echo "no: $structs")"
# A host without sanitizers runs plugins that have them if it starts with their libraries.
sanitizers=$(readelf -d "$grown/plugins/lora/lora.so" | sed -n 's/.*\[\(lib[a-z]*san\)\.so.*/\1/p' | while read -r name; do
    cc -print-file-name="$name.so"
done | paste -sd ' ')

preload=
ids() { # ids BUILD PLUGINS OPTION...: what the host of BUILD generates
    host=$1/host/graft plugins=$2
    shift 2
    LD_PRELOAD=$preload ASAN_OPTIONS=detect_leaks=0 timeout 300 "$host" run --plugins-dir "$plugins" --report none --quiet \
        --output-ids "$@" 2>&1
}
both() { # both WHAT PLUGINS OPTION...: PLUGINS is a folder of a build
    what=$1 folder=$2
    shift 2
    wanted=$(ids "$today" "$today/$folder" "$@")
    check "$what gives ids" yes "$(echo "$wanted" | grep -qE '^[0-9]+(,[0-9]+)*$' && echo yes || echo "$wanted")"
    check "$what: plugins of today on a grown host" "$wanted" "$(ids "$grown" "$today/$folder" "$@")"
    preload=$sanitizers
    check "$what: grown plugins on the host of today" "$wanted" "$(ids "$today" "$grown/$folder" "$@")"
    preload=
}
prompt='--input-ids 1,5,9,2,7 --input-ids 3,4 --max-new-tokens 6'
# shellcheck disable=SC2086 # a list of words
{
    both 'fused_qkv with sequential_experts' plugins --model "$models/patched/qwen2_moe_doc_example" $prompt
    both 'compressed_tensors' plugins --plugins compressed_tensors --quantize int8 --model "$models/plain/llama" $prompt
    both 'lora around quantized_linear' plugins/lora --plugins-dir "$today/sdk/examples/quantized_linear" \
        --plugins lora,quantized_linear --plugin-option quantized_linear.bits=4 --model "$source/tests/goldens/lora/llama" \
        --adapter "$source/tests/goldens/lora/llama/adapters/attention_r8" $prompt
    both 'patch_embed_linear' plugins --fusion patch_embeddings --model "$source/demo/tiny-qwen2-vl" \
        --image "$source/demo/tiny-qwen2-vl/samples/1-green-circle-on-yellow.png" --prompt 'What is it?' --max-new-tokens 4
    both 'logging_attention' sdk/examples/logging_attention --model "$models/plain/llama" $prompt
    both 'short_conv' sdk/examples/short_conv --plugins short_conv --model "$models/plain/llama" $prompt
    both 'fused_norm_mlp' sdk/examples/fused_norm_mlp --model "$models/plain/qwen3" $prompt
    both 'a chain of fused_gate_up' sdk/examples/fused_gate_up --model "$models/plain/qwen3" $prompt \
        --fuse 'model.layers.*.post_attention_layernorm,model.layers.*.mlp'
    both 'a chain' tests/fuse --model "$models/plain/qwen3" $prompt \
        --fuse 'model.layers.*.post_attention_layernorm,model.layers.*.mlp'
    both 'implementations by name' sdk/examples/implementations --model "$models/plain/qwen2_moe" $prompt \
        --attn-implementation plain --experts-implementation plain --kernels plain
}
# Copies of calls that plugins make: each module of theirs is wrapped, so each call is compared.
"$grown/host/graft" verify --plugins-dir "$today/plugins/fused_qkv" --plugins-dir "$today/tests/boundary" \
    --model "$models/plain/llama" --tolerance 0 >"$log" 2>&1
status=$?
check 'verify: plugins of today on a grown host' 0 "$status"
[ "$status" -eq 0 ] || tail -n 20 "$log" | sed 's/^/# /'
echo "1..$number"
exit "$failed"
