#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# `serve` from outside: routes, fields, what is refused, limits, clients that leave, and the end. Reports in TAP.
# usage: serve.sh HOST CLIENT ROOT GOLDENS
set -u
. "$(dirname "$0")/../tap.sh"
. "$(dirname "$0")/fixture.sh"
program=$(realpath "$1")
client=$(realpath "$2")
root=$(realpath "$3")
llama=$(realpath "$4")/plain/llama
scratch=$(mktemp -d)
trap 'kill "$server" 2>/dev/null; rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
server=

# --- Small routes ---

start --model "$llama" --served-model-name tiny
get /health
check 'health' '200 {"status": "ok"}' "$status $(cat body)"
get /v1/models
has 'models' '{"object": "list", "data": [{"id": "tiny", "object": "model"' body
get /v1/models/tiny
has 'one model' '{"id": "tiny"' body
get /v1/models/other
refused 'another model' 404 '"code": "model_not_found"'
get /
check 'the page' 200 "$status"
has 'the page is HTML' 'Content-Type: text/html' headers
has 'the page is let fetch nothing' "default-src 'none'" headers
get /nowhere
refused 'another path' 404 '"code": "not_found"'
get /v1/completions
refused 'another method' 405 '"code": "method_not_allowed"'
get /status
has 'status' '"answers": []' body
get /plan
has 'plan' '"architecture": "LlamaForCausalLM"' body
post /tokenize '{"prompt": "Hello world"}'
tokens=$(sed -n 's/.*"tokens": \(\[.*\]\).*/\1/p' body)
post /detokenize "{\"tokens\": $tokens}"
has 'tokens there and back' '<|begin_of_text|>Hello world' body
post /tokenize '{"prompt": "Hello world", "add_special_tokens": false}'
check 'tokenize without special tokens' 0 "$(grep -c 580 body)"

# --- Completions ---

text() { # what the last answer says
    sed -n 's/.*"text": "\(.*\)", "logprobs".*/\1/p' body
}
"$program" run --model "$llama" --quiet --prompt 'Hello world' --max-new-tokens 12 --temperature 0 --json >run.json
wanted=$(sed -n 's/.*"text": "\([^"]*\)".*/\1/p' run.json | head -1)
post /v1/completions '{"model": "tiny", "prompt": "Hello world", "max_tokens": 12, "temperature": 0}'
check 'a completion' 200 "$status"
check 'it is what run says' "$wanted" "$(text)"
has 'usage' '"usage": {"prompt_tokens": 8, "completion_tokens": 12, "total_tokens": 20}' body
has 'why it ended' '"finish_reason": "length"' body
greedy=$(text)
post /v1/completions "{\"prompt\": $tokens, \"max_tokens\": 12, \"temperature\": 0}"
check 'the same from ids' "$greedy" "$(text)"
post /v1/completions '{"prompt": "Hello world", "max_tokens": 12, "temperature": 0, "stream": true, "stream_options": {"include_usage": true}}'
streamed=$(sed -n 's/^data: .*"text": "\(.*\)", "logprobs".*/\1/p' body | tr -d '\n')
check 'the same as a stream' "$greedy" "$streamed"
has 'its type' 'Content-Type: text/event-stream' headers
has 'its usage' '"choices": [], "usage": {"prompt_tokens": 8, "completion_tokens": 12, "total_tokens": 20}' body
check 'its end' 'data: [DONE]' "$(grep . body | tail -1)"
post /v1/completions '{"prompt": "Hello world", "max_tokens": 12, "temperature": 0, "echo": true}'
check 'echo' "Hello world$greedy" "$(text)"
post /v1/completions '{"prompt": ["Hello world", "Other"], "max_tokens": 2, "n": 2, "temperature": 0}'
check 'two prompts with two answers each' 4 "$(grep -o '"index"' body | wc -l | tr -d ' ')"
post /v1/completions '{"prompt": "Hello world", "max_tokens": 12, "temperature": 0, "logprobs": 3}'
check 'logprobs' 12 "$(sed -n 's/.*"token_logprobs": \[\([^]]*\)\].*/\1/p' body | tr ',' '\n' | grep -c .)"
post /v1/completions '{"prompt": "Hello world", "max_tokens": 12, "temperature": 0, "logit_bias": {"300": 100}}'
check 'a bias decides' 1 "$(text | grep -c '.')"
biased=$(text)
post /v1/completions '{"prompt": "Hello world", "max_tokens": 12, "temperature": 0, "logit_bias": {"300": 100}, "stop": ["zzz"]}'
check 'the same beside a stop that is not there' "$biased" "$(text)"
first=$(printf %s "$greedy" | cut -c1-3)
post /v1/completions "{\"prompt\": \"Hello world\", \"max_tokens\": 12, \"temperature\": 0, \"stop\": \"$first\"}"
check 'a stop string is no part of the answer' ' stop' "$(text) $(sed -n 's/.*"finish_reason": "\([a-z]*\)".*/\1/p' body)"
post /v1/completions '{"prompt": "Hello world", "max_tokens": 12, "temperature": 1, "seed": 3}'
drawn=$(text)
post /v1/completions '{"prompt": "Hello world", "max_tokens": 12, "temperature": 1, "seed": 3}'
check 'a seed gives the same again' "$drawn" "$(text)"
post /v1/completions '{"prompt": "Hello world", "max_tokens": 12, "temperature": 1, "seed": 4}'
check 'another seed gives another' yes "$([ "$drawn" != "$(text)" ] && echo yes)"
post /v1/completions '{"prompt": "Hello world", "max_tokens": 12, "top_k": 1}'
check 'the largest of one' "$greedy" "$(text)"
post /v1/completions '{"prompt": "Hello world", "max_tokens": 12, "top_p": 0}'
check 'the most probable alone' "$greedy" "$(text)"
post /v1/completions '{"prompt": "Hello world", "max_tokens": 40, "temperature": 0, "frequency_penalty": 2, "presence_penalty": 2}'
check 'penalties' yes "$([ "$greedy" != "$(text | cut -c1-"${#greedy}")" ] && echo yes)"

