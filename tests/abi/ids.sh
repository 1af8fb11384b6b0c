#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Usage: ids.sh SOURCE BUILD MODELS KEPT: plugins and examples of an earlier version (KEPT), as they were built then, are
# what this host says they are, and give the ids of those of BUILD. For those that no golden is for.
set -u
source=$1 build=$2 models=$3 kept=$4
. "$source/tests/tap.sh"
host=$build/host/graft
version=${kept##*/}

ids() { # ids FOLDER OPTION...: what is generated with the plugins of a folder
    folder=$1
    shift
    timeout 120 "$host" run --plugins-dir "$folder" --report none --quiet --output-ids "$@" 2>&1
}
same() { # same WHAT BUILT KEPT OPTION...: with those in a folder of the build and in one of the earlier version
    what=$1 built=$2 old=$3
    shift 3
    wanted=$(ids "$build/$built" "$@")
    check "$what gives ids" yes "$(echo "$wanted" | grep -qE '^[0-9]+(,[0-9]+)*$' && echo yes || echo "$wanted")"
    check "$what of $version gives the same" "$wanted" "$(ids "$kept/$old" "$@")"
}

built() { # built EXAMPLE: whether this build has it
    [ -d "$build/sdk/examples/$1" ] && return
    number=$((number + 1))
    echo "ok $number # SKIP $1: there is no C++ compiler"
    return 1
}

for file in "$kept"/*/*/*.so "$kept"/*/*/*/*.so; do
    check "${file#"$kept"/} is read as what it is" "$(basename "$file" .so) ${version%.*} ${version#*.}" \
        "$("$host" inspect "$file" 2>&1 | sed -n 's/^id: \|^  \(major\|minor_built\): //p' | paste -sd' ')"
done
prompt='--input-ids 1,5,9,2,7 --input-ids 3,4 --max-new-tokens 6'
# shellcheck disable=SC2086 # a list of words
{
    same patch_embed_linear plugins plugins --fusion patch_embeddings --model "$source/demo/tiny-qwen2-vl" \
        --image "$source/demo/tiny-qwen2-vl/samples/1-green-circle-on-yellow.png" --prompt 'What is it?' --max-new-tokens 4
    for example in logging_attention logging_attention_cpp short_conv quantized_linear quantized_linear_cpp; do
        built "$example" || continue
        same "$example" "sdk/examples/$example" "examples/$example" --plugins "$example" --model "$models/plain/llama" $prompt
    done
    # No build has the examples in Rust.
    same fused_gate_up_rust sdk/examples/fused_gate_up examples/fused_gate_up_rust --model "$models/plain/llama" $prompt
    for example in low_rank_adapter low_rank_adapter_cpp; do
        built "$example" || continue
        same "$example" "sdk/examples/$example" "examples/$example" --model "$source/tests/goldens/lora/llama" \
            --adapter "$source/tests/goldens/lora/llama/adapters/attention_r8" $prompt
    done
    # Divided among processes that the plugin mpi of today connects.
    if command -v mpirun >/dev/null 2>&1 && [ -f "$build/plugins/mpi/mpi.so" ]; then
        wanted=$(ids "$kept/plugins" --model "$models/plain/qwen2_moe" --dtype float32 $prompt)
        export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_mpi_yield_when_idle=1
        export OMPI_MCA_pml=ob1 OMPI_MCA_btl=self,vader # without a network, of which version 5 would say something
        export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0"
        for plugin in expert_parallel pipeline_parallel tensor_parallel; do
            check "$plugin of $version divides a model" "$wanted" "$(timeout 120 mpirun --oversubscribe -n 2 "$host" run \
                --plugins-dir "$kept/plugins" --plugins-dir "$build/plugins/mpi" --parallel mpi \
                --plugins "sequential_experts,fused_qkv,$plugin" --report none --quiet --output-ids \
                --model "$models/plain/qwen2_moe" --dtype float32 $prompt 2>&1)"
        done
    else
        number=$((number + 1))
        echo "ok $number # SKIP there is no mpirun, or the plugin mpi was not built"
    fi
}
echo "1..$number"
exit "$failed"
