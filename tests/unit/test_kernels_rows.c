/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels that process rows or numbers one by one, called through the table that plugins see. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "each_isa.h"
#include "kernels/kernels.h"
#include "kernels/loops.h"
#include "kernels/threads.h"
#include "numbers.h"

static struct graft_scratch *scratch;
static struct graft_call call;

/* Two blocks of different types: `rows` of f32 and 2 more of bf16. */
struct two_blocks {
    struct graft_row_block blocks[2];
    struct graft_weight weight;
};

static void two_blocks_init(struct two_blocks *two, int64_t rows, int64_t columns) {
    *two = (struct two_blocks){
        .blocks = {{sizeof two->blocks[0], GRAFT_DTYPE_F32, numbers_stored(GRAFT_DTYPE_F32, rows * columns), rows},
                   {sizeof two->blocks[0], GRAFT_DTYPE_BF16, numbers_stored(GRAFT_DTYPE_BF16, 2 * columns), 2}},
        .weight = {.struct_size = sizeof two->weight,
                   .rows = rows + 2,
                   .columns = columns,
                   .n_blocks = 2,
                   .block_stride = sizeof two->blocks[0]},
    };
    two->weight.blocks = two->blocks;
}

static void two_blocks_finish(struct two_blocks *two) {
    numbers_free(two->blocks[0].data, 4);
    numbers_free(two->blocks[1].data, 2);
}

static float two_blocks_at(const struct two_blocks *two, int64_t row, int64_t column) {
    int second = row >= two->blocks[0].rows;
    const struct graft_row_block *block = &two->blocks[second];
    return numbers_at(block->dtype, block->data,
                      (row - (second ? two->blocks[0].rows : 0)) * two->weight.columns + column);
}

static void test_rms_norm(void **state) {
    (void)state;
    static const int64_t columns[] = {1, 3, 17, 64, 1000};
    for (int i = 0; i < 10; i++) {
        int64_t n = columns[i / 2];
        float offset = (float)(i % 2);
        int64_t tokens = 37;
        int64_t stride = n + 3;
        const void *data = numbers_stored(GRAFT_DTYPE_BF16, n);
        struct graft_row_block block = {sizeof block, GRAFT_DTYPE_BF16, data, n};
        struct graft_weight weight = {.struct_size = sizeof weight,
                                      .rows = n,
                                      .columns = 1,
                                      .blocks = &block,
                                      .n_blocks = 1,
                                      .block_stride = sizeof block};
        float *x = numbers_floats(tokens * stride);
        float *y = numbers_floats(tokens * n);
        assert_int_equal(call.kernels->rms_norm(&call, &weight, offset, 1e-5f, x, stride, tokens, n, y, n, NULL),
                         GRAFT_OK);
        for (int64_t t = 0; t < tokens; t++) {
            double sum = 0.0;
            for (int64_t j = 0; j < n; j++) {
                sum += (double)x[t * stride + j] * (double)x[t * stride + j];
            }
            double factor = 1.0 / sqrt(sum / (double)n + 1e-5);
            for (int64_t j = 0; j < n; j++) {
                double scale = (double)(numbers_at(GRAFT_DTYPE_BF16, data, j) + offset);
                double expected = scale * (double)x[t * stride + j] * factor;
                assert_true(numbers_close(y[t * n + j], (float)expected, 0.0f, 1e-6f));
            }
        }
        assert_int_equal(call.kernels->rms_norm(&call, &weight, offset, 1e-5f, x, stride, tokens, n, x, stride, NULL),
                         GRAFT_OK); /* in place */
        for (int64_t t = 0; t < tokens; t++) {
            assert_memory_equal(x + t * stride, y + t * n, (size_t)n * sizeof *x);
        }
        numbers_free(data, 2);
        numbers_free(x, 4);
        numbers_free(y, 4);
    }
}

/* Weight and bias of two types; numbers with a mean far from 0, for which a variance by sums of squares would lose
 * precision. */
