/* SPDX-License-Identifier: Apache-2.0 */
/* Compares each set of vector loops with the scalar ones, with sizes that leave remainders. */
#include "kernels/loops.h"

#include <float.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "each_isa.h"
#include "graft/kernels.h"
#include "numbers.h"

static const int64_t sizes[] = {0, 1, 3, 7, 8, 9, 16, 17, 31, 48, 100, 1000};
enum { SIZES = sizeof sizes / sizeof sizes[0] };

static const struct graft_loops *loops;                              /* under test */
static const struct graft_loops *const scalar = &graft_loops_scalar; /* the reference */

static graft_dtype stored_type(int32_t reading) {
    return reading == GRAFT_READ_BF16                                       ? GRAFT_DTYPE_BF16
           : reading == GRAFT_READ_F16 || reading == GRAFT_READ_F16_AS_BF16 ? GRAFT_DTYPE_F16
                                                                            : GRAFT_DTYPE_F32;
}

static void check_dot(int32_t reading, int64_t rows, int64_t columns, int64_t tokens) {
    int64_t w_stride = columns + 2;
    int64_t x_stride = columns + 5;
    int64_t y_stride = rows + 3;
    int64_t size = graft_reading_size(reading);
    void *w = numbers_stored(stored_type(reading), rows * w_stride);
    float *x = numbers_floats(tokens * x_stride);
    float *y = numbers_floats(tokens * y_stride);
    float *expected = numbers_alloc(tokens * y_stride, 4);
    memcpy(expected, y, (size_t)(tokens * y_stride) * sizeof *y);
    loops->dot(reading, w, w_stride, rows, columns, x, x_stride, tokens, y, y_stride, rows % 4 == 1 ? w : NULL);
    scalar->dot(reading, w, w_stride, rows, columns, x, x_stride, tokens, expected, y_stride, NULL);
    assert_int_equal(numbers_differ(y, expected, tokens * y_stride, 2e-5f, 1e-5f), -1);
    for (int64_t r = 0; r < rows; r++) { /* alone, the same bits */
        float one = 0.0f;
        int64_t t = r % tokens;
        loops->dot(reading, (char *)w + r * w_stride * size, w_stride, 1, columns, x + t * x_stride, 1, 1, &one, 1,
                   NULL);
        assert_memory_equal(&one, &y[t * y_stride + r], sizeof one);
    }
    numbers_free(w, size);
    numbers_free(x, 4);
    numbers_free(y, 4);
    numbers_free(expected, 4);
}

static void test_dot(void **state) {
    (void)state;
    for (int32_t reading = GRAFT_READ_F32; reading <= GRAFT_READ_F16_AS_BF16; reading++) {
        for (int i = 0; i < SIZES; i++) {
            for (int64_t rows = 1; rows <= 9; rows += 2) {
                for (int64_t tokens = 1; tokens <= 9; tokens++) {
                    check_dot(reading, rows, sizes[i], tokens);
                }
            }
        }
        check_dot(reading, 33, 48, 40);
        check_dot(reading, 9, 3000, 1); /* longer than the distance of prefetching */
    }
}

/* Arranges [tokens, stride] for dot_split. */
static float *split_of(int32_t reading, const float *x, int64_t x_stride, int64_t columns, int64_t tokens,
                       int64_t stride) {
    float *out = numbers_alloc(tokens * stride, 4);
    for (int64_t t = 0; t < tokens; t++) {
        loops->split(reading, x + t * x_stride, columns, out + t * stride);
    }
    return out;
}

