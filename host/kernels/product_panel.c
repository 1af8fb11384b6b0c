/* SPDX-License-Identifier: Apache-2.0 */
/* Computes one panel: the products, then the bias. */
#include <string.h>

#include "kernels/blocks.h"
#include "kernels/gemv.h"
#include "kernels/product.h"
#include "kernels/tiles.h"
#include "kernels/tiles_gemv.h"

enum { BIAS_RUN = 64 };

int64_t graft_product_panel_scratch(const struct graft_loops *loops, const struct graft_product_panel *panel) {
    if (panel->source != NULL) {
        return graft_product_transposed_scratch(panel);
    }
    if (panel->kind == GRAFT_PANEL_MULTIPLY) {
        return loops->pack_rows * GRAFT_PORTION * (int64_t)sizeof(float);
    }
    if (panel->kind == GRAFT_PANEL_PAIRS) {
        return loops->pack_rows * (GRAFT_PAIRS_PORTION / 2) * (int64_t)sizeof(uint32_t);
    }
    if (panel->kind == GRAFT_PANEL_TILES) {
        return graft_tiles_get()->scratch_bytes(1, panel->rows, panel->product->tokens);
    }
    return 0;
}

static void run_dot(const struct graft_loops *loops, const struct graft_product_panel *panel) {
    const struct graft_product *product = panel->product;
    int64_t columns = product->weight->columns;
    loops->dot(panel->reading, panel->weights, columns, panel->rows, columns, (const float *)panel->input->data,
               panel->input->data_stride, product->tokens, product->y + panel->row, product->y_stride, NULL);
}

static void run_split(const struct graft_loops *loops, const struct graft_product_panel *panel) {
    const struct graft_product *product = panel->product;
    int64_t columns = product->weight->columns;
    loops->dot_split((const uint16_t *)panel->weights, columns, panel->rows, columns, (const float *)panel->input->data,
                     panel->input->data_stride, product->tokens, product->y + panel->row, product->y_stride);
}

void graft_product_panel_clear(const struct graft_product_panel *panel) {
    const struct graft_product *product = panel->product;
    for (int64_t t = 0; t < product->tokens; t++) {
        memset(product->y + t * product->y_stride + panel->row, 0, (size_t)panel->rows * sizeof(float));
    }
}

void graft_product_panel_add(const struct graft_loops *loops, const struct graft_product_panel *panel, int64_t r,
                             int64_t rows, int64_t k, int64_t depth, const float *w) {
    const struct graft_product *product = panel->product;
    loops->multiply((const float *)panel->input->data + k, panel->input->data_stride, 1, product->tokens,
                    GRAFT_READ_F32, w, loops->pack_rows, depth, rows, product->y + panel->row + r, product->y_stride,
                    NULL);
}

void graft_product_panel_add_pairs(const struct graft_loops *loops, const struct graft_product_panel *panel, int64_t r,
                                   int64_t rows, int64_t k, int64_t depth, const uint32_t *w) {
    const struct graft_product *product = panel->product;
    const struct graft_pairs operands = {
        .x = (const uint16_t *)panel->input->data + k,
        .x_stride = panel->input->data_stride,
        .x_step = 2,
        .tokens = product->tokens,
        .w = w,
        .pairs = (depth + 1) / 2,
        .rows = rows,
        .y = product->y + panel->row + r,
        .y_stride = product->y_stride,
        .add = k > 0,
    };
    loops->multiply_pairs(&operands);
}

static void run_multiply(const struct graft_loops *loops, const struct graft_product_panel *panel, float *packed) {
    int64_t columns = panel->product->weight->columns;
    int64_t element = graft_reading_size(panel->reading);
    graft_product_panel_clear(panel);
    for (int64_t r = 0; r < panel->rows; r += loops->pack_rows) {
        int64_t rows = panel->rows - r < loops->pack_rows ? panel->rows - r : loops->pack_rows;
        for (int64_t k = 0; k < columns; k += GRAFT_PORTION) {
            int64_t depth = columns - k < GRAFT_PORTION ? columns - k : GRAFT_PORTION;
            const char *weights = (const char *)panel->weights + (r * columns + k) * element;
            loops->pack(panel->reading, weights, columns, rows, depth, packed);
            graft_product_panel_add(loops, panel, r, rows, k, depth, packed);
        }
    }
}

