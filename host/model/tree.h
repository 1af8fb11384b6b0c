/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The module tree of a model. It is first a "meta" tree: structure, classes, parameter names and shapes are known
 * before any weight is read. Later weights are bound to it, and then instances are made.
 */
#ifndef GRAFT_MODEL_TREE_H
#define GRAFT_MODEL_TREE_H

#include "base/arena.h"
#include "config/config.h"
#include "graft/fusion.h"
#include "kernels/states.h"
#include "registry/families.h"
#include "registry/fusion.h"
#include "registry/registry.h"
#include "weights/adapters.h"

/* A parameter of a module. */
struct graft_parameter {
    const char *name;     /* "model.layers.0.mlp.gate_proj.weight"; allocated with the struct */
    const char *own_name; /* the name that the class gave: "weight"; points into `name` */
    struct graft_node *node;
    int32_t rank;
    int32_t init;                  /* GRAFT_INIT_... */
    uint32_t flags;                /* GRAFT_PARAMETER_... */
    int64_t shape[GRAFT_MAX_RANK]; /* entries from `rank` on are 1 */
    /* the parameter whose weight it shares if the checkpoint has none of its own name; or NULL */
    struct graft_parameter *tied_to;
    size_t index;                      /* index of its binding in a plan */
    const struct graft_weight *weight; /* the binding's weight, once bound */
    graft_dtype dtype;                 /* the only type allowed; GRAFT_DTYPE_NONE: any that kernels read */
    struct graft_join join;            /* how the tensors of several modules are joined */
    struct graft_join inputs;          /* how inputs lie in it, for shares of inputs */
};

/* A conversion that the host derives from a class's own. It joins or renames tensors that the class does not know. */
struct graft_derived {
    struct graft_conversion conversion;
    struct graft_operation operations[2];
    char **sources; /* [conversion.n_sources] */
    char *target;
};

/* A share of a module's outputs or inputs that a class declared. */
struct graft_node_share {
    char *name;                   /* name of the module below; "": the class's super */
    int32_t of;                   /* GRAFT_SHARE_... */
    struct graft_operation slice; /* the slice, except for its `dim` */
};

struct graft_node_join;

struct graft_attribute {
    const char *name; /* "kernel_size"; allocated in the tree's arena */
    int32_t count;
    int64_t values[GRAFT_MAX_RANK];
};

/* A state that a module keeps for each sequence. */
struct graft_node_state {
    char *name; /* "conv_states" */
    graft_dtype dtype;
    int32_t rank;
    int64_t shape[GRAFT_MAX_RANK]; /* [rank] */
    struct graft_state state;
};

/* A module. */
struct graft_coded_parameter;
struct graft_node_memory;

struct graft_node {
    const char *name;                             /* "q_proj"; "" for the root. Points into `path` */
    const char *path;                             /* "model.layers.0.self_attn.q_proj"; allocated with the struct */
    const char *class_name;                       /* "Linear"; "ModuleList" or "Sequential" for a list */
    const struct graft_known_class *known;        /* the class built here; NULL for a list */
    const struct graft_known_class *original;     /* the class that it replaces, or NULL */
    const struct graft_known_class *kernel_on;    /* the replacement that the kernel `known` runs; or NULL */
    const struct graft_known_class *described_by; /* the class whose `describe` and conversions apply */
    const struct graft_known_class *made_by;      /* the class whose `create`, `destroy` and `forward` apply */
    struct graft_args args;                       /* copies of the parent's arguments and of a fused class's own */
    struct graft_node *parent;
    struct graft_node **children; /* children, without `super` */
    size_t n_children;
    size_t children_capacity;
    int32_t is_numbered;        /* 1: the children are called "0", "1", ... in this order */
    size_t index;               /* position in graft_tree_walk, once surveyed (library/survey.h) */
    int32_t is_converted;       /* 1: a registered list replaces the conversions of its class */
    struct graft_node *super;   /* the next class of the stack at the same path, which the replacement calls */
    struct graft_node *wrapper; /* the node whose `super` this is; or NULL */
    /* The earlier module whose arguments, attributes and kept memory these are; NULL: they are its own. */
    const struct graft_node *like;
    int32_t is_elsewhere; /* 1: another process has the module, and nothing is below */
    int32_t below_super;  /* 1: it is a super or below one, so that parameters may repeat those of the wrapper */
    int64_t bytes_before; /* bytes of the parameters described before this module's, once measured */
    struct graft_node_join *join;   /* the join, for the outermost node of a joined module; or NULL */
    struct graft_derived **derived; /* conversions that the host derived from the class's own */
    size_t n_derived;
    size_t derived_capacity;
    struct graft_conversion *conversions; /* copies of the conversions that `describe` declared besides the class's */
    size_t n_conversions;
    size_t conversions_capacity;
    struct graft_node_share *shares; /* declared shares of modules below, or of its super */
    size_t n_shares;
    size_t shares_capacity;
    void *kept; /* what the `describe` of `made_by` keeps for its `create`; or NULL */
    size_t kept_bytes;
    struct graft_parameter **parameters;
    size_t n_parameters;
    size_t parameters_capacity;
    struct graft_parameter **sources; /* sources of conversions that `describe` declared */
    size_t n_sources;
    size_t sources_capacity;
    struct graft_attribute *attributes;
    size_t n_attributes;
    size_t attributes_capacity;
    struct graft_node_state *states;
    size_t n_states;
    size_t states_capacity;
    struct graft_coded_parameter *coded; /* coded parameters (coded.h) */
    size_t n_coded;
    size_t coded_capacity;
    struct graft_node_memory *memory; /* memory of the host that its class uses */
    struct graft_module_info info;    /* for fusion families, which reach it from a module above */
    struct graft_module module;       /* the instance; `module.forward` is NULL until it is made */
};

