/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text.h"
#include "plan/plan.h"
#include "value/operations.h"

void graft_binding_operations(const struct graft_binding *binding, struct graft_text *text) {
    const struct graft_conversion *conversion = binding->conversion;
    for (int32_t i = 0; conversion != NULL && i < conversion->n_operations; i++) {
        graft_text_add_string(text, i > 0 ? ", " : "");
        graft_operation_describe(graft_conversion_operation(conversion, i), text);
    }
    if (conversion != NULL && conversion->n_operations == 0) {
        graft_text_add_string(text, "renamed");
    }
}
