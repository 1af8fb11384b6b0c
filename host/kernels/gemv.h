/* SPDX-License-Identifier: Apache-2.0 */
/* Products of few tokens with bf16 rows in place, on processors that multiply pairs of bf16; those with tiles have
 * tiles_gemv.h. A single sequence that generates text is limited by reading the weights; so are sixteen together, as
 * long as multiplying takes no longer than reading. Widening both operands to f32 first takes three times as long. */
#ifndef GRAFT_KERNELS_GEMV_H
#define GRAFT_KERNELS_GEMV_H

#include <stdint.h>

#include "kernels/loops.h"

struct graft_gemv {
    const uint16_t *w; /* [rows, columns] bf16, in contiguous rows */
    int64_t rows;
    int64_t columns;
    /* [tokens, columns] bf16, x_stride apart; for graft_gemv_quarters in the layout of graft_gemv_pack */
    const uint16_t *x;
    int64_t x_stride;
    int64_t tokens; /* at most GRAFT_SMALL_BATCH */
    float *y;       /* [tokens, rows] */
    int64_t y_stride;
};

/* [any] Whether the processor has the instructions of graft_gemv_pairs, and GRAFT_ISA allows them. */
int graft_gemv_pairs_run(void);

/* Products of up to GRAFT_GEMV_BY_ROWS tokens use graft_gemv_pairs, others graft_gemv_quarters. */
enum { GRAFT_GEMV_BY_ROWS = 6 };

/* [any] The best distance between rows of x, in elements: the same columns of all tokens then spread evenly over the
 * first-level cache. */
int64_t graft_gemv_stride(int64_t columns);

/* [any] y[t, r] = sum over k of x[t, k] * w[r, k]. A token's sums do not depend on the other tokens. Denormals count as
 * zeros. */
void graft_gemv_pairs(const struct graft_gemv *operands);
void graft_gemv_quarters(const struct graft_gemv *operands);

/* The sizes in the quarters layout, in elements and tokens. */
enum { GRAFT_GEMV_LINE = 32, GRAFT_GEMV_QUARTERS = 4, GRAFT_GEMV_EIGHT = 8, GRAFT_GEMV_FOUR = 4 };

/* The quarters layout: x in blocks of graft_gemv_block columns, the last of which may be smaller. Within a block come
 * the first eight of each 32 columns, of all tokens, then the second, third and fourth eight: [blocks][4][lines of
 * 32][tokens][8]. Tokens are padded to a multiple of four and columns to one of 32, with zeros. */

/* [any] The padded number of tokens, and the number of elements of all padded tokens. */
int64_t graft_gemv_tokens(int64_t tokens);
int64_t graft_gemv_numbers(int64_t tokens, int64_t columns);

/* [any] The columns of a block, a multiple of 32. */
int64_t graft_gemv_block(int64_t tokens, int64_t columns);

/* [any] Packs token t, which may be a padding token: its columns, or zeros if x is NULL. */
void graft_gemv_pack(const struct graft_loops *loops, const float *x, int64_t tokens, int64_t columns, int64_t t,
                     uint16_t *out);

#endif
