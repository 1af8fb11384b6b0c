/* SPDX-License-Identifier: Apache-2.0 */
/* Products of a few tokens in pairs of bf16: right, and each token's the same to the bit whichever are with it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kernels/few.h"

enum { MAX_ROWS = 41, MAX_COLUMNS = 1200, TOKENS = 16 };

/* A bf16 of 8 bits, so that f32 sums of their products are exact. */
static uint16_t number(int64_t i) {
    float value = (float)((i * 7919 + i / 13) % 31 - 15) / 8.0f;
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return (uint16_t)(bits >> 16);
}

static float widened(uint16_t bits) {
    uint32_t wide = (uint32_t)bits << 16;
    float value;
    memcpy(&value, &wide, sizeof value);
    return value;
}

static void test_products(void **state) {
    static const int64_t columns[] = {1, 31, 32, 33, 64, 96, 127, 1024, MAX_COLUMNS};
    static const int64_t rows[] = {1, 3, 4, 8, 12, MAX_ROWS};
    static uint16_t w[MAX_ROWS * MAX_COLUMNS], x[TOKENS * MAX_COLUMNS];
    static float y[TOKENS * MAX_ROWS], alone[MAX_ROWS];
    (void)state;
    if (!graft_few_pairs_run()) {
        print_message("skipped: this processor does not multiply pairs of bf16\n");
        skip();
    }
    for (size_t c = 0; c < sizeof columns / sizeof columns[0]; c++) {
        for (int64_t i = 0; i < MAX_ROWS * columns[c]; i++) {
            w[i] = number(i);
        }
        for (int64_t i = 0; i < TOKENS * columns[c]; i++) {
            x[i] = number(3 * i + 5);
        }
        for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
            for (int64_t tokens = 1; tokens <= TOKENS; tokens++) {
                struct graft_few few = {w, rows[r], columns[c], x, tokens, y, MAX_ROWS};
                graft_few_pairs(&few);
                for (int64_t t = 0; t < tokens; t++) {
                    struct graft_few single = {w, rows[r], columns[c], x + t * columns[c], 1, alone, MAX_ROWS};
                    graft_few_pairs(&single);
                    assert_memory_equal(y + t * MAX_ROWS, alone, (size_t)rows[r] * sizeof y[0]);
                }
            }
            for (int64_t i = 0; i < rows[r]; i++) {
                float sum = 0.0f;
                for (int64_t k = 0; k < columns[c]; k++) {
                    sum += widened(w[i * columns[c] + k]) * widened(x[(TOKENS - 1) * columns[c] + k]);
                }
                assert_true(alone[i] == sum);
            }
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_products)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
