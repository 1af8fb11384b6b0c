/* SPDX-License-Identifier: Apache-2.0 */
/* Applies one conversion of one module. Used in this folder only. */
#ifndef GRAFT_PLAN_CONVERT_H
#define GRAFT_PLAN_CONVERT_H

#include "plan/lookup.h"
#include "plan/use.h"

/* A conversion at a module, and what it has found. */
struct conversion_site {
    struct graft_plan *plan;
    struct graft_node *node;
    const struct graft_conversion *conversion;
    struct lookup *lookup;
    const struct graft_config *config; /* NULL: none */
    const struct graft_source *listed; /* the first source so far that a list made or renamed; NULL: none */
    int32_t n_tied;                    /* number of sources found so far under names that are tied to a parameter */
    int32_t from_tied;                 /* 1: all sources were found so */
    const struct graft_node *cut_by;   /* the topmost module whose conversion made a source; NULL: none */
};

/* The binding of a parameter of the tree; every parameter has one. */
struct graft_binding *graft_plan_binding(const struct graft_plan *plan, const struct graft_parameter *parameter);

/* The mapped tensor that a binding's value consists of; NULL if the value is not exactly one tensor. */
const struct graft_tensor_view *graft_binding_tensor(const struct graft_binding *binding);

/* Removes a parameter's value, as if nothing had been found for it. */
void graft_binding_give_back(struct graft_binding *binding);

/* Whether the conversion makes a target of the tensor of the target's own name ("c_proj.weight", transposed). Tensors
 * in the runtime layout have been converted already. */
int graft_conversion_is_in_place(const struct graft_plan *plan, const struct graft_conversion *conversion,
                                 int32_t target);

/* Whether the conversion makes a parameter of the model from an adapter's tensors ("adapter.NAME...."). */
int graft_conversion_is_of_adapter(const struct graft_conversion *conversion);

/* Handles a parameter of the model that an adapter stores in addition to its own weights ("base_layer.weight"). If it
 * equals the model's, `*is_same` becomes 1, the tensor counts as used, and nothing is converted. Otherwise the
 * parameter loses its value, so that the conversion fills it. */
int graft_conversion_replace(struct conversion_site *site, int *is_same, struct graft_error *error);

/* Checks tied parameters that an adapter changes: if a plugin converts the changed one, for example into codes, the
 * other cannot follow it, and the adapter's tensor has to equal the other's. */
int graft_conversion_check_tied(const struct conversion_site *site, struct graft_error *error);

/* Makes tied parameters follow the one that an adapter changed. Call this before ties are bound. */
void graft_plan_follow_adapters(struct graft_plan *plan);

/* Fills the missing bindings of the conversion's targets. Tensors that the checkpoint lacks become a problem of those
 * bindings; the status reports a lack of memory and invalid conversions. */
int graft_conversion_apply(struct conversion_site *site, struct graft_error *error);

/* Runs the conversion: afterwards `use` has one list per target, or no lists if the checkpoint has none of the sources.
 * The caller ends the use, even on failure. */
int graft_conversion_values(struct conversion_site *site, struct conversion_use *use, struct graft_error *error);

/* Makes a source called `name` by a conversion of a module above, if the checkpoint lacks it: so a class below may
 * quantize the projection that a fused class above joins. Leaves `list` empty if no conversion makes it. */
int graft_conversion_from_parents(struct conversion_site *site, const char *name, struct graft_value_list *list,
                                  struct graft_error *error);

/* Whether a conversion of a module above makes `name` from the tensor of the same name: its result is then used instead
 * of the tensor. */
int graft_conversion_is_changed_above(const struct conversion_site *site, const char *name);

#endif
