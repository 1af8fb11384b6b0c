#!/bin/sh
# Adapters for projections that another plugin joins: results are those of the projections apart, to the bit, whatever
# class the joined one has, and neither plugin knows the other.
# usage: joined.sh HOST PLUGINS_FOLDER GOLDENS_SOURCE GOLDENS_FOLDER MAKE_ADAPTER FUSED_GATE_UP
. "$(dirname "$0")/../../tests/scratch.sh"
host=$1 plugins=$2 lora=$3/lora quantized=$4/quantized make_adapter=$5 fused_gate_up=$6
model=$lora/llama adapters=$lora/llama/adapters
mkdir "$scratch/plugins"
[ -z "$fused_gate_up" ] || cp "$fused_gate_up" "$scratch/plugins"
long=$(seq -s, 1 40)

run() { # run NAME PLUGINS OPTIONS: the report, ids and logits to files
    name=$1 loaded=$2
    shift 2
    "$host" --plugins-dir "$plugins" --plugins-dir "$scratch/plugins" --plugins "$loaded" --output-ids --max-new-tokens 3 \
        --logits "$scratch/$name.logits" "$@" >"$scratch/$name.ids" 2>"$scratch/$name.report" ||
        fail "$name: $(cat "$scratch/$name.report")"
}

same() { # same WHAT PLUGINS OPTIONS: with the modules of fused_qkv and without
    what=$1 list=$2
    shift 2
    for dtype in float32 auto; do
        for ids in 5,6,7,8,9 "$long"; do
            run apart "$list" --dtype $dtype --input-ids "$ids" "$@"
            run joined "fused_qkv,$list" --dtype $dtype --input-ids "$ids" "$@"
            grep -q 'by fused_qkv' "$scratch/joined.report" || fail "$what: not joined: $(cat "$scratch/joined.report")"
            cmp -s "$scratch/apart.ids" "$scratch/joined.ids" || fail "$what: other ids, $dtype"
            cmp -s "$scratch/apart.logits" "$scratch/joined.logits" || fail "$what: other logits, $dtype"
        done
    done
}

make() { # make NAME SEED LAYERS RANK MODULE:OUT:IN...: an adapter
    name=$1
    shift
    mkdir -p "$scratch/$name"
    "$make_adapter" "$scratch/$name" "$@"
}

echo 'on floats: all three, one, two of them; beside the product and merged'
make v 1 2 5 'model.layers.#.self_attn.v_proj:32:64'
make k 2 2 3 'model.layers.#.self_attn.k_proj:32:64' 'model.layers.#.self_attn.o_proj:64:64'
for adapter in "$adapters/patterns_rslora" "$adapters/attention_r8" "$scratch/v" "$scratch/k"; do
    same "$adapter" lora --model "$model" --adapter "$adapter"
    same "$adapter, merged" lora --model "$model" --adapter "$adapter" --plugin-option lora.merge=true
done
run base lora --model "$model" --dtype float32 --input-ids 5,6,7,8,9
run joined fused_qkv,lora --model "$model" --dtype float32 --input-ids 5,6,7,8,9 --adapter "$scratch/v"
cmp -s "$scratch/base.logits" "$scratch/joined.logits" && fail 'an adapter changes nothing'

echo 'several, of other targets and ranks, with scales'
same 'several' lora --model "$model" --adapter a="$adapters/patterns_rslora" --adapter b="$adapters/attention_r8" \
    --adapter c="$scratch/k" --adapter d="$scratch/v" --adapter-scale b=0.5 --adapter-scale d=-1
same 'several, to be merged' lora --model "$model" --adapter a="$adapters/patterns_rslora" --adapter c="$scratch/k" \
    --plugin-option lora.merge=true

echo 'stored whole'
make whole_q 3 2 0 'model.layers.#.self_attn.q_proj:64:64'
make whole 4 2 0 'model.layers.#.self_attn.q_proj:64:64' 'model.layers.#.self_attn.k_proj:32:64' \
    'model.layers.#.self_attn.v_proj:32:64'
same 'one whole' lora --model "$model" --adapter "$scratch/whole_q"
same 'all whole' lora --model "$model" --adapter "$scratch/whole"
same 'one whole, others beside' lora --model "$model" --adapter a="$scratch/whole_q" --adapter b="$adapters/patterns_rslora"
same 'one whole, others beside, rounded' lora --model "$model" --adapter a="$scratch/whole_q" \
    --adapter b="$adapters/attention_r8" --plugin-option lora.dtype=bfloat16
status=0
run_twice() {
    "$host" --quiet --plugins-dir "$plugins" --plugins fused_qkv,lora --model "$model" --input-ids 1 --output-ids \
        --adapter a="$scratch/whole_q" --adapter b="$scratch/whole"
}
run_twice >/dev/null 2>"$scratch/err" || status=$?
[ "$status" = 4 ] || fail "two wholes: exit status $status"
grep -q 'layers.0.self_attn.q_proj: two adapters store this module whole' "$scratch/err" || fail "$(cat "$scratch/err")"

echo 'an adapter for each prompt'
for plugin in lora fused_qkv,lora; do
    for tokens in 4,5,6 "$long"; do
        run "batch.$plugin" "$plugin" --model "$model" --dtype float32 --adapter a="$adapters/patterns_rslora" \
            --adapter b="$scratch/v" --adapter c="$scratch/whole_q" --input-ids "$tokens" --prompt-adapter a \
            --input-ids 5,6 --prompt-adapter b --input-ids 7,8,9 --prompt-adapter __base__ --input-ids "$tokens" \
            --prompt-adapter c --input-ids 2 --prompt-adapter b
        cat "$scratch/batch.$plugin.ids" >>"$scratch/$plugin.all"
        cat "$scratch/batch.$plugin.logits" >>"$scratch/$plugin.all"
    done
