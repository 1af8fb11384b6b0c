/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "base/json_writer.h"
#include "cli/commands/bench.h"
#include "cli/output.h"
#include "cli/report/weights.h"
#include "graft/host/process.h"

static double load_seconds(const struct graft_bench *bench) {
    return graft_model_plan(bench->model)->seconds + graft_model_load_seconds(bench->model);
}

/* Time and bytes of the modules of a class, for a prompt or a token. */
struct cost {
    int64_t calls;
    double milliseconds;
    double own_milliseconds;
    double bytes;
};

/* Row number `i` of a profile; NULL after the last, and if the profile was not made. */
static const struct graft_profile_row *row_of(const struct graft_bench *bench, int which, size_t i) {
    return bench->profiles[which] != NULL ? graft_profile_at(bench->profiles[which], i) : NULL;
}

/* The cost in row number `i` of a profile; zeros if there is no such row. */
static struct cost cost_of(const struct graft_bench *bench, int which, size_t i, int32_t phase) {
    int timed = which == GRAFT_BENCH_REPLACED || which == GRAFT_BENCH_ORIGINAL;
    double runs = timed ? (double)bench->repeat : 1.0;
    double steps = phase == GRAFT_PHASE_TOKEN ? runs * (double)bench->new_tokens : runs;
    const struct graft_profile_row *row = row_of(bench, which, i);
    if (row == NULL) {
        return (struct cost){0};
    }
    const struct graft_profile_sum *sum = &row->phases[phase];
    return (struct cost){(int64_t)((double)sum->calls / runs), sum->seconds * 1e3 / steps,
                         sum->own_seconds * 1e3 / steps, (double)sum->bytes / steps};
}

/* The row in another profile with the same class and the same replaced class; the number after the last if there is
 * none. */
static size_t same_row(const struct graft_bench *bench, int which, const struct graft_profile_row *row) {
    const struct graft_profile_row *other;
    size_t i = 0;
    for (; (other = row_of(bench, which, i)) != NULL; i++) {
        if (other->original_class != NULL && strcmp(other->class_name, row->class_name) == 0 &&
            strcmp(other->original_class, row->original_class) == 0) {
            break;
        }
    }
    return i;
}

/* The costs of replaced modules and of their originals. */
struct pair {
    struct cost replaced;
    struct cost original;
};

static struct pair pair_of(const struct graft_bench *bench, size_t i, int32_t phase) {
    const struct graft_profile_row *row = row_of(bench, GRAFT_BENCH_REPLACED, i);
    struct pair pair = {
        cost_of(bench, GRAFT_BENCH_REPLACED, i, phase),
        cost_of(bench, GRAFT_BENCH_ORIGINAL, same_row(bench, GRAFT_BENCH_ORIGINAL, row), phase),
    };
    pair.replaced.bytes = cost_of(bench, GRAFT_BENCH_CLASSES, same_row(bench, GRAFT_BENCH_CLASSES, row), phase).bytes;
    pair.original.bytes =
        cost_of(bench, GRAFT_BENCH_ORIGINAL_BYTES, same_row(bench, GRAFT_BENCH_ORIGINAL_BYTES, row), phase).bytes;
    return pair;
}

static void print_spread(const char *what, const struct graft_spread *speed, int64_t sequences) {
    (void)printf("%s %.2f tokens/s (%.2f to %.2f)", what, speed->median, speed->minimum, speed->maximum);
    if (sequences > 1) {
        (void)printf(", %.2f for each sequence", speed->median / (double)sequences);
    }
    (void)printf("\n");
}

static void print_classes(const struct graft_bench *bench) {
    const struct graft_profile_row *row;
    (void)printf("\n%-32s %7s %12s %12s %12s %12s %12s\n", "class (with its children)", "modules", "prompt ms",
                 "of it own", "token ms", "of it own", "token MB");
    for (size_t i = 0; (row = row_of(bench, GRAFT_BENCH_CLASSES, i)) != NULL; i++) {
        struct cost prompt = cost_of(bench, GRAFT_BENCH_CLASSES, i, GRAFT_PHASE_PROMPT);
        struct cost token = cost_of(bench, GRAFT_BENCH_CLASSES, i, GRAFT_PHASE_TOKEN);
        (void)printf("%-32s %7lld %12.3f %12.3f %12.3f %12.3f %12.3f\n", row->class_name, (long long)row->modules,
                     prompt.milliseconds, prompt.own_milliseconds, token.milliseconds, token.own_milliseconds,
                     token.bytes / 1e6);
    }
}

