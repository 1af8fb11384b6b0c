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
    GRAFT_MODULE_LIST = 1, /* a ModuleList or Sequential: it has children and no class of its own */
    /* What a replacement calls (GRAFT_CLASS_CALLS_SUPER): another one, or the original. It has the replacement's path,
     * and is reached through its `super` and by graft_model_module, but not by graft_model_find_module. */
    GRAFT_MODULE_SUPER = 2
};

/* A fact about a module under its field name in transformers: in_features, kernel_size. */
struct graft_module_attribute {
    uint32_t struct_size;
    int32_t count;         /* of values; > 0 */
    const char *name;      /* "kernel_size" */
    const int64_t *values; /* [count] */
};

/* What a module keeps for each sequence (graft/state.h). */
struct graft_module_state {
    uint32_t struct_size;
    int32_t rank;         /* dimensions */
    const char *name;     /* "conv_states" */
    const int64_t *shape; /* [rank] of one sequence */
    graft_dtype dtype;    /* of the elements */
    uint32_t reserved;
};

struct graft_named_module {
    uint32_t struct_size;
    uint32_t flags;             /* GRAFT_MODULE_..., joined by | */
    const char *path;           /* "model.layers.0.self_attn"; "" for the model itself */
    const char *name;           /* the last part of the path */
    const char *class_name;     /* "LlamaAttention"; "ModuleList" or "Sequential" for a list */
    const char *original_class; /* the class that this one replaces; NULL: it is the original */
    const char *interface_id;   /* "graft.self_attention/1"; NULL for a list */
    const char *plugin;         /* id of the plugin whose class this is; "program": by a call; NULL: the host's own */
    const char *file;           /* of that plugin; or NULL */
    /* If a kernel runs here (graft/host/library.h), the class and plugin above are its own. */
    const char *kernel;                      /* its name; NULL: none */
    const char *kernel_on;                   /* the replacement whose forward it runs for; NULL: the original's */
    const char *kernel_on_plugin;            /* that brings that replacement; or NULL */
    const char *kernel_on_file;              /* of that plugin; or NULL */
    const struct graft_class *cls;           /* NULL for a list */
    const struct graft_named_module *parent; /* NULL for the model itself */
    const struct graft_named_module *super;  /* what this replacement calls; or NULL */
    const struct graft_named_module *const *children; /* [n_children] */
    size_t n_children;
    const struct graft_planned_parameter *const *parameters; /* [n_parameters] its own: graft/host/plan.h */
    size_t n_parameters;
    const struct graft_module_attribute *const *attributes; /* [n_attributes] */
    size_t n_attributes;
    const struct graft_args
        *arguments; /* what its parent passed to its class ("layer_idx"): graft/args.h; NULL: a list */
    const struct graft_module_state *const *states; /* [n_states] */
    size_t n_states;
};

/* [any] Module number `i`, parents before their children and what a replacement calls right after it; NULL after the
 * last. */
const struct graft_named_module *graft_model_module(const struct graft_model *model, size_t i);

/* [any] The module at a path ("" is the model itself); NULL if there is none. */
const struct graft_named_module *graft_model_find_module(const struct graft_model *model, const char *path);

/* --- One module --- */

/*
 *     float x[3 * 64], y[3 * 128];
 *     struct graft_linear_args args = {.struct_size = sizeof args, .tokens = 3, .x = x, .y = y};
 *     graft_model_run_module(model, "model.layers.0.mlp.up_proj", &args, &error);
 */

/* [any, one thread per model] Runs one module of a loaded model, what replaces it if anything does, as its parent
 * would, outside a forward of the model. `args` is the struct of its interface (graft/linear.h for "graft.linear/1"):
 * arrays are the caller's, as large as the interface says. The host brings all else: arithmetic, threads, scratch
 * memory, and implementations chosen by name. Where args have a batch, its cache is NULL, and then sequences begin with
 * it and nothing is kept of them, or one that graft_model_create_cache made. A path that leads to no module, or to a
 * list, a module in a chain, args that lack an array, slots that the cache does not have, and ids of tokens that the
 * model does not have are GRAFT_ERROR_USAGE. */
int graft_model_run_module(struct graft_model *model, const char *path, const void *args, struct graft_error *error);

/* [any, one thread per model] A cache for `slots` > 0 sequences 0 .. slots - 1, all empty, to be put into a batch: what
 * modules that are run with it keep of earlier tokens. It holds keys and values in the type that the model's own caches
 * have. A module finds there the tokens that it was itself given before: a sequence goes on at the position behind them
 * (anything else is GRAFT_ERROR_INTERNAL) and begins anew at position 0 once it is truncated to 0 tokens. After a call
 * that failed a sequence may hold its tokens or not: truncate it to where it was. The caller's, until graft_cache_free.
 */
int graft_model_create_cache(const struct graft_model *model, int32_t slots, struct graft_cache **cache,
                             struct graft_error *error);

/* [any] The cache may outlive its model. NULL is none. */
void graft_cache_free(struct graft_cache *cache);

/* [any, one thread per cache] Drops all but the first `length` tokens of a sequence. States of modules (graft/state.h)
 * are known before the last step and at the start alone: another length is GRAFT_ERROR_USAGE, and the sequence is then
 * empty. */
int graft_cache_truncate(struct graft_cache *cache, int32_t slot, int64_t length, struct graft_error *error);

/* [any, one thread for both caches] Copies the first `length` tokens of a sequence of `source`, or all if there are
 * fewer, over a sequence of `target`: the same cache or another of the same model. States of modules are copied as they
 * are now alone: another length is GRAFT_ERROR_USAGE, and nothing is changed. If memory runs out, the target is empty.
 */
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
