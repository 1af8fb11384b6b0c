/* SPDX-License-Identifier: Apache-2.0 */
/* Products of few tokens (gemv.h) with tiles and rows in place. Each output is the same chain of additions as in
 * tiles.h, so a token's sums have the same bits among few tokens and among many. */
#ifndef GRAFT_KERNELS_TILES_GEMV_H
#define GRAFT_KERNELS_TILES_GEMV_H

#include "kernels/gemv.h"

struct graft_tiles_gemv {
    /* Like graft_gemv_pairs, for x [tokens, columns] packed by graft_tiles.pack; x_stride is not used. */
    void (*multiply)(const struct graft_gemv *operands);
};

/* [any] The processor's tiles or, if graft_cpu_models_tiles(), the model's. Only with GRAFT_ISA_AMX. */
const struct graft_tiles_gemv *graft_tiles_gemv_get(void);

extern const struct graft_tiles_gemv graft_tiles_gemv_amx;
extern const struct graft_tiles_gemv graft_tiles_gemv_model;

#endif
