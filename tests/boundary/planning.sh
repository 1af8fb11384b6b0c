#!/bin/sh
# What plugins cost where a model does not concern them, in instructions: planning a mixture of experts whose modules one
# plugin replaces by the thousand, with that plugin alone and with all that ship. What is asked of every module costs as
# many times as there are modules; what is asked once a model does not show. Reports in TAP.
# usage: planning.sh HOST MODEL PLUGINS...     MODEL is a mixtral checkpoint; sequential_experts.so is among the plugins
set -u
. "$(dirname "$0")/../tap.sh"
host=$(realpath "$1")
model=$(realpath "$2")
shift 2
if ! command -v valgrind >/dev/null 2>&1; then
    echo '1..0 # SKIP valgrind is not installed: nothing here counts instructions'
    exit 0
fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/alone" "$scratch/all"
cp "$@" "$scratch/all/"
cp "$scratch/all/sequential_experts.so" "$scratch/alone/"
cd "$scratch" || exit 1

enlarge() { # enlarge NAME LAYERS EXPERTS: a config that says so, beside the weights of the small model
    mkdir "$1"
    ln -s "$model/model.safetensors" "$1/model.safetensors"
    sed -e "s/\"num_hidden_layers\": [0-9]*/\"num_hidden_layers\": $2/" \
        -e "s/\"num_local_experts\": [0-9]*/\"num_local_experts\": $3/" "$model/config.json" >"$1/config.json"
}
enlarge small 2 16
enlarge large 10 16
enlarge huge 1000 330

count() { # count FOLDER MODEL: the instructions of planning it with the plugins of a folder
    valgrind --tool=callgrind --callgrind-out-file=/dev/null "$host" plan --quiet --plugins-dir "$1" --model "$2" \
        >out 2>log
    sed -n 's/^==.*Collected *: *//p' log
}
for folder in alone all; do
    "$host" plan --quiet --plugins-dir "$folder" --model small >/dev/null 2>&1 # tries the plugins, if nobody has
done
one=$(($(count alone large) - $(count alone small)))
all=$(($(count all large) - $(count all small)))
echo "# eight layers more: $one instructions with one plugin, $all with all"
check 'something was planned' yes "$(if [ "$one" -gt 1000000 ]; then echo yes; else cat log; fi)"
modules=$((8 * 16 * 5)) # of each expert: itself, three projections, an activation
check 'a module takes less than 45,000 instructions' yes \
    "$(if [ "$one" -lt $((modules * 45000)) ]; then echo yes; else echo "$((one / modules))"; fi)"
check 'all plugins take less than half more than one' yes \
    "$(if [ $((all * 2)) -lt $((one * 3)) ]; then echo yes; else echo "$all, not $one"; fi)"

# A few numbers in a config.json ask for a million modules.
timeout 60 "$host" plan --quiet --plugins-dir all --model huge >out 2>log
check 'more modules than the checkpoint has room for: exit status' 4 $?
check 'more modules than the checkpoint has room for: the file is named' 1 \
    "$(grep -c 'huge/config.json: describes more than [0-9]* modules, for which the checkpoint is too small' log)"
echo "1..$number"
exit "$failed"
