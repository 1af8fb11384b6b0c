/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of int8: few tokens by this plugin's loops (loops.h), many by the SDK's. One table an instruction set. */
#ifndef INT8_LINEAR_ROWS_H
#define INT8_LINEAR_ROWS_H

#include "graft/packed_rows.h"

/* Plain C, and what this processor may run beside it. */
extern const struct graft_packed_rows_loops int8_rows_loops_scalar;
#if defined(__x86_64__)
extern const struct graft_packed_rows_loops int8_rows_loops_avx2;
extern const struct graft_packed_rows_loops int8_rows_loops_avx512;
extern const struct graft_packed_rows_loops int8_rows_loops_avx512_bf16;
#endif

/* [any] The best that this processor runs and GRAFT_ISA, if it is set, allows. */
const struct graft_packed_rows_loops *int8_rows_loops(void);

#endif
