/* SPDX-License-Identifier: Apache-2.0 */
/* The tile instructions that kernels use: the processor's, or with GRAFT_TILE_MODEL those of the model. Registers are
 * literal numbers from 0 to 7. A thread configures its tiles before it uses any and releases them afterwards, so that
 * the system does not have to save them when it switches threads. */
#ifndef GRAFT_KERNELS_TILE_OPS_H
#define GRAFT_KERNELS_TILE_OPS_H

#include "kernels/tile_model.h"

/* All registers at their full size: 16 rows of 16 f32, or of 16 pairs of bf16. */
static const struct graft_tile_config tiles_whole = {
    .palette = 1,
    .row_bytes = {64, 64, 64, 64, 64, 64, 64, 64},
    .rows = {16, 16, 16, 16, 16, 16, 16, 16},
};

#ifdef GRAFT_TILE_MODEL

#define tile_configure(config) graft_tile_model_configure(config)
#define tile_release() graft_tile_model_release()
#define tile_zero(tile) graft_tile_model_zero(tile)
#define tile_load(tile, from, stride) graft_tile_model_load(tile, from, stride)
#define tile_store(tile, to, stride) graft_tile_model_store(tile, to, stride)
#define tile_multiply(sum, a, b) graft_tile_model_multiply(sum, a, b)

#else

#include <immintrin.h>

/* GCC's intrinsics do not declare that they read memory; this orders them after earlier writes. */
#define tile_written() __asm__ volatile("" ::: "memory")

#define tile_configure(config)    \
    do {                          \
        tile_written();           \
        _tile_loadconfig(config); \
    } while (0)
#define tile_release() _tile_release()
#define tile_zero(tile) _tile_zero(tile)
#define tile_load(tile, from, stride)    \
    do {                                 \
        tile_written();                  \
        _tile_loadd(tile, from, stride); \
    } while (0)
#define tile_store(tile, to, stride) _tile_stored(tile, to, stride)
#define tile_multiply(sum, a, b) _tile_dpbf16ps(sum, a, b)

#endif

#endif
