/* SPDX-License-Identifier: Apache-2.0 */
/* How AWQ (version gemm) lays codes in words: of weights and zero points alike along outputs, out of order. One build
 * of it for each instruction set. */
#include "loops.h"

#include "graft/packed_loops.h"

enum { SLOTS = 8, AHEAD = SLOTS };

/* The words of a tile in one row: half a vector. */
GRAFT_PACKED_INLINE graft_packed_half_words load(const int32_t *from, int64_t n) {
    graft_packed_half_words words = {0};
    memcpy(&words, from, n == GRAFT_PACKED_TILE ? sizeof words : (size_t)(n / SLOTS) * sizeof *from);
    return words;
}

/* Fields of `width` bits change places between two words: the upper ones of `a` with the lower ones of `b`; `lower` has
 * the bits of the lower ones. */
GRAFT_PACKED_INLINE void exchange(graft_packed_words *a, graft_packed_words *b, const int width, const uint32_t lower) {
    graft_packed_words first = (*a & lower) | (*b << width & ~lower);
    *b = (*a >> width & lower) | (*b & ~lower);
    *a = first;
}

/*
 * qweight [in, out / 8]: the words of eight inputs are squares of eight by eight codes, to be turned. That takes three
 * rounds, which exchange fields of 4, 8 and 16 bits between inputs 1, 2 and 4 apart. A vector has inputs i and i + 4,
 * and after two rounds slots i and i + 4, which are outputs that follow each other.
 */
GRAFT_PACKED_INLINE void unpack(const struct graft_packed *self, int64_t step, int64_t first, int64_t n,
                                graft_packed_words words[GRAFT_PACKED_VECTORS]) {
    const int64_t stride = self->out_features / SLOTS;
    const int32_t *rows = self->words + step * SLOTS * stride + first / SLOTS;
    for (int i = 0; i < GRAFT_PACKED_VECTORS; i++) {
        words[i] = GRAFT_PACKED_JOIN(load(rows + i * stride, n), load(rows + (i + 4) * stride, n));
        __builtin_prefetch((const void *)((uintptr_t)(rows + (i + AHEAD) * stride)));
        __builtin_prefetch((const void *)((uintptr_t)(rows + (i + 4 + AHEAD) * stride)));
    }
    exchange(&words[0], &words[1], 4, 0x0f0f0f0f);
    exchange(&words[2], &words[3], 4, 0x0f0f0f0f);
    exchange(&words[0], &words[2], 8, 0x00ff00ff);
    exchange(&words[1], &words[3], 8, 0x00ff00ff);
    graft_packed_interleave(words, GRAFT_PACKED_VECTORS);
    graft_packed_interleave(words, GRAFT_PACKED_VECTORS);
    exchange(&words[0], &words[2], 16, 0x0000ffff);
    exchange(&words[1], &words[3], 16, 0x0000ffff);
    graft_packed_interleave(words, GRAFT_PACKED_VECTORS);
}

GRAFT_PACKED_INLINE void unpack_zeros(const struct graft_packed *self, int64_t group, int64_t first, int64_t n,
                                      graft_packed_words codes[GRAFT_PACKED_VECTORS]) {
    /* Slots hold outputs 0, 2, 4, 6, 1, 3, 5, 7. */
    static const uint32_t shifts[] = {0, 16, 4, 20, 8, 24, 12, 28, 0, 16, 4, 20, 8, 24, 12, 28};
    graft_packed_across(self->zeros + (group * self->out_features + first) / SLOTS, 4, shifts, n, codes);
}

GRAFT_PACKED_LOOPS(awq, unpack, unpack_zeros, 1);
