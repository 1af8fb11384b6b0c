/* SPDX-License-Identifier: Apache-2.0 */
/* Applying one conversion of one module. Shared by the units of this folder only. */
#ifndef GRAFT_PLAN_CONVERT_H
#define GRAFT_PLAN_CONVERT_H

#include "plan/lookup.h"
#include "plan/use.h"

/* What a conversion works on and fills. */
struct conversion_site {
    struct graft_plan *plan;
    struct graft_node *node;
    const struct graft_conversion *conversion;
    struct lookup *lookup;
    const struct graft_config *config; /* NULL: none */
    const struct graft_source *listed; /* the first source taken that a list made or renamed; NULL: none so far */
    int32_t n_tied;                    /* sources found so far under names that are tied to a parameter */
    int32_t from_tied;                 /* 1: all of them were */
    const struct graft_node *cut_by;   /* the topmost module above whose conversion made a source; NULL: none did */
};

/* The binding of a parameter; every parameter of the tree has one. */
struct graft_binding *graft_plan_binding(const struct graft_plan *plan, const struct graft_parameter *parameter);

/* The mapped tensor that a binding's value is all of; NULL for other values. */
const struct graft_tensor_view *graft_binding_tensor(const struct graft_binding *binding);

/* Leaves a parameter without a value, as if nothing had been found for it. */
void graft_binding_give_back(struct graft_binding *binding);

/* Whether a target is made of the tensor that has its own name ("c_proj.weight", transposed). In the runtime layout
 * that is done already. */
int graft_conversion_is_in_place(const struct graft_plan *plan, const struct graft_conversion *conversion,
                                 int32_t target);

/* Whether the conversion makes a parameter of the model of what an adapter has for the module ("adapter.NAME...."). */
int graft_conversion_is_of_adapter(const struct graft_conversion *conversion);

/* What an adapter stores beside its own weights is a parameter of the model that it was trained with
 * ("base_layer.weight"). Where it is what the parameter has anyway, `*is_same` becomes 1: the tensor counts as used,
 * and there is nothing to convert. Else the parameter is without a value, so that the conversion can fill it. */
int graft_conversion_replace(struct conversion_site *site, int *is_same, struct graft_error *error);

/* Where a plugin makes something else of the parameter, such as codes, nothing would follow it that is tied to it: then
 * what the adapter has is to be what the other has. */
int graft_conversion_check_tied(const struct conversion_site *site, struct graft_error *error);

/* Before ties are bound: of tied parameters, of which an adapter changed one, the other is to take that one's weight.
 */
void graft_plan_follow_adapters(struct graft_plan *plan);

/* Fills the bindings of the conversion's targets that are still missing. What the checkpoint cannot give becomes a
 * problem of those bindings; the status is for lack of memory and for conversions that make no sense. */
int graft_conversion_apply(struct conversion_site *site, struct graft_error *error);

/* What the conversion gives: one list per target in `use`, or none when the checkpoint has none of its sources. The
 * caller ends the use, also on failure. */
int graft_conversion_values(struct conversion_site *site, struct conversion_use *use, struct graft_error *error);

/* A source called `name` that the checkpoint lacks, but that a conversion of a module above makes: so a class below
 * may quantize the projection that a fused class above joins. Leaves `list` empty when there is none. */
int graft_conversion_from_parents(struct conversion_site *site, const char *name, struct graft_value_list *list,
                                  struct graft_error *error);

/* Whether such a conversion makes `name` of the tensor of that name: then it goes before the tensor. */
int graft_conversion_is_changed_above(const struct conversion_site *site, const char *name);

#endif
