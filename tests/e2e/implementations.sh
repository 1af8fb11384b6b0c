#!/bin/sh
# What is chosen by name, and what is recorded inside: what is printed, written and refused. Reports in TAP.
# usage: implementations.sh HOST GOLDENS IMPLEMENTATIONS PLUGINS...     IMPLEMENTATIONS is sdk/examples/implementations
set -u
. "$(dirname "$0")/../tap.sh"
host=$(realpath "$1")
goldens=$(realpath "$2")
implementations=$(realpath "$3")
shift 3
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/plugins" "$scratch/implementations" && cp "$@" "$scratch/plugins/" && cp "$implementations" "$scratch/implementations/" &&
    cd "$scratch" || exit 1
moe=$goldens/plain/qwen2_moe_gqa
llama=$goldens/plain/llama

# Runs the program: out, err and $status. One that hangs fails.
host() {
    status=0
    timeout 120 "$host" "$@" >out 2>err </dev/null || status=$?
}

refuses() { # refuses WHAT STATUS TEXT ARGUMENTS...: one line with the text, nothing written
    what=$1 wanted=$2 text=$3
    shift 3
    host "$@"
    check "$what: exit status" "$wanted" "$status"
    check "$what: one line" 1 "$(wc -l <err)"
    has "$what: says why" "$text" err
}

run() { # run OPTIONS...: a batch of two prompts
    host --quiet --model "$moe" --dtype float32 --input-ids 5,6,7,8,9 --input-ids 10,11 --max-new-tokens 3 --output-ids "$@"
}

# Chosen by name
run
usual=$(cat out)
for attention in eager sdpa; do
    for experts in eager batched_mm grouped_mm; do
        run --attn-implementation $attention --experts-implementation $experts
        check "$attention, $experts: ids" "0:$usual" "$status:$(cat out)"
    done
done
run --plugins-dir implementations --attn-implementation plain --experts-implementation plain --kernels plain
check "a plugin's: ids" "0:$usual" "$status:$(cat out)"
run --plugins-dir plugins --attn-implementation eager
check 'with replaced classes: ids' "0:$usual" "$status:$(cat out)"
refuses 'unknown attention' 2 'known: sdpa, eager' --model "$moe" --attn-implementation flash
refuses 'unknown attention, plugin' 2 'known: sdpa, eager, plain' --model "$moe" --plugins-dir implementations \
    --attn-implementation flash
refuses 'unknown experts' 2 'known: grouped_mm, eager, batched_mm' --model "$moe" --experts-implementation all
refuses 'unknown kernel' 2 'there is no kernel "fast"; known: plain' --model "$moe" --plugins-dir implementations \
    --kernels plain,fast
refuses 'experts of a model without any' 2 'no module of this model uses "eager": none holds stacked experts' \
    --model "$goldens/plain/llama" --experts-implementation eager
refuses 'experts that a plugin keeps otherwise' 2 'none holds stacked experts' --model "$moe" --plugins-dir plugins \
    --experts-implementation eager
refuses 'a kernel for a class that is not there' 2 'no module of this model uses "plain"' --plugins-dir implementations \
    --model "$goldens/encoders/bert_mlm" --kernels plain
refuses 'a kernel without its plugin' 2 'known: none' --model "$moe" --kernels plain

# What is shown
host plan --model "$moe" --plugins-dir implementations --attn-implementation plain --experts-implementation eager --kernels plain
has 'plan: what was chosen' 'chosen     attention plain by implementations, experts eager' out
has 'plan: the kernel' 'kernel plain, in 4 modules' out
host plan --model "$moe" --plugins-dir implementations
check 'plan: the usual is no news' '' "$(grep -E 'chosen|kernel' out)"
host plan --model "$moe" --plugins-dir implementations --kernels plain --json
tr -d ' \n' <out >flat
has 'plan JSON: attention' '"attention_implementation":{"name":"sdpa","plugin":null}' flat
has 'plan JSON: experts' '"experts_implementation":{"name":"grouped_mm","plugin":null}' flat
has 'plan JSON: kernels' '"kernels":[{"name":"plain","plugin":"implementations","class":"PlainSiLU","original_class":"SiLUActivation","modules":4}]' flat
host list --plugins-dir implementations
has 'list' 'provides attention plain, experts plain, kernel plain (SiLUActivation)' out
host list --plugins-dir implementations --json
tr -d ' \n' <out >flat
has 'list JSON' '"attention_implementations":["plain"],"experts_implementations":["plain"],"kernels":["plain"]' flat
host inspect implementations/implementations.so
for text in 'masks: none, causal, sliding window, dense' 'gives_weights: true' 'class: PlainSiLU'; do
    has "inspect: $text" "$text" out
done
host verify --model "$moe" --plugins-dir implementations --attn-implementation plain --kernels plain --max-new-tokens 2 --json
check 'verify: chosen against usual' 0 "$status"
has 'verify: the kernel is compared' '"class": "PlainSiLU"' out

# Saving does not depend on it.
host save --model "$moe" --plugins-dir implementations --kernels plain --output saved
cmp -s saved/model.safetensors "$moe/model.safetensors"
check 'save: the bytes of the original' 0 $?

# Recorded
host --quiet --model "$moe" --dtype float32 --input-ids 5,6,7,8,9 --max-new-tokens 0 --output-ids \
    --hidden-states h.safetensors --attentions a.safetensors --router-logits r.safetensors
check 'recorded: exit status' 0 "$status"
for text in '"hidden_states.embeddings":{"dtype":"F32","shape":[5,32]' '"hidden_states.layer.1":{"dtype":"F32","shape":[5,32]' \
    '"hidden_states.final_norm":{"dtype":"F32","shape":[5,32]'; do
    has "hidden states: $text" "$text" h.safetensors
done
has 'attentions' '"attentions.1":{"dtype":"F32","shape":[4,5,5]' a.safetensors
has 'router logits' '"router.1.logits":{"dtype":"F32","shape":[5,5]' r.safetensors
check 'hidden states: nothing else' '' "$(head -c 3000 h.safetensors | grep -aoE 'attentions|router')"
run --attentions batch.safetensors
check 'recorded: ids as without' "0:$usual" "$status:$(cat out)"
has 'a batch: a tensor a sequence' '"attentions.0.1":{"dtype":"F32","shape":[4,2,2]' batch.safetensors
for plugins in plugins implementations; do
    host --quiet --model "$moe" --plugins-dir $plugins --dtype float32 --input-ids 5,6,7,8,9 --max-new-tokens 0 \
        --output-ids --hidden-states "h-$plugins.safetensors" --router-logits "r-$plugins.safetensors" \
        --attentions "a-$plugins.safetensors"
    for kind in h r a; do
        cmp -s $kind.safetensors "$kind-$plugins.safetensors"
        check "with $plugins: $kind to the bit" 0 $?
    done
done

refuses 'no routers' 2 'the model has no routers' --quiet --model "$llama" --input-ids 1 --router-logits n.safetensors
check 'no routers: nothing is written' '' "$(ls n.safetensors 2>/dev/null)"
refuses 'no folder' 5 'nowhere/h.safetensors' --quiet --model "$llama" --input-ids 1 --hidden-states nowhere/h.safetensors
echo "1..$number"
exit "$failed"
