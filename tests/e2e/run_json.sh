#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# run --json of models that generate: ids, texts, how probable tokens were, why sequences end. Reports in TAP.
# usage: run_json.sh HOST ROOT BERT     BERT is a masked language model
set -u
. "$(dirname "$0")/../tap.sh"
program=$(realpath "$1")
root=$(realpath "$2")
bert=$(realpath "$3")
demo=$root/demo/tiny-qwen2-moe
llama=$root/tests/goldens/plain/llama
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1

# Runs the program: out, err, the document on one line in `json`, and $status. One that hangs fails.
host() {
    status=0
    timeout 120 "$program" run --quiet "$@" >out 2>err </dev/null || status=$?
    tr -d ' \n' <out >json
}

# An array of numbers, "a,b,c", from a JSON file.
numbers() { # numbers FILE KEY
    tr -d ' \n' <"$1" | sed "s/.*\"$2\":\[\([0-9,]*\)\].*/\1/"
}

# What each sequence has under a key: arrays without their brackets, strings without their quotes.
values() { # values KEY
    grep -o "\"$1\":\(\[[0-9,]*\]\|\"[^\"]*\"\|[0-9]*\)" json | sed 's/^[^:]*://; s/^[["]//; s/[]"]$//'
}

question='The opposite of hot is'
host --model "$demo" --prompt "$question"
text=$(cat out)
host --model "$demo" --prompt "$question" --output-ids
ids=$(cat out)
host --model "$demo" --prompt "$question" --json
check 'a text: exit status' 0 "$status"
check 'a text: ids' "$ids" "$(values ids)"
has 'a text: the text' "\"text\": \"$text\"" out
check 'a text: how it ends' stop "$(values finish_reason)"
check 'a text: tokens of the prompt' 5 "$(values prompt_tokens | head -n 1)"
check 'a text: no probabilities' 0 "$(grep -c logprob out)"
for key in load_seconds prompt_seconds generation_seconds new_tokens prompt_tokens_per_second; do
    check "timings: $key" 1 "$(grep -c "\"$key\": [0-9]" out)"
done
check 'timings: new tokens' 3 "$(values new_tokens)"
host --model "$demo" --prompt "$question" --json --keep-special-tokens
has 'special tokens: kept' "\"text\": \"$text<|endoftext|>\"" out
host --model "$demo" --prompt "$question" --keep-special-tokens
check 'special tokens: kept in text' "$text<|endoftext|>" "$(cat out)"
host --model "$demo" --prompt "$question" --prompt "$question" --keep-special-tokens
check 'special tokens: kept in texts' "$text<|endoftext|> $text<|endoftext|>" "$(paste -s -d ' ' out)"
host --model "$demo" --prompt "$question" --prompt 'The' --json --max-new-tokens 2
check 'several: how they end' 'length length' "$(values finish_reason | paste -s -d ' ')"
check 'several: tokens of the prompts' '5 1 6' "$(values prompt_tokens | paste -s -d ' ')"
host --model "$demo" --prompt "$question" --json --max-new-tokens 0
check 'no new tokens: exit status' 0 "$status"
has 'no new tokens: an empty text' '"text": ""' out
has 'no new tokens: no speed' '"generation_tokens_per_second": null' out

# The reference's logits of each greedy step.
prompt=$(numbers "$llama/golden.json" input_ids)
header=$(od -An -tu8 -N8 "$llama/golden.safetensors" | tr -d ' ')
layout=$(head -c $((header + 8)) "$llama/golden.safetensors" | grep -ao '"greedy_logits":{[^}]*}')
vocab=$(echo "$layout" | sed 's/.*"shape":\[[0-9]*,\([0-9]*\)\].*/\1/')
offset=$(echo "$layout" | sed 's/.*"data_offsets":\[\([0-9]*\),.*/\1/')
tail -c +$((header + 9 + offset)) "$llama/golden.safetensors" | head -c $((8 * vocab * 4)) |
    od -An -v -tf4 -w$((vocab * 4)) >rows

