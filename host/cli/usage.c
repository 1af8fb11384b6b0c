/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "cli/options.h"
#include "cli/program.h"

/* What follows the program's name. */
static const char *const commands[] = {
    "[run]      --model DIR [--plugins-dir DIR]... [PROMPT]             load, report what was replaced, generate\n",
    "plan       --model DIR [--plugins-dir DIR]... [--json] [--html FILE]    the same decisions, no weight read\n",
    "tokenize   --model DIR [--decode] [--json]                         lines of stdin: text to ids, or back\n",
    "save       --model DIR [--plugins-dir DIR]... --output DIR         the model as it was read, bit for bit\n",
    "list       --plugins-dir DIR | --classes [--json]                  plugins; classes that can be replaced\n",
    "inspect    FILE.so|CLASS [--model DIR] [--plugins-dir DIR] [--json]     all that it declares\n",
    "verify     --model DIR [--plugins-dir DIR]... [PROMPT] [--json]    replaced against original, by module\n",
    "bench      --model DIR [--plugins-dir DIR]... [--json]             how fast it loads, reads, generates\n",
    "perplexity --model DIR [--plugins-dir DIR]... --text FILE [--json] how well it predicts a text\n",
};

/* In sections, since compilers need not take longer strings. */
static const char *const sections[] = {
    "Plugins\n"
    "  --plugins-dir DIR      where plugins lie (NAME.so or NAME/NAME.so); may be repeated; default: those installed\n"
    "  --plugins ID,ID        only these; the order decides when two want one module\n"
    "  --no-plugins           none at all\n"
    "  --skip-bad-plugins     go on without a plugin that cannot be used\n"
    "  --fusion NAME          fuses the modules that fit this family of a plugin; may be repeated\n"
    "  --fusion-config JSON   the same with options: {\"NAME\": true | false | {...}}; {} for none\n"
    "\n",

    "Without replacing a class\n"
    "  --attn-implementation NAME      eager, sdpa, or a plugin's\n"
    "  --experts-implementation NAME   eager, batched_mm, grouped_mm, or a plugin's\n"
    "  --kernels NAME,NAME    kernels of plugins: another forward for a class, on the same weights\n"
    "  --fuse 'GLOB,GLOB'     runs modules of such paths as one chain; may be repeated\n"
    "  --patch FILE           JSON: classes, names and layouts of this load (docs/patch.md)\n"
    "\n",

    "Prompt\n"
    "  --prompt TEXT, --prompt-file FILE, --input-ids 1,2,3         may be repeated: a batch\n"
    "  --image FILE           a PNG or JPEG, for models that take images; may be repeated\n"
    "  --video DIR            a video: its frames are the files of DIR, PNG or JPEG, in order of name; may be "
    "repeated\n"
    "  --pixel-values FILE    prepared images and videos instead: safetensors with pixel_values, image_grid_thw,\n"
    "                         pixel_values_videos, video_grid_thw\n"
    "  --max-new-tokens N     at most N new tokens each\n"
    "  --output-ids           print ids instead of text, a line a sequence\n"
    "  --no-special-tokens    add none when encoding\n"
    "  --temperature T, --top-k K, --top-p P, --repetition-penalty R, --seed S\n"
    "                         sampling; without them as generation_config.json says, else greedy; 0 is greedy\n"
    "\n",

    "Encoders\n"
    "  --embed                a vector for each text, a JSON array a line; of the lines of stdin without texts\n"
    "  --lines, --pairs       the lines of stdin are texts, or pairs with a tab between\n"
    "  --text-pair TEXT, --token-type-ids 0,0,1         the second text of a pair; types of tokens\n"
    "\n",

    "What goes on inside, for the prompts, as safetensors\n"
    "  --logits FILE, --hidden-states FILE, --attentions FILE, --router-logits FILE\n"
    "\n",

    "Saving\n"
    "  --output DIR           where to: nothing, or an empty directory\n"
    "  --runtime-layout       parameters as they are at run time, with a journal that leads back\n"
    "  --max-shard-size SIZE  500MB, 5GB, ...: of a file (50GB)\n"
    "\n",

    "Comparing and measuring\n"
    "  --tolerance T          verify: how far logits may be apart (5e-5)\n"
    "  --prompt-tokens N, --new-tokens N, --repeat N    bench: sizes (512, 32), runs (3)\n"
    "  --modules              bench: time and bytes by class, and those of what was replaced\n"
    "  --text FILE, --window N          perplexity: the text, tokens of a window (512)\n"
    "\n",

    "Other\n"
    "  --dtype auto|float32|bfloat16   how products are computed (auto: bf16 weights in bf16, others in f32)\n"
    "  --threads N            threads to use (all that there are)\n"
    "  --strict               missing or unexpected tensors are errors\n"
    "  --report text|json|none, --quiet, --version, --help\n"
    "\n"
    "Exit status: 0 success, 1 internal, 2 usage, 3 plugin, 4 model files, 5 input or output, 6 verification failed\n",
};

void graft_usage_print(void) {
    (void)fputs("Runs a Hugging Face model directory with its module classes replaced by plugins.\n\n", stdout);
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        (void)printf("  %s %s", graft_program_name(), commands[i]);
    }
    (void)fputs("\n", stdout);
    for (size_t i = 0; i < sizeof sections / sizeof sections[0]; i++) {
        (void)fputs(sections[i], stdout);
    }
}
