/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Products of a few tokens (few.h) by tiles, straight from the rows as they lie. Each output is the chain of additions
 * that it is in tiles.h: whether a token is one of few or of many, its sums are the same to the bit.
 */
#ifndef GRAFT_KERNELS_TILES_GEMV_H
#define GRAFT_KERNELS_TILES_GEMV_H

#include "kernels/gemv.h"

struct graft_tiles_gemv {
    /* As graft_gemv_pairs, of x [tokens, columns] as graft_tiles.pack leaves it; x_stride does not count. */
    void (*multiply)(const struct graft_gemv *operands);
};

/* [any] The processor's, or the model's where graft_cpu_models_tiles(). Only with GRAFT_ISA_AMX. */
const struct graft_tiles_gemv *graft_tiles_gemv_get(void);

extern const struct graft_tiles_gemv graft_tiles_gemv_amx;
extern const struct graft_tiles_gemv graft_tiles_gemv_model;

#endif
