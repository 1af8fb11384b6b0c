/* SPDX-License-Identifier: Apache-2.0 */
/* What kv_b_proj is as a matrix. Linears need not have one that is stored (int8, adapters): it is what becomes of the
 * unit vectors. */
#include <stdlib.h>
#include <string.h>

#include "deepseek.h"
#include "graft/describe.h"

/* A matrix in memory of its own. */
struct matrix {
    struct graft_weight weight;
    struct graft_row_block block;
    void *data; /* [rows, columns] */
};

struct owned {
    struct deepseek_absorbed absorbed; /* first: what callers have */
    struct matrix key;
    struct matrix value;
};

static uint32_t bits_of(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* The type that loses nothing: weights that were bf16 stay so, and half as large. */
static graft_dtype dtype_of(const float *numbers, int64_t count) {
    for (int64_t i = 0; i < count; i++) {
        if ((bits_of(numbers[i]) & 0xffff) != 0) {
            return GRAFT_DTYPE_F32;
        }
    }
    return GRAFT_DTYPE_BF16;
}

static int matrix_init(struct matrix *matrix, graft_dtype dtype, int64_t rows, int64_t columns) {
    size_t size = dtype == GRAFT_DTYPE_BF16 ? sizeof(uint16_t) : sizeof(float);
    matrix->data = calloc((size_t)(rows * columns), size);
    matrix->block = (struct graft_row_block){sizeof matrix->block, dtype, matrix->data, rows};
    matrix->weight = (struct graft_weight){
        .struct_size = sizeof matrix->weight,
        .rank = 2,
        .shape = {rows, columns, 1, 1, 1, 1, 1, 1},
        .rows = rows,
        .columns = columns,
        .blocks = &matrix->block,
        .n_blocks = 1,
        .block_stride = sizeof matrix->block,
    };
    return matrix->data != NULL;
}

static void matrix_set(struct matrix *matrix, int64_t row, int64_t column, float number) {
    int64_t at = row * matrix->weight.columns + column;
    if (matrix->block.dtype == GRAFT_DTYPE_BF16) {
        ((uint16_t *)matrix->data)[at] = (uint16_t)(bits_of(number) >> 16);
    } else {
        ((float *)matrix->data)[at] = number;
    }
}

/* transposed [kv_lora, heads, nope + v]: row k is what kv_b_proj makes of unit vector k. */
static void take_apart(const struct deepseek_sizes *sizes, const float *transposed, struct owned *owned) {
    int64_t width = sizes->nope + sizes->v;
    for (int64_t k = 0; k < sizes->kv_lora; k++) {
        for (int64_t h = 0; h < sizes->heads; h++) {
            const float *head = transposed + (k * sizes->heads + h) * width;
            for (int64_t i = 0; i < sizes->nope; i++) {
                matrix_set(&owned->key, h * sizes->kv_lora + k, i, head[i]);
            }
            for (int64_t i = 0; i < sizes->v; i++) {
                matrix_set(&owned->value, h * sizes->v + i, k, head[sizes->nope + i]);
            }
        }
    }
}

/* What becomes of the unit vectors, in exact arithmetic: [kv_lora, columns]. */
static float *transpose(const struct graft_module *linear, const struct graft_call *call, int64_t kv_lora,
                        int64_t columns, struct graft_error *error) {
    float *units = graft_scratch_floats(call, kv_lora, kv_lora, error);
    float *transposed = graft_scratch_floats(call, kv_lora, columns, error);
    const struct graft_linear_args args = {sizeof args, 0, kv_lora, units, transposed};
    struct graft_call exact;
    if (units == NULL || transposed == NULL) {
        return NULL;
    }
    memset(units, 0, (size_t)(kv_lora * kv_lora) * sizeof *units);
    for (int64_t k = 0; k < kv_lora; k++) {
        units[k * kv_lora + k] = 1.0f;
    }
    graft_struct_copy(&exact, sizeof exact, call);
    exact.precision = GRAFT_PRECISION_FLOAT32;
    return graft_linear_forward(linear, &exact, &args, error) == GRAFT_OK ? transposed : NULL;
}

struct deepseek_absorbed *deepseek_absorbed_make(const struct deepseek_sizes *sizes,
                                                 const struct graft_module *kv_b_proj, const struct graft_call *call,
                                                 struct graft_error *error) {
    int64_t columns = sizes->heads * (sizes->nope + sizes->v);
    int64_t mark = call->scratch_mark(call->scratch);
    const float *transposed = transpose(kv_b_proj, call, sizes->kv_lora, columns, error);
    struct owned *owned = transposed != NULL ? calloc(1, sizeof *owned) : NULL;
    if (owned != NULL) {
        graft_dtype dtype = dtype_of(transposed, sizes->kv_lora * columns);
        int made = matrix_init(&owned->key, dtype, sizes->heads * sizes->kv_lora, sizes->nope) &&
                   matrix_init(&owned->value, dtype, sizes->heads * sizes->v, sizes->kv_lora);
        owned->absorbed = (struct deepseek_absorbed){&owned->key.weight, &owned->value.weight};
        if (made) {
            take_apart(sizes, transposed, owned);
        } else {
            deepseek_absorbed_free(&owned->absorbed);
            owned = NULL;
        }
    }
    if (transposed != NULL && owned == NULL) {
        (void)graft_fail_memory(error, "");
    }
    call->scratch_release(call->scratch, mark);
    return owned != NULL ? &owned->absorbed : NULL;
}

void deepseek_absorbed_free(struct deepseek_absorbed *absorbed) {
    struct owned *owned = (struct owned *)absorbed;
    if (owned != NULL) {
        free(owned->key.data);
        free(owned->value.data);
        free(owned);
    }
}
