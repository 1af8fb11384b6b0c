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
check 'kernel of a replaced class: an error' 2 "$status"
has 'kernel of a replaced class: says why' 'kernel for class "Qwen3MLP" does nothing here: what it matches is replaced by fused_norm_mlp' err

echo "1..$number"
exit $failed