static void check_dot_split(int64_t rows, int64_t columns, int64_t tokens) {
    int64_t w_stride = columns + 2;
    int64_t x_stride = columns + 5;
    int64_t y_stride = rows + 3;
    int64_t stride = (columns + GRAFT_SPLIT_COLUMNS - 1) / GRAFT_SPLIT_COLUMNS * GRAFT_SPLIT_COLUMNS;
    uint16_t *w = (uint16_t *)numbers_stored(GRAFT_DTYPE_BF16, rows * w_stride);
    float *x = numbers_floats(tokens * x_stride);
    float *y = numbers_floats(tokens * y_stride);
    float *expected = numbers_alloc(tokens * y_stride, 4);
    float *split = split_of(GRAFT_READ_F32, x, x_stride, columns, tokens, stride);
    memcpy(expected, y, (size_t)(tokens * y_stride) * sizeof *y);
    loops->dot_split(w, w_stride, rows, columns, split, stride, tokens, y, y_stride);
    scalar->dot(GRAFT_READ_BF16, w, w_stride, rows, columns, x, x_stride, tokens, expected, y_stride, NULL);
    assert_int_equal(numbers_differ(y, expected, tokens * y_stride, 2e-5f, 1e-5f), -1);
    for (int64_t r = 0; r < rows; r++) { /* a token alone has the same bits */
        float one = 0.0f;
        int64_t t = r % tokens;
        loops->dot_split(w + r * w_stride, w_stride, 1, columns, split + t * stride, 1, 1, &one, 1);
        assert_memory_equal(&one, &y[t * y_stride + r], sizeof one);
    }
    numbers_free(w, 2);
    numbers_free(x, 4);
    numbers_free(y, 4);
    numbers_free(expected, 4);
    numbers_free(split, 4);
}

/* Splitting reorders numbers and adds zeros; rounded numbers are those of `widen`. */
static void check_split(int64_t columns) {
    int64_t padded = (columns + GRAFT_SPLIT_COLUMNS - 1) / GRAFT_SPLIT_COLUMNS * GRAFT_SPLIT_COLUMNS;
    float *x = numbers_floats(columns);
    float *rounded = numbers_alloc(columns, 4);
    float *split = split_of(GRAFT_READ_F32_AS_BF16, x, columns, columns, 1, padded);
    loops->widen(GRAFT_READ_F32_AS_BF16, x, columns, rounded);
    float *expected = split_of(GRAFT_READ_F32, rounded, columns, columns, 1, padded);
    assert_memory_equal(split, expected, (size_t)padded * sizeof *split);
    numbers_free(x, 4);
    numbers_free(rounded, 4);
    numbers_free(split, 4);
    numbers_free(expected, 4);
}

static void test_dot_split(void **state) {
    (void)state;
    if (loops->dot_split == NULL) {
        return;
    }
    for (int i = 0; i < SIZES; i++) {
        check_split(sizes[i]);
        for (int64_t rows = 1; rows <= 9; rows++) {
            for (int64_t tokens = 1; tokens <= 9; tokens++) {
                check_dot_split(rows, sizes[i], tokens);
            }
        }
    }
    check_dot_split(33, 48, 16);
    check_dot_split(9, 3000, 1); /* longer than the distance of prefetching */
}

/* Each sum approaches twice what every round adds; the result is the number of additions, as many in each round as
 * there are sums. */
static void test_multiply_add(void **state) {
    enum { ROUNDS = 64 };
    float sink = 0.25f;
    (void)state;
    int64_t sums = loops->multiply_add(ROUNDS, &sink) / ROUNDS;
    assert_true(sums > 0);
    assert_float_equal(sink, 2.0f * 0.25f * (float)sums, 1e-4f * (float)sums);
}

static void check_multiply(int32_t reading, int64_t rows, int64_t depth, int64_t columns, int transposed) {
    int64_t b_stride = columns + 1;
    int64_t c_stride = columns + 2;
    int64_t a_row = transposed ? 1 : depth;
    int64_t a_step = transposed ? rows : 1;
    float *a = numbers_floats(rows * depth);
    void *b = numbers_stored(stored_type(reading), depth * b_stride);
    float *c = numbers_floats(rows * c_stride);
    float *expected = numbers_alloc(rows * c_stride, 4);
    memcpy(expected, c, (size_t)(rows * c_stride) * sizeof *c);
    loops->multiply(a, a_row, a_step, rows, reading, b, b_stride, depth, columns, c, c_stride, transposed ? b : NULL);
    scalar->multiply(a, a_row, a_step, rows, reading, b, b_stride, depth, columns, expected, c_stride, NULL);
    assert_int_equal(numbers_differ(c, expected, rows * c_stride, 2e-5f, 1e-5f), -1);
    numbers_free(a, 4);
    numbers_free(b, graft_reading_size(reading));
    numbers_free(c, 4);
    numbers_free(expected, 4);
}

