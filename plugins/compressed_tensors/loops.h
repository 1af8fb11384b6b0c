/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CT_LOOPS_H
#define CT_LOOPS_H

#include "graft/packed_rows.h"

/* The codes that there are. */
enum ct_codes { CT_UINT4, CT_UINT8, CT_INT8, CT_FLOAT8, CT_CODES };

/* Plain C, and what this processor may run beside it: a table for each of the codes. */
extern const struct graft_packed_rows_loops ct_loops_scalar[CT_CODES];
#if defined(__x86_64__)
extern const struct graft_packed_rows_loops ct_loops_avx2[CT_CODES];
extern const struct graft_packed_rows_loops ct_loops_avx512[CT_CODES];
extern const struct graft_packed_rows_loops ct_loops_avx512_bf16[CT_CODES];
#endif

#endif
