/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which tensors of a checkpoint become which parameters of a tree, by which operations. Made from names and shapes
 * alone. Everything is accounted for: a parameter is filled once or reported, a tensor is used or reported.
 */
#ifndef GRAFT_TRANSFORM_PLAN_H
#define GRAFT_TRANSFORM_PLAN_H

#include "model/tree.h"
#include "transform/value.h"
#include "weights/checkpoint.h"

enum graft_binding_status {
    GRAFT_BINDING_MISSING,    /* nothing in the checkpoint */
    GRAFT_BINDING_FOUND,      /* `value` holds it */
    GRAFT_BINDING_TIED,       /* takes the weight of `tied_to` */
    GRAFT_BINDING_INITIAL,    /* nothing in the checkpoint; zeros or ones, as declared */
    GRAFT_BINDING_MISMATCHED, /* `value` has another shape */
    GRAFT_BINDING_FAILED      /* a conversion could not be done: `problem` says why */
};

/* One parameter and where its weight comes from. */
struct graft_binding {
    struct graft_parameter *parameter;
    enum graft_binding_status status;
    struct graft_value value;
    const struct graft_conversion *conversion; /* NULL: the tensor of the parameter's own name */
    struct graft_binding *tied_to;
    struct graft_binding *shared_with; /* a binding of the same name, of an original beside its replacement; or NULL */
    char *problem;
    int32_t contiguous; /* 1: it, or one tied to it, wants one row block */
    graft_dtype dtype;  /* of the weight once bound */
    int32_t copied;     /* 1: one contiguous copy is made; 0: row blocks in the mapped files */
    int64_t bytes;      /* of the weight once bound; 0 when it shares another's */
};

struct graft_plan {
    struct graft_binding *bindings; /* in the tree's order */
    size_t n_bindings;
    const struct graft_checkpoint *checkpoint;
    const struct graft_tensor_view **unexpected; /* used by nobody */
    size_t n_unexpected;
    int64_t mapped_bytes;
    int64_t copied_bytes;
};

/* [load] Plans; the tree and the checkpoint outlive the plan. `base_model_prefix` ("model") is what a checkpoint may
 * have or lack in front of its names. Fails only where no plan can be made; what is missing is in the plan. */
int graft_plan_make(struct graft_tree *tree, const struct graft_checkpoint *checkpoint, const char *base_model_prefix,
                    struct graft_plan **plan, struct graft_error *error);
void graft_plan_free(struct graft_plan *plan);

/* [any] Whether the model can run with what the plan gives it: else an error that names the first parameter at fault.
 */
int graft_plan_check(const struct graft_plan *plan, struct graft_error *error);

/* [any] The operations of a binding as text, "MergeModulelist(dim=0), Concatenate(dim=1)"; "" for a plain one. */
struct graft_text;
void graft_binding_operations(const struct graft_binding *binding, struct graft_text *text);

#endif
