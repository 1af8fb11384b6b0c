/* SPDX-License-Identifier: Apache-2.0 */
#include "stacks.h"

/* Rows and tokens that are done in one call of the loops. */
enum { STRIP_ROWS = 32, MOST_TOKENS = GRAFT_FEW_TOKENS };

/* The codes of a row and those behind it. */
static const int8_t *codes_of(const struct graft_packed_rows *self, int64_t row) {
    return (const int8_t *)graft_weight_block(self->codes, 0)->data + row * self->in_features;
}

/* Their scales. */
static const float *scales_of(const struct graft_packed_rows *self, int64_t row) {
    return (const float *)graft_weight_block(self->scales, 0)->data + row * self->groups;
}

/* Up to STRIP_ROWS rows that follow each other, and MOST_TOKENS tokens. */
static void do_strip(const struct int8_loops *loops, const struct graft_packed_rows *self, int64_t first, int64_t n,
                     const float *x, int64_t tokens, float *y) {
    const float *scales = scales_of(self, first);
    float sums[MOST_TOKENS * STRIP_ROWS]; /* [tokens, STRIP_ROWS] */
    struct int8_dot dot = {
        .w = codes_of(self, first),
        .w_stride = self->in_features,
        .x = x,
        .x_stride = self->in_features,
        .sums = sums,
        .sums_stride = STRIP_ROWS,
        .rows = n,
        .columns = self->group_size,
        .tokens = tokens,
    };
    for (int64_t group = 0; group < self->groups; group++) {
        loops->dot(&dot);
        for (int64_t t = 0; t < tokens; t++) {
            for (int64_t r = 0; r < n; r++) {
                const float before = group > 0 ? y[t * self->out_features + r] : 0.0F;
                y[t * self->out_features + r] = sums[t * STRIP_ROWS + r] * scales[r * self->groups + group] + before;
            }
        }
        dot.w += self->group_size;
        dot.x += self->group_size;
    }
}

void int8_stack_multiply(const struct int8_loops *loops, const struct graft_packed_rows *self, int64_t first, int64_t n,
                         const float *x, int64_t tokens, float *y) {
    for (int64_t at = 0; at < n; at += STRIP_ROWS) {
        for (int64_t t = 0; t < tokens; t += MOST_TOKENS) {
            do_strip(loops, self, first + at, graft_packed_left(n, at, STRIP_ROWS), x + t * self->in_features,
                     graft_packed_left(tokens, t, MOST_TOKENS), y + t * self->out_features + at);
        }
    }
}
