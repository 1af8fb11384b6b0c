/* SPDX-License-Identifier: Apache-2.0 */
/* What a model tells of itself in the structs of graft/host: written once, when everything about it is decided. */
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
    size_t first_asked; /* of the names in config.json's ledger: those before it the host asked for */
};

struct graft_node;

/* [load] Writes it for a model that is planned; for those that look on it stays as it is from then on. */
int graft_model_publish(struct graft_model *model, struct graft_error *error);

/* [load] The parts. Out of memory is GRAFT_ERROR_INTERNAL. */
int graft_publish_modules(struct graft_model *model, struct graft_error *error);
int graft_publish_parameters(struct graft_model *model, struct graft_error *error);
int graft_publish_fusions(struct graft_model *model, struct graft_error *error);
int graft_publish_implementations(struct graft_model *model, struct graft_error *error);

/* [any] A node of the model's tree, as it is shown. */
const struct graft_named_module *graft_published_module(const struct graft_model *model, const struct graft_node *node);

#endif
