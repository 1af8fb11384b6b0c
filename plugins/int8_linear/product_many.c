/* SPDX-License-Identifier: Apache-2.0 */
#include "graft/kernels.h"
#include "product.h"

/* Of a panel: enough rows to keep all threads busy, and small enough to stay in the last cache. */
enum { PANEL_BYTES = 8 << 20, PANEL_STEP = 256 };

/* One group of columns of some rows. */
struct panel {
    const struct int8_product *product;
    int64_t first; /* row */
    int64_t rows;
    int64_t group;
    int64_t width;  /* of a group */
    uint16_t *bits; /* [rows, width] bf16 */
    float *sums;    /* [tokens, rows], sums_stride apart: of the first group y itself */
    int64_t sums_stride;
};

static void widen_rows(void *data, int64_t begin, int64_t end) {
    const struct panel *panel = data;
    const struct int8_product *p = panel->product;
    const int8_t *weights = p->weights + panel->first * p->columns + panel->group * panel->width;
    if (p->groups == 1) {
        p->loops->widen(weights + begin * p->columns, (end - begin) * p->columns, panel->bits + begin * p->columns);
        return;
    }
    for (int64_t r = begin; r < end; r++) {
        p->loops->widen(weights + r * p->columns, panel->width, panel->bits + r * panel->width);
    }
}

/* y = sums * scale + bias, or for the groups behind the first y += sums * scale: the panel's columns of some tokens. */
static void scale_tokens(void *data, int64_t begin, int64_t end) {
    const struct panel *panel = data;
    const struct int8_product *p = panel->product;
    for (int64_t t = begin; t < end; t++) {
        const float *sums = panel->sums + t * panel->sums_stride;
        float *y = p->y + t * p->rows + panel->first;
        for (int64_t r = 0; r < panel->rows; r++) {
            int64_t row = panel->first + r;
            float before = panel->group > 0 ? y[r] : p->bias != NULL ? p->bias[row] : 0.0F;
            y[r] = sums[r] * p->scales[row * p->groups + panel->group] + before;
        }
    }
}

static int do_panel(struct panel *panel, const struct graft_call *call, struct graft_error *error) {
    const struct int8_product *p = panel->product;
    const struct graft_row_block block = {sizeof block, GRAFT_DTYPE_BF16, panel->bits, panel->rows};
    const struct graft_weight weight = {
        .struct_size = sizeof weight,
        .rank = 2,
        .shape = {panel->rows, panel->width, 1, 1, 1, 1, 1, 1},
        .rows = panel->rows,
        .columns = panel->width,
        .blocks = &block,
        .n_blocks = 1,
        .block_stride = sizeof block,
    };
    const struct graft_product product = {
        .struct_size = sizeof product,
        .weight = &weight,
        .rows = panel->rows,
        .x = p->x + panel->group * panel->width,
        .x_stride = p->columns,
        .tokens = p->tokens,
        .y = panel->sums,
        .y_stride = panel->sums_stride,
    };
    call->threads->parallel_for(panel->rows, 16, widen_rows, panel);
    int status = call->kernels->linear(call, &product, 1, sizeof(struct graft_product), error);
    if (status == GRAFT_OK) {
        call->threads->parallel_for(p->tokens, 8, scale_tokens, panel);
    }
    return status;
}

/* All groups of the panel's rows; `sums` is for those behind the first. */
static int do_groups(struct panel *panel, float *sums, const struct graft_call *call, struct graft_error *error) {
    const struct int8_product *p = panel->product;
    int status = GRAFT_OK;
    panel->sums = p->y + panel->first;
    panel->sums_stride = p->rows;
    for (panel->group = 0; panel->group < p->groups && status == GRAFT_OK; panel->group++) {
        status = do_panel(panel, call, error);
        panel->sums = sums;
        panel->sums_stride = panel->rows;
    }
    return status;
}

int int8_product_many(const struct int8_product *product, const struct graft_call *call, struct graft_error *error) {
    struct panel panel = {.product = product, .width = product->columns / product->groups};
    int64_t row_bytes = panel.width * (int64_t)sizeof(uint16_t);
    int64_t most = PANEL_BYTES / (row_bytes > 0 ? row_bytes : 1) / PANEL_STEP * PANEL_STEP;
    float *sums = NULL;
    int status = GRAFT_OK;
    most = most < PANEL_STEP ? PANEL_STEP : most;
    most = most < product->rows ? most : product->rows;
    if (product->groups > 1 && (sums = graft_scratch_floats(call, product->tokens, most, error)) == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    panel.bits = call->scratch_alloc(call->scratch, most * row_bytes);
    if (panel.bits == NULL) {
        return graft_error_set(error, GRAFT_ERROR_INTERNAL, "int8_linear", "out of memory: a panel of %lld rows",
                               (long long)most);
    }
    for (; panel.first < product->rows && status == GRAFT_OK; panel.first += panel.rows) {
        int64_t left = product->rows - panel.first;
        panel.rows = left < most ? left : most;
        status = do_groups(&panel, sums, call, error);
    }
    return status;
}
