/* SPDX-License-Identifier: Apache-2.0 */
/* `bench`: how fast a model loads, reads a prompt and generates, and how near that comes to what memory allows. */
#include "cli/commands/bench.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "cli/commands/commands.h"
#include "cli/sample_ids.h"
#include "cli/setup.h"
#include "kernels/bandwidth.h"

enum { BANDWIDTH_BYTES = 512 << 20 };

static int out_of_memory(struct graft_error *error) {
    return graft_error_set(error, GRAFT_ERROR_INTERNAL, "bench", "out of memory");
}

/* One run: the first token comes when the prompt is done, the last `new_tokens` after it. */
struct timing {
    double start;
    double first;
    double last;
    struct graft_profile *profile; /* NULL, or to be told when the prompt is done */
};

static int on_token(void *data, size_t sequence, int32_t id, int last, struct graft_error *error) {
    struct timing *timing = data;
    (void)sequence;
    (void)id;
    (void)last;
    (void)error;
    timing->last = graft_seconds();
    if (timing->first < timing->start) {
        timing->first = timing->last;
        if (timing->profile != NULL) {
            timing->profile->phase = GRAFT_PHASE_TOKEN;
        }
    }
    return GRAFT_OK;
}

static int run_once(const struct graft_bench *bench, struct graft_model *model, struct graft_profile *profile,
                    struct timing *timing, struct graft_error *error) {
    const struct graft_prompt prompt = {.ids = bench->ids, .count = (size_t)bench->prompt_tokens};
    struct graft_generation generation;
    graft_model_generation(model, &generation);
    generation.do_sample = 0;
    generation.repetition_penalty = 1.0;
    generation.ignore_eos = 1;
    generation.max_new_tokens = bench->new_tokens + 1;
    if (profile != NULL) {
        profile->phase = GRAFT_PHASE_PROMPT;
    }
    *timing = (struct timing){.start = graft_seconds(), .profile = profile};
    return graft_model_generate(model, &prompt, 1, &generation, on_token, timing, error);
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Sorts `values`, of which there is at least one. */
static struct graft_spread spread_of(double *values, int64_t n) {
    qsort(values, (size_t)n, sizeof *values, ascending);
    return (struct graft_spread){(values[(n - 1) / 2] + values[n / 2]) / 2.0, values[0], values[n - 1]};
}

static int run_timed(struct graft_bench *bench, struct graft_error *error) {
    double *prompt = graft_alloc((size_t)bench->repeat, sizeof *prompt);
    double *token = graft_alloc((size_t)bench->repeat, sizeof *token);
    int status = prompt == NULL || token == NULL ? out_of_memory(error) : GRAFT_OK;
    for (int64_t i = 0; i < bench->repeat && status == GRAFT_OK; i++) {
        struct timing timing;
        status = run_once(bench, bench->model, NULL, &timing, error);
        prompt[i] = (double)bench->prompt_tokens / (timing.first - timing.start);
        token[i] = (double)bench->new_tokens / (timing.last - timing.first);
    }
    if (status == GRAFT_OK) {
        bench->prompt_speed = spread_of(prompt, bench->repeat);
        bench->token_speed = spread_of(token, bench->repeat);
    }
    graft_free(prompt);
    graft_free(token);
    return status;
}

static int run_observed(struct graft_bench *bench, struct graft_model *model, int which, struct graft_error *error) {
    struct graft_profile *profile = &bench->profiles[which];
    struct timing timing;
    profile->which =
        which == GRAFT_BENCH_REPLACED || which == GRAFT_BENCH_ORIGINAL ? GRAFT_PROFILE_REPLACED : GRAFT_PROFILE_ALL;
    profile->counterpart = model == bench->original ? bench->model->tree : NULL;
    int status = graft_profile_begin(profile, model->tree, error);
    if (status == GRAFT_OK) {
        status = run_once(bench, model, profile, &timing, error);
    }
    graft_profile_end(profile);
    return status;
}

/* What replaces, and what is replaced, in turn; the first run of the original model warms it up. */
static int compare(const struct graft_options *options, struct graft_bench *bench, struct graft_library *plain,
                   struct graft_error *error) {
    int status = graft_setup_original(options, plain, &bench->original, error);
    if (status == GRAFT_OK) {
        status = graft_model_load(bench->original, error);
    }
    if (status == GRAFT_OK) {
        status = run_observed(bench, bench->original, GRAFT_BENCH_ORIGINAL_BYTES, error);
    }
    for (int64_t i = 0; i < bench->repeat && status == GRAFT_OK; i++) {
        status = run_observed(bench, bench->model, GRAFT_BENCH_REPLACED, error);
        if (status == GRAFT_OK) {
            status = run_observed(bench, bench->original, GRAFT_BENCH_ORIGINAL, error);
        }
    }
    return status;
}

static int count_replaced(void *data, struct graft_node *node, struct graft_error *error) {
    size_t *replaced = data;
    (void)error;
    *replaced += node->original != NULL;
    return GRAFT_OK;
}

/* Memory's speed varies from moment to moment: what is seen before and after the runs counts. */
static void measure_bandwidth(struct graft_bench *bench) {
    double speed = graft_read_bandwidth(BANDWIDTH_BYTES);
    bench->bandwidth = speed > bench->bandwidth ? speed : bench->bandwidth;
}

/* A run to warm up, the timed ones, and one that counts the bytes: observing takes time. */
static int measure(const struct graft_options *options, struct graft_bench *bench, struct graft_library *plain,
                   struct graft_error *error) {
    struct timing timing;
    size_t replaced = 0;
    measure_bandwidth(bench);
    int status = run_once(bench, bench->model, NULL, &timing, error);
    if (status == GRAFT_OK) {
        status = run_timed(bench, error);
    }
    measure_bandwidth(bench);
    if (status == GRAFT_OK) {
        status = run_observed(bench, bench->model, GRAFT_BENCH_CLASSES, error);
    }
    bench->bytes_per_token =
        (double)bench->profiles[GRAFT_BENCH_CLASSES].bytes[GRAFT_PHASE_TOKEN] / (double)bench->new_tokens;
    (void)graft_tree_walk(bench->model->tree, count_replaced, &replaced, NULL);
    return status == GRAFT_OK && options->modules && replaced > 0 ? compare(options, bench, plain, error) : status;
}

int graft_command_bench(const struct graft_options *options, struct graft_model *model, struct graft_error *error) {
    struct graft_library *plain = NULL;
    if (graft_model_task(model) != GRAFT_TASK_CAUSAL_LM) {
        return graft_error_set(error, GRAFT_ERROR_USAGE, options->model,
                               "%s is an encoder: it does not generate, and that is what bench measures",
                               graft_model_class_at(model, ""));
    }
    struct graft_bench bench = {
        .model = model,
        .prompt_tokens = options->prompt_tokens,
        .new_tokens = options->new_tokens,
        .repeat = options->repeat,
        .ids = graft_sample_ids((size_t)options->prompt_tokens, model),
    };
    int status = bench.ids == NULL ? out_of_memory(error) : graft_library_create(&plain, error);
    if (status == GRAFT_OK) {
        status = measure(options, &bench, plain, error);
    }
    if (status == GRAFT_OK) {
        status = graft_bench_report(options, &bench, error);
    }
    for (int i = 0; i < GRAFT_BENCH_PROFILES; i++) {
        graft_profile_finish(&bench.profiles[i]);
    }
    graft_model_free(bench.original);
    graft_library_free(plain);
    graft_free(bench.ids);
    return status;
}
