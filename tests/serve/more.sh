#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# `serve` with other models and in other surroundings: vectors, adapters, answers that take too long, systemd's socket,
# requests one after another on a connection. Reports in TAP.
# usage: more.sh HOST CLIENT ROOT GOLDENS LORA    LORA is the folder of the plugin
set -u
. "$(dirname "$0")/../tap.sh"
. "$(dirname "$0")/fixture.sh"
program=$(realpath "$1")
client=$(realpath "$2")
root=$(realpath "$3")
goldens=$(realpath "$4")
lora=$(realpath "$5")
llama=$goldens/plain/llama
scratch=$(mktemp -d)
trap 'kill "$server" 2>/dev/null; rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1

# --- Vectors ---

start --model "$goldens/encoders/bert_sentence"
post /v1/embeddings '{"input": "Hello world"}'
check 'vectors' 200 "$status"
got=$(sed -n 's/.*"embedding": \(\[[^]]*\]\).*/\1/p' body | tr -d ' ')
wanted=$("$program" run --model "$goldens/encoders/bert_sentence" --quiet --embed --prompt 'Hello world' | tr -d ' ')
numbers() { # how many numbers, and the first to five digits
    printf '%s' "$1" | tr -d '[]' | awk -F, '{ printf "%d %.5f", NF, $1 }'
}
check 'they are those of run' "$(numbers "$wanted")" "$(numbers "$got")"
post /v1/embeddings '{"input": ["Hello", "world"], "encoding_format": "base64"}'
check 'several, in base64' 2 "$(grep -o '"embedding": "[A-Za-z0-9+/=]*"' body | wc -l | tr -d ' ')"
has 'their usage' '"usage": {"prompt_tokens": ' body
post /v1/completions '{"prompt": "x"}'
refused 'no text of an encoder' 400 'the model does not generate text'
stop
check 'the end' 0 "$ended"

# --- Adapters ---

text() { # the logprobs: its tokenizer is another model's
    sed -n 's/.*"token_logprobs": \[\([^]]*\)\].*/\1/p' body
}
cp -r "$root/tests/goldens/lora/llama" adapted && chmod -R u+w adapted
cp "$llama/tokenizer.json" "$llama/tokenizer_config.json" adapted
start --model adapted --plugins-dir "$lora" --adapter a=adapted/adapters/attention_r8 --served-model-name m
get /v1/models
has 'an adapter is a model' '"id": "m:a"' body
get /v1/models/m:a
check 'by its name' 200 "$status"
asked='"prompt": [1, 5, 9, 30], "max_tokens": 12, "temperature": 0, "logprobs": 0'
post /v1/completions "{\"model\": \"m\", $asked}"
base=$(text)
check 'without it' 200 "$status"
post /v1/completions "{\"model\": \"m:a\", $asked}"
check 'with it' yes "$([ "$status" = 200 ] && [ "$(text)" != "$base" ] && echo yes)"
post /v1/completions "{\"model\": \"m:b\", $asked}"
refused 'another' 404 '"code": "model_not_found"'
stop

# --- Images ---

seen=$root/demo/tiny-qwen2-vl
start --model "$seen" --served-model-name eye
picture() { # picture NAME: a part with a file of the samples
    printf '{"type": "image_url", "image_url": {"url": "data:image/png;base64,%s"}}' "$(base64 -w 0 "$seen/samples/$1.png")"
}
look() { # look PART...: asks for the shape of what the parts show
    parts=
    for part; do
        parts="$parts$part, "
    done
    post /v1/chat/completions "{\"messages\": [{\"role\": \"user\", \"content\": [$parts{\"type\": \"text\", \"text\": \"What shape is it?\"}]}], \"max_tokens\": 8, \"temperature\": 0}"
}
circle=$(picture 1-green-circle-on-yellow)
look "$circle"
has 'an image is seen' '"content": "circle"' body
has 'its tokens count' '"prompt_tokens": 19' body
look "$(picture 2-blue-square-on-yellow)"
has 'another one' '"content": "square"' body
look "$circle" "$circle"
check 'two of them' 200 "$status"
post /tokenize "{\"messages\": [{\"role\": \"user\", \"content\": [$circle]}]}"
check 'as tokens' 4 "$(grep -o '\<383\>' body | wc -l | tr -d ' ')"
look '{"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}'
refused 'an image elsewhere' 400 '"param": "messages[0].content[0].image_url.url"' 'images are not fetched from elsewhere'
look '{"type": "image_url", "image_url": {"url": "data:image/png;base64,!"}}'
refused 'no base64' 400 'expected base64 after'
look '{"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}'
refused 'no image' 400 '"param": "messages[0].content[0]"' 'is neither a PNG nor a JPEG file'
look '{"type": "image_url", "image_url": "x"}'
refused 'no object' 400 'expected an object with \"url\", a string'
look '{"type": "image_url", "image_url": {"url": "x", "detail": "low"}}'
refused 'less detail' 400 '"param": "messages[0].content[0].image_url.detail"'
look '{"type": "video_url", "video_url": {"url": "x"}}'
refused 'a video' 400 'expected \"text\" or \"image_url\", got \"video_url\"'
sed 's/image_pad/nothing/' "$seen/chat_template.json" >blind.json
stop
cp -r "$seen" blind && chmod -R u+w blind && mv blind.json blind/chat_template.json
start --model blind
look "$circle"
refused 'a template that has no place for it' 400 'got 1 images and videos, but the prompt has placeholders for 0'
rm blind/preprocessor_config.json
stop
start --model blind
look "$circle"
refused 'no word about how images are prepared' 500 'preprocessor_config.json'
get /health
check 'it still serves' 200 "$status"
stop
check 'the end' 0 "$ended"

