/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdalign.h>

#include "base/alloc.h"
#include "graft/convert.h"
#include "kernels/tiles.h"

/* A small product: four tiles, two steps. */
enum { ROWS = 32, TOKENS = 32, COLUMNS = 2 * GRAFT_TILE_COLUMNS, LINE = 64 };

/* The largest difference accepted, since the order of sums may differ; elements are at most 1. */
static const float MOST_APART = 1e-4f;

struct small_product {
    alignas(LINE) uint16_t w[ROWS * COLUMNS];
    alignas(LINE) uint16_t packed[TOKENS * COLUMNS];
    float x[TOKENS * COLUMNS];
};

/* A number between -1 and 1 that bf16 holds exactly. */
static float number(int64_t i) {
    return (float)(i * 37 % 129 - 64) / 64.0f;
}

static void fill(struct small_product *product) {
    for (int64_t i = 0; i < ROWS * COLUMNS; i++) {
        product->w[i] = graft_bf16_from_f32(number(i * 5 + 1));
    }
    for (int64_t i = 0; i < TOKENS * COLUMNS; i++) {
        product->x[i] = number(i * 3 + 2);
    }
}

/* Computes sums [TOKENS, ROWS]. Returns 0 if memory ran out. */
static int multiply(const struct graft_tiles *tiles, struct small_product *product, float *sums) {
    char *scratch = graft_alloc_aligned(LINE, (size_t)tiles->scratch_bytes(1, ROWS, TOKENS));
    const struct graft_tiles_product operands = {.w = product->w,
                                                 .rows = ROWS,
                                                 .columns = COLUMNS,
                                                 .x = product->packed,
                                                 .tokens = TOKENS,
                                                 .y = sums,
                                                 .y_stride = ROWS,
                                                 .scratch = scratch};
    if (scratch == NULL) {
        return 0;
    }
    for (int64_t token = 0; token < TOKENS; token += GRAFT_TILE_TOKENS) {
        tiles->pack(product->x + token * COLUMNS, COLUMNS, GRAFT_TILE_TOKENS, COLUMNS,
                    product->packed + graft_tiles_offset(TOKENS, COLUMNS, 0, token));
    }
    tiles->multiply(&operands);
    graft_free(scratch);
    return 1;
}

int graft_tiles_agree(const struct graft_tiles *tiles) {
    struct small_product product;
    float wanted[TOKENS * ROWS], sums[TOKENS * ROWS];
    fill(&product);
    int agree = multiply(&graft_tiles_model, &product, wanted) && multiply(tiles, &product, sums);
    for (int64_t i = 0; agree && i < TOKENS * ROWS; i++) {
        agree = fabsf(wanted[i] - sums[i]) <= MOST_APART;
    }
    return agree;
}
