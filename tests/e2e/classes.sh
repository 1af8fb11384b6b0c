#!/bin/sh
# How classes are found whoever asks for them, and what is said of one that fails. Reports in TAP.
# usage: classes.sh HOST GOLDENS CLASS_PROBE PLUGINS...     CLASS_PROBE is tests/e2e/class_probe.c
set -u
. "$(dirname "$0")/../tap.sh"
host=$(realpath "$1")
goldens=$(realpath "$2")
shift 2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/plugins" && cp "$@" "$scratch/plugins/" && cd "$scratch" || exit 1
moe=$goldens/plain/qwen2_moe_gqa
qwen3=$goldens/plain/qwen3

# Runs the program: out, err and $status. One that hangs fails.
host() {
    status=0
    timeout 120 "$host" "$@" >out 2>err </dev/null || status=$?
}

generate() {
    host --quiet --input-ids 5,6,7,8,9 --max-new-tokens 3 --output-ids "$@"
}

only() { # only ID...: the directory of these plugins
    rm -rf some && mkdir some
    for id in "$@"; do
        cp "plugins/$id.so" some/
    done
}

host list --classes
check 'no class of the host is listed twice' '' "$(sed 's/ .*//' out | sort | uniq -d)"

# A class of a plugin finds its private children when a patch asks for it.
only sequential_experts
generate --model "$moe"
wanted=$(cat out)
echo '{"classes": {"Qwen2MoeExperts": "ModuleListExperts"}}' >experts.json
generate --model "$moe" --plugins-dir some --patch experts.json
check 'patch: private children are found' 0 "$status"
check 'patch: the same ids' "$wanted" "$(cat out)"
host plan --model "$moe" --plugins-dir some --patch experts.json
has 'patch: the report names the plugin' 'Qwen2MoeExperts -> ModuleListExperts by sequential_experts (' out
check 'patch: no note says that the plugin has no effect' '' "$(grep '^  note' out)"
host save --quiet --model "$moe" --plugins-dir some --patch experts.json --output saved
cmp -s saved/model.safetensors "$moe/model.safetensors"
check 'patch: saved as it was' 0 $?

# A pattern does not reach a class that another plugin keeps for its children.
only sequential_experts fused_gate_up
host plan --model "$moe" --plugins-dir some
has 'pattern: takes what is no private class' 'Qwen2MoeMLP -> FusedGateUpMLP by fused_gate_up' out
check 'pattern: leaves private classes alone' '' "$(grep 'MoeMLP ->' out | grep -v ' Qwen2MoeMLP ->')"

# A kernel stands on a class that replaces another.
only fused_norm_mlp class_probe
host plan --model "$qwen3" --plugins-dir some --kernels norm
has 'kernel on a replacement: the report' 'Qwen3MLP -> FusedNormMLP by fused_norm_mlp (some/fused_norm_mlp.so) -> ProbeNormMLP by class_probe (some/class_probe.so), kernel norm, in' out
host plan --model "$qwen3" --plugins-dir some --kernels norm --json
has 'kernel on a replacement: JSON' '"kernel_on": "FusedNormMLP"' out
for model in qwen3 qwen3_bf16 qwen3_tied_f16; do
    host verify --model "$goldens/plain/$model" --plugins-dir some --kernels norm --max-new-tokens 3 --tolerance 0
    check "kernel on a replacement: $model, to the bit" 0 "$status"
done
rm -rf saved
host save --quiet --model "$qwen3" --plugins-dir some --kernels norm --output saved
cmp -s saved/model.safetensors "$qwen3/model.safetensors"
check 'kernel on a replacement: saved as it was' 0 $?
host plan --model "$qwen3" --plugins-dir some --kernels silent
has 'kernel below a wrapper: the report' 'Qwen3MLP -> SilentMLP by class_probe (some/class_probe.so) -> FusedNormMLP by fused_norm_mlp (some/fused_norm_mlp.so) in' out
only fused_gate_up class_probe
host plan --model "$qwen3" --plugins-dir some --kernels silent
check 'kernel of a replaced class: an error' 2 "$status"
has 'kernel of a replaced class: says why' 'kernel for class "Qwen3MLP" has no effect: fused_gate_up replaces what it matches' err


