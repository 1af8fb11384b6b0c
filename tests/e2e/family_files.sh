#!/bin/sh
# Family files: model types that are others under other names (docs/family.md). tests/data/bad/families.cases has those
# that are refused. Reports in TAP.
# usage: family_files.sh HOST LLAMA PLUGINS     PLUGINS is the folder of a build, with olmo2 and its golden cases
# shellcheck disable=SC2317 # functions called by `check`
set -u
. "$(dirname "$0")/../tap.sh"
host=$(realpath "$1") llama=$(realpath "$2") plugins=$(realpath "$3")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1

ids() { # ids MODEL OPTION...: what is generated
    model=$1
    shift
    timeout 120 "$host" --quiet --model "$model" --input-ids 5,6,7,8 --max-new-tokens 8 --output-ids "$@" 2>&1
}
copy() { # copy MODEL NAME EDIT: a model directory with an edited config.json
    cp -r "$1" "$2" && chmod -R u+w "$2"
    sed "$3" "$1/config.json" >"$2/config.json"
}

# Another name, names of fields, names of classes, defaults, null among them.
copy "$llama" alpaca 's/"model_type": "llama"/"model_type": "alpaca"/; s/"hidden_size"/"n_embd"/; s/LlamaFor/AlpacaFor/
    s/"vocab_size"/"was_vocab_size"/; s/"rope_scaling"/"was_rope_scaling"/'
vocab=$(sed -n 's/.*"vocab_size": \([0-9]*\).*/\1/p' "$llama/config.json")
mkdir simple
cat >simple/alpaca.family.json <<END
{"model_type": "alpaca", "like": "llama", "description": "Alpacas", "version": "2.1",
 "aliases": {"hidden_size": "n_embd"}, "defaults": {"vocab_size": $vocab, "rope_scaling": null},
 "without_effect": ["was_vocab_size"], "architectures": {"AlpacaForCausalLM": "AlpacaForCausalLM"},
 "classes": {"AlpacaForCausalLM": "LlamaForCausalLM", "AlpacaMLP": {"base": "LlamaMLP"}}}
END
check 'it generates what the other does' "$(ids "$llama")" "$(ids alpaca --plugins-dir simple)"
"$host" plan --model alpaca --plugins-dir simple --strict >out 2>err
has 'a plan has its names' 'AlpacaForCausalLM (alpaca, by plugin alpaca), ' out
"$host" plan --model alpaca --plugins-dir simple --json >out
has 'and its classes' '"class": "AlpacaMLP"' out
check 'in the place of their bases' '' "$(grep LlamaMLP out)"
has 'and those that it leaves alone' '"class": "LlamaAttention"' out
"$host" list --plugins-dir simple >out
has 'it is listed as a plugin' 'alpaca 2.1 (simple/alpaca.family.json): Alpacas; replaces nothing; brings alpaca' out
"$host" list --families --plugins-dir simple >out
has 'and as a family' 'alpaca: AlpacaForCausalLM; by plugin alpaca (simple/alpaca.family.json)' out
"$host" inspect simple/alpaca.family.json --json >out
has 'inspect shows its classes' '"base": "LlamaForCausalLM"' out
has 'and a default that is null' '"default": null' out
sed 's/"n_embd": /"n_embd": "x", "was": /' alpaca/config.json >config && cp alpaca alpaca_bad -r && cp config alpaca_bad/config.json
"$host" plan --model alpaca_bad --plugins-dir simple >out 2>err
has 'errors have the name in the file' 'config.json: n_embd: expected an integer, got a string' err

# A default that is an object, for a file without one.
theta() { # theta OBJECT FILE: with that default, which rotation it is
    mkdir -p theta && sed "s/\"rope_scaling\": null/\"rope_parameters\": $1/" simple/alpaca.family.json >theta/alpaca.family.json
    sed "s/\"rope_theta\"/$2/" alpaca/config.json >config && cp config alpaca_bad/config.json
    ids alpaca_bad --plugins-dir theta
}
check 'a default that is an object' "$(theta '{"rope_theta": 77.0}' '"was_theta"')" \
    "$(theta null '"rope_theta": 77.0, "was_theta"')"
