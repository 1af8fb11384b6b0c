/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One token with AVX-512, or up to four with AVX2: a whole group of some outputs at a time, so that their sums stay in
 * registers, where loops.c would go along a few rows of words and keep the sums of all outputs in memory. An output's
 * sum is of the same products in the same order, so its bits are the same, too.
 */
#ifndef GPTQ_ONE_H
#define GPTQ_ONE_H

#include "graft/packed_loops.h"

/* Vectors of outputs that are read side by side, and the tiles that have as many; vectors of sums, of all tokens, that
 * there are registers for. */
enum { ONE_VECTORS = 8, ONE_TILES = ONE_VECTORS / GRAFT_PACKED_VECTORS };
enum { ONE_SUMS = GRAFT_PACKED_LANES == 16 ? 16 : 8 };

/* The words of a group, of some outputs. */
struct gptq_words {
    const int32_t *row; /* the first one's */
    int64_t stride;     /* from row to row */
    int64_t steps;      /* rows */
    int64_t ahead;      /* how far behind these lie those that are fetched meanwhile */
};

/* sums [tiles] of a group: its vectors [begin, begin + vectors) for `tokens` tokens. */
GRAFT_PACKED_INLINE void one_add(const struct gptq_words *from, const int rounded, const int tokens, const int begin,
                                 const int vectors, const int32_t *inputs, int64_t stride, graft_packed_sums *sums) {
    const int codes = GRAFT_PACKED_CODES / (rounded ? 2 : 1), line = 64 / (int)sizeof(graft_packed_words);
    const int32_t *row = from->row + (ptrdiff_t)begin * GRAFT_PACKED_LANES;
    graft_packed_floats mine[ONE_SUMS] = {{0}};
    for (int64_t s = 0; s < from->steps; s++, row += from->stride, inputs += codes) {
        for (int v = 0; v < vectors; v++) {
            const int32_t *at = row + (ptrdiff_t)v * GRAFT_PACKED_LANES;
            graft_packed_words words = graft_packed_words_from(at);
            __asm__("" : "+v"(words)); /* loaded once: the compiler would load it for each code */
            if (v % line == 0) {
                __builtin_prefetch((const void *)((uintptr_t)at + (uintptr_t)from->ahead * sizeof *at), 0, 2);
            }
            for (int k = 0; k < codes; k++) {
                const graft_packed_words numbers = graft_packed_codes(words, rounded, k);
                for (int t = 0; t < tokens; t++) {
                    const graft_packed_words input = graft_packed_all((uint32_t)inputs[t * stride + k]);
                    mine[t * vectors + v] = graft_packed_add(mine[t * vectors + v], rounded, numbers, input);
                }
            }
        }
    }
    for (int i = 0; i < tokens * vectors; i++) {
        const int v = begin + i % vectors;
        sums[v / GRAFT_PACKED_VECTORS][i / vectors][v % GRAFT_PACKED_VECTORS] = mine[i];
    }
}

/* y [tokens] += what a group comes to, for `tiles` tiles from output `first` on. */
GRAFT_PACKED_INLINE void one_tiles(const struct graft_packed *self, const struct graft_packed_format format,
                                   const int bits, const int rounded, const struct graft_packed_portion *portion,
                                   const struct gptq_words *from, const int tokens, const int tiles, int64_t first,
                                   float *y) {
    const int all = tiles * GRAFT_PACKED_VECTORS, most = ONE_SUMS / tokens, vectors = most < all ? most : all;
    graft_packed_sums sums[ONE_TILES], totals;
    for (int v = 0; v < all; v += vectors) {
        one_add(from, rounded, tokens, v, vectors, portion->numbers, portion->input->codes, sums);
    }
    for (int i = 0; i < tiles; i++, y += GRAFT_PACKED_TILE) {
        for (int t = 0; t < tokens; t++) {
            memcpy(totals[t], y + t * self->out_features, sizeof totals[t]);
        }
        graft_packed_add_group(self, format, bits, rounded, portion, tokens, first + (int64_t)i * GRAFT_PACKED_TILE,
                               GRAFT_PACKED_TILE, sums[i], totals);
        for (int t = 0; t < tokens; t++) {
            memcpy(y + t * self->out_features, totals[t], sizeof totals[t]);
        }
    }
}

/* The same for all n outputs. While some are read, those beside them are fetched and, at the end, the first of the next
 * group. */
GRAFT_PACKED_INLINE void one_group(const struct graft_packed *self, const struct graft_packed_format format,
                                   const int bits, const int rounded, const struct graft_packed_portion *portion,
                                   int64_t steps, const int tokens, int64_t first, int64_t n, float *y) {
    const int64_t wide = (int64_t)ONE_TILES * GRAFT_PACKED_TILE, down = steps * self->out_features;
    struct gptq_words from = {self->words + portion->step * self->out_features + first, self->out_features, steps, 0};
    int64_t o = 0;
    for (; o + wide <= n; o += wide, from.row += wide) {
        from.ahead = o + wide < n ? wide : down - o;
        one_tiles(self, format, bits, rounded, portion, &from, tokens, ONE_TILES, first + o, y + o);
    }
    if (o < n) {
        from.ahead = down - o;
        one_tiles(self, format, bits, rounded, portion, &from, tokens, 1, first + o, y + o);
    }
}

/* graft_packed_format.one: n is a multiple of GRAFT_PACKED_STRIP, which is whole tiles. */
GRAFT_PACKED_INLINE void one(const struct graft_packed *self, const struct graft_packed_format format, const int bits,
                             const int rounded, const struct graft_packed_input *input, int64_t t, const int tokens,
                             int64_t first, int64_t n, float *y) {
    const int64_t slots = 32 / bits, codes = GRAFT_PACKED_CODES / (rounded ? 2 : 1), all = self->in_features / slots;
    struct graft_packed_portion portion = {input, t, input->numbers + t * input->codes, 0, 0, 1, 1};
    for (int k = 0; k < tokens; k++) {
        memset(y + k * self->out_features, 0, (size_t)n * sizeof *y);
    }
    for (; portion.group < self->groups; portion.group++) {
        const int64_t end = graft_packed_left(all, 0, (portion.group + 1) * self->group_size / slots);
        const int64_t steps = end - portion.step;
        one_group(self, format, bits, rounded, &portion, steps, tokens, first, n, y);
        portion.step = end;
        portion.numbers += steps * codes;
    }
}

#endif
