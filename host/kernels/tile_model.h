/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A processor's tiles in plain C: registers of up to 16 rows of 64 bytes, and what the instructions of AMX-TILE and
 * AMX-BF16 do with them, to the bit, as Intel's manual documents it. Kernels for tiles run over this model where no
 * processor has the instructions: tests, and GRAFT_ISA=amx_model. What would be a fault there aborts here. Each thread
 * has its own registers, as it has there.
 */
#ifndef GRAFT_KERNELS_TILE_MODEL_H
#define GRAFT_KERNELS_TILE_MODEL_H

#include <stdint.h>

/* What LDTILECFG reads. */
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

/* [any] TDPBF16PS: sum [m, n] f32 += over k of a [m, k] times b [k, n], both pairs of bf16. Of each k, the first
 * numbers of pairs are multiplied and added to one sum, the second to another, each rounded once; then both are added,
 * and that to what was there. Denormals are zeros, in what is read and in each result. */
void graft_tile_model_multiply(int sum, int a, int b);

#endif
