/* SPDX-License-Identifier: Apache-2.0 */
#include "bind/copy.h"

#include <string.h>

#include "base/dtype.h"
#include "bind/copy_box.h"
#include "bind/exact.h"
#include "kernels/threads.h"

/* Copying fewer elements than this is not worth another thread. */
enum { GRAIN = 1 << 16 };

struct job {
    const struct graft_value *value;
    graft_dtype dtype;
    char *to; /* destination of element `first` */
    int64_t first;
};

static uint32_t widen(const char *element, graft_dtype dtype) {
    uint32_t bits;
    if (dtype == GRAFT_DTYPE_F32) {
        memcpy(&bits, element, sizeof bits);
        return bits;
    }
    return graft_exact_widen_at(element, dtype);
}

/* Copies a piece of one part. */
struct piece {
    const struct graft_tensor_view *tensor;
    const struct job *job;
};

static int widen_stretch(void *data, int64_t at, int64_t begin, int64_t count) {
    const struct piece *piece = data;
    int64_t size = graft_dtype_size(piece->tensor->dtype);
    const char *from = (const char *)piece->tensor->data + begin * size;
    char *to = piece->job->to + (at - piece->job->first) * (int64_t)sizeof(uint32_t);
    for (int64_t i = 0; i < count; i++) {
        uint32_t bits = widen(from + i * size, piece->tensor->dtype);
        memcpy(to + i * (int64_t)sizeof bits, &bits, sizeof bits);
    }
    return 0;
}

static int copy_piece(void *data, const struct graft_box *box) {
    struct piece *piece = data;
    if (piece->tensor->dtype != piece->job->dtype) {
        return graft_box_stretches(box, widen_stretch, piece);
    }
    struct graft_box shifted = *box;
    shifted.at -= piece->job->first;
    graft_copy_box(&shifted, graft_dtype_size(piece->job->dtype), piece->tensor->data, piece->job->to);
    return 0;
}

/* Copies elements [begin, end) of the value. */
static void copy_range(void *data, int64_t begin, int64_t end) {
    const struct job *job = data;
    for (size_t i = 0; i < job->value->n_parts && job->value->parts[i].box.at < end; i++) {
        struct piece piece = {job->value->parts[i].tensor, job};
        (void)graft_box_cut(&job->value->parts[i].box, begin, end, copy_piece, &piece);
    }
}

/* Ranges of a transposed value begin and end at multiples of this many rows, which are cache lines of the tensor
 * read. */
enum { WHOLE_ROWS = 64 };

/* How many elements a thread copies at a time. A transposed value is read in stripes across the tensor that are as wide
 * as the range is deep, so its ranges are few and large. */
static int64_t grain_of(const struct graft_value *value, int64_t count) {
    for (size_t i = 0; i < value->n_parts; i++) {
        const struct graft_box *box = &value->parts[i].box;
        if (box->loops > 1 && graft_box_together(box) == 1) {
            int64_t rows = WHOLE_ROWS * graft_value_extent(value, value->rank - 1, value->rank);
            int64_t share = (count / graft_threads_workers() + rows - 1) / rows * rows;
            return share > GRAIN ? share : GRAIN;
        }
    }
    return GRAIN;
}

void graft_copy_value(const struct graft_value *value, graft_dtype dtype, void *to) {
    struct job job = {value, dtype, to, 0};
    int64_t count = graft_value_extent(value, 0, value->rank);
    graft_threads_get()->parallel_for(count, grain_of(value, count), copy_range, &job);
}

void graft_copy_elements(const struct graft_value *value, graft_dtype dtype, int64_t begin, int64_t end, void *to) {
    struct job job = {value, dtype, to, begin};
    copy_range(&job, begin, end);
}

void graft_fill_f32(float *to, int64_t count, float number) {
    for (int64_t i = 0; i < count; i++) {
        to[i] = number;
    }
}
