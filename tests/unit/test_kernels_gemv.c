/* SPDX-License-Identifier: Apache-2.0 */
/* Products of few tokens in pairs of bf16 and in tiles: correct, and with the same bits for a token whatever other
 * tokens there are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "graft/isa.h"
#include "kernels/gemv.h"
#include "kernels/table.h"
#include "kernels/tiles.h"
#include "kernels/tiles_gemv.h"

enum { MAX_ROWS = 41, TOKENS = 16 };

/* A bf16 with 8 significant bits, so that f32 sums of products are exact. */
static uint16_t number(int64_t i) {
    float value = (float)((i * 7919 + i / 13) % 31 - 15) / 8.0f;
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return (uint16_t)(bits >> 16);
}

static float widened(uint16_t bits) {
    uint32_t wide = (uint32_t)bits << 16;
    float value;
    memcpy(&value, &wide, sizeof value);
    return value;
}

struct shape {
    int64_t rows;
    int64_t columns;
    int64_t shift; /* numbers before the weight, so that it may begin anywhere in a cache line */
};

/* Memory with exactly the numbers that may be read. */
static uint16_t *numbers(int64_t count, int64_t factor, int64_t offset) {
    uint16_t *all = malloc((size_t)count * sizeof *all);
    assert_non_null(all);
    for (int64_t i = 0; i < count; i++) {
        all[i] = number(factor * i + offset);
    }
    return all;
}

static float exact(const uint16_t *w, const uint16_t *x, int64_t columns) {
    float sum = 0.0f;
    for (int64_t k = 0; k < columns; k++) {
        sum += widened(w[k]) * widened(x[k]);
    }
    return sum;
}

/* Runs the product that handles this number of tokens. */
static void multiply(const struct graft_gemv *few) {
    static float row[2048];
    if (few->tokens <= GRAFT_GEMV_BY_ROWS) {
        graft_gemv_pairs(few);
        return;
    }
    struct graft_gemv packed = *few;
    size_t bytes = (size_t)graft_gemv_numbers(few->tokens, few->columns) * sizeof(uint16_t);
    uint16_t *x = aligned_alloc(64, bytes);
    assert_non_null(x);
    memset(x, 0xff, bytes);
    for (int64_t t = 0; t < graft_gemv_tokens(few->tokens); t++) {
        for (int64_t k = 0; k < few->columns && t < few->tokens; k++) {
            row[k] = widened(few->x[t * few->x_stride + k]);
        }
        graft_gemv_pack(graft_loops_get(), t < few->tokens ? row : NULL, few->tokens, few->columns, t, x);
    }
    packed.x = x;
    graft_gemv_quarters(&packed);
    free(x);
}

static void check_shape(const struct shape *shape) {
    static float y[TOKENS * MAX_ROWS], alone[TOKENS * MAX_ROWS];
    int64_t stride = graft_gemv_stride(shape->columns);
    uint16_t *w = numbers(shape->shift + shape->rows * shape->columns, 1, -shape->shift);
    uint16_t *x = numbers((TOKENS - 1) * stride + shape->columns, 3, 5);
    struct graft_gemv few = {w + shape->shift, shape->rows, shape->columns, x, stride, 1, alone, MAX_ROWS};
    assert_true(stride >= shape->columns);
    for (int64_t t = 0; t < TOKENS; t++) {
        few.x = x + t * stride;
        few.y = alone + t * MAX_ROWS;
        graft_gemv_pairs(&few);
        for (int64_t r = 0; r < shape->rows; r++) {
            assert_true(few.y[r] == exact(few.w + r * shape->columns, few.x, shape->columns));
        }
    }
    few.x = x;
    few.y = y;
    for (few.tokens = 1; few.tokens <= TOKENS; few.tokens++) {
        memset(y, 0xff, sizeof y);
        multiply(&few);
        for (int64_t t = 0; t < few.tokens; t++) {
            assert_memory_equal(y + t * MAX_ROWS, alone + t * MAX_ROWS, (size_t)shape->rows * sizeof y[0]);
        }
    }
    free(w);
    free(x);
}

static void need_pairs(void) {
    if (!graft_gemv_pairs_run()) {
        print_message("skipped: this processor does not multiply pairs of bf16\n");
        skip();
    }
}

static void test_products(void **state) {
    static const int64_t columns[] = {1, 31, 32, 33, 64, 127, 160, 161, 512, 545, 1024, 1200};
    static const int64_t rows[] = {1, 3, 4, 8, 16, 19, MAX_ROWS};
    static const int64_t shifts[] = {0, 1, 4, 31};
    (void)state;
    need_pairs();
    for (size_t c = 0; c < sizeof columns / sizeof columns[0]; c++) {
        for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
            for (size_t s = 0; s < sizeof shifts / sizeof shifts[0]; s++) {
                check_shape(&(struct shape){rows[r], columns[c], shifts[s]});
            }
        }
    }
}

/* Rounded sums do not depend on the weight's address or on other tokens: each has the same bits. */
static void test_rounding(void **state) {
    enum { ROWS = 29, COLUMNS = 1600 };
    static uint16_t w[32 + ROWS * COLUMNS], x[TOKENS * COLUMNS];
    static float first[TOKENS * ROWS], y[TOKENS * ROWS];
    (void)state;
    need_pairs();
    for (int64_t i = 0; i < TOKENS * COLUMNS; i++) {
        x[i] = (uint16_t)(0x3e00 + i * 7919 % 509 + (i % 3 == 0 ? 0x8000 : 0));
    }
    for (int64_t shift = 0; shift < 32; shift++) {
        for (int64_t i = 0; i < ROWS * COLUMNS; i++) {
            w[shift + i] = (uint16_t)(0x3d00 + i * 104729 % 701 + (i % 5 == 0 ? 0x8000 : 0));
        }
        for (int64_t tokens = 1; tokens <= TOKENS; tokens++) {
            struct graft_gemv few = {w + shift, ROWS, COLUMNS, x, COLUMNS, tokens, y, ROWS};
            multiply(&few);
            if (shift == 0 && tokens == TOKENS) {
                memcpy(first, y, sizeof y);
            } else if (shift > 0) {
                assert_memory_equal(y, first, (size_t)(tokens * ROWS) * sizeof y[0]);
            }
        }
    }
}