static void test_multiply(void **state) {
    (void)state;
    for (int32_t reading = GRAFT_READ_F32; reading <= GRAFT_READ_BF16; reading++) {
        for (int64_t rows = 1; rows <= 13; rows++) {
            for (int i = 0; i < SIZES - 1; i++) {
                check_multiply(reading, rows, 5, sizes[i], 0);
                check_multiply(reading, rows, sizes[i], 17, 1);
            }
        }
    }
}

static void check_pack(int32_t reading, int64_t rows, int64_t columns) {
    int64_t width = loops->pack_rows;
    int64_t size = graft_reading_size(reading);
    void *w = numbers_stored(stored_type(reading), rows * (columns + 1));
    float *packed = numbers_floats(columns * width + 1);
    float end = packed[columns * width];
    loops->pack(reading, w, columns + 1, rows, columns, packed);
    for (int64_t k = 0; k < columns; k++) {
        for (int64_t r = 0; r < width; r++) {
            float expected = 0.0f;
            if (r < rows) {
                scalar->widen(reading, (char *)w + (r * (columns + 1) + k) * size, 1, &expected);
            }
            assert_true(packed[k * width + r] == expected);
        }
    }
    assert_true(packed[columns * width] == end);
    numbers_free(w, size);
    numbers_free(packed, 4);
}

static void test_pack(void **state) {
    (void)state;
    for (int32_t reading = GRAFT_READ_F32; reading <= GRAFT_READ_F16_AS_BF16; reading++) {
        for (int64_t rows = 1; rows <= loops->pack_rows; rows++) {
            for (int i = 0; i < SIZES - 1; i++) {
                check_pack(reading, rows, sizes[i]);
            }
        }
    }
}

/* Compares to the bit, since the order of sums and an instruction's rounding are promised. */
static void check_pairs(int64_t rows, int64_t columns, int64_t tokens, int32_t add) {
    int64_t y_stride = rows + 2;
    int64_t pairs = (columns + 1) / 2;
    uint16_t *w = numbers_stored(GRAFT_DTYPE_BF16, rows * (columns + 3));
    uint16_t *x = numbers_stored(GRAFT_DTYPE_BF16, tokens * (2 * pairs + 2));
    float *y = numbers_floats(tokens * y_stride);
    float *expected = numbers_alloc(tokens * y_stride, 4);
    uint32_t *packed = numbers_alloc(pairs * loops->pack_rows, 4);
    uint32_t *packed_16 = numbers_alloc(pairs * scalar->pack_rows, 4);
    struct graft_pairs operands = {x, 2 * pairs + 2, 2, tokens, packed, pairs, rows, y, y_stride, add};
    memcpy(expected, y, (size_t)(tokens * y_stride) * sizeof *y);
    loops->pack_pairs(w, columns + 3, rows, columns, packed);
    loops->multiply_pairs(&operands);
    for (int64_t r = 0; r < rows; r += scalar->pack_rows) {
        int64_t left = rows - r < scalar->pack_rows ? rows - r : scalar->pack_rows;
        struct graft_pairs reference = {x,    2 * pairs + 2, 2,        tokens, packed_16, pairs,
                                        left, expected + r,  y_stride, add};
        scalar->pack_pairs(w + r * (columns + 3), columns + 3, left, columns, packed_16);
        scalar->multiply_pairs(&reference);
    }
    assert_memory_equal(y, expected, (size_t)(tokens * y_stride) * sizeof *y);
    numbers_free(w, 2);
    numbers_free(x, 2);
    numbers_free(y, 4);
    numbers_free(expected, 4);
    numbers_free(packed, 4);
    numbers_free(packed_16, 4);
}

static void test_pairs(void **state) {
    (void)state;
    if (loops->multiply_pairs == NULL) {
        print_message("no products of pairs here\n");
        return;
    }
    for (int64_t rows = 1; rows <= loops->pack_rows; rows++) {
        for (int i = 1; i < SIZES - 1; i++) {
            check_pairs(rows, sizes[i], 1 + rows % 13, rows % 2);
        }
    }
    check_pairs(loops->pack_rows, 1000, 40, 0);
}

