/* SPDX-License-Identifier: Apache-2.0 */
/* The square of relu (So et al. 2021). */
#include "bitnet.h"

enum { NUMBERS_AT_ONCE = 1 << 14 /* fewer are not worth waking a thread */ };

int bitnet_relu2_describe(const struct graft_class *self, const struct graft_config *config,
                          const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    (void)self;
    (void)config;
    (void)args;
    (void)sink;
    (void)error;
    return GRAFT_OK;
}

static void square(void *data, int64_t begin, int64_t end) {
    const struct graft_activation_args *args = data;
    for (int64_t i = begin; i < end; i++) {
        const float x = args->x[i] < 0.0F ? 0.0F : args->x[i]; /* what is no number stays so */
        args->y[i] = x * x;
    }
}

static int forward(void *instance, const struct graft_call *call, const struct graft_activation_args *args,
                   struct graft_error *error) {
    struct graft_activation_args given = *args;
    (void)instance;
    (void)error;
    call->threads->parallel_for(args->count, NUMBERS_AT_ONCE, square, &given);
    return GRAFT_OK;
}

const struct graft_activation bitnet_relu2_vtable = {
    .struct_size = sizeof bitnet_relu2_vtable,
    .forward = forward,
};
