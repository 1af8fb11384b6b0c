/* SPDX-License-Identifier: Apache-2.0 */
/* Attention products on processors with tiles, with the same operands as products of pairs. Rows of keys are a left
 * operand in place; values have to be transposed. */
#ifndef GRAFT_KERNELS_TILES_ATTENTION_H
#define GRAFT_KERNELS_TILES_ATTENTION_H

#include "kernels/loops.h"

enum { GRAFT_TILES_STRIP = 64 /* pack_rows of the other loops on these processors */ };

struct graft_tiles_attention {
    /* Called by a thread before and after it multiplies. */
    void (*begin)(void);
    void (*end)(void);
    /* Like multiply_pairs of loops.h, with x_step 2 and rows in multiples of 16. Sums are added up in steps of 16
     * pairs. */
    void (*multiply_pairs)(const struct graft_pairs *operands);
    /* out [columns, n rounded up to 32] = rows [n, columns] transposed, padded with zeros. */
    void (*turn)(const uint16_t *rows, int64_t row_stride, int64_t n, int64_t columns, uint16_t *out,
                 int64_t out_stride);
};

/* [any] The processor's tiles or, if graft_cpu_models_tiles(), the model's. Only with GRAFT_ISA_AMX. */
const struct graft_tiles_attention *graft_tiles_attention_get(void);

extern const struct graft_tiles_attention graft_tiles_attention_amx;
extern const struct graft_tiles_attention graft_tiles_attention_model;

#endif
