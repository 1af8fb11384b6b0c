/* SPDX-License-Identifier: Apache-2.0 */
/* Coded weights in the host's kernels: compares products of all kinds of codes and of plain weights in one call with
 * sums in f64 over the rows that read_rows gives, and checks the promises about bits in kernels.h. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "coded_fixture.h"
#include "graft/convert.h"
#include "kernels/cpu.h"
#include "kernels/kernels.h"
#include "kernels/threads.h"

enum { FEW = 3, MANY = 37, MOST = 16, MATRIX = 72 /* rows of a stacked matrix */ };

/* Floats between the results of tokens, which no product writes. */
static const float untouched = 1234.5F;

static struct graft_scratch *scratch;
static struct graft_call call;

/* --- Weights --- */

/* The properties of a coded weight. */
struct kind {
    int32_t code, bits, layout;
    int64_t rows, block_rows, group_size; /* 0: one group */
    int64_t by_turns;
    int32_t input_bits, zero, has_zeros, has_index; /* the zero points of strips are numbers of the scales' type */
    graft_dtype scales;
};

static const struct kind kinds[] = {
    {GRAFT_CODE_UINT, 4, GRAFT_CODED_ROWS, 152, 1, 32, 0, 0, 0, 1, 0, GRAFT_DTYPE_F16},
    {GRAFT_CODE_UINT, 4, GRAFT_CODED_ROWS, 152, 1, 32, 0, 0, 8, 0, 0, GRAFT_DTYPE_BF16},
    {GRAFT_CODE_UINT, 4, GRAFT_CODED_ROWS, 70, 1, 32, 0, 0, 3, 0, 0, GRAFT_DTYPE_F16},
    {GRAFT_CODE_UINT, 4, GRAFT_CODED_ROWS, 80, 1, 32, 0, 8, 0, 1, 0, GRAFT_DTYPE_F16},
    {GRAFT_CODE_UINT, 8, GRAFT_CODED_ROWS, 64, 1, 64, 0, 0, 0, 1, 0, GRAFT_DTYPE_F32},
    {GRAFT_CODE_UINT, 4, GRAFT_CODED_ROWS, 40, 1, 16, 0, 0, 1, 1, 1, GRAFT_DTYPE_F32},
    {GRAFT_CODE_INT, 8, GRAFT_CODED_ROWS, 200, 1, 0, 0, 0, 0, 0, 0, GRAFT_DTYPE_F32},
    {GRAFT_CODE_INT, 8, GRAFT_CODED_ROWS, 130, 4, 0, 0, 8, 0, 0, 0, GRAFT_DTYPE_BF16},
    {GRAFT_CODE_FLOAT8, 8, GRAFT_CODED_ROWS, 136, 48, 128, 0, 0, 0, 0, 0, GRAFT_DTYPE_BF16},
    {GRAFT_CODE_FLOAT4, 4, GRAFT_CODED_ROWS, 3 * MATRIX, 1, 32, MATRIX, 0, 0, 0, 0, GRAFT_DTYPE_U8},
    {GRAFT_CODE_INT, 8, GRAFT_CODED_ROWS, 2 * MATRIX, 1, 0, MATRIX, 0, 0, 0, 0, GRAFT_DTYPE_F32},
    {GRAFT_CODE_FLOAT4, 4, GRAFT_CODED_ROWS, 90, 1, 16, 0, 0, 0, 0, 0, GRAFT_DTYPE_F8_E4M3},
    {GRAFT_CODE_TABLE, 4, GRAFT_CODED_ROWS, 75, 1, 64, 0, 0, 0, 0, 0, GRAFT_DTYPE_F32},
    {GRAFT_CODE_UINT, 3, GRAFT_CODED_COLUMN_WORDS, 96, 1, 32, 0, 0, 1, 1, 1, GRAFT_DTYPE_F16},
    {GRAFT_CODE_UINT, 4, GRAFT_CODED_ROW_WORDS, 136, 1, 64, 0, 0, 0, 1, 0, GRAFT_DTYPE_F16},
    {GRAFT_CODE_UINT, 4, GRAFT_CODED_STRIPS, 136, 1, 8, 0, 0, 0, 1, 0, GRAFT_DTYPE_F16},
    {GRAFT_CODE_UINT, 3, GRAFT_CODED_STRIPS, 67, 1, 0, 0, 0, 0, 1, 0, GRAFT_DTYPE_BF16},
    {GRAFT_CODE_UINT, 2, GRAFT_CODED_STRIPS_UPWARDS, 136, 1, 0, 0, 8, 0, 1, 0, GRAFT_DTYPE_F32},
    {GRAFT_CODE_UINT, 8, GRAFT_CODED_STRIPS, 72, 1, 0, 0, 8, 0, 1, 0, GRAFT_DTYPE_F16},
};

