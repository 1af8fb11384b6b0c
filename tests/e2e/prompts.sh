#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Where prompts come from: standard input beside options and files. Reports in TAP.
# usage: prompts.sh HOST ROOT BERT     BERT is a masked language model with a tokenizer
set -u
. "$(dirname "$0")/../tap.sh"
program=$(realpath "$1")
demo=$(realpath "$2")/demo/tiny-qwen2-moe
pictures=$(realpath "$2")/demo/tiny-qwen2-vl
bert=$(realpath "$3")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
question='The opposite of hot is'

# Runs the program with the standard input that its caller has: out, err and $status. One that hangs fails.
host() {
    status=0
    timeout 120 "$program" "$@" --quiet >out 2>err || status=$?
}

host --model "$demo" --prompt "$question" </dev/null
cp out wanted
check 'the question has an answer' ' cold.' "$(cat wanted)"

echo "$question" >asked && cp asked same
host --model "$demo" <asked
check 'a file' "$(cat wanted)" "$(cat out)"
host run --model "$demo" <<END
$question
END
check 'a here-document' "$(cat wanted)" "$(cat out)"
printf '%s' "$question" | timeout 120 "$program" --quiet --model "$demo" >out 2>err
check 'a pipe, without a line end' "$(cat wanted)" "$(cat out)"
printf '%s\r\n' "$question" | timeout 120 "$program" --quiet --model "$demo" >out 2>err
check 'a pipe, with the line end of Windows' "$(cat wanted)" "$(cat out)"
printf '%s\n' "$question" | timeout 120 "$program" --quiet --model "$demo" --prompt-file - >out 2>err
check '--prompt-file -' "$(cat wanted)" "$(cat out)"
host --model "$demo" --prompt-file asked </dev/null
check 'of a file every byte counts' yes "$(cmp -s out wanted && echo no || echo yes)"
printf '%s\n\n' "$question" | timeout 120 "$program" --quiet --model "$demo" >out2 2>err
check 'one line end is dropped, not two' "$(cat out)" "$(cat out2)"
host --model "$demo" --prompt "$question" --prompt-file - --prompt-file asked <same
check 'in a batch, in the order of the files' "$(cat wanted wanted out2)" "$(cat out)"

# Other prompts, and no prompt.
host --model "$demo" --prompt "$question" <asked
check 'a prompt that was given goes before' "$(cat wanted)" "$(cat out)"
for stdin in /dev/null /dev/full empty; do
    : >empty
    host --model "$demo" <"$stdin"
    check "no prompt, $stdin: exit status" 0 "$status"
    check "no prompt, $stdin: nothing is printed" '' "$(cat out err)"
done
printf '' | timeout 120 "$program" --quiet --model "$demo" >out 2>err
check 'no prompt, an empty pipe' 0: "$?:$(cat out err)"
host --model "$demo" <&-
check 'no prompt, standard input is closed' 0: "$status:$(cat out err)"
host --model "$demo" --prompt-file - <&-
check '--prompt-file -, standard input is closed: exit status' 5 "$status"
has '--prompt-file -, standard input is closed: says so' 'standard input: cannot be read' err
host --model "$demo" --prompt-file - </dev/null
check '--prompt-file - without a text: exit status' 5 "$status"
has '--prompt-file - without a text: says so' 'prompt 1 has no tokens' err
host --model "$demo" --prompt-file - --prompt-file - <asked
check '--prompt-file - twice: exit status' 2 "$status"
has '--prompt-file - twice: says why' 'standard input can be read only once' err
host plan --model "$demo" <asked
check 'other commands leave it alone' 0 "$status"
{ "$program" plan --model "$demo" >out 2>err; cat >rest; } <asked
check 'other commands leave it to others' "$question" "$(cat rest)"
(sleep 3 && echo "$question") | timeout 120 "$program" --report none --model "$demo" >out 2>err
check 'a slow pipe is waited for' "$(cat wanted)" "$(cat out)"
check 'a slow pipe: says what is waited for' \
    "$(basename "$program"): waiting for a prompt on standard input; run it with </dev/null for none" "$(cat err)"

# What takes one prompt only, and encoders.
circle=$pictures/samples/1-green-circle-on-yellow.png
host --model "$pictures" --image "$circle" --prompt 'What is in the picture?' </dev/null
cp out wanted
echo 'What is in the picture?' | timeout 120 "$program" --quiet --model "$pictures" --image "$circle" >out 2>err
check 'beside a picture' "$(cat wanted)" "$(cat out)"
host --model "$bert" --prompt 'the [MASK] of it' </dev/null
cp out wanted
check 'an encoder answers' yes "$([ -s wanted ] && echo yes)"
echo 'the [MASK] of it' | timeout 120 "$program" --quiet --model "$bert" >out 2>err
check 'an encoder' "$(cat wanted)" "$(cat out)"
printf 'the [MASK]\nof it [MASK]\n' | timeout 120 "$program" --quiet --model "$bert" --lines >out 2>err
check 'an encoder, line by line' 11 "$(wc -l <out | tr -d ' ')"
host --model "$bert" --lines --prompt-file - <asked
check '--lines and --prompt-file -: exit status' 2 "$status"
echo "1..$number"
exit "$failed"
