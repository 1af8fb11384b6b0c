/* SPDX-License-Identifier: Apache-2.0 */
/* Coded parameters: what a class describes, and the weight that is made of the described tensors. */
#ifndef GRAFT_MODEL_CODED_H
#define GRAFT_MODEL_CODED_H

#include "graft/codec.h"
#include "kernels/coded/weight.h"
#include "model/tree.h"

struct graft_coded_parameter {
    char *name;               /* "weight" */
    struct graft_codec codec; /* the described codec, without weights */
    uint64_t flags;           /* GRAFT_CODED_... */
    char **tensors;           /* [n] names of the node's parameters */
    int32_t *roles;           /* [n] */
    int32_t n;
    int (*finish)(const struct graft_build *build, const void *context, struct graft_codec *codec,
                  struct graft_error *error);
    void *context; /* [context_bytes], or NULL */
    int64_t context_bytes;
    struct graft_coded_weight *weight; /* exists as long as the instance */
};

/* [load] Implements `coded` of a sink, whose data is the builder. */
int graft_builder_coded(void *data, const struct graft_coded_info *info, struct graft_error *error);

/* [load] Whether two nodes describe the same coded parameters. */
int graft_node_same_coded(const struct graft_node *a, const struct graft_node *b);

/* [load] Makes the weights of the coded parameters of a node whose parameters are bound: all of them, or only those for
 * which the class has no loops of its own. */
int graft_node_make_coded(struct graft_node *node, const struct graft_build *build, int all, struct graft_error *error);

/* [load] The coded weight of a name; NULL if there is none. */
const struct graft_weight *graft_node_coded(const struct graft_node *node, const char *name);

/* [load] Frees the weights that graft_node_make_coded made and the memory that `memory` of a build allocated. */
void graft_node_release_coded(struct graft_node *node);

/* [load] The `memory` function of a build; `data` is the node. */
void *graft_node_memory(void *data, int64_t bytes);

/* [load] Frees the descriptions. */
void graft_node_free_coded(struct graft_node *node);

#endif