enum { KINDS = sizeof kinds / sizeof kinds[0], PLAIN = 2, WEIGHTS = KINDS + PLAIN };

/* Weights with the same number of columns: coded ones, then one of f32 and one of bf16; and their numbers. */
static struct coded_parts parts[KINDS];
static struct coded_tensor plain[PLAIN], biases[WEIGHTS];
static struct graft_coded_weight *coded[KINDS];
static const struct graft_weight *weights[WEIGHTS];
static float *numbers[WEIGHTS];
static int64_t columns;

static int64_t divided_up(int64_t n, int64_t by) {
    return (n + by - 1) / by;
}

static void set_strips(struct coded_parts *made, int32_t bits) {
    const int64_t groups = made->codec.rows * graft_codec_groups(&made->codec), size = made->codec.group_size;
    const int64_t down = divided_up(groups, bits == 3 ? 10 : 8 / bits), bytes = bits == 3 ? 4 : 1;
    tensor_set(&made->codes, bits == 3 ? GRAFT_DTYPE_I32 : GRAFT_DTYPE_U8, down, size,
               any_numbers(down * size * bytes));
}

static int is_strips(const struct kind *kind) {
    return kind->layout == GRAFT_CODED_STRIPS || kind->layout == GRAFT_CODED_STRIPS_UPWARDS;
}

static void set_codes(struct coded_parts *made, const struct kind *kind) {
    const int64_t across = divided_up(kind->rows * kind->bits, 32), down = divided_up(columns * kind->bits, 32);
    switch (kind->layout) {
    case GRAFT_CODED_COLUMN_WORDS:
        tensor_set(&made->codes, GRAFT_DTYPE_I32, down, kind->rows, any_numbers(down * kind->rows * 4));
        return;
    case GRAFT_CODED_ROW_WORDS:
        tensor_set(&made->codes, GRAFT_DTYPE_I32, columns, across, any_numbers(across * columns * 4));
        return;
    case GRAFT_CODED_STRIPS:
    case GRAFT_CODED_STRIPS_UPWARDS:
        set_strips(made, kind->bits);
        return;
    default:
        tensor_set(&made->codes, GRAFT_DTYPE_U8, kind->rows, divided_up(columns * kind->bits, 8),
                   any_numbers(kind->rows * divided_up(columns * kind->bits, 8)));
        tensor_cut(&made->codes, kind->rows / 3);
    }
}

static void set_rest(struct coded_parts *made, const struct kind *kind) {
    const int64_t groups = graft_codec_groups(&made->codec), blocks = graft_codec_blocks(&made->codec);
    const int64_t across = divided_up(kind->rows * kind->bits, 32);
    const int is_rows = kind->layout == GRAFT_CODED_ROWS || is_strips(kind);
    tensor_set(&made->scales, kind->scales, is_rows ? blocks : groups, is_rows ? groups : blocks,
               any_scales(kind->scales, blocks * groups));
    if (is_strips(kind)) {
        tensor_set(&made->zeros, kind->scales, blocks, groups, any_scales(kind->scales, blocks * groups));
    } else if (kind->has_zeros) {
        tensor_set(&made->zeros, GRAFT_DTYPE_I32, is_rows ? across : groups, is_rows ? groups : across,
                   any_numbers(across * groups * 4));
    }
    if (kind->has_index) {
        int32_t *group_of = need((size_t)columns * sizeof *group_of);
        for (int64_t i = 0; i < columns; i++) {
            group_of[i] = (int32_t)(any_word() % (uint32_t)groups);
        }
        tensor_set(&made->groups, GRAFT_DTYPE_I32, columns, 1, group_of);
    }
    for (int i = 0; i < 16; i++) {
        made->table[i] = (float)(int32_t)any_word() / 2147483648.0F;
    }
}

