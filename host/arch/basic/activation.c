/* SPDX-License-Identifier: Apache-2.0 */
/* The activations: each is one of the host's kernels. They have no state: `self` is the number of the kernel. */
#include "arch/basic/activation.h"

#include <string.h>

#include "arch/arch.h"
#include "graft/activation.h"
#include "graft/describe.h"
#include "graft/kernels.h"

static const int32_t silu = GRAFT_ACTIVATION_SILU;
static const int32_t gelu = GRAFT_ACTIVATION_GELU;
static const int32_t gelu_tanh = GRAFT_ACTIVATION_GELU_TANH;
static const int32_t quick_gelu = GRAFT_ACTIVATION_QUICK_GELU;
static const int32_t relu = GRAFT_ACTIVATION_RELU;
static const int32_t hyperbolic_tangent = GRAFT_ACTIVATION_TANH;
static const int32_t sigmoid = GRAFT_ACTIVATION_SIGMOID;

static int describe(const struct graft_class *self, const struct graft_config *config, const struct graft_args *args,
                    const struct graft_sink *sink, struct graft_error *error) {
    (void)self;
    (void)config;
    (void)args;
    (void)sink;
    (void)error;
    return GRAFT_OK;
}

static int32_t as_kernel(void *instance) {
    const int32_t *kernel = instance;
    return *kernel;
}

static int forward(void *instance, const struct graft_call *call, const struct graft_activation_args *args,
                   struct graft_error *error) {
    return call->kernels->activation(call, as_kernel(instance), args->x, args->count, args->y, error);
}

static const struct graft_activation vtable = {
    .struct_size = sizeof vtable,
    .forward = forward,
    .as_kernel = as_kernel,
};

#define ACTIVATION(class_name, kernel)                                                                      \
    {                                                                                                       \
        .struct_size = sizeof(struct graft_class), .flags = GRAFT_CLASS_BASIC, .name = class_name,          \
        .interface_id = GRAFT_INTERFACE_ACTIVATION, .describe = describe, .create = graft_create_stateless, \
        .forward = &vtable, .data = &(kernel)                                                               \
    }

const struct graft_class graft_activation_classes[] = {
    ACTIVATION("SiLUActivation", silu),
    ACTIVATION("SiLU", silu),
    ACTIVATION("GELUActivation", gelu),
    ACTIVATION("NewGELUActivation", gelu_tanh),
    ACTIVATION("GELUTanh", gelu_tanh),
    ACTIVATION("QuickGELUActivation", quick_gelu),
    ACTIVATION("FastGELUActivation", gelu_tanh),
    ACTIVATION("ReLU", relu),
    ACTIVATION("Tanh", hyperbolic_tangent),
    ACTIVATION("Sigmoid", sigmoid),
    ACTIVATION("GELU", gelu),
    {.name = NULL},
};

const char *graft_activation_class(const char *name) {
    static const char *const classes[][2] = {
        {"silu", "SiLUActivation"},
        {"swish", "SiLU"},
        {"gelu", "GELUActivation"},
        {"gelu_python", "GELUActivation"},
        {"gelu_new", "NewGELUActivation"},
        {"gelu_fast", "FastGELUActivation"},
        {"gelu_pytorch_tanh", "GELUTanh"},
        {"gelu_python_tanh", "GELUTanh"},
        {"quick_gelu", "QuickGELUActivation"},
        {"relu", "ReLU"},
        {"tanh", "Tanh"},
        {"sigmoid", "Sigmoid"},
    };
    for (size_t i = 0; i < sizeof classes / sizeof classes[0]; i++) {
        if (strcmp(name, classes[i][0]) == 0) {
            return classes[i][1];
        }
    }
    return NULL;
}
