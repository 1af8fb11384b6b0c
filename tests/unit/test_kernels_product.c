/* SPDX-License-Identifier: Apache-2.0 */
/* linear: compared with sums in double, and the promises about bits that the program's comparisons depend on. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/dtype.h"
#include "each_isa.h"
#include "kernels/kernels.h"
#include "kernels/threads.h"
#include "numbers.h"

enum { MAX_BLOCKS = 4 };

/* A weight [sum of rows, columns] with a block for each entry of `rows`. */
struct matrix {
    struct graft_weight weight;
    struct graft_row_block blocks[MAX_BLOCKS];
};

static struct graft_scratch *scratch;
static struct graft_call call;

static struct matrix *matrix_create(const graft_dtype *dtypes, const int64_t *rows, int32_t n, int64_t columns) {
    struct matrix *matrix = calloc(1, sizeof *matrix);
    for (int32_t i = 0; i < n; i++) {
        const void *data = numbers_stored(dtypes[i], rows[i] * columns);
        matrix->blocks[i] = (struct graft_row_block){sizeof matrix->blocks[i], dtypes[i], data, rows[i]};
        matrix->weight.rows += rows[i];
    }
    matrix->weight.struct_size = sizeof matrix->weight;
    matrix->weight.columns = columns;
    matrix->weight.blocks = matrix->blocks;
    matrix->weight.n_blocks = n;
    matrix->weight.block_stride = sizeof matrix->blocks[0];
    return matrix;
}

static struct matrix *matrix_of(graft_dtype dtype, int64_t rows, int64_t columns) {
    return matrix_create(&dtype, &rows, 1, columns);
}

static void matrix_destroy(struct matrix *matrix) {
    for (int32_t i = 0; i < matrix->weight.n_blocks; i++) {
        numbers_free(matrix->blocks[i].data, graft_dtype_size(matrix->blocks[i].dtype));
    }
    free(matrix);
}

/* The block alone, as a weight. */
static struct graft_weight block_alone(const struct matrix *matrix, int32_t i) {
    struct graft_weight weight = matrix->weight;
    weight.blocks = &matrix->blocks[i];
    weight.n_blocks = 1;
    weight.rows = matrix->blocks[i].rows;
    return weight;
}

/* The block that contains a row, and the row's index in it. */
static const struct graft_row_block *block_of(const struct graft_weight *weight, int64_t *row) {
    const struct graft_row_block *block = weight->blocks;
    for (; *row >= block->rows; block++) {
        *row -= block->rows;
    }
    return block;
}

static float rounded(float value) {
    return graft_f32_from_bf16(graft_bf16_from_f32(value));
}

static float expected_at(const struct graft_product *product, int32_t precision, int64_t t, int64_t r) {
    int64_t columns = product->weight->columns;
    int64_t row = product->first_row + r;
    const struct graft_row_block *block = block_of(product->weight, &row);
    int both = precision == GRAFT_PRECISION_BFLOAT16 ||
               (precision == GRAFT_PRECISION_AUTO && block->dtype == GRAFT_DTYPE_BF16);
    double sum = 0.0;
    for (int64_t k = 0; k < columns; k++) {
        float w = numbers_at(block->dtype, block->data, row * columns + k);
        float x = product->x[t * product->x_stride + k];
        sum += both ? (double)rounded(w) * (double)rounded(x) : (double)w * (double)x;
    }
    if (product->bias != NULL) {
        row = product->first_row + r;
        block = block_of(product->bias, &row);
        sum += (double)numbers_at(block->dtype, block->data, row);
    }
    return (float)sum;
}

static void run(const struct graft_product *products, int32_t n) {
    struct graft_error error = graft_error_none();
    int64_t mark = call.scratch_mark(scratch);
    if (call.kernels->linear(&call, products, n, sizeof(struct graft_product), &error) != GRAFT_OK) {
        fail_msg("%s", error.message);
    }
    assert_int_equal(call.scratch_mark(scratch), mark);
}

