/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The module tree of a model. It is built "meta" first: structure, classes, parameter names and shapes are known before
 * a byte of weight is read. Weights are bound to it later, then instances are made in it.
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

/* A parameter of one module. */
struct graft_parameter {
    const char *name;     /* "model.layers.0.mlp.gate_proj.weight"; lies behind the struct */
    const char *own_name; /* its last part, as the class gave it: "weight"; points into `name` */
    struct graft_node *node;
    int32_t rank;
    int32_t init;                      /* GRAFT_INIT_... */
    uint32_t flags;                    /* GRAFT_PARAMETER_... */
    int64_t shape[GRAFT_MAX_RANK];     /* entries from `rank` on are 1 */
    struct graft_parameter *tied_to;   /* whose weight it takes when the checkpoint has none of its name; or NULL */
    size_t index;                      /* of its binding in a plan */
    const struct graft_weight *weight; /* once bound; the binding's */
    graft_dtype dtype;                 /* the only type it may have; GRAFT_DTYPE_NONE: any that kernels read */
    struct graft_join join;            /* how those of several modules become one */
    struct graft_join inputs;          /* how inputs lie in it, for who has a share of them */
};

/* A conversion that the host derives from a class's own: it joins or renames tensors that the class knows nothing of.
 */
struct graft_derived {
    struct graft_conversion conversion;
    struct graft_operation operations[2];
    char **sources; /* [conversion.n_sources] */
    char *target;
};

/* A share of a module's outputs or inputs, which a class declared for it. */
struct graft_node_share {
    char *name;                   /* of the module below; "": of what the class calls */
    int32_t of;                   /* GRAFT_SHARE_... */
    struct graft_operation slice; /* but for its `dim` */
};

struct graft_node_join;

struct graft_attribute {
    const char *name; /* "kernel_size"; in the tree's arena */
    int32_t count;
    int64_t values[GRAFT_MAX_RANK];
};

/* What a module keeps of each sequence. */
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
    const char *name;                          /* "q_proj"; of the root "". Points into `path` */
    const char *path;                          /* "model.layers.0.self_attn.q_proj"; lies behind the struct */
    const char *class_name;                    /* "Linear"; "ModuleList" or "Sequential" for a list */
    const struct graft_known_class *known;     /* the class built here; NULL for a list */
    const struct graft_known_class *original;  /* the class it replaces, or NULL */
    const struct graft_known_class *kernel_on; /* the replacement that a kernel runs here, `known`; or NULL */
    const struct graft_known_class *describer; /* whose `describe` and conversions hold here */
    const struct graft_known_class *maker;     /* whose `create`, `destroy` and `forward` */
    struct graft_args args;                    /* what the parent gives, and what a fused class has beside it; copies */
    struct graft_node *parent;
    struct graft_node **children; /* without `super` */
    size_t n_children;
    size_t children_capacity;
    int32_t is_numbered;            /* 1: its children are called "0", "1", ... in this order */
    size_t index;                   /* in the order of graft_tree_walk, once that was surveyed (library/survey.h) */
    int32_t is_converted;           /* a registered list takes the place of its class's conversions */
    struct graft_node *super;       /* the next class of the stack at the same path, for a replacement that calls it */
    struct graft_node *wrapper;     /* the node whose `super` this is; or NULL */
    int32_t is_elsewhere;           /* another process has it: there is nothing below */
    int32_t below_super;            /* this is one's super, or part of it: parameters may repeat those of the wrapper */
    int64_t bytes_before;           /* of parameters described before this module's, once measured */
    struct graft_node_join *join;   /* of the outermost node of a module that its parent's class joins; or NULL */
    struct graft_derived **derived; /* what this class joins beside what its own conversions do */
    size_t n_derived;
    size_t derived_capacity;
    struct graft_conversion *conversions; /* that `describe` declared beside those of the class: copies */
    size_t n_conversions;
    size_t conversions_capacity;
    struct graft_node_share *shares; /* of modules below, or of its super */
    size_t n_shares;
    size_t shares_capacity;
    void *kept; /* what the maker's `describe` keeps for its `create`, or NULL */
    size_t kept_bytes;
    struct graft_parameter **parameters;
    size_t n_parameters;
    size_t parameters_capacity;
    struct graft_parameter **sources; /* what its conversions make some of them of, if `describe` says so */
    size_t n_sources;
    size_t sources_capacity;
    struct graft_attribute *attributes;
    size_t n_attributes;
    size_t attributes_capacity;
    struct graft_node_state *states;
    size_t n_states;
    size_t states_capacity;
    struct graft_coded_parameter *coded; /* parameters whose numbers are codes (coded.h) */
    size_t n_coded;
    size_t coded_capacity;
    struct graft_node_memory *memory; /* what its class was given of the host's */
    struct graft_module_info info;    /* for fusion families that look at it from a module above */
    struct graft_module module;       /* the instance, once made: `module.forward` is NULL until then */
};

/* A name that is tied to another, of which only one is a parameter: of the other a replacement makes something else, or
 * its module is elsewhere. */
struct graft_tied_name {
    char *name;     /* "lm_head.weight" */
    char *tensor;   /* what the checkpoint may have in its place: "model.embed_tokens.weight" */
    int32_t is_own; /* 1: the parameter is that of `name`, and the module of the other is elsewhere */
};