/* Compares bits, since conversions are exact; only the payload of a NaN may differ. */
static void check_same(float a, float b) {
    assert_true((isnan(a) && isnan(b)) || graft_bits_from_f32(a) == graft_bits_from_f32(b));
}

static void test_all_16bit_numbers(void **state) {
    (void)state;
    static uint16_t stored[65536];
    static float wide[65536];
    for (int i = 0; i < 65536; i++) {
        stored[i] = (uint16_t)i;
    }
    for (int32_t reading = GRAFT_READ_F16; reading <= GRAFT_READ_F16_AS_BF16; reading++) {
        if (stored_type(reading) != GRAFT_DTYPE_F32) {
            loops->widen(reading, stored, 65536, wide);
            for (int i = 0; i < 65536; i++) {
                float expected;
                scalar->widen(reading, &stored[i], 1, &expected);
                check_same(wide[i], expected);
            }
        }
    }
}

static void test_rounding(void **state) {
    (void)state;
    for (int round = 0; round < 200; round++) {
        uint32_t bits[1000];
        float x[1000];
        float wide[1000];
        float expected[1000];
        uint16_t narrow[1000];
        for (int i = 0; i < 1000; i++) {
            bits[i] = i % 3 == 0 ? (numbers_next() & 0xffff0000u) | 0x8000u : numbers_next();
        }
        memcpy(x, bits, sizeof x);
        x[0] = INFINITY;
        x[1] = -INFINITY;
        x[2] = NAN;
        x[3] = FLT_MAX;
        x[4] = -0.0f;
        x[5] = FLT_TRUE_MIN;
        int64_t count = 1000 - round % 33;
        loops->widen(GRAFT_READ_F32_AS_BF16, x, count, wide);
        scalar->widen(GRAFT_READ_F32_AS_BF16, x, count, expected);
        loops->narrow(x, count, narrow);
        for (int64_t i = 0; i < count; i++) {
            check_same(wide[i], expected[i]);
            check_same(graft_f32_from_bf16(narrow[i]), expected[i]);
        }
    }
}

static void test_rows(void **state) {
    (void)state;
    for (int i = 0; i < SIZES; i++) {
        int64_t n = sizes[i];
        float *x = numbers_floats(n);
        float *y = numbers_floats(2 * n);
        float *expected = numbers_alloc(2 * n, 4);
        memcpy(expected, y, (size_t)n * sizeof *y);
        assert_true(numbers_close(loops->sum_of_squares(x, n), scalar->sum_of_squares(x, n), 0.0f, 1e-6f));
        loops->add_scaled(y, 0.7f, x, n);
        scalar->add_scaled(expected, 0.7f, x, n);
        assert_memory_equal(y, expected, (size_t)n * sizeof *y);
        loops->scale(y, -3.1f, n);
        scalar->scale(expected, -3.1f, n);
        assert_memory_equal(y, expected, (size_t)n * sizeof *y);
        assert_true(loops->maximum(x, n) == scalar->maximum(x, n));
        assert_true(numbers_close(loops->sum(x, n), scalar->sum(x, n), 1e-5f, 1e-6f));
        float squares = loops->centre(x, 0.3f, n, y);
        assert_true(numbers_close(squares, scalar->centre(x, 0.3f, n, expected), 0.0f, 1e-6f));
        assert_memory_equal(y, expected, (size_t)n * sizeof *y);
        for (int32_t reading = GRAFT_READ_F32; reading <= GRAFT_READ_BF16; reading++) {
            void *weight = numbers_stored(stored_type(reading), n);
            for (int offset = 0; offset <= 1; offset++) {
                loops->scale_by(reading, weight, (float)offset, x, 1.3f, n, y);
                scalar->scale_by(reading, weight, (float)offset, x, 1.3f, n, expected);
                assert_memory_equal(y, expected, (size_t)n * sizeof *y);
            }
            loops->add_stored(reading, weight, n, y);
            scalar->add_stored(reading, weight, n, expected);
            assert_memory_equal(y, expected, (size_t)n * sizeof *y);
            numbers_free(weight, graft_reading_size(reading));
        }
        numbers_free(x, 4);
        numbers_free(y, 4);
        numbers_free(expected, 4);
    }
}

