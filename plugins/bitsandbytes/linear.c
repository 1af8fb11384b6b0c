/* SPDX-License-Identifier: Apache-2.0 */
#include "linear.h"

#include <stdlib.h>

struct bnb_linear *bnb_linear_new(const struct graft_packed_rows *rows, int32_t n_blocks) {
    struct bnb_linear *self = calloc(1, sizeof *self);
    if (self == NULL || (self->blocks = calloc((size_t)n_blocks, sizeof *self->blocks)) == NULL) {
        free(self);
        return NULL;
    }
    self->rows = *rows;
    self->rows.codes = &self->codes;
    self->rows.scales = &self->scales;
    return self;
}

void bnb_linear_lay(const struct graft_weight *column, int64_t columns, struct graft_row_block *blocks,
                    struct graft_weight *rows) {
    *rows = (struct graft_weight){
        .struct_size = sizeof *rows,
        .rank = 2,
        .shape = {column->rows / columns, columns, 1, 1, 1, 1, 1, 1},
        .rows = column->rows / columns,
        .columns = columns,
        .blocks = blocks,
        .n_blocks = column->n_blocks,
        .block_stride = sizeof *blocks,
    };
    for (int32_t i = 0; i < column->n_blocks; i++) {
        const struct graft_row_block *block = graft_weight_block(column, i);
        blocks[i] = (struct graft_row_block){sizeof *blocks, block->dtype, block->data, block->rows / columns};
    }
}

int bnb_linear_compute(struct bnb_linear *self, const char *path, struct graft_error *error) {
    const int64_t n = self->rows.out_features * self->rows.groups;
    self->computed = malloc((size_t)n * sizeof *self->computed);
    if (self->computed == NULL) {
        return graft_fail_memory(error, path);
    }
    struct graft_row_block *block = self->blocks + self->codes.n_blocks;
    *block = (struct graft_row_block){sizeof *block, GRAFT_DTYPE_F32, self->computed, n};
    const struct graft_weight column = {.rows = n, .blocks = block, .n_blocks = 1, .block_stride = sizeof *block};
    bnb_linear_lay(&column, self->rows.groups, block, &self->scales);
    return GRAFT_OK;
}

void bnb_linear_destroy(void *instance) {
    struct bnb_linear *self = instance;
    free(self->blocks);
    free(self->computed);
    free(self);
}

static int forward(void *instance, const struct graft_call *call, const struct graft_linear_args *args,
                   struct graft_error *error) {
    const struct bnb_linear *self = instance;
    return graft_packed_rows_forward(&self->rows, call, args, error);
}

static int as_loop(void *instance, const struct graft_call *call, const struct graft_linear_args *args,
                   struct graft_loop *loop, struct graft_error *error) {
    const struct bnb_linear *self = instance;
    return graft_packed_rows_as_loop(&self->rows, call, args, loop, error);
}

static void read_rows(void *instance, int64_t first, int64_t n, float *weight, float *bias) {
    const struct bnb_linear *self = instance;
    graft_packed_rows_read(&self->rows, first, n, weight, bias);
}

const struct graft_linear bnb_linear_vtable = {
    .struct_size = sizeof bnb_linear_vtable, .forward = forward, .as_loop = as_loop, .read_rows = read_rows};
