#!/bin/sh
# --dequantize: a quantized model runs as one of floats, is saved as one, and what cannot be is refused in one line.
# Reports in TAP. usage: recode.sh HOST PLUGINS GOLDENS
set -u
. "$(dirname "$0")/../tap.sh"
host=$(realpath "$1")
plugins=$(realpath "$2")
goldens=$(realpath "$3")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export XDG_CACHE_HOME="$scratch/cache"
cd "$scratch" || exit 1
nf4=$goldens/quantized/bnb_nf4_llama
llama=$goldens/plain/llama_bf16
ids='--input-ids 1,2,3,4,5 --max-new-tokens 4 --output-ids'

host() {
    status=0
    timeout 120 "$host" "$@" --plugins-dir "$plugins" >out 2>err </dev/null || status=$?
}

lacks() { # lacks WHAT TEXT FILE
    check "$1" '' "$(grep -F -e "$2" "$3")"
}

same() { # same WHAT FILE FILE
    check "$1" "$(cat "$2")" "$(cat "$3")"
}

refused() { # refused NAME STATUS WORDS: the last command, in one line
    check "$1: exit status" "$2" "$status"
    has "$1" "$3" err
    check "$1: one line, and perhaps a hint" 1 "$(grep -c '^graft: ' err)"
}

# Floats from here on: no class of the method is built, others are as for any model.
host plan --model "$nf4" --dequantize
has 'plan: what becomes of weights' 'note       dequantized: 14 weights of quant_method "bitsandbytes" are BF16' out
lacks 'plan: no class of the method' 'Linear4bit' out
has 'plan: projections are joined as floats' 'LlamaAttention -> LlamaFusedAttention' out
# shellcheck disable=SC2086 # words
host --model "$nf4" --dequantize --quiet $ids
mv out dequantized
host save --model "$nf4" --dequantize --output floats
has 'save: the note' 'note: dequantized: 14 weights' err
lacks 'save: config.json' 'quantization_config' floats/config.json
has 'save: the rest of config.json' '"torch_dtype": "bfloat16"' floats/config.json
# shellcheck disable=SC2086
timeout 60 "$host" --model floats --quiet $ids >out 2>err
same 'the saved model, without plugins' dequantized out
host save --model "$nf4" --dequantize --runtime-layout --output runtime
# shellcheck disable=SC2086
host --model runtime --quiet $ids
same 'the runtime layout' dequantized out
host verify --model "$nf4" --dequantize --input-ids 1,2,3 --tolerance 0.02
check 'verify: beside the codes' 0 "$status"

# A type that config.json names, files of tools, a config of a part.
cp -r "$nf4" half && chmod -R u+w half
sed 's/"bfloat16"/"float16"/' "$nf4/config.json" >half/config.json
echo '{}' >half/quantize_config.json
host save --model half --dequantize --output half_floats
has 'save: float16' 'are F16' err
check 'save: what says how weights were quantized stays behind' '' "$(ls half_floats | grep quantize)"
has 'save: and that is noted' 'not part of the model, so not copied: quantize_config.json' err

# What cannot be.
host plan --model "$llama" --dequantize
refused 'floats' 2 'config.json: quantization_config: missing, so there is nothing to dequantize'
host plan --model "$nf4" --dequantize --patch /dev/null
refused 'a patch' 2 '--patch: says how'
host plan --model runtime --dequantize
refused 'the runtime layout' 2 'runtime layout'
host plan --model "$nf4" --dequantize --no-plugins
refused 'no plugin for the method' 4 'no plugin here reads weights of quant_method "bitsandbytes"'
host plan --model "$goldens/quantized/bitnet_bias_norm_qwen2" --dequantize
refused 'norms of a method' 4 'has a module of its own, "rms_norm"'
cp -r "$nf4" short && chmod -R u+w short
LC_ALL=C sed 's/q_proj.weight.absmax/q_proj.weight.absmin/' "$nf4/model.safetensors" >short/model.safetensors
host plan --model short --dequantize
refused 'a tensor is missing' 4 'q_proj.weight.absmin'
echo "1..$number"
exit $failed
