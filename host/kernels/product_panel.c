/* SPDX-License-Identifier: Apache-2.0 */
/* One panel: our own dot products for few tokens, oneDNN for many; then the bias. */
#include "kernels/blocks.h"
#include "kernels/product.h"

enum { BIAS_RUN = 64 };

static int is_read_in_place(const struct graft_product_panel *panel) {
    return panel->reading == GRAFT_READ_F32 || panel->input->form == GRAFT_INPUT_BF16;
}

static int64_t aligned(int64_t bytes) {
    return (bytes + 63) / 64 * 64;
}

/* The worker's scratch: the widened panel, then oneDNN's result, then what oneDNN needs itself. */
static int64_t widened_bytes(const struct graft_product_panel *panel) {
    return is_read_in_place(panel) ? 0 : aligned(panel->rows * panel->product->weight->columns * 4);
}

static int64_t result_bytes(const struct graft_product_panel *panel) {
    return aligned(panel->rows * GRAFT_TOKEN_TILE * 4);
}

int64_t graft_product_panel_scratch(const struct graft_product_panel *panel) {
    if (panel->few) {
        return 0;
    }
    int64_t whole = panel->whole != NULL ? graft_gemm_scratch_bytes(panel->whole) : 0;
    int64_t rest = panel->rest != NULL ? graft_gemm_scratch_bytes(panel->rest) : 0;
    return widened_bytes(panel) + result_bytes(panel) + aligned(whole > rest ? whole : rest);
}

static void run_few(const struct graft_loops *loops, const struct graft_product_panel *panel) {
    const struct graft_product *product = panel->product;
    int64_t columns = product->weight->columns;
    loops->dot(panel->reading, panel->weights, columns, panel->rows, columns, (const float *)panel->input->data,
               panel->input->data_stride, product->tokens, product->y + panel->row, product->y_stride);
}

static int run_many(const struct graft_loops *loops, const struct graft_product_panel *panel, char *scratch) {
    const struct graft_product *product = panel->product;
    int64_t columns = product->weight->columns;
    int64_t x_size = panel->input->form == GRAFT_INPUT_BF16 ? 2 : 4;
    const void *weights = panel->weights;
    float *result = (float *)(void *)(scratch + widened_bytes(panel)); /* [tokens of the tile, rows] */
    char *rest = scratch + widened_bytes(panel) + result_bytes(panel);
    if (!is_read_in_place(panel)) {
        loops->widen(panel->reading, weights, panel->rows * columns, (float *)(void *)scratch);
        weights = scratch;
    }
    for (int64_t t = 0; t < product->tokens; t += GRAFT_TOKEN_TILE) {
        int64_t left = product->tokens - t;
        const struct graft_gemm *gemm = left >= GRAFT_TOKEN_TILE ? panel->whole : panel->rest;
        const char *x = (const char *)panel->input->data + t * columns * x_size;
        if (graft_gemm_run(gemm, x, weights, result, rest) != 0) {
            return -1;
        }
        for (int64_t i = 0; i < GRAFT_TOKEN_TILE && i < left; i++) {
            loops->widen(GRAFT_READ_F32, result + i * panel->rows, panel->rows,
                         product->y + (t + i) * product->y_stride + panel->row);
        }
    }
    return 0;
}

static void add_bias(const struct graft_loops *loops, const struct graft_product_panel *panel) {
    const struct graft_product *product = panel->product;
    float bias[BIAS_RUN];
    int64_t done = 0;
    while (done < panel->rows) {
        int64_t most = panel->rows - done < BIAS_RUN ? panel->rows - done : BIAS_RUN;
        int64_t row = panel->row + done;
        struct graft_row_run run = graft_weight_run(product->bias, product->first_row + row, most);
        loops->widen(graft_reading_of(run.dtype), run.data, run.rows, bias);
        for (int64_t t = 0; t < product->tokens; t++) {
            loops->add_scaled(product->y + t * product->y_stride + row, 1.0f, bias, run.rows);
        }
        done += run.rows;
    }
}

int graft_product_panel_run(const struct graft_loops *loops, const struct graft_product_panel *panel, char *scratch) {
    if (panel->few) {
        run_few(loops, panel);
    } else if (run_many(loops, panel, scratch) != 0) {
        return -1;
    }
    if (panel->product->bias != NULL) {
        add_bias(loops, panel);
    }
    return 0;
}
