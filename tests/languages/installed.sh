#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Usage: installed.sh SOURCE BUILD MESON: installs below a folder of its own, and does with what is there, and nothing else
# of the tree, what authors do: makes a plugin with each build system, in C and in C++, and the examples in C++ and in
# Rust; each plugin is validated and run. Reports in TAP.
# shellcheck disable=SC2317 # functions called by `runs`
set -u
. "$1/tests/tap.sh"
build=$(realpath "$2") meson=$3
model=$(realpath "$1/tests/goldens/plain/llama")
adapted=$(realpath "$1/tests/goldens/lora/llama")
scratch=$(mktemp -d "$build/installed-XXXXXX")
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
"$meson" install -C "$build" --no-rebuild --destdir "$scratch/root" >install.log 2>&1 || {
    tail -n 20 install.log
    exit 1
}
PKG_CONFIG_PATH=$(dirname "$(find root -name graft-sdk.pc)")
PKG_CONFIG_PATH=$scratch/$PKG_CONFIG_PATH
prefix=$(realpath "$(find root -type d -path '*/include/graft')/../..")
PATH=$prefix/bin:$PATH
export PKG_CONFIG_PATH PATH
unset PKG_CONFIG_SYSROOT_DIR LD_LIBRARY_PATH DESTDIR CFLAGS CXXFLAGS MAKEFLAGS
share=$prefix/share/graft
if ! grep -q pcfiledir "$PKG_CONFIG_PATH/graft-sdk.pc"; then
    echo '1..0 # SKIP the .pc files lead to the prefix, not to this copy of it'
    exit 0
fi

runs() { # runs TITLE COMMAND...: it succeeds
    title=$1
    shift
    if "$@" >log 2>&1; then
        check "$title" good good
    else
        check "$title" good "$(tail -c 2000 log)"
    fi
}
skip() { # skip WHAT WHY
    number=$((number + 1))
    echo "ok $number # SKIP $1: $2"
}
ids() { # ids [OPTION...]: what the program generates
    graft --model "$model" --input-ids 3,14,15 --max-new-tokens 6 --output-ids --report none --quiet "$@" 2>&1
}
original=$(ids)
plugin() { # plugin WHAT FILE CLASS: exports its entry, is valid, takes the place of the CLASS, and changes no id
    rm -rf plugins && mkdir plugins && cp "$2" plugins/
    check "$1: it exports its entry" graft_plugin_entry "$(nm -D --defined-only "$2" | sed 's/.* //')"
    runs "$1: it is valid" timeout 300 graft validate --quiet "$2"
    graft plan --model "$model" --plugins-dir plugins >planned 2>&1
    has "$1: it takes effect" "replaced   $3 -> " planned
    check "$1: the model generates what it did" "$original" "$(ids --plugins-dir plugins)"
}

# What README.md says of an installed copy.
awk '/^Where Graft is installed/ { found = 1 } found && /^    / { print; inside = 1; next } inside { exit }' \
    "$(find root -path '*/doc/graft/README.md')" >commands
check 'README.md has commands for an installed copy' 4 "$(wc -l <commands | tr -d ' ')"
runs 'README.md: they run' sh -eu commands

by_make() {
    make -C "$1" && make -C "$1" check && make -C "$1" install PREFIX="$scratch/placed"
}
made() { # made LANGUAGE SYSTEM: `new plugin`, then by that build system
    graft new plugin --class LlamaMLP --lang "$1" "$2_$1" && "by_$2" "$2_$1"
}
by_meson() {
    "$meson" setup "$1/build" "$1" --prefix "$scratch/placed" && "$meson" compile -C "$1/build" &&
        "$meson" test -C "$1/build" && "$meson" install -C "$1/build"
}
by_cmake() {
    cmake -S "$1" -B "$1/build" "-DCMAKE_INSTALL_PREFIX=$scratch/placed" && cmake --build "$1/build" &&
        ctest --test-dir "$1/build" && cmake --install "$1/build"
}
for language in c cpp; do
    for system in make meson cmake; do
        what="a new plugin in $language with $system"
        if ! command -v "$system" >/dev/null; then
            skip "$what" "there is no $system"
        elif [ "$language" = cpp ] && ! command -v c++ >/dev/null; then
            skip "$what" 'there is no C++ compiler'
        else
            rm -rf placed
            runs "$what: it builds, passes its check and is installed" made "$language" "$system"
            plugin "$what" "$(find placed -name "${system}_$language.so")" LlamaMLP
        fi
    done
done

# The examples by the commands of their READMEs.
commands() { # commands FILE: those of its first block of code
    awk '/^    / { sub(/^    /, ""); print; inside = 1; next } inside { exit }' "$1"
}
readme() { # readme EXAMPLE: in a copy
    cp -r "$share/examples/$1" . && ln -sf "$adapted" "$1/DIR" && ln -sf "$adapted/adapters/attention_r8" "$1/ADAPTER-DIR" &&
        (cd "$1" && commands README.md >steps && sh -eux steps)
}
if command -v c++ >/dev/null; then
    runs 'fused_gate_up_cpp: it builds as its README says' readme fused_gate_up_cpp
    plugin fused_gate_up_cpp fused_gate_up_cpp/fused_gate_up_cpp.so LlamaMLP
    for name in quantized_linear_cpp low_rank_adapter_cpp logging_attention_cpp starcoder2_cpp power_gate_cpp row_int8_cpp \
        token_bias_cpp; do
        runs "$name: it builds as its README says" readme "$name"
    done
    plugin logging_attention_cpp logging_attention_cpp/logging_attention_cpp.so LlamaAttention
else
    skip fused_gate_up_cpp 'there is no C++ compiler'
fi
if ! command -v cargo >/dev/null; then
    skip fused_gate_up_rust 'there is no cargo'
elif nm "$(find root -name libgraft-sdk.a)" | grep -q __asan_; then
    skip fused_gate_up_rust 'the library of the SDK is built with a sanitizer'
else
    # The example's path to the crate is as it is installed.
    mkdir examples && cp -r "$share/rust" . && cd examples || exit 1
    export CARGO_NET_OFFLINE=true
    for class in LlamaMLP LlamaRMSNorm SiLUActivation Linear LlamaAttention; do
        name=own_$(echo "$class" | tr '[:upper:]' '[:lower:]')
        runs "a new plugin in Rust for $class: it is made, builds and passes its tests" eval \
            "graft new plugin --class $class --lang rust $name && make -C $name test"
    done
    runs 'a new plugin in Rust passes its check' make -C own_llamamlp check
    for name in fused_gate_up_rust starcoder2_rust quantized_linear_rust low_rank_adapter_rust logging_attention_rust \
        power_gate_rust row_int8_rust token_bias_rust; do
        runs "$name: it builds as its README says" readme "$name"
    done
    cd ..
    plugin fused_gate_up_rust examples/fused_gate_up_rust/plugins/fused_gate_up_rust.so LlamaMLP
fi
for name in quantized_linear low_rank_adapter logging_attention power_gate row_int8 token_bias; do
    runs "$name: it builds as its README says" readme "$name"
done
echo "1..$number"
exit "$failed"
