/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters whose numbers are codes: what a class describes of one, and the weight that its tensors become. */
#ifndef GRAFT_MODEL_CODED_H
#define GRAFT_MODEL_CODED_H

#include "graft/codec.h"
#include "kernels/coded/weight.h"
#include "model/tree.h"

struct graft_coded_parameter {
    char *name;               /* "weight" */
    struct graft_codec codec; /* as described: without weights */
    uint64_t flags;           /* GRAFT_CODED_... */
    char **tensors;           /* [n] own names of parameters of the node */
    int32_t *roles;           /* [n] */
    int32_t n;
    int (*finish)(const struct graft_build *build, const void *context, struct graft_codec *codec,
                  struct graft_error *error);
    void *context; /* [context_bytes], or NULL */
    int64_t context_bytes;
    struct graft_coded_weight *weight; /* while there is an instance */
};

/* [load] The `coded` of a sink, whose data is the builder. */
int graft_builder_coded(void *data, const struct graft_coded_info *info, struct graft_error *error);

/* [load] Whether two nodes describe the same codes. */
int graft_node_same_coded(const struct graft_node *a, const struct graft_node *b);

/* [load] Makes the weights of the coded parameters of a node whose parameters are bound: all, or those that its class
 * has no loops of its own for. */
int graft_node_make_coded(struct graft_node *node, const struct graft_build *build, int all, struct graft_error *error);

/* [load] That of a name; NULL: there is none. */
const struct graft_weight *graft_node_coded(const struct graft_node *node, const char *name);

/* [load] Frees what graft_node_make_coded made, and what `memory` of a build gave. */
void graft_node_release_coded(struct graft_node *node);

/* [load] The `memory` of a build, whose data is the node. */
void *graft_node_memory(void *data, int64_t bytes);

/* [load] Frees all that was described. */
void graft_node_free_coded(struct graft_node *node);

#endif
