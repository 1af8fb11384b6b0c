#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Which directory --model means: its own, a repository of the hub cache, or one whose weights have to be converted first.
# Reports in TAP.
# usage: hub.sh HOST LLAMA SCRIPT     LLAMA is a model directory, SCRIPT share/to_safetensors.py
#
# The conversion itself runs where GRAFT_PYTHON (python3) has torch and safetensors.
set -u
. "$(dirname "$0")/../tap.sh"
program=$(realpath "$1")
llama=$(realpath "$2")
script=$(realpath "$3")
python=${GRAFT_PYTHON:-python3}
scratch=$(realpath "$(mktemp -d)")
trap 'chmod -R u+w "$scratch"; rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
unset HF_HUB_CACHE HUGGINGFACE_HUB_CACHE HF_HOME XDG_CACHE_HOME
mkdir home && export HOME="$scratch/home"

# Runs the program: out, err and $status. One that hangs fails.
host() {
    status=0
    timeout 120 "$program" "$@" >out 2>err </dev/null || status=$?
}

# The ids that a model goes on with; a model that is not found has none.
ids() { # ids MODEL
    host --quiet --model "$1" --input-ids 5,6,7 --max-new-tokens 4 --output-ids
    cat out
}
wanted=$(ids "$llama")
check 'the model itself runs' 4 "$(echo "$wanted" | tr ',' '\n' | wc -l | tr -d ' ')"

# entry FOLDER COMMIT: a repository of the cache, as huggingface_hub lays it out: links to blobs
entry() {
    mkdir -p "$1/blobs" "$1/refs" "$1/snapshots/$2"
    for file in "$llama"/*; do
        cp "$file" "$1/blobs/$2-${file##*/}"
        ln -s "../../blobs/$2-${file##*/}" "$1/snapshots/$2/${file##*/}"
    done
}
first=1111111111111111111111111111111111111111
cache=home/.cache/huggingface/hub
entry "$cache/models--Org--Tiny.Model-1" $first
printf %s $first >"$cache/models--Org--Tiny.Model-1/refs/main"
mkdir -p "$cache/models--Org--Tiny.Model-1/refs/refs/pr"
printf '%s\n' $first >"$cache/models--Org--Tiny.Model-1/refs/refs/pr/1"
entry "$cache/models--old" $first
printf %s $first >"$cache/models--old/refs/main"

check 'a repository' "$wanted" "$(ids Org/Tiny.Model-1)"
check 'a repository without an organisation' "$wanted" "$(ids old)"
check 'a branch' "$wanted" "$(ids Org/Tiny.Model-1@main)"
check 'a reference with slashes, and a line end' "$wanted" "$(ids Org/Tiny.Model-1@refs/pr/1)"
check 'a commit' "$wanted" "$(ids Org/Tiny.Model-1@$first)"
check 'an entry of the cache' "$wanted" "$(ids $cache/models--Org--Tiny.Model-1)"
check 'an entry of the cache, with a slash' "$wanted" "$(ids $cache/models--Org--Tiny.Model-1/)"
check 'a snapshot' "$wanted" "$(ids $cache/models--Org--Tiny.Model-1/snapshots/$first)"
host plan --model Org/Tiny.Model-1
has 'the report names the snapshot' "$scratch/$cache/models--Org--Tiny.Model-1/snapshots/$first: " out

# A directory of that name is meant before a repository.
mkdir -p Org/Tiny.Model-1
host --model Org/Tiny.Model-1
check 'a directory of the same name: exit status' 4 "$status"
has 'a directory of the same name is meant' 'Org/Tiny.Model-1/config.json: cannot be opened' err
rm -r Org

# Where the cache may be.
mv home/.cache/huggingface elsewhere
host --model Org/Tiny.Model-1
check 'no cache: exit status' 4 "$status"
check 'no cache: one line' 1 "$(wc -l <err | tr -d ' ')"
has 'no cache: what was looked for' \
    "looked for $scratch/home/.cache/huggingface/hub/models--Org--Tiny.Model-1" err
has 'no cache: what to do' 'hf download Org/Tiny.Model-1' err
check 'HF_HUB_CACHE' "$wanted" "$(HF_HUB_CACHE=$scratch/elsewhere/hub ids Org/Tiny.Model-1)"
check 'HF_HUB_CACHE goes before HF_HOME' "$wanted" \
    "$(HF_HOME=$scratch/nowhere HF_HUB_CACHE=$scratch/elsewhere/hub ids Org/Tiny.Model-1)"
check 'HF_HOME' "$wanted" "$(HF_HOME=$scratch/elsewhere ids Org/Tiny.Model-1)"
mv elsewhere home/elsewhere
# shellcheck disable=SC2088 # the program expands it
check 'HF_HOME with a tilde' "$wanted" "$(HF_HOME='~/elsewhere' ids Org/Tiny.Model-1)"
mkdir xdg && mv home/elsewhere xdg/huggingface
check 'XDG_CACHE_HOME' "$wanted" "$(XDG_CACHE_HOME=$scratch/xdg ids Org/Tiny.Model-1)"
export XDG_CACHE_HOME="$scratch/xdg"

host --model Org/Tiny.Model-1@v2
check 'no such revision: exit status' 4 "$status"
has 'no such revision: what was looked for' 'looked for refs/v2 and snapshots/v2' err
has 'no such revision: what there is' "its snapshots: $first" err
printf '../../..' >xdg/huggingface/hub/models--old/refs/main
host --model old
check 'a reference that leads out: exit status' 4 "$status"
has 'a reference that leads out: refused' 'models--old/refs/main: expected a commit, got "../../.."' err
for name in ./Org/Tiny.Model-1 a/b/c Org/Tiny.Model-1@../main Org/.. -/x Org/; do
    host --model="$name"
    check "no repository's name, '$name': exit status" 4 "$status"
    check "no repository's name, '$name': one line" "$(basename "$program"): $name: no such directory" "$(cat err)"
