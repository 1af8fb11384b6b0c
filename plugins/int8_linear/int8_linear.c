/* SPDX-License-Identifier: Apache-2.0 */
#include "int8_linear.h"

#include <stdlib.h>

#include "graft/describe.h"
#include "graft/kernels.h"
#include "product.h"
#include "quantize.h"

struct int8_linear {
    const struct int8_loops *loops;
    const struct graft_packed_rows_loops *rows_loops;
    const struct graft_weight *qweight; /* [out_features, in_features] I8, one block */
    const struct graft_weight *scales;  /* [out_features], or [out_features, groups], F32, one block */
    const struct graft_weight *bias;    /* [out_features], or NULL */
};

static int describe(const struct graft_class *self, const struct graft_config *config, const struct graft_args *args,
                    const struct graft_sink *sink, struct graft_error *error) {
    int64_t shape[2] = {graft_args_int(args, "out_features", 0), graft_args_int(args, "in_features", 0)};
    int64_t scales[2] = {shape[0], int8_groups(shape[1])};
    (void)self;
    (void)config;
    int status = sink->attribute(sink->data, "in_features", &shape[1], 1, error);
    if (status == GRAFT_OK) {
        status = sink->attribute(sink->data, "out_features", &shape[0], 1, error);
    }
    if (status == GRAFT_OK) {
        status = graft_describe_typed(sink, "qweight", 2, shape, GRAFT_DTYPE_I8, error);
    }
    if (status == GRAFT_OK) {
        status = graft_describe_typed(sink, "scales", scales[1] > 1 ? 2 : 1, scales, GRAFT_DTYPE_F32, error);
    }
    if (status == GRAFT_OK && graft_args_int(args, "bias", 1) != 0) {
        status = graft_describe_parameter(sink, "bias", 1, shape, 0, GRAFT_INIT_NONE, error);
    }
    return status;
}

static int create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                  struct graft_error *error) {
    int status = GRAFT_OK;
    struct int8_linear *self = calloc(1, sizeof *self);
    (void)cls;
    if (self == NULL) {
        return graft_fail_memory(error, build->path);
    }
    self->loops = int8_loops_get();
    self->rows_loops = int8_rows_loops();
    self->qweight = graft_build_weight(build, "qweight", &status, error);
    self->scales = graft_build_weight(build, "scales", &status, error);
    self->bias = build->weight(build->data, "bias");
    if (status != GRAFT_OK) {
        free(self);
        return status;
    }
    *instance = self;
    return GRAFT_OK;
}

static int forward(void *instance, const struct graft_call *call, const struct graft_linear_args *args,
                   struct graft_error *error) {
    const struct int8_linear *self = instance;
    struct int8_product product = {
        .loops = self->loops,
        .rows_loops = self->rows_loops,
        .weights = graft_weight_block(self->qweight, 0)->data,
        .scales = graft_weight_block(self->scales, 0)->data,
        .rows = self->qweight->rows,
        .columns = self->qweight->columns,
        .groups = int8_groups(self->qweight->columns),
        .x = args->x,
        .tokens = args->tokens,
        .y = args->y,
    };
    if (self->bias != NULL) {
        float *bias = graft_scratch_floats(call, product.rows, 1, error); /* its type is the checkpoint's */
        if (bias == NULL) {
            return GRAFT_ERROR_INTERNAL;
        }
        int status = call->kernels->widen(call, self->bias, bias, error);
        if (status != GRAFT_OK) {
            return status;
        }
        product.bias = bias;
    }
    if (graft_call_is_few(call, args->tokens)) {
        int8_product_few(&product, call);
        return GRAFT_OK;
    }
    return int8_product_many(&product, call, error);
}

static const struct graft_linear vtable = {.struct_size = sizeof vtable, .forward = forward};

static const char *const sources[] = {"weight"};
static const char *const targets[] = {"qweight", "scales"};

static const struct graft_operation quantize[] = {
    {.struct_size = sizeof quantize[0], .kind = GRAFT_OP_CUSTOM, .custom = &int8_quantize_rows},
};

static const struct graft_conversion conversions[] = {
    {
        .struct_size = sizeof conversions[0],
        .n_sources = 1,
        .sources = sources,
        .n_targets = 2,
        .targets = targets,
        .n_operations = 1,
        .operations = quantize,
        .operation_stride = sizeof quantize[0],
    },
};

const struct graft_class int8_linear_class = {
    .struct_size = sizeof int8_linear_class,
    .name = "Int8Linear",
    .interface_id = GRAFT_INTERFACE_LINEAR,
    .describe = describe,
    .create = create,
    .destroy = free,
    .forward = &vtable,
    .conversions = conversions,
    .n_conversions = 1,
    .conversion_stride = sizeof conversions[0],
};
