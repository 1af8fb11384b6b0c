/* SPDX-License-Identifier: Apache-2.0 */
/* Attention's products with tiles, emulated and, if available, in the processor: the bits of sums in steps of 16 pairs,
 * whole and partial tiles; transposed values; nothing else is written. */
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "graft/isa.h"
#include "kernels/tiles.h"
#include "kernels/tiles_attention.h"
#include "numbers.h"

#if defined(__x86_64__)

enum { STRIP = GRAFT_TILES_STRIP, STEP = 16 };

static const struct graft_tiles_attention *tiles;

static float flushed(float value) {
    return fabsf(value) < FLT_MIN ? copysignf(0.0f, value) : value;
}

static float half_of(const void *numbers, int64_t i) {
    return flushed(graft_f32_from_bf16(((const uint16_t *)numbers)[i]));
}

/* sum + the products of a token's pairs with column r of w, in the order of tiles */
static float expected(const struct graft_pairs *o, int64_t t, int64_t r, float sum) {
    for (int64_t k = 0; k < o->pairs; k += STEP) {
        float halves[2] = {0.0f, 0.0f};
        for (int64_t i = 2 * k; i < 2 * (k + STEP) && i < 2 * o->pairs; i++) {
            float x = half_of(o->x, t * o->x_stride + i);
            float w = half_of(o->w, 2 * (i / 2 * STRIP + r) + i % 2);
            halves[i % 2] = flushed(fmaf(x, w, halves[i % 2]));
        }
        sum = flushed(sum + flushed(halves[0] + halves[1]));
    }
    return sum;
}

static void check(int64_t tokens, int64_t pairs, int64_t rows, int add) {
    const int64_t x_stride = 2 * pairs + 6, y_stride = rows + 3;
    float *y = numbers_floats(tokens * y_stride), *wanted = numbers_alloc(tokens * y_stride, 4);
    const struct graft_pairs operands = {
        .x = numbers_stored(GRAFT_DTYPE_BF16, tokens * x_stride),
        .x_stride = x_stride,
        .x_step = 2,
        .tokens = tokens,
        .w = numbers_stored(GRAFT_DTYPE_F32, pairs * STRIP),
        .pairs = pairs,
        .rows = rows,
        .y = y,
        .y_stride = y_stride,
        .add = add,
    };
    uint16_t *w = (uint16_t *)(uintptr_t)operands.w;
    for (int64_t i = 0; i < 2 * pairs * STRIP; i++) {
        w[i] = graft_bf16_from_f32(numbers_float());
    }
    memcpy(wanted, y, (size_t)(tokens * y_stride) * sizeof *y);
    for (int64_t i = 0; i < tokens * rows; i++) {
        float *at = wanted + i / rows * y_stride + i % rows;
        *at = expected(&operands, i / rows, i % rows, add ? *at : 0.0f);
    }
    tiles->begin();
    tiles->multiply_pairs(&operands);
    tiles->end();
    assert_memory_equal(y, wanted, (size_t)(tokens * y_stride) * sizeof *y);
    numbers_free(y, 4);
    numbers_free(wanted, 4);
    numbers_free(operands.x, 2);
    numbers_free(operands.w, 4);
}

static void test_products(void **state) {
    static const int64_t tokens[] = {1, 16, 17, 31, 32, 50, 128}, pairs[] = {1, 15, 16, 20, 32, 64};
    (void)state;
    for (size_t i = 0; i < sizeof tokens / sizeof tokens[0]; i++) {
        for (size_t j = 0; j < sizeof pairs / sizeof pairs[0]; j++) {
            for (int64_t rows = 16; rows <= STRIP; rows += 16) {
                check(tokens[i], pairs[j], rows, 0);
                check(tokens[i], pairs[j], rows, 1);
            }
        }
    }
}

static void check_transposed(int64_t n, int64_t columns) {
    const int64_t stride = columns + 3, depth = (n + 31) / 32 * 32, out_stride = depth + 2;
    const uint16_t *rows = numbers_stored(GRAFT_DTYPE_BF16, n * stride);
    uint16_t *out = numbers_stored(GRAFT_DTYPE_BF16, columns * out_stride);
    uint16_t *wanted = numbers_alloc(columns * out_stride, 2);
    memcpy(wanted, out, (size_t)(columns * out_stride) * sizeof *out);
    for (int64_t i = 0; i < columns * depth; i++) {
        const int64_t c = i / depth, r = i % depth;
        wanted[c * out_stride + r] = r < n ? rows[r * stride + c] : 0;
    }
    tiles->turn(rows, stride, n, columns, out, out_stride);
    assert_memory_equal(out, wanted, (size_t)(columns * out_stride) * sizeof *out);
    numbers_free(rows, 2);
    numbers_free(out, 2);
    numbers_free(wanted, 2);
}

static void test_transposed(void **state) {
    (void)state;
    for (int64_t n = 1; n <= 128; n += n < 40 ? 1 : 11) {
        check_transposed(n, 1);
        check_transposed(n, 16);
        check_transposed(n, 37);
        check_transposed(n, 64);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_products), cmocka_unit_test(test_transposed)};
    if (graft_isa_runnable() < 4) {
        print_message("skipped: this processor has no AVX512-BF16\n");
        return 77;
    }
    tiles = &graft_tiles_attention_model;
    int failures = cmocka_run_group_tests_name("model", tests, NULL, NULL);
    if (graft_tiles_are_here()) {
        tiles = &graft_tiles_attention_amx;
        failures += cmocka_run_group_tests_name("processor", tests, NULL, NULL);
    } else {
        print_message("skipped with the processor's tiles: it has none\n");
    }
    return failures;
}

#else

int main(void) {
    return 77;
}

#endif
