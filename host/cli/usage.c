/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "cli/command_name.h"
#include "cli/options.h"
#include "cli/program.h"

/* The commands, as they follow the program's name. */
static const char *const commands[] = {
    "[run]      --model DIR [--plugins-dir DIR]... [--prompt TEXT]      load, report replacements, generate\n",
    "chat       --model DIR [--plugins-dir DIR]... [--system TEXT]      talk to a model that has a chat template\n",
    "serve      --model DIR [--plugins-dir DIR]... [--port N]           answer OpenAI's clients over HTTP\n",
    "plan       --model DIR [--plugins-dir DIR]... [--json] [--html FILE] [--diff FILE]    what run would do\n",
    "tokenize   --model DIR [--decode] [--json]                         turn lines of stdin into ids, or back\n",
    "save       --model DIR [--plugins-dir DIR]... --output DIR         write the model back, bit for bit\n",
    "list       --plugins-dir DIR | --classes | --families | --installed [--json]    list plugins, classes, types\n",
    "inspect    FILE.so|CLASS [--model DIR] [--plugins-dir DIR] [--json]     show what it declares; --c: as C\n",
    "verify     --model DIR [--plugins-dir DIR]... [--prompt TEXT] [--json]    compare replaced modules to originals\n",
    "bench      --model DIR [--plugins-dir DIR]... [--json]             measure loading, prompts and generation\n",
    "perplexity --model DIR [--plugins-dir DIR]... --text FILE [--json] measure how well it predicts a text\n",
    "family     choices [--json] | show TYPE | new [--like TYPE] DIR [--output FILE]    for authors of family files\n",
    "compare-hf MODEL [--plugins-dir DIR]... [--all]                    compare with transformers, module by module\n",
    "new        plugin --class CLASS [--lang c|cpp|rust] [--model DIR] DIR    write a plugin's project\n",
    "pack       DIR [--key FILE] [--deb] [--output FILE]                make a package of a plugin's folder\n",
    "install    FILE [--key FILE]... [--plugins-dir DIR]                check a package and put it in place\n",
    "remove     ID [--plugins-dir DIR]                                  remove an installed package\n",
    "try        FILE.so...                                              open each plugin in a process of its own\n",
    "validate   FILE [--model DIR [--plugins-dir DIR]...] [--json] | --list     check a plugin\n",
};