done
cmp "$scratch/lora.all" "$scratch/fused_qkv,lora.all" || fail 'an adapter for each prompt: other results'

echo 'on what is quantized while it is loaded'
same int8 compressed_tensors,lora --model "$model" --quantize int8 --adapter "$adapters/patterns_rslora"

echo 'on quantized checkpoints'
on() { # on CASE PLUGIN LAYERS HIDDEN Q KV
    case=$1 plugin=$2 layers=$3
    at=model.layers.#.self_attn
    q=$at.q_proj:$5:$4 k=$at.k_proj:$6:$4 v=$at.v_proj:$6:$4 o=$at.o_proj:$4:$5
    make "$case.all" 7 "$layers" 4 "$q" "$k" "$v" "$o"
    make "$case.some" 8 "$layers" 2 "$q" "$v"
    for adapter in all some; do
        same "$case, $adapter" "$plugin,lora" --model "$quantized/$case" --adapter "$scratch/$case.$adapter"
    done
}
for case in 'awq_int4_llama awq 2 128 128 64' 'ct_mixed_qwen3 compressed_tensors 1 128 128 64' \
    'ct_w4a16_asym_qwen3 compressed_tensors 2 128 128 64' 'ct_w8a16_qwen2 compressed_tensors 2 96 96 48' \
    'ct_w8a8_int8_llama compressed_tensors 2 64 64 32' 'fp8_e8m0_llama fp8 1 128 128 64' \
    'gptq_int4_asym_qwen3 gptq 2 128 128 64' 'gptq_int8_qwen2 gptq 1 128 128 64' \
    'bnb_nf4_double_qwen3 bitsandbytes 2 128 128 64' 'bnb_fp4_qwen2 bitsandbytes 2 96 96 48' \
    'bnb_int8_llama bitsandbytes 1 128 128 64'; do
    # shellcheck disable=SC2086 # words
    on $case
done

echo 'gate and up, too'
cp "$fused_gate_up" "$scratch/plugins"
same 'fused_gate_up' 'fused_gate_up,lora' --model "$model" --adapter "$adapters/patterns_rslora"
grep -q 'by fused_gate_up' "$scratch/joined.report" || fail 'gate and up are apart'
grep -q 'mlp.gate_up_proj.up_proj.adapter.default.lora_A.weight' "$scratch/joined.report" || fail 'no adapter for up'

echo 'reports'
report() { # report OPTIONS: of a stack of three plugins
    "$host" "$@" --plugins-dir "$plugins" --plugins fused_qkv,gptq,lora --model "$lora/llama_gptq" \
        --adapter "$lora/llama_gptq/adapters/on_quantized"
}
report plan --html "$scratch/page.html" >"$scratch/plan"
grep -q 'LlamaAttention -> LlamaFusedAttention by fused_qkv .* in 2 modules' "$scratch/plan" || fail 'not joined'
grep -q 'Linear -> GPTQLinear by gptq .* -> LoraLinear by lora .* in 4 modules' "$scratch/plan" || fail 'which modules'
grep -q 'qkv_proj.v_proj.adapter.default.lora_B.weight: renamed, row blocks' "$scratch/plan" || fail 'which tensors'
grep -q 'self_attn.qkv_proj.q_proj.adapter.default.lora_A.weight' "$scratch/page.html" || fail 'nothing of it on the page'
report plan --json | tr -d ' \n' >"$scratch/plan"
for list in missing unexpected mismatched conversion_errors; do
    grep -q "\"$list\":\[\]" "$scratch/plan" || fail "plan: $list"
done
report verify --adapter-scale default=0 --against "$lora/llama_gptq" --tolerance 0 --dtype float32 >"$scratch/verify" ||
    fail 'with a scale of 0 it is another model'
grep -q 'self_attn: LlamaAttention -> LlamaFusedAttention by fused_qkv: largest difference 0 ' "$scratch/verify" ||
    fail 'attention is not compared'

echo 'the layout at run time, with an adapter, and back'
save() { # save FROM TO OPTIONS
    # shellcheck disable=SC2086 # words
    "$host" save --quiet --plugins-dir "$plugins" --plugins fused_qkv,gptq,lora --model "$1" --output "$2" $3
}
for case in 'llama_gptq on_quantized' 'llama patterns_rslora'; do
    name=${case% *} adapter=$lora/${case% *}/adapters/${case#* }
    save "$lora/$name" "$scratch/runtime" --runtime-layout
    save "$scratch/runtime" "$scratch/back" ''
    cmp "$lora/$name/model.safetensors" "$scratch/back/model.safetensors" || fail "$name: not as it was"
    for directory in "$lora/$name" "$scratch/runtime"; do
        run "${directory##*/}" fused_qkv,gptq,lora --model "$directory" --adapter "$adapter" --input-ids 5,6,7
    done
    cmp "$scratch/$name.logits" "$scratch/runtime.logits" || fail "$name: other logits in the layout at run time"
    grep -q ' 0 bytes copied' "$scratch/runtime.report" || fail "$name: something is copied"
    rm -rf "$scratch/runtime" "$scratch/back"
done
