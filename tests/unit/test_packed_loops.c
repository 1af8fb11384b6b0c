/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Products of each table of loops, exact and rounded, against sums in f64 of the weights that plain C unpacks (the
 * goldens hold those), on odd sizes: tiles that lack outputs, groups that lack inputs, an odd number of words, tokens
 * alone and together. LOOPS is the name of them, and MOST_BITS how many a code of it may have.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "any_words.h"
#include "graft/packed.h"
#include "rounded_inputs.h"
#include "turned_at.h"

enum { MOST_TOKENS = 7 };

/* Their arguments are the values of macros. */
#define DECLARE(loops) GRAFT_ISA_ALL_DECLARE(const struct graft_packed_loops, loops)
#define TABLES(loops) GRAFT_ISA_ALL_TABLES(loops)

DECLARE(LOOPS);
static const struct graft_packed_loops *const tables[] = TABLES(LOOPS);

/* What is multiplied. */
struct size {
    int64_t in, out, group_size;
    int32_t bits;
};

static int32_t *any_words(int64_t n) {
    int32_t *words = need((size_t)n * sizeof *words);
    for (int64_t i = 0; i < n; i++) {
        words[i] = (int32_t)any_word();
    }
    return words;
}

/* Scales of f16 between 1 and 2. */
static uint16_t *any_scales(int64_t n) {
    uint16_t *scales = need((size_t)n * sizeof *scales);
    for (int64_t i = 0; i < n; i++) {
        scales[i] = (uint16_t)(0x3c00 | (any_word() & 0x3ff));
    }
    return scales;
}

/* y [tokens, out] by one arithmetic. */
static void multiply(const struct graft_packed *self, const struct graft_packed_arithmetic *how, const float *x,
                     int64_t tokens, float *y) {
    struct graft_packed_work work = {.self = self, .how = how, .x = x, .tokens = tokens, .y = y};
    work.input.codes = self->in_features * self->bits / 4;
    work.input.numbers = need((size_t)(tokens * work.input.codes) * sizeof(int32_t));
    work.input.sums = need((size_t)(tokens * self->groups) * sizeof(float));
    work.input.factors = need((size_t)(tokens * self->groups) * sizeof(float));
    graft_packed_prepare(&work, 0, tokens);
    graft_packed_strips(&work, 0, graft_packed_strip_count(self->out_features));
    free(work.input.numbers);
    free(work.input.sums);
    free(work.input.factors);
}

/* What inputs are multiplied as: rounded to integers of 16 bits times a step that their group shares or, of 8 bits and
 * in large groups, to bf16. */
static void round_inputs(const struct graft_packed *self, float *x) {
    const int is_bf16 = self->bits == 8 || self->group_size > 128;
    for (int64_t begin = 0; begin < self->in_features; begin += self->group_size) {
        const int64_t end = begin + graft_packed_left(self->in_features, begin, self->group_size);
        float largest = 0.0F;
        for (int64_t i = begin; i < end; i++) {
            largest = fmaxf(largest, fabsf(x[i]));
        }
        const float step = step_of(largest);
        for (int64_t i = begin; i < end; i++) {
            x[i] = is_bf16 ? rounded(x[i]) : rintf(x[i] / step) * step;
        }
    }
}

/* Sizes are those of the terms, which cancel where zero points do; as bf16, codes are larger by up to 128 * 17. */
static void check_sum(const struct graft_packed *self, const float *row, int is_rounded, const float *x, float found) {
    double sum = 0.0, size = 0.0;
    for (int64_t i = 0; i < self->in_features; i++) {
        sum += (double)row[i] * (double)x[i];
        size += (is_rounded ? 128.0 : 1.0) * 16.0 * fabs((double)x[i]);
    }
    assert_true(fabs(sum - (double)found) <= 1e-6 * (size + 1.0) * (self->bits == 8 ? 16.0 : 1.0));
}

/* Whether products are of other numbers than x has. */
static int rounds(const struct graft_packed *self, const struct graft_packed_arithmetic *how) {
    const char *name = self->loops->name;
    return how == &self->loops->rounded &&
           (strcmp(name, "avx512_bf16") == 0 || (strncmp(name, "avx", 3) == 0 && self->bits == 4));
}

