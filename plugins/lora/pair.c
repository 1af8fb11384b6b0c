/* SPDX-License-Identifier: Apache-2.0 */
/* factor * B (A x), the product of low rank (Hu et al. 2021): lora_A [rank, in], lora_B [out, rank]. */
#include <stdlib.h>

#include "graft/describe.h"
#include "graft/kernels.h"
#include "lora.h"

struct pair {
    const struct graft_module *a;
    const struct graft_module *b;
    int64_t rank;
    float factor;
};

static int describe(const struct graft_class *cls, const struct graft_config *config, const struct graft_args *args,
                    const struct graft_sink *sink, struct graft_error *error) {
    int64_t rank = graft_args_int(args, "rank", 0);
    (void)cls;
    (void)config;
    int status = graft_describe_linear(sink, "lora_A", graft_args_int(args, "in_features", 0), rank, 0, error);
    return status == GRAFT_OK
               ? graft_describe_linear(sink, "lora_B", rank, graft_args_int(args, "out_features", 0), 0, error)
               : status;
}

static int create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                  struct graft_error *error) {
    int status = GRAFT_OK;
    (void)cls;
    const struct graft_module *a = graft_build_child(build, "lora_A", &status, error);
    const struct graft_module *b = graft_build_child(build, "lora_B", &status, error);
    if (status != GRAFT_OK) {
        return status;
    }
    struct pair *self = calloc(1, sizeof *self);
    if (self == NULL) {
        return graft_fail_memory(error, build->path);
    }
    *self =
        (struct pair){a, b, graft_args_int(build->args, "rank", 0), (float)graft_args_real(build->args, "factor", 1.0)};
    *instance = self;
    return GRAFT_OK;
}

static int forward(void *instance, const struct graft_call *call, const struct graft_linear_args *args,
                   struct graft_error *error) {
    const struct pair *self = instance;
    float *narrow = graft_scratch_floats(call, args->tokens, self->rank, error); /* [tokens, rank] */
    if (narrow == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    struct graft_linear_args first = {.struct_size = sizeof first, .tokens = args->tokens, .x = args->x, .y = narrow};
    struct graft_linear_args second = {.struct_size = sizeof second, .tokens = args->tokens, .x = narrow, .y = args->y};
    int status = graft_linear_forward(self->a, call, &first, error);
    for (int64_t i = 0; status == GRAFT_OK && i < args->tokens * self->rank; i++) {
        narrow[i] *= self->factor;
    }
    return status == GRAFT_OK ? graft_linear_forward(self->b, call, &second, error) : status;
}

int lora_pair_products(const struct graft_module *module, struct graft_product *a, struct graft_product *b,
                       float *factor) {
    const struct pair *self = module->instance;
    const struct graft_linear_args none = {.struct_size = sizeof none};
    *factor = self->factor;
    return graft_linear_as_product(self->a, &none, a) && graft_linear_as_product(self->b, &none, b);
}

static const struct graft_linear vtable = {.struct_size = sizeof vtable, .forward = forward};

const struct graft_class lora_pair_class = {
    .struct_size = sizeof lora_pair_class,
    .name = "LoraPair",
    .interface_id = GRAFT_INTERFACE_LINEAR,
    .describe = describe,
    .create = create,
    .destroy = free,
    .forward = &vtable,
};
