/* SPDX-License-Identifier: Apache-2.0 */
/*
 * y = x W^T + b, W int8 with a scale for each row or each group of a row's columns: by dot products for few tokens,
 * group by group, and as packed_rows.h has it for many.
 */
#ifndef INT8_LINEAR_PRODUCT_H
#define INT8_LINEAR_PRODUCT_H

#include "graft/call.h"
#include "graft/error.h"
#include "loops.h"
#include "rows.h"

struct int8_product {
    const struct int8_loops *loops;
    const struct graft_packed_rows_loops *rows_loops; /* for many tokens */
    const int8_t *weights;                            /* [rows, columns] */
    const float *scales;                              /* [rows, groups] */
    const float *bias;                                /* [rows], or NULL */
    int64_t rows;
    int64_t columns;
    int64_t groups; /* of columns / groups each */
    const float *x; /* [tokens, columns] */
    int64_t tokens;
    float *y; /* [tokens, rows] */
};

/* [forward] Dot products over the rows where they lie, for up to GRAFT_FEW_TOKENS: activations stay f32. */
void int8_product_few(const struct int8_product *product, const struct graft_call *call);

/* [forward] Multiplied by the host's kernels in the arithmetic that the call asks for. bf16 holds every int8 exactly,
 * so a row's only scale comes afterwards, in f32; scales of groups are multiplied in before. */
int int8_product_many(const struct int8_product *product, const struct graft_call *call, struct graft_error *error);

#endif
