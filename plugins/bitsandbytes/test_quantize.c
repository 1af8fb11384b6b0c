/* SPDX-License-Identifier: Apache-2.0 */
/* NF4: rounding to the nearest of 16 numbers, blocks that span rows or are short, and weights that are not numbers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <math.h>

#include <cmocka.h>

#include "numbers.h"
#include "quantize.h"

enum { ROWS = 3, COLUMNS = 12, BLOCK = 32, OF_32 = 1, MOST_STATE = 160 };

static const struct graft_quantization *const format = &bnb_quantizations[OF_32];

static float weights[ROWS * COLUMNS];
static uint8_t codes[ROWS * COLUMNS / 2];
static float scales[2], numbers[16];
static char text[MOST_STATE];
static struct graft_value_info weight = {sizeof weight, GRAFT_DTYPE_BF16, 2, 0, {ROWS, COLUMNS, 1, 1, 1, 1, 1, 1}};
static struct graft_value_info made[4] = {{.struct_size = sizeof made[0]}};
static struct graft_quantize_shapes shapes = {sizeof shapes, 4, sizeof made[0], 0, "q_proj.weight", &weight, made};

static int32_t quantize(void) {
    void *tensors[4] = {codes, scales, numbers, text};
    const struct graft_quantize_work work = {.struct_size = sizeof work,
                                             .shapes = &shapes,
                                             .rows = ROWS,
                                             .columns = COLUMNS,
                                             .end = ROWS,
                                             .weights = weights,
                                             .tensors = tensors};
    memset(codes, 0, sizeof codes);
    memset(text, 0, sizeof text);
    return format->quantize(format, &work);
}

static int code(int i) {
    return i % 2 == 0 ? codes[i / 2] >> 4 : codes[i / 2] & 15;
}

static void test_codes(void **state) {
    (void)state;
    memset(weights, 0, sizeof weights);
    weights[0] = -2.0F;
    for (int i = 0; i < 16; i++) {
        weights[i + 1] = nf4_numbers[i] * 2.0F;
    }
    weights[20] = 0.079F;  /* scaled 0.0395: nearer to 0 */
    weights[21] = 0.081F;  /* scaled 0.0405: nearer to 0.0796 */
    weights[BLOCK] = 0.5F; /* the second block */
    weights[BLOCK + 1] = -0.25F;
    assert_int_equal(quantize(), 0);
    assert_true(scales[0] == 2.0F && scales[1] == 0.5F);
    for (int i = 0; i < 16; i++) {
        assert_int_equal(code(i + 1), i);
    }
    assert_int_equal(code(20), 7);
    assert_int_equal(code(21), 8);
    assert_int_equal(code(BLOCK), 15);
    assert_int_equal(code(BLOCK + 1), 2);
    assert_memory_equal(numbers, nf4_numbers, sizeof numbers);
    assert_string_equal(text,
                        "{\"quant_type\": \"nf4\", \"blocksize\": 32, \"dtype\": \"bfloat16\", \"shape\": [3, 12]}");
}

static void test_shape(void **state) {
    struct graft_error error = graft_error_none();
    (void)state;
    assert_int_equal(format->shape(format, &shapes, &error), GRAFT_OK);
    assert_true(made[0].dtype == GRAFT_DTYPE_U8 && made[0].rank == 2 && made[0].shape[0] == ROWS * COLUMNS / 2);
    assert_true(made[1].dtype == GRAFT_DTYPE_F32 && made[1].rank == 1 && made[1].shape[0] == 2);
    assert_true(made[3].dtype == GRAFT_DTYPE_U8 && made[3].shape[0] == (int64_t)strlen(text));
    weight.shape[1] = 11;
    assert_int_equal(format->shape(format, &shapes, &error), GRAFT_ERROR_MODEL);
    assert_string_equal(error.message, "has 11 inputs, expected an even number, because a byte holds two codes");
    weight.shape[1] = COLUMNS;
}

static void test_zeros_and_no_number(void **state) {
    (void)state;
    memset(weights, 0, sizeof weights);
    assert_int_equal(quantize(), 0);
    assert_true(scales[0] == 0.0F);
    assert_int_equal(code(3), 7);
    weights[BLOCK + 2] = NAN;
    assert_int_equal(quantize(), -1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_codes),
        cmocka_unit_test(test_shape),
        cmocka_unit_test(test_zeros_and_no_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
