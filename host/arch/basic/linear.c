/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/role.h"
#include "graft/describe.h"

struct linear {
    struct graft_instance base;
    const struct graft_weight *weight; /* [out_features, in_features] */
    const struct graft_weight *bias;   /* [out_features], or NULL */
};

int graft_linear_describe(const struct graft_class *self, const struct graft_config *config,
                          const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    int64_t in_features = graft_args_int(args, "in_features", 0);
    int64_t out_features = graft_args_int(args, "out_features", 0);
    int64_t shape[2] = {out_features, in_features};
    (void)self;
    (void)config;
    int status = sink->attribute(sink->data, "in_features", &in_features, 1, error);
    if (status == GRAFT_OK) {
        status = sink->attribute(sink->data, "out_features", &out_features, 1, error);
    }
    if (status == GRAFT_OK) {
        status = graft_describe_parameter(sink, "weight", 2, shape, 0, GRAFT_INIT_NONE, error);
    }
    if (status == GRAFT_OK && graft_args_int(args, "bias", 1) != 0) {
        status = graft_describe_parameter(sink, "bias", 1, shape, 0, GRAFT_INIT_NONE, error);
    }
    return status;
}

int graft_linear_create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                        struct graft_error *error) {
    struct linear *self = graft_instance_new(build, sizeof *self, error);
    (void)cls;
    if (self == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    self->weight = graft_build_weight(build, "weight", error);
    self->bias = build->weight(build->data, "bias");
    return graft_instance_finish(self, instance, error);
}

static int32_t as_product(void *instance, const struct graft_linear_args *args, struct graft_product *product) {
    const struct linear *self = instance;
    const struct graft_product value = {
        .struct_size = sizeof value,
        .weight = self->weight,
        .bias = self->bias,
        .first_row = 0,
        .rows = self->weight->rows,
        .x = args->x,
        .x_stride = self->weight->columns,
        .tokens = args->tokens,
        .y = args->y,
        .y_stride = self->weight->rows,
    };
    graft_struct_copy(product, product->struct_size, &value);
    return 1;
}

static int forward(void *self, const struct graft_call *call, const struct graft_linear_args *args,
                   struct graft_error *error) {
    struct graft_product product = {.struct_size = sizeof product};
    (void)as_product(self, args, &product);
    return call->kernels->linear(call, &product, 1, sizeof(struct graft_product), error);
}

const struct graft_linear graft_linear_vtable = {
    .struct_size = sizeof graft_linear_vtable,
    .forward = forward,
    .as_product = as_product,
};
