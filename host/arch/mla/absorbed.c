/* SPDX-License-Identifier: Apache-2.0 */
/* Gets the matrix of kv_b_proj, and splits it by heads. If its class has no plain matrix (codes, adapters), the module
 * is run on the unit vectors, which gives the columns. */

#include "arch/mla/mla.h"
#include "graft/convert.h"

/* A matrix in memory of its own. */
struct matrix {
    struct graft_weight weight;
    struct graft_row_block block;
    void *data; /* [rows, columns] */
};

struct owned {
    struct graft_mla_absorbed absorbed; /* first, since callers hold a pointer to it */
    struct matrix key;
    struct matrix value;
};

/* The smallest type that represents the numbers exactly: bf16 if they were bf16, else f32. */
static graft_dtype dtype_of(const float *numbers, int64_t count) {
    for (int64_t i = 0; i < count; i++) {
        if ((graft_bits_from_f32(numbers[i]) & 0xffff) != 0) {
            return GRAFT_DTYPE_F32;
        }
    }
    return GRAFT_DTYPE_BF16;
}

static int matrix_init(const struct graft_host *host, struct matrix *matrix, graft_dtype dtype, int64_t rows,
                       int64_t columns) {
    int64_t size = dtype == GRAFT_DTYPE_BF16 ? (int64_t)sizeof(uint16_t) : (int64_t)sizeof(float);
    matrix->data = host->alloc(rows * columns * size);
    matrix->block = (struct graft_row_block){sizeof matrix->block, dtype, matrix->data, rows};
    matrix->weight = graft_weight_of(&matrix->block, columns);
    return matrix->data != NULL;
}

static void matrix_set(struct matrix *matrix, int64_t row, int64_t column, float number) {
    int64_t at = row * matrix->weight.columns + column;
    if (matrix->block.dtype == GRAFT_DTYPE_BF16) {
        ((uint16_t *)matrix->data)[at] = graft_bf16_from_f32(number);
    } else {
        ((float *)matrix->data)[at] = number;
    }
}

/* Arguments for copying the matrix to `owned`, head by head. */
struct parts {
    const struct graft_mla_sizes *sizes;
    const float *matrix; /* [heads, nope + v, rank] */
    struct owned *owned;
};

static void take_apart(void *data, int64_t begin, int64_t end) {
    const struct parts *parts = data;
    const struct graft_mla_sizes *sizes = parts->sizes;
    for (int64_t h = begin; h < end; h++) {
        const float *head = parts->matrix + h * (sizes->nope + sizes->value) * sizes->rank;
        for (int64_t k = 0; k < sizes->rank; k++) {
            for (int64_t i = 0; i < sizes->nope; i++) {
                matrix_set(&parts->owned->key, h * sizes->rank + k, i, head[i * sizes->rank + k]);
            }
        }
        for (int64_t i = 0; i < sizes->value; i++) {
            for (int64_t k = 0; k < sizes->rank; k++) {
                matrix_set(&parts->owned->value, h * sizes->value + i, k, head[(sizes->nope + i) * sizes->rank + k]);
            }
        }
    }
}

/* matrix [rows, columns] = the outputs for the unit vectors, in exact arithmetic. */
static int run_units(const struct graft_module *linear, const struct graft_call *call, int64_t rows, int64_t columns,
                     float *matrix, struct graft_error *error) {
    struct graft_call exact;
    graft_struct_copy(&exact, sizeof exact, call);
    exact.precision = GRAFT_PRECISION_FLOAT32;
    const struct graft_pass pass = {&exact, columns, error};
    float *units = graft_scratch_zeroed(call, columns * columns * (int64_t)sizeof *units, error);
    for (int64_t k = 0; units != NULL && k < columns; k++) {
        units[k * columns + k] = 1.0f;
    }
    const float *transposed = graft_pass_product(&pass, linear, units, rows);
    for (int64_t i = 0; error->code == GRAFT_OK && i < rows * columns; i++) {
        matrix[i] = transposed[i % columns * rows + i / columns];
    }
    return error->code;
}

static int read_matrix(const struct graft_module *linear, const struct graft_call *call, int64_t rows, int64_t columns,
                       float *matrix, struct graft_error *error) {
    const struct graft_linear_args args = {sizeof args, 0, 0, NULL, NULL};
    struct graft_product product;
    int is_stored = graft_linear_as_product(linear, &args, &product) && product.required_features == 0 &&
                    product.bias == NULL && product.first_row == 0 && product.rows == rows &&
                    product.weight->rows == rows && product.weight->columns == columns;
    return is_stored ? call->kernels->widen(call, product.weight, matrix, error)
                     : run_units(linear, call, rows, columns, matrix, error);
}

static struct owned *make(const struct graft_mla *self, const float *matrix, const struct graft_call *call,
                          struct graft_error *error) {
    const struct graft_mla_sizes *sizes = &self->sizes;
    const struct graft_host *host = self->base.host;
    graft_dtype dtype = dtype_of(matrix, sizes->heads * (sizes->nope + sizes->value) * sizes->rank);
    struct owned *owned = host->alloc((int64_t)sizeof *owned);
    struct parts parts = {sizes, matrix, owned};
    if (owned == NULL || !matrix_init(host, &owned->key, dtype, sizes->heads * sizes->rank, sizes->nope) ||
        !matrix_init(host, &owned->value, dtype, sizes->heads * sizes->value, sizes->rank)) {
        graft_mla_absorbed_free(host, owned != NULL ? &owned->absorbed : NULL);
        (void)graft_fail_memory(error, self->base.path);
        return NULL;
    }
    owned->absorbed = (struct graft_mla_absorbed){&owned->key.weight, &owned->value.weight};
    call->threads->parallel_for(sizes->heads, 1, take_apart, &parts);
    return owned;
}

struct graft_mla_absorbed *graft_mla_absorbed_make(const struct graft_mla *self, const struct graft_call *call,
                                                   struct graft_error *error) {
    const struct graft_mla_sizes *sizes = &self->sizes;
    int64_t rows = sizes->heads * (sizes->nope + sizes->value);
    int64_t mark = call->scratch_mark(call->scratch);
    float *matrix = graft_scratch_floats(call, rows, sizes->rank, error);
    int status =
        matrix != NULL ? read_matrix(self->kv_b_proj, call, rows, sizes->rank, matrix, error) : GRAFT_ERROR_INTERNAL;
    struct owned *owned = status == GRAFT_OK ? make(self, matrix, call, error) : NULL;
    call->scratch_release(call->scratch, mark);
    return owned != NULL ? &owned->absorbed : NULL;
}

void graft_mla_absorbed_free(const struct graft_host *host, struct graft_mla_absorbed *absorbed) {
    struct owned *owned = (struct owned *)absorbed;
    if (owned != NULL) {
        host->free(owned->key.data);
        host->free(owned->value.data);
        host->free(owned);
    }
}
