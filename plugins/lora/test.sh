#!/bin/sh
# The plugin at the command line: what plan tells of adapters, scales, stacks, merging, and what is refused. That results
# are right is for the goldens (tests/goldens/test_adapted.c).
# usage: test.sh HOST PLUGINS_FOLDER GOLDENS_SOURCE GOLDENS_FOLDER MAKE_ROUNDED QUANTIZED_LINEAR
. "$(dirname "$0")/../../tests/scratch.sh"
host=$1 plugins=$2 lora=$3/lora goldens=$4 make_rounded=$5 quantized_linear=$6
model=$lora/llama adapters=$lora/llama/adapters

run() { # run PLUGINS OPTIONS: ids to stdout
    list=$1
    shift
    "$host" --quiet --plugins-dir "$plugins" --plugins "$list" --model "$model" --dtype float32 --input-ids 5,6,7,8,9 \
        --output-ids --max-new-tokens 4 "$@"
}

logits() { # logits FILE PLUGINS OPTIONS
    file=$scratch/$1
    shift
    run "$@" --logits "$file" >/dev/null
}

refused() { # refused STATUS WORDS COMMAND...
    wanted=$1 words=$2 status=0
    shift 2
    "$@" >/dev/null 2>"$scratch/err" || status=$?
    [ "$status" = "$wanted" ] || fail "exit status $status instead of $wanted: $(cat "$scratch/err")"
    grep -qF "$words" "$scratch/err" || fail "expected \"$words\": $(cat "$scratch/err")"
}

# A copy of an adapter with `s` done to its config.
faulty() { # faulty SCRIPT
    rm -rf "$scratch/faulty"
    cp -r "$adapters/attention_r8" "$scratch/faulty"
    sed "$1" "$adapters/attention_r8/adapter_config.json" >"$scratch/faulty/adapter_config.json"
    cmp -s "$scratch/faulty/adapter_config.json" "$adapters/attention_r8/adapter_config.json" && fail "no change by $1"
    return 0
}

echo 'the report'
"$host" plan --plugins-dir "$plugins" --plugins lora --model "$model" --adapter "$adapters/attention_r8" \
    --adapter b="$adapters/patterns_rslora" --adapter-scale b=0.5 >"$scratch/plan"
grep -q 'Linear -> LoraLinear by lora .* in 14 modules' "$scratch/plan" || fail 'which modules'
grep -q 'adapter  *default: .*attention_r8, 8 tensors, scale 1$' "$scratch/plan" || fail 'the first adapter'
grep -q 'adapter  *b: .*patterns_rslora, 28 tensors, scale 0.5$' "$scratch/plan" || fail 'the second adapter'
grep -q ' 0 bytes copied' "$scratch/plan" || fail 'something is copied'
"$host" plan --plugins-dir "$plugins" --plugins lora --model "$model" --adapter "$adapters/attention_r8" \
    --plugin-option lora.dtype=bfloat16 >"$scratch/plan"
grep -q 'converted .*q_proj.adapter.default.lora_A.weight: bf16' "$scratch/plan" || fail 'what is rounded'
grep -q 'cannot be undone' "$scratch/plan" && fail 'a note on saving a model that is not saved'
"$host" plan --plugins-dir "$plugins" --plugins lora --model "$model" --adapter "$adapters/attention_r8" --json |
    tr -d ' \n' | grep -q '"adapters":\[{"name":"default","directory":"[^"]*attention_r8","scale":1.0,"tensors":8}\]' ||
    fail 'JSON'

echo 'without an adapter the model is as it was'
logits plain.safetensors fused_qkv
logits idle.safetensors lora
cmp -s "$scratch/plain.safetensors" "$scratch/idle.safetensors" || fail 'the plugin alone changes results'

echo 'scales'
logits off.safetensors lora --adapter a="$adapters/attention_r8" --adapter-scale a=0
cmp -s "$scratch/plain.safetensors" "$scratch/off.safetensors" || fail 'a scale of 0 changes results'
logits on.safetensors lora --adapter a="$adapters/attention_r8"
cmp -s "$scratch/plain.safetensors" "$scratch/on.safetensors" && fail 'an adapter changes nothing'
logits half.safetensors lora --adapter a="$adapters/attention_r8" --adapter-scale a=0.5
logits twice.safetensors lora --adapter a="$adapters/attention_r8" --adapter b="$adapters/attention_r8" \
    --adapter-scale a=0.25 --adapter-scale b=0.25
