/* SPDX-License-Identifier: Apache-2.0 */
/* gated_linear has the bits of the separate products and the activation. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "each_isa.h"
#include "kernels/kernels.h"
#include "kernels/threads.h"
#include "numbers.h"

enum { MLPS = 2 };

static struct graft_scratch *scratch;
static struct graft_call call;

struct shape {
    int64_t tokens;
    int64_t hidden;
    int64_t intermediate;
    int64_t first_block; /* rows of gate and up that are apart from the others in memory; 0: none */
    graft_dtype dtype;
    int has_bias;
};

struct weight {
    struct graft_weight weight;
    struct graft_row_block blocks[2];
};

static void weight_init(struct weight *weight, graft_dtype dtype, int64_t rows, int64_t columns, int64_t first) {
    memset(weight, 0, sizeof *weight);
    weight->blocks[0] = (struct graft_row_block){sizeof weight->blocks[0], dtype, NULL, first > 0 ? first : rows};
    weight->blocks[1] = (struct graft_row_block){sizeof weight->blocks[0], dtype, NULL, rows - first};
    weight->weight.struct_size = sizeof weight->weight;
    weight->weight.rows = rows;
    weight->weight.columns = columns;
    weight->weight.blocks = weight->blocks;
    weight->weight.n_blocks = first > 0 ? 2 : 1;
    weight->weight.block_stride = sizeof weight->blocks[0];
    for (int32_t i = 0; i < weight->weight.n_blocks; i++) {
        weight->blocks[i].data = numbers_stored(dtype, weight->blocks[i].rows * columns);
    }
}

static void weight_free(struct weight *weight) {
    for (int32_t i = 0; i < weight->weight.n_blocks; i++) {
        numbers_free(weight->blocks[i].data, weight->blocks[i].dtype == GRAFT_DTYPE_F32 ? 4 : 2);
    }
}

/* An MLP: its weights, and buffers for intermediate and final results. */
struct mlp {
    struct weight gate, up, down, bias;
    float *x, *inner, *up_y, *y;
    struct graft_product products[3];
};

static struct graft_product product_of(const struct weight *weight, const float *x, int64_t x_stride, int64_t tokens,
                                       float *y, int64_t y_stride) {
    return (struct graft_product){.struct_size = sizeof(struct graft_product),
                                  .weight = &weight->weight,
                                  .rows = weight->weight.rows,
                                  .x = x,
                                  .x_stride = x_stride,
                                  .tokens = tokens,
                                  .y = y,
                                  .y_stride = y_stride};
}

static void mlp_init(struct mlp *mlp, const struct shape *shape) {
    const int64_t wide = shape->intermediate + 3, narrow = shape->hidden + 5;
    weight_init(&mlp->gate, shape->dtype, shape->intermediate, shape->hidden, shape->first_block);
    weight_init(&mlp->up, shape->dtype, shape->intermediate, shape->hidden, 0);
    weight_init(&mlp->down, shape->dtype, shape->hidden, shape->intermediate, 0);
    weight_init(&mlp->bias, GRAFT_DTYPE_F32, shape->intermediate, 1, 0);
    mlp->x = numbers_floats(shape->tokens * narrow);
    mlp->inner = numbers_floats(shape->tokens * wide);
    mlp->up_y = numbers_floats(shape->tokens * wide);
    mlp->y = numbers_floats(shape->tokens * narrow);
    mlp->products[0] = product_of(&mlp->gate, mlp->x, narrow, shape->tokens, mlp->inner, wide);
    mlp->products[1] = product_of(&mlp->up, mlp->x, narrow, shape->tokens, mlp->up_y, wide);
    mlp->products[2] = product_of(&mlp->down, mlp->inner, wide, shape->tokens, mlp->y, narrow);
    mlp->products[0].bias = shape->has_bias ? &mlp->bias.weight : NULL;
}

static void mlp_free(struct mlp *mlp) {
    weight_free(&mlp->gate);
    weight_free(&mlp->up);
    weight_free(&mlp->down);
    weight_free(&mlp->bias);
    numbers_free(mlp->x, 4);
    numbers_free(mlp->inner, 4);
    numbers_free(mlp->up_y, 4);
    numbers_free(mlp->y, 4);
}

static void run_apart(const struct mlp *mlp, int32_t activation) {
    const struct graft_product *gate = &mlp->products[0];
    assert_int_equal(call.kernels->linear(&call, gate, 2, sizeof *gate, NULL), GRAFT_OK);
    assert_int_equal(call.kernels->gated_activation(&call, activation, gate->y, gate->y_stride, mlp->up_y,
                                                    gate->y_stride, gate->tokens, gate->rows, NULL),
                     GRAFT_OK);
    assert_int_equal(call.kernels->linear(&call, &mlp->products[2], 1, sizeof *gate, NULL), GRAFT_OK);
}

