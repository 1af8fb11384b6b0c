#!/bin/sh
# The example on a small llama: each request gets what the program generates for it alone, whoever runs with it.
# usage: test.sh HOST LLAMA_FOLDER SERVE
set -eu
host=$1 model=$2 serve=$3
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

ids() { # ids NEW-TOKENS PROMPT
    "$host" run --model "$model" --report none --quiet --output-ids --max-new-tokens "$1" --input-ids "$2"
}
tokens() { # tokens NAME: what a request got
    sed -n "s/^$1 \([0-9]*\)$/\1/p" "$scratch/out" | paste -sd, -
}
{
    echo 'a 9 580,573,88'
    echo 'b 4 1,5,9,2,7'
    echo 'c 3 3,4'
    echo 'gone 500 8'
    echo 'gone stop'
    echo 'bad 3 1,583'
    echo 'worse 3 1,x'
    echo 'zero 0 1'
    sleep 0.2
    echo 'a-again 9 580,573,88'
    echo 'nobody stop'
    # What is no request, and the ones behind it.
    printf 'nul 2 5\0,6\nbehind-nul 2 5\n'
    printf '\0start 2 5\nbehind-start 2 5\n'
    printf 'long 2 '
    head -c 3000000 /dev/zero | tr '\0' 1
    printf '\nbehind-long 2 5\n'
    echo 'wide 2 4294967301'
    echo 'many 4294967301 5'
    echo 'negative -3 5'
    echo 'lone'
    echo 'none 3'
    printf '%070d 3 5\n' 0
    printf 'last 2 5'
} | "$serve" "$model" >"$scratch/out"
[ "$(tokens a)" = "$(ids 9 580,573,88)" ]
[ "$(tokens a-again)" = "$(ids 9 580,573,88)" ]
[ "$(tokens b)" = "$(ids 4 1,5,9,2,7)" ]
[ "$(tokens c)" = "$(ids 3 3,4)" ]
for name in behind-nul behind-start behind-long last; do
    [ "$(tokens "$name")" = "$(ids 2 5)" ] || { echo "lost: $name"; cat "$scratch/out"; exit 1; }
done
for line in 'a end length' 'gone end stopped' "bad error prompt: token id 583 is outside the model's vocabulary of 583" \
    'worse error expected ids like 1,2,3' 'zero error max_new_tokens: out of range' \
    'nobody error there is no such request' 'nul error the line holds a NUL byte' \
    '? error expected a name of at most 63 bytes' 'long error the line is longer than 1048574 bytes' \
    'wide error expected ids like 1,2,3' 'many error expected how many tokens to make, or stop' \
    'negative error expected how many tokens to make, or stop' 'lone error expected how many tokens to make, or stop' \
    'none error expected ids like 1,2,3'; do
    grep -qxF "$line" "$scratch/out" || { echo "missing: $line"; cat "$scratch/out"; exit 1; }
done