# differ N_TOP: lines about what of the probabilities in `json` is not as the reference has it; 8 tokens
differ() {
    grep -o '"id":[0-9]*,"logprob":[-0-9.e]*' json | sed 's/"id"://; s/,"logprob":/ /' >pairs
    awk -v top="$1" '
        function complain(what) { print "token " (row + 1) ": " what; bad = 1 }
        NR == FNR { for (i = 1; i <= NF; i++) logits[NR - 1, i - 1] = $i; size = NF; next }
        {
            at = (FNR - 1) % (1 + top)
            row = (FNR - 1 - at) / (1 + top)
            if (at == 0) {
                largest = -1e30; sum = 0
                for (i = 0; i < size; i++) if (logits[row, i] > largest) largest = logits[row, i]
                for (i = 0; i < size; i++) sum += exp(logits[row, i] - largest)
            }
            wanted = logits[row, $1] - largest - log(sum)
            if (wanted - $2 > 5e-5 || $2 - wanted > 5e-5) complain("id " $1 ": " $2 ", wanted " wanted)
            if (at == 1) before = 1e30
            if (at >= 1 && $2 > before) complain("the most probable ones are not in order")
            if (at >= 1) before = $2
            if (at == top) {
                above = 0
                for (i = 0; i < size; i++) above += logits[row, i] - largest - log(sum) > $2 + 5e-5
                if (above > top) complain("more probable ones are left out")
            }
        }
        END { if (FNR != 8 * (1 + top)) print FNR " lines" }' rows pairs
}
for top in 0 1 5 583; do
    host --model "$llama" --dtype float32 --input-ids "$prompt" --max-new-tokens 8 --output-ids --json --logprobs $top
    check "probabilities, $top: exit status" 0 "$status"
    check "probabilities, $top: as the reference has them" '' "$(differ $top)"
    check "probabilities, $top: of the ids" "$(values ids)" \
        "$(awk -v n=$((1 + top)) 'NR % n == 1 % n { print $1 }' pairs | paste -s -d ,)"
done
host --model "$llama" --dtype float32 --input-ids "$prompt" --max-new-tokens 8 --output-ids --json --logprobs 600
check 'probabilities: no more than tokens' '' "$(differ 583)"
host --model "$llama" --dtype float32 --input-ids "$prompt" --max-new-tokens 1 --output-ids --json --logprobs 3
grep -o '"top":.*' json | sed 's/],"timings.*//; s/}]}//' >plain
host --model "$llama" --dtype float32 --input-ids "$prompt" --max-new-tokens 1 --output-ids --json --logprobs 3 \
    --repetition-penalty 3 --temperature 9 --top-k 2 --seed 1
grep -o '"top":.*' json | sed 's/],"timings.*//; s/}]}//' >sampled
check 'probabilities: the model'"'"'s own, however tokens are chosen' "$(cat plain)" "$(cat sampled)"
check 'probabilities: there were some' 3 "$(grep -o logprob plain | wc -l | tr -d ' ')"
host --model "$demo" --prompt "$question" --json --logprobs 1
has 'probabilities: tokens as the vocabulary spells them' '"token": "Ġcold"' out
host --model "$demo" --prompt "$question" --json --logprobs 1 --speculate 4
check 'probabilities: of guessed tokens, too' 3 "$(grep -c '"top":' out)"

host --model "$demo" --prompt "$question" --logprobs 1
check 'probabilities without --json: exit status' 2 "$status"
has 'probabilities without --json: says so' '--logprobs: needs --json' err
host --model "$demo" --prompt "$question" --json --logprobs 1 --num-beams 2
check 'probabilities of beams: exit status' 2 "$status"
has 'probabilities of beams: says why' '--logprobs: cannot be combined with beams' err
host --model "$demo" --prompt 'The' --prompt "$question" --json --num-beams 2 --num-return-sequences 2 --max-new-tokens 2
check 'several results: of each prompt' '0 0 1 1' "$(values prompt | paste -s -d ' ')"
has 'several results: no time of the prompts' '"prompt_seconds": null' out
has 'several results: the best beam first' "\"text\": \"$text\"" out
host --model "$demo" --prompt "$question" --json --logprobs 1001
check 'too many probabilities: exit status' 2 "$status"
for option in '--logprobs 1' --keep-special-tokens; do
    # shellcheck disable=SC2086 # words
    host --model "$bert" --input-ids 1,2 --json $option
    check "an encoder, $option: exit status" 2 "$status"
    has "an encoder, $option: says why" "${option% *}: is for models that generate text" err
done

# A chat model that is not spoken to in turns.
cp -r "$demo" chat && chmod -R u+w chat
first=$(echo "$ids" | cut -d , -f 1)
printf '{"eos_token_id": %s}\n' "$first" >chat/generation_config.json
said() { # said: whether the hint is there
    timeout 120 "$program" run --report none --model chat --prompt "$question" "$@" >out 2>err </dev/null
    grep -c 'ended at once; the model has a chat template' err
}
check 'no template: no hint' 0 "$(said)"
echo "{% for message in messages %}{{ message['content'] }}{% endfor %}" >chat/chat_template.jinja
check 'a template: a hint' 1 "$(said)"
has 'a template: the hint has the way out' 'ask with --message user:TEXT' err
check 'a template: one line' 1 "$(wc -l <err | tr -d ' ')"
check 'a template, --quiet: no hint' 0 "$(said --quiet)"
printf '{"eos_token_id": %s}\n' "$(echo "$ids" | cut -d , -f 2)" >chat/generation_config.json
check 'a template, and an answer: no hint' 0 "$(said)"
echo "1..$number"
exit "$failed"
