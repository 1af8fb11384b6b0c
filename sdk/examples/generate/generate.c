/* SPDX-License-Identifier: Apache-2.0 */
/* A program that embeds libgraft: loads a model, with or without plugins, lists its modules, and prints the tokens that
 * it generates from a prompt of token ids. */
#include <stdio.h>
#include <stdlib.h>

#include "graft/host/graft.h"
#include "graft/host/modules.h"

enum { MAX_PROMPT = 1024 };

/* Parses "580,573,88". Returns the number of ids, or 0 if the text is malformed. */
static size_t parse_ids(const char *text, int32_t *ids) {
    size_t n = 0;
    while (n < MAX_PROMPT) {
        char *end;
        long long id = strtoll(text, &end, 10);
        if (end == text || (*end != ',' && *end != '\0') || id < 0 || id > INT32_MAX) {
            return 0;
        }
        ids[n++] = (int32_t)id;
        if (*end == '\0') {
            return n;
        }
        text = end + 1;
    }
    return 0;
}

static int print_token(void *data, size_t sequence, int32_t id, int last, struct graft_error *error) {
    (void)data, (void)sequence, (void)error; /* there is one prompt, and printing cannot fail */
    printf("%d%s", (int)id, last ? "\n" : ",");
    fflush(stdout);
    return GRAFT_OK;
}

static int with_model(struct graft_model *model, const struct graft_prompt *prompt, struct graft_error *error) {
    const struct graft_named_module *module;
    for (size_t i = 0; (module = graft_model_module(model, i)) != NULL; i++) {
        fprintf(stderr, "%s: %s\n", module->path, module->class_name);
    }
    int status = graft_model_load(model, error);
    return status == GRAFT_OK ? graft_model_generate(model, prompt, 1, NULL, print_token, NULL, error) : status;
}

static int run(const char *directory, const struct graft_prompt *prompt, const char *plugins,
               struct graft_error *error) {
    struct graft_library *library = NULL;
    struct graft_model *model = NULL;
    int status = graft_library_create(&library, error);
    if (status == GRAFT_OK && plugins != NULL) {
        status = graft_library_load_plugins(library, &plugins, 1, NULL, error);
    }
    if (status == GRAFT_OK) {
        status = graft_model_open(library, directory, NULL, &model, error); /* plans the model, reads no weights */
    }
    if (status == GRAFT_OK) {
        status = with_model(model, prompt, error);
    }
    graft_model_free(model); /* models first; both functions accept NULL */
    graft_library_free(library);
    return status;
}

int main(int argc, char **argv) {
    static int32_t ids[MAX_PROMPT];
    struct graft_prompt prompt = {.struct_size = sizeof prompt, .ids = ids};
    struct graft_error error = graft_error_none();
    if (argc < 3 || (prompt.count = parse_ids(argv[2], ids)) == 0) {
        fprintf(stderr, "usage: %s MODEL ID,ID,... [PLUGINS-DIR]\n", argv[0]);
        return GRAFT_ERROR_USAGE;
    }
    int status = run(argv[1], &prompt, argv[3], &error); /* argv ends with NULL: without an argument, no plugins */
    if (status != GRAFT_OK) {
        fprintf(stderr, "%s: %s\n", error.source, error.message);
    }
    return status;
}
