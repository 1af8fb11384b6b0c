/* SPDX-License-Identifier: Apache-2.0 */
/* Products of a few tokens (gemv.h) by tiles, with rows in place. Each output is the same chain of additions as in
 * tiles.h, so that a token's sums are the same to the bit among few tokens and among many. */
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
