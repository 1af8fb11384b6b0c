/* SPDX-License-Identifier: Apache-2.0 */
/* Emulated tiles: shapes, zeros, rounding and the order of sums as the manual specifies them; what a processor would
 * refuse aborts. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "kernels/tile_model.h"

#if defined(__x86_64__)

static struct graft_tile_config config;

/* Sums of 3 x 2, of 3 x 5 pairs and 5 x 2 pairs. */
static void configure(void) {
    config = (struct graft_tile_config){.palette = 1, .row_bytes = {8, 20, 8}, .rows = {3, 3, 5}};
    graft_tile_model_configure(&config);
}

static uint16_t bf16(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return (uint16_t)(bits >> 16);
}

static void test_shapes(void **state) {
    (void)state;
    uint8_t from[16 * 64], to[16 * 64];
    for (size_t i = 0; i < sizeof from; i++) {
        from[i] = (uint8_t)(i * 7 + 1);
    }
    configure();
    graft_tile_model_load(1, from, 100);
    memset(to, 0xee, sizeof to);
    graft_tile_model_store(1, to, 50);
    for (int i = 0; i < 3; i++) {
        assert_memory_equal(to + 50 * i, from + 100 * i, 20);
        assert_int_equal(to[50 * i + 20], 0xee);
    }
    assert_int_equal(to[150], 0xee);
    graft_tile_model_zero(1);
    graft_tile_model_store(1, to, 50);
    assert_int_equal(to[119], 0);
    graft_tile_model_load(1, from, 20);
    configure(); /* which clears what was there */
    graft_tile_model_store(1, to, 20);
    assert_int_equal(to[0], 0);
    graft_tile_model_release();
}

static void test_products(void **state) {
    (void)state;
    uint16_t a[3][10], b[5][2][2];
    float sums[3][2], expected[3][2];
    for (int i = 0; i < 30; i++) {
        a[i / 10][i % 10] = bf16((float)(i % 7) - 3.0f);
    }
    for (int i = 0; i < 20; i++) {
        b[i / 4][i / 2 % 2][i % 2] = bf16((float)(i % 5) * 0.5f);
    }
    for (int m = 0; m < 3; m++) {
        for (int n = 0; n < 2; n++) {
            sums[m][n] = expected[m][n] = (float)(10 * m + n);
            for (int k = 0; k < 10; k++) {
                expected[m][n] += ((float)((10 * m + k) % 7) - 3.0f) * (float)((k / 2 * 4 + n * 2 + k % 2) % 5) * 0.5f;
            }
        }
    }
    configure();
    graft_tile_model_load(0, sums, sizeof sums[0]);
    graft_tile_model_load(1, a, sizeof a[0]);
    graft_tile_model_load(2, b, sizeof b[0]);
    graft_tile_model_multiply(0, 1, 2);
    graft_tile_model_store(0, sums, sizeof sums[0]);
    graft_tile_model_release();
    assert_memory_equal(sums, expected, sizeof sums);
}

/* One sum of two pairs. */
static float sum_of(float before, const float a[4], const float b[4]) {
    const struct graft_tile_config one = {.palette = 1, .row_bytes = {4, 8, 4}, .rows = {1, 1, 2}};
    uint16_t left[4], right[4];
    for (int i = 0; i < 4; i++) {
        left[i] = bf16(a[i]);
        right[i] = bf16(b[i]);
    }
    graft_tile_model_configure(&one);
    graft_tile_model_load(0, &before, 4);
    graft_tile_model_load(1, left, 8);
    graft_tile_model_load(2, right, 4);
    graft_tile_model_multiply(0, 1, 2);
    graft_tile_model_store(0, &before, 4);
    graft_tile_model_release();
    return before;
}

