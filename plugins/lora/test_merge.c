/* SPDX-License-Identifier: Apache-2.0 */
/* Tests merged weights against sums in f64, for each type of weights, over several row blocks. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "merge.h"

enum { ROWS = 70, COLUMNS = 37, RANK = 3, FIRST = 5 };

static uint64_t state_of_random = 1;

/* A pseudo-random number between -1 and 1 (Marsaglia 2003: xorshift). */
static float any_number(void) {
    state_of_random ^= state_of_random << 13;
    state_of_random ^= state_of_random >> 7;
    state_of_random ^= state_of_random << 17;
    return (float)(int32_t)(state_of_random >> 32) / 2147483648.0F;
}

static void serial(int64_t items, int64_t grain, graft_parallel_body body, void *data) {
    for (int64_t at = 0; at < items; at += grain) {
        body(data, at, at + grain < items ? at + grain : items);
    }
}

static const struct graft_threads threads = {.struct_size = sizeof threads, .parallel_for = serial};

/* A weight in two blocks, and its numbers, which have few digits, so that every type represents them exactly. */
struct matrix {
    float numbers[(ROWS + FIRST) * COLUMNS];
    uint16_t halves[(ROWS + FIRST) * COLUMNS];
    struct graft_row_block blocks[2];
    struct graft_weight weight;
};

static uint16_t half_bits(float number) {
    int exponent = 0;
    if (number == 0.0F) {
        return 0;
    }
    uint32_t fraction = (uint32_t)(ldexpf(frexpf(fabsf(number), &exponent), 11));
    return (uint16_t)((number < 0.0F ? 0x8000U : 0U) | (uint32_t)(exponent + 14) << 10 | (fraction & 1023U));
}

static void fill(struct matrix *matrix, int64_t rows, int64_t columns, graft_dtype dtype) {
    for (int64_t i = 0; i < rows * columns; i++) {
        float number = roundf(any_number() * 64.0F) / 64.0F;
        uint32_t bits;
        matrix->numbers[i] = number;
        memcpy(&bits, &number, sizeof bits);
        matrix->halves[i] = dtype == GRAFT_DTYPE_F16 ? half_bits(number) : (uint16_t)(bits >> 16);
    }
    for (int64_t i = 0, at = 0; i < 2; i++) {
        int64_t here = i == 0 ? rows / 3 : rows - rows / 3;
        const void *data = dtype == GRAFT_DTYPE_F32 ? (void *)(matrix->numbers + at) : (void *)(matrix->halves + at);
        matrix->blocks[i] = (struct graft_row_block){sizeof matrix->blocks[0], dtype, data, here};
        at += here * columns;
    }
    matrix->weight = (struct graft_weight){.struct_size = sizeof matrix->weight,
                                           .rank = 2,
                                           .shape = {rows, columns, 1, 1, 1, 1, 1, 1},
                                           .rows = rows,
                                           .columns = columns,
                                           .blocks = matrix->blocks,
                                           .n_blocks = 2,
                                           .block_stride = sizeof matrix->blocks[0]};
}

static struct graft_product product(const struct matrix *matrix, int64_t first, int64_t rows) {
    return (struct graft_product){
        .struct_size = sizeof(struct graft_product), .weight = &matrix->weight, .first_row = first, .rows = rows};
}

/* Half a unit in the last place of a bfloat16, the error of rounding. */
static double allowed(double wanted, graft_dtype dtype) {
    return dtype == GRAFT_DTYPE_BF16 ? fabs(wanted) / 256.0 : 1e-6;
}

/* Element `i` of a merged weight. */
static float merged_number(const struct lora_merged *merged, int64_t i) {
    float row[COLUMNS];
    lora_read_row(&merged->weight, i / COLUMNS, row);
    return row[i % COLUMNS];
}

/* Checks a delta for rows [first, first + rows) of the product; other rows must be unchanged. */
static void check_scaled(graft_dtype dtype, graft_dtype pair, graft_dtype result, int64_t first, int64_t rows,
                         const float *scale) {
    static struct matrix original, a, b;
    struct lora_merged merged;
    double largest = 0.0;
    fill(&original, ROWS + FIRST, COLUMNS, dtype);
    fill(&a, RANK, COLUMNS, pair);
    fill(&b, rows, RANK, pair);
    const struct graft_product whole = product(&original, FIRST, ROWS);
    const struct lora_delta delta = {product(&a, 0, RANK), product(&b, 0, rows), 0.5F, first, scale};
    assert_int_equal(lora_merge(&whole, &delta, 1, &threads, "", &merged, NULL), GRAFT_OK);
    assert_int_equal(merged.weight.rows, ROWS);
    assert_int_equal(merged.n, 1);
    for (int64_t i = 0; i < (int64_t)ROWS * COLUMNS; i++) {
        int64_t row = i / COLUMNS - first, column = i % COLUMNS;
        double wanted = (double)original.numbers[FIRST * COLUMNS + i];
        const float got = merged_number(&merged, i);
        if (row < 0 || row >= rows) {
            assert_true((double)got == wanted);
            continue;
        }
        for (int64_t k = 0; k < RANK; k++) {
            wanted += 0.5 * (double)b.numbers[row * RANK + k] * (double)a.numbers[k * COLUMNS + column];
        }
        wanted *= scale != NULL ? (double)scale[row] : 1.0;
        double difference = fabs((double)got - wanted);
        assert_true(difference <= allowed(wanted, result));
        largest = difference > largest ? difference : largest;
    }
    assert_true(result != GRAFT_DTYPE_BF16 || largest > 0.0);
    for (int32_t i = 0; i < merged.weight.n_blocks; i++) {
        assert_true(merged.blocks[i].data != merged.data[0] || merged.blocks[i].dtype == result);
    }
    lora_merged_finish(&merged);
}

