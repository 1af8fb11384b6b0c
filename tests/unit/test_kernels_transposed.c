/* SPDX-License-Identifier: Apache-2.0 */
/* graft_linear_transposed has the bits of `linear` with the rows that a source would produce, in every layout. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "each_isa.h"
#include "kernels/cpu.h"
#include "kernels/kernels.h"
#include "kernels/table.h"
#include "kernels/threads.h"
#include "kernels/transposed.h"
#include "numbers.h"

static struct graft_scratch *scratch;
static struct graft_call call;

/* A weight of one block, and the portions that a product asks for. */
struct source {
    struct graft_weight weight;
    struct graft_row_block block;
};

static struct source *source_create(graft_dtype dtype, int64_t rows, int64_t columns) {
    struct source *source = calloc(1, sizeof *source);
    source->block = (struct graft_row_block){sizeof source->block, dtype, numbers_stored(dtype, rows * columns), rows};
    source->weight.struct_size = sizeof source->weight;
    source->weight.rows = rows;
    source->weight.columns = columns;
    source->weight.blocks = &source->block;
    source->weight.n_blocks = 1;
    source->weight.block_stride = sizeof source->block;
    return source;
}

static void source_destroy(struct source *source) {
    numbers_free(source->block.data, source->block.dtype == GRAFT_DTYPE_F32 ? 4 : 2);
    free(source);
}

static uint32_t half_at(const struct source *source, int64_t row, int64_t column) {
    return ((const uint16_t *)source->block.data)[row * source->weight.columns + column];
}

/* Number `line` of row `row`, as the layout has it. */
static uint32_t word_at(const struct source *source, int32_t layout, int64_t row, int64_t line) {
    uint32_t word;
    switch (layout) {
    case GRAFT_TRANSPOSED_F32:
        memcpy(&word, (const float *)source->block.data + row * source->weight.columns + line, sizeof word);
        return word;
    case GRAFT_TRANSPOSED_BF16:
        return half_at(source, row, line) << 16;
    default:
        return half_at(source, row, 2 * line) | half_at(source, row, 2 * line + 1) << 16;
    }
}

static void write_portion(const void *weight, const struct graft_transposed_portion *portion) {
    const struct source *source = weight;
    const int64_t share = portion->layout == GRAFT_TRANSPOSED_PAIRS ? 2 : 1, lines = portion->columns / share;
    uint32_t *out = portion->out;
    assert_true(portion->row % GRAFT_TRANSPOSED_ROWS == 0 && portion->rows % GRAFT_TRANSPOSED_ROWS == 0);
    assert_true(portion->column % GRAFT_TRANSPOSED_COLUMNS == 0 && portion->columns % GRAFT_TRANSPOSED_COLUMNS == 0);
    assert_int_equal((uintptr_t)portion->out % 64, 0);
    assert_int_equal(portion->layout == GRAFT_TRANSPOSED_F32, source->block.dtype == GRAFT_DTYPE_F32);
    for (int64_t r = 0; r < portion->rows; r++) {
        for (int64_t l = 0; l < lines; l++) {
            out[(r / portion->width * lines + l) * portion->width + r % portion->width] =
                word_at(source, portion->layout, portion->row + r, portion->column / share + l);
        }
    }
}

