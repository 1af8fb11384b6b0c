#!/bin/sh
# Models with an encoder and a decoder, as their users meet them: prompts, plans, plugins, and what is refused. Reports in
# TAP.
# usage: conditional.sh HOST GOLDENS PLUGINS
set -u
. "$(dirname "$0")/../tap.sh"
host=$(realpath "$1") goldens=$(realpath "$2") plugins=$(realpath "$3")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
cases=$goldens/conditional
long=5,17,33,9,71,44,12,60,3,8,21,90,14,2,77,31,6,40,55,81,6,18,34,10,72,45,13,61
short=7,52,19

ids() { # ids MODEL OPTION...
    chosen=$1
    shift
    "$host" --quiet --report none --model "$chosen" --output-ids "$@" 2>&1
}

for name in bart t5 umt5; do
    model=$cases/$name
    first=$(ids "$model" --max-new-tokens 8 --input-ids "$long")
    second=$(ids "$model" --max-new-tokens 8 --input-ids "$short")
    check "$name: beside another prompt" "$(printf '%s\n%s' "$first" "$second")" \
        "$(ids "$model" --max-new-tokens 8 --input-ids "$long" --input-ids "$short")"
    check "$name: with guesses" "$first" "$(ids "$model" --max-new-tokens 8 --input-ids "$long" --speculate 4)"
    check "$name: by eager attention" "$first" \
        "$(ids "$model" --max-new-tokens 8 --input-ids "$long" --attn-implementation eager)"
    for isa in scalar avx2 avx512; do # those that this processor has
        check "$name: $isa" "$first" "$(GRAFT_ISA=$isa ids "$model" --max-new-tokens 8 --input-ids "$long")"
    done
    "$host" plan --model "$model" --strict >planned 2>&1
    check "$name: all is used" '' "$(grep 'unexpected\|problem\|note\|not used' planned)"
done

# Text, by a tokenizer that ends prompts with a token, as T5's do.
cp -r "$cases/t5" text
cat >text/tokenizer.json <<'JSON'
{"version": "1.0", "truncation": null, "padding": null,
 "added_tokens": [
  {"id": 0, "content": "<pad>", "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": true},
  {"id": 1, "content": "</s>", "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": true}],
 "normalizer": null,
 "pre_tokenizer": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": true},
 "post_processor": {"type": "TemplateProcessing",
  "single": [{"Sequence": {"id": "A", "type_id": 0}}, {"SpecialToken": {"id": "</s>", "type_id": 0}}],
  "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 0}}],
  "special_tokens": {"</s>": {"id": "</s>", "ids": [1], "tokens": ["</s>"]}}},
 "decoder": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": true},
 "model": {"type": "Unigram", "unk_id": 2, "byte_fallback": false, "vocab": [
  ["<pad>", 0.0], ["</s>", 0.0], ["<unk>", -9.0], ["▁", -2.0], ["a", -3.0], ["b", -3.0], ["c", -3.5], ["▁ab", -2.5]]}}
JSON
check 'text: the prompt is what its ids are' "$(ids text --max-new-tokens 5 --input-ids 7,6,3,4,1)" \
    "$(ids text --max-new-tokens 5 --prompt 'abc a')"
check 'text: several prompts' "$(ids text --max-new-tokens 5 --input-ids 7,1 --input-ids 3,5,1)" \
    "$(ids text --max-new-tokens 5 --prompt ab --prompt b)"

# Plugins.
bart=$cases/bart
"$host" verify --model "$bart" --plugins-dir "$plugins/fused_qkv" --input-ids "$long" >verified 2>&1
has 'fused_qkv: in the encoder' 'model.encoder.layers.2.self_attn: BartAttention -> FusedQKVAttention' verified
has 'fused_qkv: in the decoder' 'model.decoder.layers.1.self_attn: BartAttention -> FusedQKVAttention' verified
check 'fused_qkv: not where keys are of another text' '' "$(grep encoder_attn verified)"
has 'fused_qkv: the same' 'greedy ids: the same' verified
"$host" run --model "$cases/t5" --plugins-dir "$plugins/compressed_tensors" --quantize int8 --max-new-tokens 4 \
    --input-ids "$long" --output-ids >quantized 2>&1
has 'quantized: projections of both' 'CompressedLinear by compressed_tensors' quantized
check 'quantized: it says something' 1 "$(grep -c '^[0-9]*,[0-9]*,[0-9]*,[0-9]*$' quantized)"
adapter=$cases/t5/adapter
check 'an adapter for one of two prompts' \
    "$(ids "$cases/t5" --plugins-dir "$plugins/lora" --adapter "one=$adapter" --max-new-tokens 4 --input-ids "$long")
$(ids "$cases/t5" --max-new-tokens 4 --input-ids "$long")" \
    "$(ids "$cases/t5" --plugins-dir "$plugins/lora" --adapter "one=$adapter" --max-new-tokens 4 --input-ids "$long" \
        --input-ids "$long" --prompt-adapter one --prompt-adapter __base__)"

# What is refused, in a line.
refused() { # refused NAME TEXT OPTION...
    name=$1 text=$2
    shift 2
    "$host" "$@" >refused 2>&1
    check "$name: a line" 1 "$(grep -c '^graft: ' refused)"
    has "$name: what is wrong" "$text" refused
}
t5=$cases/t5
printf 'ab a b' >text.txt
refused 'perplexity' 'has no perplexity of a text alone' perplexity --model text --text text.txt
refused 'hidden states' 'cannot be recorded' run --model "$t5" --input-ids "$long" --hidden-states states.safetensors \
    --max-new-tokens 1 --output-ids --report none
refused 'a file of sequences' 'cannot be kept in a file' run --model "$t5" --input-ids "$long" --session kept \
    --max-new-tokens 1 --output-ids --report none
refused 'guidance' 'is not for models with an encoder' run --model "$t5" --input-ids "$long" \
    --guidance-scale 2 --max-new-tokens 1 --output-ids --report none
refused 'a long prompt' 'it has 84 tokens, but the encoder has positions for 64' run --model "$bart" \
    --input-ids "$long,$long,$long" --max-new-tokens 1 --output-ids --report none
cp -r "$t5" startless
sed -i '/decoder_start_token_id\|bos_token_id/d' startless/config.json
refused 'no token to start with' 'decoder_start_token_id: missing' run --model startless --input-ids "$long" \
    --max-new-tokens 1 --output-ids --report none
cp -r "$cases/marian" apart
sed -i 's/"share_encoder_decoder_embeddings": true/"share_encoder_decoder_embeddings": false/' apart/config.json
refused 'two vocabularies' 'share_encoder_decoder_embeddings' plan --model apart

echo "1..$number"
exit "$failed"