run lora --adapter a="$adapters/attention_r8" --adapter-scale a=0.5 >"$scratch/half"
run lora --adapter a="$adapters/attention_r8" --adapter b="$adapters/attention_r8" --adapter-scale a=0.25 \
    --adapter-scale b=0.25 | cmp -s - "$scratch/half" || fail 'two halves are not one'

echo 'around int8: neither knows the other'
"$host" plan --plugins-dir "$plugins" --plugins compressed_tensors,lora --model "$model" --quantize int8 \
    --adapter "$adapters/attention_r8" |
    grep -q 'Linear -> CompressedLinear by compressed_tensors .* -> LoraLinear by lora' || fail 'no stack'
run compressed_tensors,lora --quantize int8 --adapter "$adapters/attention_r8" >"$scratch/ids"
grep -q , "$scratch/ids" || fail 'no ids'

echo 'merged: the weights are others, rounded as they were'
logits beside.safetensors lora --adapter "$adapters/patterns_rslora"
logits merged.safetensors lora --adapter "$adapters/patterns_rslora" --plugin-option lora.merge=true
cmp -s "$scratch/beside.safetensors" "$scratch/merged.safetensors" && fail 'nothing was merged'
run lora --adapter "$adapters/patterns_rslora" >"$scratch/beside"
run lora --adapter "$adapters/patterns_rslora" --plugin-option lora.merge=true | cmp -s - "$scratch/beside" ||
    fail 'merged, the ids are others'
for case in "lora --adapter a=$adapters/attention_r8 --adapter b=$adapters/patterns_rslora" \
    "compressed_tensors,lora --quantize int8 --adapter $adapters/patterns_rslora"; do
    # shellcheck disable=SC2086 # words
    logits beside.safetensors $case
    # shellcheck disable=SC2086
    logits merged.safetensors $case --plugin-option lora.merge=true
    cmp -s "$scratch/beside.safetensors" "$scratch/merged.safetensors" || fail "merged: $case"
done

echo 'rounded to bf16 while they are loaded: as adapters that were stored so'
same() { # same MODEL PLUGINS ADAPTER OPTIONS: in prompts of few and many tokens, and generating
    base=$lora/$1 list=$2 adapter=$lora/$1/adapters/$3
    shift 3
    mkdir -p "$scratch/rounded"
    cp "$adapter/adapter_config.json" "$scratch/rounded"
    "$make_rounded" "$adapter/adapter_model.safetensors" "$scratch/rounded/adapter_model.safetensors"
    for options in "--dtype float32 --input-ids 5,6,7" "--dtype auto --input-ids 5,6,7" \
        "--dtype float32 --input-ids $(seq -s, 1 40)" "--dtype auto --input-ids $(seq -s, 1 40)"; do
        for how in "auto $scratch/rounded" "bfloat16 $adapter"; do
            # shellcheck disable=SC2086 # words
            "$host" --quiet --plugins-dir "$plugins" --plugins "$list" --model "$base" $options --output-ids \
                --max-new-tokens 4 --logits "$scratch/${how%% *}.logits" --plugin-option "lora.dtype=${how%% *}" \
                --adapter "${how#* }" "$@" >"$scratch/${how%% *}.ids"
        done
        cmp "$scratch/auto.logits" "$scratch/bfloat16.logits" || fail "other logits: $adapter, $options $*"
        cmp "$scratch/auto.ids" "$scratch/bfloat16.ids" || fail "other ids: $adapter, $options $*"
    done
}
for adapter in attention_r8 patterns_rslora embedding head_saved; do
    same llama lora $adapter
done
same llama lora attention_r8 --adapter-scale default=0.3
same llama lora attention_r8 --plugin-option lora.merge=true
same llama compressed_tensors,lora attention_r8 --quantize int8
same llama_gptq gptq,lora on_quantized
same qwen2_moe lora every_expert
same qwen2_moe lora attention_shared
logits rounded.safetensors lora --adapter a="$adapters/attention_r8" --plugin-option lora.dtype=bfloat16
cmp -s "$scratch/on.safetensors" "$scratch/rounded.safetensors" && fail 'nothing is rounded'
logits auto.safetensors lora --adapter a="$adapters/attention_r8" --plugin-option lora.dtype=auto
cmp "$scratch/on.safetensors" "$scratch/auto.safetensors" || fail 'as stored is not the default'
refused 2 'lora.dtype' run lora --plugin-option lora.dtype=float16

