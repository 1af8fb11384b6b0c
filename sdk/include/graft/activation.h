/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Interface graft.activation/1: a function of one number, element by element.
 */
#ifndef GRAFT_ACTIVATION_H
#define GRAFT_ACTIVATION_H

#include "abi.h"
#include "call.h"
#include "error.h"
#include "kernels.h"
#include "module.h"

#ifdef __cplusplus
extern "C" {
#endif

#define GRAFT_INTERFACE_ACTIVATION "graft.activation/1"

struct graft_activation_args {
    uint32_t struct_size;
    uint32_t required_features;
    int64_t count;  /* numbers in x and y */
    const float *x; /* [count] */
    float *y;       /* [count]; may be x */
};

struct graft_activation {
    uint32_t struct_size;
    uint32_t features;
    /* [forward] y = act(x). Required. */
    int (*forward)(void *self, const struct graft_call *call, const struct graft_activation_args *args,
                   struct graft_error *error);
    /* [forward] Optional: the GRAFT_ACTIVATION_... of graft.kernels/1 that computes this function, so that a parent can
     * fuse it; -1 if there is none. */
    int32_t (*as_kernel)(void *self);
};

GRAFT_ASSERT_SIZE(struct graft_activation_args, 32);
GRAFT_ASSERT_SIZE(struct graft_activation, 24);

/* [forward] Calls a module of this interface, and frees the scratch memory it took. */
GRAFT_INLINE int graft_activation_forward(const struct graft_module *module, const struct graft_call *call,
                                          const struct graft_activation_args *args, struct graft_error *error) {
    const struct graft_activation *vtable = (const struct graft_activation *)module->forward;
    struct graft_entered in = graft_module_enter(module, call, args->required_features, vtable->features, error);
    int status = in.status == GRAFT_OK ? vtable->forward(module->instance, call, args, error) : in.status;
    return graft_module_leave(module, call, &in, status, error);
}

/* [forward] The GRAFT_ACTIVATION_... of graft.kernels/1 that computes a module's function; -1 if there is none. */
GRAFT_INLINE int32_t graft_activation_as_kernel(const struct graft_module *module) {
    const struct graft_activation *vtable = (const struct graft_activation *)module->forward;
    return GRAFT_HAS(vtable, struct graft_activation, as_kernel) && vtable->as_kernel != NULL
               ? vtable->as_kernel(module->instance)
               : -1;
}

/* [forward] gate = act(gate) * up, both dense [tokens, columns]: fused where the activation is one of the kernels. */
GRAFT_INLINE int graft_activation_gate(const struct graft_module *module, const struct graft_call *call, float *gate,
                                       const float *up, int64_t tokens, int64_t columns, struct graft_error *error) {
    struct graft_activation_args args = {sizeof args, 0, tokens * columns, gate, gate};
    int status;
    int32_t kernel = graft_activation_as_kernel(module);
    if (kernel >= 0) {
        return call->kernels->gated_activation(call, kernel, gate, columns, up, columns, tokens, columns, error);
    }
    status = graft_activation_forward(module, call, &args, error);
    for (int64_t i = 0; status == GRAFT_OK && i < args.count; i++) {
        gate[i] *= up[i];
    }
    return status;
}

#ifdef __cplusplus
}
#endif

#endif
