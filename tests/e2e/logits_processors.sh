#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Logits processors of plugins, and fields of generation_config.json as options: what is generated, shown and refused.
# Reports in TAP.
# usage: logits_processors.sh HOST GOLDENS TOKEN_BIAS TOLD_IDS     an example of the SDK; a plugin for tests
set -u
. "$(dirname "$0")/../tap.sh"
host=$(realpath "$1")
model=$(realpath "$2")/plain/llama
bias=$(realpath "$3")
told=$(realpath "$4")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/plugins" && cp "$bias" "$told" "$scratch/plugins/" && cd "$scratch" || exit 1

# Runs the program on a batch of two prompts, so that it likes to repeat itself: out, err and $status. One that hangs fails.
run() {
    status=0
    timeout 120 "$host" --quiet --model "$model" --dtype float32 --output-ids --max-new-tokens 8 --plugins-dir plugins \
        --repetition-penalty 0.6 \
        --input-ids 580,573,88,268,460,77 --input-ids 5,6 "$@" >out 2>err </dev/null || status=$?
}

same() { # same WHAT THESE -- THOSE: options with the same result, which is not that of none
    what=$1 these='' those='' side=1
    shift
    for word; do
        case $word in
        --) side=2 ;;
        *) if [ $side = 1 ]; then these="$these $word"; else those="$those $word"; fi ;;
        esac
    done
    # shellcheck disable=SC2086 # words
    run $these
    cp out these
    check "$what: exit status" 0 "$status"
    # shellcheck disable=SC2086 # words
    run $those
    check "$what: the same" "0:$(cat out)" "$status:$(cat these)"
    check "$what: it does something" yes "$(cmp -s these plain && echo no || echo yes)"
}

refuses() { # refuses WHAT STATUS TEXT OPTIONS...: one line with the text
    what=$1 wanted=$2 text=$3
    shift 3
    run "$@"
    check "$what: exit status" "$wanted" "$status"
    check "$what: one line" 1 "$(wc -l <err)"
    has "$what: says why" "$text" err
}

run
cp out plain

# What they do, alone, in order, with guesses, beams and guidance
list='--plugin-option token_bias.list=357:-9,64:2.5'
same 'a bias list' --logits-processor token_bias "$list" -- --sequence-bias '[[[357],-9],[[64],2.5]]'
for way in '--seed 1' '--speculate 4' '--num-beams 3' '--guidance-scale 2' '--do-sample true --seed 3 --top-k 9' \
    '--do-sample true --seed 3 --num-beams 2 --num-return-sequences 2' '--do-sample true --seed 3 --num-return-sequences 3'; do
    # shellcheck disable=SC2086 # words
    {
        same "states, $way" --logits-processor told $way -- --no-repeat-ngram-size 1 $way
        same "states made anew, $way" --logits-processor told_anew --logits-processor token_bias $list $way -- \
            --no-repeat-ngram-size 1 --sequence-bias '[[[357],-9],[[64],2.5]]' $way
    }
done

# What is shown
"$host" list --plugins-dir plugins >out 2>err
has 'list names them' 'provides logits processor told, logits processor told_anew, logits processor fails' out
"$host" inspect plugins/told_ids.so --json >out 2>err
has 'inspect shows them' '"interface": "graft.logits_processor/1"' out

# What is refused
refuses 'an unknown one' 2 '--logits-processor: there is no logits processor "bias"; known: ' --logits-processor bias
refuses 'one that fails' 1 'told_ids: logits processor fails: two tokens are enough' --logits-processor fails
refuses 'a list that is none' 3 'option list: expected up to 64 of ID:BIAS' --logits-processor token_bias \
    --plugin-option token_bias.list=5
refuses 'a token that is none' 2 'option list: token 9999 is outside the vocabulary of 583' --logits-processor token_bias \
    --plugin-option token_bias.list=9999:1
refuses 'a value out of range' 2 'graft: --min-p: expected 0 to 1, got 2' --min-p 2
refuses 'a value that is none' 2 'graft: --suppress-tokens: not valid JSON' --suppress-tokens 1,a
refuses 'an id that is none' 2 'graft: --bad-words-ids: token id 583 is outside' --bad-words-ids '[[583]]'
refuses 'greedy results' 2 '--num-return-sequences: greedy decoding gives one result' --num-return-sequences 2
refuses 'more results than beams' 2 '--num-return-sequences: 3 results cannot be had from 2 beams' --num-return-sequences 3 --num-beams 2
refuses 'beams with guidance' 2 '--guidance-scale: guidance together with num_beams is not supported' --num-beams 2 --guidance-scale 2

# The file decides, and its faults are named.
mkdir model && ln -s "$model"/*.safetensors "$model"/config.json model/
with() { # with JSON OPTIONS...
    echo "$1" >model/generation_config.json
    shift
    status=0
    timeout 120 "$host" --quiet --model model --no-plugins --dtype float32 --output-ids --input-ids 5,6 "$@" >out 2>err \
        </dev/null || status=$?
}
with '{"max_length": 5}'
check 'max_length: three tokens after two' "0:3" "$status:$(tr ',' '\n' <out | grep -c .)"
with '{"max_length": 5}' --max-new-tokens 4
check 'an option goes before it' "0:4" "$status:$(tr ',' '\n' <out | grep -c .)"
with '{"max_new_tokens": 2, "max_length": 9}' --max-length 6
check 'max_length as an option goes before max_new_tokens of the file' "0:4" "$status:$(tr ',' '\n' <out | grep -c .)"
with '{"max_length": 2}'
check 'a prompt that long' 2 "$status"
has 'a prompt that long: says why' 'the prompt has 2 tokens, but max_length allows 2, new ones included' err
with '{"watermarking_config": {}}'
check 'what is not done' 4 "$status"
has 'what is not done: names file and field' 'model/generation_config.json: watermarking_config: this way of generating is not supported' err
with '{"bad_words_ids": [[583]]}'
check 'ids of the file' 4 "$status"
has 'ids of the file: names file and field' 'model/generation_config.json: bad_words_ids: token id 583 is outside' err
with '{"stop_strings": ["x"]}'
check 'stop strings without a tokenizer' 4 "$status"
has 'stop strings without a tokenizer: names both' 'stop-strings: model: there is no tokenizer.json' err
echo "1..$number"
exit "$failed"