# --- What prompts have in common, beyond a run ---

common=$(seq 1100 | awk '{ printf "%d, ", ($1 * 7 + int($1 / 5)) % 50 + 3 }')
ask_common() { # ask_common ID: after the common ones
    post /v1/completions "{\"prompt\": [$common$1], \"max_tokens\": 8, \"temperature\": 0}"
    sed -n 's/.*"text": "\(.*\)", "logprobs".*/\1/p' body
}
counted() { # counted NAME: of the metrics
    get /metrics
    sed -n "s/^graft_$1 //p" body
}
start --model "$llama"
wanted=$(ask_common 9)
stop
start --model "$llama" --sessions kept --sessions-size 1MB
ask_common 5 >/dev/null
check 'a prompt alone is not kept' 0 "$(find kept -type f | wc -l | tr -d ' ')"
ask_common 6 >/dev/null
wait_for 'session_saved_tokens_total 1024' /metrics
check 'what two have in common is' 1 "$(find kept -name '*.session' | wc -l | tr -d ' ')"
stop
start --model "$llama" --sessions kept
check 'with it the same answer' "$wanted" "$(ask_common 9)"
check 'of which it is not read again' 1024 "$(counted session_loaded_tokens_total)"
stop
check 'the end' 0 "$ended"
with_tokenizer() { # with_tokenizer GOLDEN: a copy of it in the folder of that name
    cp -r "$goldens/plain/$1" "$1" && chmod -R u+w "$1" && cp "$llama/tokenizer.json" "$llama/tokenizer_config.json" "$1"
}
with_tokenizer qwen3
with_tokenizer mamba2
start --model qwen3 --sessions kept
ask_common 9 >/dev/null
check 'another model takes nothing of it' '200 0' "$status $(counted session_loaded_tokens_total)"
stop
rm -rf kept
start --model "$llama" --sessions kept --sessions-size 100KB
ask_common 5 >/dev/null
ask_common 6 >/dev/null
stop
has 'too large to be kept' 'note: kept: the keys and values of 1024 tokens take' log
check 'nothing is there' 0 "$(find kept -type f | wc -l | tr -d ' ')"
start --model "$llama" --sessions kept
rmdir kept
check 'without the folder it answers all the same' "$wanted" "$(ask_common 9)"
stop
has 'and says so' 'note: kept: cannot be opened' log
check 'the end' 0 "$ended"
broken() { # broken WHAT STATUS PART OPTIONS...
    what=$1 wanted=$2 part=$3
    shift 3
    status=0
    timeout 60 "$program" serve --port 0 --report none "$@" >out 2>err || status=$?
    check "$what: status" "$wanted" "$status"
    has "$what" "$part" err
}
broken 'a model of which nothing can be kept' 2 'cannot be kept in a file' --model mamba2 --sessions kept
broken 'a model that reads only' 2 'sessions: are for models that generate text' --model "$goldens/encoders/bert_sentence" --sessions kept
broken 'a size of nothing' 2 'needs --sessions' --model "$llama" --sessions-size 1MB
: >file
broken 'a file' 5 'file: cannot be opened' --model "$llama" --sessions file

# --- Too long ---

endless='"prompt": "x", "max_tokens": 1000000, "temperature": 0, "ignore_eos": true'
start --model "$llama" --timeout 1
post /v1/completions "{$endless}"
refused 'an answer that takes too long' 504 '"code": "timeout"'
post /v1/completions "{$endless, \"stream\": true}"
has 'in a stream' 'data: {"error": {"message": "the answer took longer than 1 seconds"' body
check 'which is not ended as others are' 0 "$(grep -c DONE body)"
stop

# A stream that waits for its place stands still, and is no idle connection.
start --model "$llama" --idle-timeout 1 --timeout 4 --max-running 1
(mkdir -p first && cd first && exec "$client" "$port" POST /v1/completions -d "{$endless}" >status) &
wait_for '"choices": 1' /status
post /v1/completions "{$endless, \"stream\": true}"
has 'a stream that waits' 'data: {"error": {"message": "the answer took longer than 4 seconds"' body
stop

# --- One after another on a connection ---

start --model "$llama"
one='POST /v1/completions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 30\r\n\r\n{"prompt": "x","max_tokens":3}'
# shellcheck disable=SC2059 # it is a format
printf "${one}${one}GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n" >raw
"$client" "$port" raw raw >/dev/null
check 'requests that come at once are left to one by one, or not at all' yes "$(get /health && [ "$status" = 200 ] && echo yes)"
stop
check 'the end' 0 "$ended"

# --- A socket from systemd ---

"$client" listen "$program" serve --model "$llama" --report none --port 1 2>log >out &
server=$!
until [ -s port ] && grep -q '^serving' log; do
    kill -0 "$server" 2>/dev/null || break
    sleep 0.05
done
port=$(cat port)
has 'it says where' ":$port" log
get /health
check 'a socket that was there' 200 "$status"
stop
check 'the end' 0 "$ended"
echo "1..$number"
exit "$failed"
