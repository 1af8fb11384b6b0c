/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text.h"
#include "graft/host/registry.h"
#include "names/transform_copy.h"
#include "plan/plan.h"
#include "value/operations.h"

void graft_binding_operations(const struct graft_binding *binding, struct graft_text *text) {
    const struct graft_conversion *conversion = binding->conversion;
    const struct graft_weight_transform *transform = binding->transform;
    int32_t listed = transform != NULL ? transform->n_operations : 0;
    for (int32_t i = 0; i < listed; i++) {
        graft_text_add_string(text, i > 0 ? ", " : "");
        graft_operation_describe(graft_transform_operation(transform, i), text);
    }
    for (int32_t i = 0; conversion != NULL && i < conversion->n_operations; i++) {
        graft_text_add_string(text, listed + i > 0 ? ", " : "");
        graft_operation_describe(graft_conversion_operation(conversion, i), text);
    }
    int operations = listed > 0 || (conversion != NULL && conversion->n_operations > 0);
    if ((conversion != NULL || transform != NULL) && !operations) {
        graft_text_add_string(text, "renamed");
    }
}
