# To be sourced by the tests of plugins for quantized formats: test.sh HOST PLUGINS_FOLDER GOLDENS_FOLDER. A checkpoint of
# the goldens is copied to $scratch/model, edited and run. $sound is the one that is copied unless another is named.
# shellcheck shell=sh disable=SC2034,SC2119,SC2120,SC2154 # variables are read and set by the tests
# shellcheck source=scratch.sh
. "$(dirname "$0")/../../tests/scratch.sh"
host=$1 plugins=$2 goldens=$3

fresh() { # fresh [CASE]: a sound checkpoint
    rm -rf "$scratch/model"
    cp -r "$goldens/quantized/${1:-$sound}" "$scratch/model"
    chmod -R u+w "$scratch/model"
}

run() {
    "$host" --quiet --plugins-dir "$plugins" --model "$scratch/model" --input-ids 1,2,3 --max-new-tokens 4 --output-ids \
        "$@"
}

refused() { # refused WORDS...: exit status 4, and one line with a file and each of the words
    status=0
    run >"$scratch/out" 2>&1 || status=$?
    [ "$status" = 4 ] || fail "exit status $status instead of 4: $(cat "$scratch/out")"
    [ "$(grep -vc '^hint: ' "$scratch/out")" = 1 ] || fail "not one line: $(cat "$scratch/out")"
    grep -q '[^ ]*\.\(json\|safetensors\): ' "$scratch/out" || fail "no file in: $(cat "$scratch/out")"
    for words; do
        grep -qF "$words" "$scratch/out" || fail "no \"$words\" in: $(cat "$scratch/out")"
    done
}

config() { # config FROM TO [CASE]: an edit of config.json that must change something
    fresh "${3:-}"
    sed "s/$1/$2/" "$scratch/model/config.json" >"$scratch/edited"
    cmp -s "$scratch/edited" "$scratch/model/config.json" && fail "$1 is not in config.json"
    cp "$scratch/edited" "$scratch/model/config.json"
}

offset_of() { # offset_of TENSOR: where its bytes begin in the file
    file=$scratch/model/model.safetensors
    length=$(od -An -t u8 -N 8 "$file" | tr -d ' ')
    head -c $((8 + length)) "$file" | grep -ao "\"$1\":{[^}]*\"data_offsets\":\[[0-9]*" | sed 's/.*\[//' |
        awk -v header="$length" '{ print 8 + header + $1 }'
}

poke() { # poke TENSOR BYTES: at the tensor's start, as printf has them
    at=$(offset_of "$1")
    # shellcheck disable=SC2059 # the format is the bytes
    printf "$2" | dd of="$scratch/model/model.safetensors" bs=1 seek="$at" conv=notrunc 2>/dev/null
}
