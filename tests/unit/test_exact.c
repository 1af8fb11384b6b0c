/* SPDX-License-Identifier: Apache-2.0 */
/* Widening and narrowing preserve every bit of every number. */
#include "bind/exact.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void test_every_number(void **state) {
    static const graft_dtype dtypes[] = {GRAFT_DTYPE_F16, GRAFT_DTYPE_BF16};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        for (uint32_t half = 0; half <= 0xffffu; half++) {
            uint32_t wide = graft_exact_widen((uint16_t)half, dtypes[i]);
            float expected =
                dtypes[i] == GRAFT_DTYPE_F16 ? graft_f32_from_f16((uint16_t)half) : graft_f32_from_bf16((uint16_t)half);
            uint16_t back = 0;
            if (isnan(expected)) {
                assert_true(isnan(graft_f32_from_bits(wide)));
            } else {
                assert_int_equal(wide, graft_bits_from_f32(expected));
            }
            assert_true(graft_exact_narrow(wide, dtypes[i], &back));
            assert_int_equal(back, half);
        }
    }
}

/* Numbers between two of the narrow type, or beyond its last, cannot be narrowed. */
static void test_others(void **state) {
    static const float f16_lacks[] = {1.0F + 0x1p-11F, 65520.0F, -1e6F, 0x1p-25F, 0x1.8p-24F, 1e-30F, 0x1p-149F};
    static const uint32_t bits[] = {0x3f800001u, 0x7f800001u, 0x00000001u, 0xff801fffu};
    (void)state;
    uint16_t half;
    for (size_t i = 0; i < sizeof f16_lacks / sizeof f16_lacks[0]; i++) {
        assert_false(graft_exact_narrow(graft_bits_from_f32(f16_lacks[i]), GRAFT_DTYPE_F16, &half));
    }
    for (size_t i = 0; i < sizeof bits / sizeof bits[0]; i++) {
        assert_false(graft_exact_narrow(bits[i], GRAFT_DTYPE_F16, &half));
        assert_false(graft_exact_narrow(bits[i], GRAFT_DTYPE_BF16, &half));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_number), cmocka_unit_test(test_others)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