done

host tokenize --model Org/None
check 'tokenize: looks there, too' 4 "$status"
has 'tokenize: says where' 'models--Org--None' err
host verify --model Org/Tiny.Model-1 --against Org/Tiny.Model-1 --input-ids 5,6,7 --max-new-tokens 0
check 'verify: --against' 0 "$status"
host --model Org/Tiny.Model-1 --adapter Org/Lora
check 'an adapter: exit status' 4 "$status"
has 'an adapter: says where' 'models--Org--Lora' err

# Weights that are not read.
mkdir bin && cp "$program" bin/graft && mkdir -p share/graft && cp "$script" share/graft/
program=$scratch/bin/graft
unread() { # unread FILE...: a directory "it's there" with a config and these files
    rm -rf "it's there" && mkdir "it's there" && cp "$llama/config.json" "it's there/"
    for file; do
        : >"it's there/$file"
    done
    host --model "it's there"
}
command="python3 $scratch/share/graft/to_safetensors.py 'it'\\''s there/"
for file in pytorch_model.bin pytorch_model.bin.index.json b.gguf; do
    unread "$file"
    check "$file: exit status" 4 "$status"
    check "$file: one line" 1 "$(wc -l <err | tr -d ' ')"
    has "$file: the command" "; $file has to be converted to safetensors: $command$file'" err
done
unread b.gguf a.gguf pytorch_model.bin
has 'several: the first of PyTorch' "pytorch_model.bin has to" err
unread b.gguf a.gguf
has 'several: the first by name' "a.gguf has to" err
unread tf_model.h5
has 'TensorFlow: what to do' 'tf_model.h5 is not read: save the model as safetensors' err
rm "it's there"/*
: >"it's there/model.gguf"
host --model "it's there"
has 'a GGUF file alone: the command' "model.gguf has to be converted to safetensors: $command" err
host --model "it's there/model.gguf"
check 'a GGUF file as the model: exit status' 4 "$status"
has 'a GGUF file as the model: the command' "expected a model directory, found a file; model.gguf has to be converted" err
host --model "$llama/model.safetensors"
has 'a safetensors file as the model' 'found a file; name the directory that holds it' err
rm share/graft/to_safetensors.py
host --model "it's there"
check 'without the script: no command' "model.gguf has to be converted to safetensors" "$(sed 's/.*; //' err)"
cp "$script" share/graft/

# And that the command works.
if ! "$python" -c 'import torch, safetensors' 2>/dev/null; then
    echo "# SKIP converting: $python has no torch and safetensors (GRAFT_PYTHON names another)"
    echo "1..$number"
    exit "$failed"
fi
OMP_NUM_THREADS=1 "$python" - "$llama" <<'PYTHON' || exit 1
import os, shutil, sys, json, torch
from safetensors.torch import load_file
llama = sys.argv[1]
state = load_file(llama + "/model.safetensors")
def folder(name):
    os.mkdir(name)
    shutil.copy(llama + "/config.json", name)
    return name + "/"
# Shared storages, a part of a larger one, and an order in memory that is not the tensor's.
odd = dict(state)
odd["lm_head.weight"] = odd["lm_head.weight"].t().contiguous().t()
whole = torch.cat([odd["model.layers.0.mlp.up_proj.weight"], odd["model.layers.0.mlp.gate_proj.weight"]])
n = odd["model.layers.0.mlp.up_proj.weight"].shape[0]
odd["model.layers.0.mlp.up_proj.weight"], odd["model.layers.0.mlp.gate_proj.weight"] = whole[:n], whole[n:]
torch.save(odd, folder("single") + "pytorch_model.bin")
tied = dict(state)
tied["lm_head.weight"] = tied["model.embed_tokens.weight"]
torch.save(tied, folder("tied") + "pytorch_model.bin")
place, names = folder("sharded"), sorted(state)
shards = {"pytorch_model-00001-of-00002.bin": names[::2], "pytorch_model-00002-of-00002.bin": names[1::2]}
for file, these in shards.items():
    torch.save({name: state[name] for name in these}, place + file)
with open(place + "pytorch_model.bin.index.json", "w") as file:
    json.dump({"metadata": {}, "weight_map": {name: f for f, these in shards.items() for name in these}}, file)
PYTHON
convert() { # convert DIR: by the command that the program prints
    host --model "$1"
    sed "s|.*: python3|'$python'|" err >command.sh
    sh ./command.sh >converted 2>&1
}
for name in single sharded tied; do
    convert "$name"
    check "$name: converts" 0 "$?"
done
check 'single: the same ids' "$wanted" "$(ids single)"
host verify --model single --against "$llama" --max-new-tokens 0 --tolerance 0 --input-ids 5,6,7
check 'single: the same bits' 0 "$status"
host verify --model sharded --against "$llama" --max-new-tokens 0 --tolerance 0 --input-ids 5,6,7
check 'sharded: the same bits' 0 "$status"
host plan --model tied --strict
check 'tied: both names are there' 0 "$status"
sh ./command.sh >converted 2>&1
check 'again: refused' 1 "$?"
has 'again: says why' 'exists already' converted
cp -r single other && rm other/model.safetensors && chmod a-w other
"$python" "$script" other/pytorch_model.bin new >converted 2>&1
check 'into another directory' 0 "$?"
check 'into another directory: with its config' "$wanted" "$(ids new)"
echo "1..$number"
exit "$failed"
