/* SPDX-License-Identifier: Apache-2.0 */
/* Compares each table of loops with plain loops, bit by bit: odd sizes, codes of 3, inputs of -128, and rounding with
 * ties. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "loops.h"

enum { MOST_COLUMNS = 1500, MOST_ROWS = 5 };

static const struct bitlinear_loops *const tables[] = GRAFT_ISA_ALL_TABLES(bitlinear_loops);

static uint32_t any_number(void) {
    static uint64_t state = 1;
    state = state * 6364136223846793005U + 1442695040888963407U;
    return (uint32_t)(state >> 33);
}

/* Copies to the heap, so that a sanitizer or valgrind finds reads beyond the end. */
static void *copied(const void *from, size_t bytes) {
    void *to = malloc(bytes);
    assert_non_null(to);
    memcpy(to, from, bytes);
    return to;
}

static void check(const struct bitlinear_loops *loops, int64_t columns, int64_t rows, int64_t tokens, int is_most) {
    static uint8_t codes[MOST_ROWS * MOST_COLUMNS];
    static int8_t integers[BITLINEAR_TOKENS * (MOST_COLUMNS + BITLINEAR_LINE)];
    int32_t sums[BITLINEAR_TOKENS * BITLINEAR_PARTS * MOST_ROWS];
    const int64_t stride = (columns + BITLINEAR_LINE - 1) / BITLINEAR_LINE * BITLINEAR_LINE;
    memset(integers, 0, sizeof integers);
    for (int64_t i = 0; i < rows * columns; i++) {
        codes[i] = is_most ? 0xff : (uint8_t)any_number();
    }
    for (int64_t i = 0; i < tokens * stride; i++) {
        integers[i] = i % stride >= columns ? 0 : is_most ? -128 : (int8_t)any_number();
    }
    uint8_t *stored = copied(codes, (size_t)(rows * columns));
    const struct bitlinear_inputs inputs = {integers, stride, columns};
    loops->multiply(stored, rows, &inputs, tokens, sums);
    for (int64_t i = 0; i < tokens * BITLINEAR_PARTS * rows; i++) {
        const int64_t t = i / (BITLINEAR_PARTS * rows), k = i / rows % BITLINEAR_PARTS, r = i % rows;
        int32_t sum = 0;
        for (int64_t c = 0; c < columns; c++) {
            sum += (codes[r * columns + c] >> 2 * k & 3) * integers[t * stride + c];
        }
        assert_int_equal(sums[i], sum);
    }
    free(stored);
}

static void test_products(void **state) {
    static const int64_t columns[] = {1, 31, 64, 65, 96, 255, 256, 700, MOST_COLUMNS};
    (void)state;
    for (int32_t table = 0; table < GRAFT_ISA_BUILDS; table++) {
        for (size_t i = 0; i < sizeof columns / sizeof columns[0] && graft_isa_runs(table); i++) {
            for (int64_t tokens = 1; tokens <= BITLINEAR_TOKENS; tokens++) {
                check(tables[table], columns[i], 1 + (int64_t)(i % MOST_ROWS), tokens, 0);
                check(tables[table], columns[i], MOST_ROWS, tokens, 1);
            }
        }
    }
}

static void test_widest(void **state) {
    (void)state;
    uint8_t *codes = malloc(BITLINEAR_MAX_INPUTS);
    int8_t *integers = malloc(BITLINEAR_MAX_INPUTS);
    assert_true(codes != NULL && integers != NULL);
    memset(codes, 0xff, BITLINEAR_MAX_INPUTS);
    memset(integers, -128, BITLINEAR_MAX_INPUTS);
    const struct bitlinear_inputs inputs = {integers, BITLINEAR_MAX_INPUTS, BITLINEAR_MAX_INPUTS};
    for (int32_t table = 0; table < GRAFT_ISA_BUILDS; table++) {
        int32_t sums[BITLINEAR_PARTS];
        if (graft_isa_runs(table)) {
            tables[table]->multiply(codes, 1, &inputs, 1, sums);
            for (int k = 0; k < BITLINEAR_PARTS; k++) {
                assert_int_equal(sums[k], -128 * 3 * BITLINEAR_MAX_INPUTS);
            }
        }
    }
    free(codes);
    free(integers);
}

static void test_rounding(void **state) {
    static const float ties[] = {0.5F,    1.5F,   -0.5F,  -1.5F,    -2.5F, 126.5F,
                                 -127.5F, 127.4F, 128.0F, -1000.0F, 0.0F,  -0.0F};
    enum { N = 777, TIES = sizeof ties / sizeof ties[0] };
    float x[N];
    (void)state;
    for (int i = 0; i < N; i++) {
        x[i] = i < TIES ? ties[i] / 2.0F : ((float)any_number() / (float)(1U << 30) - 1.0F) * 63.0F;
    }
    for (int32_t table = 0; table < GRAFT_ISA_BUILDS; table++) {
        int8_t integers[N];
        int32_t sum = 0;
        if (!graft_isa_runs(table)) {
            continue;
        }
        const int32_t told = tables[table]->round(x, N, 2.0F, integers);
        for (int i = 0; i < N; i++) {
            assert_int_equal(integers[i], (int)fmaxf(-128.0F, fminf(127.0F, nearbyintf(x[i] * 2.0F))));
            sum += integers[i];
        }
        assert_int_equal(told, sum);
        assert_true(tables[table]->largest(x, N) == 500.0F);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_products),
        cmocka_unit_test(test_widest),
        cmocka_unit_test(test_rounding),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