# --- What is refused ---

post /v1/completions '{"prompt": "x", "max_token": 3}'
refused 'a field that there is not' 400 '"param": "max_token"' '"type": "invalid_request_error"' '"code": "unknown_parameter"'
post /v1/completions '{"prompt": "x", "messages": []}'
refused 'a field of another route' 400 '"param": "messages"'
post /v1/completions '{"prompt": "x", "suffix": null}'
check 'null is no field' 200 "$status"
post /v1/completions '{}'
refused 'no prompt' 400 '"param": "prompt"' '"code": "missing_required_parameter"'
post /v1/completions '{"prompt": "x", "temperature": "warm"}'
refused 'a word for a number' 400 'temperature: expected a number, got a string'
post /v1/completions '{"prompt": "x", "temperature": -1}'
refused 'too cold' 400 'temperature: expected a number from 0 to 100, got -1'
post /v1/completions '{"prompt": "x", "n": 0}'
refused 'no answers' 400 'n: expected an integer from 1 to 128, got 0'
post /v1/completions '{"prompt": [99999]}'
refused 'an id that there is not' 400 '"param": "prompt"'
post /v1/completions '{"prompt": []}'
refused 'an empty list' 400 'prompt: expected 1 to 256 of them, got 0'
post /v1/completions '{"prompt": [[1, 2], [3, "x"]]}'
refused 'a word among ids' 400 '"param": "prompt"'
post /v1/completions '{"prompt": "x", "logit_bias": {"99999": 1}}'
refused 'a bias of no token' 400 '"param": "logit_bias"'
post /v1/completions '{"prompt": "x", "logit_bias": {"1": 101}}'
refused 'too much bias' 400 'logit_bias.1: expected a number from -100 to 100'
post /v1/completions '{"prompt": "x", "stop": [1]}'
refused 'a number to stop at' 400 '"param": "stop"'
post /v1/completions '{"prompt": "x", "echo": true, "logprobs": 1}'
refused 'logprobs of a prompt' 400 '"param": "echo"'
post /v1/completions '{"prompt": "x", "response_format": {"type": "xml"}}'
refused 'a form' 400 '"param": "response_format"'
post /v1/completions '{"prompt": "x", "response_format": {"type": "json_schema", "json_schema": {"schema": {"type": 5}}}}'
refused 'a schema that is none' 400 '"param": "response_format"'
form='"temperature": 0, "max_tokens": 60, "prompt": "x", "response_format"'
post /v1/completions "{$form: {\"type\": \"json_schema\", \"json_schema\": {\"schema\": {\"enum\": [\"yes\", \"no\"]}}}}"
check 'a schema is kept to' 1 "$(text | grep -cE '^..(yes|no)..$')"
post /v1/completions "{$form: {\"type\": \"grammar\", \"grammar\": \"root ::= \\\"ab\\\" [0-9]\"}}"
check 'a grammar is kept to' 1 "$(text | grep -cE '^ab[0-9]$')"
post /v1/completions '{"prompt": "x", "model": "other"}'
refused 'another model' 404 '"code": "model_not_found"'
post /v1/completions '{"prompt": "x"'
refused 'half a body' 400 '"code": "invalid_json"'
post /v1/completions '[1]'
refused 'a list' 400 'expected an object, got an array'
post /v1/completions '{"prompt": "x", "prompt": "y"}'
refused 'a field twice' 400 '"code": "invalid_json"'
deep=$(printf '[%.0s' $(seq 5000))
post /v1/completions "{\"prompt\": $deep"
refused 'too deep' 400 '"code": "invalid_json"'
post /v1/completions 'prompt=x' -H 'Content-Type: application/x-www-form-urlencoded'
refused 'a form of a page' 415 '"code": "unsupported_media_type"'
post /v1/chat/completions '{"messages": [{"role": "user", "content": "Hi"}]}'
refused 'a chat without a template' 400 'the model has no chat template'
post /v1/embeddings '{"input": "Hello"}'
refused 'vectors of a model that has none' 400 '"type": "invalid_request_error"'

