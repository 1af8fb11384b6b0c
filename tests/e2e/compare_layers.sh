#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# compare_layers.py: which module of a model differs from transformers'. Reports in TAP; without torch and transformers it is
# skipped but for what the script says then.
# usage: compare_layers.sh HOST ROOT TYPES     TYPES is the folder of a build that has the golden cases of types
set -u
. "$(dirname "$0")/../tap.sh"
host=$(realpath "$1") root=$(realpath "$2") types=$(realpath "$3")
python=${GRAFT_PYTHON:-python3}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1

compare() { # compare OPTION...: out, err and $status
    status=0
    "$python" "$root/share/compare_layers.py" --host "$host" "$@" >out 2>err || status=$?
}
if ! command -v "$python" >/dev/null; then
    echo "1..0 # SKIP there is no $python"
    exit 0
fi
compare --help
check 'help: exit status' 0 "$status"
has 'help: says what it does' 'name the first one whose output differs' out
if ! "$python" -c 'import torch, transformers, safetensors' 2>err; then
    compare "$types/llama"
    check 'without torch: exit status' 2 "$status"
    has 'without torch: says what is needed' 'needs Python with torch and transformers: ' err
    number=$((number + 1))
    echo "ok $number # SKIP models are compared: $python has no torch and transformers (GRAFT_PYTHON names another)"
    echo "1..$number"
    exit "$failed"
fi

for case in llama qwen2_moe; do # and what they choose after the prompt
    compare "$types/$case"
    check "$case: exit status" 0 "$status"
    has "$case: says so" 'modules that both have agree, and so do the logits' out
    has "$case: ids, too" 'and 8 ids chosen after them' out
    check "$case: every Linear is compared" '' "$(grep Linear out)"
done
compare --all "$types/llama"
has 'all modules: each has its class' 'model.layers.1.mlp.down_proj (Linear)' out

# A family file with one fault: which module is the first to give something else.
mkdir plugins
odd() { # odd CHOICES: Llama with other choices
    echo "{\"model_type\": \"llama\", \"like\": \"llama\", \"prefix\": \"Odd\", \"decoder\": $1,
        \"architectures\": {\"LlamaForCausalLM\": \"OddForCausalLM\"}}" >plugins/odd.family.json
    compare --plugins-dir plugins --plugins odd "$types/llama"
}
fault() { # fault CHOICES MODULE
    odd "$1"
    check "$1: exit status" 1 "$status"
    check "$1: the module" "$2" "$(sed -n 's/ (.*is the first module that differs.*//p' out)"
}
fault '{"norm": {"offset": 1}}' model.layers.0.input_layernorm
fault '{"rotary": {"interleaved": true}}' model.layers.0.self_attn.o_proj
has 'a Linear is right: says where to look' "so look at what model.layers.0.self_attn (LlamaAttention) gives it" out
fault '{"layer": {"residual_scale": 0.5}}' model.layers.0.post_attention_layernorm
fault "{\"mlp\": {\"act\": \"'gelu'\"}}" model.layers.0.mlp.act_fn
has 'what agrees before it' 'modules before it agree, the last of them model.layers.0.mlp.gate_proj' out
odd '{"head": {"scale": 2}}'
check 'logits: exit status' 1 "$status"
has 'logits: says so' 'modules agree, the logits do not' out

refused() { # refused WHAT MESSAGE OPTION...
    what=$1 message=$2
    shift 2
    compare "$@"
    check "$what: exit status" 2 "$status"
    has "$what: says so" "$message" err
}
refused 'no model' 'nowhere: expected a model directory' nowhere
refused 'no program' 'nowhere/graft: No such file' --host nowhere/graft "$types/llama"
refused 'ids that are none' '--ids: expected numbers' --ids 1,b "$types/llama"
refused 'what the program refuses' 'the program ends with 3: ' --plugins-dir nowhere --plugins x "$types/llama"
echo "1..$number"
exit "$failed"
