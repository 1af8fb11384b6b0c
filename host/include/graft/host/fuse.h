/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fusing modules of a loaded model: children of one module that run one after the other become a chain. Nothing is done
 * until the last of them is called; then the whole chain runs, with the inputs that each of them was called with. A
 * plugin may have brought an implementation for the chain's classes (graft/chain.h); without one the modules run as
 * they did, and results are the same to the bit, fused, unfused and untouched.
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

/* One module of a chain, in every place that its path fits. Names stand for the arrays that a module's interface takes
 * and gives, in that order (a norm takes hidden_states, then the optional residual). An input that bears the name of an
 * output of the module before is what that one gives; all others are as the parent gives them, and so are inputs that
 * are left out. */
struct graft_module_spec {
    uint32_t struct_size;
    int32_t n_inputs;
    const char *path;           /* `*` stands for anything but a dot: "model.layers.*.mlp" */
    const char *const *inputs;  /* [n_inputs]; NULL: one, "hidden_states" */
    const char *const *outputs; /* [n_outputs]; NULL: one, "hidden_states"; "_": nobody's */
    int32_t n_outputs;
    uint32_t reserved;
};

/* [load] Fuses `n` modules, 2 to 16, wherever their paths fit. Each path must fit as many modules as the others,
 * and the modules of a chain must be children of one module and follow each other there. This is tried with two tokens,
 * and refused if a bit of what they end up as differs; modules that these do not reach (of images, of other experts)
 * are checked when they are called. A module is in one chain at most. On failure nothing is fused. Of a model that is
 * not loaded yet the chains are found, and graft_model_load tries them and puts them in place. */
int graft_model_fuse_modules(struct graft_model *model, const struct graft_module_spec *specs, size_t n,
                             struct graft_error *error);

/* [load] Takes apart the chains of the modules that `n` paths fit, or with 0 all. A module that is in no chain, or a
 * model without any, is an error, and nothing changes. */
int graft_model_unfuse_modules(struct graft_model *model, const char *const *paths, size_t n,
                               struct graft_error *error);

/* [any] What runs the chain of the module at `path`: the id of the plugin whose implementation it is, "" when the
 * modules run one after the other; NULL when it is in no chain. Valid until it is unfused. */
const char *graft_model_fused_by(const struct graft_model *model, const char *path);

/* A chain. */
struct graft_chain_info {
    uint32_t struct_size;
    uint32_t reserved;
    const struct graft_named_module *const *modules; /* [n_modules] in the order in which they run */
    size_t n_modules;
    const char *implementation; /* that a plugin offers for their classes; NULL: they run one after the other */
    const char *plugin;         /* its id; or NULL */
};

/* [any] Chain number `i`, in the order of fusing; NULL behind the last. Valid until it is unfused. */
const struct graft_chain_info *graft_model_chain(const struct graft_model *model, size_t i);

#ifdef __cplusplus
}
#endif

#endif