# --- What HTTP itself refuses ---

raw() { # raw TEXT: as printf writes it
    # shellcheck disable=SC2059 # it is a format
    printf "$1" >raw
    status=$("$client" "$port" raw raw)
}
raw 'nonsense\r\n\r\n'
check 'a line that is none' 400 "$status"
raw 'POST /v1/completions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 9900000000\r\n\r\n{'
check 'a body too long to be read' 413 "$status"
raw 'POST /v1/completions HTTP/1.1\r\nHost: x\r\nContent-Length: -5\r\n\r\n{'
check 'a length below 0' 400 "$status"
raw 'POST /v1/completions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\nContent-Length: 14\r\n\r\ne\r\n{"prompt":"x"}\r\n0\r\n\r\n'
if grep -q '<TITLE>400' body; then # some builds of libevent refuse it themselves, with a page of their own
    check 'two lengths' 400 "$status"
else
    refused 'two lengths' 400 '"code": "invalid_headers"'
fi
raw 'DELETE /v1/models HTTP/1.1\r\nHost: x\r\n\r\n'
check 'a method that nothing has' yes "$([ "$status" -ge 400 ] && echo yes)"
raw 'GET / HTTP/1.1\r\nHost: x\r\n'
check 'a request that stops half-way' 0 "$status"
long=$(head -c 20000 /dev/zero | tr '\0' a)
get /health -H "X-Long: $long"
refused 'long headers' 431 '"code": "headers_too_large"'
head -c 5000000 /dev/zero | tr '\0' ' ' >long
status=$("$client" "$port" POST /v1/completions -f long)
refused 'a long body' 413 '"code": "body_too_large"'
get /health
check 'it still serves' 200 "$status"

# --- Many at once ---

