#!/bin/sh
# verify --against: two checkpoints of one architecture, module by module. Reports in TAP.
# usage: against.sh HOST GOLDENS WRONG_SILU PLUGINS_FOLDER
set -u
. "$(dirname "$0")/../tap.sh"
host=$(realpath "$1")
goldens=$(realpath "$2")
wrong=$(realpath "$3")
plugins=$(realpath "$4")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
gptq=$goldens/quantized/gptq_int4_desc_act_llama
cp -rL "$gptq" other && chmod -R u+w other && cp -r other changed

# Runs the program: out, err and $status. One that hangs fails.
host() {
    status=0
    timeout 120 "$host" "$@" >out 2>err </dev/null || status=$?
}

# write TENSOR FILE AT: bytes from stdin into the tensor, from its byte AT on
write() {
    header=$(od -An -tu8 -N8 "$2" | tr -d ' ')
    offset=$(head -c $((header + 8)) "$2" | grep -ao "\"$1\":{[^}]*}" | sed 's/.*"data_offsets":\[\([0-9]*\),.*/\1/')
    dd of="$2" bs=1 seek=$((header + 8 + offset + $3)) conv=notrunc 2>/dev/null
}

# change TENSOR: another first byte, in ./changed
change() {
    printf '\125' | write "$1" changed/model.safetensors 0
}

host verify --model "$gptq" --against other --plugins-dir "$plugins" --max-new-tokens 3 --json
check 'a copy: exit status' 0 "$status"
check 'a copy: every difference is 0' '' "$(grep '"largest_difference"' out | grep -v ': 0.0')"
check 'a copy: every module is compared' '' "$(grep -F '"compared": false' out)"
has 'a copy: modules that read packed weights' '"class": "GPTQLinear"' out
has 'a copy: modules that have other weights' '"path": "lm_head"' out
has 'a copy: says which' '"against": "other"' out

change model.layers.1.mlp.up_proj.qweight
host verify --model "$gptq" --against changed --plugins-dir "$plugins" --max-new-tokens 0
check 'a code of one module: exit status' 6 "$status"
has 'a code of one module: named' 'the output of model.layers.1.mlp.up_proj (GPTQLinear by gptq) differs most' err
has 'a code of one module: both are checkpoints' 'the two checkpoints differ: logits by' err
check 'a code of one module: no other differs' model.layers.1.mlp.up_proj \
    "$(grep '^model\|^lm_head' out | grep -v 'difference 0 ' | sed 's/: .*//')"
host verify --model "$gptq" --against changed --plugins-dir "$plugins" --max-new-tokens 0 --tolerance 100
check 'a tolerance that allows it' 0 "$status"

# Large logits carry large rounding errors: the tolerance is relative to them. A final norm of 1000 makes them large, the
# lowest bits of some weights play the rounding.
hidden=$(sed -n 's/.*"hidden_size": *\([0-9]*\).*/\1/p' "$goldens/plain/llama/config.json")
for name in large rounded wrong; do
    cp -rL "$goldens/plain/llama" "$name" && chmod -R u+w "$name"
    for _ in $(seq "$hidden"); do
        printf '\000\000\172\104'
    done | write model.norm.weight "$name/model.safetensors" 0
done
for at in 0 4 8 12; do
    printf '\125\125' | write model.layers.1.mlp.up_proj.weight rounded/model.safetensors $at
done
printf '\100' | write model.layers.1.mlp.up_proj.weight wrong/model.safetensors 3
host verify --model rounded --against large --input-ids 1,2,3
check 'large logits, rounding: exit status' 0 "$status"
difference=$(sed -n 's/^logits: largest difference \([^ ]*\) .*/\1/p' out)
check 'large logits, rounding: more than 5e-5' 1 "$(awk -v x="$difference" 'BEGIN { print (x > 5e-5) }')"
has 'large logits, rounding: what is allowed' ' allowed (tolerance 5e-05)' out
host verify --model rounded --against large --input-ids 1,2,3 --tolerance 1e-9
check 'large logits, rounding: a small tolerance' 6 "$status"
has 'large logits, rounding: a small tolerance is told' ' allowed), greedy ids' err
host verify --model wrong --against large --input-ids 1,2,3 --max-new-tokens 0
check 'large logits, a fault: exit status' 6 "$status"

cp -rL "$goldens/plain/llama_bf16" float && chmod -R u+w float
host verify --model "$goldens/plain/llama_bf16" --against float
check 'no plugins: exit status' 0 "$status"
has 'no plugins: modules' 'model.layers.0.self_attn.q_proj: Linear: largest difference 0 ' out

host verify --model "$goldens/plain/llama_mha" --against "$goldens/plain/llama_one_kv_head"
check 'other heads: exit status' 4 "$status"
has 'other heads: the field' 'llama_one_kv_head/config.json: num_key_value_heads: expected 4 as in' err
cp -rL "$goldens/vision/qwen2_vl_videos" tower && chmod -R u+w tower
sed 's/"num_heads": [0-9]*/"num_heads": 1/' "$goldens/vision/qwen2_vl_videos/config.json" >tower/config.json
host verify --model "$goldens/vision/qwen2_vl_videos" --against tower
check 'other heads of a tower: exit status' 4 "$status"
has 'other heads of a tower: the argument' 'tower/config.json: model.visual.blocks.0.attn: num_attention_heads: expected 2' err
host verify --model "$gptq" --against "$goldens/plain/qwen2" --plugins-dir "$plugins"
check 'another architecture: exit status' 4 "$status"
has 'another architecture: the field' 'architectures: expected LlamaForCausalLM' err
host verify --model "$gptq" --against missing --plugins-dir "$plugins"
check 'no such directory: exit status' 4 "$status"
has 'no such directory: named' 'missing: no such directory' err

# Without it, a quantized checkpoint's original is what reads it and nothing else.
host verify --model "$gptq" --plugins-dir "$plugins"
check 'nothing but the method: exit status' 6 "$status"
has 'nothing but the method: says so' 'nothing is replaced' err
host bench --model "$gptq" --plugins-dir "$plugins" --prompt-tokens 2 --new-tokens 1 --repeat 1 --modules
check 'bench, nothing but the method: exit status' 0 "$status"
check 'bench, nothing but the method: not compared with itself' '' "$(grep 'instead of' out)"
mkdir both && cp "$wrong" "$plugins/gptq/gptq.so" both
host verify --model "$gptq" --plugins-dir both --max-new-tokens 0
check 'a fault beside packed weights: exit status' 6 "$status"
has 'a fault beside packed weights: named' 'mlp.act_fn (WrongSiLU by wrong_silu)' err
check 'a fault beside packed weights: the rest is equal' '' "$(grep GPTQLinear out | grep -v 'difference 0 ')"
echo "1..$number"
exit "$failed"
