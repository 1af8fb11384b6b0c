#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Usage: oracles.sh HOST SOURCE PLUGIN...: the examples, in whatever language (EXAMPLE.so, EXAMPLE_cpp.so, EXAMPLE_rust.so),
# compute what golden.txt of sdk/examples/EXAMPLE says: ids, and logits within 5e-5 of the largest. Where there is a
# Python with numpy, each oracle.py prints the same again. Reports in TAP.
set -u
. "$(dirname "$0")/../tap.sh"
host=$(realpath "$1") source=$(realpath "$2")
shift 2
examples=$source/sdk/examples goldens=$source/tests/goldens
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/plugins" "$scratch/power_gate"

# A model of a type of its own: the small llama with another config.json.
for file in model.safetensors generation_config.json; do
    ln -s "$goldens/plain/llama/$file" "$scratch/power_gate/"
done
sed 's/"model_type": "llama"/"model_type": "power_gate"/; s/LlamaForCausalLM/PowerGateForCausalLM/' \
    "$goldens/plain/llama/config.json" >"$scratch/power_gate/config.json"

# Whether the second file has the ids of the first, and logits that differ by no more.
agree() { # agree WANTED GOT
    awk '$1 == "ids" { ids[FNR == NR] = $2 }
        $1 == "logits" { for (i = 2; i <= NF; i++) logits[FNR == NR, i] = $i; n[FNR == NR] = NF }
        END {
            for (i = 2; i <= n[1]; i++) { size = logits[1, i] < 0 ? -logits[1, i] : logits[1, i]; if (size > most) most = size }
            for (i = 2; i <= n[1]; i++) {
                away = logits[1, i] - logits[0, i]
                if (!(away * away <= (5e-5 * most) ^ 2)) { print "logit " i - 2 ": " logits[1, i] ", got " logits[0, i] }
            }
            if (n[1] < 2 || n[0] != n[1]) print "other numbers of logits"
            if (ids[1] == "" || ids[0] != ids[1]) print "ids " ids[1] ", got " ids[0]
        }' "$1" "$2"
}

# What the program gives, as an oracle prints it.
run() { # run LOGITS OPTION...: the first so many logits after the prompt
    count=$1
    shift
    "$host" run "$@" --input-ids 3,14,15,92 --max-new-tokens 8 --temperature 0 --output-ids --dtype float32 --quiet \
        --report none --logits "$scratch/logits" >"$scratch/ids" 2>"$scratch/err" || return
    echo "ids $(cat "$scratch/ids")"
    header=$(od -An -v -t d8 -N 8 "$scratch/logits" | tr -d ' ')
    bytes=$(wc -c <"$scratch/logits")
    row=$(((bytes - 8 - header) / 4)) # of four tokens
    echo "logits $(od -An -v -t f4 -j $((8 + header + 3 * row)) -N $((4 * count)) "$scratch/logits" | xargs)"
}
quantized=$scratch/quantized
for plugin; do
    id=$(basename "$plugin" .so)
    example=${id%_cpp}
    example=${example%_rust}
    golden=$examples/$example/golden.txt
    rm -f "$scratch"/plugins/* && cp "$plugin" "$scratch/plugins/"
    set -- --plugins-dir "$scratch/plugins" --enable "$id"
    case $example in
    low_rank_adapter)
        set -- "$@" --model "$goldens/lora/llama" --adapter "mine=$goldens/lora/llama/adapters/attention_r8"
        ;;
    power_gate) set -- "$@" --model "$scratch/power_gate" ;;
    row_int8) # the example in C also makes such a checkpoint
        [ -d "$quantized" ] || "$host" save --quiet --model "$goldens/plain/llama" "$@" --quantize row_int8 --output "$quantized"
        set -- "$@" --model "$quantized"
        ;;
    token_bias)
        set -- "$@" --model "$goldens/plain/llama" --logits-processor "$id" --plugin-option "$id.list=87:-9,64:2.5"
        ;;
    *) set -- "$@" --model "$goldens/plain/llama" ;;
    esac
    run "$(($(sed -n 's/^logits //p' "$golden" | wc -w)))" "$@" >"$scratch/got"
    check "$id computes what its oracle says" '' "$(agree "$golden" "$scratch/got")$(cat "$scratch/err")"
done

python=${GRAFT_TEST_PYTHON:-python3}
"$python" -c 'import numpy' 2>/dev/null && has_numpy=1 || has_numpy=0
for oracle in "$examples"/*/oracle.py; do
    folder=$(dirname "$oracle")
    title="the oracle of $(basename "$folder") prints its golden.txt"
    if [ "$has_numpy" = 0 ]; then
        number=$((number + 1))
        echo "ok $number - $title # SKIP there is no Python with numpy"
        continue
    fi
    set -- "$goldens/plain/llama"
    [ "$(basename "$folder")" = low_rank_adapter ] &&
        set -- "$goldens/lora/llama" "$goldens/lora/llama/adapters/attention_r8"
    PYTHONDONTWRITEBYTECODE=1 "$python" "$oracle" "$@" >"$scratch/got" 2>&1
    check "$title" '' "$(agree "$folder/golden.txt" "$scratch/got")"
done
echo "1..$number"
exit "$failed"
