/* SPDX-License-Identifier: Apache-2.0 */
/* Rounding to F8_E4M3: ties, subnormal numbers, zeros, and weights that are not numbers. Goldens compare whole
 * models. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <math.h>

#include <cmocka.h>

#include "quantize.h"

enum { BLOCK = 32 };

static const struct graft_quantization *const format = &fp8_quantizations[2];

static float weights[BLOCK * BLOCK];
static uint8_t codes[BLOCK * BLOCK];
static float scale;

static int32_t quantize(void) {
    void *tensors[2] = {codes, &scale};
    const struct graft_quantize_work work = {.struct_size = sizeof work,
                                             .rows = BLOCK,
                                             .columns = BLOCK,
                                             .end = BLOCK,
                                             .weights = weights,
                                             .tensors = tensors};
    memset(codes, 0xaa, sizeof codes);
    return format->quantize(format, &work);
}

static void test_rounding(void **state) {
    static const struct {
        float number;
        uint8_t code;
    } cases[] = {
        {448.0F, 0x7e},    {-448.0F, 0xfe}, {16.0F, 0x58},    {17.0F, 0x58},     {17.1F, 0x59},
        {19.0F, 0x5a},     {1.0F, 0x38},    {-1.0625F, 0xb8}, {-1.1875F, 0xba},  {0x1p-6F, 0x08},
        {0x1.1p-6F, 0x08}, {0x1p-9F, 0x01}, {0x1p-10F, 0x00}, {0x1.8p-9F, 0x02}, {0x1.8p-10F, 0x01},
        {0x1.ep-7F, 0x08}, {0.0F, 0x00},    {-0.0F, 0x80},    {-0x1p-11F, 0x80}, {0x1.ffp-7F, 0x08},
    };
    (void)state;
    memset(weights, 0, sizeof weights);
    weights[BLOCK] = 448.0F; /* so that the scale is 1 */
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        weights[0] = cases[i].number;
        assert_int_equal(quantize(), 0);
        assert_true(scale == 1.0F);
        assert_int_equal(codes[0], cases[i].code);
    }
}

static void test_scale(void **state) {
    (void)state;
    memset(weights, 0, sizeof weights);
    assert_int_equal(quantize(), 0);
    assert_true(scale == 1.0F);
    assert_int_equal(codes[5], 0);
    weights[7] = -0.1F;
    assert_int_equal(quantize(), 0);
    assert_true(scale == 1.0F / (1.0F / 0.1F * 448.0F));
    assert_int_equal(codes[7], 0xfe);
}

static void test_no_number(void **state) {
    (void)state;
    memset(weights, 0, sizeof weights);
    weights[3] = NAN;
    weights[4] = 1.0F;
    assert_int_equal(quantize(), -1);
    weights[3] = -INFINITY;
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
