# SPDX-License-Identifier: Apache-2.0
# To be sourced by tests of `serve`: a server on a port that the system chooses, and requests to it. $program is the
# program, $client the client; the current directory is the test's own.
# shellcheck shell=sh disable=SC2034,SC2154 # what tests give and read

make_chat_model() { # make_chat_model ROOT: the folder `own`, a model of the demo with a chat template for tools
    cp -r "$1/demo/tiny-qwen2-moe" own && chmod -R u+w own
    rm -f own/chat_template.json
    cat >own/chat_template.jinja <<'END'
{%- for message in messages %}{{ '<|im_start|>' + message.role + '\n' + (message.content or '') + '<|im_end|>\n' }}{% endfor %}
{{- tools | tojson if tools }}{{ '<|im_start|>assistant\n' if add_generation_prompt }}
END
}
start() { # start OPTIONS...: $server and $port
    : >log
    "$program" serve --port 0 --report none "$@" 2>log >out &
    server=$!
    port=
    while [ -z "$port" ] && kill -0 "$server" 2>/dev/null; do
        port=$(sed -n 's/^serving .*:\([0-9]*\)$/\1/p' log)
        [ -n "$port" ] || sleep 0.05
    done
}
stop() { # asks the server to end, and gives its exit status as $ended
    kill -TERM "$server" 2>/dev/null
    ended=0
    wait "$server" || ended=$?
}
get() { # get PATH [OPTIONS]: $status, and the files headers and body
    status=$("$client" "$port" GET "$@")
}
post() { # post PATH BODY [OPTIONS]
    path=$1 json=$2
    shift 2
    status=$("$client" "$port" POST "$path" -d "$json" "$@")
}
refused() { # refused WHAT STATUS PART...: of what was asked last
    what=$1
    check "$what: status" "$2" "$status"
    shift 2
    for part; do
        has "$what: $part" "$part" body
    done
}
wait_for() { # wait_for TEXT PATH: until the answer of a route holds a text
    tries=0
    while get "$2" && ! grep -qF -e "$1" body && [ "$tries" -lt 600 ]; do
        tries=$((tries + 1))
        sleep 0.05
    done
    has "$2 has $1" "$1" body
}
