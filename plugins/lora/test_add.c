/* SPDX-License-Identifier: Apache-2.0 */
/* Tests what pairs add to their outputs against sums in f64: for every instruction set, any number of outputs, and any
 * division of the loop. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "columns.h"
#include "graft/call.h"
#include "graft/isa.h"
#include "graft/threads.h"

enum { TOKENS = 3, OUTPUTS = 300, MAX_RANK = 17, BLOCKS = (OUTPUTS + LORA_BLOCK - 1) / LORA_BLOCK };

static int64_t most_at_once;

/* A parallel_for that runs pieces from the end to the start. */
static void backwards(int64_t items, int64_t grain, graft_parallel_body body, void *data) {
    (void)grain;
    for (int64_t end = items; end > 0; end -= most_at_once) {
        body(data, end > most_at_once ? end - most_at_once : 0, end);
    }
}

static const struct graft_threads threads = {.struct_size = sizeof threads, .parallel_for = backwards};
static const struct graft_call call = {.struct_size = sizeof call, .threads = &threads};

struct fake_pair {
    struct lora_columns pair;
    float columns[BLOCKS * MAX_RANK * LORA_BLOCK];
    uint16_t columns_bf16[BLOCKS * MAX_RANK * LORA_BLOCK];
    float narrow[TOKENS * MAX_RANK];
};

static float number(int64_t i) {
    return (float)((i * 37 + 11) % 101 - 50) / 50.0F;
}

static float weight(const struct fake_pair *fake, int64_t output, int64_t r) {
    return fake->columns[(output / LORA_BLOCK * fake->pair.rank + r) * LORA_BLOCK + output % LORA_BLOCK];
}

static void fill(struct fake_pair *fake, int64_t rank, int64_t outputs, int64_t seed) {
    *fake = (struct fake_pair){.pair = {.rank = rank,
                                        .out_features = outputs,
                                        .factor = 1.0F,
                                        .loops = lora_add_loops_get(),
                                        .f32 = fake->columns}};
    for (int64_t o = 0; o < outputs; o++) {
        for (int64_t r = 0; r < rank; r++) {
            fake->columns[(o / LORA_BLOCK * rank + r) * LORA_BLOCK + o % LORA_BLOCK] = number(seed + o * rank + r);
        }
    }
    for (int64_t i = 0; i < TOKENS * rank; i++) {
        fake->narrow[i] = number(7 * seed + i);
    }
}

/* Two pairs of different ranks for the same outputs, and one for others; the second is for two of three rows. */
static struct fake_pair fakes[3];
static const int64_t firsts[3] = {5, 5, 205};
static int32_t chosen[] = {0, 2};

/* Adds all pairs, `outputs` at a time, as a Linear's loop may do; 0: as the plugin divides them. */
static void add(float y[TOKENS * OUTPUTS], int64_t outputs) {
    struct lora_addition additions[3];
    const struct lora_additions all = {additions, 3, y, OUTPUTS};
    for (int i = 0; i < 3; i++) {
        additions[i] = (struct lora_addition){&fakes[i].pair, fakes[i].narrow, {TOKENS, NULL}, firsts[i], NULL};
    }
    additions[1].rows = (struct lora_rows){2, chosen};
    for (int64_t i = 0; i < (int64_t)TOKENS * OUTPUTS; i++) {
        y[i] = number(i);
    }
    for (int64_t begin = 0; begin < OUTPUTS && outputs > 0; begin += outputs) {
        lora_add_outputs(&all, begin, begin + outputs);
    }
    if (outputs == 0) {
        lora_add(&call, &all);
    }
}

static double sum_of(int i, int64_t token, int64_t output) {
    const struct fake_pair *fake = &fakes[i];
    double sum = 0.0;
    int is_for = output >= firsts[i] && output < firsts[i] + fake->pair.out_features && (i != 1 || token != 1);
    for (int64_t r = 0; r < fake->pair.rank && is_for; r++) {
        sum += (double)fake->narrow[token * fake->pair.rank + r] * (double)weight(fake, output - firsts[i], r);
    }
    return sum;
}

static void check_sums(const float y[TOKENS * OUTPUTS]) {
    for (int64_t i = 0; i < (int64_t)TOKENS * OUTPUTS; i++) {
        double wanted = (double)number(i);
        for (int k = 0; k < 3; k++) {
            wanted += (double)fakes[k].pair.factor * sum_of(k, i / OUTPUTS, i % OUTPUTS);
        }
        assert_true(fabs((double)y[i] - wanted) < 1e-5);
    }
}

static void test_sums(void **state) {
    static float y[TOKENS * OUTPUTS], again[TOKENS * OUTPUTS];
    (void)state;
    fill(&fakes[0], 16, 200, 1);
    fill(&fakes[1], MAX_RANK, 200, 2);
    fill(&fakes[2], 1, 94, 3);
    most_at_once = 100;
    add(y, 0);
    check_sums(y);
    for (most_at_once = 1; most_at_once < 4; most_at_once++) {
        add(again, 0);
        assert_memory_equal(again, y, sizeof y);
    }
    for (int64_t outputs = 16; outputs < OUTPUTS; outputs = 2 * outputs + 1) {
        add(again, outputs);
        assert_memory_equal(again, y, sizeof y);
    }
}

/* Numbers that are exact in bf16 give the same bits as f32 and as bf16, also with a factor. */
static void test_bf16(void **state) {
    static float y[TOKENS * OUTPUTS], again[TOKENS * OUTPUTS];
    (void)state;
    fill(&fakes[0], 16, 200, 1);
    fill(&fakes[1], MAX_RANK, 200, 2);
    fill(&fakes[2], 1, 94, 3);
    for (int i = 0; i < 3; i++) {
        for (int64_t k = 0; k < BLOCKS * MAX_RANK * LORA_BLOCK; k++) {
            uint32_t bits;
            memcpy(&bits, fakes[i].columns + k, sizeof bits);
            fakes[i].columns_bf16[k - k % LORA_BLOCK + lora_bf16_place(k % LORA_BLOCK)] = (uint16_t)(bits >> 16);
            bits &= 0xffff0000;
            memcpy(fakes[i].columns + k, &bits, sizeof bits);
        }
    }
    most_at_once = 100;
    add(y, 0);
    for (int i = 0; i < 3; i++) {
        fakes[i].pair.f32 = NULL;
        fakes[i].pair.bf16 = fakes[i].columns_bf16;
    }
    add(again, 0);
    assert_memory_equal(again, y, sizeof y);
    for (int i = 0; i < 3; i++) {
        fakes[i].pair.factor = 0.3F * (float)(i - 1);
    }
    add(again, 0);
    check_sums(again);
}

static void test_isas(void **state) {
    static const char *const names[] = {"scalar", "avx2", "avx512"};
    for (int32_t i = 0; i < graft_isa_runnable() && i < 3; i++) {
        (void)setenv("GRAFT_ISA", names[i], 1);
        test_sums(state);
        test_bf16(state);
    }
    (void)unsetenv("GRAFT_ISA");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_sums), cmocka_unit_test(test_bf16),
                                       cmocka_unit_test(test_isas)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