ask() { # ask NUMBER: into a folder of its own, which has its answer
    mkdir -p "many/$1"
    (cd "many/$1" && "$client" "$port" POST /v1/completions \
        -d "{\"prompt\": \"Number $1 of many\", \"max_tokens\": 24, \"temperature\": 0, \"ignore_eos\": true}" >status &&
        text >"$2")
}
for i in 1 2 3 4 5 6 7 8 9 10; do
    ask "$i" alone
done
waiting=
for i in 1 2 3 4 5 6 7 8 9 10; do
    ask "$i" together &
    waiting="$waiting $!"
done
# shellcheck disable=SC2086 # a list
wait $waiting
different=
for i in 1 2 3 4 5 6 7 8 9 10; do
    [ -s "many/$i/alone" ] && cmp -s "many/$i/alone" "many/$i/together" || different="$different $i"
done
check 'together each says what it says alone' '' "$different"

# --- Clients that leave ---

endless='{"prompt": "x", "max_tokens": 1000000, "temperature": 0, "ignore_eos": true}'
post /v1/completions '{"prompt": "x", "max_tokens": 1000000, "temperature": 0, "ignore_eos": true, "stream": true}' -l 2000
wait_for '"answers": []' /status
get /metrics
has 'a client that left is counted' 'graft_clients_left_total 1' body
"$client" "$port" POST /v1/completions -d "$endless" >/dev/null &
silent=$!
wait_for '"choices": 1' /status
kill "$silent"
wait_for '"answers": []' /status

# --- The end ---

(mkdir -p ending && cd ending && "$client" "$port" POST /v1/completions \
    -d '{"prompt": "x", "max_tokens": 400, "temperature": 0, "ignore_eos": true, "stream": true}' >status) &
ending=$!
(mkdir -p other && cd other && exec "$client" "$port" POST /v1/completions -d "$endless" >status) &
other=$!
wait_for '"choices": 1' /status
kill -TERM "$server"
tries=0
while get /health && [ "$status" = 200 ] && [ "$tries" -lt 600 ]; do
    tries=$((tries + 1))
    sleep 0.05
done
refused 'health while it stops' 503 '"status": "stopping"'
post /v1/completions '{"prompt": "x"}'
refused 'a new answer while it stops' 503 '"code": "stopping"'
has 'when to come back' 'Retry-After: 1' headers
wait "$ending"
check 'an answer that runs ends' 'data: [DONE]' "$(grep . ending/body | tail -1)"
kill "$other"
ended=0
wait "$server" || ended=$?
check 'then it ends' 0 "$ended"

# --- Keys, pages of others, and a full queue ---

printf '# keys\nfirst\n\nsecond\n' >keys
start --model "$llama" --api-key-file keys --cors-origin https://page.example --max-running 1 --max-waiting 1
get /health
check 'health needs no key' 200 "$status"
has 'an origin that may call' 'Access-Control-Allow-Origin: https://page.example' headers
get /v1/models
refused 'no key' 401 '"code": "invalid_api_key"'
get /v1/models -H 'Authorization: Bearer firs'
refused 'a part of a key' 401 '"code": "invalid_api_key"'
get /v1/models -H 'Authorization: Bearer second'
check 'a key' 200 "$status"
status=$("$client" "$port" OPTIONS /v1/models)
check 'a browser asks first' 204 "$status"
for i in 1 2; do
    (mkdir -p "full$i" && cd "full$i" && exec "$client" "$port" POST /v1/completions -d "$endless" \
        -H 'Authorization: Bearer first' >status) &
done
tries=0
while get /status -H 'Authorization: Bearer first' && [ "$(grep -o '"choices": 1' body | wc -l)" -lt 2 ] && [ "$tries" -lt 600 ]; do
    tries=$((tries + 1))
    sleep 0.05
done
post /v1/completions '{"prompt": "x"}' -H 'Authorization: Bearer first'
refused 'a full queue' 429 '"code": "queue_full"'
has 'when to come back' 'Retry-After: 1' headers
kill -TERM "$server"
wait_for '"stopping"' /health
stop
check 'a second signal ends all' 0 "$ended"

# --- Chats ---

