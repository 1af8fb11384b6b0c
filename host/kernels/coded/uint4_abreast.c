/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/coded/abreast_integers.h"
#include "kernels/coded/kind.h"

static void uint4_abreast_multiply(const struct graft_coded *self, int64_t first, int64_t n, const float *x,
                                   int64_t tokens, float *y) {
    graft_row_abreast_multiply(self, first, n, x, tokens, y);
}

static void uint4_abreast_widen(const struct graft_coded *self, int64_t first, int64_t n, graft_dtype dtype,
                                void *out) {
    graft_row_abreast_widen(self, first, n, dtype, (char *)out);
}

static void uint4_abreast_turn(const struct graft_coded *self, const struct graft_transposed_portion *portion) {
    graft_row_abreast_turn(self, portion);
}

#if defined(__AVX2__)
/* A function for so many tokens: where one has the loops of all, the compiler keeps sums on the stack. */
#define SOME(n_tokens, strips)                                                                                    \
    static __attribute__((noinline)) void multiply_##n_tokens(const struct graft_coded *self, const char *inputs, \
                                                              int64_t first, int64_t n, float *y) {               \
        graft_row_abreast_some(self, inputs, strips, n_tokens, first, n, y);                                      \
    }
SOME(1, GRAFT_ROW_ABREAST_ONE)
SOME(2, GRAFT_ROW_ABREAST_TWO)
SOME(4, GRAFT_ROW_ABREAST_FOUR)

GRAFT_ROW_PREPARED_AS(uint4_abreast_prepared, graft_row_abreast_size(self), graft_row_abreast_prepare(self, x, inputs),
                      graft_row_by_tokens(self, graft_row_abreast_size(self), multiply_1, multiply_2, multiply_4, first,
                                          n, inputs, tokens, y))
#else
GRAFT_ROW_UNPREPARED(uint4_abreast)
#endif
GRAFT_MANY_PAIRS(uint4_abreast_many, GRAFT_ROW_MANY(uint4_abreast_many, graft_row_abreast_fill, 4, 0, 0, 0))
GRAFT_MANY_BYTES_4(uint4_abreast_bytes, GRAFT_ROW_MANY(uint4_abreast_bytes, graft_row_abreast_fill, 4, 0, 1, 0))

LOOPS_TABLE(uint4_abreast, GRAFT_ROW_LANES)
