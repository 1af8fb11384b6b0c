#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Messages through a model's chat template: run with --message and its like, and chat. Reports in TAP.
# usage: chat.sh HOST ROOT BERT     BERT is a masked language model
set -u
. "$(dirname "$0")/../tap.sh"
program=$(realpath "$1")
plain=$(realpath "$2")/demo/tiny-qwen2-moe
demo=$(realpath "$2")/demo/tiny-qwen2-vl
bert=$(realpath "$3")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
circle=$demo/samples/1-green-circle-on-yellow.png

# Runs the program: out, err and $status. One that hangs fails.
host() {
    status=0
    timeout 120 "$program" "$@" >out 2>err </dev/null || status=$?
}
talk() { # talk LINES OPTIONS...: a conversation
    printf '%b' "$1" >said
    shift
    status=0
    timeout 120 "$program" chat "$@" >out 2>err <said || status=$?
}
refused() { # refused WHAT STATUS PART: of what ran last
    check "$1: status" "$2" "$status"
    has "$1" "$3" err
}

# A directory whose template shows what it was given.
cp -r "$demo" own && chmod -R u+w own
rm own/chat_template.json
cat >own/chat_template.jinja <<'END'
{%- for message in messages %}
    {%- if message.role == 'critic' %}{{ raise_exception('No critics, ' ~ (name or 'please')) }}{% endif %}
    {{- '<|im_start|>' + message.role + '\n' + message.content + '<|im_end|>\n' }}
{%- endfor %}
{{- tools | tojson if tools }}{{ '<|im_start|>assistant\n' if add_generation_prompt }}
END
written() { # written TEXT OPTIONS...: whether these messages are the ids of this text
    text=$1
    shift
    timeout 60 "$program" run --model own --quiet --output-ids --max-new-tokens 3 --logits messages "$@" >ids 2>err
    timeout 60 "$program" run --model own --quiet --output-ids --max-new-tokens 3 --logits prompt --no-special-tokens \
        --prompt "$text" >wanted 2>>err
    if cmp -s messages prompt && cmp -s ids wanted; then
        echo yes
    else
        cat err
    fi
}
check 'a message' yes "$(written '<|im_start|>user
Hi<|im_end|>
<|im_start|>assistant
' --message user:Hi)"
printf '[{"role": "user", "content": "One"}, {"role": "assistant", "content": "Two"}]' >some.json
check 'the system, a file, and a message after it' yes "$(written '<|im_start|>system
Be<|im_end|>
<|im_start|>user
One<|im_end|>
<|im_start|>assistant
Two<|im_end|>
<|im_start|>user
a:b<|im_end|>
<|im_start|>assistant
' --message user:a:b --system Be --messages some.json)"
check "an assistant's last message is gone on with" yes "$(written '<|im_start|>user
One<|im_end|>
<|im_start|>assistant
Two' --messages some.json)"
printf '[{"type": "function"}]' >tools.json
check 'tools' yes "$(written '<|im_start|>user
Hi<|im_end|>
[{"type": "function"}]<|im_start|>assistant
' --message user:Hi --tools tools.json)"
check 'what a user writes is no token of the template' no "$(written '<|im_start|>user
<|im_end|><|im_end|>
<|im_start|>assistant
' --message 'user:<|im_end|>' >/dev/null; cmp -s messages prompt && echo yes || echo no)"

host run --model own --message critic:x
refused "a template's refusal" 2 'own/chat_template.jinja: the chat template refuses these messages: No critics, please'
host run --model own --message critic:x --template-variable 'name="you"'
refused 'a variable' 2 'No critics, you'
host run --model own --report none --message user:x --template-variable 'name="you"' --template-variable enable_thinking=true \
    --tools tools.json
check 'what the template does not read is told' 'note: the chat template does not read "enable_thinking"' \
    "$(grep note: err)"
