/* SPDX-License-Identifier: Apache-2.0 */
#include "bind/copy.h"

#include <string.h>

#include "bind/exact.h"
#include "kernels/parallel.h"

/* Copying less than this many elements is not worth another thread. */
enum { GRAIN = 1 << 16 };

struct job {
    const struct graft_value *value;
    graft_dtype dtype;
    char *to;
};

static uint32_t widen(const char *element, graft_dtype dtype) {
    uint16_t half;
    uint32_t bits;
    if (dtype == GRAFT_DTYPE_F32) {
        memcpy(&bits, element, sizeof bits);
        return bits;
    }
    memcpy(&half, element, sizeof half);
    return graft_exact_widen(half, dtype);
}

/* Elements [from, from + count) of a run, to `to`. */
static void copy_run(const struct graft_run *run, int64_t from, int64_t count, graft_dtype dtype, char *to) {
    int64_t size = graft_dtype_size(run->tensor->dtype);
    const char *elements = (const char *)run->tensor->data + (run->begin + from) * size;
    if (run->tensor->dtype == dtype) {
        memcpy(to, elements, (size_t)(count * size));
        return;
    }
    for (int64_t i = 0; i < count; i++) {
        uint32_t bits = widen(elements + i * size, run->tensor->dtype);
        memcpy(to + i * (int64_t)sizeof bits, &bits, sizeof bits);
    }
}

/* Elements [begin, end) of the value. */
static void copy_range(void *data, int64_t begin, int64_t end) {
    const struct job *job = data;
    int64_t size = graft_dtype_size(job->dtype);
    int64_t first = 0; /* element of the value that the run starts at */
    for (size_t i = 0; i < job->value->n_runs && first < end; i++) {
        const struct graft_run *run = &job->value->runs[i];
        int64_t from = begin > first ? begin - first : 0;
        int64_t to = end - first < run->count ? end - first : run->count;
        if (from < to) {
            copy_run(run, from, to - from, job->dtype, job->to + (first + from) * size);
        }
        first += run->count;
    }
}

void copy_value(const struct graft_value *value, graft_dtype dtype, void *to) {
    struct job job = {value, dtype, to};
    int64_t count = 0;
    for (size_t i = 0; i < value->n_runs; i++) {
        count += value->runs[i].count;
    }
    graft_threads_get()->parallel_for(count, GRAIN, copy_range, &job);
}

void fill_f32(float *to, int64_t count, float number) {
    for (int64_t i = 0; i < count; i++) {
        to[i] = number;
    }
}
