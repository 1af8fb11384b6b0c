/* SPDX-License-Identifier: Apache-2.0 */
/* test_adapted MODEL GOLDEN PLUGINS-DIRECTORIES ADAPTERS PLUGIN...: compares a model with adapters with the reference's
 * merged weights, in every instruction set. ADAPTERS "a+b" are directories in MODEL/adapters; ".": GOLDEN itself.
 * PLUGIN names the plugins to load. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "check.h"
#include "compare.h"
#include "graft/host/model.h"
#include "kernels/cpu.h"

enum { MAX_ADAPTERS = 8 };

struct adapters {
    struct graft_adapter_options items[MAX_ADAPTERS];
    char *directories[MAX_ADAPTERS];
    int32_t n;
};

/* Splits `names` in place. */
static void name_adapters(struct adapters *adapters, const char *model, const char *golden, char *names) {
    for (char *name = strtok(names, "+"); name != NULL; name = strtok(NULL, "+")) {
        const int is_golden = strcmp(name, ".") == 0;
        char *directory = is_golden ? graft_strdup(golden) : graft_format("%s/adapters/%s", model, name);
        check(directory != NULL && adapters->n < MAX_ADAPTERS, "too many adapters");
        adapters->directories[adapters->n] = directory;
        adapters->items[adapters->n++] = (struct graft_adapter_options){.struct_size = sizeof adapters->items[0],
                                                                        .name = is_golden ? "golden" : name,
                                                                        .directory = directory,
                                                                        .scale = 1.0};
    }
}

static void check_case(const struct golden *golden, char **argv, const struct graft_library_options *wanted,
                       const struct adapters *adapters, const char *isa) {
    const struct graft_model_options options = {.struct_size = sizeof options,
                                                .precision = GRAFT_PRECISION_FLOAT32,
                                                .adapters = adapters->items,
                                                .n_adapters = adapters->n,
                                                .adapter_stride = sizeof adapters->items[0]};
    struct runner runner;
    (void)setenv("GRAFT_ISA", isa, 1);
    runner_open_by(&runner, argv[1], argv[3], wanted, &options);
    compare_logits(golden, &runner, isa);
    compare_greedy(golden, &runner);
    compare_many(golden, &runner, isa);
    check(graft_model_save(runner.model, "not made", NULL, NULL) == GRAFT_ERROR_USAGE, "the model may be saved");
    runner_close(&runner);
}

int main(int argc, char **argv) {
    struct adapters adapters = {0};
    struct golden golden;
    if (argc < 6) {
        (void)fputs("usage: test_adapted MODEL GOLDEN PLUGINS-DIRECTORIES ADAPTERS PLUGIN...\n", stderr);
        return 2;
    }
    const struct graft_library_options wanted = {
        .struct_size = sizeof wanted, .allow = (const char *const *)(argv + 5), .n_allow = argc - 5};
    name_adapters(&adapters, argv[1], argv[2], argv[4]);
    golden_open(&golden, argv[2]);
    for (int isa = GRAFT_ISA_SCALAR; isa <= graft_cpu_best_isa(); isa++) {
        check_case(&golden, argv, &wanted, &adapters, graft_cpu_isa_name(isa));
    }
    golden_close(&golden);
    for (int32_t i = 0; i < adapters.n; i++) {
        graft_free(adapters.directories[i]);
    }
    return check_failures() != 0;
}
