/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses how the panels of a product are multiplied, and how many rows they have. */
#include "kernels/blocks.h"
#include "kernels/cpu.h"
#include "kernels/gemv.h"
#include "kernels/product.h"
#include "kernels/round.h"
#include "kernels/threads.h"
#include "kernels/tiles.h"

/* Rows of a panel: enough to keep a thread busy, and few enough to divide the work evenly; multiples of what the inner
 * loops process at once. */
enum { GEMV_PANEL_ROWS = 48, GEMV_LEAST_ROWS = 8, GEMV_LEAST_TILE_ROWS = 16, MANY_PANEL_ROWS = 64 };

static int is_rounded(const struct graft_call *call, int32_t reading) {
    return call->precision == GRAFT_PRECISION_BFLOAT16 ||
           (call->precision == GRAFT_PRECISION_AUTO && reading == GRAFT_READ_BF16);
}

int graft_product_takes_tiles(const struct graft_call *call, const struct graft_product *product, int32_t reading) {
    return !graft_call_is_small_batch(call, product->tokens) && product->weight->columns > 0 &&
           reading == GRAFT_READ_BF16 && is_rounded(call, reading) && graft_cpu_isa() == GRAFT_ISA_AMX;
}

int graft_product_is_of_tiles(const struct graft_call *call, const struct graft_product *product) {
    struct graft_row_run run = {NULL, GRAFT_DTYPE_NONE, 0};
    for (int64_t row = 0; row < product->rows; row += run.rows) {
        run = graft_weight_run(product->weight, product->first_row + row, product->rows - row);
        if (run.rows == 0 || !graft_product_takes_tiles(call, product, graft_reading_of(run.dtype))) {
            return 0;
        }
    }
    return 1;
}

int64_t graft_product_tile_rows(int64_t rows, int64_t most) {
    int64_t share = rows / (2 * (int64_t)graft_threads_workers());
    while (most > GEMV_PANEL_ROWS && most > share) {
        most /= 2;
    }
    return most;
}

/* The rows of panels for few tokens. A weight with few rows, such as lora_A, gets one panel for each thread. */
static int64_t gemv_rows(int64_t rows) {
    const int64_t least = graft_cpu_isa() == GRAFT_ISA_AMX ? GEMV_LEAST_TILE_ROWS : GEMV_LEAST_ROWS;
    const int64_t share = graft_round_up(rows / graft_threads_workers(), least);
    return share < least ? least : share < GEMV_PANEL_ROWS ? share : GEMV_PANEL_ROWS;
}

int64_t graft_product_panel_rows(const struct graft_call *call, const struct graft_product *product,
                                 graft_dtype dtype) {
    if (graft_product_takes_tiles(call, product, graft_reading_of(dtype))) {
        return graft_product_tile_rows(product->rows, GRAFT_TILE_PANEL);
    }
    return graft_call_is_small_batch(call, product->tokens) ? gemv_rows(product->rows) : MANY_PANEL_ROWS;
}

int64_t graft_product_transposed_rows(const struct graft_call *call, const struct graft_product *product,
                                      int32_t reading) {
    const int64_t least = GRAFT_TRANSPOSED_ROWS;
    const int64_t most = graft_product_takes_tiles(call, product, reading)
                             ? graft_product_tile_rows(product->rows, GRAFT_TILE_PANEL)
                             : least;
    return most > least ? most : least;
}

int32_t graft_product_choose(const struct graft_call *call, struct graft_product_panel *panel) {
    const int is_few = panel->source == NULL && graft_call_is_small_batch(call, panel->product->tokens);
    panel->kind = is_few ? GRAFT_PANEL_DOT : GRAFT_PANEL_MULTIPLY;
    const int is_bf16_dot = panel->kind == GRAFT_PANEL_DOT && panel->reading == GRAFT_READ_BF16;
    const int rounds = is_rounded(call, panel->reading);
    if (is_bf16_dot && rounds && graft_gemv_pairs_run()) {
        panel->kind = GRAFT_PANEL_GEMV;
        if (graft_cpu_isa() == GRAFT_ISA_AMX) {
            return GRAFT_INPUT_TILES;
        }
        return panel->product->tokens > GRAFT_GEMV_BY_ROWS ? GRAFT_INPUT_QUARTERS : GRAFT_INPUT_GEMV;
    }
    if (is_bf16_dot && graft_loops_get()->dot_split != NULL) {
        panel->kind = GRAFT_PANEL_SPLIT;
        return rounds ? GRAFT_INPUT_ROUNDED_SPLIT : GRAFT_INPUT_SPLIT;
    }
    if (!rounds) {
        return GRAFT_INPUT_AS_GIVEN;
    }
    if (graft_product_takes_tiles(call, panel->product, panel->reading)) {
        panel->kind = GRAFT_PANEL_TILES;
        return panel->source != NULL ? GRAFT_INPUT_TILE_ROWS : GRAFT_INPUT_TILES;
    }
    if (panel->kind == GRAFT_PANEL_MULTIPLY && panel->reading == GRAFT_READ_BF16 &&
        panel->product->weight->columns > 0 && graft_cpu_isa() >= GRAFT_ISA_AVX512_BF16) {
        panel->kind = GRAFT_PANEL_PAIRS;
        return GRAFT_INPUT_PAIRS;
    }
    panel->reading = graft_reading_rounded(panel->reading);
    return GRAFT_INPUT_ROUNDED;
}
