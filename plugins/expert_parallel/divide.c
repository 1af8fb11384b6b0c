/* SPDX-License-Identifier: Apache-2.0 */
/* Finds which part of a module belongs to this rank, and sums the ranks' results. */
#include "expert_parallel.h"

#include <stdio.h>
#include <string.h>

#include "plan.h"

enum { MAX_PATH = 4096 };

int expert_parallel_divides(const struct graft_config *config, const char *path, int *divides,
                            struct graft_error *error) {
    char experts[MAX_PATH];
    const char *dot = strrchr(path, '.');
    const char *last = dot != NULL ? dot + 1 : path;
    int above = (int)(dot != NULL ? dot - path : 0);
    if (strncmp(last, "shared_expert", strlen("shared_expert")) == 0) {
        (void)snprintf(experts, sizeof experts, "%.*s.experts", above, path);
        path = experts;
    }
    return plan_divides(config, path, divides, error);
}

int expert_parallel_experts(int64_t experts, struct run *run, struct graft_error *error) {
    const struct graft_parallel *ranks = expert_parallel_ranks();
    if (experts < ranks->size) {
        return graft_error_set(error, GRAFT_ERROR_USAGE, "expert_parallel",
                               "%lld experts cannot be divided among %ld processes", (long long)experts,
                               (long)ranks->size);
    }
    run->begin = experts * ranks->rank / ranks->size;
    run->end = experts * (ranks->rank + 1) / ranks->size;
    return GRAFT_OK;
}

/* Chooses the largest unit, of 128 columns at most, of which every rank gets the same number: groups of columns that
 * share a scale should not be cut. */
int expert_parallel_width(int64_t width, const char *path, struct run *run, struct graft_error *error) {
    const struct graft_parallel *ranks = expert_parallel_ranks();
    int64_t piece = 128;
    while (piece > 1 && (width % piece != 0 || width / piece % ranks->size != 0)) {
        piece /= 2;
    }
    if (width < ranks->size) {
        return graft_error_set(error, GRAFT_ERROR_USAGE, "expert_parallel",
                               "intermediate_size %lld cannot be divided among %ld processes (%s)", (long long)width,
                               (long)ranks->size, path);
    }
    run->begin = width / piece * ranks->rank / ranks->size * piece;
    run->end = width / piece * (ranks->rank + 1) / ranks->size * piece;
    return GRAFT_OK;
}

int expert_parallel_slice(const struct graft_sink *sink, const struct slice *slice, const struct run *run,
                          struct graft_error *error) {
    struct graft_operation steps[] = {
        {.struct_size = sizeof steps[0], .kind = GRAFT_OP_MERGE_MODULELIST},
        {.struct_size = sizeof steps[0],
         .kind = GRAFT_OP_SLICE,
         .dim = slice->dim,
         .begin = run->begin,
         .length = run->end - run->begin},
        {.struct_size = sizeof steps[0], .kind = GRAFT_OP_SPLIT_MODULELIST},
    };
    for (int32_t i = 0; i < slice->parts && slice->parts > 1; i++) {
        steps[1].parts[i] = 1;
    }
    const struct graft_conversion conversion = {
        .struct_size = sizeof conversion,
        .n_sources = 1,
        .sources = &slice->name,
        .n_targets = 1,
        .targets = &slice->name,
        .n_operations = slice->is_list ? 3 : 1,
        .operations = slice->is_list ? steps : &steps[1],
        .operation_stride = sizeof steps[0],
    };
    return sink->conversion(sink->data, &conversion, error);
}

/* --- Sums --- */

/* The innermost block that runs on this thread; NULL: none. A block calls its modules on its own thread, and other
 * threads run other models. */
static _Thread_local struct block *running;

void expert_parallel_begin_block(struct block *block, struct block **outer) {
    *outer = running;
    *block = (struct block){0};
    running = block;
}

void expert_parallel_end_block(struct block *outer) {
    running = outer;
}

int expert_parallel_sum(float *values, int64_t count, struct graft_error *error) {
    if (running != NULL) {
        running->n_parts++;
        return GRAFT_OK;
    }
    return expert_parallel_ranks()->allreduce(values, count, error);
}