static void print_replaced(const struct graft_bench *bench) {
    const struct graft_profile_row *row;
    for (size_t i = 0; (row = row_of(bench, GRAFT_BENCH_REPLACED, i)) != NULL; i++) {
        struct pair prompt = pair_of(bench, i, GRAFT_PHASE_PROMPT);
        struct pair token = pair_of(bench, i, GRAFT_PHASE_TOKEN);
        (void)printf(
            "%s%s instead of %s: prompt %.3f ms instead of %.3f, token %.3f ms instead of %.3f, %.3f MB instead "
            "of %.3f\n",
            i == 0 ? "\n" : "", row->class_name, row->original_class, prompt.replaced.milliseconds,
            prompt.original.milliseconds, token.replaced.milliseconds, token.original.milliseconds,
            token.replaced.bytes / 1e6, token.original.bytes / 1e6);
    }
}

static void print_text(const struct graft_options *options, const struct graft_bench *bench) {
    const char *step = bench->sequences > 1 ? "step" : "token";
    double steps = bench->token_speed.median / (double)bench->sequences;
    (void)printf("%d threads, %lld prompt tokens, %lld new tokens, ", (int)graft_threads_count(),
                 (long long)bench->prompt_tokens, (long long)bench->new_tokens);
    if (bench->sequences > 1) {
        (void)printf("%lld sequences, ", (long long)bench->sequences);
    }
    (void)printf("median of %lld (minimum to maximum)\n", (long long)bench->repeat);
    (void)printf("load       %.1f ms\n", load_seconds(bench) * 1e3);
    print_spread("prompt    ", &bench->prompt_speed, bench->sequences);
    print_spread("generation", &bench->token_speed, bench->sequences);
    (void)printf("weights    %.2f M of %.2f bits, %.2f MB read per %s\n", (double)bench->weights.weights / 1e6,
                 graft_bits_per_weight(&bench->weights), (double)bench->step_bytes / 1e6, step);
    (void)printf("cache      %lld bytes kept of each token, %.2f MB read per token on average\n",
                 (long long)bench->weights.cache_bytes_per_token, bench->cache_bytes / 1e6);
    if (bench->weights.state_bytes_per_token > 0) {
        (void)printf("state      %lld bytes that each token reads and changes\n",
                     (long long)bench->weights.state_bytes_per_token);
    }
    (void)printf("bandwidth  %.2f MB read per %s in all: %.2f GB/s, %.0f %% of the %.2f GB/s that this machine reads; "
                 "weights alone %.0f %%\n",
                 bench->read_bytes / 1e6, step, bench->read_bytes * steps / 1e9, bench->read_share * 100.0,
                 bench->bandwidth / 1e9, bench->bandwidth_share * 100.0);
    (void)printf("products   %.2f GFLOP for each token of a prompt: %.0f GFLOP/s, %.0f %% of the %.0f GFLOP/s of %s\n",
                 bench->token_operations / 1e9, bench->token_operations * bench->prompt_speed.median / 1e9,
                 bench->peak_share * 100.0, bench->peak / 1e9, bench->peak_unit);
    if (options->modules) {
        print_classes(bench);
        print_replaced(bench);
    }
}

static graft_json *spread_json(struct graft_writer *writer, const struct graft_spread *speed) {
    graft_json *object = graft_json_new_object();
    graft_writer_set_real(writer, object, "median", speed->median);
    graft_writer_set_real(writer, object, "minimum", speed->minimum);
    graft_writer_set_real(writer, object, "maximum", speed->maximum);
    return object;
}

static const char *const phase_names[GRAFT_PHASES] = {"prompt", "token"};

static graft_json *class_json(struct graft_writer *writer, const struct graft_bench *bench, size_t i) {
    const struct graft_profile_row *row = row_of(bench, GRAFT_BENCH_CLASSES, i);
    graft_json *object = graft_json_new_object();
    graft_writer_set_string(writer, object, "class", row->class_name);
    graft_writer_set_string(writer, object, "original_class", row->original_class);
    graft_writer_set_string(writer, object, "plugin", row->plugin);
    graft_writer_set_string(writer, object, "interface", row->interface_id);
    graft_writer_set_int(writer, object, "modules", row->modules);
    for (int32_t phase = 0; phase < GRAFT_PHASES; phase++) {
        struct cost cost = cost_of(bench, GRAFT_BENCH_CLASSES, i, phase);
        graft_json *costs = graft_json_new_object();
        graft_writer_set_int(writer, costs, "calls", cost.calls);
        graft_writer_set_real(writer, costs, "milliseconds", cost.milliseconds);
        graft_writer_set_real(writer, costs, "own_milliseconds", cost.own_milliseconds);
        graft_writer_set_real(writer, costs, "bytes", cost.bytes);
        graft_writer_set(writer, object, phase_names[phase], costs);
    }
    return object;
}