static void test_rotate(void **state) {
    (void)state;
    for (int i = 0; i < SIZES; i++) {
        int64_t half = sizes[i];
        float *x = numbers_floats(2 * half);
        float *expected = numbers_alloc(2 * half, 4);
        float *cosine = numbers_floats(2 * half);
        float *sine = numbers_floats(2 * half);
        memcpy(expected, x, (size_t)(2 * half) * sizeof *x);
        loops->rotate(x, x + half, cosine, sine, half);
        scalar->rotate(expected, expected + half, cosine, sine, half);
        assert_memory_equal(x, expected, (size_t)(2 * half) * sizeof *x);
        numbers_free(x, 4);
        numbers_free(expected, 4);
        numbers_free(cosine, 4);
        numbers_free(sine, 4);
    }
}

static int32_t units_apart(float a, float b) {
    int32_t apart = (int32_t)(graft_bits_from_f32(a) - graft_bits_from_f32(b));
    return apart < 0 ? -apart : apart;
}

/* Covers the whole range in steps of about 2^-13 of the number. */
static void test_exp(void **state) {
    (void)state;
    for (uint32_t bits = 0; bits < 0x7f900000u; bits += 1021) {
        float x[2] = {graft_f32_from_bits(bits), graft_f32_from_bits(bits | 0x80000000u)};
        float given[2] = {x[0], x[1]};
        (void)loops->exp_sum(x, 0.0f, 2);
        for (int i = 0; i < 2; i++) {
            float expected = (float)exp((double)given[i]);
            assert_true((isnan(x[i]) && isnan(expected)) || units_apart(x[i], expected) <= 2);
        }
    }
    float special[9] = {-INFINITY, INFINITY, NAN, 0.0f, 88.72f, 88.73f, -87.4f, -103.9f, -104.1f};
    (void)loops->exp_sum(special, 0.0f, 9);
    assert_true(special[0] == 0.0f && special[1] == INFINITY && isnan(special[2]) && special[3] == 1.0f);
    assert_true(special[4] < INFINITY && special[5] == INFINITY && special[6] > 0.0f && special[8] == 0.0f);
}

static void test_exp_sum(void **state) {
    (void)state;
    for (int i = 0; i < SIZES; i++) {
        float *x = numbers_floats(sizes[i]);
        double expected = 0.0;
        for (int64_t j = 0; j < sizes[i]; j++) {
            expected += exp((double)(x[j] - 0.5f));
        }
        assert_true(numbers_close(loops->exp_sum(x, 0.5f, sizes[i]), (float)expected, 0.0f, 1e-6f));
        numbers_free(x, 4);
    }
}

static double exact(int32_t activation, double x) {
    switch (activation) {
    case GRAFT_ACTIVATION_SILU:
        return x / (1.0 + exp(-x));
    case GRAFT_ACTIVATION_GELU:
        return 0.5 * x * erfc(-x * 0.70710678118654752440);
    case GRAFT_ACTIVATION_GELU_TANH:
        return 0.5 * x * (1.0 + tanh(0.79788456080286535588 * (x + 0.044715 * x * x * x)));
    case GRAFT_ACTIVATION_QUICK_GELU:
        return x / (1.0 + exp(-1.702 * x));
    case GRAFT_ACTIVATION_RELU:
        return x < 0.0 ? 0.0 : x;
    case GRAFT_ACTIVATION_RELU2:
        return x < 0.0 ? 0.0 : x * x;
    case GRAFT_ACTIVATION_TANH:
        return tanh(x);
    case GRAFT_ACTIVATION_SIGMOID:
        return 1.0 / (1.0 + exp(-x));
    default:
        fail_msg("activation %d has no reference here", activation);
        return NAN;
    }
}

