/* SPDX-License-Identifier: Apache-2.0 */
/* What `bench` measured: shared by its units. */
#ifndef GRAFT_CLI_COMMANDS_BENCH_H
#define GRAFT_CLI_COMMANDS_BENCH_H

#include "base/json.h"
#include "cli/options.h"
#include "graft/host/graft.h"
#include "graft/host/observe.h"

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
    GRAFT_BENCH_STEPS,          /* every module, while several sequences generate */
    GRAFT_BENCH_PROFILES
};

struct graft_bench {
    struct graft_model *model;
    struct graft_model *original; /* NULL unless it is measured too */
    int32_t *ids;                 /* [sequences, prompt_tokens] */
    int64_t sequences;
    int64_t prompt_tokens; /* of each sequence, as are new tokens */
    int64_t new_tokens;
    int64_t repeat;
    struct graft_spread prompt_speed; /* tokens per second of all sequences */
    struct graft_spread token_speed;
    struct graft_weight_use weights;
    int64_t step_bytes;     /* of weights, that a token of each sequence reads */
    double cache_bytes;     /* of what is kept of earlier tokens, that a token of one sequence reads; the mean */
    double read_bytes;      /* all that a token of each sequence reads: weights, cache and states */
    double bandwidth;       /* bytes per second; the median of what was seen beside the runs, as are shares and peak */
    double bandwidth_share; /* how much of it reading the weights took */
    double read_share;      /* and reading all */
    double peak;            /* operations per second */
    double peak_share;      /* how much of it the prompt took */
    const char *peak_unit;
    double token_operations;                              /* of a prompt's token, without the head and attention */
    struct graft_profile *profiles[GRAFT_BENCH_PROFILES]; /* NULL: not made */
};

/* Reads what --compare names, and checks that it fits; *other stays NULL without it. The caller frees it. */
int graft_bench_read_other(const struct graft_options *options, const struct graft_bench *bench, graft_json **other,
                           struct graft_error *error);

/* Prints the ratios of `document` to `other`, line by line. */
void graft_bench_compare(const graft_json *document, const graft_json *other);

/* Prints the result to stdout, as text, with ratios to `other` unless that is NULL, or as JSON. */
int graft_bench_report(const struct graft_options *options, const struct graft_bench *bench, const graft_json *other,
                       struct graft_error *error);

#endif