static graft_json *replaced_json(struct graft_writer *writer, const struct graft_bench *bench, size_t i) {
    const struct graft_profile_row *row = row_of(bench, GRAFT_BENCH_REPLACED, i);
    graft_json *object = graft_json_new_object();
    graft_writer_set_string(writer, object, "class", row->class_name);
    graft_writer_set_string(writer, object, "original_class", row->original_class);
    graft_writer_set_string(writer, object, "plugin", row->plugin);
    graft_writer_set_int(writer, object, "modules", row->modules);
    for (int32_t phase = 0; phase < GRAFT_PHASES; phase++) {
        struct pair pair = pair_of(bench, i, phase);
        graft_json *costs = graft_json_new_object();
        graft_writer_set_real(writer, costs, "milliseconds", pair.replaced.milliseconds);
        graft_writer_set_real(writer, costs, "bytes", pair.replaced.bytes);
        if (pair.original.calls > 0) {
            graft_writer_set_real(writer, costs, "original_milliseconds", pair.original.milliseconds);
            graft_writer_set_real(writer, costs, "original_bytes", pair.original.bytes);
        }
        graft_writer_set(writer, object, phase_names[phase], costs);
    }
    return object;
}

static void set_modules(struct graft_writer *writer, graft_json *object, const struct graft_bench *bench) {
    graft_json *classes = graft_json_new_array();
    graft_json *replaced = graft_json_new_array();
    for (size_t i = 0; row_of(bench, GRAFT_BENCH_CLASSES, i) != NULL; i++) {
        graft_writer_append(writer, classes, class_json(writer, bench, i));
    }
    for (size_t i = 0; row_of(bench, GRAFT_BENCH_REPLACED, i) != NULL; i++) {
        graft_writer_append(writer, replaced, replaced_json(writer, bench, i));
    }
    graft_writer_set(writer, object, "modules", classes);
    graft_writer_set(writer, object, "replaced", replaced);
}

static graft_json *machine_json(struct graft_writer *writer, const struct graft_bench *bench) {
    char name[GRAFT_PROCESSOR_NAME];
    graft_json *object = graft_json_new_object();
    graft_processor_name(name);
    graft_writer_set_string(writer, object, "processor", name);
    graft_writer_set_real(writer, object, "read_bandwidth", bench->bandwidth);
    graft_writer_set_real(writer, object, "matrix_peak", bench->peak);
    graft_writer_set_string(writer, object, "matrix_instructions", bench->peak_unit);
    return object;
}

static graft_json *document(struct graft_writer *writer, const struct graft_options *options,
                            const struct graft_bench *bench) {
    graft_json *object = graft_json_new_object();
    graft_writer_set(writer, object, "machine", machine_json(writer, bench));
    graft_writer_set_string(writer, object, "class", graft_model_class_at(bench->model, ""));
    graft_writer_set_int(writer, object, "threads", graft_threads_count());
    graft_writer_set_int(writer, object, "sequences", bench->sequences);
    graft_writer_set_int(writer, object, "prompt_tokens", bench->prompt_tokens);
    graft_writer_set_int(writer, object, "new_tokens", bench->new_tokens);
    graft_writer_set_int(writer, object, "repeat", bench->repeat);
    graft_writer_set_real(writer, object, "load_seconds", load_seconds(bench));
    graft_writer_set(writer, object, "prompt_tokens_per_second", spread_json(writer, &bench->prompt_speed));
    graft_writer_set(writer, object, "generation_tokens_per_second", spread_json(writer, &bench->token_speed));
    graft_weights_json(writer, object, &bench->weights);
    graft_writer_set_int(writer, object, "bytes_per_step", bench->step_bytes);
    graft_writer_set_int(writer, object, "cache_bytes_per_token", bench->weights.cache_bytes_per_token);
    graft_writer_set_int(writer, object, "state_bytes_per_token", bench->weights.state_bytes_per_token);
    graft_writer_set_int(writer, object, "cache_bytes_read_per_token", (int64_t)(bench->cache_bytes + 0.5));
    graft_writer_set_int(writer, object, "read_bytes_per_step", (int64_t)(bench->read_bytes + 0.5));
    graft_writer_set_int(writer, object, "operations_per_token", (int64_t)bench->token_operations);
    graft_writer_set_real(writer, object, "bandwidth_share", bench->bandwidth_share);
    graft_writer_set_real(writer, object, "read_share", bench->read_share);
    graft_writer_set_real(writer, object, "matrix_share", bench->peak_share);
    if (options->modules) {
        set_modules(writer, object, bench);
    }
    return object;
}

int graft_bench_report(const struct graft_options *options, const struct graft_bench *bench, const graft_json *other,
                       struct graft_error *error) {
    struct graft_writer writer = {0};
    graft_json *object = document(&writer, options, bench);
    int status = writer.failed ? graft_fail_memory(error, "bench") : GRAFT_OK;
    if (status == GRAFT_OK && options->json) {
        status = graft_output_json(object, stdout, 1, error);
    } else if (status == GRAFT_OK) {
        print_text(options, bench);
        if (other != NULL) {
            graft_bench_compare(object, other);
        }
        status = graft_output_flush(stdout, error);
    }
    graft_json_free(object);
    return status;
}