check 'it makes a difference' different \
    "$([ "$(theta '{"rope_theta": 77.0}' '"was_theta"')" = "$(theta '{"rope_theta": 10000.0}' '"was_theta"')" ] || echo different)"

# With an order, like any plugin.
check 'it may be asked for by its id' "$(ids "$llama")" "$(ids alpaca --plugins-dir simple --plugins alpaca)"
mkdir order
sed 's/"alpaca"/"llama"/; s/LlamaForCausalLM"}/LlamaForCausalLM"}/; s/AlpacaForCausalLM/LlamaForCausalLM/g
    s/"LlamaForCausalLM": "LlamaForCausalLM", //' simple/alpaca.family.json >order/own.family.json
"$host" plan --model "$llama" --plugins-dir order >out 2>&1
has "the host's own family goes before it" 'goes before that of plugin own; enable it by id with --enable' out
"$host" plan --model "$llama" --plugins-dir order --plugins own >out 2>&1
has 'unless it is asked for' '(llama, by plugin own), ' out

# Like the family of a plugin, found after it, and like another file's.
olmo2=$plugins/families/olmo2
copy "$olmo2/goldens/olmo2" olmo 's/"model_type": "olmo2"/"model_type": "another"/'
mkdir like && cp "$olmo2/olmo2.so" like/
echo '{"model_type": "another", "like": "one_more"}' >like/another.family.json
echo '{"model_type": "one_more", "like": "olmo2"}' >like/a.family.json
check 'a family of a plugin, through another file' "$(ids "$olmo2/goldens/olmo2" --plugins-dir "$olmo2")" \
    "$(ids olmo --plugins-dir like)"
"$host" list --plugins-dir like --plugins a >out 2>err
check 'without that plugin: exit status' 3 $?
has 'without that plugin' 'like: model type "olmo2" is not known' err
rm like/olmo2.so
"$host" list --plugins-dir like --skip-bad-plugins >out 2>err
check 'a file that is skipped: exit status' 0 $?
has 'a file that is skipped' 'another.family.json: skipped: like: model type "one_more" is not known' err

# Tensors in another layout: one for q, k and v, another name for o, as a quantizer might want them.
mkdir fused
cat >fused.json <<END
{"conversions": [
  {"kind": "converter", "operations": [{"op": "Concatenate", "dim": 0}], "target_patterns": "self_attn.qkv.weight",
   "source_patterns": ["self_attn.q_proj.weight", "self_attn.k_proj.weight", "self_attn.v_proj.weight"]},
  {"kind": "rename", "source_patterns": "self_attn.o_proj", "target_patterns": "self_attn.dense"}]}
END
"$host" save --model "$llama" --patch fused.json --runtime-layout --output fused_llama >out 2>&1
copy fused_llama fused_model 's/"model_type": "llama"/"model_type": "fused"/'
rm -f fused_model/graft_*.json
cat >fused/fused.family.json <<END
{"\$schema": "family.schema.json", "model_type": "fused", "like": "llama", "ignored_tensors": "\\\\.mask\$",
 "stand_ins": {"LlamaMLP": "FusedMLP"},
 "classes": {"FusedMLP": "LlamaMLP", "FusedAttention": {"base": "LlamaAttention", "conversions": [
   {"sources": "qkv.weight", "targets": ["q_proj.weight", "k_proj.weight", "v_proj.weight"],
    "operations": [{"op": "Split", "dim": 0}]},
   {"sources": ["dense"], "targets": ["o_proj"]}]}}}
END
check 'tensors are split and renamed' "$(ids "$llama")" "$(ids fused_model --plugins-dir fused)"
"$host" plan --model fused_model --plugins-dir fused --strict >out 2>&1
has 'without a copy' ' 0 bytes copied' out
"$host" save --model fused_model --plugins-dir fused --output saved >out 2>&1
check 'save leads back to what was read, bit for bit' '' "$(cmp fused_model/model.safetensors saved/model.safetensors 2>&1)"
check 'what replaces a class finds it' "$(ids "$llama")" \
    "$(ids fused_model --plugins-dir fused --plugins-dir "$plugins/fused_qkv")"
echo "1..$number"
exit "$failed"