static void test_layer_norm(void **state) {
    (void)state;
    static const int64_t columns[] = {1, 3, 17, 64, 1000};
    for (int i = 0; i < 5; i++) {
        int64_t n = columns[i];
        int64_t tokens = 37;
        int64_t stride = n + 3;
        const void *scales = numbers_stored(GRAFT_DTYPE_BF16, n);
        const void *shifts = numbers_stored(GRAFT_DTYPE_F16, n);
        struct graft_row_block blocks[2] = {{sizeof blocks[0], GRAFT_DTYPE_BF16, scales, n},
                                            {sizeof blocks[0], GRAFT_DTYPE_F16, shifts, n}};
        struct graft_weight weights[2];
        for (int k = 0; k < 2; k++) {
            weights[k] = (struct graft_weight){.struct_size = sizeof weights[k],
                                               .rows = n,
                                               .columns = 1,
                                               .blocks = &blocks[k],
                                               .n_blocks = 1,
                                               .block_stride = sizeof blocks[k]};
        }
        float *x = numbers_floats(tokens * stride);
        float *y = numbers_floats(tokens * n);
        for (int64_t t = 0; t < tokens * stride; t++) {
            x[t] += 100.0f;
        }
        assert_int_equal(
            call.kernels->layer_norm(&call, &weights[0], &weights[1], 1e-3f, x, stride, tokens, n, y, n, NULL),
            GRAFT_OK);
        for (int64_t t = 0; t < tokens; t++) {
            double sum = 0.0, squares = 0.0;
            for (int64_t j = 0; j < n; j++) {
                sum += (double)x[t * stride + j];
            }
            for (int64_t j = 0; j < n; j++) {
                double deviation = (double)x[t * stride + j] - sum / (double)n;
                squares += deviation * deviation;
            }
            for (int64_t j = 0; j < n; j++) {
                double normed = ((double)x[t * stride + j] - sum / (double)n) / sqrt(squares / (double)n + 1e-3);
                double expected = normed * (double)numbers_at(GRAFT_DTYPE_BF16, scales, j) +
                                  (double)numbers_at(GRAFT_DTYPE_F16, shifts, j);
                /* The mean of three numbers near 100 may differ by 1.4e-5 in f32, which is divided by sqrt(1e-3). */
                assert_true(numbers_close(y[t * n + j], (float)expected, 4.5e-4f, 1e-5f));
            }
        }
        float *unbiased = numbers_floats(tokens * n);
        assert_int_equal(
            call.kernels->layer_norm(&call, &weights[0], NULL, 1e-3f, x, stride, tokens, n, unbiased, n, NULL),
            GRAFT_OK);
        for (int64_t k = 0; k < tokens * n; k++) {
            assert_true(unbiased[k] + (float)numbers_at(GRAFT_DTYPE_F16, shifts, k % n) == y[k]);
        }
        numbers_free(unbiased, 4);
        assert_int_equal(
            call.kernels->layer_norm(&call, &weights[0], &weights[1], 1e-3f, x, stride, tokens, n, x, stride, NULL),
            GRAFT_OK);
        for (int64_t t = 0; t < tokens; t++) {
            assert_memory_equal(x + t * stride, y + t * n, (size_t)n * sizeof *x);
        }
        numbers_free(scales, 2);
        numbers_free(shifts, 2);
        numbers_free(x, 4);
        numbers_free(y, 4);
    }
}

/* Rotates the first WIDTH of a head's DIM numbers: halves, then neighbours. */
static void test_rope(void **state) {
    (void)state;
    enum { TOKENS = 5, HEADS = 3, WIDTH = 12, HALF = WIDTH / 2, DIM = 17, STRIDE = HEADS * DIM + 7 };
    for (int32_t layout = GRAFT_ROPE_HALVES; layout <= GRAFT_ROPE_INTERLEAVED; layout++) {
        float *x = numbers_floats(TOKENS * STRIDE);
        float *given = numbers_alloc(TOKENS * STRIDE, 4);
        float *cosine = numbers_floats(TOKENS * WIDTH);
        float *sine = numbers_floats(TOKENS * WIDTH);
        memcpy(given, x, TOKENS * STRIDE * sizeof *x);
        for (int i = 0; i < TOKENS * WIDTH; i++) {
            if (i % WIDTH >= HALF) {
                cosine[i] = cosine[i - HALF];
                sine[i] = sine[i - HALF];
            }
        }
        struct graft_rope_args args = {.struct_size = sizeof args,
                                       .layout = layout,
                                       .x = x,
                                       .stride = STRIDE,
                                       .head_stride = DIM,
                                       .tokens = TOKENS,
                                       .heads = HEADS,
                                       .width = WIDTH,
                                       .cos = cosine,
                                       .sin = sine};
        assert_int_equal(call.kernels->rope(&call, &args, NULL), GRAFT_OK);
        for (int t = 0; t < TOKENS; t++) {
            for (int i = 0; i < STRIDE; i++) {
                float expected = given[t * STRIDE + i];
                int d = i % DIM;
                if (i < HEADS * DIM && d < WIDTH) {
                    int pair = layout == GRAFT_ROPE_HALVES ? d % HALF : d / 2;
                    int first = layout == GRAFT_ROPE_HALVES ? d < HALF : d % 2 == 0;
                    int apart = layout == GRAFT_ROPE_HALVES ? HALF : 1;
                    float other = first ? -given[t * STRIDE + i + apart] : given[t * STRIDE + i - apart];
                    float turned = other * sine[t * WIDTH + pair];
                    expected = expected * cosine[t * WIDTH + pair] + turned;
                }
                assert_true(x[t * STRIDE + i] == expected);
            }
        }
        args.head_stride = 0; /* what a caller forgot */
        assert_int_equal(call.kernels->rope(&call, &args, NULL), GRAFT_ERROR_PLUGIN);
        args.head_stride = WIDTH - 1;
        assert_int_equal(call.kernels->rope(&call, &args, NULL), GRAFT_ERROR_PLUGIN);
        args.head_stride = DIM;
        args.layout = GRAFT_ROPE_INTERLEAVED + 1;
        assert_int_equal(call.kernels->rope(&call, &args, NULL), GRAFT_ERROR_PLUGIN);
        args.layout = layout;
        args.width = 5;
        assert_int_equal(call.kernels->rope(&call, &args, NULL), GRAFT_ERROR_PLUGIN);
        numbers_free(x, 4);
        numbers_free(given, 4);
        numbers_free(cosine, 4);
        numbers_free(sine, 4);
    }
}