/* F8_E4M3 has codes that are NaN. */
static void leave_no_nans(struct coded_parts *made) {
    unsigned char *codes = (unsigned char *)(uintptr_t)made->codes.blocks[0].data;
    for (int64_t i = 0; i < made->codec.rows * columns; i++) {
        codes[i] ^= (codes[i] & 0x7f) == 0x7f;
    }
}

static void make_coded(int i) {
    const struct kind *kind = &kinds[i];
    parts[i] = (struct coded_parts){.codec = {.struct_size = sizeof parts[i].codec,
                                              .kind = kind->code,
                                              .bits = kind->bits,
                                              .layout = kind->layout,
                                              .rows = kind->rows,
                                              .columns = columns,
                                              .block_rows = kind->block_rows,
                                              .group_size = kind->group_size > 0 ? kind->group_size : columns,
                                              .by_turns = kind->by_turns,
                                              .input_bits = kind->input_bits,
                                              .zero = kind->zero,
                                              .divisor = 1.7F}};
    if (is_strips(kind) && columns % parts[i].codec.group_size != 0) {
        parts[i].codec.group_size = columns;
    }
    set_codes(&parts[i], kind);
    set_rest(&parts[i], kind);
    if (kind->code == GRAFT_CODE_FLOAT8) {
        leave_no_nans(&parts[i]);
    }
    coded[i] = coded_create(parts_codec(&parts[i]));
    weights[i] = &coded[i]->weight;
    numbers[i] = need((size_t)(kind->rows * columns) * sizeof *numbers[i]);
    coded[i]->codec.read_rows(weights[i], 0, kind->rows, numbers[i]);
}

static void make_plain(int i) {
    const int64_t rows = 70;
    const int is_bf16 = i == 1;
    float *exact = need((size_t)(rows * columns) * sizeof *exact);
    uint16_t *halves = need((size_t)(rows * columns) * sizeof *halves);
    float *all = need((size_t)(rows * columns) * sizeof *all);
    for (int64_t k = 0; k < rows * columns; k++) {
        exact[k] = (float)(int32_t)any_word() / 2147483648.0F;
        halves[k] = graft_bf16_from_f32(exact[k]);
        all[k] = is_bf16 ? graft_f32_from_bf16(halves[k]) : exact[k];
    }
    tensor_set(&plain[i], is_bf16 ? GRAFT_DTYPE_BF16 : GRAFT_DTYPE_F32, rows, columns,
               is_bf16 ? (void *)halves : (void *)exact);
    free(is_bf16 ? (void *)exact : (void *)halves);
    weights[KINDS + i] = &plain[i].weight;
    numbers[KINDS + i] = all;
}

/* A bias of f32, of bf16, or none. */
static void make_bias(int i) {
    const int64_t rows = weights[i]->rows;
    if (i % 3 < 2) {
        const graft_dtype dtype = i % 3 == 0 ? GRAFT_DTYPE_F32 : GRAFT_DTYPE_BF16;
        tensor_set(&biases[i], dtype, rows, 1, any_scales(dtype, rows));
        tensor_cut(&biases[i], rows / 2);
    }
}

/* The index at which a row is stored. */
static int64_t stored_at(int i, int64_t row) {
    const int64_t turns = i < KINDS ? kinds[i].by_turns : 0, half = turns / 2, in_matrix = turns > 0 ? row % turns : 0;
    return turns > 0 ? row - in_matrix + in_matrix % half * 2 + in_matrix / half : row;
}

/* A bias is stored in the same order as rows. */
static float bias_at(int i, int64_t row) {
    const void *data = biases[i].blocks[0].data;
    row = stored_at(i, row);
    return data == NULL                                   ? 0.0F
           : biases[i].blocks[0].dtype == GRAFT_DTYPE_F32 ? ((const float *)data)[row]
                                                          : graft_f32_from_bf16(((const uint16_t *)data)[row]);
}

