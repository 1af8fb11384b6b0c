#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Usage: rust.sh SOURCE HOST MODEL LIBRARY PLUGINS GOLDENS: the crate of sdk/rust builds with rustc alone and without a
# warning; it takes structs and constants to be what a C compiler makes of the headers; the examples do what their
# originals do, operations move weights as they say, and no panic gets past the crate. MODEL is a llama, LIBRARY is
# libgraft-sdk.a, PLUGINS and GOLDENS where plugins and golden models were built. Reports in TAP.
set -u
source=$1
. "$source/tests/tap.sh"
host=$2 model=$3 library=$(dirname "$4") plugins=$5 goldens=$6
starcoder2=$plugins/families/starcoder2
here=$source/tests/languages
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
rustc=${RUSTC:-rustc}
if ! "$rustc" --version >"$scratch/version" 2>/dev/null; then
    echo '1..0 # SKIP there is no rustc'
    exit 0
fi
echo "# $(cat "$scratch/version")"
if [ "$(getconf LONG_BIT)" != 64 ]; then
    echo '1..0 # SKIP layouts are on record for pointers of 8 bytes'
    exit 0
fi

rust() { # rust TYPE SOURCE OUTPUT OPTION...
    kind=$1 input=$2 output=$3
    shift 3
    "$rustc" --edition 2021 -O -D warnings --crate-type "$kind" "$input" -o "$output" -L "native=$library" "$@" 2>&1
}
check 'the crate builds' '' \
    "$(rust rlib "$source/sdk/rust/src/lib.rs" "$scratch/libgraft.rlib" --crate-name graft -l static=graft-sdk)"
use=--extern=graft=$scratch/libgraft.rlib

check 'layouts.rs builds' '' "$(rust bin "$here/layouts.rs" "$scratch/layouts" "$use" -l m)"
"$scratch/layouts" | sed 's/_\( [0-9]* [0-9]*\)$/\1/' | LC_ALL=C sort >"$scratch/rust" # `super` is a keyword
"$source/tests/abi/layout.sh" "$source" sdk | awk -f "$here/flat_layout.awk" | LC_ALL=C sort >"$scratch/c"
check 'there are structs' yes "$([ "$(grep -c -v -e '\.' -e GRAFT_ "$scratch/rust")" -gt 30 ] && echo yes || echo no)"
# Of what C has: the structs and constants that the crate declares, with all members.
awk '{ sub(/\..*/, "", $1) } NR == FNR { known[$1] = 1; next } $1 in known { print FNR }' "$scratch/rust" "$scratch/c" >"$scratch/lines"
awk 'NR == FNR { wanted[$1] = 1; next } FNR in wanted' "$scratch/lines" "$scratch/c" >"$scratch/wanted"
check 'structs and constants are those of the headers' '' "$(diff "$scratch/wanted" "$scratch/rust")"

run() { # run FOLDER: ids
    timeout 60 "$host" --model "$model" --plugins-dir "$1" --report none --quiet --input-ids 3,14,15 \
        --max-new-tokens 6 --output-ids
}
valid() { # valid PLUGIN
    check "validate finds nothing in $(basename "$1")" "1..$("$host" validate --list | wc -l | tr -d ' ')" \
        "$(timeout 300 "$host" validate --quiet "$1" 2>&1)"
}
mkdir "$scratch/none" "$scratch/example" "$scratch/panics"
plugin=$scratch/example/fused_gate_up_rust.so
check 'the example builds' '' "$(rust cdylib "$source/sdk/examples/fused_gate_up_rust/src/lib.rs" "$plugin" "$use")"
check 'it exports its entry' graft_plugin_entry "$(nm -D --defined-only "$plugin" | sed 's/.* //')"
"$host" verify --model "$model" --plugins-dir "$scratch/example" --input-ids 5,6,7 --tolerance 0 >"$scratch/verified" 2>&1
check 'it does what the original does, to the bit' 0 $?
has 'in its place' 'LlamaMLP -> FusedGateUpMLPInRust by fused_gate_up_rust: largest difference 0 ' "$scratch/verified"
valid "$plugin"

mkdir "$scratch/turned" "$scratch/family"
check 'operations.rs builds' '' "$(rust cdylib "$here/operations.rs" "$scratch/turned/turned.so" "$use")"
"$host" verify --model "$model" --plugins-dir "$scratch/turned" --input-ids 5,6,7 >"$scratch/verified" 2>&1
check 'each operation moves weights as it says' 0 $?
has 'in the place of the original' 'LlamaMLP -> TurnedMLPInRust by turned_rust: largest difference ' "$scratch/verified"
"$host" save --quiet --model "$model" --plugins-dir "$scratch/turned" --output "$scratch/saved" &&
    cmp "$model/model.safetensors" "$scratch/saved/model.safetensors"
check 'and back, to the bit, by its own operation' 0 $?

