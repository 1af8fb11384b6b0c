#!/bin/sh
# What crossing to plugins costs, in instructions: models with the sizes of published ones, bare and with a wrapper that
# calls the original around every module. Counted by valgrind in a step of one token, where the share is largest: what a
# run of two tokens takes more than a run of one, so planning and loading are left out. Reports in TAP.
# usage: boundary.sh HOST WRAP_ALL     WRAP_ALL is tests/boundary/wrap_all.c
set -u
. "$(dirname "$0")/../tap.sh"
host=$(realpath "$1")
plugin=$(realpath "$2")
if ! command -v valgrind >/dev/null 2>&1; then
    echo '1..0 # SKIP valgrind is not installed: nothing here counts instructions'
    exit 0
fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
mkdir plugins
cp "$plugin" plugins/

# Weights are holes in a file: zeros take as many instructions as other numbers.
tensors() { # tensors DIR: names and shapes from stdin, "NAME ROWS [COLUMNS...]"
    awk '{
        count = $2; shape = $2
        for (i = 3; i <= NF; i++) { count *= $i; shape = shape "," $i }
        items = items (NR > 1 ? "," : "") sprintf("\"%s\":{\"dtype\":\"F32\",\"shape\":[%s],\"data_offsets\":[%.0f,%.0f]}", $1, shape, at, at + 4 * count)
        at += 4 * count
    }
    END { header = "{" items "}"; while (length(header) % 8) header = header " "; print header; printf "%.0f\n", at }' >"$1/header"
    header=$(head -n 1 "$1/header") bytes=$(tail -n 1 "$1/header")
    length=${#header}
    printf %b "$(printf '\\0%o\\0%o\\0\\0\\0\\0\\0\\0' $((length % 256)) $((length / 256)))" >"$1/model.safetensors"
    printf %s "$header" >>"$1/model.safetensors"
    rm "$1/header"
    truncate -s $((8 + length + bytes)) "$1/model.safetensors"
}

# Qwen3-0.6B, two layers and a small vocabulary, whose large one would hide the share.
mkdir qwen3
cat >qwen3/config.json <<'JSON'
{"architectures": ["Qwen3ForCausalLM"], "model_type": "qwen3", "hidden_size": 1024, "intermediate_size": 3072,
 "num_hidden_layers": 2, "num_attention_heads": 16, "num_key_value_heads": 8, "head_dim": 128, "vocab_size": 1024,
 "max_position_embeddings": 40960, "rms_norm_eps": 1e-6, "rope_theta": 1000000, "tie_word_embeddings": true}
JSON
{
    echo model.embed_tokens.weight 1024 1024
    for i in 0 1; do
        layer=model.layers.$i
        echo "$layer.input_layernorm.weight 1024"
        echo "$layer.post_attention_layernorm.weight 1024"
        echo "$layer.self_attn.q_proj.weight 2048 1024"
        echo "$layer.self_attn.k_proj.weight 1024 1024"
        echo "$layer.self_attn.v_proj.weight 1024 1024"
        echo "$layer.self_attn.o_proj.weight 1024 2048"
        echo "$layer.self_attn.q_norm.weight 128"
        echo "$layer.self_attn.k_norm.weight 128"
        echo "$layer.mlp.gate_proj.weight 3072 1024"
        echo "$layer.mlp.up_proj.weight 3072 1024"
        echo "$layer.mlp.down_proj.weight 1024 3072"
    done
    echo model.norm.weight 1024
} | tensors qwen3

# The sizes of granite-3.0-1b-a400m, a small mixture, in a family with a shared expert: two layers of it.
mkdir qwen2_moe
cat >qwen2_moe/config.json <<'JSON'
{"architectures": ["Qwen2MoeForCausalLM"], "model_type": "qwen2_moe", "hidden_size": 1024, "intermediate_size": 512,
 "num_hidden_layers": 2, "num_attention_heads": 16, "num_key_value_heads": 8, "vocab_size": 1024,
 "max_position_embeddings": 4096, "rms_norm_eps": 1e-6, "rope_theta": 10000, "tie_word_embeddings": true,
 "num_experts": 32, "num_experts_per_tok": 8, "moe_intermediate_size": 512, "shared_expert_intermediate_size": 512}
JSON
{
    echo model.embed_tokens.weight 1024 1024
    for i in 0 1; do
        layer=model.layers.$i
        echo "$layer.input_layernorm.weight 1024"
        echo "$layer.post_attention_layernorm.weight 1024"
        echo "$layer.self_attn.q_proj.weight 1024 1024"
        echo "$layer.self_attn.q_proj.bias 1024"
        for which in k v; do
            echo "$layer.self_attn.${which}_proj.weight 512 1024"
            echo "$layer.self_attn.${which}_proj.bias 512"
        done
        echo "$layer.self_attn.o_proj.weight 1024 1024"
        echo "$layer.mlp.gate.weight 32 1024"
        echo "$layer.mlp.experts.gate_up_proj 32 1024 1024"
        echo "$layer.mlp.experts.down_proj 32 1024 512"
        echo "$layer.mlp.shared_expert.gate_proj.weight 512 1024"
        echo "$layer.mlp.shared_expert.up_proj.weight 512 1024"
        echo "$layer.mlp.shared_expert.down_proj.weight 1024 512"
        echo "$layer.mlp.shared_expert_gate.weight 1 1024"
    done
    echo model.norm.weight 1024
} | tensors qwen2_moe

count() { # count MODEL TOKENS OPTIONS...: the instructions of generating so many, on one thread
    model=$1 tokens=$2
    shift 2
    valgrind --tool=callgrind --callgrind-out-file=/dev/null "$host" --quiet --threads 1 --model "$model" "$@" \
        --input-ids 1 --max-new-tokens "$tokens" --output-ids >ids 2>log
    sed -n 's/^==.*Collected *: *//p' log
}

for model in qwen3 qwen2_moe; do
    "$host" plan --model "$model" --plugins-dir plugins >report 2>err
    check "$model: planned" 0 $?
    modules=$(sed -n '1s/.* \([0-9]*\) modules.*/\1/p' report)
    wrapped=$(sed -n 's/.* by wrap_all .* in \([0-9]*\) modules*$/\1/p' report | awk '{ n += $1 } END { print n }')
    check "$model: every module is wrapped, but the list of layers" $((${modules:-0} - 1)) "$wrapped"
    short=$(count "$model" 1) long=$(count "$model" 2)
    mv ids plain
    wrapped_short=$(count "$model" 1 --plugins-dir plugins) wrapped_long=$(count "$model" 2 --plugins-dir plugins)
    check "$model: the same ids" "$(cat plain)" "$(cat ids)"
    bare=$((${long:-0} - ${short:-0})) more=$((${wrapped_long:-0} - ${wrapped_short:-0}))
    echo "# $model: $bare instructions a token, $((more - bare)) more with a wrapper around every module"
    check "$model: counted" yes "$(if [ "$bare" -gt 1000000 ]; then echo yes; else cat log; fi)"
    check "$model: below 0.5 %" yes "$(if [ $(((more - bare) * 1000)) -lt $((bare * 5)) ]; then echo yes; fi)"
done

echo "1..$number"
exit "$failed"
