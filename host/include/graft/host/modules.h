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

#ifdef __cplusplus
extern "C" {
#endif

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
    /* If a kernel runs here (graft/host/implementations.h), the class and plugin above are its own. */
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

#ifdef __cplusplus
}
#endif

#endif