/* Two MLPs in one call, on one thread and on two. */
static void check(const struct shape *shape, int32_t precision, int32_t activation) {
    const int64_t numbers = shape->tokens * (shape->hidden + 5);
    struct mlp mlps[MLPS];
    struct graft_gated_products all[MLPS];
    float *wanted[MLPS];
    graft_call_init(&call, precision, scratch);
    for (int i = 0; i < MLPS; i++) {
        mlp_init(&mlps[i], shape);
        wanted[i] = numbers_alloc(numbers, 4);
        run_apart(&mlps[i], activation);
        memcpy(wanted[i], mlps[i].y, (size_t)numbers * sizeof(float));
        all[i] = (struct graft_gated_products){sizeof all[i], activation, &mlps[i].products[0], &mlps[i].products[1],
                                               &mlps[i].products[2]};
    }
    for (int32_t threads = 1; threads <= 2; threads++) {
        const int64_t mark = call.scratch_mark(scratch);
        graft_threads_set_count(threads);
        for (int i = 0; i < MLPS; i++) {
            for (int64_t t = 0; t < shape->tokens; t++) {
                memset(mlps[i].y + t * (shape->hidden + 5), 0xff, (size_t)shape->hidden * sizeof(float));
            }
        }
        assert_int_equal(call.kernels->gated_linear(&call, all, MLPS, sizeof all[0], NULL), GRAFT_OK);
        assert_int_equal(call.scratch_mark(scratch), mark);
        for (int i = 0; i < MLPS; i++) {
            assert_memory_equal(mlps[i].y, wanted[i], (size_t)numbers * sizeof(float));
        }
    }
    for (int i = 0; i < MLPS; i++) {
        mlp_free(&mlps[i]);
        numbers_free(wanted[i], 4);
    }
}

static void test_bits(void **state) {
    /* More tokens and rows than tiles take at once; others have no such blocks of rows. */
    const int64_t many_rows = graft_cpu_isa() == GRAFT_ISA_AMX ? 1100 : 140;
    const struct shape shapes[] = {
        {40, 64, 96, 0, GRAFT_DTYPE_BF16, 0},         {17, 33, 70, 0, GRAFT_DTYPE_BF16, 0},
        {530, 40, many_rows, 0, GRAFT_DTYPE_BF16, 0}, {40, 64, 1056, 32, GRAFT_DTYPE_BF16, 0},
        {40, 64, 96, 17, GRAFT_DTYPE_BF16, 0},        {40, 64, 96, 0, GRAFT_DTYPE_BF16, 1},
        {3, 64, 96, 32, GRAFT_DTYPE_BF16, 0},         {40, 64, 96, 0, GRAFT_DTYPE_F32, 0},
        {100, 1030, 300, 256, GRAFT_DTYPE_F16, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        for (int32_t precision = GRAFT_PRECISION_AUTO; precision <= GRAFT_PRECISION_BFLOAT16; precision++) {
            check(&shapes[i], precision, i % 2 == 0 ? GRAFT_ACTIVATION_SILU : GRAFT_ACTIVATION_GELU_TANH);
        }
    }
}

static void test_faults(void **state) {
    const struct shape shape = {20, 32, 64, 0, GRAFT_DTYPE_BF16, 0};
    struct graft_error error = graft_error_none();
    struct mlp mlp;
    (void)state;
    mlp_init(&mlp, &shape);
    struct graft_gated_products products = {sizeof products, 99, &mlp.products[0], &mlp.products[1], &mlp.products[2]};
    graft_call_init(&call, GRAFT_PRECISION_AUTO, scratch);
    assert_int_equal(call.kernels->gated_linear(&call, &products, 1, sizeof products, &error), GRAFT_ERROR_PLUGIN);
    assert_non_null(strstr(error.message, "activation 99 is not known"));
    error = graft_error_none();
    products.activation = GRAFT_ACTIVATION_SILU;
    mlp.products[2].x = mlp.up_y;
    assert_int_equal(call.kernels->gated_linear(&call, &products, 1, sizeof products, &error), GRAFT_ERROR_INTERNAL);
    assert_non_null(strstr(error.message, "do not follow each other: gate of 64 rows, up of 64, down of 64 columns"));
    mlp.products[2].x = mlp.inner;
    mlp.products[1].rows = 63;
    assert_int_equal(call.kernels->gated_linear(&call, &products, 1, sizeof products, NULL), GRAFT_ERROR_INTERNAL);
    mlp.products[1].rows = 64;
    mlp.products[0].first_row = 1;
    assert_int_equal(call.kernels->gated_linear(&call, &products, 1, sizeof products, NULL), GRAFT_ERROR_INTERNAL);
    mlp_free(&mlp);
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
