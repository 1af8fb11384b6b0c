/* SPDX-License-Identifier: Apache-2.0 */
/* Rounding to E2M1 and to a power of two: ties, zeros, and weights that are not numbers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <math.h>

#include <cmocka.h>

#include "quantize.h"

enum { BLOCK = 32, ONE = 127 };

static float weights[BLOCK];
static uint8_t codes[BLOCK / 2], scale;

static int32_t quantize(void) {
    void *tensors[2] = {codes, &scale};
    const struct graft_quantize_work work = {
        .struct_size = sizeof work, .rows = 1, .columns = BLOCK, .end = 1, .weights = weights, .tensors = tensors};
    memset(codes, 0, sizeof codes);
    return mxfp4_quantization.quantize(&mxfp4_quantization, &work);
}

static void test_rounding(void **state) {
    static const struct {
        float number;
        uint8_t code;
    } cases[] = {{6.0F, 7},  {-6.0F, 15}, {5.0F, 6},  {5.0625F, 7}, {3.5F, 6}, {2.5F, 4},  {1.75F, 4}, {1.25F, 2},
                 {0.75F, 2}, {0.25F, 0},  {0.26F, 1}, {-0.75F, 10}, {0.0F, 0}, {-0.0F, 8}, {1.5F, 3},  {0.5F, 1}};
    (void)state;
    memset(weights, 0, sizeof weights);
    weights[BLOCK - 1] = 6.0F; /* so that the scale is 1 */
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        weights[1] = cases[i].number;
        assert_int_equal(quantize(), 0);
        assert_int_equal(scale, ONE);
        assert_int_equal(codes[0] >> 4, cases[i].code);
    }
}

static void test_scale(void **state) {
    (void)state;
    memset(weights, 0, sizeof weights);
    assert_int_equal(quantize(), 0);
    assert_int_equal(scale, 0);
    assert_int_equal(codes[3], 0);
    weights[0] = 6.0625F; /* more than 6, which doubles the scale */
    assert_int_equal(quantize(), 0);
    assert_int_equal(scale, ONE + 1);
    assert_int_equal(codes[0], 5);
    weights[0] = 0x1p-100F;
    assert_int_equal(quantize(), 0);
    assert_int_equal(scale, ONE - 102);
    assert_int_equal(codes[0], 6);
}

static void test_no_number(void **state) {
    (void)state;
    weights[9] = NAN;
    assert_int_equal(quantize(), -1);
    weights[9] = INFINITY;
    assert_int_equal(quantize(), -1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rounding),
        cmocka_unit_test(test_scale),
        cmocka_unit_test(test_no_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
