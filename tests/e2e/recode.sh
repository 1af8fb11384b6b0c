#!/bin/sh
# --dequantize: a quantized model runs as one of floats, is saved as one, and what cannot be is refused in one line; and
# --quantize the other way. Reports in TAP. usage: recode.sh HOST PLUGINS GOLDENS DEMO
set -u
. "$(dirname "$0")/../tap.sh"
host=$(realpath "$1")
plugins=$(realpath "$2")
goldens=$(realpath "$3")
demo=$(realpath "$4")
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
has 'plan: projections are joined as floats' 'by fused_qkv' out
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
check 'save: what says how weights were quantized is not copied' 0 "$(test ! -e half_floats/quantize_config.json; echo $?)"
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

# Formats: the plugin that has one reads what it makes, experts one by one included.
host plan --model "$demo" --quantize int4:32
has 'int4: what becomes of weights' \
    'quantized: 128 weights are int4 by compressed_tensors, 481568 bytes instead of 1704960; not quantized: lm_head' out
has 'int4: by the plugin' 'Linear -> CompressedLinear by compressed_tensors' out
host plan --model "$demo" --quantize nf4
has 'nf4: experts stay' 'quantized: 32 weights are nf4 by bitsandbytes, 262936 bytes instead of 918528' out
host plan --model "$demo" --quantize fp8:64
has 'fp8: what blocks do not divide stays' 'not quantized: model.layers.0.mlp.experts.0.gate_proj' out
host plan --model "$llama" --quantize int8 --json
has 'int8: memory' '"computed_bytes": 26656' out
for threads in 1 3; do
    # shellcheck disable=SC2086
    host --model "$demo" --quantize int4:32 --threads $threads --quiet $ids --logits $threads.bin
done
check 'threads make no difference' 0 "$(cmp 1.bin 3.bin >&2; echo $?)"
host save --model "$demo" --quantize int4:32 --output int4
has 'save: the note' 'note: quantized: 128 weights are int4' err
has 'save: config.json' '"quant_method": "compressed-tensors"' int4/config.json
has 'save: modules that stay' '"ignore": ["lm_head"]' int4/config.json
has 'save: the rest of config.json' '"model_type": "qwen2_moe"' int4/config.json
# shellcheck disable=SC2086
host --model int4 --quiet $ids --logits saved.bin
check 'the saved model' 0 "$(cmp 1.bin saved.bin >&2; echo $?)"
host save --model int4 --dequantize --output back
host verify --model back --against int4 --input-ids 1,2,3,4 --tolerance 0.02
check 'and back to floats' 0 "$status"
lacks 'and its config' quantization_config back/config.json
host verify --model "$demo" --quantize int8 --input-ids 1,2,3,4
check 'verify: what quantizing costs' 6 "$status"
host save --model "$llama" --quantize int8 --runtime-layout --output runtime8
# shellcheck disable=SC2086
host --model runtime8 --quiet $ids
mv out runtime8.ids
# shellcheck disable=SC2086
host --model "$llama" --quantize int8 --quiet $ids
same 'the runtime layout, quantized' out runtime8.ids

# The head, too: of its own, and tied to the embedding, which stays.
host plan --model "$demo" --quantize int4_mse+head
has 'a head: what becomes of weights' 'quantized: 129 weights are int4_mse by compressed_tensors' out
has 'a head: all are quantized' 'not quantized: none' out
lacks 'a head: no plan to leave it' 'as they were' out
tied=$goldens/plain/llama_tied_bf16
host plan --model "$tied" --quantize int8+head
has 'a tied head: what becomes of weights' 'quantized: 15 weights are int8' out
has 'a tied head: its class' 'Linear -> CompressedLinear by compressed_tensors' out
# shellcheck disable=SC2086
host --model "$tied" --quantize int8+head --quiet $ids --logits tied.bin
host save --model "$tied" --quantize int8+head --output tied
has 'a tied head: from then on it is not' '"tie_word_embeddings": false' tied/config.json
has 'a tied head: no module is left out' '"ignore": []' tied/config.json
# shellcheck disable=SC2086
host --model tied --quiet $ids --logits saved.bin
check 'a tied head: the saved model' 0 "$(cmp tied.bin saved.bin >&2; echo $?)"
# shellcheck disable=SC2086
host --model "$tied" --quantize int8 --quiet $ids --logits left.bin
check 'a tied head: it is quantized' 1 "$(cmp -s tied.bin left.bin; echo $?)"
host save --model "$tied" --quantize int8 --output left
has 'a head that stays: so does the tie' '"tie_word_embeddings": true' left/config.json
host verify --model "$tied" --quantize int8+head --input-ids 1,2,3,4
has 'a tied head: the embedding is as it was' 'lm_head: Linear -> CompressedLinear' out

"$host" inspect "$plugins/fp8/fp8.so" >out
has 'inspect: what a plugin can make' 'quantizations:' out
has 'inspect: with groups' 'group_size: 128' out
host plan --model "$demo" --quantize int5
refused 'an unknown format' 2 'quantize: no plugin here quantizes to "int5", expected one of nf4:64, nf4:32'
host plan --model "$demo" --quantize int4:48
refused 'groups of another size' 2 'no plugin here quantizes to "int4:48"'
host plan --model "$demo" --quantize int4 --no-plugins
refused 'no plugin' 2 'no plugin here quantizes to "int4", or to anything else'
host plan --model "$llama" --quantize int4
refused 'inputs that groups do not divide' 4 \
    'model.safetensors: model.layers.0.self_attn.q_proj.weight: has 48 inputs, which groups of 128 do not divide'
host plan --model "$llama" --quantize mxfp4
refused 'no module of the class' 4 'the model has no weight that becomes mxfp4 (those of modules of class GptOssExperts'
host plan --model "$nf4" --quantize int8
refused 'quantized already' 2 'the weights are quantized already, by "bitsandbytes"'
host plan --model "$nf4" --quantize int8 --dequantize
refused 'both' 2 '--quantize and --dequantize: use only one of them'
host plan --model runtime8 --quantize int8
refused 'the runtime layout, quantize' 2 'runtime layout'
cp -r "$llama" nan && chmod -R u+w nan
length=$(od -An -t u8 -N 8 nan/model.safetensors | tr -d ' ')
at=$(head -c $((8 + length)) nan/model.safetensors |
    grep -ao '"model.layers.1.mlp.up_proj.weight":{[^}]*"data_offsets":\[[0-9]*' | sed 's/.*\[//')
printf '\300\177' | dd of=nan/model.safetensors bs=1 seek=$((8 + length + at)) conv=notrunc 2>/dev/null
# shellcheck disable=SC2086
host --model nan --quantize int8 --quiet $ids
refused 'NaN' 4 'model.layers.1.mlp.up_proj.weight: cannot be quantized: a weight is infinite or not a number'
echo "1..$number"
exit $failed
