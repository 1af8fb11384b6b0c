/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the sums of tiles to y. */
#ifndef GRAFT_KERNELS_TILE_SUMS_H
#define GRAFT_KERNELS_TILE_SUMS_H

#include "kernels/simd_avx512.h"
#include "kernels/tiles.h"

/* y [tokens, rows] = sums [rows, 16 tokens], of which `tokens` and `rows` exist. */
INLINE void tile_sums_write(const float *sums, int64_t tokens, int64_t rows, float *y, int64_t y_stride) {
    for (int64_t r = 0; r < rows; r += VF_WIDTH, sums += VF_WIDTH * GRAFT_TILE_TOKENS) {
        int64_t lanes = rows - r < VF_WIDTH ? rows - r : VF_WIDTH;
        vf square[VF_WIDTH];
        for (int i = 0; i < VF_WIDTH; i++) {
            square[i] = vf_load(sums + i * GRAFT_TILE_TOKENS);
        }
        vf_transpose(square);
        for (int64_t t = 0; t < tokens && t < GRAFT_TILE_TOKENS; t++) {
            vf_store_part(y + t * y_stride + r, square[t], lanes);
        }
    }
}

#endif
