/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz/model.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "fuzz/target.h"

static struct graft_library *library;
static char linked[256];

static void clean_up(void) {
    (void)unlink(linked);
    graft_library_free(library);
}

static struct graft_library *get_library(void) {
    static const char *const plugins[] = {GRAFT_FUZZ_PLUGINS};
    struct graft_error error = graft_error_none();
    if (library == NULL && (graft_library_create(&library, &error) != GRAFT_OK ||
                            graft_library_load_plugins(library, plugins, 1, NULL, &error) != GRAFT_OK)) {
        (void)fprintf(stderr, "%s: %s\n", error.source, error.message);
        exit(2);
    }
    return library;
}

void fuzz_link(const char *file, const char *name) {
    if (linked[0] == '\0') {
        (void)fuzz_folder(); /* which is removed after what is in it */
        (void)atexit(clean_up);
    }
    (void)snprintf(linked, sizeof linked, "%s/%s", fuzz_folder(), name);
    (void)unlink(linked);
    if (symlink(file, linked) != 0) {
        perror(linked);
        exit(2);
    }
}

static int run(struct graft_model *model, struct graft_error *error) {
    static const int32_t ids[] = {1, 2};
    const struct graft_prompt prompt = {.struct_size = sizeof prompt, .ids = ids, .count = 2};
    float *logits = malloc(2 * (size_t)graft_model_vocab_size(model) * sizeof *logits);
    int status = logits != NULL ? graft_model_logits(model, &prompt, 1, logits, error) : GRAFT_OK;
    free(logits);
    return status;
}

void fuzz_model(const char *directory, const char *adapter) {
    const struct graft_adapter_options adapters[] = {
        {.struct_size = sizeof adapters[0], .name = "fuzzed", .directory = adapter, .scale = 1.0}};
    const struct graft_model_options options = {.struct_size = sizeof options,
                                                .adapters = adapters,
                                                .n_adapters = adapter != NULL,
                                                .adapter_stride = sizeof adapters[0]};
    struct graft_error error = graft_error_none();
    struct graft_model *model = NULL;
    int status = graft_model_open(get_library(), directory, &options, &model, &error);
    if (status == GRAFT_OK) {
        status = graft_model_load(model, &error);
    }
    if (status == GRAFT_OK) {
        status = run(model, &error);
    }
    if (status != GRAFT_OK &&
        (error.message[0] == '\0' || status == GRAFT_ERROR_PLUGIN || status == GRAFT_ERROR_INTERNAL)) {
        (void)fprintf(stderr, "status %d: %s: %s\n", status, error.source, error.message);
        abort();
    }
    graft_model_free(model);
}
