/* SPDX-License-Identifier: Apache-2.0 */
/* Weights of 8 bits (load_in_8bit, LLM.int8): integers, and the largest number of each row, which is 127 of them.
 * Activations are not rounded to integers by it, so none has to be kept apart as an outlier. */
#include <stdlib.h>

#include "linear.h"

enum { LARGEST = 127 };

static int describe_tensors(const struct graft_sink *sink, const struct graft_packed_rows *rows,
                            struct graft_error *error) {
    const int64_t one = 1;
    int status = graft_packed_rows_codes(sink, "weight", rows->out_features, rows->in_features, GRAFT_DTYPE_I8, error);
    if (status == GRAFT_OK) {
        status = graft_describe_joined(sink, "SCB", 1, &rows->out_features, GRAFT_DTYPE_F32, 0, graft_join_rows(0, 1),
                                       error);
    }
    return status == GRAFT_OK ? graft_describe_joined(sink, "weight_format", 1, &one, GRAFT_DTYPE_U8,
                                                      GRAFT_PARAMETER_SCALAR, graft_join_whole(GRAFT_JOIN_EQUAL), error)
                              : status;
}

static int describe(const struct graft_class *cls, const struct graft_config *config, const struct graft_args *args,
                    const struct graft_sink *sink, struct graft_error *error) {
    struct graft_packed_rows *rows = sink->keep(sink->data, sizeof *rows, error);
    (void)cls;
    (void)config;
    int status = rows != NULL ? graft_packed_rows_sizes(args, sink->path, rows, error) : GRAFT_ERROR_INTERNAL;
    if (status != GRAFT_OK) {
        return status;
    }
    rows->row_bytes = rows->in_features;
    rows->group_size = rows->in_features;
    rows->block_rows = 1;
    rows->groups = 1;
    rows->bits = 8;
    status = describe_tensors(sink, rows, error);
    return status == GRAFT_OK ? graft_packed_rows_describe(sink, rows, args, error) : status;
}

/* Rows may lie as they are, and in no order that some processor likes better, as older versions stored them. */
static int check_format(const struct graft_build *build, const struct graft_weight *format, struct graft_error *error) {
    for (int32_t i = 0; i < format->n_blocks; i++) {
        const struct graft_row_block *block = graft_weight_block(format, i);
        for (int64_t k = 0; k < block->rows; k++) {
            const int number = ((const uint8_t *)block->data)[k];
            if (number != 0) {
                return graft_error_set(error, GRAFT_ERROR_MODEL, build->path,
                                       "weight_format: expected 0, rows as they are, got %d", number);
            }
        }
    }
    return GRAFT_OK;
}

static int make(const struct graft_build *build, const struct graft_packed_rows *rows, struct bnb_linear **self,
                struct graft_error *error) {
    struct bnb_linear *made = bnb_linear_new(rows, 1);
    int status = made != NULL ? bnb_linear_compute(made, build->path, error) : graft_fail_memory(error, build->path);
    if (status != GRAFT_OK && made != NULL) {
        bnb_linear_destroy(made);
    }
    *self = status == GRAFT_OK ? made : NULL;
    return status;
}

static int create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                  struct graft_error *error) {
    struct graft_packed_rows rows;
    struct bnb_linear *self = NULL;
    (void)cls;
    memcpy(&rows, build->kept, sizeof rows);
    int status = graft_packed_rows_bind(build, "weight", "SCB", &rows, error);
    const struct graft_weight *format = graft_build_weight(build, "weight_format", &status, error);
    if (status == GRAFT_OK) {
        status = check_format(build, format, error);
    }
    if (status == GRAFT_OK) {
        status = make(build, &rows, &self, error);
    }
    if (status != GRAFT_OK) {
        return status;
    }
    self->rows.codes = rows.codes;
    self->rows.loops = graft_packed_rows_choose(graft_packed_rows_int8);
    float *scale = self->computed;
    for (int32_t i = 0; i < rows.scales->n_blocks; i++) {
        const struct graft_row_block *block = graft_weight_block(rows.scales, i);
        for (int64_t r = 0; r < block->rows; r++) {
            *scale++ = ((const float *)block->data)[r] / (float)LARGEST;
        }
    }
    *instance = self;
    return GRAFT_OK;
}

const struct graft_class bnb_linear8bit_class = {
    .struct_size = sizeof bnb_linear8bit_class,
    .name = "Linear8bitLt",
    .interface_id = GRAFT_INTERFACE_LINEAR,
    .describe = describe,
    .create = create,
    .destroy = bnb_linear_destroy,
    .forward = &bnb_linear_vtable,
};
