#!/bin/sh
# Fields of a model's JSON files: which are used, which say nothing, and what becomes of the rest (docs/cli.md). Reports
# in TAP.
# usage: fields.sh HOST LLAMA PLUGINS GOLDENS     LLAMA is a golden case, PLUGINS and GOLDENS the folders of a build
set -u
. "$(dirname "$0")/../tap.sh"
host=$(realpath "$1") llama=$(realpath "$2") plugins=$(realpath "$3") goldens=$(realpath "$4")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
cp -r "$llama" model && chmod -R u+w model
rm -f model/generation_config.json
cp model/config.json config.json

# Puts MEMBERS, each with a comma after it, in front of those of config.json.
with() { # with MEMBERS
    sed "1s/^{/{ $(printf '%s' "$1" | sed 's/[&\\/]/\\&/g')/" config.json >model/config.json
}
plan() { # plan OPTION...: out, err, $status
    status=0
    "$host" plan --model model "$@" >out 2>err || status=$?
}
lines() { # what the report says of fields
    sed -n 's/^  \(not used .*\)/\1/p; s/^  \(ignored .*\)/\1/p' out
}

# --- What nobody asks for: MEMBERS | what the report says
while IFS='|' read -r members said; do
    with "$members"
    plan
    check "$members" "0:$said" "$status:$(lines)"
done <<'END'
|
"clip_qkv": 0.5, "residual_multiplier": 0.22,|not used config.json: clip_qkv (0.5), residual_multiplier (0.22)
"clip_qkv": null, "residual_multiplier": 1, "logits_scaling": 1.0, "a": {}, "b": [],|
"transformers_version": "9.9", "initializer_range": 7, "attention_dropout": 0.9, "auto_map": {"AutoModel": "x.Y"},|
"_name_or_path": "x", "torch_dtype": "float32", "dtype": "float32", "output_hidden_states": true, "is_decoder": true,|not used config.json: is_decoder (true)
"pretraining_tp": 2, "is_decoder": false, "use_cache": false, "task_specific_params": {"a": {"b": [1, {"c": 2}]}},|
"new": {"a": {"b": 1}, "c": [1, "x", {"d": null, "e": true}]},|not used config.json: new.a.b (1), new.c ([1, "x", {"d": null, "e": true}]), new.c.2.e (true)
"odd": NaN, "list": [1, -Infinity, Infinity],|not used config.json: odd (NaN), list ([1, -Infinity, Infinity])
"odd": {"__float__": "NaN"},|not used config.json: odd (NaN)
"twice": 1, "twice": 2,|not used config.json: twice (2)
"partial_rotary_factor": 0.25,|
"rope_parameters": {"rope_type": "default", "rope_theta": 10000.0, "factor": 8.0},|not used config.json: rope_parameters.factor (8.0)
"do_sample": false, "temperature": 1.0, "top_k": 50, "num_beams": 1,|
END

# --- Other files
with ''
echo '{"eos_token_id": 2, "bos_token_id": 1, "transformers_version": "5.23.0", "my_own": 3, "use_cache": true}' >model/generation_config.json
plan
check 'generation_config.json' 'not used generation_config.json: my_own (3)' "$(lines)"
with '"temperature": 0.5, "num_beams": 4,'
plan
check 'beside it what config.json says of generating counts for nothing' 'not used generation_config.json: my_own (3)' "$(lines)"
rm model/generation_config.json
with ''

# --- Options
with '"clip_qkv": 0.5, "deep": {"er": 1},'
plan --strict
check 'strict: status' 4 "$status"
has 'strict: names file and fields' 'model/config.json: not used: clip_qkv (0.5), deep.er (1); --ignore-field NAME lets' err
plan --strict --ignore-field clip_qkv
check 'strict: those that are left' 4 "$status"
has 'strict: names those that are left' 'not used: deep.er (1);' err
plan --strict --ignore-field clip_qkv --ignore-field deep.er
check 'strict: all ignored' '0:ignored config.json: clip_qkv (0.5), deep.er (1), by --ignore-field' "$status:$(lines)"
plan --ignore-field deep
check 'an object is ignored with all that is in it' 'not used config.json: clip_qkv (0.5)
ignored config.json: deep ({"er": 1}), by --ignore-field' "$(lines)"
plan --ignore-field clip_kvq
check 'an unknown name: status' 2 "$status"
has 'an unknown name' 'no file of the model has a field "clip_kvq"' err
with '"rope_scaling": {"rope_type": "new"},'
sed -i '/"rope_scaling": null/d' model/config.json
plan
check 'a field that is refused: status' 4 "$status"
plan --ignore-field rope_scaling
check 'is as if it were not there' 0 "$status"
with '"is_encoder_decoder": true,'
plan
check 'a value that is refused: status' 4 "$status"
has 'a value that is refused' 'model/config.json: is_encoder_decoder: expected false, got true: the host does not compute what it asks for' err
plan --ignore-field is_encoder_decoder
check 'is let through' '0:ignored config.json: is_encoder_decoder (true), by --ignore-field' "$status:$(lines)"
with '"is_encoder_decoder": 0,'
plan
has 'another kind of the same' 'is_encoder_decoder: expected false, got 0' err