/* The options, in several strings, since compilers need not accept a longer one. */
static const char *const sections[] = {
    "Models\n"
    "  --model DIR            a directory with config.json and safetensors files; or ORG/NAME[@REVISION], a repository "
    "in\n"
    "                         the hub cache (HF_HUB_CACHE, HF_HOME/hub, ~/.cache/huggingface/hub); nothing is "
    "downloaded\n"
    "\n",

    "Plugins\n"
    "  --plugins-dir DIR      search DIR for NAME[/NAME].so or .family.json; repeatable; \"default\": those installed\n"
    "  --plugins ID,ID        use only these; if two want a module, the first listed wraps or replaces it\n"
    "  --enable ID            as if named by --plugins, without leaving out the others; repeatable\n"
    "  --plugin-option ID.NAME=VALUE   set an option of a plugin (list and inspect show them); repeatable\n"
    "  --no-plugins           load no plugins\n"
    "  --skip-bad-plugins     skip plugins that cannot be used\n"
    "  --rescan               try all plugins again before they are opened, even those found safe before\n"
    "  --lock FILE            write plugins, options and plan to FILE; if it exists, require them\n"
    "  --sha256               print each plugin's SHA-256 as well\n"
    "  --fusion NAME          fuse the modules that fit this fusion family; repeatable\n"
    "  --fusion-config JSON   the same, with options: {\"NAME\": true | false | {...}}; {} for none\n"
    "\n",

    "Without replacing a class\n"
    "  --attn-implementation NAME      sdpa (default), eager, or a plugin's\n"
    "  --experts-implementation NAME   grouped_mm (default), eager, batched_mm, or a plugin's\n"
    "  --kernels NAME,NAME    kernels from plugins: another forward for a class, same weights\n"
    "  --fuse 'GLOB,GLOB'     run the modules at these paths as one chain; repeatable\n"
    "  --patch FILE           patch file (JSON): classes, names and layouts for this load\n"
    "  --adapter [NAME=]DIR   apply an adapter in PEFT's format, by a plugin (lora); repeatable\n"
    "  --adapter-scale NAME=X apply that adapter X times as strongly; repeatable\n"
    "  --parallel ID          run as one of several processes, connected by a plugin (mpi)\n"
    "\n",

    "Prompt\n"
    "  --prompt TEXT, --prompt-file FILE, --input-ids 1,2,3         repeat for a batch\n"
    "                         FILE may be -, standard input; run reads it as the prompt if it is piped and none is "
    "given\n"
    "  --system TEXT, --message ROLE:TEXT, --messages FILE          a conversation instead, by the model's chat "
    "template;\n"
    "                         --message is repeatable: user:Hello\n"
    "  --tools FILE, --template-variable NAME=JSON                  further input of the template (JSON)\n"
    "  --prompt-adapter NAME  the only adapter for this prompt; one for each prompt, in order; __base__: none\n"
    "  --image FILE           a PNG or JPEG, for models that take images; repeatable\n"
    "  --video DIR            a video: the PNG or JPEG files in DIR, in order of name; repeatable\n"
    "  --pixel-values FILE    prepared images and videos: a safetensors file with pixel_values, image_grid_thw,\n"
    "                         pixel_values_videos, video_grid_thw\n"
    "  --max-new-tokens N     generate at most N tokens for each prompt\n"
    "  --output-ids           print ids instead of text, one line per sequence\n"
    "  --no-special-tokens, --keep-special-tokens    add none when encoding; keep them in the text that is printed\n"
    "  --json                 print one JSON document\n"
    "  --logprobs N           with how probable each token was, and the N most probable ones\n"
    "  --temperature T, --top-k K, --top-p P, --repetition-penalty R, --seed S\n"
    "                         sampling (default: generation_config.json, else greedy); --temperature 0: greedy\n"
    "  --do-sample true|false, --min-p P, --typical-p P, --epsilon-cutoff P, --eta-cutoff P, --top-h P\n"
    "                         more on sampling; these and the following are fields of generation_config.json\n"
    "  --sequence-bias JSON, --bad-words-ids JSON, --suppress-tokens 1,2, --begin-suppress-tokens 1,2\n"
    "  --no-repeat-ngram-size N, --encoder-no-repeat-ngram-size N, --encoder-repetition-penalty R\n"
    "  --max-length N, --min-length N, --min-new-tokens N, --exponential-decay-length-penalty N,X\n"
    "  --forced-bos-token-id ID, --forced-eos-token-id 1,2, --stop-strings TEXT (repeatable)\n"
    "  --remove-invalid-values true|false, --renormalize-logits true|false\n"
    "  --num-beams N, --length-penalty X, --early-stopping true|false|never, --num-return-sequences N\n"
    "  --guidance-scale X     classifier-free guidance\n"
    "  --logits-processor NAME         what a plugin does to the scores of tokens; repeatable, in order\n"
    "  --json-schema FILE, --grammar FILE      only text that fits a JSON schema, or a grammar (GBNF)\n"
    "  --session FILE         keep the beginnings of prompts in FILE, so that they need not be read again\n"
    "  --speculate N          guess up to N tokens from the text so far and check them at once: the same text, sooner\n"
    "                         where it repeats itself\n"
    "\n",

    "Serving\n"
    "  --host ADDRESS, --port N        where to listen (default 127.0.0.1, 8000; 0: a free port)\n"
    "  --api-key-file FILE    keys, one per line; clients must send one of them\n"
    "  --served-model-name NAME        what clients call the model (default: the directory's name)\n"
    "  --cors-origin ORIGIN   let pages of this origin call; *: of any\n"
    "  --max-running N, --max-waiting N                 answers running at once, and waiting (default 32, 64)\n"
    "  --max-cache SIZE, --max-body SIZE                memory of sequences (no limit); of a request (4MB)\n"
    "  --sessions DIR, --sessions-size SIZE             keep shared beginnings of prompts for the next run; up to "
    "(8GB)\n"
    "  --timeout S, --idle-timeout S   seconds for an answer, and for an idle connection (600, 60)\n"
    "\n",

    "Encoders\n"
    "  --embed                print a vector per text, one JSON array per line; reads stdin if no text is given\n"
    "  --lines, --pairs       each line of stdin is a text, or a pair separated by a tab\n"
    "  --text-pair TEXT, --token-type-ids 0,0,1         second text of a pair; token types\n"
    "\n",

    "Recording, for the prompts, as safetensors files\n"
    "  --logits FILE, --hidden-states FILE, --attentions FILE, --router-logits FILE, --module-outputs FILE\n"
    "\n",

    "Finding faults\n"
    "  --check-finite         stop at the first module whose output is infinite or not a number\n"
    "  --trace FILE           write when each module ran, for a browser's trace viewer\n"
    "\n",

    "Saving\n"
    "  --output DIR           save: where to write: a new or empty directory\n"
    "  --runtime-layout       write the runtime layout, with a journal to restore the original\n"
    "  --max-shard-size SIZE  maximum file size: 500MB, 5GB, ... (default 50GB)\n"
    "\n",

    "Family files\n"
    "  --like TYPE            family: the model type that the new one is like (default: the nearest)\n"
    "  --output FILE          family: where to write (default: TYPE.family.json)\n"
    "\n",

    "Plugins' projects\n"
    "  --class CLASS          new: the class to replace (list --classes)\n"
    "  --lang c|cpp|rust      new: the language (default: c)\n"
    "  --key FILE             pack: sign with this secret key of minisign; install: trust this public key; repeatable\n"
    "  --deb                  pack: make a Debian package, by dpkg-deb\n"
    "  --output FILE          pack: where to write (default: ID-VERSION-MACHINE.tar)\n"
    "  --installed            list: the packages that were installed\n"
    "  --c                    inspect CLASS: print the C that a plugin for it begins with\n"
    "\n",

    "Comparing and measuring\n"
    "  --against DIR          verify: compare with this checkpoint, such as the one before it was quantized\n"
    "  --diff FILE            plan: print the differences from FILE, which plan --json wrote\n"
    "  --tolerance T          verify: how far logits may differ, relative to the largest (default 5e-5)\n"
    "  --prompt-tokens N, --new-tokens N, --repeat N    bench: sizes and runs (default 512, 32, 3)\n"
    "  --sequences N          bench: run N sequences as one batch, 1 to 64 (default 1)\n"
    "  --compare FILE         bench: print ratios to what bench --json wrote to FILE\n"
    "  --modules              bench: time and bytes by class, and of each replaced one's original\n"
    "  --list, --fuzz N       validate: list the checks; build N models of random sizes as well\n"
    "  --thorough             validate: let every allocation fail, not a sample of them\n"
    "  --only NAME            validate: run only this check or group of checks; repeatable\n"
    "  --text FILE, --window N          perplexity: the text; tokens per window (default 512)\n"
    "\n",

    "Other\n"
    "  --dtype auto|float32|bfloat16   precision of products (auto: bf16 weights in bf16, others in f32)\n"
    "  --kv-cache-dtype auto|float32|bfloat16   keys and values of earlier tokens (auto: as most of the weights)\n"
    "  --quantize NAME[:GROUP][+head]   quantize weights while loading, the head as well with +head: int4, int4_mse,\n"
    "                         int8, nf4, fp8, mxfp4, if plugins provide them\n"
    "  --dequantize           turn the weights of a quantized model into floats while loading\n"
    "  --threads N            threads to use (default: all)\n"
    "  --strict               treat missing or unexpected tensors, and fields that are not used, as errors\n"
    "  --ignore-field NAME    treat this field of config.json, or another file of the model, as absent; repeatable\n"
    "  --report text|full|json|none    how the report is printed\n"
    "  --quiet, --version, --help\n"
    "\n"
    "Exit status: 0 success, 1 internal, 2 usage, 3 plugin, 4 model files, 5 input or output, 6 verification failed\n",
};

