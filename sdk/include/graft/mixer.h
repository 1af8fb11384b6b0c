/* SPDX-License-Identifier: Apache-2.0 */
/* Interface graft.mixer/1: mixes the tokens of a sequence in place of attention. Its memory of earlier tokens is in
 * states of its own (state.h), not in keys and values. It adds no residual and does not normalise its input. Arguments
 * that parents pass: layer_idx and hidden_size. */
#ifndef GRAFT_MIXER_H
#define GRAFT_MIXER_H

#include "abi.h"
#include "batch.h"
#include "call.h"
#include "error.h"
#include "module.h"

#ifdef __cplusplus
extern "C" {
#endif

#define GRAFT_INTERFACE_MIXER "graft.mixer/1"

struct graft_mixer_args {
    uint32_t struct_size;
    uint32_t required_features;
    const struct graft_batch *batch; /* the sequences of the tokens, and the cache of their states */
    const float *hidden_states;      /* [tokens, hidden] */
    float *output;                   /* [tokens, hidden]; does not overlap hidden_states */
};

struct graft_mixer {
    uint32_t struct_size;
    uint32_t features;
    /* [forward] output = mixer(hidden_states). Required. */
    int (*forward)(void *self, const struct graft_call *call, const struct graft_mixer_args *args,
                   struct graft_error *error);
};

GRAFT_ASSERT_SIZE(struct graft_mixer_args, 32);
GRAFT_ASSERT_SIZE(struct graft_mixer, 16);

/* [forward] Calls a module of this interface, and frees the scratch memory it took. */
GRAFT_INLINE int graft_mixer_forward(const struct graft_module *module, const struct graft_call *call,
                                     const struct graft_mixer_args *args, struct graft_error *error) {
    const struct graft_mixer *vtable = (const struct graft_mixer *)module->forward;
    struct graft_entered in = graft_module_enter(module, call, args->required_features, vtable->features, error);
    int status = in.status == GRAFT_OK ? vtable->forward(module->instance, call, args, error) : in.status;
    return graft_module_leave(module, call, &in, status, error);
}

#ifdef __cplusplus
}
#endif

#endif