# --- A used field that is no number
sed 's/"rms_norm_eps": [^,]*/"rms_norm_eps": NaN/' config.json >model/config.json
plan
check 'a field that is NaN: status' 4 "$status"
has 'a field that is NaN' 'model/config.json: rms_norm_eps: expected a finite number, got NaN' err
with ''

# --- An epsilon of 0 is none, and not one that is missing
for epsilon in 0.0 1e-300; do
    sed "s/\"rms_norm_eps\": [^,]*/\"rms_norm_eps\": $epsilon/" config.json >model/config.json
    "$host" --quiet --model model --input-ids 1,2,3 --max-new-tokens 1 --output-ids --logits "$epsilon.safetensors" >out 2>err
done
check 'an epsilon of 0' '' "$(cmp 0.0.safetensors 1e-300.safetensors 2>&1)"
with ''

# --- Where else it is told
with '"clip_qkv": 0.5, "<b>": "<script>", "residual_multiplier": 1.0,'
plan --json
has 'json: not used' '"name": "clip_qkv",' out
tr -d ' \n' <out >flat
has 'json: a field that is not used' '{"file":"config.json","adapter":null,"name":"clip_qkv","value":"0.5","use":"notused","by":null}' flat
has 'json: one without effect' '"name":"initializer_range","value":"0.02","use":"withouteffect","by":"thehost"' flat
has 'json: a neutral one' '"name":"residual_multiplier","value":"1.0","use":"neutral","by":"thehost"' flat
has 'json: a used one' '"name":"hidden_size","value":"64","use":"used","by":null' flat
has 'json: what was asked for, there or not' '"head_dim"' flat
plan --html page.html --ignore-field residual_multiplier
has 'page: not used' '<li>config.json: <code>clip_qkv</code> (<code>0.5</code>)</li>' page.html
has 'page: what is not ours is escaped' '<li>config.json: <code>&lt;b&gt;</code> (<code>&quot;&lt;script&gt;&quot;</code>)</li>' page.html
has 'page: ignored' '<li>config.json: <code>residual_multiplier</code> (<code>1.0</code>)</li>' page.html
"$host" verify --model model --plugins-dir "$plugins/fused_qkv" --input-ids 1,2 --max-new-tokens 1 >out 2>err
has 'verify has a note' 'note: not used config.json: clip_qkv (0.5)' err
"$host" save --model model --output saved >out 2>err
check 'save keeps the file as it is' '' "$(cmp model/config.json saved/config.json 2>&1)"

# --- Python's json, and ids that no token has: what is generated is what the reference generates without these fields
numbers() { # numbers KEY: an array of numbers, "a,b,c", of the golden case
    tr -d ' \n' <"$llama/golden.json" | sed "s/.*\"$1\":\[\([0-9,]*\)\].*/\1/"
}
prompt=$(numbers input_ids)
ids() { # ids FILE MEMBERS: with these members before those of the file
    with ''
    rm -f model/generation_config.json
    if [ "$1" = config.json ]; then with "$2"; else echo "{$2 \"max_new_tokens\": 6}" >"model/$1"; fi
    timeout 60 "$host" --quiet --model model --input-ids "$prompt" --max-new-tokens 6 --output-ids 2>&1
}
wanted=$(numbers greedy_ids | cut -d , -f 1-6)
second=$(echo "$wanted" | cut -d , -f 2)
check 'an id that ends a text' "$(echo "$wanted" | cut -d , -f 1-2)" "$(ids generation_config.json "\"eos_token_id\": $second,")"
while IFS='|' read -r file members; do
    check "$file: $members" "$wanted" "$(ids "$file" "$members")"
