/* SPDX-License-Identifier: Apache-2.0 */
/* `bench --compare`: prints ratios of two measurements of the same work. */
#include <stdio.h>
#include <string.h>

#include "cli/commands/bench.h"
#include "cli/output.h"
#include "graft/host/process.h"

enum { MAX_FILE_BYTES = 64 << 20 };

/* A compared number: its path of one or two keys, and its name in the output. */
static const struct measure {
    const char *label;
    const char *keys[2];
    double unit;
    const char *unit_name;
} measures[] = {
    {"load", {"load_seconds", NULL}, 1e-3, "ms"},
    {"prompt", {"prompt_tokens_per_second", "median"}, 1.0, "tokens/s"},
    {"generation", {"generation_tokens_per_second", "median"}, 1.0, "tokens/s"},
    {"bytes per token", {"bytes_per_token", NULL}, 1e6, "MB"},
    {"read bandwidth", {"machine", "read_bandwidth"}, 1e9, "GB/s"},
    {"weights' share", {"bandwidth_share", NULL}, 0.01, "%"},
    {"matrix peak", {"machine", "matrix_peak"}, 1e9, "GFLOP/s"},
    {"share of it", {"matrix_share", NULL}, 0.01, "%"},
};
enum { MEASURES = sizeof measures / sizeof measures[0] };

static const graft_json *find(const graft_json *document, const struct measure *measure) {
    const graft_json *value = graft_json_get(document, measure->keys[0]);
    return measure->keys[1] != NULL ? graft_json_get(value, measure->keys[1]) : value;
}

static int is_number(const graft_json *value) {
    return graft_json_type(value) == GRAFT_JSON_INT || graft_json_type(value) == GRAFT_JSON_REAL;
}

/* Checks that both documents measured the same work; otherwise the ratios would mean nothing. */
static int check_work(const char *file, const graft_json *other, const struct graft_bench *bench,
                      struct graft_error *error) {
    const struct {
        const char *key;
        int64_t here;
    } sizes[] = {
        {"prompt_tokens", bench->prompt_tokens}, {"new_tokens", bench->new_tokens}, {"sequences", bench->sequences}};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        const graft_json *value = graft_json_get(other, sizes[i].key);
        if (graft_json_type(value) != GRAFT_JSON_INT) {
            return graft_error_set(error, GRAFT_ERROR_MODEL, file,
                                   "%s: expected an integer, got %s; is this what bench "
                                   "--json wrote?",
                                   sizes[i].key, graft_json_type_name(value));
        }
        if (graft_json_int(value) != sizes[i].here) {
            return graft_error_set(error, GRAFT_ERROR_USAGE, file,
                                   "%s: the file was measured with %lld, this run with %lld", sizes[i].key,
                                   (long long)graft_json_int(value), (long long)sizes[i].here);
        }
    }
    return GRAFT_OK;
}

int graft_bench_read_other(const struct graft_options *options, const struct graft_bench *bench, graft_json **other,
                           struct graft_error *error) {
    const char *file = options->compare;
    int status = file != NULL ? graft_json_read_strict(file, MAX_FILE_BYTES, other, error) : GRAFT_OK;
    if (status == GRAFT_OK && file != NULL) {
        status = check_work(file, *other, bench, error);
    }
    for (size_t i = 0; i < MEASURES && status == GRAFT_OK && file != NULL; i++) {
        const graft_json *value = find(*other, &measures[i]);
        if (!is_number(value)) {
            status = graft_error_set(error, GRAFT_ERROR_MODEL, file, "%s: expected a number, got %s",
                                     measures[i].keys[1] != NULL ? measures[i].keys[1] : measures[i].keys[0],
                                     graft_json_type_name(value));
        }
    }
    return status;
}

/* Prints a setting that differs and may explain other differences. */
static void print_difference(const graft_json *document, const graft_json *other, const char *label, const char *key) {
    const char *here = graft_json_string(graft_json_get(document, key), NULL);
    const char *there = graft_json_string(graft_json_get(other, key), NULL);
    if (here != NULL && there != NULL && strcmp(here, there) != 0) {
        graft_output_line(stdout, "%s: %s, there %s", label, here, there);
    }
}

void graft_bench_compare(const graft_json *document, const graft_json *other) {
    const graft_json *machine = graft_json_get(document, "machine"), *other_machine = graft_json_get(other, "machine");
    int64_t threads = graft_json_int(graft_json_get(other, "threads"));
    (void)printf("\n%-16s %12s %12s %12s\n", "compared", "here", "there", "ratio");
    for (size_t i = 0; i < MEASURES; i++) {
        double here = graft_json_real(find(document, &measures[i])) / measures[i].unit;
        double there = graft_json_real(find(other, &measures[i])) / measures[i].unit;
        (void)printf("%-16s %12.2f %12.2f %12.3f  %s\n", measures[i].label, here, there,
                     there > 0.0 ? here / there : 0.0, measures[i].unit_name);
    }
    print_difference(document, other, "class", "class");
    print_difference(machine, other_machine, "processor", "processor");
    print_difference(machine, other_machine, "instructions", "matrix_instructions");
    if (threads != graft_threads_count()) {
        (void)printf("threads: %d, there %lld\n", (int)graft_threads_count(), (long long)threads);
    }
}
