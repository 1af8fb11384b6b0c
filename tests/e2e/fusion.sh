#!/bin/sh
# Fusion families as their users meet them: asked for by an option or by config.json, told apart from what does not fit,
# stored on save, and found again. Reports in TAP.
# usage: fusion.sh HOST MODEL PLUGIN     MODEL is a Qwen2-VL, PLUGIN is patch_embed_linear.so
set -u
. "$(dirname "$0")/../tap.sh"
host=$(realpath "$1")
model=$(realpath "$2")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/plugins" && cp "$3" "$scratch/plugins/" && cd "$scratch" || exit 1

has_one() { # has_one WHAT TEXT FILE: just one line of the file holds the text
    check "$1" 1 "$(grep -c -F -e "$2" "$3")"
}

# Runs the program: out, err and $status. One that hangs fails.
host() {
    status=0
    timeout 120 "$host" "$@" >out 2>err </dev/null || status=$?
}

path=$("$host" plan --quiet --model "$model" --json | grep -o '"[a-z.]*patch_embed"' | head -n 1 | tr -d '"')
fused="PatchEmbed -> FusedPatchEmbed: proj is a Conv3d that sees each patch once (1 module: $path)"

# Asked for
host plan --model "$model" --plugins-dir plugins
check 'nothing asked: exit status' 0 "$status"
check 'nothing asked: nothing is fused' '' "$(grep -e fusion -e Fused out)"
host plan --model "$model" --plugins-dir plugins --fusion patch_embeddings
check 'fusion: exit status' 0 "$status"
has_one 'fusion: what, and why' "  fusion     patch_embeddings: $fused" out
has_one 'fusion: the conversion' 'linear_proj.weight: Conv3dToLinear, row blocks' out
has_one 'fusion: no byte is copied' ' 0 bytes copied' out
host plan --model "$model" --plugins-dir plugins --fusion-config '{"patch_embeddings": {"any": "option"}}'
has_one 'fusion-config: an object' "$fused" out
host plan --model "$model" --plugins-dir plugins --fusion-config '{"patch_embeddings": false}'
check 'fusion-config: false' '' "$(grep -e fusion -e Fused out)"
host plan --model "$model" --plugins-dir plugins --fusion patch_embeddings --json
has_one 'plan --json: the module' '"fused_class": "FusedPatchEmbed"' out
has_one 'plan --json: the reason' '"reason": "proj is a Conv3d that sees each patch once"' out

# Refused
host plan --model "$model" --plugins-dir plugins --fusion patch_embedding
check 'unknown family: exit status' 2 "$status"
has_one 'unknown family: lists the known ones' 'no fusion family "patch_embedding"; known: patch_embeddings' err
host plan --model "$model" --plugins-dir plugins --fusion-config '{"patch_embeddings": 1}'
check 'bad value: exit status' 2 "$status"
has_one 'bad value: says what is expected' 'expected true, false or an object of options, got an integer' err

# Saved
cp -r "$model" tuned && cp -r "$model" bent
host save --quiet --model "$model" --plugins-dir plugins --output plain
check 'save without an option: config.json as it was' same "$(cmp "$model/config.json" plain/config.json && echo same)"
host save --quiet --model "$model" --plugins-dir plugins --fusion patch_embeddings --output original
check 'save: exit status' 0 "$status"
check 'save: every byte of the convolution' same \
    "$(cmp "$model/model.safetensors" original/model.safetensors && echo same)"
has_one 'save: what was asked for is stored' '"fusion_config": {"patch_embeddings": true}' original/config.json
check 'save: nothing else in config.json changes' "$(tr -d ' ,\n' <"$model/config.json")" \
    "$(grep -v fusion_config original/config.json | tr -d ' ,\n')"
host plan --model original --plugins-dir plugins
has_one 'saved: fused again' "$fused" out
host plan --model original --plugins-dir plugins --fusion-config '{}'
check 'saved: the option wins' '' "$(grep Fused out)"
host plan --model original
check 'saved, without the plugin: exit status' 4 "$status"
has_one 'saved, without the plugin: what to do' "load the plugin that provides it, or turn fusion off: --fusion-config '{}'" err
host save --quiet --model original --plugins-dir plugins --fusion-config '{}' --output unfused
has_one 'saved again with none: that is stored' '"fusion_config": {}' unfused/config.json

# Saved in the runtime layout
host save --quiet --model original --plugins-dir plugins --runtime-layout --output runtime
check 'runtime layout: exit status' 0 "$status"
check 'runtime layout: the Linear' 1 "$(grep -c -a 'linear_proj.weight' runtime/model.safetensors)"
check 'runtime layout: config.json as it was' same "$(cmp original/config.json runtime/config.json && echo same)"
host plan --model runtime --plugins-dir plugins --strict
check 'runtime layout: loads' 0 "$status"
host save --quiet --model runtime --plugins-dir plugins --output back
check 'runtime layout and back: the same in every byte' same \
    "$(cmp "$model/model.safetensors" back/model.safetensors && echo same)"
host plan --model runtime --fusion-config '{}' --strict
check 'runtime layout, not fused: exit status' 4 "$status"

# What does not fit
sed -i 's/"temporal_patch_size": [0-9]*/"temporal_patch_size": true/' bent/config.json
host plan --model bent --plugins-dir plugins --fusion patch_embeddings
check 'a bad config: exit status' 4 "$status"
sed -i '1s/{/{"fusion_config": {"patch_embeddings": "yes"},/' tuned/config.json
host plan --model tuned --plugins-dir plugins
check 'a bad value in config.json: exit status' 4 "$status"
has_one 'a bad value in config.json: names the file' 'tuned/config.json: fusion_config.patch_embeddings: expected true' err
host plan --model tuned --plugins-dir plugins --fusion patch_embeddings
check 'a bad value in config.json: the option wins' 0 "$status"
echo "1..$number"
exit "$failed"
