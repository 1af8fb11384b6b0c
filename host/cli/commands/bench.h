/* SPDX-License-Identifier: Apache-2.0 */
/* The measurements of `bench`, for the files that measure and the files that report. */
#ifndef GRAFT_CLI_COMMANDS_BENCH_H
#define GRAFT_CLI_COMMANDS_BENCH_H

#include "base/json.h"
#include "cli/options.h"
#include "graft/host/graft.h"
#include "graft/host/observe.h"

/* A value over the timed runs. */
struct graft_spread {
    double median;
    double minimum;
    double maximum;
};

/* Kinds of profiling runs, which hook modules. A hook on a module prevents its product from running together with
 * others', so replaced modules and their originals are timed in runs without any other hook. */
enum {
    GRAFT_BENCH_CLASSES,        /* every module */
    GRAFT_BENCH_REPLACED,       /* the replacements, `repeat` runs */
    GRAFT_BENCH_ORIGINAL,       /* the modules that they replace, `repeat` runs */
    GRAFT_BENCH_ORIGINAL_BYTES, /* every module of the original model, for the bytes that it reads */
    GRAFT_BENCH_STEPS,          /* every module, while several sequences generate */
    GRAFT_BENCH_PROFILES
};

struct graft_bench {
    struct graft_model *model;
    struct graft_model *original; /* the model without plugins; NULL unless --modules measures it too */
    int32_t *ids;                 /* [sequences, prompt_tokens] */
    int64_t sequences;
    int64_t prompt_tokens; /* per sequence, as new_tokens */
    int64_t new_tokens;
    int64_t repeat;
    struct graft_spread prompt_speed; /* tokens per second of all sequences */
    struct graft_spread token_speed;
    struct graft_weight_use weights;
    int64_t step_bytes;     /* bytes of weights that a step reads: one token of each sequence */
    double cache_bytes;     /* bytes of the cache that a token of one sequence reads, on average */
    double read_bytes;      /* bytes that a step reads in all: weights, cache and states */
    double bandwidth;       /* bytes of memory per second; a median, like the next */
    double bandwidth_share; /* fraction of the bandwidth that reading weights reached */
    double read_share;      /* fraction of the bandwidth that reading everything reached */
    double peak;            /* operations of matrix products per second */
    double peak_share;      /* fraction of the peak that processing the prompt reached */
    const char *peak_unit;
    double token_operations;                              /* per token of a prompt, without the head and attention */
    struct graft_profile *profiles[GRAFT_BENCH_PROFILES]; /* NULL: not profiled */
};

/* Reads the file of --compare and checks that it measured the same work; `*other` stays NULL without the option. The
 * caller frees it. */
int graft_bench_read_other(const struct graft_options *options, const struct graft_bench *bench, graft_json **other,
                           struct graft_error *error);

/* Prints the ratios of `document` to `other`, line by line. */
void graft_bench_compare(const graft_json *document, const graft_json *other);

/* Prints the result to stdout, as text, with ratios to `other` unless that is NULL, or as JSON. */
int graft_bench_report(const struct graft_options *options, const struct graft_bench *bench, const graft_json *other,
                       struct graft_error *error);

#endif
