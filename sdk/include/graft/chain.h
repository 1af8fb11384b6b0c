/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An implementation of a chain of modules. Children of one module that run one after the other (a norm, then an MLP)
 * may be fused on a built model: then nothing is done until the last of them is called, and all of it then. A plugin
 * may offer to do it at once, for the classes that it knows; without an offer each module runs as it did.
 *
 * Contrary to a replacement it needs no layout of its own: it works with the weights and modules that are there.
 */
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

/* What `create` works with: element `i` of each array is for module `i` of the chain. The host's; `builds` until
 * `create` returns, `modules`, weights and children until `destroy`. */
struct graft_chain_build {
    uint32_t struct_size;
    int32_t n_modules;                  /* as many as the chain has classes */
    const struct graft_build *builds;   /* [n_modules] path, config, args, weights and children; no `super` or `kept` */
    const struct graft_module *modules; /* [n_modules] as they are unfused: calling one runs it alone */
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

/* The calls of one round. Element `i` is what the parent called module `i` with: a struct of its interface, such as
 * struct graft_norm_args. Each module's inputs, those that the chain does not make itself (a norm's residual) included,
 * are as they were when the parent gave them; what a module of the chain gives the next one is not there yet. */
struct graft_chain_args {
    uint32_t struct_size;
    int32_t n_modules;
    const void *const *args; /* [n_modules] */
};

/* Const until the plugin's `deinit`. */
struct graft_chain {
    uint32_t struct_size;
    int32_t n_classes;                /* 2 to 16 */
    const char *name;                 /* "RMSNormMLP": for reports; need not be unique */
    const char *const *class_names;   /* [n_classes] of the modules, in order: {"Qwen3RMSNorm", "Qwen3MLP"} */
    const char *const *interface_ids; /* [n_classes] their interfaces */
    /* [load] Makes an instance, which may be NULL, for the modules of one chain. On failure nothing is left behind.
     * Required. */
    int (*create)(const struct graft_chain *self, const struct graft_chain_build *build, void **instance,
                  struct graft_error *error);
    /* [load] Frees what `create` made: when the chain is unfused, or the model is freed. Optional; NULL is never
     * passed. */
    void (*destroy)(void *instance);
    /* [forward] Does what the modules would: writes the outputs of the last one, and what others write in place (a norm
     * with a residual: hidden_states += residual). The outputs of the others may be left alone, nobody reads them.
     * Required. */
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
