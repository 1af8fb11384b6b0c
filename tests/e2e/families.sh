#!/bin/sh
# Which of several families of one model type is taken, and what is said about the others. Reports in TAP.
# usage: families.sh HOST LLAMA PLUGIN_ONE PLUGIN_TWO     the plugins are tests/e2e/family_probe.c, as `one` and `two`
set -u
. "$(dirname "$0")/../tap.sh"
host=$(realpath "$1") llama=$(realpath "$2") one=$(realpath "$3") two=$(realpath "$4")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
mkdir first both && cp "$one" first/one.so && cp "$one" both/one.so && cp "$two" both/two.so
cp -r "$llama" alpaca && chmod -R u+w alpaca
sed 's/"model_type": "llama"/"model_type": "alpaca"/' "$llama/config.json" >alpaca/config.json

plan() { # plan OPTION...: out, err and $status
    status=0
    timeout 120 "$host" plan "$@" >out 2>err </dev/null || status=$?
}

plan --model "$llama" --plugins-dir first
has "the host's own goes before one that was found" 'LlamaForCausalLM (llama), ' out
has 'the other one is noted' "note       the host's own \"llama\" goes before that of plugin one; enable it by id with --enable" out
plan --model "$llama" --plugins-dir first --plugins one
has 'one that is named replaces it' 'LlamaForCausalLM (llama, by plugin one), ' out
check 'and nothing is noted' '' "$(grep note out)"
plan --model "$llama" --plugins-dir both --plugins two,one
has 'the first that is named does' 'LlamaForCausalLM (llama, by plugin two), ' out
plan --model "$llama" --plugins-dir both --enable two
has 'one that is enabled replaces it' 'LlamaForCausalLM (llama, by plugin two), ' out
plan --model "$llama" --plugins-dir both --enable two --plugin-option one.nothing=1
has 'and the others are loaded as well' 'plugin one has no option "nothing"' err

plan --model alpaca --plugins-dir first
has 'a new model type' 'LlamaForCausalLM (alpaca, by plugin one), ' out
plan --model alpaca --plugins-dir first --json
has 'as JSON' '"model_type_by": "one"' out
cp -r first with_other && echo '{"model_type": "beta", "like": "llama"}' >with_other/beta.family.json
plan --model alpaca --plugins-dir with_other --plugins beta
check 'a type of a plugin that was left out: exit status' 4 "$status"
has 'it is said who brings it' '; one brings it; --plugins leaves it out' err
sed 's/"alpaca"/"lama"/' alpaca/config.json >lama.json && mkdir lama && cp alpaca/*.safetensors lama && mv lama.json lama/config.json
plan --model lama
has 'a type that nobody knows: what is like it' ' (did you mean llama?); ' err
plan --model alpaca --plugins-dir both
check 'two plugins without an order: exit status' 3 "$status"
has 'two plugins without an order' \
    'alpaca: plugins one and two both bring this model type; use --plugins to say which comes first, or leave one out' err
plan --model alpaca --plugins-dir both --plugins two,one
has 'two plugins in order' 'LlamaForCausalLM (alpaca, by plugin two), ' out

echo '{"model_type": "beta", "like": "alpaca"}' >beta.family.json
sed 's/"alpaca"/"beta"/' alpaca/config.json >beta.json && mkdir beta && cp alpaca/*.safetensors beta && mv beta.json beta/config.json
status=0
"$host" inspect beta.family.json --model beta --plugins-dir first >out 2>err || status=$?
check 'a file is inspected beside the plugins of a directory: exit status' 0 "$status"
has 'and it is what is shown' 'id: beta' out
"$host" inspect both/two.so --model alpaca --plugins-dir both >out 2>err
has 'it may be one of them, and goes before the others' 'id: two' out
status=0
"$host" inspect both/two.so --model alpaca --plugins-dir both --plugins two >out 2>err || status=$?
check 'no order is given then: exit status' 2 "$status"

"$host" list --families --plugins-dir both --plugins two,one >out
check 'all of them are listed, those in use first' 'alpaca: LlamaForCausalLM; by plugin two
alpaca: LlamaForCausalLM; by plugin one; not used, another goes first
llama: LlamaForCausalLM; by plugin two
llama: LlamaForCausalLM, LlamaModel, LlamaForSequenceClassification, LlamaForTokenClassification, LlamaForQuestionAnswering; not used, another goes first
llama: LlamaForCausalLM; by plugin one; not used, another goes first' "$(grep -E '^(alpaca|llama):' out | sed 's/ ([^)]*)//')"
echo "1..$number"
exit "$failed"
