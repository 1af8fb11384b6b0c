#!/bin/sh
# Patch files as their users meet them: another layout without any C, and back from it. Reports in TAP.
# usage: patch.sh HOST GOLDENS PROBE OTHER     the last two are tests/e2e/operation_probe.c under two ids
set -u
. "$(dirname "$0")/../tap.sh"
host=$(realpath "$1")
goldens=$(realpath "$2")/plain
probe=$(realpath "$3")
other=$(realpath "$4")
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
check 'fused: says how to go on' 1 "$(grep -c 'graft save restores the original' err)"
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

# Several sources, several targets: as Ernie's experts for text and for pictures lie.
cat >halves.json <<'EOF'
{"conversions": [{"kind": "converter", "source_patterns": ["experts.*.gate_proj.weight", "experts.*.up_proj.weight"],
   "target_patterns": ["text_moe.experts.gate_up_proj", "vision_moe.experts.gate_up_proj"],
   "operations": [{"op": "ErnieFuseAndSplitTextVisionExperts"}]}]}
EOF
there_and_back halves "$goldens/qwen2_moe"
check 'halves: both' '2 2' "$(names halves/model.safetensors | grep -c text_moe) $(names halves/model.safetensors | grep -c vision_moe)"
sed 's/ErnieFuseAndSplitTextVisionExperts/MergeModulelist/' halves.json >several.json
host plan --model "$goldens/qwen2_moe" --patch several.json
check 'several sources and targets by an operation that cannot: an error' 4 "$status"
has 'which names those that can' 'one of the two numbers must be 1, as no operation here is ErnieFuseAndSplitTextVisionExperts, ErnieSplitAndDecoupleTextVisionExperts or custom' err

# A part of every tensor, for a model of half the width: the rest is elsewhere, and is there again when that is saved.
mkdir half
cp "$goldens/llama"/* half
size=$(sed -n 's/.*"intermediate_size": *\([0-9]*\).*/\1/p' half/config.json)
sed "s/\"intermediate_size\": *$size/\"intermediate_size\": $((size / 2))/" "$goldens/llama/config.json" >half/config.json
slice() { # slice PATTERN DIM
    printf '{"kind": "converter", "source_patterns": "%s.weight", "target_patterns": "%s.weight",' "$1" "$1"
    printf '"operations": [{"op": "Slice", "dim": %s, "begin": 1, "length": 1, "of": 2}]}' "$2"
}
printf '{"conversions": [%s, %s, %s]}\n' "$(slice gate_proj 0)" "$(slice up_proj 0)" "$(slice down_proj 1)" >half.json
host plan --model half --patch half.json --strict
check 'half: fits' 0 "$status"
has 'half: the operation is named' 'down_proj.weight: Slice(dim=1, begin=1, length=1, of=2), by the patch' out
has 'half: what is left out is elsewhere' 'elsewhere  0 tensors, 0.1 MB' out
host save --model half --patch half.json --output half.back
check 'half: the same file' same "$(cmp half/model.safetensors half.back/model.safetensors && echo same)"
host save --model half --patch half.json --runtime-layout --output half.lost
check 'half: nothing gets lost' 4 "$status"
has 'half: whose part it would be' 'down_proj.weight: no parameter holds all of it, so the runtime layout would lose some' err
sed 's/"length": 1/"length": 3/' half.json >long.json
host plan --model half --patch long.json
check 'half: a Slice that is not in its dimension' 4 "$status"
has 'half: and says so' 'conversions[0].operations[0].of: expected at least begin and length together (4), got 2' err

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
has 'without: nothing hit' 'note       load patch: without "no_such" matches no conversion' out
check 'without: found in sources' '' "$(grep 'without "gate_proj"' out)"
has 'without: a conversion is left out by a source' 'missing model.layers.*.mlp.experts.gate_up_proj' out
has 'conversions: nothing hit' 'note       load patch: conversions[0] matches no tensor' out
check 'conversions: one that hits has no note' '' "$(grep 'conversions\[1\]' out)"

# A key that is the name of a class is not taken for a pattern of classes of another interface (LlamaRotaryEmbedding).
echo '{"classes": {"Embedding": "Embedding"}}' >name.json
host --quiet --model "$goldens/llama" --patch name.json --input-ids 5,6 --max-new-tokens 1 --output-ids
check 'classes: Embedding is a name' 0 "$status"