static void set_up(int64_t n) {
    columns = n;
    for (int i = 0; i < KINDS; i++) {
        make_coded(i);
    }
    for (int i = 0; i < PLAIN; i++) {
        make_plain(i);
    }
    for (int i = 0; i < WEIGHTS; i++) {
        make_bias(i);
    }
}

static void tear_down(void) {
    for (int i = 0; i < WEIGHTS; i++) {
        tensor_free(&biases[i]);
        free(numbers[i]);
    }
    for (int i = 0; i < PLAIN; i++) {
        tensor_free(&plain[i]);
    }
    for (int i = 0; i < KINDS; i++) {
        graft_coded_weight_free(coded[i]);
        parts_free(&parts[i]);
    }
}

/* --- Products --- */

/* Products of each weight with the same x. */
struct trial {
    struct graft_product products[WEIGHTS];
    float *x;
    int64_t x_stride;
};

static void trial_begin(struct trial *trial, int64_t tokens) {
    trial->x_stride = columns + 3;
    trial->x = need((size_t)(tokens * trial->x_stride) * sizeof *trial->x);
    for (int64_t i = 0; i < tokens * trial->x_stride; i++) {
        trial->x[i] = i % trial->x_stride < columns ? (float)(int32_t)any_word() / 2147483648.0F : NAN;
    }
    for (int i = 0; i < WEIGHTS; i++) {
        const int64_t first = i % 2 * 5, rows = weights[i]->rows - first - i % 4;
        trial->products[i] = (struct graft_product){.struct_size = sizeof trial->products[i],
                                                    .weight = weights[i],
                                                    .bias = biases[i].blocks[0].data != NULL ? &biases[i].weight : NULL,
                                                    .first_row = first,
                                                    .rows = rows,
                                                    .x = trial->x,
                                                    .x_stride = trial->x_stride,
                                                    .tokens = tokens,
                                                    .y = need((size_t)(tokens * (rows + 2)) * sizeof(float)),
                                                    .y_stride = rows + 2};
        for (int64_t k = 0; k < tokens * (rows + 2); k++) {
            trial->products[i].y[k] = untouched;
        }
    }
}

static void trial_end(struct trial *trial) {
    for (int i = 0; i < WEIGHTS; i++) {
        free(trial->products[i].y);
    }
    free(trial->x);
}

static void run(const struct graft_product *products, int32_t n) {
    struct graft_error error = graft_error_none();
    const int64_t mark = call.scratch_mark(scratch);
    if (call.kernels->linear(&call, products, n, sizeof *products, &error) != GRAFT_OK) {
        fail_msg("%s", error.message);
    }
    assert_int_equal(call.scratch_mark(scratch), mark);
}

/* The allowed error of a sum of w x, where `terms` is the sum of |w x| and `weights` that of |w|. The f32 sum itself
 * differs by less than 1e-5 of its terms. With --dtype float32 that is all. Otherwise x is rounded to bf16, by at most
 * 2^-9 of itself, or to 16 bits of the largest number with the same step, by 2^-16 of twice that (steps are powers of
 * two); for many tokens w is rounded to bf16 as well. Where 8 bits are allowed, x differs by half of a 127th of the
 * largest number. */
static double tolerance(int i, int64_t tokens, double terms, double weights_size) {
    const int is_few = tokens <= GRAFT_SMALL_BATCH, is_coded = i < KINDS;
    const double sum = 1e-5 * (terms + 1e-3);
    if (call.precision == GRAFT_PRECISION_FLOAT32) {
        return sum;
    }
    const double step = is_coded && kinds[i].input_bits == 8 && !is_few ? 1.0 / 254.0 : ldexp(1.0, -15);
    return sum + ldexp(terms, is_few && is_coded ? -9 : -8) * 1.01 + step * weights_size;
}