static struct graft_product product_of(const struct graft_weight *weight, const float *x, int64_t tokens, float *y) {
    return graft_product_of(weight, NULL, 0, weight->rows, tokens, x, y);
}

static void check_values(const struct graft_product *product) {
    for (int64_t t = 0; t < product->tokens; t++) {
        for (int64_t r = 0; r < product->rows; r++) {
            float found = product->y[t * product->y_stride + r];
            float expected = expected_at(product, call.precision, t, r);
            if (!numbers_close(found, expected, 3e-5f, 1e-5f)) {
                fail_msg("%lld tokens, %lld columns, [%lld, %lld]: %g instead of %g", (long long)product->tokens,
                         (long long)product->weight->columns, (long long)t, (long long)r, (double)found,
                         (double)expected);
            }
        }
    }
}

/* Blocks of every type, a bias in two blocks, strides, a slice; nothing outside of y is written. */
static void check_shape(int64_t columns, int64_t tokens, int64_t rows, int64_t first_row) {
    const graft_dtype dtypes[] = {GRAFT_DTYPE_BF16, GRAFT_DTYPE_F32, GRAFT_DTYPE_F16};
    const graft_dtype bias_dtypes[] = {GRAFT_DTYPE_F16, GRAFT_DTYPE_BF16};
    const int64_t block_rows[] = {rows, 5, 71};
    const int64_t bias_rows[] = {rows + 2, 74};
    struct matrix *weight = matrix_create(dtypes, block_rows, 3, columns);
    struct matrix *bias = matrix_create(bias_dtypes, bias_rows, 2, 1);
    int64_t wanted = weight->weight.rows - first_row;
    float *x = numbers_floats(tokens * (columns + 3));
    float *y = numbers_floats(tokens * (wanted + 2));
    float *before = numbers_alloc(tokens * (wanted + 2), 4);
    memcpy(before, y, (size_t)(tokens * (wanted + 2)) * sizeof *y);
    struct graft_product product = product_of(&weight->weight, x, tokens, y);
    product.bias = &bias->weight;
    product.first_row = first_row;
    product.rows = wanted;
    product.x_stride = columns + 3;
    product.y_stride = wanted + 2;
    run(&product, 1);
    check_values(&product);
    for (int64_t t = 0; t < tokens; t++) {
        assert_memory_equal(y + t * (wanted + 2) + wanted, before + t * (wanted + 2) + wanted, 2 * sizeof *y);
    }
    matrix_destroy(weight);
    matrix_destroy(bias);
    numbers_free(x, 4);
    numbers_free(y, 4);
    numbers_free(before, 4);
}

static void test_values(void **state) {
    (void)state;
    static const int64_t columns[] = {1, 3, 17, 48, 1000};
    static const int64_t tokens[] = {0, 1, 2, 3, 7, 12, 13, 17, 40};
    for (int32_t precision = GRAFT_PRECISION_AUTO; precision <= GRAFT_PRECISION_BFLOAT16; precision++) {
        graft_call_init(&call, precision, scratch);
        for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++) {
            for (size_t j = 0; j < sizeof tokens / sizeof tokens[0]; j++) {
                check_shape(columns[i], tokens[j], 1, 0);
                check_shape(columns[i], tokens[j], 67, 66);
            }
        }
        check_shape(48, 300, 60, 7);
        check_shape(48, 530, 60, 7); /* more than are handled at once */
        check_shape(17, 512, 1, 0);
        check_shape(0, 3, 2, 0);
    }
    graft_call_init(&call, GRAFT_PRECISION_AUTO, scratch);
}

static void check_equal(const float *a, int64_t a_stride, const float *b, int64_t b_stride, int64_t tokens,
                        int64_t rows) {
    for (int64_t t = 0; t < tokens; t++) {
        assert_memory_equal(a + t * a_stride, b + t * b_stride, (size_t)rows * sizeof *a);
    }
}

