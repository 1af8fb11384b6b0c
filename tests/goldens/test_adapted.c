/* SPDX-License-Identifier: Apache-2.0 */
/* test_adapted MODEL GOLDEN PLUGINS-DIRECTORY ADAPTERS PLUGIN...: a model with adapters (the parts of "a+b",
 * directories in MODEL/adapters), by the plugins named, against the reference's merged weights. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "check.h"
#include "compare.h"
#include "graft/host/save.h"

enum { MAX_ADAPTERS = 8 };

struct adapters {
    struct graft_adapter_options items[MAX_ADAPTERS];
    char *directories[MAX_ADAPTERS];
    int32_t n;
};

/* Cuts `names` in place. */
static void name_adapters(struct adapters *adapters, const char *model, char *names) {
    for (char *name = strtok(names, "+"); name != NULL; name = strtok(NULL, "+")) {
        char *directory = graft_format("%s/adapters/%s", model, name);
        check(directory != NULL && adapters->n < MAX_ADAPTERS, "too many adapters");
        adapters->directories[adapters->n] = directory;
        adapters->items[adapters->n++] = (struct graft_adapter_options){
            .struct_size = sizeof adapters->items[0], .name = name, .directory = directory, .scale = 1.0};
    }
}

static void open_model(struct runner *runner, const char *model, const char *plugins,
                       const struct graft_library_options *wanted, const struct adapters *adapters) {
    const struct graft_model_options options = {.struct_size = sizeof options,
                                                .precision = GRAFT_PRECISION_FLOAT32,
                                                .adapters = adapters->items,
                                                .n_adapters = adapters->n,
                                                .adapter_stride = sizeof adapters->items[0]};
    struct graft_error error = graft_error_none();
    *runner = (struct runner){0};
    need(graft_library_create(&runner->library, &error), &error);
    need(graft_library_load_plugins(runner->library, &plugins, 1, wanted, &error), &error);
    need(graft_model_open(runner->library, model, &options, &runner->model, &error), &error);
    need(graft_model_load(runner->model, &error), &error);
    runner->vocab_size = (size_t)graft_model_vocab_size(runner->model);
}

int main(int argc, char **argv) {
    struct adapters adapters = {0};
    struct golden golden;
    struct runner runner;
    if (argc < 6) {
        (void)fputs("usage: test_adapted MODEL GOLDEN PLUGINS-DIRECTORY ADAPTERS PLUGIN...\n", stderr);
        return 2;
    }
    const struct graft_library_options wanted = {
        .struct_size = sizeof wanted, .allow = (const char *const *)(argv + 5), .n_allow = argc - 5};
    name_adapters(&adapters, argv[1], argv[4]);
    golden_open(&golden, argv[2]);
    open_model(&runner, argv[1], argv[3], &wanted, &adapters);
    compare_logits(&golden, &runner, "float32");
    compare_greedy(&golden, &runner);
    check(graft_model_save(runner.model, "not made", NULL, NULL) == GRAFT_ERROR_USAGE, "the model may be saved");
    runner_close(&runner);
    golden_close(&golden);
    for (int32_t i = 0; i < adapters.n; i++) {
        graft_free(adapters.directories[i]);
    }
    return check_failures() != 0;
}
