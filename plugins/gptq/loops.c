/* SPDX-License-Identifier: Apache-2.0 */
/* How GPTQ lays codes in words: of weights along inputs, of zero points along outputs. One build of it for each
 * instruction set. */
#include "loops.h"

#include "graft/packed_loops.h"

/* qweight [in / slots, out]: word (r, o) has inputs r * slots and following, the first in its lowest bits. */
GRAFT_PACKED_INLINE void unpack(const struct graft_packed *self, int64_t input, int64_t first, int64_t n,
                                graft_packed_ints codes[GRAFT_PACKED_VECTORS]) {
    const int32_t log_slots = self->bits == 4 ? 3 : 2; /* a division would take longer than all the rest */
    const int32_t slot = (int32_t)input & ((1 << log_slots) - 1);
    const int32_t *words = self->words + (input >> log_slots) * self->out_features + first;
    int32_t rest[GRAFT_PACKED_STRIP];
    if (n < GRAFT_PACKED_STRIP) {
        memset(rest, 0, sizeof rest);
        memcpy(rest, words, (size_t)n * sizeof *words);
        words = rest;
    }
    for (int v = 0; v < GRAFT_PACKED_VECTORS; v++) {
        memcpy(&codes[v], words + (ptrdiff_t)v * GRAFT_PACKED_LANES, sizeof codes[v]);
        codes[v] = (codes[v] >> (slot * self->bits)) & ((1 << self->bits) - 1);
    }
}

GRAFT_PACKED_INLINE void unpack_zeros(const struct graft_packed *self, int64_t group, int64_t first, int64_t n,
                                      graft_packed_ints codes[GRAFT_PACKED_VECTORS]) {
    static const int32_t in_order[] = {0, 1, 2, 3, 4, 5, 6, 7};
    const int32_t *words = self->zeros + (group * self->out_features + first) * self->bits / 32;
    graft_packed_across(words, self->bits, in_order, n, codes);
}

GRAFT_PACKED_LOOPS(gptq, unpack, unpack_zeros);
