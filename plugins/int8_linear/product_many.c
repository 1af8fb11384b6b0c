/* SPDX-License-Identifier: Apache-2.0 */
#include "graft/kernels.h"
#include "product.h"

/* Of a panel: enough rows to keep all threads busy, and small enough to stay in the last cache. */
enum { PANEL_BYTES = 8 << 20, PANEL_STEP = 256 };

struct panel {
    const struct int8_product *product;
    int64_t first; /* row */
    int64_t rows;
    uint16_t *bits; /* [rows, columns] bf16 */
};

static void widen_rows(void *data, int64_t begin, int64_t end) {
    const struct panel *panel = data;
    int64_t columns = panel->product->columns;
    panel->product->loops->widen(panel->product->weights + (panel->first + begin) * columns, (end - begin) * columns,
                                 panel->bits + begin * columns);
}

/* y = y * scale + bias for the panel's columns of some tokens. */
static void scale_tokens(void *data, int64_t begin, int64_t end) {
    const struct panel *panel = data;
    const struct int8_product *p = panel->product;
    for (int64_t t = begin; t < end; t++) {
        float *y = p->y + t * p->rows;
        for (int64_t r = panel->first; r < panel->first + panel->rows; r++) {
            y[r] = y[r] * p->scales[r] + (p->bias != NULL ? p->bias[r] : 0.0F);
        }
    }
}

static int do_panel(struct panel *panel, const struct graft_call *call, struct graft_error *error) {
    const struct int8_product *p = panel->product;
    const struct graft_row_block block = {sizeof block, GRAFT_DTYPE_BF16, panel->bits, panel->rows};
    const struct graft_weight weight = {
        .struct_size = sizeof weight,
        .rank = 2,
        .shape = {panel->rows, p->columns, 1, 1, 1, 1, 1, 1},
        .rows = panel->rows,
        .columns = p->columns,
        .blocks = &block,
        .n_blocks = 1,
        .block_stride = sizeof block,
    };
    const struct graft_product product = {
        .struct_size = sizeof product,
        .weight = &weight,
        .rows = panel->rows,
        .x = p->x,
        .x_stride = p->columns,
        .tokens = p->tokens,
        .y = p->y + panel->first,
        .y_stride = p->rows,
    };
    call->threads->parallel_for(panel->rows, 16, widen_rows, panel);
    int status = call->kernels->linear(call, &product, 1, sizeof(struct graft_product), error);
    if (status == GRAFT_OK) {
        call->threads->parallel_for(p->tokens, 8, scale_tokens, panel);
    }
    return status;
}

int int8_product_many(const struct int8_product *product, const struct graft_call *call, struct graft_error *error) {
    int64_t row_bytes = product->columns * (int64_t)sizeof(uint16_t);
    int64_t most = PANEL_BYTES / (row_bytes > 0 ? row_bytes : 1) / PANEL_STEP * PANEL_STEP;
    struct panel panel = {.product = product};
    int status = GRAFT_OK;
    most = most < PANEL_STEP ? PANEL_STEP : most;
    most = most < product->rows ? most : product->rows;
    panel.bits = call->scratch_alloc(call->scratch, most * row_bytes);
    if (panel.bits == NULL) {
        return graft_error_set(error, GRAFT_ERROR_INTERNAL, "int8_linear", "out of memory: a panel of %lld rows",
                               (long long)most);
    }
    for (; panel.first < product->rows && status == GRAFT_OK; panel.first += panel.rows) {
        int64_t left = product->rows - panel.first;
        panel.rows = left < most ? left : most;
        status = do_panel(&panel, call, error);
    }
    return status;
}
