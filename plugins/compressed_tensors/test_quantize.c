/* SPDX-License-Identifier: Apache-2.0 */
/* Packed integers: both ends of the range, ties, groups of zeros, types, and weights that are not numbers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <math.h>

#include <cmocka.h>

#include "graft/convert.h"
#include "quantize.h"

enum { COLUMNS = 64, GROUP = 32, INT4_32 = 2, INT8 = 4, INT4_MSE_32 = 8 };

static float weights[COLUMNS];
static uint32_t words[COLUMNS];
static float scales[2];
static int64_t sizes[2];
static struct graft_value_info weight = {sizeof weight, GRAFT_DTYPE_F32, 2, 0, {1, COLUMNS, 1, 1, 1, 1, 1, 1}};
static struct graft_value_info made[3] = {{.struct_size = sizeof made[0]}};
static struct graft_quantize_shapes shapes = {sizeof shapes, 3, sizeof made[0], 0, "q_proj.weight", &weight, made};

static int32_t quantize(int which) {
    void *tensors[3] = {words, scales, sizes};
    const struct graft_quantize_work work = {.struct_size = sizeof work,
                                             .shapes = &shapes,
                                             .rows = 1,
                                             .columns = COLUMNS,
                                             .end = 1,
                                             .weights = weights,
                                             .tensors = tensors};
    memset(words, 0, sizeof words);
    return ct_quantizations[which].quantize(&ct_quantizations[which], &work);
}

static uint32_t nibble(int i) {
    return words[i / 8] >> i % 8 * 4 & 15U;
}

static void test_codes(void **state) {
    (void)state;
    memset(weights, 0, sizeof weights);
    weights[0] = 7.5F; /* so that the scale is 1 */
    weights[1] = -7.5F;
    weights[2] = 0.5F;
    weights[3] = 1.5F;
    weights[4] = -2.5F;
    weights[GROUP] = -15.0F;
    weights[GROUP + 1] = 3.0F;
    assert_int_equal(quantize(INT4_32), 0);
    assert_true(scales[0] == 1.0F && scales[1] == 2.0F);
    assert_int_equal(nibble(0), 15); /* clamped to 7: there is no 8 */
    assert_int_equal(nibble(1), 0);
    assert_int_equal(nibble(2), 8);
    assert_int_equal(nibble(3), 10);
    assert_int_equal(nibble(4), 6);
    assert_int_equal(nibble(5), 8);
    assert_int_equal(nibble(GROUP), 0);
    assert_int_equal(nibble(GROUP + 1), 10); /* 1.5 */
    assert_true(sizes[0] == 1 && sizes[1] == COLUMNS);
}

static void test_bytes(void **state) {
    (void)state;
    memset(weights, 0, sizeof weights);
    weights[COLUMNS - 1] = -127.5F;
    weights[1] = 127.5F;
    assert_int_equal(quantize(INT8), 0);
    assert_true(scales[0] == 1.0F);
    assert_int_equal(words[0], 0x8080ff80);
    assert_int_equal(words[COLUMNS / 4 - 1], 0x00808080);
}

/* In bf16 a quotient is rounded before it becomes an integer: 1.498 becomes 1.5 and then 2. */
static void test_types(void **state) {
    uint16_t *halves = (uint16_t *)(void *)scales;
    (void)state;
    memset(weights, 0, sizeof weights);
    weights[0] = 7.5F;
    weights[1] = 1.498F;
    assert_int_equal(quantize(INT4_32), 0);
    assert_int_equal(nibble(1), 9);
    assert_true(scales[1] == 0x1p-23F); /* the scale of a group of zeros */
    weight.dtype = GRAFT_DTYPE_BF16;
    assert_int_equal(quantize(INT4_32), 0);
    assert_int_equal(nibble(1), 10);
    assert_true(graft_f32_from_bf16(halves[0]) == 1.0F && graft_f32_from_bf16(halves[1]) == 0x1p-7F);
    weight.dtype = GRAFT_DTYPE_F16;
    assert_int_equal(quantize(INT4_32), 0);
    assert_int_equal(nibble(1), 9);
    assert_true(graft_f32_from_f16(halves[1]) == 0x1p-10F);
    weight.dtype = GRAFT_DTYPE_F32;
}

/* The sign of the largest weight decides at which end of the codes it is: the scale may be negative. */
static void test_searched(void **state) {
    (void)state;
    memset(weights, 0, sizeof weights);
    weights[0] = 8.0F; /* the code -8 with a scale of -1 */
    weights[1] = -7.0F;
    weights[2] = 1.0F;
    weights[GROUP] = -16.0F;
    weights[GROUP + 1] = 14.0F;
    assert_int_equal(quantize(INT4_MSE_32), 0);
    assert_true(scales[0] == -1.0F && scales[1] == 2.0F);
    assert_int_equal(nibble(0), 0);
    assert_int_equal(nibble(1), 15);
    assert_int_equal(nibble(2), 7);
    assert_int_equal(nibble(3), 8);
    assert_int_equal(nibble(GROUP), 0);
    assert_int_equal(nibble(GROUP + 1), 15);
    memset(weights, 0, sizeof weights);
    weights[0] = 8.5F; /* clamping one weight is better than rounding all others */
    for (int i = 1; i < GROUP; i++) {
        weights[i] = (float)(i % 15 - 7);
    }
    assert_int_equal(quantize(INT4_MSE_32), 0);
    assert_true(scales[0] == -1.0F);
    assert_true(scales[1] == 0x1p-23F); /* the scale of a group of zeros */
    weights[1] = NAN;
    assert_int_equal(quantize(INT4_MSE_32), -1);
}

static void test_refused(void **state) {
    struct graft_error error = graft_error_none();
    const struct graft_quantization *of_128 = &ct_quantizations[0];
    (void)state;
    assert_int_equal(of_128->shape(of_128, &shapes, &error), GRAFT_ERROR_MODEL);
    assert_string_equal(error.message, "has 64 inputs, which groups of 128 do not divide");
    assert_string_equal(error.source, "q_proj.weight");
    assert_string_equal(error.hint, "give smaller groups, int4:32");
    weights[5] = NAN;
    assert_int_equal(quantize(INT4_32), -1);
    weights[5] = -INFINITY;
    assert_int_equal(quantize(INT8), -1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_codes),    cmocka_unit_test(test_bytes),   cmocka_unit_test(test_types),
        cmocka_unit_test(test_searched), cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
