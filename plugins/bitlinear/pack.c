/* SPDX-License-Identifier: Apache-2.0 */
/* Rounds weights once, which transformers does in every forward: to -1, 0 and 1 times the mean of their absolute
 * values. */
#include <math.h>
#include <stdlib.h>

#include "graft/convert.h"
#include "linear.h"

/* Number of partial sums, so that consecutive additions are independent. */
enum { SUMS = 8 };

/* Converts a row to f32. */
static void widen(const struct graft_row_block *block, int64_t row, int64_t n, float *out) {
    for (int64_t i = 0; i < n; i++) {
        out[i] = graft_f32_at(block->data, block->dtype, row * n + i);
    }
}

static double sum_of_row(const float *row, int64_t n) {
    double sums[SUMS] = {0}, all = 0;
    for (int64_t i = 0; i < n; i++) {
        sums[i % SUMS] += fabs((double)row[i]);
    }
    for (int i = 0; i < SUMS; i++) {
        all += sums[i];
    }
    return all;
}

/* Adds the codes of an output to its bytes. Halves become 0, since ties go to even. */
static void add_row(const float *row, int64_t n, float scale, int part, uint8_t *bytes) {
    for (int64_t i = 0; i < n; i++) {
        const float scaled = row[i] * scale;
        const int code = 1 + (scaled > 0.5F) - (scaled < -0.5F);
        bytes[i] = (uint8_t)(bytes[i] | code << 2 * part);
    }
}

static int pack(struct bitlinear *self, const struct graft_row_block *block, float *row, const char *path,
                struct graft_error *error) {
    const int64_t n = self->in_features, outputs = self->rows * BITLINEAR_PARTS;
    double sum = 0;
    for (int64_t o = 0; o < outputs; o++) {
        widen(block, o, n, row);
        sum += sum_of_row(row, n);
    }
    if (!isfinite(sum)) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, path,
                               "weight: expected finite numbers, got an infinite one or NaN");
    }
    const float mean = (float)(sum / (double)(n * outputs)), least = 1e-5F;
    const float scale = 1.0F / (mean < least ? least : mean);
    for (int64_t o = 0; o < outputs; o++) {
        widen(block, o, n, row);
        add_row(row, n, scale, (int)(o / self->rows), self->own + o % self->rows * n);
    }
    self->codes = self->own;
    self->weight_scale = 1.0F / scale;
    return GRAFT_OK;
}

int bitlinear_pack(struct bitlinear *self, const struct graft_weight *weight, const char *path,
                   struct graft_error *error) {
    float *row = malloc((size_t)self->in_features * sizeof *row);
    self->own = calloc((size_t)self->rows, (size_t)self->in_features);
    int status = row != NULL && self->own != NULL ? pack(self, graft_weight_block(weight, 0), row, path, error)
                                                  : graft_fail_memory(error, path);
    free(row);
    return status;
}
