/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Products of a few tokens with bf16 rows as they lie, on processors that multiply pairs of bf16. A sequence that
 * generates alone is bound by reading the weights; so are sixteen together, as long as multiplying takes no longer than
 * reading. Widening both to f32 first takes three times as long.
 */
#ifndef GRAFT_KERNELS_FEW_H
#define GRAFT_KERNELS_FEW_H

#include <stdint.h>

struct graft_few {
    const uint16_t *w; /* [rows, columns] bf16, one row behind the other */
    int64_t rows;
    int64_t columns;
    const uint16_t *x; /* [tokens, columns] bf16, x_stride apart */
    int64_t x_stride;
    int64_t tokens; /* at most GRAFT_FEW_TOKENS */
    float *y;       /* [tokens, rows] */
    int64_t y_stride;
};

/* [any] Whether this processor has what the next one takes, and GRAFT_ISA allows it. */
int graft_few_pairs_run(void);

/* [any] How far apart rows of x best lie: so that the same columns of all tokens share the first-level cache evenly. */
int64_t graft_few_stride(int64_t columns);

/* [any] y[t, r] = sum over k of x[t, k] * w[r, k]. A token's sums are the same whichever tokens are with it. Denormals
 * count as zeros. */
void graft_few_pairs(const struct graft_few *operands);

#endif
