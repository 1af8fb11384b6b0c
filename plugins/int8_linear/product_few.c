/* SPDX-License-Identifier: Apache-2.0 */
#include "product.h"

/* Rows are handed out in groups that do not depend on the number of threads; less than GRAIN_BYTES of weights are not
 * worth waking a thread. */
enum { GROUP_ROWS = 32, GRAIN_BYTES = 1 << 17 };

static void do_groups(void *data, int64_t begin, int64_t end) {
    const struct int8_product *p = data;
    int64_t last = end * GROUP_ROWS < p->rows ? end * GROUP_ROWS : p->rows;
    for (int64_t first = begin * GROUP_ROWS; first < last; first += GROUP_ROWS) {
        int64_t rows = last - first < GROUP_ROWS ? last - first : GROUP_ROWS;
        p->loops->dot(p->weights + first * p->columns, rows, p->columns, p->x, p->tokens, p->y + first, p->rows);
        for (int64_t t = 0; t < p->tokens; t++) {
            float *y = p->y + t * p->rows;
            for (int64_t r = first; r < first + rows; r++) {
                y[r] = y[r] * p->scales[r] + (p->bias != NULL ? p->bias[r] : 0.0F);
            }
        }
    }
}

void int8_product_few(const struct int8_product *product, const struct graft_call *call) {
    struct int8_product copy = *product;
    int64_t group_bytes = GROUP_ROWS * product->columns * product->tokens;
    int64_t grain = GRAIN_BYTES / (group_bytes > 0 ? group_bytes : 1) + 1;
    call->threads->parallel_for((product->rows + GROUP_ROWS - 1) / GROUP_ROWS, grain, do_groups, &copy);
}
