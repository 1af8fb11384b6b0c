#!/bin/sh
# --lock writes what a model is made of, and refuses everything else by name; plan --diff; --sha256. Reports in TAP.
# usage: lock.sh HOST ROOT FUSED_QKV SEQUENTIAL_EXPERTS QUANTIZED_LINEAR
set -u
. "$(dirname "$0")/../tap.sh"
host=$(realpath "$1")
root=$(realpath "$2")
shift 2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export XDG_CACHE_HOME="$scratch/cache"
mkdir "$scratch/plugins" && cp "$@" "$scratch/plugins/" && cp "$1" "$scratch/kept.so" && cd "$scratch" || exit 1
model=$root/demo/tiny-qwen2-moe
llama=$root/tests/goldens/plain/llama

host() {
    status=0
    timeout 120 "$host" "$@" >out 2>err </dev/null || status=$?
}

locked() { # locked ARGUMENTS...: with the usual model and lock
    host "$@" --quiet --model "$model" --plugins-dir plugins --lock a.lock
}

sum() {
    sha256sum "$1" | cut -d ' ' -f 1
}

# The hashes are those of the files.
if command -v sha256sum >/dev/null; then
    host list --plugins-dir plugins --sha256
    has 'list --sha256' "fused_qkv 1.0.0, sha256 $(sum plugins/fused_qkv.so)" out
    host list --plugins-dir plugins --json
    has 'list --json' "\"sha256\": \"$(sum plugins/fused_qkv.so)\"" out
    host --model "$model" --plugins-dir plugins --sha256
    has 'run --sha256: the report has it' "sha256 $(sum plugins/quantized_linear.so)" err
    host --model "$model" --plugins-dir plugins --report json
    has 'run --report json' "\"sha256\": \"$(sum plugins/quantized_linear.so)\"" err
else
    number=$((number + 1))
    echo "ok $number - hashes of files # SKIP there is no sha256sum here"
fi
host --model "$model" --plugins-dir plugins
check 'run: only on request' '' "$(grep sha256 err)"

# What is locked goes through, whatever the command.
locked plan
check 'written: exit status' 0 "$status"
check 'written: and nothing beside it' 1 "$(find . -name 'a.lock*' | wc -l | tr -d ' ')"
cp a.lock first.lock
for command in plan run 'verify --max-new-tokens 1' 'bench --new-tokens 1 --prompt-tokens 2 --repeat 1' \
    'perplexity --text a.lock' 'save --output saved'; do
    # shellcheck disable=SC2086 # words
    locked $command
    check "locked: $command" 0 "$status"
done
cmp -s a.lock first.lock
check 'a lock that exists is not written again' 0 $?
cp -r plugins elsewhere && cp -r "$model" moved
host plan --model moved --plugins-dir elsewhere --lock a.lock
check 'a lock does not depend on places' 0 "$status"
rm a.lock
locked run
cmp -s a.lock first.lock
check 'run locks what plan does' 0 $?

# Each difference is named.
differs() { # differs WHAT COUNT LINE
    check "$1: exit status" 6 "$status"
    has "$1" "$3" err
    check "$1: nothing else" "$2" "$(grep -c 'a.lock: ' err)"
    check "$1: nothing runs" '' "$(cat out)"
}
printf x >>plugins/fused_qkv.so
locked run --input-ids 1,2
differs 'another build' 2 "plugins.fused_qkv.sha256: locked $(sed -n 's/.*"sha256": "\(.*\)".*/\1/p' a.lock | head -n 1), found"
rm plugins/fused_qkv.so
locked run --input-ids 1,2
differs 'a plugin less' 2 'plugins.fused_qkv: locked version 1.0.0 (fused_qkv.so), found no such file'
cp kept.so plugins/renamed.so
locked run
check 'a file may have another name' 0 "$status"
mv plugins/renamed.so plugins/fused_qkv.so
locked run --input-ids 1,2 --dtype float32 --strict --fuse 'model.layers.*.input_layernorm,model.layers.*.self_attn'
differs 'options that are not locked: a text' 4 'options.--dtype: not locked, found "float32"'
has 'options that are not locked: a flag' 'options.--strict: not locked, found true' err
has 'options that are not locked: a list' 'options.--fuse: not locked, found ["model.layers.*.input_layernorm,' err
locked run --input-ids 1,2 --plugin-option quantized_linear.bits=4
differs 'values of options' 2 'plugins.quantized_linear.options.bits: locked 8, found 4'
locked run --input-ids 1,2 --plugins fused_qkv,sequential_experts
differs 'plugins that are not chosen' 3 'plugins.quantized_linear: locked version 1.0.0 (quantized_linear.so), not loaded'
host run --model "$model" --lock a.lock
differs 'no plugins at all' 4 'plugins.sequential_experts: locked'
host run --quiet --model "$llama" --plugins-dir plugins --lock a.lock
differs 'another model' 2 "plan.sha256: locked $(sed -n 's/.*"sha256": "\(.*\)".*/\1/p' a.lock | tail -n 1), found"
sed 's/"host": "/&9./' a.lock >b && mv b a.lock
host run --quiet --model "$llama" --plugins-dir plugins --lock a.lock
has 'another model: by another version, perhaps' 'locked by version 9.' err
locked run
check 'another version with the same plan' 0 "$status"
sed 's/"version": "1.0.0"/"version": "1.0.1"/' first.lock >a.lock
locked run
differs 'another version of a plugin' 4 'plugins.fused_qkv.version: locked 1.0.1, found 1.0.0'