static void test_activations(void **state) {
    (void)state;
    enum { COUNT = 24001 };
    float *x = numbers_alloc(COUNT, 4);
    float *y = numbers_alloc(COUNT, 4);
    float *up = numbers_floats(COUNT);
    for (int32_t activation = 0; activation < GRAFT_ACTIVATIONS; activation++) {
        for (int i = 0; i < COUNT; i++) {
            x[i] = (float)(i - COUNT / 2) / 1000.0f;
        }
        loops->activate(activation, x, COUNT, y);
        for (int i = 0; i < COUNT; i++) {
            assert_true(numbers_close(y[i], (float)exact(activation, (double)x[i]), 3e-7f, 1e-6f));
        }
        loops->activate_gate(activation, x, up, COUNT);
        for (int i = 0; i < COUNT; i++) {
            assert_true(x[i] == y[i] * up[i]);
        }
        float far[3] = {200.0f, -200.0f, NAN};
        loops->activate(activation, far, 3, y);
        assert_true(numbers_close(y[0], (float)exact(activation, 200.0), 0.0f, 1e-6f));
        assert_true(numbers_close(y[1], (float)exact(activation, -200.0), 1e-30f, 0.0f) && isnan(y[2]));
    }
    numbers_free(x, 4);
    numbers_free(y, 4);
    numbers_free(up, 4);
}

/* Has a column of nothing but -inf, and one whose first visible number is in the second portion. */
static void test_columns(void **state) {
    (void)state;
    enum { ROWS = 7, COLUMNS = 3 * GRAFT_LANES };
    float maxima[2][COLUMNS];
    float sum[2][COLUMNS] = {{0}};
    float factor[2][COLUMNS];
    for (int j = 0; j < COLUMNS; j++) {
        maxima[0][j] = maxima[1][j] = -INFINITY;
    }
    for (int portion = 0; portion < 3; portion++) {
        float *scores = numbers_floats(ROWS * COLUMNS);
        float *expected = numbers_alloc(ROWS * COLUMNS, 4);
        for (int i = 0; i < ROWS; i++) {
            scores[i * COLUMNS + 5] = -INFINITY;
            scores[i * COLUMNS + 20] = portion == 0 ? -INFINITY : scores[i * COLUMNS + 20];
        }
        memcpy(expected, scores, ROWS * COLUMNS * sizeof *scores);
        loops->columns_softmax(scores, ROWS, COLUMNS, maxima[0], sum[0], factor[0]);
        scalar->columns_softmax(expected, ROWS, COLUMNS, maxima[1], sum[1], factor[1]);
        loops->columns_scale(scores, ROWS, COLUMNS, factor[0]);
        scalar->columns_scale(expected, ROWS, COLUMNS, factor[1]);
        assert_int_equal(numbers_differ(scores, expected, ROWS * COLUMNS, 0.0f, 1e-6f), -1);
        assert_int_equal(numbers_differ(maxima[0], maxima[1], COLUMNS, 0.0f, 0.0f), -1);
        assert_int_equal(numbers_differ(sum[0], sum[1], COLUMNS, 0.0f, 1e-6f), -1);
        assert_int_equal(numbers_differ(factor[0], factor[1], COLUMNS, 0.0f, 1e-6f), -1);
        assert_true(sum[0][5] == 0.0f);
        numbers_free(scores, 4);
        numbers_free(expected, 4);
    }
}

static void check_pair(int32_t reading, int64_t count, int has_odd) {
    graft_dtype dtype = stored_type(reading);
    void *even = numbers_stored(dtype, count);
    void *odd = numbers_stored(dtype, count);
    uint32_t *out = numbers_alloc(count + 1, 4);
    uint32_t *expected = numbers_alloc(count + 1, 4);
    memset(out, 1, (size_t)(count + 1) * sizeof *out);
    memset(expected, 1, (size_t)(count + 1) * sizeof *out);
    loops->pair(reading, even, has_odd ? odd : NULL, count, out);
    scalar->pair(reading, even, has_odd ? odd : NULL, count, expected);
    assert_memory_equal(out, expected, (size_t)(count + 1) * sizeof *out);
    numbers_free(even, graft_reading_size(reading));
    numbers_free(odd, graft_reading_size(reading));
    numbers_free(out, 4);
    numbers_free(expected, 4);
}

/* Compares a number that was rounded to bf16 from one with an error of 3e-6; denormals are zeros. */
static void check_rounded(uint32_t bits, float wanted) {
    const float found = graft_f32_from_bf16((uint16_t)bits);
    if (!numbers_close(found, wanted, FLT_MIN, 1.0f / 256.0f + 4e-6f)) {
        fail_msg("%.9g instead of %.9g", (double)found, (double)wanted);
    }
}

