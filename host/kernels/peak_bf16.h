/* SPDX-License-Identifier: Apache-2.0 */
/* Loops that graft_matrix_peak measures: instructions that multiply bf16. */
#ifndef GRAFT_KERNELS_PEAK_BF16_H
#define GRAFT_KERNELS_PEAK_BF16_H

#include <stdint.h>

/* [any] Multiply zeros in registers with AVX512-BF16, or other numbers in tiles with AMX. Return the number of
 * multiply-adds done in `rounds` rounds; writing `*sink` keeps the compiler from dropping them. */
int64_t graft_peak_bf16(int64_t rounds, float *sink);
int64_t graft_peak_tiles(int64_t rounds, float *sink);

#endif
