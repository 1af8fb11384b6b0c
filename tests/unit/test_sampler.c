/* SPDX-License-Identifier: Apache-2.0 */
/* Choosing the next token without chance, with every instruction set: the first of the largest logits, whatever else
 * there is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "generate/sampler.h"
#include "kernels/cpu.h"
#include "numbers.h"

enum { MOST = 5000 };

static const int64_t sizes[] = {1, 2, 15, 17, 1023, 1024, 1025, MOST};
enum { SIZES = sizeof sizes / sizeof sizes[0] };

static int32_t pick(const float *logits, int64_t n, double penalty, const int32_t *history, size_t seen) {
    const struct graft_generation generation = {
        .struct_size = sizeof generation, .temperature = 1.0, .top_p = 1.0, .repetition_penalty = penalty};
    struct graft_sampler_state state = {0};
    struct graft_sampler *sampler;
    assert_int_equal(graft_sampler_create(n, &sampler, NULL), GRAFT_OK);
    int32_t id = graft_sampler_pick(sampler, &generation, logits, history, seen, &state);
    graft_sampler_free(sampler);
    return id;
}

static void fill(float *logits, int64_t n, float value) {
    for (int64_t i = 0; i < n; i++) {
        logits[i] = value;
    }
}

/* Among what is smaller, or no number: at either end, and on both sides of each power of two. */
static void check_alone(float others, float largest) {
    float logits[MOST];
    for (int i = 0; i < SIZES; i++) {
        int64_t n = sizes[i];
        for (int64_t at = 0; at < n; at = at < 3 ? at + 1 : at % 2 == 0 ? 2 * at - 1 : at + 1) {
            fill(logits, n, others);
            logits[at] = largest;
            assert_int_equal(pick(logits, n, 1.0, NULL, 0), at);
            logits[n - 1] = largest; /* the first of two */
            assert_int_equal(pick(logits, n, 1.0, NULL, 0), at);
        }
    }
}

static void test_alone(void **state) {
    (void)state;
    check_alone(-1.0f, 2.0f);
    check_alone(-INFINITY, -3.0f);
    check_alone(1.0f, INFINITY);
    check_alone(NAN, -2.0f);
    check_alone(NAN, -INFINITY);
}

/* With nothing to choose from it is the first. */
static void test_none(void **state) {
    float logits[MOST];
    (void)state;
    fill(logits, MOST, NAN);
    assert_int_equal(pick(logits, MOST, 1.0, NULL, 0), 0);
    fill(logits, MOST, -INFINITY);
    assert_int_equal(pick(logits, MOST, 1.0, NULL, 0), 0);
}

/* Tokens that were there are divided or multiplied, once each; the logits stay as they are. */
static void test_punished(void **state) {
    float logits[MOST];
    static const int32_t history[] = {4000, 3, 4000};
    (void)state;
    fill(logits, MOST, -4.0f);
    logits[4000] = 3.0f;
    logits[7] = 1.6f;
    assert_int_equal(pick(logits, MOST, 1.0, history, 3), 4000);
    assert_int_equal(pick(logits, MOST, 1.5, history, 3), 4000); /* 2; twice it would be 1.33 */
    assert_int_equal(pick(logits, MOST, 2.0, history, 3), 7);
    assert_true(logits[4000] == 3.0f);
    fill(logits, MOST, -4.0f);
    logits[3] = -3.0f;
    assert_int_equal(pick(logits, MOST, 1.0, history, 3), 3);
    assert_int_equal(pick(logits, MOST, 1.5, history, 3), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_alone),
        cmocka_unit_test(test_none),
        cmocka_unit_test(test_punished),
    };
    int failures = 0;
    for (int isa = GRAFT_ISA_SCALAR; isa <= graft_cpu_best_isa(); isa++) {
        graft_cpu_set_isa(isa);
        print_message("%s\n", graft_cpu_isa_name(isa));
        failures += cmocka_run_group_tests(tests, NULL, NULL);
    }
    return failures;
}
