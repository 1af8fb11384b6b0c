/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Products of a few tokens (few.h) by tiles, straight from the rows as they lie. Each output is the chain of additions
 * that it is in tiles.h: whether a token is one of few or of many, its sums are the same to the bit.
 */
#ifndef GRAFT_KERNELS_TILES_FEW_H
#define GRAFT_KERNELS_TILES_FEW_H

#include "kernels/few.h"

struct graft_tiles_few {
    /* As graft_few_pairs, of x [tokens, columns] as graft_tiles.pack leaves it; x_stride does not count. */
    void (*multiply)(const struct graft_few *operands);
};

/* [any] The processor's, or the model's where graft_cpu_models_tiles(). Only with GRAFT_ISA_AMX. */
const struct graft_tiles_few *graft_tiles_few_get(void);

extern const struct graft_tiles_few graft_tiles_few_amx;
extern const struct graft_tiles_few graft_tiles_few_model;

#endif
