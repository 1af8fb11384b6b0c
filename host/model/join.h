/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Joined modules. If a class has a conversion that joins the weights of q_proj, k_proj and v_proj into that of
 * qkv_proj, the host also joins all other parameters of the class built at qkv_proj (graft/class.h, struct graft_join).
 * If it cannot, it keeps the joining class from that module. Used in this folder only.
 */
#ifndef GRAFT_MODEL_JOIN_H
#define GRAFT_MODEL_JOIN_H

#include "model/describe.h"
#include "names/name.h"

/* The parts of a joined module, kept with its outermost node. A module that its parent's class renames
 * ("block_sparse_moe" in checkpoints, "mlp" in the tree) is its own only part, if the checkpoint has tensors under that
 * name. */
struct graft_node_join {
    struct graft_node *owner; /* the module whose class joins the parts */
    /* name of the joined module below the owner: the first `name_length` bytes of the conversion's string */
    const char *name;
    size_t name_length;
    char **names;               /* [joined.n_parts] names of the parts below the owner */
    char **paths;               /* [joined.n_parts] full paths of the parts */
    struct graft_joined joined; /* the same for the registry */
    int64_t *outputs;           /* [joined.n_parts] output sizes; or NULL */
    int is_renaming;            /* 1: the module is only renamed, and its tensors are found under either name */
};

/* Finds the parts of the child called `name` of the module being described; NULL if it is not joined, or if memory ran
 * out, with an error set. */
int graft_join_find(struct builder *builder, const char *name, struct graft_node_join **join,
                    struct graft_error *error);
void graft_join_free(struct graft_node_join *join);

/* Adds the checkpoint's modules to an error that names a joined or renamed module, which checkpoints do not have. */
void graft_join_explain(const struct graft_node *node, struct graft_error *error);

/* The join of a node of a stack; NULL if it is not joined. */
const struct graft_node_join *graft_node_join(const struct graft_node *node);

/* For classes around a joined module that handle single parts: finds the number of outputs of each part, and makes
 * names below the module that begin with a part's name refer to the part. `args` are those of the module. Does nothing
 * if the outputs are unknown. */
int graft_join_take_parts(const struct builder *builder, struct graft_node_join *join, const struct graft_args *args,
                          struct graft_error *error);

/* Implements `part` of a sink, whose data is the builder. */
int32_t graft_join_part(void *data, int32_t i, struct graft_part_info *info);

/* Writes the full name of what a class at the node calls `name`: below the node or, if `name` begins with a part's
 * name, below the part. Returns 0 if it is too long. */
int graft_join_name(const struct graft_node *node, const char *name, char full[GRAFT_NAME_BYTES]);

/* Writes the path that config.json uses for a node, or for part number `i` of a joined one; truncated if it is too
 * long. */
void graft_join_config_path(const struct graft_node *node, size_t i, char path[GRAFT_NAME_BYTES]);

/* The number of parts of a joined module; 1 for other modules. */
int64_t graft_join_count(const struct graft_node *node);

/* Call this after a joined module's description: adds conversions to its owner that join the parts' tensors, or keeps
 * the owner's class from the module. */
int graft_join_parameters(struct builder *builder, struct graft_node *node, struct graft_error *error);

/* Describes the node for each part but the first, by config.json's path. `*other` becomes the name of a part whose
 * description differs, or NULL. */
int graft_join_compare_parts(struct builder *builder, struct graft_node *node, const char **other,
                             struct graft_error *error);

#endif
