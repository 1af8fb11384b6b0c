/* SPDX-License-Identifier: Apache-2.0 */
/* Interface graft.causal_conv1d/1: a causal depthwise convolution over the tokens of each sequence (torch.nn.Conv1d
 * with as many groups as channels).
 *
 *   y[t, c] = bias[c] + sum over k of weight[c, 0, k] * x[t + k - (kernel_size - 1), c]
 *
 * Arguments that parents pass: channels, kernel_size (2 to 64) and bias (0 or 1).
 *
 * The class Conv1d has the weight [channels, 1, kernel_size]. Its state `conv_states` [kernel_size - 1, channels] f32
 * holds the inputs of a sequence's latest tokens, the last token last; before a sequence begins they are zeros. */
#ifndef GRAFT_CAUSAL_CONV1D_H
#define GRAFT_CAUSAL_CONV1D_H

#include "abi.h"
#include "batch.h"
#include "call.h"
#include "error.h"
#include "module.h"

#ifdef __cplusplus
extern "C" {
#endif

#define GRAFT_INTERFACE_CAUSAL_CONV1D "graft.causal_conv1d/1"

struct graft_causal_conv1d_args {
    uint32_t struct_size;
    uint32_t required_features;
    const struct graft_batch *batch; /* the sequences of the tokens, and the cache of their states */
    const float *x;                  /* [tokens, channels] */
    float *y;                        /* [tokens, channels]; does not overlap x */
};

struct graft_causal_conv1d {
    uint32_t struct_size;
    uint32_t features;
    /* [forward] y = conv(x). Required. */
    int (*forward)(void *self, const struct graft_call *call, const struct graft_causal_conv1d_args *args,
                   struct graft_error *error);
};

GRAFT_ASSERT_SIZE(struct graft_causal_conv1d_args, 32);
GRAFT_ASSERT_SIZE(struct graft_causal_conv1d, 16);

/* [forward] Calls a module of this interface, and frees the scratch memory it took. */
GRAFT_INLINE int graft_causal_conv1d_forward(const struct graft_module *module, const struct graft_call *call,
                                             const struct graft_causal_conv1d_args *args, struct graft_error *error) {
    const struct graft_causal_conv1d *vtable = (const struct graft_causal_conv1d *)module->forward;
    struct graft_entered in = graft_module_enter(module, call, args->required_features, vtable->features, error);
    int status = in.status == GRAFT_OK ? vtable->forward(module->instance, call, args, error) : in.status;
    return graft_module_leave(module, call, &in, status, error);
}

#ifdef __cplusplus
}
#endif

#endif
