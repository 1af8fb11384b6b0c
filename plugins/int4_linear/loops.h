/* SPDX-License-Identifier: Apache-2.0 */
#ifndef INT4_LINEAR_LOOPS_H
#define INT4_LINEAR_LOOPS_H

#include "graft/packed_rows.h"

/* Plain C, and what this processor may run beside it. */
extern const struct graft_packed_rows_loops int4_loops_scalar;
#if defined(__x86_64__)
extern const struct graft_packed_rows_loops int4_loops_avx2;
extern const struct graft_packed_rows_loops int4_loops_avx512;
extern const struct graft_packed_rows_loops int4_loops_avx512_bf16;
#endif

#endif
