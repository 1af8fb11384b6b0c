/* SPDX-License-Identifier: Apache-2.0 */
/* Loops for graft_matrix_peak of the instructions that multiply bf16. */
#ifndef GRAFT_KERNELS_PEAK_BF16_H
#define GRAFT_KERNELS_PEAK_BF16_H

#include <stdint.h>

/* [any] Multiply in registers of zeros, or in tiles of other numbers: from GRAFT_ISA_AVX512_BF16 on, and with
 * GRAFT_ISA_AMX. Return how many multiply-adds were done in `rounds` rounds; `*sink` makes them of use. */
int64_t graft_peak_bf16(int64_t rounds, float *sink);
int64_t graft_peak_tiles(int64_t rounds, float *sink);

#endif
