/* SPDX-License-Identifier: Apache-2.0 */
/* Computes one panel of a weight that a source makes (transposed.h). One portion of the columns is made for all rows of
 * the panel at a time, and multiplied while it is in the cache. Sums are the same as those of product_panel.c. */
#include "kernels/product.h"
#include "kernels/tiles_transposed.h"

static int64_t portion_of(const struct graft_product_panel *panel) {
    return panel->kind == GRAFT_PANEL_PAIRS ? GRAFT_PAIRS_PORTION : GRAFT_PORTION;
}

static int32_t layout_of(const struct graft_product_panel *panel) {
    if (panel->kind == GRAFT_PANEL_PAIRS) {
        return GRAFT_TRANSPOSED_PAIRS;
    }
    return panel->reading == GRAFT_READ_F32 ? GRAFT_TRANSPOSED_F32 : GRAFT_TRANSPOSED_BF16;
}

int64_t graft_product_transposed_scratch(const struct graft_product_panel *panel) {
    if (panel->kind == GRAFT_PANEL_TILES) {
        return graft_tiles_transposed_get()->scratch_bytes(panel->rows, panel->product->tokens);
    }
    const int64_t size = panel->kind == GRAFT_PANEL_PAIRS ? 2 : 4;
    return panel->rows * portion_of(panel) * size;
}

static void run_tiles(const struct graft_product_panel *panel, char *scratch) {
    const struct graft_product *product = panel->product;
    const struct graft_tiles_transposed_product operands = {
        .source = panel->source,
        .row = product->first_row + panel->row,
        .rows = panel->rows,
        .columns = product->weight->columns,
        .x = (const uint16_t *)panel->input->data,
        .tokens = product->tokens,
        .y = product->y + panel->row,
        .y_stride = product->y_stride,
        .scratch = scratch,
    };
    graft_tiles_transposed_get()->multiply(&operands);
}

static void run_loops(const struct graft_loops *loops, const struct graft_product_panel *panel, char *scratch) {
    const struct graft_product *product = panel->product;
    const int is_pairs = panel->kind == GRAFT_PANEL_PAIRS;
    const int64_t columns = product->weight->columns, most = portion_of(panel);
    struct graft_transposed_portion portion = {
        .struct_size = sizeof portion,
        .layout = layout_of(panel),
        .row = product->first_row + panel->row,
        .rows = panel->rows,
        .width = loops->pack_rows,
        .out = scratch,
    };
    if (!is_pairs || columns == 0) {
        graft_product_panel_clear(panel);
    }
    for (int64_t k = 0; k < columns; k += most) {
        portion.column = k;
        portion.columns = columns - k < most ? columns - k : most;
        panel->source->write(panel->source->weight, &portion);
        for (int64_t r = 0; r < panel->rows; r += loops->pack_rows) {
            if (is_pairs) {
                graft_product_panel_add_pairs(loops, panel, r, loops->pack_rows, k, portion.columns,
                                              (const uint32_t *)(void *)scratch + r * (portion.columns / 2));
            } else {
                graft_product_panel_add(loops, panel, r, loops->pack_rows, k, portion.columns,
                                        (const float *)(void *)scratch + r * portion.columns);
            }
        }
    }
}

void graft_product_transposed_run(const struct graft_loops *loops, const struct graft_product_panel *panel,
                                  char *scratch) {
    if (panel->kind == GRAFT_PANEL_TILES) {
        run_tiles(panel, scratch);
    } else {
        run_loops(loops, panel, scratch);
    }
}
