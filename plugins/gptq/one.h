/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One token with AVX-512: a whole group of some outputs at a time, so that their sums stay in registers, where loops.c
 * would go along a few rows of words and keep the sums of all outputs in memory. An output's sum is of the same
 * products in the same order, so its bits are the same, too.
 */
#ifndef GPTQ_ONE_H
#define GPTQ_ONE_H

#include "graft/packed_loops.h"

/* Tiles side by side: one's sums wait for each other longer than their codes take. */
enum { ONE_TILES = 2 };

/* The words of a group, of some outputs. */
struct gptq_words {
    const int32_t *row; /* the first one's */
    int64_t stride;     /* from row to row */
    int64_t steps;      /* rows */
    int64_t ahead;      /* how far behind these lie those that are fetched meanwhile */
};

/* Fetches part k of `codes` of so many vectors of words: a few at a time, as they take turns with loads. */
GRAFT_PACKED_INLINE void one_fetch(uintptr_t words, const int vectors, int k, const int codes) {
    for (int v = k * vectors / codes; v < (k + 1) * vectors / codes; v++) {
        __builtin_prefetch((const void *)(words + (uintptr_t)v * sizeof(graft_packed_words)), 0, 2);
    }
}

/* sums [tiles] of a group. */
GRAFT_PACKED_INLINE void one_add(const struct gptq_words *from, const int rounded, const int tiles,
                                 const int32_t *inputs, graft_packed_sums *sums) {
    const int codes = GRAFT_PACKED_CODES / (rounded ? 2 : 1), vectors = tiles * GRAFT_PACKED_VECTORS;
    const int32_t *row = from->row;
    graft_packed_floats mine[ONE_TILES * GRAFT_PACKED_VECTORS] = {{0}};
    for (int64_t s = 0; s < from->steps; s++, row += from->stride, inputs += codes) {
        graft_packed_words words[ONE_TILES * GRAFT_PACKED_VECTORS];
        for (int v = 0; v < vectors; v++) {
            words[v] = graft_packed_words_from(row + (ptrdiff_t)v * GRAFT_PACKED_LANES);
            __asm__("" : "+v"(words[v])); /* loaded once: the compiler would load it for each code */
        }
        for (int k = 0; k < codes; k++) {
            const graft_packed_words input = graft_packed_all((uint32_t)inputs[k]);
            one_fetch((uintptr_t)row + (uintptr_t)from->ahead * sizeof *row, vectors, k, codes);
            for (int v = 0; v < vectors; v++) {
                mine[v] = graft_packed_add(mine[v], rounded, graft_packed_codes(words[v], rounded, k), input);
            }
        }
    }
    for (int v = 0; v < vectors; v++) {
        sums[v / GRAFT_PACKED_VECTORS][0][v % GRAFT_PACKED_VECTORS] = mine[v];
    }
}

/* y += what a group comes to, for `tiles` tiles from output `first` on. */
GRAFT_PACKED_INLINE void one_tiles(const struct graft_packed *self, const struct graft_packed_format format,
                                   const float above, const int rounded, const struct graft_packed_portion *portion,
                                   const struct gptq_words *from, const int tiles, int64_t first, float *y) {
    graft_packed_sums sums[ONE_TILES], totals;
    one_add(from, rounded, tiles, portion->numbers, sums);
    for (int i = 0; i < tiles; i++, y += GRAFT_PACKED_TILE) {
        memcpy(totals[0], y, sizeof totals[0]);
        graft_packed_add_group(self, format, above, portion, 1, first + (int64_t)i * GRAFT_PACKED_TILE,
                               GRAFT_PACKED_TILE, sums[i], totals);
        memcpy(y, totals[0], sizeof totals[0]);
    }
}

/* The same for all n outputs. While some are read, those beside them are fetched and, at the end, the first of the next
 * group. */
GRAFT_PACKED_INLINE void one_group(const struct graft_packed *self, const struct graft_packed_format format,
                                   const float above, const int rounded, const struct graft_packed_portion *portion,
                                   int64_t steps, int64_t first, int64_t n, float *y) {
    const int64_t wide = (int64_t)ONE_TILES * GRAFT_PACKED_TILE, down = steps * self->out_features;
    struct gptq_words from = {self->words + portion->step * self->out_features + first, self->out_features, steps, 0};
    int64_t o = 0;
    for (; o + wide <= n; o += wide, from.row += wide) {
        from.ahead = o + wide < n ? wide : down - o;
        one_tiles(self, format, above, rounded, portion, &from, ONE_TILES, first + o, y + o);
    }
    if (o < n) {
        from.ahead = down - o;
        one_tiles(self, format, above, rounded, portion, &from, 1, first + o, y + o);
    }
}

/* graft_packed_format.one: n is a multiple of GRAFT_PACKED_STRIP, which is a tile here. */
GRAFT_PACKED_INLINE void one(const struct graft_packed *self, const struct graft_packed_format format, const int bits,
                             const int rounded, const struct graft_packed_input *input, int64_t t, int64_t first,
                             int64_t n, float *y) {
    const int64_t slots = 32 / bits, codes = GRAFT_PACKED_CODES / (rounded ? 2 : 1), all = self->in_features / slots;
    struct graft_packed_portion portion = {input, t, input->numbers + t * input->codes, 0, 0, 1, 1};
    memset(y, 0, (size_t)n * sizeof *y);
    for (; portion.group < self->groups; portion.group++) {
        const int64_t end = graft_packed_left(all, 0, (portion.group + 1) * self->group_size / slots);
        const int64_t steps = end - portion.step;
        one_group(self, format, graft_packed_above(bits, rounded), rounded, &portion, steps, first, n, y);
        portion.step = end;
        portion.numbers += steps * codes;
    }
}

#endif