static void test_order(void **state) {
    (void)state;
    const float ones[] = {1.0f, 1.0f, 1.0f, 1.0f};
    /* First and second numbers of pairs have a sum each: 2^24 + 1 would lose its 1. */
    assert_true(sum_of(0.0f, (const float[]){0x1p24f, 1.0f, -0x1p24f, 1.0f}, ones) == 2.0f);
    assert_true(sum_of(0.0f, (const float[]){0x1p24f, 1.0f, 1.0f, -0x1p24f}, ones) == 1.0f);
    /* Both sums are added to each other first, then to the tile. */
    assert_true(sum_of(0x1p24f, (const float[]){1.0f, 1.0f, 0.0f, 0.0f}, ones) == 0x1p24f + 2.0f);
    assert_true(sum_of(0x1p24f, (const float[]){1.0f, 0.0f, 0.0f, 0.0f}, ones) == 0x1p24f);
    /* A product may exceed the range of f32 before it is added. */
    assert_true(sum_of(0.0f, (const float[]){-0x1.8p127f, 0.0f, 0x1p64f, 0.0f},
                       (const float[]){1.0f, 0.0f, 0x1p64f, 0.0f}) == 0x1p126f);
}

static void test_denormals(void **state) {
    (void)state;
    const float zeros[4] = {0.0f};
    const float ones[] = {1.0f, 1.0f, 1.0f, 1.0f};
    for (int half = 0; half < 2; half++) {
        float a[4] = {0.0f}, b[4] = {0.0f};
        a[half] = 0x1p-127f; /* as read */
        b[half] = 0x1p100f;
        assert_true(sum_of(0.0f, a, b) == 0.0f);
        a[half] = 0x1p-100f; /* as the first of two sums */
        b[half] = 0x1p-30f;
        assert_true(sum_of(0.0f, a, b) == 0.0f);
        a[half + 2] = 0x1.8p-66f;
        b[half + 2] = 0x1p-60f;
        assert_true(sum_of(0.0f, a, b) == 0x1.8p-126f);
        a[half] = 0x1p-126f;
        b[half] = 1.0f;
        assert_true(sum_of(0.0f, a, b) == 0x1.4p-125f);
    }
    assert_true(sum_of(0x1p-127f, zeros, ones) == 0.0f);
    assert_true(sum_of(0.0f, (const float[]){0x1.8p-126f, -0x1p-126f, 0.0f, 0.0f}, ones) == 0.0f);
}

static void without_configuration(void) {
    graft_tile_model_zero(0);
}

static void after_release(void) {
    configure();
    graft_tile_model_release();
    graft_tile_model_zero(0);
}

static void of_no_shape(void) {
    configure();
    graft_tile_model_zero(3);
}

static void of_other_rows(void) {
    configure();
    graft_tile_model_multiply(2, 1, 0);
}

static void of_the_same(void) {
    config = (struct graft_tile_config){.palette = 1, .row_bytes = {64, 64}, .rows = {16, 16}};
    graft_tile_model_configure(&config);
    graft_tile_model_multiply(0, 1, 1);
}

static void of_too_many_rows(void) {
    configure();
    config.rows[0] = 17;
    graft_tile_model_configure(&config);
}

static void of_a_ninth(void) {
    configure();
    config.rows[8] = 1;
    config.row_bytes[8] = 4;
    graft_tile_model_configure(&config);
}

static void of_half_a_shape(void) {
    configure();
    config.rows[4] = 1;
    graft_tile_model_configure(&config);
}

static void of_another_palette(void) {
    configure();
    config.palette = 2;
    graft_tile_model_configure(&config);
}

static void test_faults(void **state) {
    (void)state;
    void (*const faults[])(void) = {without_configuration, after_release,   of_no_shape, of_other_rows,     of_the_same,
                                    of_too_many_rows,      of_half_a_shape, of_a_ninth,  of_another_palette};
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        int status = 0;
        pid_t child = fork();
        if (child == 0) {
            faults[i]();
            _exit(0);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shapes),    cmocka_unit_test(test_products), cmocka_unit_test(test_order),
        cmocka_unit_test(test_denormals), cmocka_unit_test(test_faults),
    };
    if (!__builtin_cpu_supports("avx512vl")) {
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void) {
    return 77;
}

#endif