make_chat_model "$root"
start --model own
said() {
    sed -n 's/.*"content": "\(.*\)"}, "logprobs".*/\1/p' body
}
hello='"messages": [{"role": "user", "content": "Hi"}], "max_tokens": 12, "temperature": 0'
post /v1/chat/completions "{$hello}"
check 'a chat' 200 "$status"
has 'its kind' '"object": "chat.completion"' body
has 'its role' '"message": {"role": "assistant", "content": "' body
answer=$(said)
post /v1/chat/completions "{$hello, \"stream\": true}"
check 'the same as a stream' "$answer" "$(sed -n 's/^data: .*"delta": {"content": "\(.*\)"}, "logprobs".*/\1/p' body | tr -d '\n')"
has 'a stream begins with the role' '"delta": {"role": "assistant", "content": ""}' body
post /v1/chat/completions "{$hello, \"logprobs\": true, \"top_logprobs\": 2}"
has 'logprobs of a chat' '"logprobs": {"content": [{"token": "' body
post /v1/chat/completions "{$hello, \"max_completion_tokens\": 1}"
has 'the newer name of max_tokens' '"completion_tokens": 1' body
post /v1/chat/completions '{"messages": [{"role": "user", "content": [{"type": "text", "text": "Hi"}, {"type": "image_url", "image_url": {"url": "x"}}]}]}'
refused 'an image' 400 '"param": "messages[0].content[1].type"' 'the model takes no images'
post /v1/chat/completions '{"messages": [{"content": "Hi"}]}'
refused 'a message without a role' 400 '"param": "messages[0].role"'
post /v1/chat/completions "{$hello, \"tools\": [{\"type\": \"function\"}]}"
refused 'a tool without a name' 400 '"param": "tools"'
tool='"tools": [{"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {"x": {"enum": [1, 2]}}, "required": ["x"], "additionalProperties": false}}}]'
call='"messages": [{"role": "user", "content": "Hi"}], "max_tokens": 100, "temperature": 0'
for choice in '"required"' '{"type": "function", "function": {"name": "f"}}'; do
    post /v1/chat/completions "{$call, $tool, \"tool_choice\": $choice}"
    has "a call that is forced by $choice" '"function": {"name": "f", "arguments": "{\"x\": ' body
    has 'why it ends' '"finish_reason": "tool_calls"' body
done
post /v1/chat/completions "{$call, $tool, \"tool_choice\": \"required\", \"stream\": true}"
has 'a call in a stream' '"delta": {"tool_calls": [{"id": ' body
post /v1/chat/completions "{$call, $tool, \"tool_choice\": {\"type\": \"function\", \"function\": {\"name\": \"g\"}}}"
refused 'a call of no tool' 400 'there is no tool \"g\"'
post /v1/chat/completions "{$call, $tool, \"tool_choice\": \"always\"}"
refused 'another choice' 400 '"param": "tool_choice"'
post /v1/chat/completions "{$hello, \"tools\": [{\"type\": \"function\", \"function\": {\"name\": \"f\"}}]}"
check 'tools' 200 "$status"
post /tokenize '{"messages": [{"role": "user", "content": "Hi"}]}'
check 'a conversation as tokens' 200 "$status"
stop
check 'the end' 0 "$ended"

# --- Options ---

broken() { # broken WHAT STATUS PART OPTIONS...
    what=$1 wanted=$2 part=$3
    shift 3
    status=0
    timeout 60 "$program" serve --model "$llama" --report none "$@" >out 2>err || status=$?
    check "$what: status" "$wanted" "$status"
    has "$what" "$part" err
}
broken 'no key file' 5 'nowhere: cannot be opened' --api-key-file nowhere
: >empty
broken 'no key' 2 'empty: expected a key on a line, got none' --api-key-file empty
broken 'no port' 2 '--port: expected 0 to 65535' --port 70000
broken 'no address' 2 'is no address' --host not/an/address --port 0
broken 'an option of another command' 2 '--prompt' --prompt x
echo "1..$number"
exit "$failed"
