/* SPDX-License-Identifier: Apache-2.0 */
/* `bench`: how fast a model loads, reads a prompt and generates, and how near that comes to what memory allows. */
#include "cli/commands/bench.h"
#include "cli/generation.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "cli/commands/commands.h"
#include "cli/report/weights.h"
#include "cli/sample_ids.h"
#include "cli/screen.h"
#include "cli/setup.h"
#include "graft/host/process.h"

enum { DEFAULT_PROMPT = 512 };

/* Times of one run, in seconds: its start, when every sequence had its first token (the prompts are read), and the last
 * token. */
struct timing {
    double start;
    double first;
    double last;
    int64_t awaited;               /* sequences without a token */
    struct graft_profile *profile; /* gets the phases; or NULL */
};

static int on_token(void *data, size_t sequence, int32_t id, int last, struct graft_error *error) {
    struct timing *timing = data;
    (void)sequence;
    (void)id;
    (void)last;
    (void)error;
    timing->last = graft_seconds();
    if (timing->awaited > 0 && --timing->awaited == 0) {
        timing->first = timing->last;
        if (timing->profile != NULL) {
            graft_profile_set_phase(timing->profile, GRAFT_PHASE_TOKEN);
        }
    }
    return GRAFT_OK;
}

static int run_prompts(const struct graft_bench *bench, struct graft_model *model, struct graft_profile *profile,
                       struct timing *timing, const struct graft_prompt *prompts, int64_t new_tokens,
                       struct graft_error *error) {
    const struct graft_generation generation = graft_generation_plain(new_tokens);
    if (profile != NULL) {
        graft_profile_set_phase(profile, GRAFT_PHASE_PROMPT);
    }
    *timing = (struct timing){.start = graft_seconds(), .awaited = bench->sequences, .profile = profile};
    return graft_model_generate(model, prompts, (size_t)bench->sequences, &generation, on_token, timing, error);
}