done <<END
config.json|"odd": NaN, "odder": [-Infinity, Infinity, {"a": NaN}], "wide": 1e999,
config.json|"\ud800": "\udc00 \ud83d\ude00", "twice": 1, "twice": 2,
config.json|"hidden_size": "replaced by what follows",
config.json|"partial_rotary_factor": 0.25,
generation_config.json|"eos_token_id": -1,
generation_config.json|"eos_token_id": [-1, -7],
generation_config.json|"eos_token_id": $second, "eos_token_id": -1,
generation_config.json|"odd": NaN, "eos_token_id": [],
END
sed 's/"eos_token_id": \[/"eos_token_id": -1, "_": [/' config.json >model/config.json
rm -f model/generation_config.json
check 'config.json says so' "$wanted" \
    "$(timeout 60 "$host" --quiet --model model --input-ids "$prompt" --max-new-tokens 6 --output-ids 2>&1)"
sed 's/"eos_token_id": \[/"eos_token_id": "x", "_": [/' config.json >model/config.json
plan
has 'an id of another kind' 'model/config.json: eos_token_id: expected the id of a token, an integer, got a string ("x")' err
with ''

# --- tokenizer_config.json, whose members are one field each: MEMBERS | what the report says
cp model/tokenizer_config.json tokenizer_config.json
tokenizer_with() { # tokenizer_with MEMBERS
    sed "1s/^{/{ $(printf '%s' "$1" | sed 's/[&\\/]/\\&/g')/" tokenizer_config.json >model/tokenizer_config.json
}
while IFS='|' read -r members said; do
    tokenizer_with "$members"
    plan
    check "tokenizer_config.json: $members" "0:$said" "$status:$(lines)"
done <<'END'
|
"model_max_length": 8, "errors": "strict", "none": null, "nothing": {}, "x_token": "</s>", "chat_template": "{{ x }}",|
"dropout": 0.5, "auto_map": {"AutoTokenizer": ["a.B", null]}, "off": false,|not used tokenizer_config.json: dropout (0.5), auto_map ({"AutoTokenizer": ["a.B", null]}), off (false)
"add_x_token": true, "y_token": {"content": "a\u0000b"}, "model_max_length": 1e30,|not used tokenizer_config.json: add_x_token (true)
"added_tokens_decoder": {"0": {"content": "a", "special": true}}, "long": "0123456789",|not used tokenizer_config.json: long ("0123456789")
END
tokenizer_with '"dropout": 0.5, "split_special_tokens": true,'
plan --strict
check 'tokenizer: strict: status' 4 "$status"
has 'tokenizer: strict names file and field' 'model/tokenizer_config.json: not used: dropout (0.5);' err
plan --strict --ignore-field dropout
check 'tokenizer: ignored' '0:ignored tokenizer_config.json: dropout (0.5), by --ignore-field' "$status:$(lines)"
plan --ignore-field split_special_token
check 'tokenizer: an unknown name: status' 2 "$status"
has 'tokenizer: an unknown name' 'no file of the model has a field "split_special_token"' err
plan --json
tr -d ' \n' <out >flat
has 'json: one that the tokenizer reads' '{"file":"tokenizer_config.json","adapter":null,"name":"split_special_tokens","value":"true","use":"used","by":null}' flat
has 'json: one without effect' '"name":"model_max_length","value":"131072","use":"withouteffect","by":"thehost"' flat
has 'json: one that nobody reads' '"name":"dropout","value":"0.5","use":"notused","by":null' flat
plan --html page.html
has 'page: one that nobody reads' '<li>tokenizer_config.json: <code>dropout</code> (<code>0.5</code>)</li>' page.html
tokens() { # tokens OPTION...: how many the prompt has
    "$host" --quiet --model model --prompt '<|begin_of_text|>' --max-new-tokens 1 --json "$@" 2>&1 | tr -d ' \n' |
        sed 's/.*"sequences":\[{"prompt":0,"prompt_tokens":\([0-9]*\),.*/\1/'
}
check 'the tokenizer does not see what is ignored' 'more, then fewer' \
    "$([ "$(tokens)" -gt "$(tokens --ignore-field split_special_tokens)" ] && echo 'more, then fewer')"
tokenizer_with '"split_special_tokens": "faulty",'
stop() { # stop OPTION...: generates until a text, for which the library opens the tokenizer
    timeout 60 "$host" --quiet --model model --input-ids 1,2 --max-new-tokens 1 --output-ids --stop-strings x "$@" >out 2>err
}
stop
check 'stop strings: a faulty field' 4 $?
stop --ignore-field split_special_tokens
check 'stop strings: that is ignored' 0 $?
printf '[]' >model/tokenizer_config.json
plan
check 'tokenizer: no object: status' 4 "$status"
has 'tokenizer: no object' 'model/tokenizer_config.json: expected an object, got an array' err
cp tokenizer_config.json model/tokenizer_config.json