static void run_pairs(const struct graft_loops *loops, const struct graft_product_panel *panel, uint32_t *packed) {
    int64_t columns = panel->product->weight->columns;
    for (int64_t r = 0; r < panel->rows; r += loops->pack_rows) {
        int64_t rows = panel->rows - r < loops->pack_rows ? panel->rows - r : loops->pack_rows;
        for (int64_t k = 0; k < columns; k += GRAFT_PAIRS_PORTION) {
            int64_t depth = columns - k < GRAFT_PAIRS_PORTION ? columns - k : GRAFT_PAIRS_PORTION;
            loops->pack_pairs((const uint16_t *)panel->weights + r * columns + k, columns, rows, depth, packed);
            graft_product_panel_add_pairs(loops, panel, r, rows, k, depth, packed);
        }
    }
}

static void run_tiles(const struct graft_product_panel *panel, char *scratch) {
    const struct graft_product *product = panel->product;
    const struct graft_tiles_product operands = {
        .w = (const uint16_t *)panel->weights,
        .rows = panel->rows,
        .columns = product->weight->columns,
        .x = (const uint16_t *)panel->input->data,
        .tokens = product->tokens,
        .y = product->y + panel->row,
        .y_stride = product->y_stride,
        .scratch = scratch,
    };
    graft_tiles_get()->multiply(&operands);
}

static void add_bias(const struct graft_loops *loops, const struct graft_product_panel *panel) {
    const struct graft_product *product = panel->product;
    float bias[BIAS_RUN];
    int64_t done = 0;
    while (done < panel->rows) {
        int64_t most = panel->rows - done < BIAS_RUN ? panel->rows - done : BIAS_RUN;
        int64_t row = panel->row + done;
        struct graft_row_run run = graft_weight_elements(product->bias, product->first_row + row, most);
        loops->widen(graft_reading_of(run.dtype), run.data, run.rows, bias);
        for (int64_t t = 0; t < product->tokens; t++) {
            loops->add_scaled(product->y + t * product->y_stride + row, 1.0f, bias, run.rows);
        }
        done += run.rows;
    }
}

static void run_gemv(const struct graft_product_panel *panel) {
    const struct graft_product *product = panel->product;
    const struct graft_gemv operands = {
        .w = (const uint16_t *)panel->weights,
        .rows = panel->rows,
        .columns = product->weight->columns,
        .x = (const uint16_t *)panel->input->data,
        .x_stride = panel->input->data_stride,
        .tokens = product->tokens,
        .y = product->y + panel->row,
        .y_stride = product->y_stride,
    };
    if (panel->input->form == GRAFT_INPUT_TILES) {
        graft_tiles_gemv_get()->multiply(&operands);
    } else if (panel->input->form == GRAFT_INPUT_QUARTERS) {
        graft_gemv_quarters(&operands);
    } else {
        graft_gemv_pairs(&operands);
    }
}

void graft_product_panel_run(const struct graft_loops *loops, const struct graft_product_panel *panel, char *scratch) {
    if (panel->source != NULL) {
        graft_product_transposed_run(loops, panel, scratch);
    } else if (panel->kind == GRAFT_PANEL_DOT) {
        run_dot(loops, panel);
    } else if (panel->kind == GRAFT_PANEL_GEMV) {
        run_gemv(panel);
    } else if (panel->kind == GRAFT_PANEL_SPLIT) {
        run_split(loops, panel);
    } else if (panel->kind == GRAFT_PANEL_MULTIPLY) {
        run_multiply(loops, panel, (float *)(void *)scratch);
    } else if (panel->kind == GRAFT_PANEL_PAIRS) {
        run_pairs(loops, panel, (uint32_t *)(void *)scratch);
    } else {
        run_tiles(panel, scratch);
    }
    if (panel->product->bias != NULL) {
        add_bias(loops, panel);
    }
}