static void check(graft_dtype dtype, graft_dtype pair, graft_dtype result, int64_t first, int64_t rows) {
    check_scaled(dtype, pair, result, first, rows, NULL);
}

static void test_types(void **state) {
    (void)state;
    check(GRAFT_DTYPE_F32, GRAFT_DTYPE_F32, GRAFT_DTYPE_F32, 0, ROWS);
    check(GRAFT_DTYPE_BF16, GRAFT_DTYPE_F32, GRAFT_DTYPE_BF16, 0, ROWS);
    check(GRAFT_DTYPE_BF16, GRAFT_DTYPE_F16, GRAFT_DTYPE_BF16, 0, ROWS);
    check(GRAFT_DTYPE_F16, GRAFT_DTYPE_BF16, GRAFT_DTYPE_F32, 0, ROWS);
}

/* A delta for some rows: the first, the last, those in the middle, across blocks of the original or within one. */
static void test_parts(void **state) {
    (void)state;
    check(GRAFT_DTYPE_BF16, GRAFT_DTYPE_F32, GRAFT_DTYPE_BF16, 0, 31);
    check(GRAFT_DTYPE_F16, GRAFT_DTYPE_F32, GRAFT_DTYPE_F32, 33, ROWS - 33);
    check(GRAFT_DTYPE_F32, GRAFT_DTYPE_F32, GRAFT_DTYPE_F32, 7, 40);
    check(GRAFT_DTYPE_BF16, GRAFT_DTYPE_F32, GRAFT_DTYPE_BF16, 2, 3);
}

/* Sums that are scaled, as in DoRA. */
static void test_scaled(void **state) {
    float scale[ROWS];
    (void)state;
    for (int i = 0; i < ROWS; i++) {
        scale[i] = ldexpf(i % 2 == 0 ? 1.0F : -1.0F, i % 5 - 2);
    }
    check_scaled(GRAFT_DTYPE_F32, GRAFT_DTYPE_F32, GRAFT_DTYPE_F32, 0, ROWS, scale);
    check_scaled(GRAFT_DTYPE_BF16, GRAFT_DTYPE_F32, GRAFT_DTYPE_BF16, 7, 40, scale);
}

/* Several deltas, each in the type of its rows. */
static void test_several(void **state) {
    static struct matrix original, a, b;
    struct lora_merged merged;
    (void)state;
    fill(&original, ROWS, COLUMNS, GRAFT_DTYPE_BF16);
    fill(&a, RANK, COLUMNS, GRAFT_DTYPE_F32);
    fill(&b, ROWS, RANK, GRAFT_DTYPE_F32);
    original.blocks[1].dtype = GRAFT_DTYPE_F16;
    const struct graft_product whole = product(&original, 0, ROWS);
    const struct lora_delta deltas[] = {{product(&a, 0, RANK), product(&b, 0, 10), 1.0F, 5, NULL},
                                        {product(&a, 0, RANK), product(&b, 10, 20), 1.0F, 40, NULL}};
    const int64_t rows[] = {5, 10, 8, 17, 20, 10};
    assert_int_equal(lora_merge(&whole, deltas, 2, &threads, "", &merged, NULL), GRAFT_OK);
    assert_int_equal(merged.weight.n_blocks, 6);
    for (int32_t i = 0; i < 6; i++) {
        assert_int_equal(merged.blocks[i].rows, rows[i]);
    }
    assert_int_equal(merged.blocks[1].dtype, GRAFT_DTYPE_BF16);
    assert_int_equal(merged.blocks[4].dtype, GRAFT_DTYPE_F32);
    lora_merged_finish(&merged);
}

/* A weight of bytes is not merged: the pair is applied separately. */
static void test_others(void **state) {
    static struct matrix original, a, b;
    struct lora_merged merged;
    (void)state;
    fill(&original, ROWS, COLUMNS, GRAFT_DTYPE_BF16);
    fill(&a, RANK, COLUMNS, GRAFT_DTYPE_F32);
    fill(&b, ROWS, RANK, GRAFT_DTYPE_F32);
    original.blocks[1].dtype = GRAFT_DTYPE_I8;
    const struct graft_product whole = product(&original, 0, ROWS);
    const struct lora_delta delta = {product(&a, 0, RANK), product(&b, 0, ROWS), 0.5F, 0, NULL};
    assert_int_equal(lora_merge(&whole, &delta, 1, &threads, "", &merged, NULL), GRAFT_OK);
    assert_int_equal(merged.weight.rows, 0);
    assert_null(merged.data);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_types), cmocka_unit_test(test_parts),
                                       cmocka_unit_test(test_scaled), cmocka_unit_test(test_several),
                                       cmocka_unit_test(test_others)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