/* One input that is no number makes no sum look like one. */
static void check_not_finite(const struct graft_packed *self, const struct graft_packed_arithmetic *how, float *x,
                             float *y) {
    const float first = x[0];
    for (int i = 0; i < 2; i++) {
        x[0] = i == 0 ? NAN : INFINITY;
        multiply(self, how, x, 1, y);
        for (int64_t r = 0; r < self->out_features; r++) {
            assert_false(isfinite(y[r]));
        }
    }
    x[0] = first;
}

static void check(struct graft_packed *self, const float *weights, int is_rounded) {
    const struct graft_packed_arithmetic *how =
        is_rounded && graft_packed_rounds(self) ? &self->loops->rounded : &self->loops->exact;
    const int64_t in = self->in_features, out = self->out_features;
    float *x = need((size_t)(MOST_TOKENS * in) * sizeof *x), *y = need((size_t)(MOST_TOKENS * out) * sizeof *y);
    float *alone = need((size_t)out * sizeof *alone);
    for (int64_t i = 0; i < MOST_TOKENS * in; i++) {
        x[i] = (float)(int32_t)any_word() / 2147483648.0F;
    }
    check_not_finite(self, how, x, y);
    multiply(self, how, x, MOST_TOKENS, y);
    for (int64_t t = 0; t < MOST_TOKENS; t++) {
        multiply(self, how, x + t * in, 1, alone);
        assert_memory_equal(alone, y + t * out, (size_t)out * sizeof *alone);
        if (rounds(self, how)) {
            round_inputs(self, x + t * in);
        }
        for (int64_t r = 0; r < out; r++) {
            check_sum(self, weights + r * in, rounds(self, how), x + t * in, alone[r]);
        }
    }
    free(x);
    free(y);
    free(alone);
}

/* y [tokens, ..] of outputs [first, out) by loops of many tokens. */
static void multiply_many(const struct graft_packed *self, const struct graft_packed_prepared *how, int64_t first,
                          const float *x, int64_t tokens, float *y) {
    const int64_t size = how->size(self);
    char *inputs = aligned_alloc(64, (size_t)(tokens * size));
    assert_non_null(inputs);
    for (int64_t t = 0; t < tokens; t++) {
        how->prepare(self, x + t * self->in_features, inputs + t * size);
    }
    how->multiply(self, first, self->out_features - first, inputs, tokens, y);
    free(inputs);
}

/* Many tokens as integers: each alone, from some strip on, and together with others to the bit. */
static void check_many(const struct graft_packed *self, const struct graft_packed_prepared *how, const float *weights) {
    const int64_t in = self->in_features, out = self->out_features;
    const int64_t block = block_of_many(in, self->groups, self->group_size);
    float *x = need((size_t)(MOST_TOKENS * in) * sizeof *x), *y = need((size_t)(MOST_TOKENS * out) * sizeof *y);
    float *alone = need((size_t)out * sizeof *alone), *inputs = need((size_t)in * sizeof *inputs);
    for (int64_t i = 0; i < MOST_TOKENS * in; i++) {
        x[i] = (float)(int32_t)any_word() / 2147483648.0F;
    }
    multiply_many(self, how, 0, x, MOST_TOKENS, y);
    for (int64_t t = 0; t < MOST_TOKENS; t++) {
        const int64_t first = t % 2 == 0 || out <= GRAFT_PACKED_STRIP ? 0 : GRAFT_PACKED_STRIP;
        multiply_many(self, how, first, x + t * in, 1, alone + first);
        assert_memory_equal(alone + first, y + t * out + first, (size_t)(out - first) * sizeof *alone);
        for (int64_t i = 0; i < in; i++) {
            inputs[i] = as_integer(x + t * in, in, i, block, how == self->loops->bytes ? 8 : 16);
        }
        for (int64_t r = first; r < out; r++) {
            check_sum(self, weights + r * in, 1, inputs, alone[r]);
        }
    }
    free(x);
    free(y);
    free(alone);
    free(inputs);
}