static void check_values(const struct graft_product *product, int i) {
    for (int64_t t = 0; t < product->tokens; t++) {
        const float *x = product->x + t * product->x_stride, *y = product->y + t * product->y_stride;
        for (int64_t r = 0; r < product->rows; r++) {
            const float *w = numbers[i] + (product->first_row + r) * columns;
            const double bias = (double)(product->bias != NULL ? bias_at(i, product->first_row + r) : 0.0F);
            double sum = bias, terms = fabs(bias), size = 0.0;
            for (int64_t k = 0; k < columns; k++) {
                sum += (double)w[k] * (double)x[k];
                terms += fabs((double)w[k] * (double)x[k]);
                size += fabs((double)w[k]);
            }
            if (!(fabs((double)y[r] - sum) <= tolerance(i, product->tokens, terms, size))) {
                fail_msg("weight %d, precision %d, %lld tokens, [%lld, %lld]: %g instead of %g, terms of %g", i,
                         (int)call.precision, (long long)product->tokens, (long long)t, (long long)r, (double)y[r], sum,
                         terms);
            }
        }
        for (int64_t r = product->rows; r < product->y_stride; r++) {
            assert_true(y[r] == untouched);
        }
    }
}

/* Tokens [first, first + n) have the same bits in a product alone. */
static void check_alone(const struct graft_product *product, int i, int64_t first, int64_t n) {
    struct graft_product alone = *product;
    alone.tokens = n;
    alone.x += first * alone.x_stride;
    alone.y = need((size_t)(n * alone.y_stride) * sizeof(float));
    run(&alone, 1);
    for (int64_t t = 0; t < n; t++) {
        const float *expected = product->y + (first + t) * product->y_stride, *found = alone.y + t * alone.y_stride;
        for (int64_t r = 0; r < product->rows; r++) {
            if (memcmp(&found[r], &expected[r], sizeof found[r]) != 0) {
                fail_msg("weight %d, precision %d, %lld tokens, [%lld, %lld]: %.9g alone, else %.9g", i,
                         (int)call.precision, (long long)product->tokens, (long long)(first + t), (long long)r,
                         (double)found[r], (double)expected[r]);
            }
        }
    }
    free(alone.y);
}

/* A part of the rows has the same bits. */
static void check_part(const struct graft_product *product, int i) {
    struct graft_product part = *product;
    const int64_t skipped = product->rows / 3;
    part.first_row += skipped;
    part.rows = product->rows / 2;
    part.y = need((size_t)(part.tokens * part.y_stride) * sizeof(float));
    run(&part, 1);
    for (int64_t t = 0; t < part.tokens; t++) {
        if (memcmp(part.y + t * part.y_stride, product->y + t * product->y_stride + skipped,
                   (size_t)part.rows * sizeof(float)) != 0) {
            fail_msg("weight %d, precision %d, %lld tokens, token %lld: other bits of some rows", i,
                     (int)call.precision, (long long)product->tokens, (long long)t);
        }
    }
    free(part.y);
}

/* As many tokens with weights of f32: equals the host's product of an f32 weight, to the bit. */
static void check_exact(const struct graft_product *product, int i) {
    struct coded_tensor same, bias;
    struct graft_product other = *product;
    float *in_order = need((size_t)weights[i]->rows * sizeof *in_order);
    for (int64_t r = 0; r < weights[i]->rows; r++) {
        in_order[r] = bias_at(i, r);
    }
    tensor_set(&same, GRAFT_DTYPE_F32, weights[i]->rows, columns, numbers[i]);
    tensor_set(&bias, GRAFT_DTYPE_F32, weights[i]->rows, 1, in_order);
    other.weight = &same.weight;
    other.bias = product->bias != NULL ? &bias.weight : NULL;
    other.y = need((size_t)(other.tokens * other.y_stride) * sizeof(float));
    run(&other, 1);
    for (int64_t t = 0; t < other.tokens; t++) {
        if (memcmp(other.y + t * other.y_stride, product->y + t * product->y_stride,
                   (size_t)other.rows * sizeof(float)) != 0) {
            fail_msg("weight %d, %lld tokens, token %lld: other bits than of f32", i, (long long)product->tokens,
                     (long long)t);
        }
    }
    free(other.y);
    tensor_free(&bias);
}

