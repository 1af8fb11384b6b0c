/* SPDX-License-Identifier: Apache-2.0 */
/* Compiled once for each instruction set (meson.build). */
#include "arch/mixers/head_gate.h"

enum { ROWS = 4 }; /* rows of the weight for one pass over y */

static void multiply(const float *x, const float *weight, const float *bias, int64_t dim, float *restrict y) {
    const int64_t whole = dim - dim % ROWS;
    for (int64_t c = 0; c < dim; c++) {
        y[c] = bias[c];
    }
    for (int64_t n = 0; n < whole; n += ROWS) {
        const float *row = weight + n * dim;
        for (int64_t c = 0; c < dim; c++) {
            y[c] += x[n] * row[c] + x[n + 1] * row[dim + c] + x[n + 2] * row[2 * dim + c] + x[n + 3] * row[3 * dim + c];
        }
    }
    for (int64_t n = whole; n < dim; n++) {
        for (int64_t c = 0; c < dim; c++) {
            y[c] += x[n] * weight[n * dim + c];
        }
    }
}

const struct graft_head_gate_loops GRAFT_ISA_NAME(graft_head_gate) = {multiply};
