/* SPDX-License-Identifier: Apache-2.0 */
/* `bench`: how fast a model loads, reads a prompt and generates, and how near that comes to what memory allows. */
#include "cli/commands/bench.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "cli/commands/commands.h"
#include "cli/sample_ids.h"
#include "cli/setup.h"
#include "graft/host/process.h"

enum { BANDWIDTH_BYTES = 512 << 20, DEFAULT_PROMPT = 512 };

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
            graft_profile_set_phase(timing->profile, GRAFT_PHASE_TOKEN);
        }
    }
    return GRAFT_OK;
}

static int run_once(const struct graft_bench *bench, struct graft_model *model, struct graft_profile *profile,
                    struct timing *timing, struct graft_error *error) {
    const struct graft_prompt prompt = {.ids = bench->ids, .count = (size_t)bench->prompt_tokens};
    struct graft_generation generation = {.struct_size = sizeof generation};
    graft_model_generation(model, &generation);
    generation.do_sample = 0;
    generation.repetition_penalty = 1.0;
    generation.ignore_eos = 1;
    generation.max_new_tokens = bench->new_tokens + 1;
    if (profile != NULL) {
        graft_profile_set_phase(profile, GRAFT_PHASE_PROMPT);
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
    int status = prompt == NULL || token == NULL ? graft_fail_memory(error, "bench") : GRAFT_OK;
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

static int begin(struct graft_bench *bench, int which, struct graft_error *error) {
    int is_original = which == GRAFT_BENCH_ORIGINAL || which == GRAFT_BENCH_ORIGINAL_BYTES;
    int is_timed = which == GRAFT_BENCH_REPLACED || which == GRAFT_BENCH_ORIGINAL;
    const struct graft_profile_options options = {
        .struct_size = sizeof options,
        .which = is_timed ? GRAFT_PROFILE_REPLACED : GRAFT_PROFILE_ALL,
        .counterpart = is_original ? bench->model : NULL,
    };
    return graft_model_profile(is_original ? bench->original : bench->model, &options, &bench->profiles[which], error);
}

/* One run under a profile of its own. */
static int run_profiled(struct graft_bench *bench, struct graft_model *model, int which, struct graft_error *error) {
    struct timing timing;
    int status = begin(bench, which, error);
    if (status == GRAFT_OK) {
        status = run_once(bench, model, bench->profiles[which], &timing, error);
        graft_profile_stop(bench->profiles[which]);
    }
    return status;
}

/* The two models by turns. */
static int run_in_turn(struct graft_bench *bench, struct graft_error *error) {
    struct timing timing;
    int status = begin(bench, GRAFT_BENCH_REPLACED, error);
    if (status == GRAFT_OK) {
        status = begin(bench, GRAFT_BENCH_ORIGINAL, error);
    }
    for (int64_t i = 0; i < bench->repeat && status == GRAFT_OK; i++) {
        status = run_once(bench, bench->model, bench->profiles[GRAFT_BENCH_REPLACED], &timing, error);
        if (status == GRAFT_OK) {
            status = run_once(bench, bench->original, bench->profiles[GRAFT_BENCH_ORIGINAL], &timing, error);
        }
    }
    return status;
}

/* What replaces, and what is replaced, in turn; the first run of the original model warms it up. */
static int compare(const struct graft_options *options, struct graft_bench *bench, struct graft_library **plain,
                   struct graft_error *error) {
    int status = graft_setup_original(options, plain, &bench->original, error);
    if (status == GRAFT_OK && !graft_setup_replaces(bench->model, bench->original)) {
        return GRAFT_OK;
    }
    if (status == GRAFT_OK) {
        status = graft_model_load(bench->original, error);
    }
    if (status == GRAFT_OK) {
        status = run_profiled(bench, bench->original, GRAFT_BENCH_ORIGINAL_BYTES, error);
    }
    return status == GRAFT_OK ? run_in_turn(bench, error) : status;
}

/* Memory's speed varies from moment to moment: what is seen before and after the runs counts. */
static void measure_bandwidth(struct graft_bench *bench) {
    double speed = graft_read_bandwidth(BANDWIDTH_BYTES);
    bench->bandwidth = speed > bench->bandwidth ? speed : bench->bandwidth;
}

/* A run to warm up, the timed ones, and those that are watched: hooks take time. */
static int measure(const struct graft_options *options, struct graft_bench *bench, struct graft_library **plain,
                   struct graft_error *error) {
    struct timing timing;
    measure_bandwidth(bench);
    int status = run_once(bench, bench->model, NULL, &timing, error);
    if (status == GRAFT_OK) {
        status = run_timed(bench, error);
    }
    measure_bandwidth(bench);
    if (status == GRAFT_OK) {
        status = graft_model_weight_use(bench->model, &bench->weights, error);
    }
    if (status == GRAFT_OK && options->modules) {
        status = run_profiled(bench, bench->model, GRAFT_BENCH_CLASSES, error);
    }
    return status == GRAFT_OK && options->modules ? compare(options, bench, plain, error) : status;
}

/* How long the prompt is: as asked for, else as usual, or as long as the model has positions for. */
static int choose_sizes(const struct graft_options *options, struct graft_bench *bench, struct graft_error *error) {
    int64_t positions = graft_model_max_positions(bench->model), room = positions - bench->new_tokens;
    int64_t wanted = options->prompt_tokens > 0 ? options->prompt_tokens : DEFAULT_PROMPT;
    bench->prompt_tokens = options->prompt_tokens > 0 || positions == 0 || wanted < room ? wanted : room;
    if (positions > 0 && (bench->prompt_tokens > room || room < 1)) {
        return graft_error_set(error, GRAFT_ERROR_USAGE, "--prompt-tokens and --new-tokens",
                               "%lld and %lld, the model has positions for %lld", (long long)wanted,
                               (long long)bench->new_tokens, (long long)positions);
    }
    return GRAFT_OK;
}

int graft_command_bench(const struct graft_options *options, struct graft_model *model, struct graft_error *error) {
    struct graft_library *plain = NULL;
    if (graft_model_task(model) != GRAFT_TASK_CAUSAL_LM) {
        return graft_error_set(error, GRAFT_ERROR_USAGE, options->model, "%s is an encoder; bench measures generation",
                               graft_model_class_at(model, ""));
    }
    struct graft_bench bench = {
        .model = model,
        .new_tokens = options->new_tokens,
        .repeat = options->repeat,
        .weights = {.struct_size = sizeof bench.weights},
    };
    int status = choose_sizes(options, &bench, error);
    if (status == GRAFT_OK && (bench.ids = graft_sample_ids((size_t)bench.prompt_tokens, model)) == NULL) {
        status = graft_fail_memory(error, "bench");
    }
    if (status == GRAFT_OK) {
        status = measure(options, &bench, &plain, error);
    }
    if (status == GRAFT_OK) {
        status = graft_bench_report(options, &bench, error);
    }
    for (int i = 0; i < GRAFT_BENCH_PROFILES; i++) {
        graft_profile_free(bench.profiles[i]);
    }
    graft_model_free(bench.original);
    graft_library_free(plain);
    graft_free(bench.ids);
    return status;
}
