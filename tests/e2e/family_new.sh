#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# `family new`: a family file for a checkpoint whose model type is not known. The checkpoints are those of known types under
# another name, so what the file should say is known. Reports in TAP.
# usage: family_new.sh HOST PLAIN     PLAIN is the folder of a build that has the plain golden cases
set -u
. "$(dirname "$0")/../tap.sh"
host=$(realpath "$1") plain=$(realpath "$2")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1

unknown() { # unknown CASE [EDIT]: a copy of the case as `model`, of the type acme
    rm -rf model acme.family.json
    cp -r "$plain/$1" model && chmod -R u+w model
    sed "s/\"model_type\": \"[a-z0-9_]*\"/\"model_type\": \"acme\"/; s/\"[A-Za-z0-9]*ForCausalLM\"/\"AcmeForCausalLM\"/; ${2:-}" \
        "$plain/$1/config.json" >model/config.json
}
new() { # new OPTION...: out, err and $status
    status=0
    "$host" family new "$@" model >out 2>err || status=$?
}
ids() { # ids MODEL OPTION...
    "$host" --quiet --input-ids 5,6,7,8 --max-new-tokens 8 --output-ids --model "$@" 2>&1
}
same() { # same WHAT CASE: the model runs with the file that was written, strictly, and gives what the case gives
    mkdir -p plugins && rm -f plugins/* && cp acme.family.json plugins
    check "$1: nothing is left over" 0 "$("$host" plan --strict --model model --plugins-dir plugins >planned 2>&1; echo $?)"
    check "$1: it generates the same" "$(ids "$plain/$2")" "$(ids model --plugins-dir plugins)"
}

unknown llama
new --like llama
check 'another name: exit status' 0 "$status"
has 'another name: says what it wrote' 'acme.family.json: the model type acme, like llama' out
check 'another name: nothing more to say' '' "$(grep -E '^ |could' out)"
has 'another name: says what it cannot see' 'compare with the model' out
has 'another name: a version for a package' '"version": "0.1.0"' acme.family.json
has 'another name: a place for the licence' '"license": "none given"' acme.family.json
has 'another name: the prefix of its classes' '"prefix": "Acme"' acme.family.json
same 'another name' llama

unknown llama 's/AcmeForCausalLM/LlamaForCausalLM/'
new
has 'the classes of a known type: a prefix of its own' '"prefix": "Acme"' acme.family.json
has 'the classes of a known type: its root' '"LlamaForCausalLM": "AcmeForCausalLM"' acme.family.json
same 'the classes of a known type' llama

unknown qwen2
new --like llama
has 'biases: seen by the tensors' 'decoder.attention.qkv_bias: true, by the tensors' out
has 'biases: a field that nobody uses' 'config.json: max_window_layers (28): nobody uses it; ' out
sed -i 's/"like"/"without_effect": ["max_window_layers"],\n  "like"/' acme.family.json
same 'biases' qwen2
unknown qwen2
new
has 'no --like: the nearest' 'the model type acme, like qwen2' out
same 'no --like' qwen2
unknown qwen2_moe_gqa
new
has 'experts: the nearest' 'the model type acme, like qwen2_moe' out
same 'experts' qwen2_moe_gqa
unknown qwen3_bias
new --like qwen2
has 'norms of heads: seen by the tensors' 'decoder.attention.head_norm: "head", by the tensors' out
has 'norms of heads: a field that one family uses' 'decoder.attention.o_bias: "attention_bias' out

unknown llama_head_dim 's/"hidden_size"/"n_embd"/; s/"num_hidden_layers"/"n_layer"/; s/"rms_norm_eps"/"norm_eps"/; s/"vocab_size"/"n_vocab"/'
new --like llama
has 'other names of fields' 'aliases.hidden_size: "n_embd"' out
has 'other names of fields: each' 'aliases.rms_norm_eps: "norm_eps"' out
same 'other names of fields' llama_head_dim

unknown mistral_window_absent
new --like mistral
has 'defaults: of the other type' 'defaults.sliding_window: 4096, which config.json does not say' out
has 'defaults: in the file' '"sliding_window": 4096' acme.family.json
same 'defaults' mistral_window_absent

# What cannot be told.
unknown llama 's/"hidden_size"/"odd_scale": 0.5,\n"hidden_size"/'
LC_ALL=C sed -i 's/post_attention_layernorm/post_attention_odd_norms/g' model/model.safetensors
new --like llama
check 'left over: exit status' 0 "$status"
has 'left over: a field' 'config.json: odd_scale (0.5): nobody uses it' out
has 'left over: a tensor, once for all layers' \
    'tensor model.layers.0.post_attention_odd_norms.weight and 1 like it: no module takes it' out
has 'left over: a parameter' \
    'parameter model.layers.0.post_attention_layernorm.weight and 1 like it: the checkpoint has nothing that fits' out
unknown llama 's/"hidden_act": "silu"/"hidden_act": "odd"/'
new --like llama
check 'cannot be opened: exit status' 0 "$status"
has 'cannot be opened: says why' 'could not be opened: hidden_act: unknown activation "odd"' out
has 'cannot be opened: there is a file' '"like": "llama"' acme.family.json

refused() { # refused WHAT STATUS MESSAGE
    check "$1: exit status" "$2" "$status"
    has "$1: says so" "$3" err
    check "$1: no file" '' "$(ls ./*.family.json 2>/dev/null)"
}
unknown llama
cp "$plain/llama/config.json" model/config.json
new --like llama
refused 'a known type' 2 'model type "llama" is known already'
unknown llama
new --like lama
refused 'like nothing' 2 '--like: model type "lama" is not known'
new --like llama --output acme.json
refused 'not a name of such a file' 2 '--output: expected a name that ends in .family.json, got acme.json'
new --like llama --output nowhere/acme.family.json
refused 'nowhere' 5 'nowhere/acme.family.json'
sed -i 's/"model_type": "acme"/"model_type": "a\/b"/' model/config.json
new --like llama
refused 'a type that is no name' 4 'config.json: model_type: expected a name'
unknown llama
echo '{' >model/config.json
new --like llama
refused 'a broken config' 4 'model/config.json: '
rm -rf model
new --like llama
refused 'no directory' 4 'model'
unknown llama
new --like llama --output there.family.json
check 'another place' '"model_type": "acme",' "$(sed -n 's/^ *\("model_type".*\)/\1/p' there.family.json)"
new --like llama --output there.family.json
check 'a file that is there: exit status' 5 "$status"
has 'a file that is there: says so' 'there.family.json: exists already' err
rm ./*.family.json

# A model type is a file's name, and text on a terminal.
for bad in '' '../acme' '\\u001b[2J' '\\u202eacme' 'ac\\u0085me'; do
    unknown llama
    sed -i "s|\"model_type\": \"acme\"|\"model_type\": \"$bad\"|" model/config.json
    new --like llama
    check "the model type \"$bad\": exit status" 4 "$status"
    has "the model type \"$bad\": is named" 'model/config.json: model_type: expected a name' err
    check "the model type \"$bad\": nothing is written" 0 "$(find . -maxdepth 1 -name '*.family.json' | wc -l)"
done

# Drafts are tried from a temporary folder, which is not left behind.
unknown llama
mkdir temporary
TMPDIR=$PWD/temporary
export TMPDIR
for after in 0.02 0.05 0.1 0.2 0.4; do
    timeout -s INT "$after" "$host" family new model >/dev/null 2>&1
    rm -f acme.family.json # where it was faster
done
check 'interrupted drafts: nothing is left' '' "$(ls temporary)"
TMPDIR=$PWD/nowhere/$(printf '%0250d' 0)
new --like llama
check 'no temporary folder: exit status' 5 "$status"
has 'no temporary folder: says so' 'a temporary folder cannot be made there' err
echo "1..$number"
exit "$failed"
