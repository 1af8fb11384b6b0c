/* SPDX-License-Identifier: Apache-2.0 */
/* The loops of packed Linears: each item makes the outputs that the loop says, of all tokens, and no others. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "graft/packed.h"
#include "graft/packed_rows.h"

enum { IN = 64, OUT = 200, FEW = 3, MANY = 20 };

static _Alignas(64) char memory[1 << 18];
static int64_t used;

static void *take(struct graft_scratch *scratch, int64_t bytes) {
    void *at = memory + used;
    (void)scratch;
    used += (bytes + 63) / 64 * 64;
    return used <= (int64_t)sizeof memory ? at : NULL;
}

static void serial(int64_t items, int64_t grain, graft_parallel_body body, void *data) {
    (void)grain;
    body(data, 0, items);
}

static int32_t count(void) {
    return 1;
}

static const struct graft_threads threads = {.struct_size = sizeof threads, .parallel_for = serial, .count = count};

/* --- Products that only mark what they make --- */

static void mark(float *y, int64_t n, int64_t tokens) {
    for (int64_t i = 0; i < n * tokens; i++) {
        y[i / n * OUT + i % n] += 1.0F;
    }
}

static void multiply_rows(const struct graft_packed_rows *self, int64_t first, int64_t n, const float *x,
                          int64_t tokens, float *y) {
    (void)self;
    (void)first;
    (void)x;
    mark(y, n, tokens);
}

static void prepare_words(const struct graft_packed *self, const float *x, struct graft_packed_input *input,
                          int64_t t) {
    (void)self;
    (void)x;
    (void)input;
    (void)t;
}

static void multiply_words(const struct graft_packed *self, const struct graft_packed_input *input, int64_t t,
                           int64_t tokens, int64_t first, int64_t n, float *y) {
    (void)self;
    (void)input;
    (void)t;
    (void)first;
    mark(y, n, tokens);
}

static int64_t size_of_inputs(const void *weight) {
    (void)weight;
    return 64;
}

static void prepare_many(const void *weight, const float *x, void *inputs) {
    (void)weight;
    (void)x;
    memset(inputs, 0, 64);
}

static void multiply_many(const void *weight, int64_t first, int64_t n, const void *inputs, int64_t tokens, float *y) {
    (void)weight;
    (void)first;
    (void)inputs;
    mark(y, n, tokens);
}

static const struct graft_packed_prepared many = {size_of_inputs, prepare_many, multiply_many};
static const struct graft_packed_rows_loops rows_loops = {.multiply = multiply_rows, .many = &many};
static const struct graft_packed_loops words_loops = {.exact = {.prepare = prepare_words, .multiply = multiply_words},
                                                      .many = &many};

static const struct graft_packed_rows by_rows = {
    .loops = &rows_loops, .in_features = IN, .out_features = OUT, .row_bytes = IN / 2, .bits = 4};
static const struct graft_packed by_words = {
    .loops = &words_loops, .in_features = IN, .out_features = OUT, .groups = 1, .group_size = IN, .bits = 4};

static void check(int is_rows, int64_t tokens, int32_t precision) {
    static float x[MANY * IN], y[MANY * OUT];
    const struct graft_call call = {
        .struct_size = sizeof call, .precision = precision, .threads = &threads, .scratch_alloc = take};
    const struct graft_linear_args args = {.struct_size = sizeof args, .tokens = tokens, .x = x, .y = y};
    struct graft_loop loop = graft_loop_none();
    used = 0;
    assert_int_equal(is_rows ? graft_packed_rows_as_loop(&by_rows, &call, &args, &loop, NULL)
                             : graft_packed_as_loop(&by_words, &call, &args, &loop, NULL),
                     GRAFT_OK);
    assert_true(loop.outputs > 0);
    assert_int_equal(loop.items, (OUT + loop.outputs - 1) / loop.outputs);
    for (int64_t item = 0; item < loop.items; item++) {
        memset(y, 0, sizeof y);
        loop.body(loop.data, item, item + 1);
        for (int64_t i = 0; i < tokens * OUT; i++) {
            assert_true(y[i] == (i % OUT / loop.outputs == item ? 1.0F : 0.0F));
        }
    }
}

static void test_rows(void **state) {
    (void)state;
    check(1, FEW, GRAFT_PRECISION_FLOAT32);
    check(1, MANY, GRAFT_PRECISION_AUTO);
}

static void test_words(void **state) {
    (void)state;
    check(0, FEW, GRAFT_PRECISION_FLOAT32);
    check(0, MANY, GRAFT_PRECISION_AUTO);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows), cmocka_unit_test(test_words)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
