/* SPDX-License-Identifier: Apache-2.0 */
/* `bench --compare`: prints ratios of two measurements of the same work. */
#include <stdio.h>
#include <string.h>

#include "base/json_field.h"
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

/* Checks that both documents measured the same work; otherwise the ratios would mean nothing. */
static int check_work(const struct graft_field *other, const struct graft_bench *bench, struct graft_error *error) {
    const struct {
        const char *key;
        int64_t here;
    } sizes[] = {
        {"prompt_tokens", bench->prompt_tokens}, {"new_tokens", bench->new_tokens}, {"sequences", bench->sequences}};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        const struct graft_member member[] = {{sizes[i].key, .kind = GRAFT_MEMBER_INT}, {0}};
        int64_t there = 0;
        int status = graft_field_read_some(other, member, &there, error);
        if (status != GRAFT_OK) {
            graft_error_hint(error, "is this what bench --json wrote?");
            return status;
        }
        if (there != sizes[i].here) {
            return graft_error_set(error, GRAFT_ERROR_USAGE, other->file,
                                   "%s: the file was measured with %lld, this run with %lld", sizes[i].key,
                                   (long long)there, (long long)sizes[i].here);
        }
    }
    return GRAFT_OK;
}

int graft_bench_read_other(const struct graft_options *options, const struct graft_bench *bench, graft_json **other,
                           struct graft_error *error) {
    const char *file = options->compare;
    if (file == NULL) {
        return GRAFT_OK;
    }
    int status = graft_json_read_strict(file, MAX_FILE_BYTES, other, error);
    const struct graft_field root = graft_field_root(*other, file);
    if (status == GRAFT_OK) {
        status = check_work(&root, bench, error);
    }
    for (size_t i = 0; i < MEASURES && status == GRAFT_OK; i++) {
        const char *const *keys = measures[i].keys;
        const struct graft_member member[] = {{keys[keys[1] != NULL], .kind = GRAFT_MEMBER_REAL}, {0}};
        const struct graft_field inner = graft_field_get(&root, keys[0]);
        double number;
        status = graft_field_read_some(keys[1] != NULL ? &inner : &root, member, &number, error);
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
