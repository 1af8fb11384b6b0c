#!/bin/sh
# --fuse on the command line: results, reports, errors. Reports in TAP.
# usage: fuse.sh HOST MODEL CHAIN_PLUGIN PLUGINS...
set -u
. "$(dirname "$0")/../tap.sh"
host=$(realpath "$1")
model=$(realpath "$2")
chain=$(realpath "$3")
shift 3
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/chain" "$scratch/plugins"
cp "$chain" "$scratch/chain/" && cp "$@" "$scratch/plugins/" && cd "$scratch" || exit 1
norm_mlp='model.layers.*.post_attention_layernorm,model.layers.*.mlp'
norm_attention='model.layers.*.input_layernorm,model.layers.*.self_attn'

host() {
    status=0
    timeout 120 "$host" "$@" >out 2>err </dev/null || status=$?
}

# Each token of a sequence, and the logits of its prompt.
ask() { # ask NAME OPTIONS...
    name=$1
    shift
    host --model "$model" --input-ids 3,17,42,5 --max-new-tokens 5 --output-ids --logits "$name" "$@"
    check "$name: exit status" 0 "$status"
}

for dtype in float32 auto; do
    ask "plain-$dtype" --dtype $dtype
    mv out ids
    ask "fused-$dtype" --dtype $dtype --fuse "$norm_mlp" --fuse "$norm_attention"
    check "$dtype: the same ids" "$(cat ids)" "$(cat out)"
    cmp -s "plain-$dtype" "fused-$dtype"
    check "$dtype: not a bit of the logits differs" 0 $?
    has "$dtype: the report tells" 'fused      Qwen3RMSNorm + Qwen3MLP, one after another in 2 chains: ' err
    has "$dtype: and which modules" ': model.layers.{0-1}.post_attention_layernorm, model.layers.{0-1}.mlp' err
done
ask replaced --plugins-dir plugins --fuse "$norm_mlp" --dtype float32
cmp -s plain-float32 replaced
check 'with plugins: not a bit differs' 0 $?
host plan --model "$model" --fuse "$norm_mlp"
has 'plan: tells' 'fused      Qwen3RMSNorm + Qwen3MLP, one after another in 2 chains' out
host plan --model "$model" --fuse "$norm_mlp" --json
has 'plan as JSON: the modules' '"model.layers.1.post_attention_layernorm"' out
has 'plan as JSON: no implementation' '"implementation": null' out

# A plugin's implementation.
ask offered --dtype float32 --plugins-dir chain
cmp -s plain-float32 offered
check 'offered: not used where nothing is fused' 0 $?
ask implemented --dtype float32 --plugins-dir chain --fuse "$norm_mlp"
has 'implemented: the report tells' 'fused      Qwen3RMSNorm + Qwen3MLP -> RMSNormMLP by norm_mlp_chain in 2 chains' err
cmp -s plain-float32 implemented
check 'implemented: it is used' 1 $?
host plan --model "$model" --fuse "$norm_mlp" --json --plugins-dir chain
has 'plan as JSON: the implementation' '"implementation": "RMSNormMLP"' out
host verify --model "$model" --plugins-dir chain --fuse "$norm_mlp" --max-new-tokens 4
check 'verify: the implementation is within the tolerance' 0 "$status"
host verify --model "$model" --plugins-dir chain --fuse "$norm_mlp" --max-new-tokens 4 --tolerance 0
check 'verify: and not the same to the bit' 6 "$status"
mkdir two && cp chain/norm_mlp_chain.so two/
sed 's/norm_mlp_chain/norm_mlp_chaim/g' chain/norm_mlp_chain.so >two/other.so
host plan --model "$model" --plugins-dir two --fuse "$norm_mlp"
check 'two implementations: refused' 3 "$status"
has 'two implementations: both are named' 'norm_mlp_chaim' err
host plan --model "$model" --plugins-dir two --plugins norm_mlp_chaim,norm_mlp_chain --fuse "$norm_mlp"
has 'two implementations: the order decides' 'by norm_mlp_chaim' out

# Modules in a chain run together, so they are not compared alone; the logits are.
host verify --model "$model" --plugins-dir plugins --fuse "$norm_attention" --max-new-tokens 4 --tolerance 0
check 'verify: exit status' 0 "$status"
has 'verify: why a fused module is not compared' 'not compared: it is fused with its neighbours' out
host bench --model "$model" --fuse "$norm_mlp" --prompt-tokens 4 --new-tokens 2 --repeat 1 --modules
check 'bench: exit status' 0 "$status"

refused() { # refused VALUE TEXT
    host --quiet --model "$model" --input-ids 1,2 --fuse "$1"
    check "--fuse $1: exit status" 2 "$status"
    check "--fuse $1: one line" 1 "$(wc -l <err)"
    has "--fuse $1: why" "$2" err
}
refused 'model.layers.*.mlp' 'expected 2 to 16 modules'
refused 'model.layers.*.mlp,' 'expected module paths'
refused 'model.layers.*.nothing,model.layers.*.mlp' 'no module of Qwen3ForCausalLM matches it'
refused 'model.layers.0.post_attention_layernorm,model.layers.*.mlp' 'a chain takes one of each'
refused 'model.norm,lm_head' 'they have different parents'
refused 'model.layers.*.input_layernorm,model.layers.*.mlp' 'model.layers.0.self_attn runs in between'
refused 'model.layers.*.mlp,model.layers.*.post_attention_layernorm' 'it runs before that module'
host --quiet --model "$model" --input-ids 1,2 --fuse "$norm_mlp" --fuse "$norm_mlp"
check 'twice: exit status' 2 "$status"
has 'twice: why' 'is already fused' err
host plan --model "$model" --fuse "$norm_mlp" --fuse "$norm_mlp"
check 'twice, in a plan: exit status' 2 "$status"
echo "1..$number"
exit "$failed"