echo 'DoRA: merged, rows are as long as beside the product; what has no norms, or no magnitudes, is refused'
dora() { # dora FILE PLUGINS ADAPTER OPTIONS: ids to stdout
    file=$scratch/$1 list=$2 adapter=$3
    shift 3
    "$host" --quiet --plugins-dir "$plugins" --plugins "$list" --model "$goldens/plain/qwen2" --dtype float32 \
        --input-ids 5,6,7,8,9 --output-ids --max-new-tokens 6 --logits "$file" --adapter "$adapter" "$@"
}
magnitudes=$goldens/adapters/qwen2_dora
dora beside.safetensors lora "$magnitudes" >"$scratch/magnitudes"
dora merged.safetensors lora "$magnitudes" --plugin-option lora.merge=true | cmp -s - "$scratch/magnitudes" ||
    fail 'DoRA, merged: the ids are others'
cmp -s "$scratch/beside.safetensors" "$scratch/merged.safetensors" && fail 'DoRA: nothing was merged'
dora int8.safetensors compressed_tensors,lora "$magnitudes" --quantize int8 >"$scratch/int8"
cmp -s "$scratch/beside.safetensors" "$scratch/int8.safetensors" && fail 'DoRA around int8: as around floats'
refused 4 'use_dora: the norms of the weight' dora none quantized_linear,lora "$magnitudes" \
    --plugins-dir "$(dirname "$quantized_linear")"
cp -r "$magnitudes" "$scratch/plain"
sed 's/"use_dora": true/"use_dora": false/' "$magnitudes/adapter_config.json" >"$scratch/plain/adapter_config.json"
refused 4 'lora_magnitude_vector' dora none lora "$scratch/plain"
for case in "$model lora attention_r8 lora_magnitude_vector" "$model lora embedding use_dora" \
    "$lora/qwen2_moe lora every_expert sequential_experts"; do
    # shellcheck disable=SC2086 # words
    set -- $case
    rm -rf "$scratch/faulty"
    cp -r "$1/adapters/$3" "$scratch/faulty"
    sed 's/"use_dora": false/"use_dora": true/' "$1/adapters/$3/adapter_config.json" >"$scratch/faulty/adapter_config.json"
    refused 4 "$4" "$host" --plugins-dir "$plugins" --plugins "$2" --model "$1" --adapter "$scratch/faulty" --input-ids 5
done

echo 'other methods: of products made of other tensors as of pairs; IA3 beside weights'
other() { # other METHOD OPTIONS: ids to stdout
    method=$1
    shift
    "$host" --quiet --plugins-dir "$plugins" --plugins lora --model "$goldens/plain/qwen2" --dtype float32 \
        --input-ids 5,6,7,8,9 --output-ids --max-new-tokens 4 --adapter "$goldens/adapters/$method" "$@"
}
for method in loha lokr vera; do
    other "$method" --logits "$scratch/apart" >"$scratch/ids"
    other "$method" --logits "$scratch/merged" --plugin-option lora.merge=true | cmp - "$scratch/ids" ||
        fail "$method, merged: other ids"
    cmp -s "$scratch/apart" "$scratch/merged" && fail "$method: nothing was merged"
    other "$method" --plugin-option lora.dtype=bfloat16 | cmp - "$scratch/ids" || fail "$method, rounded: other ids"
done
for method in ia3 loha vera; do
    other "$method" --adapter-scale default=0 --logits "$scratch/off" >"$scratch/ids"
    "$host" --quiet --plugins-dir "$plugins" --plugins lora --model "$goldens/plain/qwen2" --dtype float32 \
        --input-ids 5,6,7,8,9 --output-ids --max-new-tokens 4 --logits "$scratch/none" >"$scratch/base"
    [ "$method" = ia3 ] || cmp "$scratch/ids" "$scratch/base" || fail "$method: a scale of 0 changes results"