# --- Families: MEMBERS of the family file | MEMBERS of config.json | status and what is said
rm -rf saved && mkdir family
while IFS='|' read -r rules members said; do
    sed "1s/^{/{ $members/; s/\"model_type\": \"llama\"/\"model_type\": \"acme\"/" config.json >model/config.json
    echo "{\"model_type\": \"acme\", \"like\": \"llama\", $rules}" >family/acme.family.json
    plan --plugins-dir family
    if [ "$status" = 0 ]; then got=$(lines); else got=$(sed 's/^[^ ]* [^ ]*\.json: //; s/; .*//' err); fi
    check "$rules $members" "$said" "$status:$got"
done <<'END'
"only": {"clip_qkv": [null]}|"clip_qkv": null,|0:
"only": {"clip_qkv": [null]}||0:
"only": {"clip_qkv": [null]}|"clip_qkv": 0.5,|4:clip_qkv: expected null, got 0.5: model type acme does not compute what it asks for
"only": {"mode": ["a", 1.0, [2]]}|"mode": 1,|0:
"only": {"mode": ["a", 1.0, [2]]}|"mode": [2],|0:
"only": {"mode": ["a", 1.0, [2]]}|"mode": {"x": 1},|4:mode.x: expected "a" or 1.0 or [2], got 1: model type acme does not compute what it asks for
"only": {"hidden_act": ["gelu"]}||4:hidden_act: expected "gelu", got "silu": model type acme does not compute what it asks for
"without_effect": ["clip_qkv"]|"clip_qkv": 0.5,|0:
"without_effect": ["is_encoder_decoder"]|"is_encoder_decoder": true,|0:
"neutral": {"clip_qkv": [0.0, 9]}|"clip_qkv": 0,|0:
"neutral": {"clip_qkv": [0.0, 9]}|"clip_qkv": 8,|0:not used config.json: clip_qkv (8)
"aliases": {"sliding_window": "window", "rope_parameters.factor": "stretch"}|"window": null,|3:aliases.sliding_window: no class of this model type asks for a field of this name
"aliases": {"rope_parameters.factor": "stretch"}|"stretch": null,|0:
"aliases": {"attn_bias": "eps"}||3:aliases.attn_bias: no class of this model type asks for a field of this name
"aliases": {"rms_norm_epsilon": "eps"}|"eps": 1e-5,|3:aliases.rms_norm_epsilon: no class of this model type asks for a field of this name
"stand_ins": {"LlamaRMSNrm": "LlamaRMSNorm"}||3:stand_ins.LlamaRMSNrm: there is no class of this name to stand in for
END
sed 's/"model_type": "llama"/"model_type": "acme"/' config.json >model/config.json
for rules in '"only": {"a": 1}' '"only": {"a": []}' '"neutral": [1]' '"without_effect": [1]' '"only": {"a..b": [1]}'; do
    echo "{\"model_type\": \"acme\", \"like\": \"llama\", $rules}" >family/acme.family.json
    plan --plugins-dir family
    check "$rules: status" 3 "$status"
done
echo '{"model_type": "one", "like": "llama", "only": {"clip_qkv": [null]}}' >family/a.family.json
echo '{"model_type": "acme", "like": "one"}' >family/acme.family.json
sed '1s/^{/{ "clip_qkv": 1,/; s/"model_type": "llama"/"model_type": "acme"/' config.json >model/config.json
plan --plugins-dir family
has 'rules are inherited' 'clip_qkv: expected null, got 1' err
"$host" inspect family/a.family.json --json >out
has 'inspect shows them' '"name": "clip_qkv"' out
# --- Configs as they are published, of all families and quantizers: nothing of them is left
for directory in "$goldens"/plain/*/ "$goldens"/encoders/*/ "$goldens"/vision/*/ "$goldens"/quantized/*/ \
    "$plugins"/families/*/goldens/*/; do
    [ -f "$directory/config.json" ] || continue
    timeout 60 "$host" plan --model "$directory" --plugins-dir "$plugins" --plugins-dir "$plugins/families" >out 2>err ||
        head -1 err >out
    lines >>left
    grep '^[^ ]*: ' err >>left
done
check 'of golden cases nothing is not used' '' "$(sort -u left)"
echo "1..$number"
exit "$failed"