static int run_once(const struct graft_bench *bench, struct graft_model *model, struct graft_profile *profile,
                    struct timing *timing, struct graft_error *error) {
    struct graft_prompt *prompts = graft_alloc((size_t)bench->sequences, sizeof *prompts);
    if (prompts == NULL) {
        return graft_fail_memory(error, "bench");
    }
    for (int64_t i = 0; i < bench->sequences; i++) {
        prompts[i] = (struct graft_prompt){.struct_size = sizeof(struct graft_prompt),
                                           .ids = bench->ids + i * bench->prompt_tokens,
                                           .count = (size_t)bench->prompt_tokens};
    }
    int status = run_prompts(bench, model, profile, timing, prompts, bench->new_tokens + 1, error);
    graft_free(prompts);
    return status;
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

/* The machine's limits, measured next to a run. */
struct limits {
    double bandwidth;
    double peak;
};

static struct limits measure_limits(const struct graft_options *options, struct graft_bench *bench) {
    int32_t bf16 = strcmp(options->dtype, "float32") != 0;
    return (struct limits){graft_read_bandwidth(0), graft_matrix_peak(bf16, &bench->peak_unit)};
}

/* The values of each timed run, in order. */
struct samples {
    double *values[7]; /* prompt and token speed, bandwidth and shares of it, peak and share of it */
};

static double larger(double a, double b) {
    return a > b ? a : b;
}

static double share(double used, double available) {
    return available > 0.0 ? used / available : 0.0;
}

/* The timed runs. A machine's speed varies from minute to minute, so its limits are measured right before and after
 * each run. */
static int run_timed(const struct graft_options *options, struct graft_bench *bench, struct samples *samples,
                     struct graft_error *error) {
    struct limits before = measure_limits(options, bench);
    const double n = (double)bench->sequences;
    for (int64_t i = 0; i < bench->repeat; i++) {
        struct timing timing;
        graft_screen_count(i, bench->repeat, "runs");
        int status = run_once(bench, bench->model, NULL, &timing, error);
        if (status != GRAFT_OK) {
            return status;
        }
        struct limits after = measure_limits(options, bench);
        double prompt = n * (double)bench->prompt_tokens / (timing.first - timing.start);
        double steps = (double)bench->new_tokens / (timing.last - timing.first);
        double bandwidth = larger(before.bandwidth, after.bandwidth), peak = larger(before.peak, after.peak);
        const double found[] = {prompt,
                                n * steps,
                                bandwidth,
                                share((double)bench->step_bytes * steps, bandwidth),
                                share(bench->read_bytes * steps, bandwidth),
                                peak,
                                share(bench->token_operations * prompt, peak)};
        for (size_t k = 0; k < sizeof found / sizeof found[0]; k++) {
            samples->values[k][i] = found[k];
        }
        before = after;
    }
    return GRAFT_OK;
}

static int run_repeats(const struct graft_options *options, struct graft_bench *bench, struct graft_error *error) {
    enum { KINDS = sizeof(struct samples) / sizeof(double *) };
    struct samples samples;
    struct graft_spread spreads[KINDS];
    double *all = graft_alloc((size_t)bench->repeat * KINDS, sizeof *all);
    if (all == NULL) {
        return graft_fail_memory(error, "bench");
    }
    for (int k = 0; k < KINDS; k++) {
        samples.values[k] = all + k * bench->repeat;
    }
    int status = run_timed(options, bench, &samples, error);
    for (int k = 0; k < KINDS && status == GRAFT_OK; k++) {
        spreads[k] = spread_of(samples.values[k], bench->repeat);
    }
    if (status == GRAFT_OK) {
        bench->prompt_speed = spreads[0];
        bench->token_speed = spreads[1];
        bench->bandwidth = spreads[2].median;
        bench->bandwidth_share = spreads[3].median;
        bench->read_share = spreads[4].median;
        bench->peak = spreads[5].median;
        bench->peak_share = spreads[6].median;
    }
    graft_free(all);
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

/* Runs once with the hooks of profile `which`. */
static int run_profiled(struct graft_bench *bench, struct graft_model *model, int which, struct graft_error *error) {
    struct timing timing;
    int status = begin(bench, which, error);
    if (status == GRAFT_OK) {
        status = run_once(bench, model, bench->profiles[which], &timing, error);
        graft_profile_stop(bench->profiles[which]);
    }
    return status;
}

/* Runs the model and the original in turn, each under the profile of its replaced modules. */
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

/* Profiles replacements and their originals. The first run of the original model, for its bytes, also warms it up. */
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

/* Computes weights, operations and cache per token. A prompt's operations leave out the head, which runs for its last
 * token only. */
static int measure_token(struct graft_bench *bench, struct graft_error *error) {
    int status = graft_model_weight_use(bench->model, &bench->weights, error);
    bench->token_operations = 2.0 * (double)bench->weights.weights_per_token;
    return status == GRAFT_OK
               ? graft_model_cache_use(bench->model, bench->prompt_tokens + 1, bench->prompt_tokens + bench->new_tokens,
                                       &bench->cache_bytes, error)
               : status;
}

/* Runs once to warm up. Several sequences share most weights that a step reads, but each chooses its own experts, so
 * with several the run is profiled to count the bytes. */
static int warm_up(struct graft_bench *bench, struct graft_error *error) {
    struct timing timing;
    bench->step_bytes = bench->weights.bytes_per_token;
    if (bench->sequences == 1) {
        return run_once(bench, bench->model, NULL, &timing, error);
    }
    int status = run_profiled(bench, bench->model, GRAFT_BENCH_STEPS, error);
    if (status == GRAFT_OK) {
        const struct graft_profile *profile = bench->profiles[GRAFT_BENCH_STEPS];
        bench->step_bytes = graft_profile_bytes(profile, GRAFT_PHASE_TOKEN) / bench->new_tokens;
    }
    return status;
}

/* Cache and states are read for each sequence, weights once for all. */
static double read_bytes(const struct graft_bench *bench) {
    const double own = bench->cache_bytes + (double)bench->weights.state_bytes_per_token;
    return (double)bench->step_bytes + (double)bench->sequences * own;
}

/* Measures: a warm-up, the timed runs, then with --modules the profiled runs, apart because hooks take time. */
static int measure(const struct graft_options *options, struct graft_bench *bench, struct graft_library **plain,
                   struct graft_error *error) {
    int status = measure_token(bench, error);
    if (status == GRAFT_OK) {
        status = warm_up(bench, error);
        bench->read_bytes = read_bytes(bench);
    }
    if (status == GRAFT_OK) {
        status = run_repeats(options, bench, error);
    }
    if (status == GRAFT_OK && options->modules) {
        status = run_profiled(bench, bench->model, GRAFT_BENCH_CLASSES, error);
    }
    return status == GRAFT_OK && options->modules ? compare(options, bench, plain, error) : status;
}

/* Chooses the length of the prompt: --prompt-tokens, else the default, or less if the model has fewer positions. */
static int choose_sizes(const struct graft_options *options, struct graft_bench *bench, struct graft_error *error) {
    int64_t positions = graft_model_max_positions(bench->model), room = positions - bench->new_tokens;
    int64_t wanted = options->prompt_tokens > 0 ? options->prompt_tokens : DEFAULT_PROMPT;
    bench->prompt_tokens = options->prompt_tokens > 0 || positions == 0 || wanted < room ? wanted : room;
    if (positions > 0 && (bench->prompt_tokens > room || room < 1)) {
        return graft_error_set(error, GRAFT_ERROR_USAGE, "--prompt-tokens and --new-tokens",
                               "%lld and %lld tokens do not fit together in the model's %lld positions",
                               (long long)wanted, (long long)bench->new_tokens, (long long)positions);
    }
    return GRAFT_OK;
}

int graft_command_bench(const struct graft_options *options, struct graft_model *model, struct graft_error *error) {
    struct graft_library *plain = NULL;
    if (graft_model_task(model) != GRAFT_TASK_CAUSAL_LM) {
        return graft_error_set(error, GRAFT_ERROR_USAGE, options->model,
                               "%s does not generate text, which is what bench measures",
                               graft_model_class_at(model, ""));
    }
    struct graft_bench bench = {
        .model = model,
        .sequences = options->sequences,
        .new_tokens = options->new_tokens,
        .repeat = options->repeat,
        .weights = {.struct_size = sizeof bench.weights},
    };
    graft_json *other = NULL;
    int status = choose_sizes(options, &bench, error);
    if (status == GRAFT_OK) {
        status = graft_bench_read_other(options, &bench, &other, error);
    }
    const size_t ids = (size_t)(bench.sequences * bench.prompt_tokens);
    if (status == GRAFT_OK && (bench.ids = graft_sample_ids(ids, model)) == NULL) {
        status = graft_fail_memory(error, "bench");
    }
    if (status == GRAFT_OK) {
        graft_screen_begin("measuring", 0);
        status = measure(options, &bench, &plain, error);
        graft_screen_end();
    }
    if (status == GRAFT_OK) {
        status = graft_bench_report(options, &bench, other, error);
    }
    for (int i = 0; i < GRAFT_BENCH_PROFILES; i++) {
        graft_profile_free(bench.profiles[i]);
    }
    graft_model_free(bench.original);
    graft_library_free(plain);
    graft_json_free(other);
    graft_free(bench.ids);
    return status;
}
