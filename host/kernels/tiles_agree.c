/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdalign.h>

#include "kernels/tiles.h"

/* Four tiles of two steps; and a scratch that is surely enough for them. */
enum { ROWS = 32, TOKENS = 32, COLUMNS = 2 * GRAFT_TILE_COLUMNS, SCRATCH = 1 << 17 };

/* Of numbers up to 1, of which sums are made in whatever order. */
static const float MOST_APART = 1e-4f;

struct small_product {
    alignas(64) uint16_t w[ROWS * COLUMNS];
    alignas(64) uint16_t packed[TOKENS * COLUMNS];
    alignas(64) char scratch[SCRATCH];
    float x[TOKENS * COLUMNS];
    float sums[2][TOKENS * ROWS];
};

/* Different ones between -1 and 1, which bf16 holds. */
static float number(int64_t i) {
    return (float)(i * 37 % 129 - 64) / 64.0f;
}

static void fill(struct small_product *product) {
    for (int64_t i = 0; i < ROWS * COLUMNS; i++) {
        union {
            float value;
            uint32_t bits;
        } wide = {.value = number(i * 5 + 1)};
        product->w[i] = (uint16_t)(wide.bits >> 16);
    }
    for (int64_t i = 0; i < TOKENS * COLUMNS; i++) {
        product->x[i] = number(i * 3 + 2);
    }
}

static void multiply(const struct graft_tiles *tiles, struct small_product *product, float *sums) {
    const struct graft_tiles_product operands = {.w = product->w,
                                                 .rows = ROWS,
                                                 .columns = COLUMNS,
                                                 .x = product->packed,
                                                 .tokens = TOKENS,
                                                 .y = sums,
                                                 .y_stride = ROWS,
                                                 .scratch = product->scratch};
    for (int64_t token = 0; token < TOKENS; token += GRAFT_TILE_TOKENS) {
        tiles->pack(product->x + token * COLUMNS, COLUMNS, GRAFT_TILE_TOKENS, COLUMNS,
                    product->packed + graft_tiles_offset(TOKENS, COLUMNS, 0, token));
    }
    tiles->multiply(&operands);
}

int graft_tiles_agree(const struct graft_tiles *tiles) {
    static struct small_product product; /* too large for the stack of a thread; used once, or by a test */
    int agree = tiles->scratch_bytes(ROWS, TOKENS) <= SCRATCH;
    fill(&product);
    multiply(&graft_tiles_model, &product, product.sums[0]);
    if (agree) {
        multiply(tiles, &product, product.sums[1]);
    }
    for (int64_t i = 0; agree && i < TOKENS * ROWS; i++) {
        agree = fabsf(product.sums[0][i] - product.sums[1][i]) <= MOST_APART;
    }
    return agree;
}
