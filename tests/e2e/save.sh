#!/bin/sh
# Saving as its users meet it: what is written, what is refused, and that nothing is half-written whatever happens.
# Reports in TAP.
# usage: save.sh HOST ROOT PLUGINS...     PLUGINS are fused_qkv.so and sequential_experts.so
set -u
. "$(dirname "$0")/../tap.sh"
host=$(realpath "$1")
root=$2
shift 2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/plugins" && cp "$@" "$scratch/plugins/" && cd "$scratch" || exit 1
model=$root/tests/goldens/plain/qwen2_moe

# Runs the program: out, err and $status. One that hangs fails.
host() {
    status=0
    timeout 120 "$host" "$@" >out 2>err </dev/null || status=$?
}

refused() { # refused WHAT STATUS WORDS ARGUMENTS...: an error of one line, and nothing is there that was not
    what=$1 wanted=$2 words=$3
    shift 3
    before=$(ls)
    host save "$@"
    check "$what: exit status" "$wanted" "$status"
    check "$what: one line that says why" 1 "$(grep -c -e "$words" err)"
    check "$what: nothing is left" "$before" "$(ls)"
}

same() { # same WHAT FILE FILE
    check "$1" same "$(cmp "$2" "$3" && echo same)"
}

touch out err

# What is written
host save --model "$model" --plugins-dir plugins --output copy --dtype bfloat16
check 'save: exit status' 0 "$status"
check 'save: prints nothing' '' "$(cat out)"
same 'save: the weights are the same in every byte' "$model/model.safetensors" copy/model.safetensors
for file in config.json generation_config.json tokenizer.json tokenizer_config.json; do
    [ -e "$model/$file" ] && same "save: $file is taken along" "$model/$file" "copy/$file"
done
check 'save: says what is not taken along' 1 "$(grep -c 'so not copied: golden.safetensors' err)"
mkdir empty
host save --quiet --model copy --output empty/ --max-shard-size 0.1MB
check 'save: into an empty directory' 0 "$status"
check 'save: shards have an index' 1 "$(grep -c '"total_size": ' empty/model.safetensors.index.json)"
host save --quiet --model empty --output again
same 'save: shards, and one file again' "$model/model.safetensors" again/model.safetensors
host save --quiet --model "$model" --plugins-dir plugins --output runtime --runtime-layout
check 'runtime layout: exit status' 0 "$status"
header=$(od -An -t u8 -N 8 runtime/model.safetensors)
check 'runtime layout: the data begin on a cache line' 0 "$(((header + 8) % 64))"
host run --quiet --model "$model" --plugins-dir plugins --input-ids 1,2,3 --max-new-tokens 0 --output-ids --logits one
host run --quiet --model runtime --plugins-dir plugins --input-ids 1,2,3 --max-new-tokens 0 --output-ids --logits two
same 'runtime layout: the same logits' one two
host run --quiet --model runtime --input-ids 1,2,3
check 'runtime layout without its plugins: exit status' 4 "$status"
check 'runtime layout without its plugins: names them' 1 "$(grep -c 'plugin fused_qkv.*plugin sequential_experts' err)"
host save --quiet --model runtime --plugins-dir plugins --output back
same 'runtime layout and back: the same in every byte' "$model/model.safetensors" back/model.safetensors
check 'runtime layout and back: no journal' '' "$(find back -name '*journal*')"

# What is refused
refused 'no output' 2 'output' --model "$model"
refused 'no size' 2 'max-shard-size' --model "$model" --output new --max-shard-size 5XB
refused 'size 0' 2 'max-shard-size' --model "$model" --output new --max-shard-size 0
refused 'size with a sign' 2 'max-shard-size' --model "$model" --output new --max-shard-size -5MB
refused 'full directory' 5 'not empty; remove it' --model "$model" --output copy
refused 'itself' 5 'read from' --model copy --output ./copy/
ln -s copy link
refused 'itself by a link' 5 'read from' --model copy --output link
refused 'no such folder' 5 'No such file' --model "$model" --output no/new
refused 'lacks plugins' 4 'plugin fused_qkv' --model runtime --output new
host save --quiet --model "$model" --output stolen --runtime-layout
rm stolen/model.safetensors && cp back/model.safetensors stolen/
refused 'journal of another model' 4 'graft_journal.json' --model stolen --output new
cp -r back shaped && sed -i 's/"num_hidden_layers": [0-9]*/"num_hidden_layers": 5/' shaped/config.json
refused 'missing parameters' 4 'missing' --model shaped --output new

