/* SPDX-License-Identifier: Apache-2.0 */
/* Activations with parameters: PReLU (He et al. 2015) and xIELU (Huang & Schlag 2024). */
#include <math.h>

#include "arch/basic/activation.h"
#include "arch/role.h"
#include "graft/activation.h"
#include "graft/describe.h"

enum { NUMBERS_AT_ONCE = 1 << 14 /* numbers below which another thread does not pay */, MAX_PARAMETERS = 4 };

struct learned {
    struct graft_instance base;
    const struct graft_weight *parameters[MAX_PARAMETERS]; /* a single number each */
};

/* Shared by the threads of a call. */
struct run {
    const struct graft_activation_args *args;
    float numbers[MAX_PARAMETERS];
};

static const char *const xielu_names[] = {"alpha_p", "alpha_n", "beta", "eps"};

int graft_prelu_describe(const struct graft_class *self, const struct graft_config *config,
                         const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    (void)self;
    (void)config;
    (void)args;
    return graft_describe_vector(sink, "weight", 1, error);
}

int graft_xielu_describe(const struct graft_class *self, const struct graft_config *config,
                         const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    (void)self;
    (void)config;
    (void)args;
    for (int32_t i = 0; i < MAX_PARAMETERS; i++) {
        const int64_t shape = 1;
        const uint32_t flags = GRAFT_PARAMETER_CONTIGUOUS | (i < 2 ? 0 : GRAFT_PARAMETER_SCALAR);
        graft_describe_parameter(sink, xielu_names[i], 1, &shape, flags, GRAFT_INIT_NONE, error);
    }
    return error->code;
}

static int create(const struct graft_build *build, const char *const *names, int32_t n, void **instance,
                  struct graft_error *error) {
    struct learned *self = graft_instance_new(build, sizeof *self, error);
    if (self == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    for (int32_t i = 0; i < n; i++) {
        self->parameters[i] = graft_build_weight(build, names[i], error);
    }
    return graft_instance_finish(self, instance, error);
}

int graft_prelu_create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                       struct graft_error *error) {
    static const char *const names[] = {"weight"};
    (void)cls;
    return create(build, names, 1, instance, error);
}

int graft_xielu_create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                       struct graft_error *error) {
    (void)cls;
    return create(build, xielu_names, MAX_PARAMETERS, instance, error);
}

static int forward(const struct learned *self, const struct graft_call *call, const struct graft_activation_args *args,
                   void (*function)(void *data, int64_t begin, int64_t end), struct graft_error *error) {
    struct run run = {.args = args};
    int status = GRAFT_OK;
    for (int32_t i = 0; i < MAX_PARAMETERS && self->parameters[i] != NULL && status == GRAFT_OK; i++) {
        status = call->kernels->widen(call, self->parameters[i], &run.numbers[i], error);
    }
    if (status == GRAFT_OK) {
        call->threads->parallel_for(args->count, NUMBERS_AT_ONCE, function, &run);
    }
    return status;
}

static void prelu(void *data, int64_t begin, int64_t end) {
    const struct run *run = data;
    for (int64_t i = begin; i < end; i++) {
        const float x = run->args->x[i];
        run->args->y[i] = x < 0.0f ? run->numbers[0] * x : x;
    }
}

static void xielu(void *data, int64_t begin, int64_t end) {
    const struct run *run = data;
    const float beta = run->numbers[2], eps = run->numbers[3];
    const float above = graft_softplus(run->numbers[0]), below = beta + graft_softplus(run->numbers[1]);
    for (int64_t i = begin; i < end; i++) {
        const float x = run->args->x[i];
        run->args->y[i] = x > 0.0f ? above * x * x + beta * x : (expm1f(x > eps ? eps : x) - x) * below + beta * x;
    }
}

static int prelu_forward(void *instance, const struct graft_call *call, const struct graft_activation_args *args,
                         struct graft_error *error) {
    return forward(instance, call, args, prelu, error);
}

static int xielu_forward(void *instance, const struct graft_call *call, const struct graft_activation_args *args,
                         struct graft_error *error) {
    return forward(instance, call, args, xielu, error);
}

const struct graft_activation graft_prelu_vtable = {.struct_size = sizeof graft_prelu_vtable, .forward = prelu_forward};

const struct graft_activation graft_xielu_vtable = {.struct_size = sizeof graft_xielu_vtable, .forward = xielu_forward};