/* Runs all products in one call, and each of them with other tokens and with none. */
static void check_together(int32_t precision, int64_t tokens) {
    struct trial trial;
    const int is_few = tokens <= GRAFT_SMALL_BATCH;
    graft_call_init(&call, precision, scratch);
    graft_threads_set_count(3);
    trial_begin(&trial, tokens);
    run(trial.products, WEIGHTS);
    graft_threads_set_count(1);
    for (int i = 0; i < WEIGHTS; i++) {
        check_values(&trial.products[i], i);
        check_alone(&trial.products[i], i, 0, tokens);
        check_alone(&trial.products[i], i, 1, is_few ? 1 : GRAFT_SMALL_BATCH + 1);
        check_part(&trial.products[i], i);
        if (!is_few && precision == GRAFT_PRECISION_FLOAT32) {
            check_exact(&trial.products[i], i);
        }
        call.among = is_few ? 0 : tokens;
        check_alone(&trial.products[i], i, 2, 1);
        call.among = 0;
    }
    trial_end(&trial);
}

static void check_all(int64_t n) {
    set_up(n);
    for (int32_t precision = GRAFT_PRECISION_AUTO; precision <= GRAFT_PRECISION_BFLOAT16; precision++) {
        check_together(precision, FEW);
        check_together(precision, MANY);
    }
    tear_down();
}

static void test_together(void **state) {
    (void)state;
    check_all(512);
    check_all(288);
    check_all(104);
    check_all(77);
}

/* Products of few tokens and of many in one call. */
static void test_few_among_many(void **state) {
    struct trial trial;
    (void)state;
    set_up(288);
    for (int32_t precision = GRAFT_PRECISION_AUTO; precision <= GRAFT_PRECISION_FLOAT32; precision++) {
        graft_call_init(&call, precision, scratch);
        trial_begin(&trial, MANY);
        for (int i = 0; i < WEIGHTS; i++) {
            trial.products[i].tokens = i % 3 == 1 ? FEW : MANY;
        }
        run(trial.products, WEIGHTS);
        for (int i = 0; i < WEIGHTS; i++) {
            check_values(&trial.products[i], i);
            check_alone(&trial.products[i], i, 0, trial.products[i].tokens);
        }
        trial_end(&trial);
    }
    tear_down();
}

/* Products without rows and without tokens. */
static void test_nothing(void **state) {
    struct trial trial;
    (void)state;
    set_up(64);
    graft_call_init(&call, GRAFT_PRECISION_AUTO, scratch);
    trial_begin(&trial, 1);
    for (int i = 0; i < WEIGHTS; i++) {
        trial.products[i].tokens = i % 2;
        trial.products[i].rows = i % 2 == 0 ? trial.products[i].rows : 0;
    }
    run(trial.products, WEIGHTS);
    run(trial.products, 1);
    for (int i = 0; i < WEIGHTS; i++) {
        assert_true(trial.products[i].y[0] == untouched);
    }
    trial_end(&trial);
    tear_down();
}

static void test_faults(void **state) {
    struct trial trial;
    struct graft_error error = graft_error_none();
    (void)state;
    set_up(64);
    graft_call_init(&call, GRAFT_PRECISION_AUTO, scratch);
    trial_begin(&trial, 2);
    const int64_t mark = call.scratch_mark(scratch);
    trial.products[1].first_row = 6;
    trial.products[1].rows = weights[1]->rows;
    assert_int_equal(call.kernels->linear(&call, trial.products, 3, sizeof trial.products[0], &error),
                     GRAFT_ERROR_INTERNAL);
    assert_non_null(strstr(error.message, "a product of rows 6 to 158 of a weight of 152 rows"));
    trial.products[1].rows = 1;
    trial.products[2].required_features = 1;
    assert_int_equal(call.kernels->linear(&call, trial.products, 3, sizeof trial.products[0], NULL),
                     GRAFT_ERROR_PLUGIN);
    trial.products[2].required_features = 0;
    trial.products[0].bias = &biases[3].weight;
    assert_int_equal(call.kernels->linear(&call, trial.products, 3, sizeof trial.products[0], NULL),
                     GRAFT_ERROR_INTERNAL);
    assert_int_equal(call.scratch_mark(scratch), mark);
    for (int i = 0; i < 3; i++) {
        assert_true(trial.products[i].y[0] == untouched);
    }
    trial_end(&trial);
    tear_down();
}

