/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Many tokens, without rows in between: the words of a format (packed_format.h) become portions of W as the host's
 * products want them (turned.h). Lanes are outputs both here and there, so vectors are stored as they come.
 */
#ifndef GRAFT_PACKED_TURNED_H
#define GRAFT_PACKED_TURNED_H

#include "packed_widen.h"
#include "turned.h"

#ifdef __cplusplus
extern "C" {
#endif

/* [any] Pair `k` of a word's inputs, of the outputs of vector v. */
GRAFT_PACKED_INLINE graft_packed_words graft_packed_turned_pair(graft_packed_floats weights[][GRAFT_PACKED_VECTORS],
                                                                int k, int v) {
    return graft_packed_round(weights[2 * k][v]) >> 16 | (graft_packed_round(weights[2 * k + 1][v]) & 0xffff0000);
}

/* [any] Stores what a word's inputs come to; `layout` is a constant. `out` [slots, width] or, of pairs, [slots / 2,
 * width], and `block` words further on for each `width` outputs; the first output is number `output` of a block. */
GRAFT_PACKED_INLINE void graft_packed_turned_store(graft_packed_floats weights[][GRAFT_PACKED_VECTORS], const int slots,
                                                   const int32_t layout, int64_t output, int64_t width, int64_t block,
                                                   uint32_t *out) {
    const int is_pairs = layout == GRAFT_TURNED_PAIRS, lines = is_pairs ? slots / 2 : slots;
    for (int v = 0; v < GRAFT_PACKED_VECTORS; v++, output += GRAFT_PACKED_LANES) {
        uint32_t *to = out + output / width * block + output % width;
        for (int k = 0; k < lines; k++, to += width) {
            graft_packed_words numbers;
            if (is_pairs) {
                numbers = graft_packed_turned_pair(weights, k, v);
            } else if (layout == GRAFT_TURNED_BF16) {
                numbers = graft_packed_round(weights[k][v]) & 0xffff0000;
            } else {
                numbers = (graft_packed_words)weights[k][v];
            }
            memcpy(to, &numbers, sizeof numbers);
        }
    }
}

/* [any] A tile, all columns of the portion; `output` is its first output in the portion. */
GRAFT_PACKED_INLINE void graft_packed_turned_tile(const struct graft_packed *self,
                                                  const struct graft_packed_format format, const int bits,
                                                  const int32_t layout, const struct graft_turned_portion *portion,
                                                  int64_t output) {
    const int slots = 32 / bits;
    const int64_t lines = layout == GRAFT_TURNED_PAIRS ? slots / 2 : slots;
    const int64_t begin = portion->column / slots, steps = portion->columns / slots;
    const int64_t first = portion->row + output;
    uint32_t *out = (uint32_t *)portion->out;
    struct graft_packed_group at;
    int64_t group = graft_packed_group_of(self, portion->column);
    graft_packed_group_at(self, format, group, first, GRAFT_PACKED_TILE, &at);
    for (int64_t step = 0; step < steps; step++, out += lines * portion->width) {
        graft_packed_floats weights[GRAFT_PACKED_CODES][GRAFT_PACKED_VECTORS];
        graft_packed_widen_word(self, format, bits, begin + step, first, GRAFT_PACKED_TILE, &group, &at, weights);
        graft_packed_turned_store(weights, slots, layout, output, portion->width, steps * lines * portion->width, out);
    }
}

/* [any] graft_packed_arithmetic.turn. */
GRAFT_PACKED_INLINE void graft_packed_turned_any(const struct graft_packed *self,
                                                 const struct graft_packed_format format, const int bits,
                                                 const int rounded, const struct graft_turned_portion *portion) {
    for (int64_t output = 0; output < portion->rows; output += GRAFT_PACKED_TILE) {
        if (!rounded) {
            graft_packed_turned_tile(self, format, bits, GRAFT_TURNED_F32, portion, output);
        } else if (portion->layout == GRAFT_TURNED_PAIRS) {
            graft_packed_turned_tile(self, format, bits, GRAFT_TURNED_PAIRS, portion, output);
        } else {
            graft_packed_turned_tile(self, format, bits, GRAFT_TURNED_BF16, portion, output);
        }
    }
}

#ifdef __cplusplus
}
#endif

#endif
