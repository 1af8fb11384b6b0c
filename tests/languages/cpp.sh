#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Usage: cpp.sh SOURCE HOST MODEL PLUGIN: graft/graft.hpp and the examples on it compile without a warning in each standard
# from C++17 on, also without RTTI; PLUGIN, the example in C++, does what its original does; and no exception gets past the layer. MODEL is
# a llama. Weights that each operation of the layer moves are where they should be. Reports in TAP.
set -u
source=$1
. "$source/tests/tap.sh"
host=$2 model=$3 plugin=$4
thrower=$source/tests/languages/throws.cc
turned=$source/tests/languages/operations.cc
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
if ! command -v c++ >/dev/null; then
    echo '1..0 # SKIP there is no C++ compiler'
    exit 0
fi

compile() { # compile COMPILER OPTION...
    "$@" -Wall -Wextra -Wpedantic -Wshadow -Werror -I "$source/sdk/include" 2>&1
}
for compiler in g++ clang++; do
    if ! command -v "$compiler" >/dev/null; then
        number=$((number + 1))
        echo "ok $number # SKIP $compiler is not installed"
        continue
    fi
    for header in graft interfaces conversions descriptor failure processor; do
        check "$header.hpp alone with $compiler" '' \
            "$(compile "$compiler" -std=c++17 -fsyntax-only -x c++ -include "graft/$header.hpp" -include "graft/$header.hpp" /dev/null)"
    done
    for standard in c++17 c++20 c++2b; do
        check "throws.cc with $compiler in $standard" '' "$(compile "$compiler" "-std=$standard" -fsyntax-only "$thrower")"
        check "operations.cc with $compiler in $standard" '' \
            "$(compile "$compiler" "-std=$standard" -fsyntax-only "$turned")"
        check "the examples with $compiler in $standard, without RTTI" '' \
            "$(compile "$compiler" "-std=$standard" -fsyntax-only -fno-rtti "$source"/sdk/examples/*_cpp/*.cc)"
    done
done

run() { # run FOLDER OPTION...: ids
    folder=$1
    shift
    timeout 60 "$host" --model "$model" --plugins-dir "$folder" --report none --quiet --input-ids 3,14,15 \
        --max-new-tokens 6 --output-ids "$@"
}
mkdir "$scratch/none" "$scratch/example" "$scratch/throws"
cp "$plugin" "$scratch/example/"
"$host" verify --model "$model" --plugins-dir "$scratch/example" --input-ids 5,6,7 --tolerance 0 >"$scratch/verified" 2>&1
check 'the example does what the original does, to the bit' 0 $?
has 'in its place' 'LlamaMLP -> FusedGateUpMLPInCpp by fused_gate_up_cpp: largest difference 0 ' "$scratch/verified"
check 'validate finds nothing in it' "1..$("$host" validate --list | wc -l | tr -d ' ')" \
    "$(timeout 300 "$host" validate --quiet "$plugin" 2>&1)"

mkdir "$scratch/turned"
check 'operations.cc builds' '' "$(compile c++ -std=c++17 -shared -fPIC "$turned" \
    -Wl,--version-script="$source/sdk/plugin.map" -o "$scratch/turned/turned.so")"
"$host" verify --model "$model" --plugins-dir "$scratch/turned" --input-ids 5,6,7 >"$scratch/verified" 2>&1
check 'each operation moves weights as it says' 0 $?
has 'in the place of the original' 'LlamaMLP -> TurnedMLP by turned: largest difference ' "$scratch/verified"

check 'throws.cc builds' '' "$(compile c++ -std=c++17 -shared -fPIC "$thrower" \
    -Wl,--version-script="$source/sdk/plugin.map" -o "$scratch/throws/throws.so")"
check 'it exports its entry and nothing of the standard library' graft_plugin_entry \
    "$(nm -D --defined-only "$scratch/throws/throws.so" | sed 's/.* //')"
check 'as long as nothing is thrown it works' "$(run "$scratch/none")" "$(run "$scratch/throws")"

thrown() { # thrown PLACE STATUS MESSAGE: one line of error, and its exit status
    THROW_AT=$1 run "$scratch/throws" >"$scratch/out" 2>"$scratch/err"
    check "thrown in $1" "$2 $(basename "$host"): $3" "$? $(sed 's,[^ ]*/config.json: ,,' "$scratch/out" "$scratch/err")"
}
for place in describe create forward body; do
    thrown "$place" 3 "model.layers.0.mlp: exception: thrown in $place,?on purpose"
done
thrown nothing 3 'model.layers.0.mlp: an exception that is no std::exception'
thrown memory 1 'model.layers.0.mlp: out of memory'
thrown failure 4 'config.json: it is at fault'
thrown recorded 3 'model.layers.0.mlp: argument hidden_size: expected 1 to 1 from the parent, got 64'
echo "1..$number"
exit "$failed"
