/* SPDX-License-Identifier: Apache-2.0 */
#include "product.h"

/* Rows are handed out in strips that do not depend on the number of threads; less than GRAIN_BYTES of weights are not
 * worth waking a thread. As many as there are, up to MOST_ROWS, are multiplied together: long streams are read faster.
 */
enum { STRIP_ROWS = 32, MOST_ROWS = 256, GRAIN_BYTES = 1 << 17 };

/* Adds one group of columns to `rows` rows of y; with the first one they begin, at the bias. */
static void do_group(const struct int8_product *p, int64_t first, int64_t rows, int64_t group) {
    int64_t width = p->columns / p->groups;
    float sums[GRAFT_FEW_TOKENS * MOST_ROWS]; /* [tokens, MOST_ROWS] */
    const struct int8_dot dot = {
        .w = p->weights + first * p->columns + group * width,
        .w_stride = p->columns,
        .x = p->x + group * width,
        .x_stride = p->columns,
        .sums = sums,
        .sums_stride = MOST_ROWS,
        .rows = rows,
        .columns = width,
        .tokens = p->tokens,
    };
    p->loops->dot(&dot);
    for (int64_t t = 0; t < p->tokens; t++) {
        float *y = p->y + t * p->rows + first;
        for (int64_t r = 0; r < rows; r++) {
            float before = group > 0 ? y[r] : p->bias != NULL ? p->bias[first + r] : 0.0F;
            y[r] = sums[t * MOST_ROWS + r] * p->scales[(first + r) * p->groups + group] + before;
        }
    }
}

static void do_strips(void *data, int64_t begin, int64_t end) {
    const struct int8_product *p = data;
    int64_t last = end * STRIP_ROWS < p->rows ? end * STRIP_ROWS : p->rows;
    for (int64_t first = begin * STRIP_ROWS; first < last; first += MOST_ROWS) {
        int64_t rows = last - first < MOST_ROWS ? last - first : MOST_ROWS;
        for (int64_t group = 0; group < p->groups; group++) {
            do_group(p, first, rows, group);
        }
    }
}

void int8_product_few(const struct int8_product *product, const struct graft_call *call) {
    struct int8_product copy = *product;
    int64_t strip_bytes = STRIP_ROWS * product->columns * product->tokens;
    int64_t grain = GRAIN_BYTES / (strip_bytes > 0 ? strip_bytes : 1) + 1;
    call->threads->parallel_for((product->rows + STRIP_ROWS - 1) / STRIP_ROWS, grain, do_strips, &copy);
}
