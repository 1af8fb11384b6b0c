#!/bin/sh
# The plugin alone, on the models with a vision tower: it takes the patch embedding only when asked, agrees with the
# convolution to the bit, copies nothing, and gives the convolution's tensor back.
# usage: test.sh HOST PLUGINS_FOLDER GOLDENS_FOLDER
set -eu
host=$(realpath "$1") plugins=$(realpath "$2")/patch_embed_linear goldens=$(realpath "$3")/vision
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

header() { # header FILE: of safetensors
    tail -c +9 "$1" | head -c "$(od -An -tu8 -N8 "$1" | tr -d ' ')"
}

bytes() { # bytes N: as 8 bytes, the least first
    rest=$1
    for _ in 1 2 3 4 5 6 7 8; do
        # shellcheck disable=SC2059 # the format is the byte
        printf "\\$(printf %03o $((rest % 256)))"
        rest=$((rest / 256))
    done
}

# The case's pixel_values and image_grid_thw in one file, as --pixel-values wants them.
pixels() { # pixels CASE OUTPUT
    file=$1/golden.safetensors
    place=$(header "$file" | grep -o '"pixel_values":{[^}]*}')
    shape=$(echo "$place" | sed 's/.*"shape":\(\[[^]]*\]\).*/\1/')
    first=$(echo "$place" | sed 's/.*"data_offsets":\[\([0-9]*\),.*/\1/')
    end=$(echo "$place" | sed 's/.*"data_offsets":\[[0-9]*,\([0-9]*\)\].*/\1/')
    grid=$(tr -d ' \n' <"$1/golden.json" | sed 's/.*"image_grid_thw":\[\(\[.*\]\)\],"greedy_ids.*/\1/' | tr -d '[]' | tr ',' ' ')
    # shellcheck disable=SC2086 # words
    set -- "$2" $grid
    output=$1
    shift
    size=$((end - first))
    text='{"image_grid_thw":{"dtype":"I64","shape":['$(($# / 3))',3],"data_offsets":['$size,$((size + 8 * $#))']},'
    text=$text'"pixel_values":{"dtype":"F32","shape":'$shape',"data_offsets":[0,'$size']}}'
    {
        bytes ${#text}
        printf %s "$text"
        tail -c +$((9 + $(header "$file" | wc -c) + first)) "$file" | head -c $size
        for number; do bytes "$number"; done
    } >"$output"
}

for case in qwen2_vl_two_images qwen2_vl_v5_tied qwen2_5_vl qwen3_vl_tied glm4v glm4v_moe glm_ocr; do
    model=$goldens/$case
    echo "$case"
    if "$host" plan --model "$model" --plugins-dir "$plugins" | grep Fused; then exit 1; fi # nobody asked
    report=$("$host" plan --model "$model" --plugins-dir "$plugins" --fusion patch_embeddings --strict)
    echo "$report" | grep -q 'linear_proj.weight: Conv3dToLinear, row blocks'
    echo "$report" | grep -q ' 0 bytes copied'
    pixels "$model" "$case.safetensors"
    ids=$(tr -d ' \n' <"$model/golden.json" | sed 's/.*"input_ids":\[\([0-9,]*\)\].*/\1/')
    for dtype in float32 auto; do
        "$host" verify --model "$model" --plugins-dir "$plugins" --fusion patch_embeddings --dtype $dtype --tolerance 0 \
            --input-ids "$ids" --pixel-values "$case.safetensors" >verified
        grep 'patch_embed: [A-Za-z0-9_]*PatchEmbed -> Fused[A-Za-z0-9_]*PatchEmbed by patch_embed_linear: largest difference 0 ' verified
    done
    "$host" save --quiet --model "$model" --plugins-dir "$plugins" --fusion patch_embeddings --output "$case"
    cmp "$model/model.safetensors" "$case/model.safetensors"
    "$host" save --quiet --model "$case" --plugins-dir "$plugins" --runtime-layout --output "$case.runtime"
    header "$case.runtime/model.safetensors" | grep -q '"model.visual.patch_embed.linear_proj.weight"'
    "$host" save --quiet --model "$case.runtime" --plugins-dir "$plugins" --output "$case.back"
    cmp "$model/model.safetensors" "$case.back/model.safetensors"
done
