/* SPDX-License-Identifier: Apache-2.0 */
/* One build of it for each instruction set. */
#include "loops.h"
#include "rows.h"
#include "stacks.h"

#include "graft/packed_rows_loops.h"

#if defined(__AVX512F__)
#define DOTS int8_loops_avx512
#elif defined(__AVX2__)
#define DOTS int8_loops_avx2
#else
#define DOTS int8_loops_scalar
#endif

static void multiply(const struct graft_packed_rows *self, int64_t first, int64_t n, const float *x, int64_t tokens,
                     float *y) {
    int8_stack_multiply(&DOTS, self, first, n, x, tokens, y);
}

GRAFT_ROW_WRITERS(int8, graft_row_int8)

const struct graft_packed_rows_loops GRAFT_ROW_TABLE(int8_rows) = {GRAFT_ROW_ISA, NULL, multiply, int8_widen,
                                                                   int8_turn};
