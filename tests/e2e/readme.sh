#!/bin/sh
# The plugin that README.md lists is the example of the SDK, builds with the command that stands there, and leaves every
# model as it is, to the bit: also those whose attention gets arguments that not every class has to know. The picture
# shows what `plan` says.
# usage: readme.sh HOST PROJECT_ROOT MODEL [MODEL FAMILY_FOLDER]...
set -eu
. "$(dirname "$0")/../tap.sh"
host=$1 root=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# The code without comments and blanks; the listing is laid out more tightly than clang-format would.
code() { # code FILE
    tr '\n' ' ' <"$1" | sed 's|/\*[^*]*\*/||g' | tr -d '[:space:]'
}

listing=$scratch/logging_attention.c
# shellcheck disable=SC2016 # the fences of a listing
sed -n '/^## A plugin in 40 lines/,/^## /p' "$root/README.md" | sed -n '/^```c$/,/^```$/p' | sed '1d;$d' >"$listing"
check 'the listing is the example' "$(code "$root/sdk/examples/logging_attention/logging_attention.c")" "$(code "$listing")"

build=$(sed -n '/^    cc -shared.*\\$/,/[^\\]$/p' "$root/README.md" | sed 's/\\$//' | tr '\n' ' ')
mkdir "$scratch/my_plugins"
build=$(echo "$build" | sed "s#sdk/examples/logging_attention/logging_attention.c#$listing#; s#my_plugins/#$scratch/&#")
check 'it builds' '' "$(cd "$root" && sh -c "$build -Wall -Wextra -Werror" 2>&1)"

plugins=$(dirname "$host")/../plugins
"$host" plan --model "$root/demo/tiny-qwen2-moe" --plugins-dir "$plugins/fused_qkv" \
    --plugins-dir "$plugins/sequential_experts" >"$scratch/plan" 2>&1
for words in 'Qwen2MoeAttention -> FusedQKVAttention by fused_qkv' \
    'Qwen2MoeExperts -> ModuleListExperts by sequential_experts' 'qkv_proj.weight: Concatenate(dim=0), row blocks' \
    ' 0 bytes copied'; do
    has "the plan: $words" "$words" "$scratch/plan"
done
for word in 'fused_qkv, for Qwen2MoeAttention' 'sequential_experts, for Qwen2MoeExperts' FusedQKVAttention \
    ModuleListExperts qkv_proj.weight 'Concatenate(dim=0)' Qwen2MoeForCausalLM 'no copy'; do
    has "the picture: $word" "$word" "$root/docs/plan.svg"
done

shift 2
unchanged() { # unchanged MODEL ARGUMENT...
    model=$1
    shift
    status=0
    "$host" verify --model "$model" --plugins-dir "$scratch/my_plugins" "$@" --input-ids 5,6,7 --max-new-tokens 2 \
        --tolerance 0 >"$scratch/out" 2>"$scratch/log" || status=$?
    check "$(basename "$model"): status" 0 "$status"
    has "$(basename "$model"): each call is logged" ': 3 tokens' "$scratch/log"
}
unchanged "$1"
shift
while [ $# -gt 0 ]; do
    unchanged "$1" --plugins-dir "$2"
    shift 2
done

echo "1..$number"
exit $failed