/* Reads rows in stored order, some by index and all of them; also if gate and up rows alternate. */
static void test_rows(void **state) {
    static const int32_t ids[] = {5, 0, 71, 36, 5};
    enum { IDS = sizeof ids / sizeof ids[0] };
    (void)state;
    set_up(104);
    graft_call_init(&call, GRAFT_PRECISION_AUTO, scratch);
    for (int i = 0; i < KINDS; i++) {
        const int64_t rows = weights[i]->rows;
        float *some = need((size_t)(IDS * columns) * sizeof *some), *all = need((size_t)(rows * columns) * sizeof *all);
        int32_t in_range[IDS];
        for (int k = 0; k < IDS; k++) {
            in_range[k] = ids[k] % (int32_t)rows;
        }
        assert_int_equal(call.kernels->embedding(&call, weights[i], in_range, IDS, some, NULL), GRAFT_OK);
        assert_int_equal(call.kernels->widen(&call, weights[i], all, NULL), GRAFT_OK);
        assert_memory_equal(all, numbers[i], (size_t)(rows * columns) * sizeof *all);
        for (int k = 0; k < IDS; k++) {
            assert_memory_equal(some + k * columns, numbers[i] + in_range[k] * columns, (size_t)columns * sizeof *some);
        }
        free(some);
        free(all);
    }
    tear_down();
}

/* With by_turns the rows are those of the same codes without it, in another order. */
static void test_turns(void **state) {
    (void)state;
    set_up(64);
    for (int i = 0; i < KINDS; i++) {
        if (kinds[i].by_turns == 0) {
            continue;
        }
        parts[i].codec.by_turns = 0;
        struct graft_coded_weight *stored = coded_create(parts_codec(&parts[i]));
        float *rows = need((size_t)(kinds[i].rows * columns) * sizeof *rows);
        stored->codec.read_rows(&stored->weight, 0, kinds[i].rows, rows);
        for (int64_t r = 0; r < kinds[i].rows; r++) {
            assert_memory_equal(numbers[i] + r * columns, rows + stored_at(i, r) * columns,
                                (size_t)columns * sizeof *rows);
        }
        free(rows);
        graft_coded_weight_free(stored);
    }
    tear_down();
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_together), cmocka_unit_test(test_few_among_many),
                                       cmocka_unit_test(test_nothing),  cmocka_unit_test(test_faults),
                                       cmocka_unit_test(test_rows),     cmocka_unit_test(test_turns)};
    /* The names of the host's own loops, and of those for codes. */
    static const struct {
        int isa;
        const char *name;
    } builds[] = {
        {GRAFT_ISA_SCALAR, "scalar"},   {GRAFT_ISA_AVX2, "avx2"},          {GRAFT_ISA_AVX2, "avx2_vnni"},
        {GRAFT_ISA_AVX512, "avx512"},   {GRAFT_ISA_AVX512, "avx512_vnni"}, {GRAFT_ISA_AVX512_BF16, "avx512_bf16"},
        {GRAFT_ISA_AMX, "avx512_bf16"},
    };
    int failures = 0;
    scratch = graft_scratch_create();
    for (size_t i = 0; i < sizeof builds / sizeof builds[0] && builds[i].isa <= graft_cpu_best_isa(); i++) {
        graft_cpu_set_isa(builds[i].isa);
        (void)setenv("GRAFT_ISA", builds[i].name, 1);
        print_message("%s, %s\n", graft_cpu_isa_name(graft_cpu_isa()), graft_coded_loops_of(GRAFT_CODE_UINT, 4)->name);
        failures += cmocka_run_group_tests(tests, NULL, NULL);
    }
    graft_scratch_destroy(scratch);
    return failures;
}
