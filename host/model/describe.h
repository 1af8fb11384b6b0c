/* SPDX-License-Identifier: Apache-2.0 */
/* The state while a tree is built. Used in this folder only. */
#ifndef GRAFT_MODEL_DESCRIBE_H
#define GRAFT_MODEL_DESCRIBE_H

#include "model/alike.h"
#include "model/fusion.h"
#include "model/tree.h"

/* Limits on what a config can make a class describe: how deeply modules and bases may be nested, and how many modules
 * and parameters a model may have. */
enum { GRAFT_MAX_DEPTH = 64, GRAFT_MAX_NODES = 1 << 20, GRAFT_MAX_PARAMETERS = 1 << 21 };

struct tie {
    struct graft_node *node;
    char *name;
    char *source;
};

struct builder {
    const struct graft_tree_options *options;
    struct graft_assignment *assignment; /* counts what replacements do; or NULL */
    const struct fusions *fusions;       /* found in a tree without replacements; or NULL */
    struct graft_tree *tree;
    struct graft_node *describing;                    /* the module whose `describe` runs; NULL at the root */
    const struct graft_known_class *describing_class; /* the class whose `describe` runs */
    const struct graft_sink *sink;                    /* the sink of that description */
    int32_t depth;
    int32_t blamed; /* 1: a description failed, and the error names its class */
    /* What so far depended on where modules are: resolutions and descriptions that may differ at another path. */
    size_t n_by_place;
    size_t n_shares; /* shares that classes declared, which depend on paths */
    struct alikes alikes;
    struct tie *ties;
    size_t n_ties;
    size_t ties_capacity;
};

/* Adds a module below `parent` (NULL: the root) and everything that it describes. */
int graft_builder_add_child(struct builder *builder, struct graft_node *parent, const char *name,
                            const struct graft_child_info *info, struct graft_error *error);

/* The maximum number of modules that the tree may have. */
size_t graft_builder_max_nodes(const struct builder *builder);

/* Runs the description of the node's class. */
int graft_builder_describe(struct builder *builder, struct graft_node *node, struct graft_error *error);

/* Runs `describe` of builder->describing_class at the node, and blames it if it fails. */
int graft_builder_run_describe(struct builder *builder, struct graft_node *node, const struct graft_sink *sink,
                               struct graft_error *error);

/* Makes the sink for a description of the node, whose path in config.json is `config_path`. */
struct graft_sink graft_builder_sink(struct builder *builder, const struct graft_node *node, const char *config_path);

/* Makes a sink ignore everything except parameters and `keep`. */
void graft_builder_ignore_structure(struct graft_sink *sink);

/* Implements `keep` of a sink, whose data is the builder. */
void *graft_builder_keep(void *data, int64_t bytes, struct graft_error *error);

/* If the class that creates the node is not the one that described it, runs that class's `describe` too, only for what
 * it keeps. `sink` is the sink of the first description. */
int graft_builder_keep_for_create(struct builder *builder, struct graft_node *node, const struct graft_sink *sink,
                                  struct graft_error *error);

/* Checks that arguments have what the interface says parents give. Plugins' own interfaces are not checked. */
int graft_builder_check_arguments(const struct builder *builder, const char *what, const char *name,
                                  const char *interface_id, const struct graft_args *args, struct graft_error *error);

/* Implements `base` of a sink, whose data is the builder. */
int graft_builder_base(void *data, const struct graft_args *more, struct graft_error *error);

/* Implement `conversion` and `super` of a sink, whose data is the builder. */
int graft_builder_conversion(void *data, const struct graft_conversion *conversion, struct graft_error *error);
int graft_builder_super(void *data, const struct graft_args *more, struct graft_error *error);

/* Implements `share` of a sink, whose data is the builder. */
int graft_builder_share(void *data, const char *name, int32_t of, const struct graft_operation *slice,
                        struct graft_error *error);

/* Call this after a module's description: adds conversions to classes above that declared a share of the module. */
int graft_share_parameters(struct builder *builder, struct graft_node *node, struct graft_error *error);

/* Turns declared ties into links between parameters. */
int graft_builder_resolve_ties(struct builder *builder, struct graft_error *error);

/* Builds the tree in one pass, without taking a reference to the snapshot. `assignment` and `fusions` may be NULL. */
int graft_builder_build(const struct graft_tree_options *options, struct graft_assignment *assignment,
                        const struct fusions *fusions, struct graft_tree **tree, struct graft_error *error);

/* Builds the tree in one pass without replacements. */
int graft_builder_build_plain(const struct graft_tree_options *options, struct graft_tree **tree,
                              struct graft_error *error);

/* Frees everything but the tree. */
void graft_builder_finish(struct builder *builder);

#endif
