/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FP8_LOOPS_H
#define FP8_LOOPS_H

#include "graft/packed_rows.h"

/* Plain C, and what this processor may run beside it. */
extern const struct graft_packed_rows_loops fp8_loops_scalar;
#if defined(__x86_64__)
extern const struct graft_packed_rows_loops fp8_loops_avx2;
extern const struct graft_packed_rows_loops fp8_loops_avx512;
extern const struct graft_packed_rows_loops fp8_loops_avx512_bf16;
#endif

#endif
