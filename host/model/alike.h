/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Modules that are alike: a mixture of experts has thousands, each with the same class, arguments and children. The
 * first of them is described; the others share what it says, and have only names, parameters and instances of their
 * own. A module's own class is always looked up at its path; a description is shared only where nothing in it, or in
 * those below, depends on a path or on tensors, but for questions that have the same answers. Used in this folder only.
 */
#ifndef GRAFT_MODEL_ALIKE_H
#define GRAFT_MODEL_ALIKE_H

#include "registry/registry.h"

struct builder;
struct graft_node;

struct alike;
enum { GRAFT_ALIKE_BUCKETS = 64 };

/* What a description was told: whether the checkpoint has tensors below a path. */
struct alike_answer {
    const char *path; /* in the tree's arena */
    int has;
};

/* The described modules that others may be like, and all answers. Starts as zeros. */
struct alikes {
    struct alike *buckets[GRAFT_ALIKE_BUCKETS];
    struct alike_answer *answers;
    size_t n_answers;
    size_t answers_capacity;
};

/* How much there was before a description. */
struct alike_mark {
    size_t n_by_place;
    size_t n_nodes;
    size_t n_parameters;
    size_t n_answers;
};

struct alike_mark graft_alike_mark(const struct builder *builder);

/* Records what the description of a module was told of tensors at a path below it. */
int graft_alike_told(struct builder *builder, const char *path, int has, struct graft_error *error);

/* An earlier module that `node` is like, as its class and arguments are those that were found for the node, and the
 * checkpoint has the same below both; NULL if there is none, or if its description would exceed a limit here, which
 * describing the node reports. */
const struct alike *graft_alike_find(const struct builder *builder, const struct graft_node *node);

/* Gives the node everything that the earlier module's description says. */
int graft_alike_repeat(struct builder *builder, struct graft_node *node, const struct alike *alike,
                       struct graft_error *error);

/* Keeps a module that was described since the mark for others to be like, unless it may be another one elsewhere. */
int graft_alike_keep(struct builder *builder, struct graft_node *node, const struct alike_mark *before,
                     struct graft_error *error);

#endif
