/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Products of many tokens with a packed weight: panels of its rows are widened by the host's threads, one after the
 * other, and multiplied by its kernels.
 *
 * With --dtype float32 panels are f32. Otherwise packed weights count as bf16: so are panels, and the host rounds their
 * inputs.
 */
#ifndef GRAFT_PACKED_PANELS_H
#define GRAFT_PACKED_PANELS_H

#include "kernels.h"
#include "threads.h"
#include "turned.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { GRAFT_PANEL_ROWS = 1024, GRAFT_PANEL_GRAIN = 16 /* rows that are worth waking a thread for */ };

/* A packed weight. The plugin's own, as all here: it does not cross to the host. */
struct graft_panels {
    const void *weight; /* for `widen` */
    int64_t rows;       /* of the weight: outputs */
    int64_t columns;    /* inputs */
    int64_t unit;       /* rows that `widen` is asked for begin at a multiple of it, which divides GRAFT_PANEL_ROWS */
    /* [any] out [n, columns] = rows [first, first + n), F32 or, rounded, BF16. */
    void (*widen)(const void *weight, int64_t first, int64_t n, graft_dtype dtype, void *out);
    /* [any] Fills in a portion, which then takes no panel; NULL: `widen` does it all. */
    void (*turn)(const void *weight, const struct graft_turned_portion *portion);
};

/* What the body of a parallel loop is given. */
struct graft_panel {
    const struct graft_panels *panels; /* whose rows they are */
    graft_dtype dtype;                 /* F32 or BF16 */
    int64_t first;                     /* row of the weight */
    int64_t rows;                      /* from there on */
    char *data;                        /* [rows, columns] */
};

GRAFT_ASSERT_SIZE(struct graft_panels, 48);
GRAFT_ASSERT_SIZE(struct graft_panel, 40);

/* [any] A body: units [begin, end) of a panel, the last of which may lack rows. */
GRAFT_INLINE void graft_panel_widen(void *data, int64_t begin, int64_t end) {
    const struct graft_panel *panel = (const struct graft_panel *)data;
    const struct graft_panels *panels = panel->panels;
    const int64_t size = panel->dtype == GRAFT_DTYPE_F32 ? 4 : 2;
    const int64_t first = begin * panels->unit, last = end * panels->unit;
    panels->widen(panels->weight, panel->first + first, (last < panel->rows ? last : panel->rows) - first, panel->dtype,
                  panel->data + first * panels->columns * size);
}

/* [forward] y [tokens, ..] = x [tokens, columns] times rows [first, first + weight->rows); rows of y are those of the
 * whole weight. */
GRAFT_INLINE struct graft_product graft_panel_product(const struct graft_panels *panels,
                                                      const struct graft_weight *weight, int64_t first, const float *x,
                                                      int64_t tokens, float *y) {
    struct graft_product product;
    memset(&product, 0, sizeof product);
    product.struct_size = (uint32_t)sizeof product;
    product.weight = weight;
    product.rows = weight->rows;
    product.x = x;
    product.x_stride = panels->columns;
    product.tokens = tokens;
    product.y = y + first;
    product.y_stride = panels->rows;
    return product;
}

/* [any] A weight of so many rows, without blocks. */
GRAFT_INLINE struct graft_weight graft_panel_weight(const struct graft_panels *panels, int64_t rows) {
    struct graft_weight weight;
    memset(&weight, 0, sizeof weight);
    weight.struct_size = (uint32_t)sizeof weight;
    weight.rank = 2;
    for (int32_t i = 0; i < GRAFT_MAX_RANK; i++) {
        weight.shape[i] = i == 0 ? rows : i == 1 ? panels->columns : 1;
    }
    weight.rows = rows;
    weight.columns = panels->columns;
    return weight;
}

/* [forward] y = x times a widened panel. */
GRAFT_INLINE int graft_panel_multiply(const struct graft_panel *panel, const struct graft_call *call, const float *x,
                                      int64_t tokens, float *y, struct graft_error *error) {
    struct graft_weight weight = graft_panel_weight(panel->panels, panel->rows);
    struct graft_row_block block;
    block.struct_size = (uint32_t)sizeof block;
    block.dtype = panel->dtype;
    block.data = panel->data;
    block.rows = panel->rows;
    weight.blocks = &block;
    weight.n_blocks = 1;
    weight.block_stride = (uint32_t)sizeof block;
    const struct graft_product product = graft_panel_product(panel->panels, &weight, panel->first, x, tokens, y);
    return call->kernels->linear(call, &product, 1, sizeof product, error);
}

/* [any] The rows of the panel that starts at row `first`. */
GRAFT_INLINE int64_t graft_panel_rows(const struct graft_panels *panels, int64_t first) {
    const int64_t most = GRAFT_PANEL_ROWS, left = panels->rows - first;
    return left < most ? left : most;
}

/* [forward] The first rows of y without panels, where host and weight can; `*rows` of them. */
GRAFT_INLINE int graft_panels_turned(const struct graft_panels *panels, const struct graft_call *call, const float *x,
                                     int64_t tokens, float *y, int64_t *rows, struct graft_error *error) {
    const int64_t whole = panels->rows / GRAFT_TURNED_ROWS * GRAFT_TURNED_ROWS;
    int32_t done = 0;
    *rows = 0;
    if (panels->turn == NULL || whole == 0 || panels->columns % GRAFT_TURNED_COLUMNS != 0) {
        return GRAFT_OK;
    }
    const struct graft_weight weight = graft_panel_weight(panels, whole);
    const struct graft_product product = graft_panel_product(panels, &weight, 0, x, tokens, y);
    struct graft_turned_source source;
    source.struct_size = (uint32_t)sizeof source;
    source.layouts = 1u << GRAFT_TURNED_F32 | 1u << GRAFT_TURNED_BF16 | 1u << GRAFT_TURNED_PAIRS;
    source.weight = panels->weight;
    source.write = panels->turn;
    int status = call->kernels->linear_turned(call, &product, &source, &done, error);
    *rows = done ? whole : 0;
    return status;
}

/* [forward] y [tokens, rows] = x [tokens, columns] times the weight: portion by portion, and panels of what is left. */
GRAFT_INLINE int graft_panels_multiply(const struct graft_panels *panels, const struct graft_call *call, const float *x,
                                       int64_t tokens, float *y, struct graft_error *error) {
    const int is_exact = call->precision == GRAFT_PRECISION_FLOAT32;
    struct graft_panel panel;
    int status = graft_panels_turned(panels, call, x, tokens, y, &panel.first, error);
    if (status != GRAFT_OK || panel.first == panels->rows) {
        return status;
    }
    const int64_t most = graft_panel_rows(panels, panel.first);
    panel.panels = panels;
    panel.dtype = is_exact ? GRAFT_DTYPE_F32 : GRAFT_DTYPE_BF16;
    panel.data = (char *)graft_scratch_floats(call, is_exact ? most : most / 2 + 1, panels->columns, error);
    if (panel.data == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    for (; panel.first < panels->rows && status == GRAFT_OK; panel.first += panel.rows) {
        panel.rows = graft_panel_rows(panels, panel.first);
        call->threads->parallel_for((panel.rows + panels->unit - 1) / panels->unit,
                                    (GRAFT_PANEL_GRAIN + panels->unit - 1) / panels->unit, graft_panel_widen, &panel);
        status = graft_panel_multiply(&panel, call, x, tokens, y, error);
    }
    return status;
}

#ifdef __cplusplus
}
#endif

#endif
