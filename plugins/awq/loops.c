/* SPDX-License-Identifier: Apache-2.0 */
/* How AWQ (version gemm) lays codes in words: of weights and zero points alike along outputs, out of order. One build
 * of it for each instruction set. */
#include "loops.h"

#include "graft/packed_loops.h"

/* The slot of each of a word's eight outputs: slots hold outputs 0, 2, 4, 6, 1, 3, 5, 7. */
static const int32_t slots[] = {0, 4, 1, 5, 2, 6, 3, 7};

/* qweight [in, out / 8]. */
GRAFT_PACKED_INLINE void unpack(const struct graft_packed *self, int64_t input, int64_t first, int64_t n,
                                graft_packed_ints codes[GRAFT_PACKED_VECTORS]) {
    graft_packed_across(self->words + (input * self->out_features + first) / 8, 4, slots, n, codes);
}

GRAFT_PACKED_INLINE void unpack_zeros(const struct graft_packed *self, int64_t group, int64_t first, int64_t n,
                                      graft_packed_ints codes[GRAFT_PACKED_VECTORS]) {
    graft_packed_across(self->zeros + (group * self->out_features + first) / 8, 4, slots, n, codes);
}

GRAFT_PACKED_LOOPS(awq, unpack, unpack_zeros);
