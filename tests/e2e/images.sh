#!/bin/sh
# images.sh HOST SOURCE PLUGINS GOLDEN: prompts with images and videos, as users give them. TAP on stdout.
set -u
host=$1
source=$2
plugins=$3
model=$source/demo/tiny-qwen2-vl
golden=$4
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
n=0
is() { # is WHAT EXPECTED ACTUAL
    n=$((n + 1))
    if [ "$2" = "$3" ]; then
        echo "ok $n - $1"
    else
        echo "not ok $n - $1"
        printf '# expected: %s\n# got: %s\n' "$2" "$3"
    fi
}
ask() { "$host" --model "$model" --dtype float32 --quiet "$@" 2>&1; }
refused() { # refused WHAT STATUS PART OPTIONS...
    what=$1 status=$2 part=$3
    shift 3
    message=$("$host" --quiet "$@" 2>&1)
    got=$?
    case $message in
    *"$part"*) is "$what" "$status" "$got" ;;
    *) is "$what" "$status: $part" "$got: $message" ;;
    esac
}

# Every sample's answers: lines of file, question, answer.
sed -n 's/^    "file": "\(.*\)",$/file \1/p; s/^ *"file": "\(.*\)",$/file \1/p; s/^ *"\(What.*?\)": "\(.*\)",\{0,1\}$/ask \1|\2/p' \
    "$model/samples.json" | awk '!/^file/ || !seen[$0]++' >"$work/samples"
is 'all samples are read' '6 24' "$(grep -c ^file "$work/samples") $(grep -c ^ask "$work/samples")"
file=
while read -r kind rest; do
    if [ "$kind" = file ]; then
        file=$rest
    else
        is "$file: ${rest%%|*}" "${rest#*|}" "$(ask --image "$model/$file" --prompt "${rest%%|*}" </dev/null)"
    fi
done <"$work/samples"

circle=$model/samples/1-green-circle-on-yellow.png
square=$model/samples/2-blue-square-on-yellow.png
place='<|vision_start|><|image_pad|><|vision_end|>'
chat() { printf '<|im_start|>user\n%s%s<|im_end|>\n<|im_start|>assistant\n' "$1" "$2"; }
is 'the places that a prompt has are used' square "$(ask --image "$square" --prompt "$(chat "$place" 'What shape is it?')
")"
is 'two prompts share the images in order' 'circle
square' "$(ask --image "$circle" --image "$square" --prompt "$(chat "$place" 'What shape is it?')
" --prompt "$(chat "$place" 'What shape is it?')
")"
is 'replaced classes see the same' circle \
    "$(ask --plugins-dir "$plugins" --image "$circle" --prompt 'What shape is it?')"
printf 'What shape is it?' >"$work/question"
is 'a prompt from a file' circle "$(ask --image "$circle" --prompt-file "$work/question")"
numbers() { # numbers NAME [FILE]: the first list of that name, as the reference recorded it
    tr -d ' \n' <"${2:-$model/expected.json}" | grep -o "\"$1\":\[[0-9,]*\]" | sed -n '1s/.*\[\(.*\)\]/\1/p'
}
ids=$(numbers input_ids)
is 'ids whose places are filled up' "$(numbers greedy_ids)" "$(ask --image "$circle" --input-ids "$ids" --output-ids)"
is 'ids whose places are not' "$(numbers greedy_ids)" \
    "$(ask --image "$circle" --input-ids "$(echo "$ids" | sed 's/383,383,383,383/383/')" --output-ids)"
is 'verify takes images' 0 "$("$host" verify --model "$model" --plugins-dir "$plugins" --dtype float32 --image "$circle" \
    --prompt 'What shape is it?' >/dev/null 2>&1 && echo 0)"

refused 'more images than places' 2 'got 2 images, but the prompts have placeholders for 1' --model "$model" \
    --image "$circle" --image "$square" --prompt "$place"
refused 'more places than images' 2 'got 1 images, but the prompts have placeholders for 2' --model "$model" \
    --image "$circle" --prompt "$place$place"
refused 'a place of another length' 2 'needs 4 image tokens, but its placeholder in the prompt has 3' --model "$model" \
    --image "$circle" --prompt '<|image_pad|><|image_pad|><|image_pad|>'
refused 'images without a prompt' 2 'needs a prompt' --model "$model" --image "$circle"
# Videos: the reference's answer to an image between two videos, of files that both prepared.
videos=$source/tests/goldens/videos
video_place='<|vision_start|><|video_pad|><|vision_end|>'
three=$(chat "$video_place$place$video_place" 'What is in the picture?')
is 'an image between two videos' "$(numbers greedy_ids "$videos/expected.json")" \
    "$(ask --video "$videos/down/frames" --image "$circle" --video "$videos/capped/frames" --prompt "$three
" --output-ids)"
is 'each kind has its own order' "$(numbers greedy_ids "$videos/expected.json")" \
    "$(ask --image "$circle" --video "$videos/down/frames" --video "$videos/capped/frames" --prompt "$three
