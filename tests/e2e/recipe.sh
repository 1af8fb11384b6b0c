# Sourced by run_bad.sh before a case's fault, in a folder with a sound model in model/.
# shellcheck shell=sh disable=SC2154 # $goldens and $host are given

# start_from NAME: another golden instead.
start_from() {
    rm -rf model
    mkdir model
    cp -r "$goldens/$1/." model
    rm -f model/golden.*
}

# A vision model and a picture for it.
start_with_picture() {
    start_from ../vision/qwen2_vl_two_images
    cp "$goldens/../images/rgb_up.png" picture.png
    cp "$goldens/../images/preprocessor_config.json" model/
    edit model/preprocessor_config.json 's/"temporal_patch_size": 1/"temporal_patch_size": 2/'
}

skip() {
    echo "$1" >&2
    exit 77
}

# edit FILE SCRIPT: with sed; a script that changes nothing is a mistake in the case.
edit() {
    LC_ALL=C sed "$2" "$1" >edited
    if cmp -s "$1" edited; then
        echo "the case: nothing in $1 changed by $2" >&2
        exit 1
    fi
    mv edited "$1"
}

# config KEY VALUE: a field of config.json that stands on a line of its own.
config() {
    edit model/config.json "s/^\(  \"$1\": \)[^,]*/\1$2/"
}

without() {
    edit model/config.json "/^  \"$1\": /d"
}

# A number as the 8 bytes at the start of a safetensors file.
length_bytes() {
    rest=$1
    for _ in 1 2 3 4 5 6 7 8; do
        # shellcheck disable=SC2059 # the format is the byte
        printf "\\$(printf %03o $((rest % 256)))"
        rest=$((rest / 256))
    done
}

# header SCRIPT [FILE]: edits the header of a safetensors file; its length follows, the data stay.
header() {
    file=${2:-model/model.safetensors}
    length=$(($(od -An -tu8 -N8 "$file")))
    tail -c +9 "$file" | head -c "$length" >header
    tail -c "+$((9 + length))" "$file" >data
    edit header "$1"
    { length_bytes "$(wc -c <header)" && cat header data; } >"$file"
    rm header data
}

# put_header TEXT: a safetensors file with this header and no data.
put_header() {
    { length_bytes "${#1}" && printf %s "$1"; } >model/model.safetensors
}

# values HEADER BYTES: values.safetensors with so many zeros.
values() {
    { length_bytes "${#1}" && printf %s "$1" && head -c "$2" /dev/zero; } >values.safetensors
}

# grid T H W: as they are in a tensor.
grid() {
    for number; do length_bytes "$number"; done
}

# lock SCRIPT: a sound model.lock without plugins, edited.
lock() {
    "$host" plan --quiet --model model --lock model.lock >/dev/null
    edit model.lock "$1"
}

# lock_plugin FIELDS [SHA256]: a lock with one plugin.
lock_plugin() {
    lock "s/\"plugins\": \[\]/\"plugins\": [{$(printf %s "$1" | sed 's/\\/\\\\/g'), \"sha256\": \"${2:-$(printf %064d 0)}\"}]/"
}