# What is said when a class fails: which module, class and plugin; an unknown status is the plugin's.
run() { host --quiet --model "$qwen3" --input-ids 5,6,7 --max-new-tokens 1 --output-ids --plugins-dir some "$@"; }
said() { # said WHAT STATUS TEXT OPTIONS...
    what=$1 wanted=$2 text=$3
    shift 3
    run "$@"
    check "$what: exit status" "$wanted" "$status"
    check "$what: one line" 1 "$(wc -l <err)"
    has "$what: says why" "$text" err
}
only class_probe
said 'forward without a word' 3 ': model.layers.0.mlp: forward of SilentMLP of plugin class_probe failed with status 42 and recorded no error' --kernels silent
said 'forward that names nothing' 3 ': model.layers.0.mlp: no room on the device' --kernels terse
for class in AskingMLP LateMLP; do
    echo "{\"classes\": {\"Qwen3MLP\": \"$class\"}}" >class.json
    said "$class asks for a field" 4 "config.json: device_count: missing, expected an integer; $class of plugin class_probe asked for it, at model.layers.0.mlp" --patch class.json
done
echo '{"classes": {"Qwen3MLP": "OddMLP"}}' >class.json
said 'create without a word' 3 ': model.layers.0.mlp: create of OddMLP of plugin class_probe failed with status 77 and recorded no error' --patch class.json

# A joined module is in no checkpoint: what it was joined from is.
only fused_gate_up class_probe
echo '{"classes": {"Linear": "PartedLinear"}}' >class.json
said 'describe of a joined module' 4 'model.layers.0.mlp.gate_up_proj: too many outputs; the checkpoint has it as model.layers.0.mlp.gate_proj and model.layers.0.mlp.up_proj' --patch class.json
only class_probe

# What a parent owes a child of its interface, and what else it may give.
echo '{"classes": {"Qwen3MLP": "MissingMLP"}}' >class.json
said 'an argument is missing' 3 ': model.layers.0.mlp: MissingMLP describes child proj: argument in_features: expected an integer, as graft.linear/1 asks for, got none' --patch class.json
echo '{"classes": {"Qwen3MLP": "MistypedMLP"}}' >class.json
said 'an argument of another kind' 3 ': model.layers.0.mlp: MistypedMLP describes child proj: argument in_features: expected an integer, as graft.linear/1 asks for, got a real number' --patch class.json
echo '{"classes": {"Qwen3MLP": "ExtraMLP"}}' >class.json
host plan --model "$qwen3" --plugins-dir some --patch class.json
check 'an argument that the interface does not list: planned' 0 "$status"
has 'an argument that the interface does not list: the child is there' 'missing model.layers.*.mlp.proj.weight' out

# Names of tensors that a terminal would obey reach nobody as they are, and break no JSON.
mkdir model && cp "$qwen3"/* model/
header='{"a\u001b[31m\nb\u009b":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}'
{ printf '%b' "\\0$(printf %o ${#header})\\0\\0\\0\\0\\0\\0\\0" && printf '%s\0\0\0\0' "$header"; } >model/model-00002-of-00002.safetensors
mv model/model.safetensors model/model-00001-of-00002.safetensors
names=$(length=$(($(od -An -tu8 -N8 model/model-00001-of-00002.safetensors))) && tail -c +9 model/model-00001-of-00002.safetensors |
    head -c "$length" | grep -o '"[a-z][a-z0-9_.]*":{"' | grep -o '"[a-z0-9_.]*"' | sed 's/.*/&:"model-00001-of-00002.safetensors",/')
printf '{"metadata":{},"weight_map":{%s"a\\u001b[31m\\nb\\u009b":"model-00002-of-00002.safetensors"}}' "$(echo "$names" | tr -d '\n')" >model/model.safetensors.index.json
unsafe() { LC_ALL=C tr -d '\n[:print:]' <"$1" | wc -c; } # bytes that are neither lines nor ASCII
host plan --model model
check 'a hostile name: planned' 0 "$status"
has 'a hostile name: in the report' 'unexpected a?[31m?b??' out
check 'a hostile name: the report drives no terminal' 0 "$(unsafe out)"
host plan --model model --json
has 'a hostile name: in JSON' '"a\u001b[31m\nb\u009b"' out
check 'a hostile name: JSON drives no terminal' 0 "$(unsafe out)"
host plan --model model --html page.html
check 'a hostile name: the page has no control characters' '' "$(LC_ALL=C grep -c "$(printf '\033\|\302\233')" page.html | grep -v '^0')"
has 'a hostile name: on the page' 'a?[31m?b??' page.html
host plan --model model --strict
check 'a hostile name: an error' 4 "$status"
has 'a hostile name: in the error' ': a?[31m?b??: unexpected' err
check 'a hostile name: the error drives no terminal' 0 "$(unsafe err)"
host plan --model "$(printf 'no\033[31m\377model')"
has 'a hostile directory: in the error' ': no?[31m?model' err

echo "1..$number"
exit $failed