done
while read -r method old new words; do
    rm -rf "$scratch/faulty"
    cp -r "$goldens/adapters/$method" "$scratch/faulty"
    sed "s/\"$old/\"$new/" "$goldens/adapters/$method/adapter_config.json" >"$scratch/faulty/adapter_config.json"
    cmp -s "$scratch/faulty/adapter_config.json" "$goldens/adapters/$method/adapter_config.json" && fail "no change: $old"
    refused 4 "$words" "$host" --quiet --plugins-dir "$plugins" --plugins lora --model "$goldens/plain/qwen2" \
        --adapter "$scratch/faulty" --input-ids 5
done <<'END'
loha LOHA" LOKR" peft_type: expected "LOHA", got LOKR
ia3 IA3" BOFT" peft_type: expected "IA3", got BOFT
loha up_proj":.2 up_proj":3 r: expected 2 for model.layers.0.mlp.up_proj, as its tensors have, got 3
vera save_projection":.true save_projection":false save_projection: expected true
ia3 init_ia3_weights": unheard_of": unheard_of: this field is not known
END

echo 'with the product of the base on several threads'
logits one.safetensors lora --adapter "$adapters/patterns_rslora" --threads 1
logits three.safetensors lora --adapter "$adapters/patterns_rslora" --threads 3
cmp -s "$scratch/one.safetensors" "$scratch/three.safetensors" || fail 'differs with the number of threads'

