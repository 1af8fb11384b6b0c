#!/bin/sh
# Plugins that call super around one that does not: results, reports and weights of such stacks.
# usage: stack.sh HOST GOLDENS ECHO LOW_RANK PLUGINS...
set -u
. "$(dirname "$0")/../tap.sh"
host=$(realpath "$1")
moe=$2/patched/qwen2_moe_doc_example
shift 2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/plugins"
cp "$@" "$scratch/plugins/" && cd "$scratch" || exit 1

# Runs the program: out, err and $status. One that hangs fails.
host() {
    status=0
    timeout 120 "$host" "$@" >out 2>err </dev/null || status=$?
}

# What calls super wraps what does not, wherever --plugins has the two, and leaves its results alone.
record() { # record NAME OPTIONS
    name=$1
    shift
    host --quiet --model "$moe" --plugins-dir plugins --input-ids 5,6,7,8 --output-ids --max-new-tokens 3 "$@" \
        --hidden-states "$name.hidden" --router-logits "$name.router" --attentions "$name.attentions" --logits "$name.logits"
    check "recorded $name: exit status" 0 "$status"
    cp out "$name.ids"
}
record alone --plugins quantized_linear
echo '{"classes": {"Linear": {"class": "EchoLinear", "module_path": "q_proj"}}}' >q_proj.json
record first --plugins echo,quantized_linear
record last --plugins quantized_linear,echo
record patched --plugins quantized_linear,echo --patch q_proj.json
record adapted --plugins echo,low_rank,quantized_linear
for name in first last patched adapted; do
    for file in hidden router attentions logits ids; do
        cmp -s "alone.$file" "$name.$file"
        check "$name: the same $file" 0 $?
    done
done
host plan --model "$moe" --plugins-dir plugins --plugins quantized_linear,echo --patch q_proj.json
has 'the report' "Linear -> ExampleInt8Linear by quantized_linear (plugins/quantized_linear.so) -> EchoLinear by echo (plugins/echo.so) in" out
check 'a class once, though patch and plugin name it' '' "$(grep 'EchoLinear.*EchoLinear' out)"
host plan --model "$moe" --plugins-dir plugins --plugins quantized_linear --json
quantized=$(grep -A1 '"class": "ExampleInt8Linear"' out | grep -c '"original_class": "Linear"')
host plan --model "$moe" --plugins-dir plugins --plugins echo,quantized_linear --json
check 'all that is quantized without' "$quantized" \
    "$(grep -A1 '"class": "ExampleInt8Linear"' out | grep -c '"original_class": "Linear"')"
check 'that is some' 1 "$((quantized > 0))"
tr -d ' \n' <out >plan
has 'JSON: the outermost first' '"stack":[{"class":"EchoLinear","plugin":"echo"},{"class":"ExampleInt8Linear","plugin":"quantized_linear"}]' plan
host plan --model "$moe" --plugins-dir plugins --plugins echo,quantized_linear --html page.html
has 'page' 'called by the replacement above' page.html
host verify --model "$moe" --plugins-dir plugins --plugins echo,quantized_linear --tolerance 10 --max-new-tokens 2
has 'verify: what wraps' 'q_proj: Linear -> ExampleInt8Linear by quantized_linear -> EchoLinear by echo: largest difference' out
has 'verify: what is wrapped' 'q_proj: Linear -> ExampleInt8Linear by quantized_linear: largest difference' out
host inspect Linear --model "$moe" --plugins-dir plugins --plugins echo,quantized_linear
has 'inspect: what is wrapped counts' "modules: $quantized" out
host bench --model "$moe" --plugins-dir plugins --plugins echo,quantized_linear --prompt-tokens 4 --new-tokens 2 --repeat 1 --modules
check 'bench: each class beside the original' 3 \
    "$(grep -cE '^(EchoLinear|ExampleInt8Linear) instead of Linear: .*, token .* ms instead of 0\.[0-9]*[1-9]|^EchoLayer instead of' out)"

# Each class has its own weights: one state dict, of which the wrapper's part may be left away.
host save --quiet --model "$moe" --plugins-dir plugins --plugins quantized_linear --runtime-layout --output alone
host save --quiet --model "$moe" --plugins-dir plugins --plugins echo,quantized_linear --runtime-layout --output wrapped
cmp -s alone/model.safetensors wrapped/model.safetensors
check 'saved: the state dict of what is wrapped' 0 $?
host plan --model "$moe" --plugins-dir plugins --plugins low_rank,echo,quantized_linear --json
tr -d ' \n' <out >plan
has 'three classes at one place' '"stack":[{"class":"LowRankLinear","plugin":"low_rank"},{"class":"EchoLinear","plugin":"echo"},{"class":"ExampleInt8Linear","plugin":"quantized_linear"}]' plan
for parameter in low_rank_A low_rank_B codes scales bias; do
    has "three classes at one place: $parameter" "\"name\":\"model.layers.0.self_attn.q_proj.$parameter\"" plan
done
host save --quiet --model "$moe" --plugins-dir plugins --plugins low_rank,quantized_linear --runtime-layout --output adapted
has 'saved: the weights of the wrapper' 'model.layers.1.self_attn.v_proj.low_rank_B' adapted/model.safetensors
for list in low_rank,quantized_linear quantized_linear,echo,low_rank quantized_linear; do
    host --quiet --model adapted --plugins-dir plugins --plugins $list --input-ids 5,6,7,8 --output-ids --max-new-tokens 3
    check "saved, loaded with $list: the same ids" "$(cat alone.ids)" "$(cat out)"
done
host plan --model adapted --plugins-dir plugins --plugins low_rank,quantized_linear --strict
check 'saved: nothing is left over' 0 "$status"
host plan --model adapted --plugins-dir plugins --plugins quantized_linear
has 'saved, without the wrapper: its weights are left over' 'unexpected model.layers.0.self_attn.q_proj.low_rank_A' out
host save --quiet --model "$moe" --plugins-dir plugins --plugins low_rank,echo --output original
cmp -s original/model.safetensors "$moe/model.safetensors"
check 'saved as it was, whatever wraps it' 0 $?
echo "1..$number"
exit "$failed"
