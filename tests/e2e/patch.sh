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
    host save --model "$2" --patch "$1.json" --runtime-layout --output "$1"
    check "$1: saved in the other layout" 0 "$status"
    mv err "$1.note"
    host save --model "$1" --output "$1.back"
    check "$1: saved back without the patch" 0 "$status"
    cat err >>"$1.note"
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
check 'fused: what the patch made is not called kept, in neither direction' '' "$(grep 'as they are' fused.note)"
check 'fused: one projection a layer' 2 "$(names fused/model.safetensors | grep -c qkv_proj)"
check 'fused: no other ones' '' "$(names fused/model.safetensors | grep '[qkv]_proj' | grep -v qkv_proj)"
host --model fused --input-ids 1,2,3
check 'fused: cannot be run' 4 "$status"
check 'fused: says how to go on' 1 "$(grep -c 'graft save writes the original' err)"
host save --quiet --model fused --patch fused.json --runtime-layout --output fused.again
check 'fused: what has the layout keeps it' same \
    "$(cmp fused/model.safetensors fused.again/model.safetensors && echo same)"

host plan --model "$goldens/llama" --patch fused.json
has 'fused: the plan tells what no parameter takes' 'unexpected model.layers.0.self_attn.qkv_proj.weight' out

# A parameter that a patch joins from others: rows of embeddings, cut and put together in another order.
cat >joined.json <<'EOF'
{"conversions": [
  {"kind": "converter", "source_patterns": ["self_attn.q_proj.weight"], "target_patterns": "self_attn.q_proj.weight",
   "operations": [{"op": "Transpose"}, {"op": "Transpose"}]},
  {"kind": "rename", "source_patterns": "mlp.up_proj", "target_patterns": "mlp.mid"},
  {"kind": "rename", "source_patterns": "mlp.gate_proj", "target_patterns": "mlp.up_proj"},
  {"kind": "rename", "source_patterns": "mlp.mid", "target_patterns": "mlp.gate_proj"}]}
EOF
host plan --model "$goldens/llama" --patch joined.json
has 'joined: the report names operations and patch' \
    'model.layers.*.self_attn.q_proj.weight: Transpose(dim0=0, dim1=1), Transpose(dim0=0, dim1=1), by the patch' out
has 'joined: and what was renamed' 'model.layers.*.mlp.gate_proj.weight: renamed, by the patch' out
host plan --model "$goldens/llama" --patch joined.json --json
check 'joined: JSON names the operations' 2 \
    "$(grep -c '"operations": "Transpose(dim0=0, dim1=1), Transpose(dim0=0, dim1=1)"' out)"
check 'joined: JSON names the patch' 6 "$(tr -d ' \n' <out | grep -o '"converted_by":\["patch"\]' | wc -l)"
host plan --model "$goldens/llama" --json
check 'no patch: JSON names nobody' '' "$(tr -d ' \n' <out | grep -o '"converted_by":\["[^]]*\]')"

# The model's class stacks experts: without its conversion they stay apart.
printf '%s\n' '{"without": "mlp\\.experts\\."}' >apart.json
there_and_back apart "$goldens/qwen2_moe"
has 'apart: what is kept is named' 'model.layers.0.mlp.experts.0.up_proj.weight' apart.note
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

# What does nothing gets a note; names in sources count for `without` as those in targets do.
cat >idle.json <<'EOF'
{"without": ["no_such", "gate_proj"],
 "conversions": [{"kind": "rename", "source_patterns": "nowhere", "target_patterns": "elsewhere"},
  {"kind": "rename", "source_patterns": "lm_head", "target_patterns": "lm_head"}]}
EOF
host plan --model "$goldens/qwen2_moe" --patch idle.json
has 'without: nothing hit' 'note       patch: without "no_such" matches no conversion' out
check 'without: found in sources' '' "$(grep 'without "gate_proj"' out)"
has 'without: a conversion is left out by a source' 'missing model.layers.*.mlp.experts.gate_up_proj' out
has 'conversions: nothing hit' 'note       patch: conversions[0] matches no tensor' out
check 'conversions: one that hits has no note' '' "$(grep 'conversions\[1\]' out)"

# A key that is the name of a class is not taken for a pattern of classes of another interface (LlamaRotaryEmbedding).
echo '{"classes": {"Embedding": "Embedding"}}' >name.json
host --quiet --model "$goldens/llama" --patch name.json --input-ids 5,6 --max-new-tokens 1 --output-ids
check 'classes: Embedding is a name' 0 "$status"

echo "1..$number"
exit "$failed"
