/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/command_name.h"

#include <string.h>

#include "base/nearest.h"

/* In the order of the bits of enum graft_command. */
static const char *const names[] = {"run",  "plan",       "tokenize", "list",     "inspect",   "verify", "bench",
                                    "save", "perplexity", "try",      "validate", "chat",      "family", "serve",
                                    "new",  "pack",       "install",  "remove",   "compare-hf"};
_Static_assert(1 << (sizeof names / sizeof names[0] - 1) == GRAFT_COMMAND_COMPARE_HF, "a name for each command");

int graft_command_find(const char *name, enum graft_command *command) {
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(name, names[i]) == 0) {
            *command = (enum graft_command)(1 << i);
            return 1;
        }
    }
    return 0;
}

const char *graft_command_name(enum graft_command command) {
    size_t i = 0;
    while (1 << i != (int)command) {
        i++;
    }
    return names[i];
}

int graft_command_unknown(const char *word, struct graft_error *error) {
    struct graft_nearest nearest = {.wanted = word};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        graft_nearest_add(&nearest, names[i]);
    }
    (void)graft_error_set(error, GRAFT_ERROR_USAGE, word, "no such command%s",
                          strchr(word, '/') != NULL ? ": name a model with --model" : "");
    graft_nearest_hint(&nearest, error);
    graft_error_hint(error, "see --help"); /* ignored after a hint at a similar name */
    return GRAFT_ERROR_USAGE;
}