host run --model own --message critic:x --template-variable name=you
refused 'a variable that is not JSON' 2 '--template-variable: name: not valid JSON'
host run --model own --message Hello
refused 'a message without a role' 2 '--message: expected ROLE:TEXT'
host run --model own --messages tools.json
refused 'a message without content' 4 'own/chat_template.jinja: line 3 column'
printf '{"role": "user"}' >one.json
host run --model own --messages one.json
refused 'no array' 2 'one.json: expected an array, found an object'
printf '[5]' >one.json
host run --model own --messages one.json
refused 'no objects' 2 'one.json: message 1 is an integer, expected an object'
printf '[{]' >one.json
host run --model own --messages one.json
refused 'no JSON' 2 'one.json: not valid JSON, line 1'
host run --model own --messages nowhere.json
refused 'no file' 5 'nowhere.json: cannot be opened'
host run --model own --message user:x --prompt y
refused 'a prompt beside messages' 2 '--message: cannot be combined with --prompt'
host run --model own --system x --prompt y
refused 'a system beside a prompt' 2 '--system: cannot be combined with --prompt'
host run --model own --system x
refused 'a system and no message' 2 '--system: needs messages'
host run --model own --tools tools.json --prompt y
refused 'tools beside a prompt' 2 '--tools: needs messages'
printf '[]' >none.json
host run --model own --messages none.json
refused 'no messages' 2 'messages: there is none, expected at least one'
host run --model own --message user:x --tools seen.json
refused 'tools that are none' 5 'seen.json: cannot be opened'
printf '[{"type": "function"}, 5]' >one.json
host run --model own --message user:x --tools one.json
refused 'a tool that is none' 2 'one.json: tool 2 is an integer, expected an object'
host run --model "$bert" --message user:x
refused 'an encoder' 2 '--message: is for models that generate text'
host chat --model "$bert"
refused 'an encoder to chat with' 2 'chat: is for models that generate text'
host run --model "$plain" --message user:x
refused 'no template' 4 'has no chat template'
host chat --model "$plain"
refused 'no template to chat by' 4 'has no chat template'
printf '{{ x' >own/chat_template.jinja
host run --model own --message user:x
refused 'a template that is none' 4 'own/chat_template.jinja: line 1 column'

host run --model "$demo" --quiet --image "$circle" --message 'user:What shape is it?'
check 'an image with a message' circle "$(cat out)"
host run --model "$demo" --quiet --image "$circle" --system Be --message 'assistant:x'
refused 'an image and no user' 2 '--image: there is no message of a user'
printf '[{"role": "user", "content": [{"type": "image"}, {"type": "text", "text": "What shape is it?"}]}]' >seen.json
host run --model "$demo" --quiet --image "$circle" --messages seen.json
check 'messages with places of their own' circle "$(cat out)"
host run --model "$demo" --quiet --messages seen.json
refused 'places and no image' 2 'the prompts have placeholders for images, but none are given'
asked='{"type": "text", "text": "What shape is it?"}'
printf '[{"role": "user", "content": [{"type": "image", "path": "%s"}, %s]}]' "$circle" "$asked" >named.json
host run --model "$demo" --quiet --messages named.json
check 'messages that name their images' circle "$(cat out)"
host run --model "$demo" --quiet --messages named.json --image "$circle"
refused 'and an image' 2 'named.json: names images, so there can be no --image'
printf '[{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:image/png;base64,%s"}}, %s]}]' \
    "$(base64 -w 0 "$circle")" "$asked" >url.json
host run --model "$demo" --quiet --messages url.json
check "an image as OpenAI's clients send it" circle "$(cat out)"
talk '/stats\n' --model "$demo" --quiet --messages url.json
check 'in a conversation' circle "$(head -n 1 out)"
sed 's/data:/http:/' url.json >other.json
host run --model "$demo" --quiet --messages other.json
refused 'an image elsewhere' 2 'images are not fetched from elsewhere'
printf '[{"role": "user", "content": [{"type": "image_url", "image_url": 5}]}]' >other.json
host run --model "$demo" --quiet --messages other.json
refused 'no image' 2 'other.json: message 1: image_url: expected an object'
unread() { # unread TYPE MEMBER EXPECTED: a part in a form that is not read
    printf '[{"role": "user", "content": [{"type": "%s", "%s": "x"}, %s]}]' "$1" "$2" "$asked" >other.json
    host run --model "$demo" --quiet --messages other.json
    refused "a part of type $1 with $2" 2 "other.json: message 1: $2: is not read here, expected \"path\": $3"
}
unread image image 'a file'
unread image base64 'a file'
unread video video 'a directory of frames'
unread video_url video_url 'a directory of frames, of type "video"'

# A conversation.
talk 'What shape is it?\n' --model "$demo" --quiet
check 'one question: as run answers it' "$("$program" run --model "$demo" --quiet --message 'user:What shape is it?')" \
    "$(cat out)"
long=$(printf 'Say it in one word. %.0s' 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25)
talk 'What shape is it?\nWhat color is it?\nAnd what size?\n/save saved.json\n/stats\n' --model "$demo" --system "$long" --max-new-tokens 12
check 'three questions: three answers' '3 0' "$(head -n 3 out | grep -c .) $status"
has 'what was read before is not read again' 'reused' out
check 'likewise' yes "$(sed -n 's/.* read, \([0-9]*\) reused.*/\1/p' out | awk '{ print($1 < 128 ? "no" : "yes") }')"
has 'the speed is told' 'tokens/s' err
check 'saved: all messages' '"role": "system" "role": "user" "role": "assistant" "role": "user" "role": "assistant" "role": "user" "role": "assistant"' \
    "$(grep -o '"role": "[a-z]*"' saved.json | tr '\n' ' ' | sed 's/ $//')"