echo 'an adapter for each prompt: as alone'
batch() { # batch MODEL OPTIONS: the prompts of each adapter alone, then together
    base=$1
    shift
    : >"$scratch/alone"
    together='' all=''
    for name in one two __base__; do
        case $name in
        one) one="--adapter one=$base/adapters/$1" ;;
        two) one="--adapter two=$base/adapters/$2" ;;
        *) one='' ;;
        esac
        all="$all $one"
        for ids in 5,6,7,8,9 3,1; do
            together="$together --input-ids $ids --prompt-adapter $name"
            # shellcheck disable=SC2086 # words
            "$host" --quiet --plugins-dir "$plugins" --plugins "$3" --model "$base" --dtype float32 --output-ids \
                --max-new-tokens 8 $one --input-ids $ids >>"$scratch/alone"
        done
    done
    # shellcheck disable=SC2086
    "$host" --quiet --plugins-dir "$plugins" --plugins "$3" --model "$base" --dtype float32 --output-ids \
        --max-new-tokens 8 $all $together >"$scratch/together"
    cmp "$scratch/alone" "$scratch/together" || fail "together: $base $1 $2"
    [ "$(sort -u "$scratch/alone" | wc -l)" -ge 4 ] || fail "adapters make no difference: $base"
}
batch "$lora/llama" attention_r8 patterns_rslora lora
batch "$lora/llama" head_saved embedding lora
batch "$lora/llama_gptq" on_quantized on_quantized lora,gptq
batch "$lora/qwen2_moe" every_expert attention_shared lora
batch "$lora/qwen2_moe" every_expert attention_shared lora,sequential_experts
# Of DoRA, whose rows are scaled: only those of its own prompts.
mkdir -p "$scratch/dora/adapters/two"
ln -s "$goldens/plain/qwen2"/* "$scratch/dora"
ln -s "$goldens/adapters/qwen2_dora" "$scratch/dora/adapters/one"
cp "$goldens/adapters/qwen2_dora/adapter_model.safetensors" "$scratch/dora/adapters/two"
sed 's/"lora_alpha": 8/"lora_alpha": 20/' "$goldens/adapters/qwen2_dora/adapter_config.json" \
    >"$scratch/dora/adapters/two/adapter_config.json"
batch "$scratch/dora" one two lora
mkdir -p "$scratch/others/adapters"
ln -s "$goldens/plain/qwen2"/* "$scratch/others"
ln -s "$goldens/adapters/loha" "$goldens/adapters/ia3" "$scratch/others/adapters"
batch "$scratch/others" loha ia3 lora
chosen="--adapter a=$adapters/attention_r8"
# shellcheck disable=SC2086
run lora $chosen --prompt-adapter a --speculate 8 >"$scratch/speculated"
# shellcheck disable=SC2086
run lora $chosen | cmp -s - "$scratch/speculated" || fail 'with guesses'
# shellcheck disable=SC2086
logits chosen.safetensors lora $chosen --prompt-adapter __base__
cmp -s "$scratch/plain.safetensors" "$scratch/chosen.safetensors" || fail 'logits of the base'
# shellcheck disable=SC2086
run lora --hidden-states "$scratch/states" $chosen --prompt-adapter __base__ >/dev/null
run lora --hidden-states "$scratch/states.plain" >/dev/null
cmp -s "$scratch/states" "$scratch/states.plain" || fail 'recorded states of the base'
# shellcheck disable=SC2086
refused 2 'LoraLinear applies its adapters to all prompts' run lora $chosen --prompt-adapter a \
    --plugin-option lora.merge=true
# shellcheck disable=SC2086
refused 2 'prompt 1: there is no adapter "b"' run lora $chosen --prompt-adapter b
# shellcheck disable=SC2086
refused 2 'expected one for each of 1 prompts, got 2' run lora $chosen --prompt-adapter a --prompt-adapter a
refused 2 '"__base__" is not a valid name' run lora --adapter __base__="$adapters/attention_r8"

echo 'what a token reads'
bytes() { # bytes OPTIONS: of weights, for each token
    "$host" bench --model "$model" --plugins-dir "$plugins" --prompt-tokens 2 --new-tokens 1 --repeat 1 --json "$@" |
        sed -n 's/^ *"bytes_per_token": \([0-9]*\),$/\1/p'
}
plain=$(bytes)
[ "$(bytes --adapter "$adapters/attention_r8")" = $((plain + 3584 * 4)) ] || fail 'the pairs are not counted'
[ "$(bytes --adapter "$adapters/attention_r8" --plugin-option lora.dtype=bfloat16)" = $((plain + 3584 * 2)) ] ||
    fail 'rounded, the pairs are not half as large'
[ "$(bytes --adapter "$adapters/attention_r8" --plugin-option lora.merge=true)" = "$plain" ] ||
    fail 'merged, the weights are as large as before'

echo 'experts, stacked and not'
experts() { # experts FILE PLUGINS
    "$host" --quiet --plugins-dir "$plugins" --plugins "$2" --model "$lora/qwen2_moe" --dtype float32 \
        --input-ids 5,6,7,8,9 --max-new-tokens 0 --logits "$1" --adapter "$lora/qwen2_moe/adapters/every_expert"
}
experts "$scratch/stacked" lora
experts "$scratch/modules" lora,sequential_experts
cmp "$scratch/stacked" "$scratch/modules" || fail 'stacked experts give other results'
"$host" plan --plugins-dir "$plugins" --plugins lora --model "$lora/qwen2_moe" \
    --adapter "$lora/qwen2_moe/adapters/every_expert" | grep -q 'Qwen2MoeExperts -> LoraExperts by lora .* in 2 modules' ||
    fail 'the experts are not stacked'

echo 'what the config names'
faulty 's/"q_proj",/"q_proj", "gate_proj",/'
"$host" plan --plugins-dir "$plugins" --plugins lora --model "$model" --adapter "$scratch/faulty" >"$scratch/plan"
grep -q 'note *adapter default: target_modules names "gate_proj", for which it has no tensors$' "$scratch/plan" ||
    fail 'no note on a module without tensors'
[ "$(grep -c 'target_modules' "$scratch/plan")" = 1 ] || fail 'notes on modules with tensors'
for change in 's/"q_proj",/"gate_proj",/' 's/"q_proj",/"j.q_proj",/'; do
    faulty "$change"
    refused 4 'faulty/adapter_config.json: target_modules: does not name model.layers.0.self_attn.q_proj' run lora \
        --adapter "$scratch/faulty"
done
faulty 's/"target_parameters": null/"target_parameters": ["mlp.experts.down_proj"]/'
"$host" plan --plugins-dir "$plugins" --plugins lora --model "$model" --adapter "$scratch/faulty" |
    grep -q 'note *adapter default: target_parameters names "mlp.experts.down_proj", for which it has no tensors$' ||
    fail 'no note on a parameter without tensors'
faulty 's/"trainable_token_indices": null/"trainable_token_indices": [3]/; s/"modules_to_save": null/"modules_to_save": ["lm_head"]/'
"$host" plan --plugins-dir "$plugins" --plugins lora --model "$model" --adapter "$scratch/faulty" >"$scratch/plan"
for words in 'modules_to_save names "lm_head", for which' 'trainable_token_indices names tokens, for which'; do
    grep -q "note *adapter default: $words it has no tensors\$" "$scratch/plan" || fail "no note: $words"
done
# as a regular expression: the golden patterns_rslora has one
rm -rf "$scratch/faulty"
cp -r "$adapters/patterns_rslora" "$scratch/faulty"
sed 's/"target_modules": ".*",/"target_modules": "model.layers.*_projection|.*q_proj",/' \
    "$adapters/patterns_rslora/adapter_config.json" >"$scratch/faulty/adapter_config.json"
refused 4 'target_modules: does not name' run lora --adapter "$scratch/faulty"
sed 's/"target_modules": ".*",/"target_modules": "all-linear",/' "$adapters/patterns_rslora/adapter_config.json" \
    >"$scratch/faulty/adapter_config.json"
run lora --adapter "$scratch/faulty" | cmp -s - "$scratch/beside" || fail 'all-linear'

echo 'adapters that nothing applies, or not in full'
refused 4 'nothing in this model applies the adapter "a"' run fused_qkv --adapter a="$adapters/head_saved"
refused 4 'no module has this name: model.layers.0.mlp (LlamaMLP) has no' run lora \
    --adapter "$lora/qwen2_moe/adapters/attention_shared"

echo 'tensors with the name of the adapter, and none'
for adapter in named empty; do
    mkdir -p "$scratch/$adapter"
    cp "$adapters/attention_r8/adapter_config.json" "$scratch/$adapter"
done
header='{"base_model.model.model.layers.0.self_attn.q_proj.lora_A.default.weight":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}'
{
    printf '%b\0\0\0\0\0\0\0' "\\0$(printf '%03o' "${#header}")"
    printf '%s\0\0\0\0' "$header"
} >"$scratch/named/adapter_model.safetensors"
printf '\002\0\0\0\0\0\0\0{}' >"$scratch/empty/adapter_model.safetensors"
refused 4 'q_proj.lora_A.default.weight: nothing uses this tensor: model.layers.0.self_attn.q_proj is a Linear' run lora \
    --adapter "$scratch/named"
grep -q 'load a plugin' "$scratch/err" && fail 'advice to load what is loaded'
refused 4 'nothing in this model applies the adapter "default"' run fused_qkv --adapter "$scratch/named"
refused 4 "empty/adapter_model.safetensors: expected an adapter's tensors, found none" run lora --adapter "$scratch/empty"

echo 'an adapter of another base'
faulty 's/"r": 8/"r": 4/'
refused 4 'adapter.a.lora_A.weight: expected [4, 64]' run lora --adapter a="$scratch/faulty"
grep -q faulty/adapter_model.safetensors "$scratch/err" || fail 'the file is not named'

echo 'what is not done is refused by the name of its field'
while read -r field old new; do
    faulty "s/^  \"$field\": $old/  \"$field\": $new/"
    refused 4 faulty/adapter_config.json run lora --adapter "$scratch/faulty"
    grep -qF "$field" "$scratch/err" || fail "$field: $(cat "$scratch/err")"
done <<'END'
peft_type "LORA" "IA3"
bias "none" "all"
lora_bias false 1
exclude_modules null ["v_proj"]
exclude_modules null ".*v_proj"
exclude_modules null "("
modules_to_save null ["self_attn.v_proj"]
layers_to_transform null 0
layers_to_transform null [1]
layer_replication null [[0,2]]
init_lora_weights true "pissa"
use_rslora false 1
alpha_pattern {} [1]
alpha_pattern {} "a"
lora_alpha 16 "16"
r 8 0
END
faulty 's/"revision": null/"revision": null, "unheard_of": 1/'
refused 4 'unheard_of: this field is not known' run lora --adapter "$scratch/faulty"

echo 'what a rule is for is known'
"$host" inspect "$plugins/lora/lora.so" --json | sed -n 's/.*"name": "adapter\.\*\.\([^"]*\)".*/\1/p' | sort -u >"$scratch/rules"
[ "$(wc -l <"$scratch/rules")" -gt 40 ] || fail "rules: $(cat "$scratch/rules")"
members=
while read -r field; do
    grep -qF "\"$field\":" "$adapters/attention_r8/adapter_config.json" || members="$members\"$field\": {\"a\": 1}, "