/* One product over several blocks, slices of it, and a product for each block have the same bits. */
static void check_blocks(graft_dtype dtype, int64_t tokens, int64_t columns) {
    const graft_dtype dtypes[] = {dtype, dtype, dtype};
    const int64_t rows[] = {96, 33, 130};
    struct matrix *matrix = matrix_create(dtypes, rows, 3, columns);
    int64_t all = matrix->weight.rows;
    float *x = numbers_floats(tokens * columns);
    float *whole = numbers_floats(tokens * all);
    float *part = numbers_floats(tokens * all);
    struct graft_product product = product_of(&matrix->weight, x, tokens, whole);
    run(&product, 1);
    int64_t first = 0;
    for (int32_t i = 0; i < 3; i++) {
        struct graft_weight alone = block_alone(matrix, i);
        struct graft_product one = product_of(&alone, x, tokens, part);
        run(&one, 1);
        check_equal(part, rows[i], whole + first, all, tokens, rows[i]);
        one = product_of(&matrix->weight, x, tokens, part);
        one.first_row = first;
        one.rows = rows[i];
        run(&one, 1);
        check_equal(part, all, whole + first, all, tokens, rows[i]);
        first += rows[i];
    }
    matrix_destroy(matrix);
    numbers_free(x, 4);
    numbers_free(whole, 4);
    numbers_free(part, 4);
}

static const graft_dtype types[] = {GRAFT_DTYPE_F32, GRAFT_DTYPE_F16, GRAFT_DTYPE_BF16};
static const int64_t token_counts[] = {1, 3, 12, 13, 34, 300};
enum { TOKEN_COUNTS = sizeof token_counts / sizeof token_counts[0] };

static void test_blocks(void **state) {
    (void)state;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < TOKEN_COUNTS; j++) {
            check_blocks(types[i], token_counts[j], 48);
            check_blocks(types[i], token_counts[j], 1030);
        }
    }
}

/* Three products in one call, with strides, have the bits of each alone, without strides. */
static void check_company(graft_dtype dtype, int64_t tokens) {
    enum { COLUMNS = 260, ROWS = 70, STRIDE = 3 * ROWS + 1 };
    struct matrix *matrices[3];
    struct graft_product products[3];
    float *x = numbers_floats(tokens * COLUMNS);
    float *spread = numbers_floats(tokens * (COLUMNS + 9));
    float *together = numbers_floats(tokens * STRIDE);
    float *alone = numbers_floats(tokens * ROWS);
    for (int64_t t = 0; t < tokens; t++) {
        memcpy(spread + t * (COLUMNS + 9), x + t * COLUMNS, COLUMNS * sizeof *x);
    }
    for (int i = 0; i < 3; i++) {
        matrices[i] = matrix_of(i == 1 ? GRAFT_DTYPE_BF16 : dtype, ROWS, COLUMNS);
        products[i] = product_of(&matrices[i]->weight, spread, tokens, together + i * ROWS);
        products[i].x_stride = COLUMNS + 9;
        products[i].y_stride = STRIDE;
    }
    run(products, 3);
    for (int i = 0; i < 3; i++) {
        struct graft_product one = product_of(&matrices[i]->weight, x, tokens, alone);
        run(&one, 1);
        check_equal(alone, ROWS, together + i * ROWS, STRIDE, tokens, ROWS);
    }
    for (int i = 0; i < 3; i++) {
        matrix_destroy(matrices[i]);
    }
    numbers_free(x, 4);
    numbers_free(spread, 4);
    numbers_free(together, 4);
    numbers_free(alone, 4);
}

static void test_company(void **state) {
    (void)state;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < TOKEN_COUNTS; j++) {
            check_company(types[i], token_counts[j]);
        }
    }
}

