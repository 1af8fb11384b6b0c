/* SPDX-License-Identifier: Apache-2.0 */
/* Describes modules that are alike only once. A mixture of experts has thousands of experts, each with the same class,
 * arguments and children: the first is described, and the others share its description, with their own names,
 * parameters and instances. Each module's own class is always looked up at its path. A description is shared only if
 * nothing in it, or below it, depends on the path or on tensors, except for questions about tensors that have the same
 * answers. Used in this folder only. */
#ifndef GRAFT_MODEL_ALIKE_H
#define GRAFT_MODEL_ALIKE_H

#include "registry/registry.h"

struct builder;
struct graft_node;

struct alike;
enum { GRAFT_ALIKE_BUCKETS = 64 };

/* An answer that a description got: whether the checkpoint has tensors below a path. */
struct alike_answer {
    const char *path; /* in the tree's arena */
    int has;
};

/* Modules described so far, and all answers. Starts as zeros. */
struct alikes {
    struct alike *buckets[GRAFT_ALIKE_BUCKETS];
    struct alike_answer *answers;
    size_t n_answers;
    size_t answers_capacity;
};

/* Counters at the start of a description, for graft_alike_keep. */
struct alike_mark {
    size_t n_by_place;
    size_t n_nodes;
    size_t n_parameters;
    size_t n_answers;
};

struct alike_mark graft_alike_mark(const struct builder *builder);

/* Records an answer about tensors at a path below the module being described. */
int graft_alike_told(struct builder *builder, const char *path, int has, struct graft_error *error);

/* Finds an earlier module with the same class, arguments and answers as `node`; NULL if there is none, or if repeating
 * its description would exceed a limit (describing the node then reports the limit). */
const struct alike *graft_alike_find(const struct builder *builder, const struct graft_node *node);

/* The module that was described. */
const struct graft_node *graft_alike_node(const struct alike *alike);

/* Whether two lists hold the same arguments, in the same order. */
int graft_alike_same_args(const struct graft_args *a, const struct graft_args *b);

/* Gives the node everything that the earlier module's description declared. */
int graft_alike_repeat(struct builder *builder, struct graft_node *node, const struct alike *alike,
                       struct graft_error *error);

/* Keeps the described module for graft_alike_find, unless its description may differ at another path. `before` was
 * taken when the description began. */
int graft_alike_keep(struct builder *builder, struct graft_node *node, const struct alike_mark *before,
                     struct graft_error *error);

#endif
