#!/bin/sh
# Patch files as their users meet them: another layout without any C, and back from it. Reports in TAP.
# usage: patch.sh HOST GOLDENS
set -u
. "$(dirname "$0")/../tap.sh"
host=$(realpath "$1")
goldens=$(realpath "$2")/plain
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1

# Runs the program: out, err and $status. One that hangs fails.
host() {
    status=0
    timeout 120 "$host" "$@" >out 2>err </dev/null || status=$?
}

names() { # names FILE: of its tensors
    dd if="$1" bs=1 skip=8 count="$(od -An -tu8 -N8 "$1" | tr -d ' ')" 2>/dev/null | tr '{' '\n' | tr ',' '\n' |
        sed -n 's/^"\([^"]*\)":$/\1/p' | grep -v __metadata__ | sort
}

# Saves in the patch's layout, and from there in the original one.
there_and_back() { # there_and_back WHAT MODEL
    host save --quiet --model "$2" --patch "$1.json" --runtime-layout --output "$1"
    check "$1: saved in the other layout" 0 "$status"
    host save --quiet --model "$1" --output "$1.back"
    check "$1: saved back without the patch" 0 "$status"
    check "$1: the same file" same "$(cmp "$2/model.safetensors" "$1.back/model.safetensors" && echo same)"
}

cat >fused.json <<'EOF'
{"conversions": [
  {"kind": "converter",
   "source_patterns": ["self_attn.q_proj.weight", "self_attn.k_proj.weight", "self_attn.v_proj.weight"],
   "target_patterns": "self_attn.qkv_proj.weight",
   "operations": [{"op": "Concatenate", "dim": 0}]}]}
EOF
there_and_back fused "$goldens/llama"
check 'fused: one projection a layer' 2 "$(names fused/model.safetensors | grep -c qkv_proj)"
check 'fused: no other ones' '' "$(names fused/model.safetensors | grep '[qkv]_proj' | grep -v qkv_proj)"
host --model fused --input-ids 1,2,3
check 'fused: cannot be run' 4 "$status"
check 'fused: says how to go on' 1 "$(grep -c 'graft save writes the original' err)"
host save --quiet --model fused --patch fused.json --runtime-layout --output fused.again
check 'fused: what has the layout keeps it' same \
    "$(cmp fused/model.safetensors fused.again/model.safetensors && echo same)"

# The model's class stacks experts: without its conversion they stay apart.
printf '%s\n' '{"without": "mlp\\.experts\\."}' >apart.json
there_and_back apart "$goldens/qwen2_moe"
check 'apart: experts as they were' "$(names "$goldens/qwen2_moe/model.safetensors" | grep -c experts)" \
    "$(names apart/model.safetensors | grep -c experts)"

cat >split.json <<'EOF'
{"without": ["mlp\\.experts\\."],
 "conversions": [
  {"kind": "converter", "source_patterns": "mlp.experts.gate_up_proj",
   "target_patterns": ["mlp.experts.*.gate_proj.weight", "mlp.experts.*.up_proj.weight"],
   "operations": [{"op": "Chunk", "dim": 1}, {"op": "SplitModulelist", "dim": 0}]},
  {"kind": "converter", "source_patterns": "mlp.experts.down_proj", "target_patterns": "mlp.experts.*.down_proj.weight",
   "operations": [{"op": "SplitModulelist", "dim": 0}]}]}
EOF
there_and_back split "$goldens/qwen2_moe_stacked"
check 'split: three matrices for each of five experts in two layers' 30 \
    "$(names split/model.safetensors | grep -c 'mlp\.experts\.[0-4]\.[a-z]*_proj\.weight')"
check 'split: no others' '' "$(names split/model.safetensors | grep 'experts\.[a-z]')"

cat >stacked.json <<'EOF'
{"conversions": [
  {"kind": "converter", "source_patterns": ["mlp.experts.*.gate_proj.weight", "mlp.experts.*.up_proj.weight"],
   "target_patterns": "mlp.experts.w13", "operations": [{"op": "MergeModulelist"}, {"op": "Concatenate", "dim": 1}]},
  {"kind": "rename", "source_patterns": "lm_head", "target_patterns": "output"}]}
EOF
there_and_back stacked "$goldens/qwen2_moe"
check 'stacked: by their other name' 2 "$(names stacked/model.safetensors | grep -c experts.w13)"
check 'stacked: the head, too' output.weight "$(names stacked/model.safetensors | grep output)"

# Classes of this load only.
echo '{"classes": {"LlamaMLP": "MistralMLP"}}' >classes.json
host plan --model "$goldens/llama" --patch classes.json --json
check 'classes: replaced' 2 "$(grep -o '"class": *"MistralMLP"' out | wc -l | tr -d ' ')"
host plan --model "$goldens/llama" --patch classes.json --strict
check 'classes: nothing is missing' 0 "$status"

echo "1..$number"
exit "$failed"