# What fails on the way
full() {
    (trap '' XFSZ && ulimit -f 600 && exec "$host" save --quiet --model "$model" --output new 2>err)
    status=$?
}
before=$(ls)
full
check 'file too large: exit status' 5 "$status"
check 'file too large: one line that says why' 1 "$(grep -c 'model.safetensors: cannot be written: File too large' err)"
check 'file too large: nothing is left' "$before" "$(ls)"

# Small files take longer, since each is synced.
slow() {
    exec "$host" save --quiet --model "$model" --output new --max-shard-size 1KB
}
(slow 2>err) &
process=$!
sleep 0.05
kill -TERM $process 2>/dev/null
wait $process
status=$?
[ "$status" -eq 0 ] && rm -r new # it was faster than the signal
check 'ended by a signal: nothing is left' "$before" "$(ls)"

complete=0 nothing=0 half=0
for _ in $(seq 50); do
    (slow 2>err) &
    process=$!
    sleep "0.$(printf %03d $(($(od -An -tu2 -N2 /dev/urandom) % 250)))"
    kill -KILL $process 2>/dev/null
    wait $process 2>/dev/null
    if [ ! -e new ]; then
        nothing=$((nothing + 1))
    elif "$host" save --quiet --model new --output whole && cmp whole/model.safetensors "$model/model.safetensors"; then
        complete=$((complete + 1))
    else
        half=$((half + 1))
    fi
    rm -rf new whole
done
check "killed at 50 moments: never half ($complete complete, $nothing nothing)" 0 "$half"
host save --model "$model" --output new
check 'what the killed ones left is cleared by the next' '' "$(ls -d new.tmp-* 2>/dev/null)"
rm -r new

# Only what is surely ours is cleared: made by a process that is gone, a folder, of that very form of name, not locked.
gone=$(sh -c 'echo $$')
mkdir -p "new.tmp-$gone-0/folder" "new.tmp-$gone-1" "new.tmp-$$-0" "new.tmp-$gone-x" "new.tmp-0$gone" "other.tmp-$gone-0"
echo half >"new.tmp-$gone-0/folder/file"
echo mine >"new.tmp-$gone-7"
ln -s "other.tmp-$gone-0" "new.tmp-$gone-8"
(flock 9 && exec "$host" save --model "$model" --output new 2>err) 9<"new.tmp-$gone-1"
has 'cleared: a note names it' "new.tmp-$gone-0" err
check 'cleared: once' 1 "$(grep -c 'an interrupted save' err)"
check 'cleared: nothing else' "$(printf '%s\n' "new.tmp-$gone-1" "new.tmp-$$-0" "new.tmp-$gone-x" "new.tmp-0$gone" \
    "other.tmp-$gone-0" "new.tmp-$gone-7" "new.tmp-$gone-8" | sort)" "$(find . -maxdepth 1 -name '*.tmp-*' | sed 's|^./||' | sort)"
rm -rf new ./*.tmp-*
# A limit on the size of files, as batch systems set, is a full disk to us, not a signal that ends the process.
limited() { # limited WHAT WORDS ARGUMENTS...: what the program does where files may have 4 KiB
    what=$1 words=$2
    shift 2
    before=$(ls)
    status=0
    # shellcheck disable=SC2016 # the inner shell's
    sh -c 'ulimit -f 8; exec timeout 120 "$@" >/dev/null 2>err </dev/null' sh "$host" "$@" || status=$?
    check "$what beyond a limit: exit status" 5 "$status"
    check "$what beyond a limit: one line that says why" 1 "$(grep -c -e "$words: File too large" err)"
    check "$what beyond a limit: nothing is left" "$before" "$(ls)"
}
limited 'save' 'limited.*' save --quiet --model "$model" --output limited
limited '--logits' 'logits.*' run --quiet --model "$model" --input-ids 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20 \
    --max-new-tokens 1 --output-ids --logits logits
limited 'plan --html' 'page.*' plan --model "$model" --html page
mkdir -p cache/graft && head -c 9000 /dev/zero | tr '\0' 'x' >cache/graft/trials && chmod 600 cache/graft/trials
# shellcheck disable=SC2016 # the inner shell's
XDG_CACHE_HOME=$PWD/cache sh -c 'ulimit -f 8; exec "$@" >/dev/null 2>err' sh "$host" list --plugins-dir plugins
check 'list, where trials cannot be remembered: exit status' 0 $?
# Nobody reads what is said on the way.
before=$(ls)
# shellcheck disable=SC2016 # the inner shell's
sh -c '"$@" 2>&1 >/dev/null; echo $? >status' sh "$host" save --model "$model" --output unheard | :
check 'a closed stderr: the model is saved all the same' 0 "$(cat status)"
rm -r unheard status
check 'a closed stderr: nothing else is left' "$before" "$(ls)"

echo "1..$number"
exit $failed