done <"$scratch/rules"
faulty "s/\"revision\": null/$members&/"
"$host" plan --plugins-dir "$plugins" --plugins lora --model "$model" --adapter "$scratch/faulty" --strict >/dev/null 2>"$scratch/err" ||
    fail "$members $(cat "$scratch/err")"
faulty 's/"rank_pattern": {}/"rank_pattern": {"(": 4}/'
refused 4 faulty/adapter_config.json run lora --adapter "$scratch/faulty"

echo 'two that store one table'
refused 4 'two adapters store this module whole' run lora --adapter a="$adapters/head_saved" \
    --adapter b="$adapters/head_saved"
run lora --adapter a="$adapters/embedding" --adapter b="$adapters/embedding" >/dev/null # the model's own, twice
tied() { # tied PLUGINS OPTIONS: a model whose head is its embedding; ids to stdout
    list=$1
    shift
    "$host" --quiet --plugins-dir "$plugins" --plugins "$list" --model "$goldens/plain/llama_tied" --dtype float32 \
        --input-ids 5,6,7 --output-ids --max-new-tokens 2 "$@"
}
refused 4 'two adapters have other values for it' tied lora --adapter a="$goldens/adapters/embedding_tied" \
    --adapter b="$goldens/adapters/both_tied"

echo 'a head that is quantized while it is loaded is that of the adapter, and no embedding is left behind'
tied lora --adapter a="$goldens/adapters/embedding_tied" --logits "$scratch/floats" >/dev/null
tied lora,compressed_tensors --quantize int8+head --adapter a="$goldens/adapters/embedding_tied" --logits "$scratch/codes" >/dev/null
cmp -s "$scratch/floats" "$scratch/codes" && fail 'nothing is quantized'
for adapter in head_tied both_tied; do
    refused 4 'model.embed_tokens.weight' tied lora,compressed_tensors --quantize int8+head \
        --adapter a="$goldens/adapters/$adapter"
