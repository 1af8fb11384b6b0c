#!/bin/sh
# The example, in whatever language, in every model that has attention, whatever that is called: each call of one gets its
# line, and nothing else changes, not by one bit.
# usage: test.sh HOST GOLDENS_FOLDER LOGGING_ATTENTION
set -eu
host=$1 goldens=$2 id=$(basename "$3" .so)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/plugins"
cp "$3" "$scratch/plugins/"
for model in "$goldens"/plain/* "$goldens"/patched/* "$goldens"/encoders/* "$goldens"/vision/*; do
    case $model in *mamba*) continue ;; esac
    echo "${model#"$goldens/"}"
    "$host" plan --model "$model" --plugins-dir "$scratch/plugins" >"$scratch/plan"
    modules=$(sed -n "s/.*Attention -> LoggingAttention[A-Za-z]* by $id .* in \([0-9]*\) module.*/\1/p" "$scratch/plan")
    [ "$modules" -gt 0 ]
    "$host" verify --model "$model" --plugins-dir "$scratch/plugins" --input-ids 5,6,7 --max-new-tokens 0 --tolerance 0 \
        >"$scratch/verify" 2>"$scratch/log"
    [ "$(grep -c "^$id: .*: 3 tokens\$" "$scratch/log")" -ge "$modules" ]
    [ "$(grep -c "LoggingAttention[A-Za-z]* by $id: largest difference 0 " "$scratch/verify")" = "$modules" ]
done
"$host" plan --model "$goldens/vision/qwen2_vl_videos" --plugins-dir "$scratch/plugins" |
    grep -q "note .*$id: pattern \"Attention\\$\" leaves VisionAttention (.*) alone: LoggingAttention[A-Za-z]* is a "
