/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fusing modules of a built model into chains: children of one module that run one after another. Nothing runs until
 * the last of them is called; then the whole chain runs, each module with the inputs it was called with. A plugin may
 * provide an implementation for the chain's classes (graft/chain.h). Without one the modules run as before, and results
 * are the same to the bit whether fused, unfused or never fused.
 *
 *     const struct graft_module_spec chain[] = {
 *         {.struct_size = sizeof chain[0], .path = "model.layers.*.post_attention_layernorm"},
 *         {.struct_size = sizeof chain[0], .path = "model.layers.*.mlp"},
 *     };
 *     graft_model_fuse_modules(model, chain, 2, &error);
 */
#ifndef GRAFT_HOST_FUSE_H
#define GRAFT_HOST_FUSE_H

#include <stddef.h>
#include <stdint.h>

#include "graft/error.h"

#ifdef __cplusplus
extern "C" {
#endif

struct graft_model;
struct graft_named_module;

/* One module of a chain, wherever its path matches. The names stand for the arrays that a module's interface takes and
 * returns, in that order (a norm takes hidden_states, then the optional residual). An input with the name of an output
 * of the previous module is that output. All others, including those not listed, come from the parent. */
struct graft_module_spec {
    uint32_t struct_size;
    int32_t n_inputs;
    const char *path;           /* `*` matches anything but a dot: "model.layers.*.mlp" */
    const char *const *inputs;  /* [n_inputs]; NULL: one, "hidden_states" */
    const char *const *outputs; /* [n_outputs]; NULL: one, "hidden_states"; "_": nobody's */
    int32_t n_outputs;
    uint32_t reserved;
};

#define GRAFT_MODULE_SPEC_SIZE_1_0 GRAFT_END_OF(struct graft_module_spec, reserved)

/* [load] Fuses `n` modules, 2 to 16, wherever their paths match. All paths must match equal numbers of modules, and the
 * modules of a chain must be children of one module and follow each other there. The host tries this with two tokens
 * and rejects it if a bit of the result differs; modules that the tokens do not reach (for images, of other experts)
 * are checked when they are called. A module can be in one chain only. On failure nothing is fused. If the model is not
 * loaded yet, the chains are found now, and graft_model_load tries them and puts them in place. */
int graft_model_fuse_modules(struct graft_model *model, const struct graft_module_spec *specs, size_t n,
                             struct graft_error *error);

/* [load] Takes apart the chains of the modules that `n` paths match, or all chains if `n` is 0. A module that is in no
 * chain, or a model without any, is an error, and nothing changes. */
int graft_model_unfuse_modules(struct graft_model *model, const char *const *paths, size_t n,
                               struct graft_error *error);

/* [any] What runs the chain of the module at `path`: the id of the plugin whose implementation it is, "" if the modules
 * run one after another; NULL if it is in no chain. Valid until it is unfused. */
const char *graft_model_fused_by(const struct graft_model *model, const char *path);

/* A chain. */
struct graft_chain_info {
    uint32_t struct_size;
    uint32_t reserved;
    const struct graft_named_module *const *modules; /* [n_modules] in the order in which they run */
    size_t n_modules;
    const char *implementation; /* provided by a plugin for their classes; NULL: they run one after another */
    const char *plugin;         /* its id; or NULL */
};

/* [any] Chain number `i`, in the order of fusing; NULL after the last. Valid until it is unfused. */
const struct graft_chain_info *graft_model_chain(const struct graft_model *model, size_t i);

#ifdef __cplusplus
}
#endif

#endif