/* Memory that ends with the last byte that may be read. */
static uint16_t *packed_for(const struct graft_tiles *tiles, const struct graft_gemv *few, const float *x) {
    const int64_t columns = graft_round_up(few->columns, GRAFT_TILE_COLUMNS);
    uint16_t *out = aligned_alloc(64, (size_t)(GRAFT_TILE_TOKENS * columns) * sizeof *out);
    assert_non_null(out);
    for (int64_t block = 0; block * GRAFT_TILE_BLOCK < few->columns; block++) {
        const int64_t left = few->columns - block * GRAFT_TILE_BLOCK;
        tiles->pack(x + block * GRAFT_TILE_BLOCK, few->columns, few->tokens,
                    left < GRAFT_TILE_BLOCK ? left : GRAFT_TILE_BLOCK,
                    out + graft_tiles_offset(few->tokens, few->columns, block, 0));
    }
    return out;
}

struct by_tiles {
    const struct graft_tiles_gemv *few;
    const struct graft_tiles *many;
};

/* The first tokens have the same bits, whatever the number of tokens. */
static void check_tiles(const struct by_tiles *tiles, const struct shape *shape) {
    static float y[TOKENS * MAX_ROWS], many[TOKENS * MAX_ROWS];
    float *x = malloc((size_t)(TOKENS * shape->columns) * sizeof *x);
    uint16_t *w = malloc((size_t)(shape->shift + shape->rows * shape->columns) * sizeof *w);
    char *scratch = aligned_alloc(64, (size_t)tiles->many->scratch_bytes(1, MAX_ROWS, TOKENS));
    assert_true(x != NULL && w != NULL && scratch != NULL);
    for (int64_t i = 0; i < TOKENS * shape->columns; i++) {
        x[i] = (float)(i * 7919 % 1009 - 500) / 357.0f;
    }
    for (int64_t i = 0; i < shape->rows * shape->columns; i++) {
        w[shape->shift + i] = (uint16_t)(0x3d00 + i * 104729 % 701 + (i % 5 == 0 ? 0x8000 : 0));
    }
    struct graft_gemv few = {w + shape->shift, shape->rows, shape->columns, NULL, 0, TOKENS, y, MAX_ROWS};
    uint16_t *all = packed_for(tiles->many, &few, x);
    tiles->many->multiply(
        &(struct graft_tiles_product){few.w, few.rows, few.columns, all, few.tokens, many, MAX_ROWS, NULL, scratch});
    for (few.tokens = 1; few.tokens <= TOKENS; few.tokens += few.tokens < 2 ? 1 : 7) {
        uint16_t *some = packed_for(tiles->many, &few, x);
        few.x = some;
        memset(y, 0xff, sizeof y);
        tiles->few->multiply(&few);
        for (int64_t t = 0; t < few.tokens; t++) {
            assert_memory_equal(y + t * MAX_ROWS, many + t * MAX_ROWS, (size_t)shape->rows * sizeof y[0]);
        }
        free(some);
    }
    free(all);
    free(scratch);
    free(w);
    free(x);
}

static void check_tiles_of_shapes(const struct by_tiles *tiles) {
    static const int64_t columns[] = {1, 31, 32, 33, 160, 1024, 1100, 2080};
    static const int64_t rows[] = {1, 15, 16, 17, 32, MAX_ROWS};
    static const int64_t shifts[] = {0, 1, 31};
    for (size_t c = 0; c < sizeof columns / sizeof columns[0]; c++) {
        for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
            for (size_t s = 0; s < sizeof shifts / sizeof shifts[0]; s++) {
                check_tiles(tiles, &(struct shape){rows[r], columns[c], shifts[s]});
            }
        }
    }
}

/* What multiplies tiles here, or NULL. */
static const struct by_tiles *tiles_of_processor(void) {
#if defined(__x86_64__)
    static const struct by_tiles tiles = {&graft_tiles_gemv_amx, &graft_tiles_amx};
    if (graft_tiles_are_right()) {
        return &tiles;
    }
#endif
    return NULL;
}

static const struct by_tiles *tiles_of_model(void) {
#if defined(__x86_64__)
    static const struct by_tiles tiles = {&graft_tiles_gemv_model, &graft_tiles_model};
    if (graft_isa_runnable() >= 4) {
        return &tiles;
    }
#endif
    return NULL;
}

static void test_tiles(void **state) {
    (void)state;
    const struct by_tiles *tiles = tiles_of_processor();
    if (tiles == NULL) {
        print_message("skipped: this processor does not multiply tiles of bf16\n");
        skip();
    }
    check_tiles_of_shapes(tiles);
}

static void test_tiles_of_model(void **state) {
    (void)state;
    const struct by_tiles *tiles = tiles_of_model();
    if (tiles == NULL) {
        print_message("skipped: this processor has no AVX-512\n");
        skip();
    }
    check_tiles_of_shapes(tiles);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_products),
        cmocka_unit_test(test_rounding),
        cmocka_unit_test(test_tiles),
        cmocka_unit_test(test_tiles_of_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