static void print_all(void) {
    (void)fputs("Runs a Hugging Face model directory with its module classes replaced by plugins.\n\n", stdout);
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        (void)printf("  %s %s", graft_program_name(), commands[i]);
    }
    (void)printf("\n%s COMMAND --help is about that command alone.\n\n", graft_program_name());
    for (size_t i = 0; i < sizeof sections / sizeof sections[0]; i++) {
        (void)fputs(sections[i], stdout);
    }
}

/* Whether a line, which may be one of several of an option, begins an option that it says to be other commands' only:
 * "pack: where to write". */
static int is_of_another(const char *line, size_t length, enum graft_command command) {
    int owners = 0;
    char words[200];
    (void)snprintf(words, sizeof words, "%.*s", (int)length, line);
    for (int each = 1; each <= GRAFT_COMMAND_COMPARE_HF; each <<= 1) {
        char owner[40];
        (void)snprintf(owner, sizeof owner, " %s: ", graft_command_name((enum graft_command)each));
        owners |= strstr(words, owner) != NULL ? each : 0;
    }
    return owners != 0 && (owners & (int)command) == 0;
}

/* Prints the lines of a section that are about options of the command, below the section's heading. */
static void print_section(const char *section, enum graft_command command) {
    const size_t heading = strcspn(section, "\n") + 1;
    int printed = 0, prints = 0;
    for (const char *line = section + heading; *line != '\0';) {
        const size_t length = strcspn(line, "\n") + 1;
        if (strncmp(line, "  --", 4) == 0) {
            prints = graft_options_take(command, line + 2) && !is_of_another(line, length, command);
        } else if (line[0] != ' ') {
            prints = 0;
        }
        if (prints) {
            (void)printf("%s%.*s%.*s", printed ? "" : "\n", printed ? 0 : (int)heading, section, (int)length, line);
            printed = 1;
        }
        line += length;
    }
}

static void print_command(enum graft_command command) {
    const char *name = graft_command_name(command);
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        const char *word = commands[i] + (commands[i][0] == '[');
        if (strncmp(word, name, strlen(name)) == 0 && strchr(" ]", word[strlen(name)]) != NULL) {
            (void)printf("  %s %s", graft_program_name(), commands[i]);
        }
    }
    for (size_t i = 0; i < sizeof sections / sizeof sections[0]; i++) {
        print_section(sections[i], command);
    }
}

void graft_usage_print(const struct graft_options *options) {
    if (options->is_named) {
        print_command(options->command);
    } else {
        print_all();
    }
}