/* A tie of two names of which only one is a parameter: a replacement converts the other, or its module is in another
 * process. */
struct graft_tied_name {
    char *name;     /* "lm_head.weight" */
    char *tensor;   /* what the checkpoint may have instead: "model.embed_tokens.weight" */
    int32_t is_own; /* 1: `name` is the parameter, and the other's module is in another process */
};

struct graft_tree {
    struct graft_node *root;
    struct graft_arena arena; /* memory of nodes and parameters, which are freed together */
    const struct graft_model_config *config;
    struct graft_snapshot *snapshot;
    struct graft_assignment *assignment; /* what the replacements did (registry/assignment.h) */
    /* What each requested fusion family found (registry/fused_modules.h). */
    const struct graft_fused_modules **fused_modules;
    size_t n_fused_modules;
    struct graft_tied_name *tied_names;
    size_t n_tied_names;
    size_t tied_names_capacity;
    size_t n_nodes;
    size_t n_parameters;
    int32_t n_states;
    size_t n_elsewhere;    /* number of modules that other processes have */
    int32_t wants_sizes;   /* 1: a class asked for the sizes of modules */
    int32_t has_instances; /* 1: instances were made, or some of them before one failed */
    int64_t bytes;         /* bytes of all parameters, once measured */
};

/* What to build. */
struct graft_tree_options {
    const struct graft_model_config *config; /* config; outlives the tree */
    struct graft_snapshot *snapshot;         /* snapshot, of which the tree takes a reference */
    const char *class_name;                  /* class of the root: "LlamaForCausalLM" */
    const struct graft_known_family *family; /* the root's family; NULL: the host's */
    int32_t without_replacements;            /* 1: no class is replaced */
    const char *only_method;  /* only plugins that read this quant_method replace classes; NULL: all do */
    int32_t skip_bad_plugins; /* 1: plugins whose pattern matches other interfaces are left out with a note */
    const struct graft_fusion_request *fusion; /* the fusions requested; NULL: none */
    const struct graft_model_facts *facts;     /* facts for conditions of replacements; NULL: no condition holds */
    const struct graft_adapters *adapters;     /* adapters that classes may use; NULL: none */
    const struct graft_tree *sized;            /* a measured tree of the same model; NULL: sizes are unknown */
    struct graft_tree *plain;                  /* a tree of the same model without replacements; or NULL */
    size_t max_nodes;                          /* the most modules allowed; 0: only the general limit applies */
};

/* [load] Builds the meta tree. The caller frees it. */
int graft_tree_build(const struct graft_tree_options *options, struct graft_tree **tree, struct graft_error *error);
void graft_tree_free(struct graft_tree *tree);

/* [any] The module at a path relative to `from` ("" is `from` itself); NULL if there is none. */
struct graft_node *graft_node_find(struct graft_node *from, const char *path);

/* [any] Whether two nodes are in, or below, different classes of the same stack, so that both may be filled from the
 * same tensors. */
int graft_nodes_share_tensors(const struct graft_node *a, const struct graft_node *b);

/* [any] Whether the module's class has this interface. Accepts NULL. */
int graft_node_has_interface(const struct graft_node *node, const char *interface_id);

/* [any] The module whose conversions come before those of this one: its wrapper, or else its parent. */
struct graft_node *graft_node_above(const struct graft_node *node);

/* [any] Conversion number `i` of a module: first those that its description declared, then the class's, then derived
 * ones; NULL after the last. */
const struct graft_conversion *graft_node_conversion(const struct graft_node *node, size_t i);

/* [load] The build for a `create` at the node, without `super`. It belongs to the tree and the node. */
struct graft_build graft_node_build(struct graft_node *node, const struct graft_tree *tree,
                                    const struct graft_host *host);

/* [any] The parameter with that name in the class, or NULL. */
struct graft_parameter *graft_node_parameter(const struct graft_node *node, const char *own_name);

/* [any] The parameter at a path below a node ("mlp.up_proj.weight"), of the node or of one that it wraps; NULL if there
 * is none. */
struct graft_parameter *graft_node_find_parameter(struct graft_node *from, const char *path);

/* [any] The state of that name, or NULL. */
const struct graft_state *graft_node_state(const struct graft_node *node, const char *name);

/* [any] An attribute of the root ("vocab_size"), or of the original that the root wraps; `fallback` if neither has
 * it. */
int64_t graft_tree_number(const struct graft_tree *tree, const char *name, int64_t fallback);

/* [any] Whether the module at a path is described before the first module of an interface; 0 if there is no such
 * module. */
int graft_tree_comes_before(const struct graft_tree *tree, const char *path, const char *interface_id);

/* [load] Computes the sizes of all parameters, in the order of description. */
void graft_tree_measure(struct graft_tree *tree);

/* [any] In a measured tree: the bytes before the module at `path`; all bytes if there is no such module or `path` is
 * NULL. */
int64_t graft_tree_bytes_before(const struct graft_tree *tree, const char *path);

/* [any] Calls `visit` for every module, parents first, and a module's `super` right after the module. Stops at the
 * first status other than GRAFT_OK, and returns it. */
typedef int (*graft_node_visitor)(void *data, struct graft_node *node, struct graft_error *error);
int graft_tree_walk(struct graft_tree *tree, graft_node_visitor visit, void *data, struct graft_error *error);

/* [load] Makes the instances, children first, from the bound weights. */
int graft_tree_instantiate(struct graft_tree *tree, const struct graft_host *host, struct graft_error *error);

/* [load] Destroys the instances, parents first. */
void graft_tree_destroy_instances(struct graft_tree *tree);

#endif