static void check_threads(graft_dtype dtype, int64_t tokens, int64_t rows, int64_t columns) {
    struct matrix *matrix = matrix_of(dtype, rows, columns);
    float *x = numbers_floats(tokens * columns);
    float *one = numbers_floats(tokens * rows);
    float *several = numbers_floats(tokens * rows);
    struct graft_product product = product_of(&matrix->weight, x, tokens, one);
    graft_threads_set_count(1);
    run(&product, 1);
    product.y = several;
    for (int32_t threads = 2; threads <= 3; threads++) {
        graft_threads_set_count(threads);
        run(&product, 1);
        assert_memory_equal(one, several, (size_t)(tokens * rows) * sizeof *one);
    }
    graft_threads_set_count(2);
    matrix_destroy(matrix);
    numbers_free(x, 4);
    numbers_free(one, 4);
    numbers_free(several, 4);
}

static void test_threads(void **state) {
    (void)state;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < TOKEN_COUNTS; j++) {
            check_threads(types[i], token_counts[j], 200, 530);
            check_threads(types[i], token_counts[j], 60, 1030); /* one panel: run without a parallel region */
        }
    }
}

/* Each of a few tokens has the bits that it has among many, if the whole forward has many. */
static void check_among(graft_dtype dtype, int64_t rows, int64_t columns) {
    enum { TOKENS = 50 };
    static const int64_t counts[] = {1, 2, 3, 4, 5, 7, 8, 13, 16, 17, 40};
    struct matrix *matrix = matrix_of(dtype, rows, columns);
    float *x = numbers_floats(TOKENS * columns);
    float *many = numbers_floats(TOKENS * rows);
    float *some = numbers_floats(TOKENS * rows);
    struct graft_product product = product_of(&matrix->weight, x, TOKENS, many);
    run(&product, 1);
    call.among = TOKENS;
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        product = product_of(&matrix->weight, x + 7 * columns, counts[i], some);
        run(&product, 1);
        check_equal(some, rows, many + 7 * rows, rows, counts[i], rows);
    }
    call.among = 0;
    matrix_destroy(matrix);
    numbers_free(x, 4);
    numbers_free(many, 4);
    numbers_free(some, 4);
}

static void test_among(void **state) {
    (void)state;
    for (int i = 0; i < 3; i++) {
        check_among(types[i], 70, 48);
        check_among(types[i], 9, 2100);
    }
}

static void test_not_finite(void **state) {
    (void)state;
    const int64_t counts[] = {1, 40};
    for (int i = 0; i < 2; i++) {
        struct matrix *matrix = matrix_of(GRAFT_DTYPE_BF16, 40, 100);
        float *x = numbers_floats(counts[i] * 100);
        float *y = numbers_floats(counts[i] * 40);
        x[99] = INFINITY;
        x[(counts[i] - 1) * 100] = NAN;
        struct graft_product product = product_of(&matrix->weight, x, counts[i], y);
        run(&product, 1);
        assert_true(isnan(y[(counts[i] - 1) * 40 + 3]));
        assert_false(isfinite(y[0]));
        for (int64_t t = 1; t < counts[i] - 1; t++) {
            assert_true(isfinite(y[t * 40]));
        }
        matrix_destroy(matrix);
        numbers_free(x, 4);
        numbers_free(y, 4);
    }
}

/* The biases of a stack of weights are a matrix of any shape. */
static void test_bias_shape(void **state) {
    (void)state;
    const graft_dtype dtypes[] = {GRAFT_DTYPE_F32, GRAFT_DTYPE_BF16};
    const int64_t flat_rows[] = {8, 4}, rows[] = {2, 1};
    float x[4] = {1.0f, 2.0f, -1.0f, 0.5f}, y[2][12];
    struct matrix *matrix = matrix_of(GRAFT_DTYPE_F32, 12, 4);
    struct matrix *flat = matrix_create(dtypes, flat_rows, 2, 1);
    struct graft_weight bias = flat->weight; /* the same numbers as [3, 4] */
    struct graft_row_block blocks[2];
    for (int i = 0; i < 2; i++) {
        blocks[i] = flat->blocks[i];
        blocks[i].rows = rows[i];
    }
    bias.rows = 3;
    bias.columns = 4;
    bias.blocks = blocks;
    bias.block_stride = sizeof blocks[0];
    for (int64_t first = 0; first < 12; first++) {
        struct graft_product product = product_of(&matrix->weight, x, 1, y[0]);
        product.first_row = first;
        product.rows = 12 - first;
        product.bias = &flat->weight;
        run(&product, 1);
        product.y = y[1];
        product.bias = &bias;
        run(&product, 1);
        assert_memory_equal(y[0], y[1], (size_t)product.rows * sizeof(float));
    }
    matrix_destroy(matrix);
    matrix_destroy(flat);
}

