/* SPDX-License-Identifier: Apache-2.0 */
/* The state of building a tree: shared by the units of this folder only. */
#ifndef GRAFT_MODEL_DESCRIBE_H
#define GRAFT_MODEL_DESCRIBE_H

#include "model/fusion.h"
#include "model/tree.h"

/* How deep modules, and bases of bases, may be nested. */
enum { GRAFT_MAX_DEPTH = 64 };

struct tie {
    struct graft_node *node;
    char *name;
    char *source;
};

struct builder {
    const struct graft_tree_options *options;
    struct graft_assignment *assignment; /* counts what replacements do, or NULL */
    const struct fusions *fusions;       /* found in a tree without replacements, or NULL */
    struct graft_tree *tree;
    struct graft_node *describing;             /* the module whose `describe` is running; NULL at the root */
    const struct graft_known_class *describer; /* and whose `describe` that is */
    const struct graft_sink *sink;             /* where that description goes */
    int32_t depth;
    int32_t blamed; /* a description failed, and the error says which */
    struct tie *ties;
    size_t n_ties;
    size_t ties_capacity;
};

/* Adds a module below `parent` (NULL: the root) and all that it describes. */
int graft_builder_add_child(struct builder *builder, struct graft_node *parent, const char *name,
                            const struct graft_child_info *info, struct graft_error *error);

/* Lets the node's class describe itself into the tree. */
int graft_builder_describe(struct builder *builder, struct graft_node *node, struct graft_error *error);

/* Runs the `describe` of builder->describer at the node; one that fails is blamed. */
int graft_builder_run_describe(struct builder *builder, struct graft_node *node, const struct graft_sink *sink,
                               struct graft_error *error);

/* The sink for a description of the node, which config.json calls `config_path`. */
struct graft_sink graft_builder_sink(struct builder *builder, const struct graft_node *node, const char *config_path);

/* Makes a sink take no notice of anything but parameters and what is kept. */
void graft_builder_ignore_structure(struct graft_sink *sink);

/* The `keep` of a sink, whose data is the builder. */
void *graft_builder_keep(void *data, int64_t bytes, struct graft_error *error);

/* Where one class has described the node and another makes it, lets the `describe` that goes with the maker run
 * as well, for what it keeps and nothing else. `sink` is the one that was described to. */
int graft_builder_keep_for_maker(struct builder *builder, struct graft_node *node, const struct graft_sink *sink,
                                 struct graft_error *error);

/* Whether the arguments of `what` and `name` are those that the interface says parents give. Interfaces of plugins say
 * nothing here. */
int graft_builder_check_arguments(const struct builder *builder, const char *what, const char *name,
                                  const char *interface_id, const struct graft_args *args, struct graft_error *error);

/* The `base` of a sink, whose data is the builder. */
int graft_builder_base(void *data, const struct graft_args *more, struct graft_error *error);

/* The `conversion` and the `super` of a sink, whose data is the builder. */
int graft_builder_conversion(void *data, const struct graft_conversion *conversion, struct graft_error *error);
int graft_builder_super(void *data, const struct graft_args *more, struct graft_error *error);

/* The `share` of a sink, whose data is the builder. */
int graft_builder_share(void *data, const char *name, int32_t of, const struct graft_operation *slice,
                        struct graft_error *error);

/* After a module's description: adds conversions to the classes above that have declared shares of it. */
int graft_share_parameters(struct builder *builder, struct graft_node *node, struct graft_error *error);

/* Turns the ties declared into links between parameters. */
int graft_builder_resolve_ties(struct builder *builder, struct graft_error *error);

/* One pass over the model: the tree without its snapshot. `assignment` and `fusions` may be NULL. */
int graft_builder_build(const struct graft_tree_options *options, struct graft_assignment *assignment,
                        const struct fusions *fusions, struct graft_tree **tree, struct graft_error *error);

/* One pass in which every class is the original one. */
int graft_builder_build_plain(const struct graft_tree_options *options, struct graft_tree **tree,
                              struct graft_error *error);

/* Frees all but the tree. */
void graft_builder_finish(struct builder *builder);

#endif