/* Equals columns_softmax rounded and paired, up to a few parts in a million of each number. */
static void check_columns_pairs(int64_t rows, int64_t columns) {
    int64_t width = loops->pack_rows;
    int64_t half = (rows + 1) / 2;
    float *scores = numbers_floats(rows * columns);
    float *state[2] = {numbers_floats(3 * columns), numbers_floats(3 * columns)}; /* maxima, sums, factors */
    uint32_t *pairs = numbers_alloc((columns + width - 1) / width * half * width, 4);
    for (int64_t j = 0; j < columns; j++) {
        state[0][columns + j] = fabsf(state[0][columns + j]);
    }
    memcpy(state[1], state[0], (size_t)(3 * columns) * sizeof(float));
    for (int64_t i = 0; i < rows * columns; i += 3) {
        scores[i] *= 100.0f;
    }
    scores[0] = -INFINITY;
    loops->columns_softmax_pairs(scores, rows, columns, state[0], state[0] + columns, state[0] + 2 * columns, pairs);
    loops->columns_softmax(scores, rows, columns, state[1], state[1] + columns, state[1] + 2 * columns);
    assert_int_equal(numbers_differ(state[0], state[1], columns, 0.0f, 0.0f), -1);
    assert_int_equal(numbers_differ(state[0] + columns, state[1] + columns, columns, 0.0f, 4e-6f), -1);
    assert_int_equal(numbers_differ(state[0] + 2 * columns, state[1] + 2 * columns, columns, 0.0f, 0.0f), -1);
    for (int64_t i = 0; i < rows; i++) {
        for (int64_t j = 0; j < columns; j++) {
            check_rounded(pairs[(j / width * half + i / 2) * width + j % width] >> 16 * (i % 2) & 0xffffu,
                          scores[i * columns + j]);
        }
    }
    numbers_free(scores, 4);
    numbers_free(state[0], 4);
    numbers_free(state[1], 4);
    numbers_free(pairs, 4);
}

static void test_made_pairs(void **state) {
    (void)state;
    for (int i = 0; i < SIZES && loops->pair != NULL; i++) {
        for (int has_odd = 0; has_odd < 2; has_odd++) {
            check_pair(GRAFT_READ_F32, sizes[i], has_odd);
            check_pair(GRAFT_READ_BF16, sizes[i], has_odd);
        }
        check_columns_pairs(sizes[i] + 1, GRAFT_LANES * (int64_t)(1 + i % 7));
    }
}

/* 0 * inf and inf - inf are NaN, and nothing else becomes one. */
static void test_not_finite(void **state) {
    (void)state;
    float w[20] = {INFINITY, 1.0f};
    float x[20] = {1.0f};
    float y;
    loops->dot(GRAFT_READ_F32, w, 20, 1, 20, x, 20, 1, &y, 1, NULL);
    assert_true(y == INFINITY);
    x[0] = 0.0f;
    loops->dot(GRAFT_READ_F32, w, 20, 1, 20, x, 20, 1, &y, 1, NULL);
    assert_true(isnan(y));
    float numbers[3] = {1.0f, NAN, 2.0f};
    assert_true(loops->maximum(numbers, 3) == 2.0f);
    loops->widen(GRAFT_READ_NONE, w, 1, &y);
    assert_true(isnan(y));
}

static int run_all(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dot),        cmocka_unit_test(test_dot_split),  cmocka_unit_test(test_multiply_add),
        cmocka_unit_test(test_pack),       cmocka_unit_test(test_multiply),   cmocka_unit_test(test_all_16bit_numbers),
        cmocka_unit_test(test_rounding),   cmocka_unit_test(test_rows),       cmocka_unit_test(test_rotate),
        cmocka_unit_test(test_exp),        cmocka_unit_test(test_exp_sum),    cmocka_unit_test(test_activations),
        cmocka_unit_test(test_columns),    cmocka_unit_test(test_not_finite), cmocka_unit_test(test_pairs),
        cmocka_unit_test(test_made_pairs),
    };
    loops = graft_loops_get();
    return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(void) {
    return each_isa(run_all);
}
