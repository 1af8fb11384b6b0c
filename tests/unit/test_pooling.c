/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "encode/pooling.h"

enum { TOKENS = 3, HIDDEN = 2 };

static const float hidden[TOKENS * HIDDEN] = {1.0F, -4.0F, 2.0F, 8.0F, 6.0F, 2.0F};

static void expect(float got, double wanted) {
    if (!(fabs((double)got - wanted) <= 1e-6)) {
        fail_msg("%.9g, expected %.9g", (double)got, wanted);
    }
}

/* Each mode alone; the text of one token gives that token in every mode. */
static void test_modes(void **state) {
    (void)state;
    const struct {
        int32_t mode;
        double wanted[HIDDEN];
    } cases[] = {
        {GRAFT_POOLING_CLS, {1.0, -4.0}},
        {GRAFT_POOLING_MAX, {6.0, 8.0}},
        {GRAFT_POOLING_MEAN, {3.0, 2.0}},
        {GRAFT_POOLING_MEAN_SQRT_LEN, {9.0 / sqrt(3.0), 6.0 / sqrt(3.0)}},
        {GRAFT_POOLING_WEIGHTED_MEAN, {23.0 / 6.0, 18.0 / 6.0}},
        {GRAFT_POOLING_LAST, {6.0, 2.0}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct graft_pooling pooling = {{cases[i].mode}, 1};
        float vector[HIDDEN];
        assert_int_equal(graft_pooling_size(&pooling, HIDDEN), HIDDEN);
        graft_pooling_run(&pooling, hidden, TOKENS, HIDDEN, vector);
        expect(vector[0], cases[i].wanted[0]);
        expect(vector[1], cases[i].wanted[1]);
        graft_pooling_run(&pooling, hidden, 1, HIDDEN, vector);
        expect(vector[0], 1.0);
        expect(vector[1], -4.0);
    }
}

/* Several modes are concatenated in the order in which they are requested. */
static void test_joined(void **state) {
    (void)state;
    const struct graft_pooling pooling = {{GRAFT_POOLING_LAST, GRAFT_POOLING_CLS, GRAFT_POOLING_MAX}, 3};
    float vector[3 * HIDDEN];
    assert_int_equal(graft_pooling_size(&pooling, HIDDEN), 3 * HIDDEN);
    graft_pooling_run(&pooling, hidden, TOKENS, HIDDEN, vector);
    expect(vector[0], 6.0);
    expect(vector[1], 2.0);
    expect(vector[2], 1.0);
    expect(vector[5], 8.0);
}

static void test_normalized(void **state) {
    (void)state;
    float vector[HIDDEN] = {3.0F, 2.0F};
    float zeros[HIDDEN] = {0.0F, 0.0F};
    graft_vector_normalize(vector, HIDDEN);
    expect(vector[0], 3.0 / sqrt(13.0));
    expect(vector[1], 2.0 / sqrt(13.0));
    graft_vector_normalize(zeros, HIDDEN);
    expect(zeros[0], 0.0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_modes),
        cmocka_unit_test(test_joined),
        cmocka_unit_test(test_normalized),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