/* Portions of any width, in the middle of a weight, have the numbers of its rows. */
static void check_portion(const struct graft_packed *self, const float *weights, int32_t layout, int64_t width) {
    const int64_t in = self->in_features, column = in / 3 / GRAFT_TURNED_COLUMNS * GRAFT_TURNED_COLUMNS;
    const int64_t row = self->out_features >= 2 * GRAFT_TURNED_ROWS ? GRAFT_TURNED_ROWS : 0;
    const int64_t rows = (self->out_features - row) / GRAFT_TURNED_ROWS * GRAFT_TURNED_ROWS, columns = in - column;
    struct graft_turned_portion portion = {sizeof portion, layout, row, rows, column, columns, width, NULL};
    portion.out = need((size_t)(rows * columns) * (layout == GRAFT_TURNED_PAIRS ? 2 : 4));
    graft_packed_turn(self, &portion);
    for (int64_t r = 0; r < rows; r++) {
        for (int64_t c = 0; c < columns; c++) {
            const float weight = weights[(row + r) * in + column + c];
            assert_true(turned_at(&portion, r, c) == (layout == GRAFT_TURNED_F32 ? weight : rounded(weight)));
        }
    }
    free(portion.out);
}

static void check_turn(const struct graft_packed *self, const float *weights) {
    for (int64_t width = 16; width <= 64 && self->in_features % GRAFT_TURNED_COLUMNS == 0; width *= 2) {
        check_portion(self, weights, GRAFT_TURNED_F32, width);
        check_portion(self, weights, GRAFT_TURNED_BF16, width);
        check_portion(self, weights, GRAFT_TURNED_PAIRS, width);
    }
}

/* How often there were pairs, and bytes. */
static int n_many[2];

static void check_size(const struct size *size) {
    const int64_t groups = (size->in + size->group_size - 1) / size->group_size;
    int32_t *words = any_words(size->in * size->out * size->bits / 32);
    int32_t *zeros = any_words(groups * size->out * size->bits / 32);
    uint16_t *scales = any_scales(groups * size->out);
    const struct graft_row_block block = {sizeof block, GRAFT_DTYPE_F16, scales, groups};
    struct graft_packed self = {.in_features = size->in, .out_features = size->out, .groups = groups};
    float *weights = need((size_t)(size->in * size->out) * sizeof *weights);
    self.group_size = size->group_size;
    self.bits = size->bits;
    self.zero_offset = 1;
    self.words = words;
    self.zeros = zeros;
    self.scales = &block;
    tables[0]->exact.widen(&self, 0, size->out, weights);
    for (int32_t build = 0; build < GRAFT_ISA_BUILDS; build++) {
        if (!graft_isa_runs(build)) {
            continue;
        }
        self.loops = tables[build];
        check(&self, weights, 0);
        check(&self, weights, 1);
        for (int k = 0; k < 2; k++) {
            const struct graft_packed_prepared *how = k == 0 ? self.loops->many : self.loops->bytes;
            if (how->size(&self) > 0) {
                check_many(&self, how, weights);
                n_many[k]++;
            }
        }
        check_turn(&self, weights);
    }
    free(words);
    free(zeros);
    free(scales);
    free(weights);
}

static void test_loops(void **state) {
    static const struct size sizes[] = {
        {8, 8, 8, 4},       {64, 64, 32, 4},     {72, 72, 24, 4},   {136, 200, 128, 4},  {128, 1096, 8, 4},
        {256, 136, 256, 4}, {104, 1032, 40, 4},  {64, 64, 16, 8},   {36, 72, 12, 8},     {40, 1028, 32, 8},
        {128, 72, 32, 4},   {1152, 200, 384, 4}, {192, 136, 64, 8}, {1280, 64, 1280, 4},
    };
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        if (sizes[i].bits <= MOST_BITS) {
            check_size(&sizes[i]);
        }
    }
    assert_true((n_many[0] > 0 && n_many[1] > 0) || graft_isa_runnable() < 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_loops)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
