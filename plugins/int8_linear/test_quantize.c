/* SPDX-License-Identifier: Apache-2.0 */
/* Each build of the loops on odd sizes, and the weight operation against its promise. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "loops.h"
#include "quantize.h"

enum { MOST_COLUMNS = 131 };

static uint64_t state_of_random = 1;

/* Between -1 and 1 (Marsaglia 2003: xorshift). */
static float any_number(void) {
    state_of_random ^= state_of_random << 13;
    state_of_random ^= state_of_random >> 7;
    state_of_random ^= state_of_random << 17;
    return (float)(int32_t)(state_of_random >> 32) / 2147483648.0F;
}

/* Arrays end where memory of theirs ends, so that sanitizers see a loop that reads on. */
static float *numbers(size_t n) {
    float *result = malloc(n * sizeof *result);
    assert_non_null(result);
    for (size_t i = 0; i < n; i++) {
        result[i] = any_number();
    }
    return result;
}

static void test_largest(void **state) {
    (void)state;
    for (int32_t i = 0; int8_loops_at(i) != NULL; i++) {
        const struct int8_loops *loops = int8_loops_at(i);
        for (int64_t n = 1; n <= 70; n++) {
            for (int64_t at = 0; at < n; at++) {
                float *row = numbers((size_t)n);
                row[at] = -3.0F;
                assert_true(loops->largest(row, n) == 3.0F);
                row[n / 2] = NAN;
                assert_true(isnan(loops->largest(row, n)));
                free(row);
            }
        }
        assert_true(loops->largest(NULL, 0) == 0.0F);
    }
}

static void test_quantize_ties(void **state) {
    static const float row[] = {0.5F, 1.5F,  2.5F,    -0.5F, -1.5F, -2.5F, 126.5F, 127.5F, -127.5F,
                                1e9F, -1e9F, 0.4999F, 0.0F,  -0.0F, 3.0F,  -3.0F,  0.5F};
    static const int8_t wanted[] = {0, 2, 2, 0, -2, -2, 126, 127, -127, 127, -127, 0, 0, 0, 3, -3, 0};
    int8_t got[sizeof wanted];
    (void)state;
    for (int32_t i = 0; int8_loops_at(i) != NULL; i++) {
        int8_loops_at(i)->quantize(row, sizeof wanted, 1.0F, got);
        assert_memory_equal(got, wanted, sizeof wanted);
    }
}

static int run(const float *rows, int64_t n_rows, int64_t columns, int8_t *quantized, float *scales) {
    struct graft_value_info input = {.struct_size = sizeof input, .dtype = GRAFT_DTYPE_F32, .rank = 2};
    struct graft_value_info outputs[2] = {{.struct_size = sizeof input}, {.struct_size = sizeof input}};
    struct graft_error error = graft_error_none();
    const void *from[] = {rows};
    void *to[] = {quantized, scales};
    const struct graft_custom_work work = {
        .struct_size = sizeof work,
        .n_inputs = 1,
        .n_outputs = 2,
        .info_stride = sizeof input,
        .inputs = &input,
        .outputs = outputs,
        .from = from,
        .to = to,
        .end = n_rows,
    };
    const struct graft_custom_shapes shapes = {sizeof shapes, 1, 2, sizeof input, &input, outputs};
    input.shape[0] = n_rows;
    input.shape[1] = columns;
    assert_int_equal(int8_quantize_rows.infer(&int8_quantize_rows, &shapes, &error), GRAFT_OK);
    assert_int_equal(outputs[0].dtype, GRAFT_DTYPE_I8);
    assert_int_equal(outputs[1].dtype, GRAFT_DTYPE_F32);
    assert_int_equal(outputs[1].shape[0], n_rows);
    return int8_quantize_rows.apply(&int8_quantize_rows, &work, &error);
}

static void test_rows(void **state) {
    float *rows = numbers((size_t)5 * MOST_COLUMNS);
    int8_t quantized[5 * MOST_COLUMNS];
    float scales[5];
    (void)state;
    memset(rows + 2 * MOST_COLUMNS, 0, MOST_COLUMNS * sizeof *rows);
    for (int64_t k = 0; k < MOST_COLUMNS; k++) {
        rows[3 * MOST_COLUMNS + k] *= 1e30F;
        rows[4 * MOST_COLUMNS + k] *= 1e-40F;
    }
    assert_int_equal(run(rows, 5, MOST_COLUMNS, quantized, scales), GRAFT_OK);
    assert_true(scales[2] == 0.0F && scales[4] == 0.0F);
    for (int64_t r = 0; r < 4; r++) {
        float largest = int8_loops_at(0)->largest(rows + r * MOST_COLUMNS, MOST_COLUMNS);
        int full = 0;
        for (int64_t k = 0; k < MOST_COLUMNS; k++) {
            float back = (float)quantized[r * MOST_COLUMNS + k] * scales[r];
            assert_true(fabsf(rows[r * MOST_COLUMNS + k] - back) <= largest / 253.9F);
            full |= abs(quantized[r * MOST_COLUMNS + k]) == 127;
        }
        assert_true(full || r == 2);
    }
    rows[7] = INFINITY;
    assert_int_equal(run(rows, 1, MOST_COLUMNS, quantized, scales), GRAFT_ERROR_MODEL);
    rows[7] = NAN;
    assert_int_equal(run(rows, 1, MOST_COLUMNS, quantized, scales), GRAFT_ERROR_MODEL);
    free(rows);
}

/* Each group is quantized as a row of its own would be. */
static void test_groups(void **state) {
    enum { ROWS = 3, GROUP = 32, GROUPS = 4 };
    float *rows = numbers((size_t)ROWS * GROUPS * GROUP);
    int8_t grouped[ROWS * GROUPS * GROUP], alone[ROWS * GROUPS * GROUP];
    float grouped_scales[ROWS * GROUPS], alone_scales[ROWS * GROUPS];
    (void)state;
    assert_int_equal(run(rows, (int64_t)ROWS * GROUPS, GROUP, alone, alone_scales), GRAFT_OK);
    int8_set_group_size(GROUP);
    assert_int_equal(int8_groups((int64_t)GROUPS * GROUP), GROUPS);
    assert_int_equal(int8_groups((int64_t)GROUPS * GROUP + 1), 1);
    assert_int_equal(run(rows, ROWS, (int64_t)GROUPS * GROUP, grouped, grouped_scales), GRAFT_OK);
    int8_set_group_size(0);
    assert_int_equal(int8_groups((int64_t)GROUPS * GROUP), 1);
    assert_memory_equal(grouped, alone, sizeof alone);
    assert_memory_equal(grouped_scales, alone_scales, sizeof alone_scales);
    free(rows);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_largest),
        cmocka_unit_test(test_quantize_ties),
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_groups),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