/* A slice of a weight with strides and a bias, on one thread and on two. */
static void check(int32_t precision, int64_t tokens, int64_t rows, int64_t columns) {
    const int64_t first = GRAFT_TRANSPOSED_ROWS;
    struct source *weight =
        source_create(precision == GRAFT_PRECISION_FLOAT32 ? GRAFT_DTYPE_F32 : GRAFT_DTYPE_BF16, first + rows, columns);
    struct source *bias = source_create(GRAFT_DTYPE_F32, first + rows, 1);
    struct graft_weight bare = weight->weight;
    struct graft_product product = {.struct_size = sizeof product, .weight = &weight->weight, .bias = &bias->weight};
    const struct graft_transposed_source source = {sizeof source, 7, weight, write_portion};
    float *x = numbers_floats(tokens * (columns + 3)), *expected = numbers_alloc(tokens * (rows + 2), 4);
    float *found = numbers_alloc(tokens * (rows + 2), 4);
    memset(expected, 0, (size_t)(tokens * (rows + 2)) * sizeof *expected);
    product.first_row = first;
    product.rows = rows;
    product.x = x;
    product.x_stride = columns + 3;
    product.tokens = tokens;
    product.y = expected;
    product.y_stride = rows + 2;
    graft_call_init(&call, precision, scratch);
    assert_int_equal(call.kernels->linear(&call, &product, 1, sizeof product, NULL), GRAFT_OK);
    bare.blocks = NULL;
    bare.n_blocks = 0;
    product.weight = &bare;
    product.y = found;
    for (int32_t threads = 1; threads <= 2; threads++) {
        const int64_t mark = call.scratch_mark(scratch);
        int32_t done = -1;
        memset(found, 0, (size_t)(tokens * (rows + 2)) * sizeof *found);
        graft_threads_set_count(threads);
        assert_int_equal(graft_linear_transposed(&call, &product, &source, &done, NULL), GRAFT_OK);
        assert_int_equal(done,
                         graft_cpu_isa() != GRAFT_ISA_AMX || precision == GRAFT_PRECISION_FLOAT32 || columns % 32 == 0);
        assert_int_equal(call.scratch_mark(scratch), mark);
        if (done) {
            assert_memory_equal(found, expected, (size_t)(tokens * (rows + 2)) * sizeof *found);
        }
    }
    source_destroy(weight);
    source_destroy(bias);
    numbers_free(x, 4);
    numbers_free(expected, 4);
    numbers_free(found, 4);
}

static void test_bits(void **state) {
    static const int64_t tokens[] = {17, 40, 300}, columns[] = {8, 520, 2056, 32, 544, 2080};
    (void)state;
    for (int32_t precision = GRAFT_PRECISION_AUTO; precision <= GRAFT_PRECISION_BFLOAT16; precision++) {
        for (int i = 0; i < 6; i++) {
            check(precision, tokens[i % 3], GRAFT_TRANSPOSED_ROWS, columns[i]);
            check(precision, tokens[i % 3], 3 * GRAFT_TRANSPOSED_ROWS, columns[i]);
        }
        check(precision, 34, 2 * GRAFT_TRANSPOSED_ROWS, 4104);
        /* More tokens, rows and columns than tiles take at once; others have no such blocks of rows. */
        check(precision, 530, (graft_cpu_isa() == GRAFT_ISA_AMX ? 17 : 2) * GRAFT_TRANSPOSED_ROWS, 1056);
    }
}

static void test_faults(void **state) {
    struct source *weight = source_create(GRAFT_DTYPE_BF16, 2 * GRAFT_TRANSPOSED_ROWS, 24);
    struct graft_product product = {.struct_size = sizeof product, .weight = &weight->weight, .rows = 65, .tokens = 17};
    const struct graft_transposed_source source = {sizeof source, 7, weight, write_portion};
    struct graft_error error = graft_error_none();
    int32_t done = 0;
    (void)state;
    graft_call_init(&call, GRAFT_PRECISION_FLOAT32, scratch);
    assert_int_equal(graft_linear_transposed(&call, &product, &source, &done, &error), GRAFT_ERROR_PLUGIN);
    assert_non_null(strstr(error.message, "rows 0 to 65 with 24 transposed columns: expected multiples of 64 and 8"));
    product.rows = GRAFT_TRANSPOSED_ROWS;
    product.first_row = 2 * GRAFT_TRANSPOSED_ROWS;
    assert_int_equal(graft_linear_transposed(&call, &product, &source, &done, NULL), GRAFT_ERROR_INTERNAL);
    product.first_row = 0;
    weight->weight.columns = 20;
    assert_int_equal(graft_linear_transposed(&call, &product, &source, &done, NULL), GRAFT_ERROR_PLUGIN);
    source_destroy(weight);
}

static int run_all(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_bits), cmocka_unit_test(test_faults)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(void) {
    scratch = graft_scratch_create();
    const int failures = each_isa_and_model(run_all);
    graft_scratch_destroy(scratch);
    return failures;
}