# By the tests that those in C have.
examples=$source/sdk/examples
as_in_c() { # as_in_c EXAMPLE MODELS [PLUGIN]: what its test is given beside the example
    built=$scratch/$1/$1_rust.so
    mkdir "$scratch/$1"
    check "$1_rust builds" '' "$(rust cdylib "$examples/$1_rust/src/lib.rs" "$built" "$use")"
    valid "$built"
    timeout 300 sh "$examples/$1/test.sh" "$host" "$2" "$built" ${3+"$3"} >"$scratch/log" 2>&1
    check "$1_rust does what $1 does" 0 "$?"
}
as_in_c logging_attention "$goldens"
as_in_c quantized_linear "$source/tests/goldens/lora/llama"
as_in_c low_rank_adapter "$source/tests/goldens/lora/llama" "$plugins/lora/lora.so"

for name in power_gate row_int8 token_bias; do
    check "${name}_rust builds" '' "$(rust cdylib "$examples/${name}_rust/src/lib.rs" "$scratch/${name}_rust.so" "$use")"
done
valid "$scratch/power_gate_rust.so"
check 'validate finds nothing in token_bias_rust.so' 0 \
    "$("$host" validate --quiet "$scratch/token_bias_rust.so" >"$scratch/out" 2>&1; echo $?)"
"$here/oracles.sh" "$host" "$source" "$scratch"/power_gate_rust.so "$scratch"/token_bias_rust.so \
    "$plugins/../sdk/examples/row_int8/row_int8.so" "$scratch"/row_int8_rust.so \
    "$scratch"/*/quantized_linear_rust.so "$scratch"/*/low_rank_adapter_rust.so >"$scratch/oracles" 2>&1
check 'what oracles say is computed in Rust, too' '0 ' "$? $(grep '^not ok' "$scratch/oracles")"

check 'starcoder2_rust builds' '' \
    "$(rust cdylib "$examples/starcoder2_rust/src/lib.rs" "$scratch/family/starcoder2_rust.so" "$use")"
valid "$scratch/family/starcoder2_rust.so"
for name in starcoder2 starcoder2_bf16_tied starcoder2_plain_sharded; do
    for folder in "$starcoder2" "$scratch/family"; do
        timeout 60 "$host" --model "$starcoder2/goldens/$name" --plugins-dir "$folder" --report none --quiet \
            --input-ids 5,6,7,8,9,10,11,12 --max-new-tokens 8 --output-ids --logits "$scratch/logits" 2>&1
        cksum <"$scratch/logits"
    done >"$scratch/ran"
    check "$name: ids and logits are those of the plugin in C" "$(sed -n '1,2p' "$scratch/ran")" \
        "$(sed -n '3,4p' "$scratch/ran")"
    check "$name: there are ids" 1 "$(sed -n 1p "$scratch/ran" | grep -c '^[0-9,]*$')"
done

check 'panics.rs builds' '' "$(rust cdylib "$here/panics.rs" "$scratch/panics/panics.so" "$use")"
check 'as long as nothing panics it works' "$(run "$scratch/none")" "$(run "$scratch/panics")"
fails() { # fails PLACE STATUS MESSAGE: one line of error, and its exit status
    PANIC_AT=$1 run "$scratch/panics" >"$scratch/out" 2>"$scratch/err"
    check "fault in $1" "$2 $(basename "$host"): $3" "$? $(sed "s,$here/,,; s,[^ ]*/config.json: ,," "$scratch/out" "$scratch/err")"
}
for place in describe create forward body; do
    fails "$place" 3 "model.layers.0.mlp: panic: asked in $place,?on purpose (panics.rs:14)"
done
fails length 3 'model.layers.0.mlp: hidden_states of an MLP: expected 4 x 64 numbers, got 192'
fails question 3 'model.layers.0.mlp: invalid digit found in string'
fails options 3 'model.layers.0.mlp: 7 0.25 true Some("two words") None'
fails error 4 'config.json: it is at fault'
fails recorded 3 'model.layers.0.mlp: argument hidden_size: expected 1 to 1 from the parent, got 64'
check 'a panic in drop harms nobody' "$(run "$scratch/none")" "$(PANIC_AT=drop run "$scratch/panics")"
PANIC_AT=entry run "$scratch/panics" >"$scratch/out" 2>"$scratch/err"
check 'fault in entry: exit status' 3 $?
has 'fault in entry' 'graft_plugin_entry returned NULL: panic: asked in entry,?on purpose' "$scratch/err"
check 'fault in entry: its reason is the reason' '' "$(grep 'without giving a reason' "$scratch/err")"
# Mistakes of authors are named as those in C are.
check 'mistakes.rs builds' '' "$(rust cdylib "$source/tests/mistakes/mistakes.rs" "$scratch/mistakes.so" "$use")"
valid "$scratch/mistakes.so"
while IFS='|' read -r name only says; do
    case $name in '' | '#'*) continue ;; esac
    GRAFT_TEST_MISTAKE=$name "$host" validate --quiet "$scratch/mistakes.so" --only "$only" >"$scratch/out" 2>&1
    has "$name" "$says" "$scratch/out"
done <"$source/tests/mistakes/mistakes_rust.cases"
echo "1..$number"
exit "$failed"
