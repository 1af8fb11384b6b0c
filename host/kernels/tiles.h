/* SPDX-License-Identifier: Apache-2.0 */
/* Products of many tokens with bf16 rows of the file in place, on processors with tiles (AMX). Rows of the weight are
 * the left operand, which has columns in order; x is packed once for all of them. Each output is one chain of
 * additions, in steps of GRAFT_TILE_COLUMNS columns, so it depends only on its row and token: not on other rows and
 * tokens, on how rows are divided into panels, or on threads. */
#ifndef GRAFT_KERNELS_TILES_H
#define GRAFT_KERNELS_TILES_H

#include <stdint.h>

#include "kernels/round.h"

enum {
    GRAFT_TILE_TOKENS = 16,
    GRAFT_TILE_COLUMNS = 32,
    GRAFT_TILE_BLOCK = 1024, /* columns of x that are packed together, for all tokens */
    GRAFT_TILE_PANEL = 512   /* rows for which sharing a read of x pays best */
};

/* Instead of y, writes act(y) * (y of up), rounded and packed as by `pack`: the x of the next product. */
struct graft_tiles_fold {
    const uint16_t *up; /* a second weight of the same size; strips of the two alternate */
    void (*activate_gate)(int32_t activation, float *gate, const float *up, int64_t count); /* of loops.h */
    int32_t activation;
    uint16_t *out;   /* [tokens, columns] */
    int64_t columns; /* columns of the next product */
    int64_t column;  /* first column to write; a multiple of GRAFT_TILE_COLUMNS */
};

struct graft_tiles_product {
    const uint16_t *w; /* [rows, columns] bf16, rows one after another, with any alignment */
    int64_t rows;
    int64_t columns;
    const uint16_t *x; /* [tokens, columns] packed by `pack` */
    int64_t tokens;
    float *y; /* [tokens, rows] */
    int64_t y_stride;
    const struct graft_tiles_fold *fold; /* NULL: writes y */
    char *scratch;                       /* scratch_bytes bytes, aligned to 64 */
};

struct graft_tiles {
    /* Rounds up to GRAFT_TILE_TOKENS tokens of up to GRAFT_TILE_BLOCK columns to bf16 and packs them: out
     * [columns / 32 rounded up, 16 pairs, 16 tokens, 2], zeros where there are none. */
    void (*pack)(const float *x, int64_t x_stride, int64_t tokens, int64_t columns, uint16_t *out);
    /* Bytes of scratch memory for one weight, or for two of this many rows each. */
    int64_t (*scratch_bytes)(int64_t weights, int64_t rows, int64_t tokens);
    /* y[t, r] = sum over k of x[t, k] * w[r, k], or the fold of these sums; 0 < columns. Subnormal numbers count as
     * zeros. */
    void (*multiply)(const struct graft_tiles_product *operands);
};

/* [any] The offset in x of the columns of block `block`, for the tokens from `token` on, a multiple of
 * GRAFT_TILE_TOKENS: blocks follow each other, and within a block groups of 16 tokens. */
static inline int64_t graft_tiles_offset(int64_t tokens, int64_t columns, int64_t block, int64_t token) {
    int64_t left = graft_round_up(columns, GRAFT_TILE_COLUMNS) - block * GRAFT_TILE_BLOCK;
    int64_t depth = left < GRAFT_TILE_BLOCK ? left : GRAFT_TILE_BLOCK;
    return block * GRAFT_TILE_BLOCK * graft_round_up(tokens, GRAFT_TILE_TOKENS) + token * depth;
}

/* [any] Whether the processor has bf16 tiles and the operating system permits them; the first call asks for
 * permission. */
int graft_tiles_are_here(void);

/* [any] Whether tiles are available and compute a small product as the model does, which the first call tries. */
int graft_tiles_are_right(void);

/* [any] Whether `tiles` compute a small product as the model does, except for the rounding of sums; also 0 if memory
 * ran out. */
int graft_tiles_agree(const struct graft_tiles *tiles);

/* [any] The processor's tiles or, if graft_cpu_models_tiles(), the model's. Only with GRAFT_ISA_AMX. */
const struct graft_tiles *graft_tiles_get(void);

extern const struct graft_tiles graft_tiles_amx;
extern const struct graft_tiles graft_tiles_model;

#endif
