/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/pass.h"
#include "arch/role.h"
#include "graft/describe.h"

struct linear {
    struct graft_instance base;
    const struct graft_weight *weight; /* [out_features, in_features] */
    const struct graft_weight *bias;   /* [out_features], or NULL */
};

int graft_linear_describe(const struct graft_class *self, const struct graft_config *config,
                          const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    const int64_t shape[2] = {graft_args_int(args, "out_features", 0), graft_args_int(args, "in_features", 0)};
    (void)self;
    (void)config;
    graft_describe_number(sink, "in_features", shape[1], error);
    graft_describe_number(sink, "out_features", shape[0], error);
    graft_describe_parameter(sink, "weight", 2, shape, 0, GRAFT_INIT_NONE, error);
    if (graft_args_int(args, "bias", 1) != 0) {
        graft_describe_parameter(sink, "bias", 1, shape, 0, GRAFT_INIT_NONE, error);
    }
    return error->code;
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
    const struct graft_product value =
        graft_product_of(self->weight, self->bias, 0, self->weight->rows, args->tokens, args->x, args->y);
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