struct graft_tree {
    struct graft_node *root;
    struct graft_arena arena; /* of its nodes and their parameters, which are freed together */
    const struct graft_model_config *config;
    struct graft_snapshot *snapshot;
    struct graft_assignment *assignment; /* what the replacements did: registry/assignment.h */
    /* What each fusion family that was asked for found: registry/fused_modules.h. */
    const struct graft_fused_modules **fused_modules;
    size_t n_fused_modules;
    struct graft_tied_name *tied_names;
    size_t n_tied_names;
    size_t tied_names_capacity;
    size_t n_nodes;
    size_t n_parameters;
    int32_t n_states;
    size_t n_elsewhere;  /* modules that another process has */
    int32_t wants_sizes; /* a class asked how many bytes others have */
    int64_t bytes;       /* of all parameters, once measured */
};

/* What to build. */
struct graft_tree_options {
    const struct graft_model_config *config;   /* outlives the tree */
    struct graft_snapshot *snapshot;           /* the tree takes a reference of its own */
    const char *class_name;                    /* of the root: "LlamaForCausalLM" */
    const struct graft_known_family *family;   /* whose root it is; NULL: the host's */
    int32_t without_replacements;              /* 1: every class is the original one */
    const char *only_method;                   /* NULL; or only plugins that read this quant_method replace classes */
    int32_t skip_bad_plugins;                  /* 1: one whose pattern hits what it may not is left out, with a note */
    const struct graft_fusion_request *fusion; /* what is to be fused; NULL: nothing */
    const struct graft_model_facts *facts;     /* for the conditions of replacements; NULL: none holds */
    const struct graft_adapters *adapters;     /* what classes may ask for; NULL: none */
    const struct graft_tree *sized;            /* the same model, measured; NULL: it is not known yet */
    struct graft_tree *plain;                  /* the same without replacements: what there is to join; or NULL */
    size_t max_nodes;                          /* more modules are an error; 0: only the limit for all models holds */
};

/* [load] Builds the meta tree. The caller frees it. */
int graft_tree_build(const struct graft_tree_options *options, struct graft_tree **tree, struct graft_error *error);
void graft_tree_free(struct graft_tree *tree);

/* [any] The module at a path relative to `from` ("" is `from` itself); NULL if there is none. */
struct graft_node *graft_node_find(struct graft_node *from, const char *path);

/* [any] Whether the two are in one stack, or parts of modules that are, but not of the same one: then both may be
 * filled from the same tensors. */
int graft_nodes_share_tensors(const struct graft_node *a, const struct graft_node *b);

/* [any] Whether the module is of a class that has this interface; NULL is none. */
int graft_node_has_interface(const struct graft_node *node, const char *interface_id);

/* [any] The module whose conversions may change what those of this one are given: the one that calls it as its super,
 * or the one that it is a child of. */
struct graft_node *graft_node_above(const struct graft_node *node);

/* [any] Conversion number `i` that holds at a module: those that its description declared, the class's, then those
 * derived from them; NULL behind the last. */
const struct graft_conversion *graft_node_conversion(const struct graft_node *node, size_t i);

/* [load] What a `create` for the node works with; without the original of a replacement. The tree's, and the node's. */
struct graft_build graft_node_build(struct graft_node *node, const struct graft_tree *tree,
                                    const struct graft_host *host);

/* [any] The parameter of that own name, or NULL. */
struct graft_parameter *graft_node_parameter(const struct graft_node *node, const char *own_name);

/* [any] The parameter at a path below a node ("mlp.up_proj.weight"), its own or that of one it wraps; NULL: none. */
struct graft_parameter *graft_node_find_parameter(struct graft_node *from, const char *path);

/* [any] The state of that name, or NULL. */
const struct graft_state *graft_node_state(const struct graft_node *node, const char *name);

/* [any] A number that the root describes as an attribute ("vocab_size"), or where it leaves the description to the
 * original, that describes; `fallback` if neither does. */
int64_t graft_tree_number(const struct graft_tree *tree, const char *name, int64_t fallback);

/* [any] Whether the module at a path is described before the first one of an interface. 0 where there is none. */
int graft_tree_comes_before(const struct graft_tree *tree, const char *path, const char *interface_id);

/* [load] Adds up what the parameters weigh, in the order of description. */
void graft_tree_measure(struct graft_tree *tree);

/* [any] In a tree that was measured: the bytes before the module at `path`; all where there is none, and for NULL. */
int64_t graft_tree_bytes_before(const struct graft_tree *tree, const char *path);

/* [any] Calls `visit` for every module, parents first, a module's `super` right after the module. Stops at the first
 * status that is not GRAFT_OK, and returns it. */
typedef int (*graft_node_visitor)(void *data, struct graft_node *node, struct graft_error *error);
int graft_tree_walk(struct graft_tree *tree, graft_node_visitor visit, void *data, struct graft_error *error);

/* [load] Makes the instances, children first, from the bound weights. */
int graft_tree_instantiate(struct graft_tree *tree, const struct graft_host *host, struct graft_error *error);

/* [load] Destroys the instances, parents first. */
void graft_tree_destroy_instances(struct graft_tree *tree);

#endif
