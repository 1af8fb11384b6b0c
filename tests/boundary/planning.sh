#!/bin/sh
# What plugins cost, in instructions: planning a mixture of experts whose modules one plugin replaces by the thousand, with
# that plugin alone and with all that ship, and a model of the largest usual shape with those that have nothing to do with
# it. What is asked of every module costs as many times as there are modules; what is asked once a model, or once for
# modules that are alike, does not show.
# Reports in TAP.
# usage: planning.sh HOST MODEL PLUGINS...     MODEL is a mixtral checkpoint; sequential_experts.so is among the plugins
set -u
. "$(dirname "$0")/../tap.sh"
host=$(realpath "$1")
model=$(realpath "$2")
shift 2
if ! command -v valgrind >/dev/null 2>&1; then
    echo '1..0 # SKIP valgrind is not installed: nothing here counts instructions'
    exit 0
fi
unset MALLOC_PERTURB_ # meson sets it, and filling memory takes instructions that no user's run has
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/alone" "$scratch/all" "$scratch/none" "$scratch/idle"
cp "$@" "$scratch/all/"
cp "$scratch/all/sequential_experts.so" "$scratch/alone/"
cp "$scratch/all/"*.so "$scratch/idle/"
rm "$scratch/idle/sequential_experts.so" "$scratch/idle/fused_qkv.so"
cd "$scratch" || exit 1

enlarge() { # enlarge NAME LAYERS EXPERTS: a config that says so, beside the weights of the small model
    mkdir "$1"
    ln -s "$model/model.safetensors" "$1/model.safetensors"
    sed -e "s/\"num_hidden_layers\": [0-9]*/\"num_hidden_layers\": $2/" \
        -e "s/\"num_local_experts\": [0-9]*/\"num_local_experts\": $3/" "$model/config.json" >"$1/config.json"
}
enlarge small 2 16
enlarge large 10 16
enlarge huge 1000 330

count() { # count FOLDER MODEL: the instructions of planning it with the plugins of a folder
    valgrind --tool=callgrind --callgrind-out-file=/dev/null "$host" plan --quiet --plugins-dir "$1" --model "$2" \
        >out 2>log
    sed -n 's/^==.*Collected *: *//p' log
}
for folder in alone all; do
    "$host" plan --quiet --plugins-dir "$folder" --model small >/dev/null 2>&1 # tries the plugins, if nobody has
done
one=$(($(count alone large) - $(count alone small)))
all=$(($(count all large) - $(count all small)))
echo "# eight layers more: $one instructions with one plugin, $all with all"
check 'something was planned' yes "$(if [ "$one" -gt 1000000 ]; then echo yes; else cat log; fi)"
modules=$((8 * 16 * 5)) # of each expert: itself, three projections, an activation
check 'a module takes less than 30,000 instructions' yes \
    "$(if [ "$one" -lt $((modules * 30000)) ]; then echo yes; else echo "$((one / modules))"; fi)"
check 'all plugins take less than a quarter more than one' yes \
    "$(if [ $((all * 4)) -lt $((one * 5)) ]; then echo yes; else echo "$all, not $one"; fi)"

# The shapes of Qwen3-30B-A3B: 18,867 tensors, which are holes in a file.
mkdir shapes
cat >shapes/config.json <<'JSON'
{"architectures": ["Qwen3MoeForCausalLM"], "model_type": "qwen3_moe", "hidden_size": 2048, "intermediate_size": 6144,
 "num_hidden_layers": 48, "num_attention_heads": 32, "num_key_value_heads": 4, "head_dim": 128, "vocab_size": 151936,
 "max_position_embeddings": 40960, "rms_norm_eps": 1e-6, "rope_theta": 1000000, "tie_word_embeddings": false,
 "num_experts": 128, "num_experts_per_tok": 8, "moe_intermediate_size": 768, "norm_topk_prob": true}
JSON
awk 'function tensor(name, rows, columns,    bytes, shape) {
        bytes = 2 * rows * (columns > 0 ? columns : 1)
        shape = columns > 0 ? rows "," columns : rows
        printf "%s\"%s\":{\"dtype\":\"BF16\",\"shape\":[%s],\"data_offsets\":[%.0f,%.0f]}", comma, name, shape, at, at + bytes
        printf "%s\"%s\":\"model-00001-of-00001.safetensors\"", comma, name >"index"
        at += bytes
        comma = ","
    }
    BEGIN {
        printf "{"
        tensor("model.embed_tokens.weight", 151936, 2048)
        for (i = 0; i < 48; i++) {
            layer = "model.layers." i "."
            tensor(layer "input_layernorm.weight", 2048)
            tensor(layer "post_attention_layernorm.weight", 2048)
            tensor(layer "self_attn.q_proj.weight", 4096, 2048)
            tensor(layer "self_attn.k_proj.weight", 512, 2048)
            tensor(layer "self_attn.v_proj.weight", 512, 2048)
            tensor(layer "self_attn.o_proj.weight", 2048, 4096)
            tensor(layer "self_attn.q_norm.weight", 128)
            tensor(layer "self_attn.k_norm.weight", 128)
            tensor(layer "mlp.gate.weight", 128, 2048)
            for (e = 0; e < 128; e++) {
                tensor(layer "mlp.experts." e ".gate_proj.weight", 768, 2048)
                tensor(layer "mlp.experts." e ".up_proj.weight", 768, 2048)
                tensor(layer "mlp.experts." e ".down_proj.weight", 2048, 768)
            }
        }
        tensor("model.norm.weight", 2048)
        tensor("lm_head.weight", 151936, 2048)
        printf "}"
        printf "%.0f", at >"bytes"
    }' >header
length=$(wc -c <header)
{
    for byte in 1 256 65536 16777216; do
        printf %b "$(printf '\\0%o' $((length / byte % 256)))"
    done
    printf '\0\0\0\0'
    cat header
} >shapes/model-00001-of-00001.safetensors
echo "{\"metadata\": {}, \"weight_map\": {$(cat index)}}" >shapes/model.safetensors.index.json
if truncate -s $((8 + length + $(cat bytes))) shapes/model-00001-of-00001.safetensors 2>/dev/null; then
    for folder in idle all; do
        "$host" plan --quiet --plugins-dir "$folder" --model shapes >out 2>log
        check "the shapes of Qwen3-30B-A3B are planned, $folder plugins: exit status" 0 $?
    done
    bare=$(count none shapes) idle=$(count idle shapes) every=$(count all shapes)
    echo "# the shapes of Qwen3-30B-A3B: $bare instructions without plugins, $idle with those that do nothing there, $every with all"
    check 'plugins that do nothing there take less than a twentieth more' yes \
        "$(if [ $((idle * 20)) -lt $((bare * 21)) ]; then echo yes; fi)"
    check 'all plugins, with 30,720 modules more, take less than a tenth more' yes \
        "$(if [ $((every * 10)) -lt $((bare * 11)) ]; then echo yes; fi)"
else
    echo '# the shapes of Qwen3-30B-A3B are not planned: there can be no file of 61 GB here'
fi

# A few numbers in a config.json ask for a million modules.
timeout 60 "$host" plan --quiet --plugins-dir all --model huge >out 2>log
check 'more modules than the checkpoint has room for: exit status' 4 $?
check 'more modules than the checkpoint has room for: the file is named' 1 \
    "$(grep -c 'huge/config.json: describes more than [0-9]* modules, for which the checkpoint is too small' log)"
echo "1..$number"
exit "$failed"
