#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# `serve` with what people use: curl, OpenAI's Python client (GRAFT_TEST_PYTHON names the Python that has it), and a
# browser for the page. What is missing is skipped. Reports in TAP. To have all of it on Debian 12, where the client is no
# package:
#     apt-get install curl chromium && python3 -m venv FOLDER && FOLDER/bin/pip install openai
#     GRAFT_TEST_PYTHON=FOLDER/bin/python meson test -C build 'serve clients'
# usage: clients.sh HOST ROOT CLIENT
set -u
. "$(dirname "$0")/../tap.sh"
. "$(dirname "$0")/fixture.sh"
program=$(realpath "$1")
root=$(realpath "$2")
client=$(realpath "$3")
scratch=$(mktemp -d)
trap 'kill "$server" 2>/dev/null; rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
skip() { # skip WHAT WHY
    number=$((number + 1))
    echo "ok $number - $1 # SKIP $2"
}

make_chat_model "$root"
start --model own
if command -v curl >/dev/null 2>&1; then
    check 'curl' '{"status": "ok"}' "$(curl -sS "http://127.0.0.1:$port/health")"
    curl -sSN "http://127.0.0.1:$port/v1/completions" -H 'Content-Type: application/json' \
        -d '{"prompt": "The opposite of hot is", "max_tokens": 4, "stream": true}' >streamed
    check 'curl reads a stream' 'data: [DONE]' "$(grep . streamed | tail -1)"
    curl -sS -i "http://127.0.0.1:$port/v1/completions" -d '{}' >typed
    has 'curl without a type is told so' 'expected the header Content-Type: application/json' typed
else
    skip 'curl' 'there is no curl (apt-get install curl)'
fi
python=${GRAFT_TEST_PYTHON:-python3}
if "$python" -c 'import openai' 2>/dev/null; then
    "$python" "$root/tests/serve/openai_client.py" "$port" >said 2>&1
    check "OpenAI's client" fine "$(cat said)"
else
    skip "OpenAI's client" "$python has no module openai (pip install openai; GRAFT_TEST_PYTHON names the Python)"
fi
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)
if [ -n "$browser" ]; then
    timeout 60 "$browser" --headless --no-sandbox --disable-gpu --user-data-dir="$scratch/browser" --virtual-time-budget=8000 \
        --dump-dom "http://127.0.0.1:$port/" >page 2>/dev/null
    has 'the page knows the model' '<h1 id="model">own</h1>' page
    has 'and the plan' 'No class is replaced.' page
else
    skip 'the page in a browser' 'there is no Chromium (apt-get install chromium)'
fi
stop
check 'the end' 0 "$ended"
echo "1..$number"
exit "$failed"
