/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The modules of a model, by path and class, as transformers' named_modules() lists them.
 *
 *     const struct graft_named_module *module;
 *     for (size_t i = 0; (module = graft_model_module(model, i)) != NULL; i++) {
 *         printf("%s: %s\n", module->path, module->class_name);
 *     }
 *
 * Modules are known once the model is open, before a weight is read. Everything returned belongs to the model, is
 * const, and stays valid until graft_model_free. Structs may grow at their end: check with GRAFT_HAS (graft/abi.h)
 * before you read a field that may be newer than the library.
 */
#ifndef GRAFT_HOST_MODULES_H
#define GRAFT_HOST_MODULES_H

#include <stddef.h>
#include <stdint.h>

#include "graft/class.h"
#include "graft/error.h"

#ifdef __cplusplus
extern "C" {
#endif

struct graft_cache; /* graft/batch.h */
struct graft_model;
struct graft_planned_parameter;

enum {
    GRAFT_MODULE_LIST = 1, /* a ModuleList or Sequential, which has children but no class */
    /* A module that a replacement calls (GRAFT_CLASS_CALLS_SUPER): another replacement, or the original. It has the
       replacement's path, and is reached through its `super` and by graft_model_module, but not by
       graft_model_find_module. */
    GRAFT_MODULE_SUPER = 2
};

/* A fact about a module under its field name in transformers: in_features, kernel_size. */
struct graft_module_attribute {
    uint32_t struct_size;
    int32_t count;         /* number of values; > 0 */
    const char *name;      /* "kernel_size" */
    const int64_t *values; /* [count] */
};

/* A state that a module keeps for each sequence (graft/state.h). */
struct graft_module_state {
    uint32_t struct_size;
    int32_t rank;         /* dimensions */
    const char *name;     /* "conv_states" */
    const int64_t *shape; /* [rank] shape for one sequence */
    graft_dtype dtype;    /* type of the elements */
    uint32_t reserved;
};

struct graft_named_module {
    uint32_t struct_size;
    uint32_t flags;             /* GRAFT_MODULE_..., joined by | */
    const char *path;           /* "model.layers.0.self_attn"; "" for the model itself */
    const char *name;           /* last component of the path */
    const char *class_name;     /* "LlamaAttention"; "ModuleList" or "Sequential" for a list */
    const char *original_class; /* the class that this one replaces; NULL: nothing was replaced */
    const char *interface_id;   /* "graft.self_attention/1"; NULL for a list */
    const char *plugin;         /* id of the class's plugin; "program" if registered by a call; NULL: the host's own */
    const char *file;           /* the plugin's file; or NULL */
    /* If a kernel runs here (graft/host/library.h), the class and plugin above are the kernel's. */
    const char *kernel;                               /* the kernel's name; NULL: none */
    const char *kernel_on;                            /* the replacement that the kernel runs for; NULL: the original */
    const char *kernel_on_plugin;                     /* id of that replacement's plugin; or NULL */
    const char *kernel_on_file;                       /* that plugin's file; or NULL */
    const struct graft_class *cls;                    /* NULL for a list */
    const struct graft_named_module *parent;          /* NULL for the model itself */
    const struct graft_named_module *super;           /* the module that this replacement calls; or NULL */
    const struct graft_named_module *const *children; /* [n_children] */
    size_t n_children;
    const struct graft_planned_parameter *const *parameters; /* [n_parameters] its parameters: graft/host/plan.h */
    size_t n_parameters;
    const struct graft_module_attribute *const *attributes; /* [n_attributes] */
    size_t n_attributes;
    const struct graft_args *arguments; /* arguments from its parent ("layer_idx", graft/args.h); NULL for a list */
    const struct graft_module_state *const *states; /* [n_states] */
    size_t n_states;
};

/* [any] Module `i`: parents come before their children, and a replacement is followed by the module that it calls; NULL
 * after the last. */
const struct graft_named_module *graft_model_module(const struct graft_model *model, size_t i);

/* [any] The module at a path ("" is the model itself); NULL if there is none. */
const struct graft_named_module *graft_model_find_module(const struct graft_model *model, const char *path);

/* --- One module --- */

/*
 *     float x[3 * 64], y[3 * 128];
 *     struct graft_linear_args args = {.struct_size = sizeof args, .tokens = 3, .x = x, .y = y};
 *     graft_model_run_module(model, "model.layers.0.mlp.up_proj", &args, &error);
 */

/* [any, one thread per model] Runs one module of a loaded model, or its replacement, as its parent would, but outside
 * of a forward of the model.
 *
 * `args` is the struct of the module's interface (graft/linear.h for "graft.linear/1"); its arrays belong to the caller
 * and have the sizes that the interface states. The host supplies the rest: arithmetic, threads, scratch memory, and
 * implementations chosen by name. If args contain a batch, its cache is either NULL (sequences begin in this call and
 * nothing is kept of them) or one from graft_model_create_cache.
 *
 * GRAFT_ERROR_USAGE: the path leads to no module, to a list, or to a module in a chain; an array is missing; a slot is
 * not in the cache; an id is not in the vocabulary. */
int graft_model_run_module(struct graft_model *model, const char *path, const void *args, struct graft_error *error);

/* [any, one thread per model] Creates a cache for the sequences 0 .. slots - 1, all empty. Put it into the batch of
 * modules that are run alone: they keep and find keys, values and states of earlier tokens in it, with the types that
 * the model's own caches have.
 *
 * A module finds the tokens that were given to that module before. A sequence must continue at the next position
 * (anything else is GRAFT_ERROR_INTERNAL), or begin at position 0 after it was truncated to 0 tokens. After a call that
 * failed, a sequence may or may not contain its tokens: truncate it to its earlier length. The caller frees the cache
 * with graft_cache_free. */
int graft_model_create_cache(const struct graft_model *model, int32_t slots, struct graft_cache **cache,
                             struct graft_error *error);

/* [any] Frees a cache, which may outlive its model. Accepts NULL. */
void graft_cache_free(struct graft_cache *cache);

/* [any, one thread per cache] Drops all but the first `length` tokens of a sequence. States of modules (graft/state.h)
 * can only be restored to the start or to before the last step: any other length is GRAFT_ERROR_USAGE and empties the
 * sequence. */
int graft_cache_truncate(struct graft_cache *cache, int32_t slot, int64_t length, struct graft_error *error);

/* [any, one thread for both caches] Copies the first `length` tokens of a sequence of `source` (all, if it has fewer)
 * to a sequence of `target`, replacing it. The two may be one cache, or caches of the same model. States of modules can
 * only be copied with all tokens: another length is GRAFT_ERROR_USAGE and changes nothing. If memory runs out, the
 * target sequence is empty. */
int graft_cache_copy(const struct graft_cache *source, int32_t from, struct graft_cache *target, int32_t to,
                     int64_t length, struct graft_error *error);

/* --- Chains --- */

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

/* One module of a chain, wherever its path matches. The names stand for the arrays that a module's interface takes and
 * returns, in that order (a norm takes hidden_states, then the optional residual). An input with the name of an output
 * of the previous module is that output. All others, including those not listed, come from the parent. */
struct graft_module_spec {
    uint32_t struct_size;
    int32_t n_inputs;
    const char *path;           /* `*` matches anything but a dot: "model.layers.*.mlp" */
    const char *const *inputs;  /* [n_inputs]; NULL: one, "hidden_states" */
    const char *const *outputs; /* [n_outputs]; NULL: one, "hidden_states"; "_": not passed on */
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

/* [load] Dissolves the chains that contain modules matched by `n` paths; with `n` 0, all chains. A module that is in no
 * chain, or a model without chains, is an error, and nothing changes. */
int graft_model_unfuse_modules(struct graft_model *model, const char *const *paths, size_t n,
                               struct graft_error *error);

/* [any] What runs the chain of the module at `path`: the id of the plugin that implements it, or "" if the modules run
 * one after another; NULL if the module is in no chain. Valid until the chain is unfused. */
const char *graft_model_fused_by(const struct graft_model *model, const char *path);

/* A chain. */
struct graft_chain_info {
    uint32_t struct_size;
    uint32_t reserved;
    const struct graft_named_module *const *modules; /* [n_modules] in the order of execution */
    size_t n_modules;
    const char *implementation; /* name of the plugin's implementation; NULL: modules run one after another */
    const char *plugin;         /* id of that plugin; or NULL */
};

/* [any] Chain `i`, in the order of fusing; NULL after the last. Valid until it is unfused. */
const struct graft_chain_info *graft_model_chain(const struct graft_model *model, size_t i);

#ifdef __cplusplus
}
#endif

#endif
