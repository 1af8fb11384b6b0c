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

static void widen(const struct graft_packed_rows *self, int64_t first, int64_t n, graft_dtype dtype, void *out) {
    const int64_t row_bytes = self->in_features * (dtype == GRAFT_DTYPE_F32 ? 4 : 2);
    for (int64_t r = 0; r < n; r++) {
        graft_row_widen(self, graft_row_int8, first + r, dtype, (char *)out + r * row_bytes);
    }
}

static void turn(const struct graft_packed_rows *self, const struct graft_turned_portion *portion) {
    graft_row_turned(self, graft_row_int8, portion);
}

const struct graft_packed_rows_loops GRAFT_ROW_TABLE(int8_rows) = {GRAFT_ROW_ISA, NULL, multiply, widen, turn};
