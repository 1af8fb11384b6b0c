# To be sourced by the tests of plugins for quantized formats: test.sh HOST PLUGINS_FOLDER GOLDENS_FOLDER. A checkpoint of
# the goldens is copied to $scratch/model, edited and run. $sound is the one that is copied unless another is named; with
# $one_line=1 its config.json is one line, so that an edit may reach from one field to another.
# shellcheck shell=sh disable=SC2034,SC2119,SC2120,SC2154 # variables are read and set by the tests
# shellcheck source=scratch.sh
. "$(dirname "$0")/../../tests/scratch.sh"
host=$1 plugins=$2 goldens=$3 apart='' one_line=''

fresh() { # fresh [CASE]: a sound checkpoint
    rm -rf "$scratch/model"
    cp -r "$goldens/quantized/${1:-$sound}" "$scratch/model"
    chmod -R u+w "$scratch/model"
    if [ "$one_line" = 1 ]; then
        tr -d '\n' <"$scratch/model/config.json" >"$scratch/line"
        cp "$scratch/line" "$scratch/model/config.json"
    fi
}

run() {
    "$host" --quiet --plugins-dir "$plugins" --model "$scratch/model" --input-ids 1,2,3 --max-new-tokens 4 --output-ids \
        "$@"
}

plan() { # plan [OPTION...]: into $scratch/plan
    "$host" plan --plugins-dir "$plugins" --model "$scratch/model" "$@" >"$scratch/plan"
}

says() { # says PATTERN: a line of the plan
    grep -q "$1" "$scratch/plan" || fail "the plan lacks \"$1\": $(cat "$scratch/plan")"
}

threads() { # the ids, as $one, which are the same with other numbers of threads
    one=$(run --threads 1)
    [ "$one" = "$(run --threads 3)" ] || fail 'differs with the number of threads'
}

same() { # same WHAT [OPTION...]: the ids are $one still
    what=$1
    shift
    [ "$(run "$@")" = "$one" ] || fail "$what: another result"
}

refused() { # refused WORDS...: exit status 4, and one line with a file and each of the words; with plugin $apart alone
    status=0
    run ${apart:+--plugins "$apart"} >"$scratch/out" 2>&1 || status=$?
    [ "$status" = 4 ] || fail "exit status $status instead of 4: $(cat "$scratch/out")"
    [ "$(grep -vc '^hint: ' "$scratch/out")" = 1 ] || fail "not one line: $(cat "$scratch/out")"
    grep -q '[^ ]*\.\(json\|safetensors\): ' "$scratch/out" || fail "no file in: $(cat "$scratch/out")"
    for words; do
        grep -qF "$words" "$scratch/out" || fail "no \"$words\" in: $(cat "$scratch/out")"
    done
}

edited() { # edited FILE FROM TO: an edit of a file of the model, of each line, that must change something
    LC_ALL=C sed "s/$2/$3/g" "$scratch/model/$1" >"$scratch/edited"
    cmp -s "$scratch/edited" "$scratch/model/$1" && fail "$2 is not in $1"
    cp "$scratch/edited" "$scratch/model/$1"
}

weights() { # weights FROM TO: an edit of names of tensors and what is said of them, as long as each other
    edited model.safetensors "$@"
}

config() { # config FROM TO: an edit of the sound config.json
    fresh
    edited config.json "$@"
}

bad() { # bad FROM TO WORDS...: with that edit of config.json, `refused`
    config "$1" "$2"
    shift 2
    refused "$@"
}

spoilt() { # spoilt FROM TO WORDS...: with that edit of the weights, `refused`
    fresh
    weights "$1" "$2"
    shift 2
    refused "$@"
}

panels() { # more tokens at once than read the codes: in bf16 where float32 is not asked for
    fresh
    tr -d '\n ' <"$goldens/quantized/$sound/golden.json" >"$scratch/golden"
    input_ids=$(sed 's/.*"input_ids":\[\([0-9,]*\)\].*/\1/' "$scratch/golden")
    greedy_ids=$(sed 's/.*"greedy_ids":\[\([0-9,]*\)\].*/\1/' "$scratch/golden")
    for dtype in auto float32; do
        [ "$("$host" --quiet --plugins-dir "$plugins" --model "$scratch/model" --max-new-tokens 4 --output-ids \
            --input-ids "$input_ids,$(echo "$greedy_ids" | cut -d , -f 1-8)" --dtype "$dtype")" = \
            "$(echo "$greedy_ids" | cut -d , -f 9-12)" ] || fail "other ids with --dtype $dtype"
    done
}

sharded() { # sharded SIZE PATTERN: the same ids in shards of that size, which split the module of these tensors
    fresh
    one=$(run)
    "$host" save --quiet --plugins-dir "$plugins" --model "$scratch/model" --output "$scratch/sharded" --max-shard-size "$1"
    grep -o "\"$2\": *\"[^\"]*\"" "$scratch/sharded/model.safetensors.index.json" | sed 's/.*: *//' | sort -u >"$scratch/files"
    [ "$(wc -l <"$scratch/files")" -gt 1 ] || fail "$2 is in one file"
    rm -rf "$scratch/model" && mv "$scratch/sharded" "$scratch/model"
    same 'in shards'
}

offset_of() { # offset_of TENSOR: where its bytes begin in the file
    file=$scratch/model/model.safetensors
    length=$(od -An -t u8 -N 8 "$file" | tr -d ' ')
    head -c $((8 + length)) "$file" | grep -ao "\"$1\":{[^}]*\"data_offsets\":\[[0-9]*" | sed 's/.*\[//' |
        awk -v header="$length" '{ print 8 + header + $1 }'
}

poke() { # poke TENSOR BYTES [AT]: at the tensor's start or AT bytes after it, as printf has them
    at=$(offset_of "$1")
    # shellcheck disable=SC2059 # the format is the bytes
    printf "$2" | dd of="$scratch/model/model.safetensors" bs=1 seek=$((at + ${3:-0})) conv=notrunc 2>/dev/null
}