" --output-ids)"
mkdir "$work/chat"
cp "$model"/*.json "$model/model.safetensors" "$work/chat/"
sed "s/<|image_pad|><|vision_end|>/&{% endif %}{% if part['type'] == 'video' %}$video_place/" "$model/chat_template.json" \
    >"$work/chat/chat_template.json"
is 'the chat form has them in the order given' "$(numbers greedy_ids "$videos/expected.json")" \
    "$("$host" --model "$work/chat" --dtype float32 --quiet --video "$videos/down/frames" --image "$circle" \
        --video "$videos/capped/frames" --prompt 'What is in the picture?' --output-ids 2>&1)"
is 'verify takes videos' 0 "$("$host" verify --model "$model" --plugins-dir "$plugins" --dtype float32 \
    --video "$videos/up/frames" --prompt "$video_place" >/dev/null 2>&1 && echo 0)"
refused 'video tokens without a video' 2 'the prompts have placeholders for videos, but none are given' --model "$model" \
    --prompt "$video_place"
refused 'image tokens without an image' 2 'the prompts have placeholders for images, but none are given' --model "$model" \
    --prompt "$place"
refused 'a video for the place of an image' 2 'the prompts have placeholders for images, but none are given' --model "$model" \
    --video "$videos/up/frames" --prompt "$place"
refused 'more videos than places' 2 'got 2 videos, but the prompts have placeholders for 1' --model "$model" \
    --video "$videos/up/frames" --video "$videos/down/frames" --prompt "$video_place"
refused 'a place of another length than the video' 2 'video 1 needs 6 video tokens, but its placeholder in the prompt has 2' \
    --model "$model" --video "$videos/up/frames" --prompt '<|video_pad|><|video_pad|>'
rm "$work/chat/chat_template.json"
is 'a template in tokenizer_config.json' square \
    "$("$host" --model "$work/chat" --dtype float32 --quiet --image "$square" --prompt 'What shape is it?' 2>&1)"
refused 'one that is ignored' 2 'the model directory has no chat template that adds one' --model "$work/chat" \
    --image "$square" --prompt x --ignore-field chat_template
refused 'a template without videos' 2 'the model directory has no chat template that adds one' --model "$model" \
    --video "$videos/up/frames" --prompt x
refused 'videos for a model without a tower' 2 'this model takes no videos' --model "$source/demo/tiny-qwen2-moe" \
    --video "$videos/up/frames" --prompt x
refused 'videos without a prompt' 2 'says what to do with the videos' --model "$model" --video "$videos/up/frames"
refused 'videos of both kinds' 2 'cannot be combined with --video' --model "$model" --video "$videos/up/frames" \
    --pixel-values "$golden/golden.safetensors" --prompt x
refused 'a directory that is none' 5 'cannot be read as a directory of frames' --model "$model" --video "$circle" \
    --prompt "$video_place"
mkdir "$work/frames"
refused 'a directory without frames' 5 'has no frames' --model "$model" --video "$work/frames" --prompt "$video_place"
cp "$circle" "$work/frames/1.png"
cp "$videos/down/frames/frame1.png" "$work/frames/2.png"
refused 'frames of two sizes' 5 '2.png: 23 x 14 pixels: expected' --model "$model" --video "$work/frames" \
    --prompt "$video_place"
: >"$work/frames/.hidden"
echo text >"$work/frames/10.png"
cp "$circle" "$work/frames/2.png"
refused 'a frame that is no picture' 5 '10.png: is neither a PNG nor a JPEG file' --model "$model" \
    --video "$work/frames" --prompt "$video_place"

refused 'images of both kinds' 2 'cannot be combined with --image' --model "$model" --image "$circle" \
    --pixel-values "$golden/golden.safetensors" --prompt x
refused 'images for a model without a tower' 2 'this model takes no images' --model "$source/demo/tiny-qwen2-moe" \
    --image "$circle" --prompt x
refused 'several prompts without places' 2 'the prompts have no placeholders for images' --model "$model" --image "$circle" \
    --prompt x --prompt y
# What preprocessor_config.json has and nobody does (docs/cli.md).
fields() { # fields MODEL OPTION...: what the report says of fields
    directory=$1
    shift
    "$host" plan --model "$directory" "$@" 2>&1 | sed -n 's/^  \(not used .*\)/\1/p; s/^  \(ignored .*\)/\1/p'
}
cp -r "$model" "$work/fields" && chmod -R u+w "$work/fields"
sed '1s/{/{ "do_thumbnail": true, "fps": 2, "do_pad": false,/' "$model/preprocessor_config.json" \
    >"$work/fields/preprocessor_config.json"
is 'all fields of the demo are used' '' "$(fields "$model")"
is 'a field of preprocessor_config.json that is not' 'not used preprocessor_config.json: do_thumbnail (true)' \
    "$(fields "$work/fields")"
is 'it is ignored' 'ignored preprocessor_config.json: do_thumbnail (true), by --ignore-field' \
    "$(fields "$work/fields" --ignore-field do_thumbnail)"
refused 'strict: it is an error' 4 'fields/preprocessor_config.json: not used: do_thumbnail (true)' --model "$work/fields" --strict --input-ids 1
refused 'a model without image processor' 4 'has no preprocessor_config.json' --model "$golden" --image "$circle" \
    --input-ids 60 --output-ids
refused 'pixel values without grids' 5 'expected a tensor image_grid_thw' --model "$golden" \
    --pixel-values "$golden/golden.safetensors" --input-ids 60 --output-ids
refused 'pixel values that are none' 5 "$circle" --model "$golden" --pixel-values "$circle" --input-ids 60 --output-ids

# A fused or saved model sees the same: saving gives back the file.
"$host" save --model "$model" --output "$work/saved" --quiet 2>/dev/null
is 'saving gives back the file' same \
    "$(cmp -s "$model/model.safetensors" "$work/saved/model.safetensors" && echo same)"
is 'a saved model has its image processor' circle \
    "$("$host" --model "$work/saved" --dtype float32 --quiet --image "$circle" --prompt 'What shape is it?' 2>&1)"
echo "1..$n"