# A lock with options.
host plan --model "$model" --plugins-dir plugins --plugins sequential_experts --dtype float32 --strict --lock c.lock
host run --quiet --model "$model" --plugins-dir plugins --plugins sequential_experts --dtype float32 --strict --lock c.lock
check 'options: the same' 0 "$status"
host run --quiet --model "$model" --plugins-dir plugins --plugins sequential_experts --dtype bfloat16 --lock c.lock
has 'options: another value' 'options.--dtype: locked "float32", found "bfloat16"' err
has 'options: one that is not given' 'options.--strict: locked true, not given' err
check 'options: exit status' 6 "$status"

# What is not locked is not opened: its constructor would tell.
cat >tell.c <<'END'
#include <stdio.h>
__attribute__((constructor)) static void tell(void) {
    FILE *file = fopen("told", "w");
    if (file != NULL) (void)fclose(file);
}
const void *graft_plugin_entry(const void *host, void *error) { (void)host, (void)error; return NULL; }
END
if ${CC:-cc} -shared -fPIC tell.c -o plugins/tell.so 2>/dev/null; then
    cp first.lock a.lock
    locked run --input-ids 1,2
    differs 'a plugin more' 2 'plugins: plugins/tell.so is not locked (sha256 '
    host run --quiet --model "$model" --plugins-dir plugins --plugins sequential_experts --dtype float32 --strict --lock c.lock
    check 'with --plugins it may lie beside' 0 "$status"
    check 'nothing in it runs' no "$([ -e told ] && echo yes || echo no)"
    host run --quiet --model "$model" --plugins-dir plugins --plugins sequential_experts
    check 'without a lock it does' yes "$([ -e told ] && echo yes || echo no)"
    rm plugins/tell.so
else
    number=$((number + 1))
    echo "ok $number - a plugin more # SKIP there is no compiler here"
fi

# Where the lock cannot be written there is none, and nothing else.
host plan --model "$model" --plugins-dir plugins --lock no/such.lock
check 'nowhere to write' 5 "$status"
mkdir folder
host plan --model "$model" --lock folder
check 'a folder is no lock' 4 "$status"

# Plans.
host plan --model "$model" --plugins-dir plugins --json
mv out before.json
host plan --model "$model" --plugins-dir plugins --diff before.json
check 'diff: the same' '0::' "$status:$(cat out):$(cat err)"
host plan --model "$model" --plugins-dir plugins --plugins sequential_experts --diff before.json
check 'diff: exit status' 6 "$status"
has 'diff: changed' 'changed modules model.layers.0.self_attn class: "FusedQKVAttention" -> "Qwen2MoeAttention"' out
has 'diff: added' 'added parameters model.layers.0.self_attn.q_proj.weight' out
has 'diff: removed' 'removed parameters model.layers.0.self_attn.qkv_proj.weight' out
has 'diff: plugins' 'removed plugins fused_qkv' out
check 'diff: every line is one of the three' '' "$(grep -v '^added \|^removed \|^changed ' out)"
check 'diff: the numbers' "$(grep -c '^added' out) added, $(grep -c '^removed' out) removed, $(grep -c '^changed' out) changed" \
    "$(sed 's/.*differs: //' err)"
grep '^added\|^removed' out | sed 's/^added/x/; s/^removed/added/; s/^x/removed/' | sort >wanted
host plan --model "$model" --plugins-dir plugins --plugins sequential_experts --json
mv out after.json
host plan --model "$model" --plugins-dir plugins --diff after.json
grep '^added\|^removed' out | sort >got
check 'diff: the other way round' '' "$(diff wanted got)"
echo "1..$number"
exit "$failed"
