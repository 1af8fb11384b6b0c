#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Usage: new_plugin.sh HOST SOURCE: `new plugin` and `inspect --c`: what they write for classes of several interfaces
# compiles without a warning, takes the place of the class and computes what it does. Reports in TAP.
set -u
host=$(realpath "$1") source=$2
. "$source/tests/tap.sh"
llama=$source/tests/goldens/plain/llama
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1

compile() { # compile SOURCE OUTPUT
    case $1 in
    *.c) cc -std=c11 -Wall -Wextra -Werror -shared -fPIC -I "$source/sdk/include" "$1" -o "$2" -lm 2>&1 ;;
    *.cc) c++ -std=c++17 -Wall -Wextra -Werror -shared -fPIC -I "$source/sdk/include" "$1" -o "$2" 2>&1 ;;
    esac
}
project() { # project LANGUAGE CLASS FOLDER [OPTION...]: makes it, builds it, and compares it with the original
    language=$1 class=$2 folder=$3
    shift 3
    "$host" new plugin --class "$class" --lang "$language" "$@" "$folder" >out 2>&1
    check "$folder: it is made" 0 $?
    [ "$language" = c ] && ending=c || ending=cc
    check "$folder: it builds" '' "$(compile "$folder/$folder.$ending" "$folder/$folder.so")"
    check "$folder: no word of a template is left" '' "$(grep -E '@[A-Za-z_]+@' "$folder"/*.* "$folder/Makefile")"
    model=$folder/model
    [ -d "$model" ] || model=$llama
    "$host" verify --model "$model" --plugins-dir "$folder" --input-ids 1,2,3,4 --tolerance 0 >verified 2>&1
    check "$folder: it computes what $class does" "0 $class -> " "$? $(grep -o "$class -> " verified | head -n 1)"
}
project c LlamaMLP own_mlp
has 'the source says what the class was given' 'argument   hidden_act = "silu"' own_mlp/own_mlp.c
has 'and what it consists of' 'parameter  down_proj.weight [32, 48]' own_mlp/own_mlp.c
has 'it computes itself' 'graft_activation_gate(self->act_fn' own_mlp/own_mlp.c
# A family of another plugin has a class of its own where it is like llama: what replaces LlamaMLP passes that over.
mkdir winged && sed 's/"model_type": "llama"/"model_type": "winged"/' "$llama/config.json" >winged/config.json
cp "$llama/model.safetensors" winged
echo '{"model_type": "winged", "like": "llama", "prefix": "Winged", "architectures": {"LlamaForCausalLM": "WingedForCausalLM"}}' >own_mlp/winged.family.json
"$host" --model winged --plugins-dir own_mlp --input-ids 1 --max-new-tokens 1 >out 2>err
has 'it is said where another class is derived from the one that is replaced' \
    'note       plugin own_mlp has no effect on this model: its modules are of WingedMLP, which is derived from LlamaMLP and has to be named itself' err
rm own_mlp/winged.family.json
project c LlamaMLP on_model --model "$llama"
check 'the given model has its sizes in the source' 1 "$(grep -c 'parameter  down_proj.weight \[64, 112\]' on_model/on_model.c)"
check 'and takes the place of a tiny one' "MODEL = $(realpath "$llama")" "$(grep '^MODEL' on_model/Makefile)$(ls on_model/model 2>/dev/null)"
project c LlamaAttention own_attention
has 'another class calls the original' 'graft_self_attention_forward(original' own_attention/own_attention.c
project c Linear own_linear
project c Qwen2MoeSparseMoeBlock own_block
project c LlamaForCausalLM own_root
project c DeepseekV3MoE own_moe
if command -v c++ >/dev/null; then
    project cpp LlamaMLP in_cpp
    project cpp LlamaRMSNorm norm_in_cpp
else
    number=$((number + 1))
    echo "ok $number # SKIP in C++: there is no C++ compiler"
fi

# In Rust it is the crate that is needed, which is only where Graft is installed (tests/languages/installed.sh).
"$host" inspect --c LlamaMLP >inspected.c 2>err
check 'inspect --c prints a source' 0 $?
check 'which compiles' '' "$(compile inspected.c inspected.so)"
has 'after what the header declares' '// struct graft_mlp_args {' inspected.c
check 'no folder is left' '' "$(TMPDIR=$scratch "$host" inspect --c LlamaMLP >inspected.c 2>&1; ls -d "$scratch"/graft-* 2>/dev/null)"

refused() { # refused STATUS MESSAGE ARGUMENT...
    status=$1 message=$2
    shift 2
    "$host" "$@" >out 2>err
    check "$*: exit status" "$status" $?
    has "$*: why" "$message" err
    check "$*: one line" 1 "$(wc -l <err)"
    check "$*: nothing is left" '' "$(ls -d refused* 2>/dev/null)"
}
refused 2 'did you mean LlamaMLP?' new plugin --class LlamaMlp refused
refused 2 'no tiny gemma3 can be made: config.json: vision_config: ' new plugin --class Gemma3ForConditionalGeneration refused
refused 2 '--class: missing' new plugin refused
refused 2 'and a new folder' new --class LlamaMLP refused
refused 2 '--lang: expected c, cpp or rust' new plugin --class LlamaMLP --lang java refused
refused 2 'expected small letters' new plugin --class LlamaMLP refused.Here
refused 2 'there is already' new plugin --class LlamaMLP linear
refused 2 'exists already' new plugin --class LlamaMLP own_mlp
refused 5 'nowhere/refused' new plugin --class LlamaMLP nowhere/refused
refused 2 'no module of this model has the class BertSelfAttention' new plugin --class BertSelfAttention --model "$llama" refused
refused 2 'the crate has traits' new plugin --class LlamaForCausalLM --lang rust refused
refused 2 'not with --json' inspect --c --json LlamaMLP
echo "1..$number"
exit "$failed"
