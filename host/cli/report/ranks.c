/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L /* getline */
#include "cli/report/ranks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/json_writer.h"
#include "cli/output.h"
#include "graft/host/process.h"

/* The counts of a rank, as they are sent to rank 0. */
struct row {
    int64_t mapped_bytes;
    int64_t copied_bytes;
    int64_t touched_bytes; /* bytes of mapped weights that are in memory */
    int64_t elsewhere;     /* number of tensors that only other ranks have */
    int64_t peak_bytes;
    struct graft_parallel_statistics spent;
};

static int is_weights(const char *line, size_t length) {
    static const char ending[] = ".safetensors\n";
    size_t end = sizeof ending - 1;
    return length > end && strcmp(line + length - end, ending) == 0;
}

/* Bytes of mapped files that are in this process's memory, from /proc/self/smaps; 0 if it cannot be read. There, a
 * mapping's first line ends with its file, and a later line says how much of it is in memory. */
static int64_t touched_bytes(void) {
    FILE *maps = fopen("/proc/self/smaps", "r");
    char *line = NULL;
    size_t capacity = 0;
    int64_t bytes = 0;
    int ours = 0;
    for (ssize_t length; maps != NULL && (length = getline(&line, &capacity, maps)) > 0;) {
        long long kilobytes = 0;
        if (sscanf(line, "Rss: %lld kB", &kilobytes) == 1) {
            bytes += ours ? kilobytes * 1024 : 0;
        } else if (strchr("0123456789abcdef", line[0]) != NULL) {
            ours = is_weights(line, (size_t)length);
        }
    }
    free(line);
    if (maps != NULL) {
        (void)fclose(maps);
    }
    return bytes;
}

static struct row own_row(const struct graft_model *model, const struct graft_parallel *parallel) {
    const struct graft_plan_info *plan = graft_model_plan(model);
    struct row row = {.mapped_bytes = plan->mapped_bytes,
                      .copied_bytes = plan->copied_bytes,
                      .touched_bytes = touched_bytes(),
                      .elsewhere = (int64_t)plan->n_elsewhere,
                      .spent = {.struct_size = sizeof row.spent}};
    struct rusage usage;
    if (getrusage(RUSAGE_SELF, &usage) == 0) {
        row.peak_bytes = usage.ru_maxrss * 1024;
    }
    parallel->statistics(&row.spent);
    return row;
}

static void print(const struct row *rows, int32_t n) {
    for (int32_t rank = 0; rank < n; rank++) {
        const struct row *row = &rows[rank];
        graft_output_line(stderr,
                          "rank %ld: %.1f MB mapped, %.1f MB of it touched, %.1f MB copied, %lld tensors elsewhere, "
                          "%.1f MB of memory at most; "
                          "%.1f MB sent, %.1f MB received, %.2f s with others",
                          (long)rank, (double)row->mapped_bytes / 1e6, (double)row->touched_bytes / 1e6,
                          (double)row->copied_bytes / 1e6, (long long)row->elsewhere, (double)row->peak_bytes / 1e6,
                          (double)row->spent.bytes_sent / 1e6, (double)row->spent.bytes_received / 1e6,
                          row->spent.seconds);
    }
}

static int print_json(const struct row *rows, int32_t n, struct graft_error *error) {
    struct graft_writer writer = {0};
    graft_json *document = graft_json_new_object();
    graft_json *ranks = graft_json_new_array();
    for (int32_t rank = 0; rank < n; rank++) {
        const struct row *row = &rows[rank];
        graft_json *object = graft_json_new_object();
        graft_writer_set_int(&writer, object, "rank", rank);
        graft_writer_set_int(&writer, object, "mapped_bytes", row->mapped_bytes);
        graft_writer_set_int(&writer, object, "touched_bytes", row->touched_bytes);
        graft_writer_set_int(&writer, object, "copied_bytes", row->copied_bytes);
        graft_writer_set_int(&writer, object, "tensors_elsewhere", row->elsewhere);
        graft_writer_set_int(&writer, object, "peak_bytes", row->peak_bytes);
        graft_writer_set_int(&writer, object, "sent_bytes", row->spent.bytes_sent);
        graft_writer_set_int(&writer, object, "received_bytes", row->spent.bytes_received);
        graft_writer_set_real(&writer, object, "seconds_with_others", row->spent.seconds);
        graft_writer_append(&writer, ranks, object);
    }
    graft_writer_set(&writer, document, "ranks", ranks);
    int status = writer.failed ? graft_fail_memory(error, "report") : graft_output_json(document, stderr, 1, error);
    graft_json_free(document);
    return status;
}

int graft_report_ranks(const struct graft_options *options, const struct graft_model *model,
                       struct graft_error *error) {
    const struct graft_parallel *parallel = graft_parallel_get();
    if (parallel->size == 1) {
        return GRAFT_OK;
    }
    const struct row own = own_row(model, parallel);
    struct row *rows = graft_alloc((size_t)parallel->size, sizeof *rows);
    int status = rows != NULL ? parallel->allgather(&own, sizeof own, rows, error) : graft_fail_memory(error, "report");
    if (status == GRAFT_OK && parallel->rank == 0 && !options->quiet && strcmp(options->report, "text") == 0) {
        print(rows, parallel->size);
    } else if (status == GRAFT_OK && parallel->rank == 0 && !options->quiet && strcmp(options->report, "json") == 0) {
        status = print_json(rows, parallel->size, error);
    }
    graft_free(rows);
    return status;
}
