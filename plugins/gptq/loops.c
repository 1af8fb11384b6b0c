/* SPDX-License-Identifier: Apache-2.0 */
/* How GPTQ lays codes in words: of weights along inputs, of zero points along outputs. One build of it for each
 * instruction set. */
#include "loops.h"

#include "graft/packed_loops.h"

/* Rows of words that are read side by side, and fetched as many ahead: the processor does so by itself only within a
 * row. */
enum { AHEAD = 2 };

/* qweight [in / slots, out]: word (r, o) has inputs r * slots and following, the first in its lowest bits. */
GRAFT_PACKED_INLINE void unpack(const struct graft_packed *self, int64_t step, int64_t first, int64_t n,
                                graft_packed_words words[GRAFT_PACKED_VECTORS]) {
    const int32_t *row = self->words + step * self->out_features + first;
    const int32_t *next = row + AHEAD * self->out_features;
    for (int v = 0; v < GRAFT_PACKED_VECTORS; v++) {
        __builtin_prefetch((const void *)((uintptr_t)next + (uintptr_t)v * sizeof words[v]), 0, 2);
    }
    graft_packed_load(row, n, words);
}

GRAFT_PACKED_INLINE void unpack_zeros(const struct graft_packed *self, int64_t group, int64_t first, int64_t n,
                                      graft_packed_words codes[GRAFT_PACKED_VECTORS]) {
    static const uint32_t by_4[] = {0, 4, 8, 12, 16, 20, 24, 28, 0, 4, 8, 12, 16, 20, 24, 28};
    static const uint32_t by_8[] = {0, 8, 16, 24, 0, 8, 16, 24, 0, 8, 16, 24, 0, 8, 16, 24};
    const int32_t *words = self->zeros + (group * self->out_features + first) * self->bits / 32;
    if (self->bits == 4) {
        graft_packed_across(words, 4, by_4, n, codes);
    } else {
        graft_packed_across(words, 8, by_8, n, codes);
    }
}

#if defined(__AVX2__)
#include "one.h"
#else
#define one NULL
#endif

GRAFT_PACKED_LOOPS(gptq, unpack, unpack_zeros, AHEAD, NULL, one);
