#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Text that fits a JSON schema or a grammar (--json-schema, --grammar), in `run` and `chat`, and what is refused. Reports
# in TAP.
# usage: structured.sh HOST DEMO     the folder of the demo's models
set -u
. "$(dirname "$0")/../tap.sh"
host=$(realpath "$1")
model=$(realpath "$2")/tiny-qwen2-moe
chatty=$(realpath "$2")/tiny-qwen2-vl
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1

tokens=120
run() { # run OPTIONS...: out, err and $status. One that hangs fails.
    status=0
    timeout 120 "$host" --quiet --model "$model" --prompt 'Once upon a time' --max-new-tokens "$tokens" "$@" >out 2>err </dev/null ||
        status=$?
}

fits() { # fits WHAT EXPRESSION OPTIONS...: the whole of the text does
    what=$1 expression=$2
    shift 2
    run "$@"
    check "$what: exit status" 0 "$status"
    check "$what: $(cat out)" yes "$(grep -qxE "$expression" out && echo yes || echo no)"
}

refuses() { # refuses WHAT STATUS TEXT OPTIONS...: one line with the text
    what=$1 wanted=$2 text=$3
    shift 3
    run "$@"
    check "$what: exit status" "$wanted" "$status"
    check "$what: one line" 1 "$(wc -l <err)"
    has "$what: says why" "$text" err
}

cat >person.json <<'END'
{"title": "A person", "type": "object", "properties": {"name": {"type": "string", "maxLength": 12},
 "age": {"type": "integer", "minimum": 18, "maximum": 120}, "tags": {"type": "array", "items": {"enum": ["red", "blue"]},
 "minItems": 1, "maxItems": 2}, "ok": {"type": "boolean"}}, "required": ["name", "age", "tags", "ok"],
 "additionalProperties": false}
END
person='\{"name":"([^"\\]|\\.)*","age":(1[89]|[2-9][0-9]|1[01][0-9]|120),"tags":\["(red|blue)"(,"(red|blue)")?\],"ok":(true|false)\}'
printf 'root ::= ("yes" | "no") ", " [a-z]{3,8} "."\n' >answer.gbnf

fits "greedy" "$person" --json-schema person.json
cp out greedy
for way in '--temperature 1 --seed 3' '--temperature 1.5 --top-k 20 --seed 4' '--num-beams 3' '--guidance-scale 2' \
    '--repetition-penalty 1.3 --top-p 0.9'; do
    # shellcheck disable=SC2086 # words
    fits "$way" "$person" --json-schema person.json $way
done
fits "with guesses" "$person" --json-schema person.json --speculate 4
check "with guesses: the same" "$(cat greedy)" "$(cat out)"
for seed in 1 2 3; do
    fits "a grammar, seed $seed" '(yes|no), [a-z]{3,8}\.' --grammar answer.gbnf --temperature 2 --seed $seed
done
run --json-schema person.json --json
check "a text that is complete has stopped" 1 "$(grep -c '"finish_reason": "stop"' out)"
tokens=5
run --json-schema person.json --json
tokens=120
check "one that is cut off has not" 1 "$(grep -c '"finish_reason": "length"' out)"
run --json-schema person.json --prompt 'Another'
check "several prompts: exit status" 0 "$status"
check "several prompts" 2 "$(grep -cxE "$person" out)"

printf 'A cat\nAnother\n' | "$host" chat --quiet --model "$chatty" --grammar answer.gbnf >out 2>err
check "chat: exit status" 0 $?
check "chat: each answer fits" 2 "$(grep -cE '(yes|no), [a-z]{3,8}\.' out)"

echo '{"properties": {"a": {"contains": {}}}}' >unknown.json
echo '{"type": "object"' >broken.json
printf 'root ::= a\n' >broken.gbnf
refuses "a keyword that is not done" 2 'unknown.json: /properties/a: the keyword contains is not supported' --json-schema unknown.json
refuses "a schema that is no JSON" 2 'broken.json: not valid JSON' --json-schema broken.json
refuses "a grammar with a fault" 2 'broken.gbnf: line 1, column 10: there is no rule of the name a' --grammar broken.gbnf
refuses "no file" 5 'nothing.json: cannot be opened' --json-schema nothing.json
refuses "both" 2 '--grammar: cannot be combined with --json-schema' --json-schema person.json --grammar answer.gbnf
refuses "a length that cannot be" 2 'no token is left that fits' --grammar answer.gbnf --min-new-tokens 100
echo "1..$number"
exit "$failed"
