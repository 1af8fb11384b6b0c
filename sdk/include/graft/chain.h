/* SPDX-License-Identifier: Apache-2.0 */
/* An implementation of a chain of modules. Children of one module that run one after another (a norm, then an MLP) may
 * be fused on a built model: calls of the first ones then do nothing, and the call of the last one runs them all. A
 * plugin may offer an implementation that runs the chain at once, for the classes it lists; without one each module
 * runs as before. Unlike a replacement, an implementation has no weight layout of its own: it uses the existing weights
 * and modules. */
#ifndef GRAFT_CHAIN_H
#define GRAFT_CHAIN_H

#include "abi.h"
#include "call.h"
#include "class.h"
#include "error.h"
#include "module.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What `create` is given: element `i` of each array is for module `i` of the chain. Belongs to the host; `builds` is
 * valid until `create` returns; `modules`, weights and children until `destroy`. */
struct graft_chain_build {
    uint32_t struct_size;
    int32_t n_modules; /* the number of the chain's classes */
    const struct graft_build
        *builds; /* [n_modules] path, config, args, weights and children; `super` and `kept` are NULL */
    const struct graft_module *modules; /* [n_modules] the modules without fusion: calling one runs it alone */
    uint32_t build_stride;
    uint32_t module_stride;
};

/* [load] Element `i` of `builds`. */
GRAFT_INLINE const struct graft_build *graft_chain_build_at(const struct graft_chain_build *chain, int32_t i) {
    const char *at = (const char *)chain->builds + (size_t)i * chain->build_stride;
    return (const struct graft_build *)(const void *)at;
}

/* [load] Element `i` of `modules`. */
GRAFT_INLINE const struct graft_module *graft_chain_module_at(const struct graft_chain_build *chain, int32_t i) {
    const char *at = (const char *)chain->modules + (size_t)i * chain->module_stride;
    return (const struct graft_module *)(const void *)at;
}

/* The calls of one round. Element `i` is the argument with which the parent called module `i`: a struct of its
 * interface, such as struct graft_norm_args. Inputs that the chain does not compute itself (also a norm's residual)
 * have the values that the parent gave them; what a module of the chain passes to the next one is not computed yet. */
struct graft_chain_args {
    uint32_t struct_size;
    int32_t n_modules;
    const void *const *args; /* [n_modules] */
};

/* Must not change until the plugin's `deinit`. */
struct graft_chain {
    uint32_t struct_size;
    int32_t n_classes;                /* 2 to 16 */
    const char *name;                 /* "RMSNormMLP": shown in reports; need not be unique */
    const char *const *class_names;   /* [n_classes] classes of the modules, in order: {"Qwen3RMSNorm", "Qwen3MLP"} */
    const char *const *interface_ids; /* [n_classes] their interfaces */
    /* [load] Creates an instance for the modules of one chain; it may be NULL. On failure it leaves nothing behind.
     * Required. */
    int (*create)(const struct graft_chain *self, const struct graft_chain_build *build, void **instance,
                  struct graft_error *error);
    /* [load] Frees what `create` made, when the chain is unfused or the model is freed. Optional; never called with
     * NULL. */
    void (*destroy)(void *instance);
    /* [forward] Computes what the modules would: writes the output of the last one, and whatever the others update in
     * place (a norm with a residual: hidden_states += residual). The outputs of the others need not be written, as
     * nobody reads them. Required. */
    int (*forward)(void *instance, const struct graft_call *call, const struct graft_chain_args *args,
                   struct graft_error *error);
};

#define GRAFT_CHAIN_SIZE_1_0 GRAFT_END_OF(struct graft_chain, forward)

GRAFT_ASSERT_SIZE(struct graft_chain_build, 32);
GRAFT_ASSERT_SIZE(struct graft_chain_args, 16);
GRAFT_ASSERT_SIZE(struct graft_chain, 56);

#ifdef __cplusplus
}
#endif

#endif