static void test_faults(void **state) {
    (void)state;
    struct matrix *matrix = matrix_of(GRAFT_DTYPE_F32, 10, 4);
    struct matrix *bias = matrix_of(GRAFT_DTYPE_F32, 9, 1);
    float x[4] = {0};
    float y[10];
    struct graft_product product = product_of(&matrix->weight, x, 1, y);
    struct graft_error error = graft_error_none();
    product.first_row = 1;
    assert_int_equal(call.kernels->linear(&call, &product, 1, sizeof(struct graft_product), &error),
                     GRAFT_ERROR_INTERNAL);
    assert_non_null(strstr(error.message, "rows 1 to 11 of a weight of 10 rows"));
    product.first_row = 0;
    product.bias = &bias->weight;
    assert_int_equal(call.kernels->linear(&call, &product, 1, sizeof(struct graft_product), NULL),
                     GRAFT_ERROR_INTERNAL);
    product.bias = NULL;
    error = graft_error_none();
    matrix->blocks[0].dtype = GRAFT_DTYPE_F8_E4M3;
    assert_int_equal(call.kernels->linear(&call, &product, 1, sizeof(struct graft_product), &error), GRAFT_ERROR_MODEL);
    assert_non_null(strstr(error.message, "F8_E4M3"));
    matrix->blocks[0].dtype = GRAFT_DTYPE_F32;
    assert_int_equal(call.kernels->linear(&call, NULL, 0, sizeof(struct graft_product), NULL), GRAFT_OK);
    matrix_destroy(matrix);
    matrix_destroy(bias);
}

static void test_without_memory(void **state) {
    (void)state;
    struct matrix *matrix = matrix_of(GRAFT_DTYPE_BF16, 3000, 1000);
    float *x = numbers_floats(300 * 1000);
    float *y = numbers_floats(300 * 3000);
    struct graft_product product = product_of(&matrix->weight, x, 300, y);
    int status = GRAFT_ERROR_INTERNAL;
    for (long n = 1; status != GRAFT_OK; n++) {
        struct graft_scratch *fresh = graft_scratch_create();
        struct graft_call poor;
        graft_call_init(&poor, GRAFT_PRECISION_AUTO, fresh);
        graft_alloc_fail_at(n);
        status = poor.kernels->linear(&poor, &product, 1, sizeof(struct graft_product), NULL);
        graft_alloc_fail_at(0);
        assert_true(n < 50 && (status == GRAFT_OK || status == GRAFT_ERROR_INTERNAL));
        graft_scratch_destroy(fresh);
    }
    matrix_destroy(matrix);
    numbers_free(x, 4);
    numbers_free(y, 4);
}

static int run_all(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),  cmocka_unit_test(test_blocks),         cmocka_unit_test(test_company),
        cmocka_unit_test(test_threads), cmocka_unit_test(test_not_finite),     cmocka_unit_test(test_bias_shape),
        cmocka_unit_test(test_faults),  cmocka_unit_test(test_without_memory), cmocka_unit_test(test_among),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(void) {
    scratch = graft_scratch_create();
    graft_call_init(&call, GRAFT_PRECISION_AUTO, scratch);
    const int failures = each_isa_and_model(run_all);
    graft_scratch_destroy(scratch);
    return failures;
}
