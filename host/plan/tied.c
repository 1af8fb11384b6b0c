/* SPDX-License-Identifier: Apache-2.0 */
/* Finds parameters that their class ties although the checkpoint has a tensor for each. */
#include <string.h>

#include "base/dtype.h"
#include "plan/convert.h"

const struct graft_tensor_view *graft_binding_tensor(const struct graft_binding *binding) {
    const struct graft_value *value = &binding->value;
    const struct graft_tensor_view *tensor = value->n_parts == 1 ? value->parts[0].tensor : NULL;
    int whole = tensor != NULL && tensor->data != NULL &&
                graft_box_together(&value->parts[0].box) == graft_value_extent(value, 0, value->rank) &&
                graft_value_extent(value, 0, value->rank) * graft_dtype_size(tensor->dtype) == tensor->bytes;
    return whole ? tensor : NULL;
}

static int differ(const struct graft_tensor_view *a, const struct graft_tensor_view *b) {
    return a->dtype != b->dtype || a->bytes != b->bytes || memcmp(a->data, b->data, (size_t)a->bytes) != 0;
}

const struct graft_binding *graft_plan_tied_apart(const struct graft_plan *plan) {
    for (size_t i = 0; i < plan->n_bindings; i++) {
        const struct graft_binding *binding = &plan->bindings[i];
        const struct graft_parameter *to = binding->parameter->tied_to;
        const struct graft_binding *other = to != NULL ? &plan->bindings[to->index] : NULL;
        if (other == NULL || binding->status != GRAFT_BINDING_FOUND || other->status != GRAFT_BINDING_FOUND) {
            continue;
        }
        const struct graft_tensor_view *a = graft_binding_tensor(binding), *b = graft_binding_tensor(other);
        if (a != NULL && b != NULL && differ(a, b)) {
            return binding;
        }
    }
    return NULL;
}