/* Large enough for several threads. */
static void test_activation(void **state) {
    (void)state;
    enum { TOKENS = 50, COLUMNS = 1001, COUNT = TOKENS * COLUMNS };
    float *x = numbers_floats(COUNT);
    float *y = numbers_floats(COUNT);
    float *gate = numbers_floats(TOKENS * (COLUMNS + 1));
    for (int t = 0; t < TOKENS; t++) {
        memcpy(gate + t * (COLUMNS + 1), x + t * COLUMNS, COLUMNS * sizeof *x);
    }
    assert_int_equal(call.kernels->gated_activation(&call, GRAFT_ACTIVATION_SILU, gate, COLUMNS + 1, y, COLUMNS, TOKENS,
                                                    COLUMNS, NULL),
                     GRAFT_OK);
    for (int i = 0; i < COUNT; i++) {
        float expected = x[i] / (1.0f + expf(-x[i])) * y[i];
        assert_true(numbers_close(gate[i / COLUMNS * (COLUMNS + 1) + i % COLUMNS], expected, 0.0f, 1e-6f));
    }
    for (int32_t unknown = -1; unknown <= GRAFT_ACTIVATIONS; unknown += GRAFT_ACTIVATIONS + 1) {
        struct graft_error error = graft_error_none();
        assert_int_equal(call.kernels->activation(&call, unknown, x, COUNT, y, &error), GRAFT_ERROR_PLUGIN);
        assert_non_null(strstr(error.message, "is not known to this host"));
    }
    assert_int_equal(call.kernels->activation(&call, GRAFT_ACTIVATION_RELU, x, COUNT, y, NULL), GRAFT_OK);
    for (int i = 0; i < COUNT; i++) {
        assert_true(y[i] == (x[i] < 0.0f ? 0.0f : x[i]));
    }
    assert_int_equal(call.kernels->add(&call, y, x, COUNT, NULL), GRAFT_OK);
    for (int i = 0; i < COUNT; i++) {
        assert_true(y[i] == (x[i] < 0.0f ? 0.0f : x[i]) + x[i]);
    }
    numbers_free(x, 4);
    numbers_free(y, 4);
    numbers_free(gate, 4);
}

static void test_softmax(void **state) {
    (void)state;
    float x[4][3] = {
        {1.0f, 2.0f, 3.0f}, {-INFINITY, 1000.0f, -INFINITY}, {-INFINITY, -INFINITY, -INFINITY}, {0.0f, NAN, 0.0f}};
    assert_int_equal(call.kernels->softmax(&call, &x[0][0], 4, 3, NULL), GRAFT_OK);
    assert_true(numbers_close(x[0][0], 0.09003057f, 0.0f, 1e-6f) && numbers_close(x[0][2], 0.66524096f, 0.0f, 1e-6f));
    assert_true(x[1][0] == 0.0f && x[1][1] == 1.0f && x[1][2] == 0.0f);
    assert_true(x[2][0] == 0.0f && x[2][2] == 0.0f);
    assert_true(isnan(x[3][0]) && isnan(x[3][1]));
    enum { ROWS = 9, COLUMNS = 5003 };
    float *wide = numbers_floats(ROWS * COLUMNS);
    assert_int_equal(call.kernels->softmax(&call, wide, ROWS, COLUMNS, NULL), GRAFT_OK);
    for (int i = 0; i < ROWS; i++) {
        double sum = 0.0;
        for (int j = 0; j < COLUMNS; j++) {
            sum += (double)wide[i * COLUMNS + j];
        }
        assert_true(fabs(sum - 1.0) < 1e-6);
    }
    numbers_free(wide, 4);
}

