/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/hints.h"

#include <stdio.h>
#include <string.h>

#include "cli/program.h"

struct translation {
    const char *library;
    const char *program;
};

/* Fields of struct graft_model_options, as sources of errors. */
static const struct translation sources[] = {
    {"adapter", "--prompt-adapter"},
    {"attn_implementation", "--attn-implementation"},
    {"experts_implementation", "--experts-implementation"},
    {"kernels", "--kernels"},
    {"plugin_options", "--plugin-option"},
};

/* Whole hints; @ is the program's name. tests/library_words.sh holds that the library has each of them. */
static const struct translation hints[] = {
    {"graft_library_classes lists the classes", "@ list --classes lists the classes"},
    {"graft_library_classes lists the host's classes; a plugin's are known once it is loaded",
     "@ list --classes lists the host's classes; a plugin's are known once it is loaded"},
    {"graft_model_module lists the modules; `*` matches anything but a dot",
     "@ plan --json lists the modules; `*` matches anything but a dot"},
    {"load the one that should win first, or leave one out",
     "use --plugins to say which comes first, or leave one out"},
    {"load a plugin that does, or the unquantized model",
     "add a plugin that does with --plugins-dir or --plugins, or load the unquantized model"},
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
            const char *program = words[i].program;
            const char *name = strchr(program, '@');
            size_t before = name != NULL ? (size_t)(name - program) : strlen(program);
            (void)snprintf(text, size, "%.*s%s%s", (int)before, program, name != NULL ? graft_program_name() : "",
                           name != NULL ? name + 1 : "");
            return;
        }
    }
}

void graft_hint_translate(struct graft_error *error) {
    translate(error->source, sizeof error->source, sources, sizeof sources / sizeof sources[0]);
    translate(error->hint, sizeof error->hint, hints, sizeof hints / sizeof hints[0]);
}

const char *graft_hint_for_note(const char *note) {
    return strstr(note, "enable it by id") != NULL ? " with --plugins" : "";
}
