/* SPDX-License-Identifier: Apache-2.0 */
/* What a model publishes in the structs of graft/host: written once, when everything about the model is decided. */
#ifndef GRAFT_LIBRARY_PUBLISHED_H
#define GRAFT_LIBRARY_PUBLISHED_H

#include "base/arena.h"
#include "graft/host/library.h"
#include "graft/host/plan.h"

struct graft_published {
    struct graft_arena arena;
    struct graft_named_module *modules; /* [n_modules] in the order of graft_tree_walk */
    size_t n_modules;
    struct graft_planned_parameter *parameters; /* in the order of the plan's bindings */
    struct graft_plan_info plan;
    struct graft_implementation_info *implementations; /* [n_implementations] */
    size_t n_implementations;
    struct graft_model_field *fields; /* [n_fields] in the order of the files */
    size_t n_fields;
    size_t fields_capacity;
    size_t first_asked; /* how many of the names in config.json's ledger the host asked for, before any class */
};

struct graft_node;

/* [load] Publishes a planned model. Afterwards this does not change. */
int graft_model_publish(struct graft_model *model, struct graft_error *error);

/* [load] Publish the parts. Running out of memory is GRAFT_ERROR_INTERNAL. */
int graft_publish_modules(struct graft_model *model, struct graft_error *error);
int graft_publish_parameters(struct graft_model *model, struct graft_error *error);
int graft_publish_fusions(struct graft_model *model, struct graft_error *error);
int graft_publish_implementations(struct graft_model *model, struct graft_error *error);

/* [any] The published module of a node. */
const struct graft_named_module *graft_published_module(const struct graft_model *model, const struct graft_node *node);

#endif
