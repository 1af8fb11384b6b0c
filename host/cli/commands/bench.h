/* SPDX-License-Identifier: Apache-2.0 */
/* What `bench` measured: shared by its units. */
#ifndef GRAFT_CLI_COMMANDS_BENCH_H
#define GRAFT_CLI_COMMANDS_BENCH_H

#include "cli/options.h"
#include "graft/host/graft.h"
#include "graft/host/profile.h"

/* Of several repeats. */
struct graft_spread {
    double median;
    double minimum;
    double maximum;
};

/* Runs with hooks. They keep products apart that otherwise run together, so the replaced modules and their
 * originals are timed in runs that hook nothing else. */
enum {
    GRAFT_BENCH_CLASSES,        /* every module */
    GRAFT_BENCH_REPLACED,       /* what replaces, `repeat` runs */
    GRAFT_BENCH_ORIGINAL,       /* what was replaced, `repeat` runs */
    GRAFT_BENCH_ORIGINAL_BYTES, /* every module of the original model, for the bytes */
    GRAFT_BENCH_PROFILES
};

struct graft_bench {
    struct graft_model *model;
    struct graft_model *original; /* NULL unless it is measured too */
    int32_t *ids;                 /* [prompt_tokens] */
    int64_t prompt_tokens;
    int64_t new_tokens;
    int64_t repeat;
    struct graft_spread prompt_speed; /* tokens per second */
    struct graft_spread token_speed;
    struct graft_weight_use weights;
    double bandwidth;                                     /* bytes per second */
    struct graft_profile *profiles[GRAFT_BENCH_PROFILES]; /* NULL: not made */
};

/* Prints the result to stdout, as text or as JSON. */
int graft_bench_report(const struct graft_options *options, const struct graft_bench *bench, struct graft_error *error);

#endif