static void test_top_k(void **state) {
    (void)state;
    const float x[2][6] = {{1.0f, 3.0f, NAN, 3.0f, -INFINITY, 2.0f}, {NAN, NAN, 5.0f, -0.0f, 0.0f, NAN}};
    int32_t index[12];
    float values[12];
    assert_int_equal(call.kernels->top_k(&call, &x[0][0], 2, 6, 6, index, values, NULL), GRAFT_OK);
    const int32_t order[12] = {1, 3, 5, 0, 4, 2, 2, 3, 4, 0, 1, 5};
    for (int i = 0; i < 12; i++) {
        assert_int_equal(index[i], order[i]);
        assert_true(numbers_close(values[i], x[i / 6][order[i]], 0.0f, 0.0f));
    }
    assert_int_equal(call.kernels->top_k(&call, &x[0][0], 2, 6, 2, index, values, NULL), GRAFT_OK);
    assert_true(index[0] == 1 && index[1] == 3 && index[2] == 2 && index[3] == 3);
}

static void test_embedding_and_widen(void **state) {
    (void)state;
    enum { ROWS = 30, COLUMNS = 1003, TOKENS = 40 };
    struct two_blocks two;
    two_blocks_init(&two, ROWS, COLUMNS);
    int32_t ids[TOKENS];
    float *y = numbers_floats(TOKENS * COLUMNS);
    for (int t = 0; t < TOKENS; t++) {
        ids[t] = (t * 7) % (ROWS + 2);
    }
    assert_int_equal(call.kernels->embedding(&call, &two.weight, ids, TOKENS, y, NULL), GRAFT_OK);
    for (int i = 0; i < TOKENS * COLUMNS; i++) {
        assert_true(y[i] == two_blocks_at(&two, ids[i / COLUMNS], i % COLUMNS));
    }
    assert_int_equal(call.kernels->widen(&call, &two.weight, y, NULL), GRAFT_OK);
    for (int i = 0; i < (ROWS + 2) * COLUMNS; i++) {
        assert_true(y[i] == two_blocks_at(&two, i / COLUMNS, i % COLUMNS));
    }
    numbers_free(y, 4);
    two_blocks_finish(&two);
}

static void test_gather_and_scatter(void **state) {
    (void)state;
    enum { ROWS = 40, COLUMNS = 1003 };
    float *x = numbers_floats(ROWS * COLUMNS);
    float *y = numbers_floats(ROWS * COLUMNS);
    float *before = numbers_alloc(ROWS * COLUMNS, 4);
    float *scale = numbers_floats(ROWS);
    int32_t index[ROWS];
    for (int i = 0; i < ROWS; i++) {
        index[i] = (i * 11 + 3) % ROWS;
    }
    assert_int_equal(call.kernels->gather_rows(&call, x, index, ROWS, COLUMNS, y, NULL), GRAFT_OK);
    for (int i = 0; i < ROWS * COLUMNS; i++) {
        assert_true(y[i] == x[index[i / COLUMNS] * COLUMNS + i % COLUMNS]);
    }
    memcpy(before, y, ROWS * COLUMNS * sizeof *y);
    assert_int_equal(call.kernels->scatter_add_rows(&call, x, scale, index, ROWS, COLUMNS, y, NULL), GRAFT_OK);
    for (int i = 0; i < ROWS * COLUMNS; i++) {
        int64_t to = (int64_t)index[i / COLUMNS] * COLUMNS + i % COLUMNS;
        float product = scale[i / COLUMNS] * x[i];
        assert_true(y[to] == before[to] + product);
    }
    numbers_free(x, 4);
    numbers_free(y, 4);
    numbers_free(before, 4);
    numbers_free(scale, 4);
}

static void test_types(void **state) {
    (void)state;
    assert_true(graft_kernels_reads(GRAFT_DTYPE_BF16) && graft_kernels_reads(GRAFT_DTYPE_F16));
    assert_true(graft_kernels_reads(GRAFT_DTYPE_F32) && !graft_kernels_reads(GRAFT_DTYPE_I64));
}

static int run_all(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rms_norm),
        cmocka_unit_test(test_layer_norm),
        cmocka_unit_test(test_rope),
        cmocka_unit_test(test_activation),
        cmocka_unit_test(test_softmax),
        cmocka_unit_test(test_top_k),
        cmocka_unit_test(test_embedding_and_widen),
        cmocka_unit_test(test_gather_and_scatter),
        cmocka_unit_test(test_types),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(void) {
    scratch = graft_scratch_create();
    graft_threads_set_count(2);
    graft_call_init(&call, GRAFT_PRECISION_AUTO, scratch);
    const int failures = each_isa(run_all);
    graft_scratch_destroy(scratch);
    return failures;
}
