/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/hints.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/text.h"
#include "cli/chat.h"
#include "cli/output.h"
#include "cli/program.h"
#include "cli/report/printer.h"

struct translation {
    const char *library;
    const char *program;
};

/* Fields of struct graft_model_options, graft_generation and graft_chat_request, as sources of errors. */
static const struct translation sources[] = {
    {"adapter", "--prompt-adapter"},
    {"attn_implementation", "--attn-implementation"},
    {"bad_words_ids", "--bad-words-ids"},
    {"continue_final_message", "messages"},
    {"experts_implementation", "--experts-implementation"},
    {"forced_bos_token_id", "--forced-bos-token-id"},
    {"forced_eos_token_id", "--forced-eos-token-id"},
    {"guidance_scale", "--guidance-scale"},
    {"kernels", "--kernels"},
    {"logits_processors", "--logits-processor"},
    {"num_beams", "--num-beams"},
    {"num_return_sequences", "--num-return-sequences"},
    {"plugin_options", "--plugin-option"},
    {"sequence_bias", "--sequence-bias"},
    {"stop_strings", "--stop-strings"},
    {"tools", "--tools"},
    {"variables", "--template-variable"},
};

/* Translations of whole hints; @ stands for the program's name. tests/library_words.sh checks that the library still
 * uses each. */
static const struct translation hints[] = {
    {"graft_model_logits gives those of a prompt", "--logits without --embed gives those of a prompt"},
    {"graft_library_classes lists the classes", "@ list --classes lists the classes"},
    {"graft_library_classes lists the host's classes; a plugin's are known once it is loaded",
     "@ list --classes lists the host's classes; a plugin's are known once it is loaded"},
    {"graft_model_module lists the modules; `*` matches anything but a dot",
     "@ plan --json lists the modules; `*` matches anything but a dot"},
    {"load the one that should win first, or leave one out",
     "use --plugins to say which comes first, or leave one out"},
    {"ignore the field by its name, if the results may differ from the reference's",
     "--ignore-field NAME ignores it, and the results may differ from the reference's"},
    {"ignore a field by its name where it is known to change nothing",
     "--ignore-field NAME lets one through that is known to change nothing"},
    {"load a plugin that does, or the unquantized model",
     "add a plugin that does with --plugins-dir or --plugins, or load the unquantized model"},
    {"load a plugin that brings the model type (graft/family.h)",
     "@ list --families --plugins-dir default lists those that are, with the plugins that are installed; "
     "@ family new DIR drafts a family file for another"},
    {"it is not tried again until its file changes", "--rescan tries it again"},
    {"load only one of the two plugins", "choose one of the plugins with --plugins"},
    {"plugins may provide more", "plugins may provide more: @ list --plugins-dir DIR"},
    {"choose another attention implementation", "choose another with --attn-implementation"},
    {"load the plugin that provides it, or turn fusion off: fusion_config {}",
     "load the plugin that provides it, or turn fusion off: --fusion-config '{}'"},
    {"a patch file gave the directory a layout without it; saving it restores the original layout",
     "a patch file gave the directory a layout without it; @ save restores the original layout"},
    {"the runtime layout keeps its results; the original is still in the source directory",
     "--runtime-layout keeps its results; the original is still in the source directory"},
};

static void translate(char *text, size_t size, const struct translation *words, size_t n) {
    for (size_t i = 0; i < n; i++) {
        if (strcmp(text, words[i].library) == 0) {
            struct graft_text translated = {0};
            const char *rest = words[i].program, *at;
            while ((at = strchr(rest, '@')) != NULL) {
                graft_text_add(&translated, rest, (size_t)(at - rest));
                graft_text_add_string(&translated, graft_program_name());
                rest = at + 1;
            }
            graft_text_add_string(&translated, rest);
            if (!translated.failed) {
                (void)snprintf(text, size, "%s", translated.bytes);
            }
            graft_text_free(&translated);
            return;
        }
    }
}

int graft_hint_is_convertible(const char *path) {
    static const char *const endings[] = {".gguf", ".bin", ".bin.index.json"};
    int is_convertible = 0;
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        is_convertible |= graft_ends_with(path, endings[i]);
    }
    return is_convertible;
}

/* Adds text quoted as one word for a shell. */
static void add_word(struct graft_text *text, const char *word) {
    int is_plain =
        word[strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./+-,:@%=")] == '\0';
    graft_text_add_string(text, is_plain ? " " : " '");
    for (; *word != '\0'; word++) {
        graft_text_add(text, *word == '\'' ? "'\\''" : word, *word == '\'' ? 4 : 1);
    }
    graft_text_add_string(text, is_plain ? "" : "'");
}

void graft_hint_convert(const char *path, struct graft_error *error) {
    struct graft_text command = {0};
    char *script = graft_program_converter();
    if (script != NULL) {
        graft_text_add_string(&command, ": python3");
        add_word(&command, script);
        add_word(&command, path);
    }
    error->hint[0] = '\0';
    graft_error_hint(error, "%s has to be converted to safetensors%s", graft_path_name(path),
                     command.bytes != NULL && !command.failed ? command.bytes : "");
    graft_text_free(&command);
    graft_free(script);
}

/* Adds the conversion command to an error of the library that names a file which has to be converted. */
static void translate_conversion(struct graft_error *error) {
    static const char ending[] = " has to be converted to safetensors";
    const char *at = strstr(error->hint, ending);
    if (at == NULL || at[sizeof ending - 1] != '\0') {
        return;
    }
    const char *slash = strrchr(error->source, '/');
    const size_t parent = slash != NULL ? (size_t)(slash - error->source) : 0;
    char *paths[] = {graft_format("%s/%.*s", error->source, (int)(at - error->hint), error->hint),
                     graft_format("%.*s/%.*s", (int)parent, error->source, (int)(at - error->hint), error->hint)};
    for (size_t i = 0; i < 2; i++) { /* the source is the directory, or a file in it */
        if (paths[i] != NULL && graft_file_exists(paths[i])) {
            graft_hint_convert(paths[i], error);
            break;
        }
    }
    graft_free(paths[0]);
    graft_free(paths[1]);
}

/* Translates a hint about a plugin that was left out to options of the command line. */
static void translate_left_out(struct graft_error *error) {
    static const char ending[] = ", and is not among the plugins that were asked for";
    char *at = strstr(error->hint, ending);
    if (at != NULL && at[sizeof ending - 1] == '\0') {
        (void)snprintf(at, sizeof error->hint - (size_t)(at - error->hint), "; --plugins leaves it out");
    }
}

void graft_hint_translate(struct graft_error *error) {
    translate_left_out(error);
    translate(error->source, sizeof error->source, sources, sizeof sources / sizeof sources[0]);
    translate(error->hint, sizeof error->hint, hints, sizeof hints / sizeof hints[0]);
    translate_conversion(error);
}

void graft_hint_chat(const struct graft_options *options, const struct graft_printer *printer) {
    for (size_t i = 0; i < printer->n; i++) {
        const struct graft_printed *printed = &printer->sequences[i];
        if (printed->ids.n == 1 && printed->end == GRAFT_SEQUENCE_STOPPED && graft_chat_has_template(options)) {
            graft_output_line(stderr,
                              "%s: the answer to prompt %zu ended at once; the model has a chat template: ask with "
                              "--message user:TEXT instead of --prompt, or use chat",
                              graft_program_name(), i / printer->per_prompt + 1);
            return;
        }
    }
}

const char *graft_hint_for_note(const char *note) {
    return strstr(note, "enable it by id") != NULL ? " with --enable" : "";
}
