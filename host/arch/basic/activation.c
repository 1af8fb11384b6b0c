/* SPDX-License-Identifier: Apache-2.0 */
/* Activations: each is a kernel of the host, or a function here. They have no state: `self` is their row in the
 * table. */
#include "arch/basic/activation.h"

#include <math.h>
#include <string.h>

#include "arch/arch.h"
#include "arch/role.h"
#include "graft/activation.h"
#include "graft/describe.h"
#include "graft/kernels.h"

enum { NUMBERS_AT_ONCE = 1 << 14 /* numbers below which another thread does not pay */ };

struct activation {
    int32_t kernel;           /* GRAFT_ACTIVATION_...; -1: none of them */
    float (*function)(float); /* used if there is no kernel */
};

static float clipped_gelu(float x) {
    const float y = 0.5f * x * (1.0f + erff(x * 0.70710678118654752f));
    return y < -10.0f ? -10.0f : y > 10.0f ? 10.0f : y;
}

static float relu6(float x) {
    return x < 0.0f ? 0.0f : x > 6.0f ? 6.0f : x;
}

static float hardswish(float x) {
    return x * relu6(x + 3.0f) / 6.0f;
}

/* The cumulative normal distribution with mean sqrt(1 / 2) and variance 1 / (4 pi) (Ma et al. 2022). */
static float laplace(float x) {
    return 0.5f * (1.0f + erff((x - 0.707107f) / (0.282095f * 1.41421356237309505f)));
}

static float leaky_relu(float x) {
    return x < 0.0f ? 0.01f * x : x;
}

static float linear(float x) {
    return x;
}

float graft_softplus(float x) {
    return x > 20.0f ? x : log1pf(expf(x));
}

static float mish(float x) {
    return x * tanhf(graft_softplus(x));
}

static float sqrt_softplus(float x) {
    return sqrtf(graft_softplus(x));
}

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
    const struct activation *activation = instance;
    return activation->kernel;
}

struct run {
    float (*function)(float);
    const float *x;
    float *y;
};

static void run(void *data, int64_t begin, int64_t end) {
    const struct run *run = data;
    for (int64_t i = begin; i < end; i++) {
        run->y[i] = run->function(run->x[i]);
    }
}

static int forward(void *instance, const struct graft_call *call, const struct graft_activation_args *args,
                   struct graft_error *error) {
    const struct activation *activation = instance;
    struct run given = {activation->function, args->x, args->y};
    if (activation->kernel >= 0) {
        return call->kernels->activation(call, activation->kernel, args->x, args->count, args->y, error);
    }
    call->threads->parallel_for(args->count, NUMBERS_AT_ONCE, run, &given);
    return GRAFT_OK;
}

static const struct graft_activation vtable = {
    .struct_size = sizeof vtable,
    .forward = forward,
    .as_kernel = as_kernel,
};

#define ACTIVATION(class_name, row)                                                                        \
    {                                                                                                      \
        .struct_size = sizeof(struct graft_class), .flags = GRAFT_CLASS_BASIC | GRAFT_CLASS_SAME_ANYWHERE, \
        .name = class_name, .interface_id = GRAFT_INTERFACE_ACTIVATION, .describe = describe,              \
        .create = graft_create_stateless, .forward = &vtable, .data = &(row)                               \
    }
#define LEARNED(class_name, role)                                                   \
    {                                                                               \
        .flags = GRAFT_CLASS_BASIC | GRAFT_CLASS_SAME_ANYWHERE, .name = class_name, \
        GRAFT_ROLE(GRAFT_INTERFACE_ACTIVATION, role)                                \
    }
#define KERNEL(name, number) static const struct activation name##_row = {(number), NULL}
#define FUNCTION(name) static const struct activation name##_row = {-1, (name)}

KERNEL(silu, GRAFT_ACTIVATION_SILU);
KERNEL(gelu, GRAFT_ACTIVATION_GELU);
KERNEL(gelu_tanh, GRAFT_ACTIVATION_GELU_TANH);
KERNEL(quick_gelu, GRAFT_ACTIVATION_QUICK_GELU);
KERNEL(relu, GRAFT_ACTIVATION_RELU);
KERNEL(relu2, GRAFT_ACTIVATION_RELU2);
KERNEL(hyperbolic_tangent, GRAFT_ACTIVATION_TANH);
KERNEL(sigmoid, GRAFT_ACTIVATION_SIGMOID);
FUNCTION(clipped_gelu);
FUNCTION(hardswish);
FUNCTION(laplace);
FUNCTION(leaky_relu);
FUNCTION(linear);
FUNCTION(mish);
FUNCTION(relu6);
FUNCTION(sqrt_softplus);

const struct graft_class graft_activation_classes[] = {
    ACTIVATION("SiLUActivation", silu_row),
    ACTIVATION("SiLU", silu_row),
    ACTIVATION("GELUActivation", gelu_row),
    ACTIVATION("NewGELUActivation", gelu_tanh_row),
    ACTIVATION("GELUTanh", gelu_tanh_row),
    ACTIVATION("QuickGELUActivation", quick_gelu_row),
    ACTIVATION("FastGELUActivation", gelu_tanh_row),
    ACTIVATION("AccurateGELUActivation", gelu_tanh_row),
    ACTIVATION("ReLU", relu_row),
    ACTIVATION("ReLUSquaredActivation", relu2_row),
    ACTIVATION("Tanh", hyperbolic_tangent_row),
    ACTIVATION("Sigmoid", sigmoid_row),
    ACTIVATION("GELU", gelu_row),
    ACTIVATION("ClippedGELUActivation", clipped_gelu_row),
    ACTIVATION("Hardswish", hardswish_row),
    ACTIVATION("LaplaceActivation", laplace_row),
    ACTIVATION("LeakyReLU", leaky_relu_row),
    ACTIVATION("LinearActivation", linear_row),
    ACTIVATION("MishActivation", mish_row),
    ACTIVATION("ReLU6", relu6_row),
    ACTIVATION("SqrtSoftplusActivation", sqrt_softplus_row),
    LEARNED("PReLU", graft_prelu),
    LEARNED("XIELUActivation", graft_xielu),
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
        {"gelu_10", "ClippedGELUActivation"},
        {"gelu_accurate", "AccurateGELUActivation"},
        {"relu", "ReLU"},
        {"relu2", "ReLUSquaredActivation"},
        {"relu6", "ReLU6"},
        {"leaky_relu", "LeakyReLU"},
        {"prelu", "PReLU"},
        {"xielu", "XIELUActivation"},
        {"hardswish", "Hardswish"},
        {"laplace", "LaplaceActivation"},
        {"linear", "LinearActivation"},
        {"mish", "MishActivation"},
        {"sqrtsoftplus", "SqrtSoftplusActivation"},
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