done
refused 4 'lm_head.token_adapter.trainable_tokens_delta: nothing uses this tensor' tied lora,compressed_tensors \
    --quantize int8+head --adapter a="$goldens/adapters/tokens_each"

echo 'a resized vocabulary'
"$host" plan --plugins-dir "$plugins" --plugins lora --model "$goldens/plain/llama_tied" \
    --adapter "$goldens/adapters/resized_tied" >"$scratch/plan"
grep -q 'note *adapter default: its tables have 140 tokens, and so has the model then, which had 131$' "$scratch/plan" ||
    fail 'no note on the vocabulary'
refused 4 'its tables have 140 tokens' tied lora --adapter a="$goldens/adapters/resized_both" \
    --adapter b="$goldens/adapters/resized_tied"

echo 'what an adapter changes of the model itself it changes for all prompts'
for adapter in head_tied embedding_tied tokens_tied; do
    refused 2 'changes this weight of the model for all prompts' tied lora --adapter a="$goldens/adapters/$adapter" \
        --prompt-adapter __base__
done

echo 'options'
refused 2 'two adapters are called "default"' run lora --adapter "$adapters/embedding" --adapter "$adapters/head_saved"
refused 2 'there is no adapter "b"' run lora --adapter a="$adapters/embedding" --adapter-scale b=1
refused 2 'expected NAME=NUMBER' run lora --adapter a="$adapters/embedding" --adapter-scale a=much
refused 2 'not finite' run lora --adapter a="$adapters/embedding" --adapter-scale a=inf
refused 4 'expected adapter_model.safetensors' run lora --adapter "$scratch"
refused 2 'save, which writes the model as it was read, without adapters' "$host" save --model "$model" \
    --adapter "$adapters/embedding" --output "$scratch/saved"
refused 2 'needs --against' "$host" verify --model "$model" --plugins-dir "$plugins" --adapter "$adapters/embedding"
"$host" verify --model "$model" --plugins-dir "$plugins" --adapter "$adapters/embedding" --adapter-scale default=0 \
    --against "$model" --max-new-tokens 2 >"$scratch/verify" || fail 'with a scale of 0 it is another model'
grep -q 'model.embed_tokens: Embedding -> LoraEmbedding by lora: largest difference' "$scratch/verify" ||
    fail 'adapted modules are not compared'
