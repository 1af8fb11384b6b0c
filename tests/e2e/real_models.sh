#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Real models, where they are: what a user gets from them is what transformers gets. Reports in TAP.
# usage: real_models.sh HOST PLUGINS TABLE
#
# GRAFT_TEST_MODELS is the folder with the models, which scripts/fetch-test-models fills; a model that is not there is
# skipped. TABLE is tests/data/real_models.txt, made by tests/goldens/make_real_models_golden.py: lines of kind, model,
# what goes in and what comes out, separated by tabs.
set -u
. "$(dirname "$0")/../tap.sh"
host=$(realpath "$1")
plugins=$(realpath "$2")
table=$(realpath "$3")
models=${GRAFT_TEST_MODELS:-}
if [ -z "$models" ]; then
    echo '1..0 # SKIP GRAFT_TEST_MODELS names no folder with real models (scripts/fetch-test-models makes one)'
    exit 0
fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
tab=$(printf '\t')

run() { # run ARGUMENTS: stdout of the program, which is quiet and has all plugins
    timeout 280 "$host" run --quiet --plugins-dir "$plugins" --model "$model" "$@" </dev/null 2>"$scratch/err" ||
        cat "$scratch/err"
}

# Whether two lists of numbers differ by no more than the rounding errors of f32, and of the six digits in the table.
differ() { # differ WANTED GOT: the largest difference, if it is larger
    printf '%s\n%s\n' "$1" "$2" | tr -d '[] ' | awk -F , '
        NR == 1 { n = NF; for (i = 1; i <= NF; i++) { wanted[i] = $i; if ($i * $i > largest) largest = $i * $i } }
        NR == 2 {
            if (NF != n) { print NF " numbers instead of " n; exit }
            for (i = 1; i <= n; i++) { d = $i - wanted[i]; if (d < 0) d = -d; if (d > most) most = d }
            if (most > 1e-6 + 2e-6 * sqrt(largest)) print most
        }'
}

while IFS=$tab read -r kind name given wanted; do
    model=$models/$name
    [ "${kind#\#}" = "$kind" ] || continue
    if [ ! -f "$model/config.json" ]; then
        number=$((number + 1))
        echo "ok $number - $name: $kind # SKIP $model is not there"
        continue
    fi
    what="$name: $kind: $(printf %.40s "$given")"
    case $kind in
    vector) check "$what" '' "$(differ "$wanted" "$(run --embed --prompt "$given")")" ;;
    vector_of_ids) check "$what" '' "$(differ "$wanted" "$(run --embed --input-ids "$given")")" ;;
    encode)
        check "$what" "$wanted" "$(printf '%s\n' "$given" | "$host" tokenize --model "$model" --no-special-tokens 2>&1 |
            tr -d '[] ')"
        ;;
    ids)
        n=$(echo "$wanted" | tr , '\n' | wc -l | tr -d ' ')
        check "$what" "$wanted" "$(run --input-ids "$given" --temperature 0 --dtype float32 --output-ids --max-new-tokens "$n")"
        ;;
    chat) check "$what" "$wanted" "$(run --input-ids "$given" --temperature 0 --dtype float32 --max-new-tokens 24)" ;;
    *) check "$what" 'a kind that this test knows' "$kind" ;;
    esac
done <"$table"

# What people do first with a chat model, and what they are told then.
model=$models/SmolLM2-135M-Instruct
if [ -f "$model/config.json" ]; then
    timeout 280 "$host" --report none --model "$model" --prompt 'What is the capital of France?' </dev/null \
        >"$scratch/out" 2>"$scratch/err"
    check 'a question to a chat model without turns: no answer' '' "$(cat "$scratch/out")"
    has 'a question to a chat model without turns: a hint' 'the model has a chat template' "$scratch/err"
fi
echo "1..$number"
exit "$failed"
