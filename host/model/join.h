/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Modules whose outputs a class above joins in those of one: where such a class has a conversion that joins the weights
 * of q_proj, k_proj and v_proj in that of qkv_proj, the host joins all else that the class built at qkv_proj has
 * (graft/class.h, struct graft_join), or keeps the class above from that module. Shared by the units of this folder
 * only.
 */
#ifndef GRAFT_MODEL_JOIN_H
#define GRAFT_MODEL_JOIN_H

#include "model/describe.h"
#include "names/name.h"

/* The modules that one is joined from, kept with its outermost node. A module that its parent's class renames
 * ("block_sparse_moe" in checkpoints, "mlp" in the tree) is the only part of itself, where the checkpoint has something
 * under that name. */
struct graft_node_join {
    struct graft_node *owner; /* whose class joins them */
    const char *name;         /* of the module below the owner; the conversion's, as far as `name_length` */
    size_t name_length;
    char **names;               /* [joined.n_parts] of the parts, below the owner */
    char **paths;               /* likewise, in full */
    struct graft_joined joined; /* the same for registries */
    int64_t *outputs;           /* [joined.n_parts]; or NULL */
    int is_renaming;            /* 1: names are another matter than weights, which are found under either */
};

/* What the child called `name` of the module described is joined from; NULL: nothing, or memory ran out, with the error
 * recorded. */
int graft_join_find(const struct builder *builder, const char *name, struct graft_node_join **join,
                    struct graft_error *error);
void graft_join_free(struct graft_node_join *join);

/* Adds to an error that names a joined or renamed module what checkpoints have in its place: they know nothing of it.
 */
void graft_join_explain(const struct graft_node *node, struct graft_error *error);

/* That of a node of a stack; NULL: it is not joined. */
const struct graft_node_join *graft_node_join(const struct graft_node *node);

/* For classes around a joined module that have to do with one part of it: finds how many outputs each part has, and has
 * names below the module that begin with a part's mean what is below the part. `args` are those of the module. Where
 * the outputs cannot be known it does nothing. */
int graft_join_take_parts(const struct builder *builder, struct graft_node_join *join, const struct graft_args *args,
                          struct graft_error *error);

/* The `part` of a sink, whose data is the builder. */
int32_t graft_join_part(void *data, int32_t i, struct graft_part_info *info);

/* The full name of what a class at the node calls `name`: below the node or, where the name begins with that of a part,
 * below the part. 0: it is too long. */
int graft_join_name(const struct graft_node *node, const char *name, char full[GRAFT_NAME_BYTES]);

/* What config.json calls a node or, of one that is joined, part number `i`; cut if it is too long. */
void graft_join_config_path(const struct graft_node *node, size_t i, char path[GRAFT_NAME_BYTES]);

/* How many parts a joined module's values consist of; 1 for others. */
int64_t graft_join_count(const struct graft_node *node);

/* After a joined module's description: adds conversions to its owner that join what the parts have, or keeps the
 * owner's class from it. */
int graft_join_parameters(struct builder *builder, struct graft_node *node, struct graft_error *error);

/* Describes the node for each part but the first, as config.json has it: `*other` becomes the name of one that comes
 * out in another way, or NULL. */
int graft_join_compare_parts(struct builder *builder, struct graft_node *node, const char **other,
                             struct graft_error *error);

#endif