# Custom operations of plugins, by name.
mkdir one both
cp "$probe" one/
cp "$probe" "$other" both/
converter() { # converter TARGET OPERATIONS: a patch of q_proj
    printf '{"conversions": [{"kind": "converter", "source_patterns": "self_attn.q_proj.weight", "target_patterns": "%s", "operations": [%s]}]}\n' "$1" "$2"
}
llama=$goldens/llama
host --quiet --model "$llama" --input-ids 5,6,7 --max-new-tokens 4 --output-ids
mv out plain.ids
converter self_attn.q_proj.weight '{"op": "negated"}' >negated.json
host --quiet --model "$llama" --plugins-dir one --patch negated.json --input-ids 5,6,7 --max-new-tokens 4 --output-ids
check 'operation: the model runs' 0 "$status"
check 'operation: it was done' different "$(cmp -s out plain.ids || echo different)"
converter self_attn.q_proj.weight '{"op": "probe.negated"}, {"op": "Transpose"}, {"op": "negated"}, {"op": "Transpose"}' >twice.json
host --quiet --model "$llama" --plugins-dir one --patch twice.json --input-ids 5,6,7 --max-new-tokens 4 --output-ids
check 'operation: twice is as before' same "$(cmp out plain.ids && echo same)"
host plan --model "$llama" --plugins-dir one --patch twice.json
has 'operation: the report has its name' 'self_attn.q_proj.weight: negated, Transpose(dim0=0, dim1=1), negated,' out
host save --quiet --model "$llama" --plugins-dir one --patch negated.json --output undone
check 'operation: undone in saving' same "$(cmp "$llama/model.safetensors" undone/model.safetensors && echo same)"
host save --quiet --model "$llama" --plugins-dir one --patch negated.json --runtime-layout --output negated
check 'operation: saved as it is' different "$(cmp -s "$llama/model.safetensors" negated/model.safetensors || echo different)"
host save --quiet --model negated --plugins-dir one --output negated.back
check 'operation: and led back without the patch' same "$(cmp "$llama/model.safetensors" negated.back/model.safetensors && echo same)"
host save --model negated --output nowhere
check 'operation: not without the plugin' 3 "$status"
has 'operation: which is named' 'the operation negated of plugin probe is needed to undo it and is missing' err

# What only an operation holds: no parameter has that name.
converter self_attn.q_proj.minus '{"op": "negated"}' >minus.json
host plan --model "$llama" --plugins-dir one --patch minus.json
has 'operation without a parameter: in the plan' 'unexpected model.layers.0.self_attn.q_proj.minus' out
host save --quiet --model "$llama" --plugins-dir one --patch minus.json --runtime-layout --output minus
check 'operation without a parameter: saved' 0 "$status"
check 'operation without a parameter: under its name' 2 "$(names minus/model.safetensors | grep -c q_proj.minus)"
host save --quiet --model minus --plugins-dir one --output minus.back
check 'operation without a parameter: led back' same "$(cmp "$llama/model.safetensors" minus.back/model.safetensors && echo same)"
converter self_attn.q_proj.size '{"op": "absolute"}' >absolute.json
host save --quiet --model "$llama" --plugins-dir one --patch absolute.json --runtime-layout --output absolute
check 'operation without a way back: saved' 0 "$status"
check 'operation without a way back: under its name' 2 "$(names absolute/model.safetensors | grep -c q_proj.size)"
host save --model absolute --plugins-dir one --output nowhere
check 'operation without a way back: an error' 3 "$status"
has 'operation without a way back: named' 'the operation absolute of plugin probe, whose result this directory holds, cannot be undone' err
host save --model "$llama" --plugins-dir one --patch absolute.json --output nowhere
has 'operation without a way back: known before' 'the operation absolute of plugin probe' err

# Names that mean nothing, or two things.
host plan --model "$llama" --plugins-dir both --patch negated.json
check 'operation of two plugins: an error' 4 "$status"
has 'operation of two plugins: says whose' 'conversions[0].operations[0].op: "negated" is the name of several operations: ' err
has 'operation of two plugins: of one' probe.negated err
has 'operation of two plugins: of the other' other.negated err
converter x '{"op": "other.negated"}' >whose.json
host plan --model "$llama" --plugins-dir both --patch whose.json
check 'operation of two plugins: with the id it is one' 0 "$status"
host plan --model "$llama" --plugins-dir one --patch whose.json
check 'unknown operation: an error' 4 "$status"
has 'unknown operation: lists what there is' '"other.negated" is not an operation; known: Concatenate, Chunk, MergeModulelist, SplitModulelist, Split, Interleave, Transpose, Conv3dToLinear, LinearToConv3d, PermuteForRope, Slice, ErnieFuseAndSplitTextVisionExperts, ErnieSplitAndDecoupleTextVisionExperts, probe.negated, probe.absolute' err
converter x '{"op": "negated", "dim": 1}' >field.json
host plan --model "$llama" --plugins-dir one --patch field.json
check 'operation with a field it does not have: an error' 4 "$status"
host inspect "one/$(basename "$probe")"
has 'inspect: names the operations' 'name: negated' out
has 'inspect: says which can be undone' 'reversible: true' out

echo "1..$number"
exit "$failed"
