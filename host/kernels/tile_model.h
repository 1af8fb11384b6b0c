/* SPDX-License-Identifier: Apache-2.0 */
/* A model in plain C of a processor's tiles: registers of up to 16 rows of 64 bytes, and the instructions of AMX-TILE
 * and AMX-BF16, with the same bits as documented by Intel. Kernels for tiles use it on processors without the
 * instructions: in tests, and with GRAFT_ISA=amx_model. What would fault on a processor aborts here. Each thread has
 * its own registers. */
#ifndef GRAFT_KERNELS_TILE_MODEL_H
#define GRAFT_KERNELS_TILE_MODEL_H

#include <stdint.h>

/* The argument of LDTILECFG. */
struct graft_tile_config {
    uint8_t palette; /* 1: eight registers of up to 16 rows of 64 bytes */
    uint8_t start_row;
    uint8_t reserved[14];
    uint16_t row_bytes[16];
    uint8_t rows[16];
};

_Static_assert(sizeof(struct graft_tile_config) == 64, "as the processor reads it");

/* [any] LDTILECFG and TILERELEASE. All registers are zeros afterwards. */
void graft_tile_model_configure(const struct graft_tile_config *config);
void graft_tile_model_release(void);

/* [any] TILEZERO, TILELOADD, TILESTORED: rows are `stride` bytes apart. */
void graft_tile_model_zero(int tile);
void graft_tile_model_load(int tile, const void *from, int64_t stride);
void graft_tile_model_store(int tile, void *to, int64_t stride);

/* [any] TDPBF16PS: sum [m, n] f32 += over k of a [m, k] times b [k, n], both pairs of bf16. For each k, products of the
 * first numbers of pairs are added to one sum, those of the second numbers to another, rounding once each; in the end
 * both are added, and their total to the old sum. Subnormal numbers count as zeros, in operands and results. */
void graft_tile_model_multiply(int sum, int a, int b);

#endif