last=$(sed -n 3p out)
talk '/load saved.json\n/save again.json\n' --model "$demo" --quiet
check 'loaded: the same messages' yes "$(cmp -s saved.json again.json && echo yes)"
talk 'What shape is it?\nWhat color is it?\n/save two.json\n' --model "$demo" --quiet --system "$long" --max-new-tokens 12
{
    sed '$d' two.json
    printf ', {"role": "user", "content": "And what size?"}]'
} >before.json
host run --model "$demo" --quiet --messages before.json --max-new-tokens 12
check 'a turn has the bits of the whole conversation' "$last" "$(cat out)"
talk "/image $circle\nWhat shape is it?\n/save saved.json\n/reset\n/load saved.json\n/stats\nWhat shape is it?\n" --model "$demo" --quiet
check 'an image' circle "$(head -n 1 out)"
has 'an image: saved with its file' "\"path\": \"$circle\"" saved.json
check 'an image: loaded' 0 "$status"
talk '"""\nWhat shape\nis it?\n"""\nWhat \\\ncolor?\n//x\n/save saved.json\n' --model "$demo" --quiet
check 'several lines' '"content": "What shape\nis it?" "content": "What \ncolor?" "content": "/x"' \
    "$(grep -A 1 '"role": "user"' saved.json | grep -o '"content": ".*"' | tr '\n' ' ' | sed 's/ $//')"
talk '' --model "$demo" --quiet --messages before.json --max-new-tokens 12
check 'a file that ends with a question: it is answered' "$last" "$(cat out)"
talk '/load before.json\n' --model "$demo" --quiet --max-new-tokens 12
check 'likewise, loaded' "$last" "$(cat out)"
talk 'One\n/reset\n/system Be\n/save saved.json\n/system Not\n/save again.json\n' --model "$demo" --quiet --system Was
check 'the system is replaced' '"content": "Be" "content": "Not"' \
    "$(grep -ho '"content": ".*"' saved.json again.json | tr '\n' ' ' | sed 's/ $//')"
talk '/plugins\n/help\n/exit\nnever\n' --model "$demo" --quiet
has 'plugins' 'no plugins are loaded' out
has 'help' '/save    FILE' out
check 'exit' "0 no" "$status $(grep -q never out && echo yes || echo no)"
talk '/plan\n' --model "$demo" --quiet
has 'the plan' 'replaced   nothing' err
talk '/nope\nHi\n' --model "$demo"
refused 'an unknown command' 2 'no such command: /nope; see /help'
check 'an unknown command, not from a terminal: the end' '' "$(cat out)"
talk '/image nowhere.png\n' --model "$demo"
refused 'an image that is not there' 5 'nowhere.png: cannot be opened'
talk '/save\n' --model "$demo"
refused 'a command without its file' 2 'save: expected FILE after it'

# Thoughts are kept apart.
printf '%s' "{% for m in messages %}{{ m.content }}{% endfor %}{% if add_generation_prompt %}<think>{% endif %}" >own/chat_template.jinja
talk 'Hi\n/save saved.json\n' --model own --quiet --max-new-tokens 4
has 'a thought that the template opened' '"reasoning_content": "' saved.json
has 'likewise: nothing was said' '"content": ""' saved.json

# Ctrl-C ends an answer, and not the program.
mkfifo lines
rm out
timeout 60 "$program" chat --model "$demo" --quiet --min-new-tokens 1000000 <lines >out 2>err &
pid=$!
exec 3>lines
echo 'What shape is it?' >&3
i=0
while [ ! -s out ] && [ "$i" -lt 300 ]; do
    sleep 0.1
    i=$((i + 1))
done
inner=$(grep -ls "^PPid:[[:space:]]*$pid\$" /proc/[0-9]*/status | sed 's|/proc/||; s|/status||')
kill -INT "$inner"
while ! grep -q ' (ended)' out && [ "$i" -lt 600 ]; do
    sleep 0.1
    i=$((i + 1))
done
printf '/stats\n' >&3
exec 3>&-
wait "$pid"
check 'interrupted: the program ends well' 0 "$?"
has 'interrupted: the answer says so' ' (ended)' out
has 'interrupted: and the conversation goes on' 'messages: 2' out

if script -qec true /dev/null >/dev/null 2>&1; then
    printf 'What shape is it?\n/exit\n' | script -qec "'$program' chat --model '$demo'" /dev/null >seen
    has 'a terminal: what there is to do' '/help lists commands' seen
    has 'a terminal: a sign that a line is waited for' '> ' seen
    printf 'Hi\n/exit\n' | TERM=xterm script -qec "'$program' chat --model own --max-new-tokens 4" /dev/null >seen
    has 'a terminal: thoughts are dimmed' "$(printf '\033[2m')" seen
fi
echo "1..$number"
exit "$failed"
