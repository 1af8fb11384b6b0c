#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What prompts begin with, kept in a file (--session), in `run` and `chat`. Reports in TAP.
# usage: session_files.sh HOST DEMO     the folder of the demo's models
set -u
. "$(dirname "$0")/../tap.sh"
host=$(realpath "$1")
model=$(realpath "$2")/tiny-qwen2-moe
other=$(realpath "$2")/tiny-qwen2-vl
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1

run() { # run OPTIONS...: out, err and $status. One that hangs fails.
    status=0
    timeout 120 "$host" --model "$model" --max-new-tokens 12 "$@" >out 2>err </dev/null || status=$?
}

told() { # told WHAT TAKEN READ WRITTEN
    has "$1" "session: $2 tokens of prompts reused, $3 read, $4 written" err
}

n=0
: >system
while [ $n -lt 60 ]; do
    printf 'Lily had a red ball, and Ben had %d dogs. ' $n >>system
    n=$((n + 1))
done
head -c 1000 system >long
{ cat long && echo ' One day Lily'; } >first
{ cat long && echo ' At night Ben'; } >second

for prompt in first second; do
    run --prompt-file $prompt
    cp out $prompt.out
    tokens=$(run --prompt-file $prompt --session none.$prompt && sed -n 's/.* reused, \([0-9]*\) read.*/\1/p' err)
    echo "$tokens" >$prompt.tokens
done
first=$(cat first.tokens) second=$(cat second.tokens)
kept=$((first / 128 * 128))

run --prompt-file first --session file
check "a new file: exit status" 0 "$status"
check "a new file: the text" "$(cat first.out)" "$(cat out)"
told "a new file: all is read" 0 "$first" "$kept"
cp file before
run --prompt-file first --session file
check "the same prompt: the text" "$(cat first.out)" "$(cat out)"
told "the same prompt: the rest is read" "$kept" $((first - kept)) 0
run --prompt-file second --session file
check "another end: the text" "$(cat second.out)" "$(cat out)"
told "another end: the rest is read" "$kept" $((second - kept)) 0
check "the file stays" yes "$(cmp -s file before && echo yes || echo no)"
run --prompt-file second --session file --temperature 1 --seed 5 --json
check "sampled: exit status" 0 "$status"
run --prompt 'Hi' --session file
has "a short prompt: nothing is reused" "session: 0 tokens of prompts reused" err
check "the file still stays" yes "$(cmp -s file before && echo yes || echo no)"

refuses() { # refuses WHAT STATUS TEXT OPTIONS...: one line with the text
    what=$1 wanted=$2 text=$3
    shift 3
    run --quiet --prompt Hi "$@"
    check "$what: exit status" "$wanted" "$status"
    check "$what: one line" 1 "$(wc -l <err)"
    has "$what: says why" "$text" err
}

refuses "other types" 6 'file: is of another model, other plugins, or another way to compute' --session file --dtype float32
model=$other refuses "another model" 6 'file: is of another model' --session file
echo text >broken
refuses "no session" 4 'broken: is no file of a session' --session broken
head -c 2000 file >broken
refuses "one that was cut off" 4 'broken: ' --session broken
refuses "several results" 2 '--session: cannot be combined with --num-return-sequences' --session file \
    --do-sample true --num-return-sequences 2
run --quiet --prompt-file first --session nowhere/file
check "a file that cannot be written: exit status" 5 "$status"

printf 'Tell me about Lily\nAnd then\n' >lines
for turn in 1 2; do
    "$host" chat --model "$other" --max-new-tokens 8 --system "$(head -c 700 long)" --session talk <lines >chat.$turn 2>err
    check "chat, time $turn: exit status" 0 $?
done
check "chat: the same answers" "$(cat chat.1)" "$(cat chat.2)"
check "chat: the first prompt is reused" yes "$(grep -qE 'session: [1-9][0-9]+ tokens' err && echo yes || echo no)"
echo "1..$number"
exit "$failed"
