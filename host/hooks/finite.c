/* SPDX-License-Identifier: Apache-2.0 */
#include "hooks/finite.h"

#include <math.h>

/* The index of the first number that is not finite; -1 if all are. */
static int64_t find_fault(const struct graft_view *view) {
    const float *numbers = view->data;
    int64_t n = view->dtype == GRAFT_DTYPE_F32 && numbers != NULL ? view->rows * view->columns : 0;
    for (int64_t i = 0; i < n; i++) {
        if (!isfinite(numbers[i])) {
            return i;
        }
    }
    return -1;
}

static int inputs_are_finite(const struct graft_hooked_call *hooked) {
    for (int32_t i = 0; i < hooked->n_views; i++) {
        if (hooked->views[i].direction == GRAFT_VIEW_IN && find_fault(&hooked->views[i]) >= 0) {
            return 0;
        }
    }
    return 1;
}

int graft_check_finite(const struct graft_hooked_call *hooked, struct graft_error *error) {
    const struct graft_node *node = hooked->node;
    for (int32_t i = 0; i < hooked->n_views; i++) {
        const struct graft_view *view = &hooked->views[i];
        int64_t at = view->direction != GRAFT_VIEW_IN ? find_fault(view) : -1;
        if (at >= 0) {
            const char *plugin = node->known->origin.plugin;
            return graft_error_set(error, GRAFT_ERROR_VERIFY, node->path,
                                   "%s%s%s: %s[%lld, %lld] of [%lld, %lld] is %g; the inputs are %s", node->class_name,
                                   plugin != NULL ? " of plugin " : "", plugin != NULL ? plugin : "", view->name,
                                   (long long)(at / view->columns), (long long)(at % view->columns),
                                   (long long)view->rows, (long long)view->columns,
                                   (double)((const float *)view->data)[at],
                                   inputs_are_finite(hooked) ? "finite" : "not finite either");
        }
    }
    return GRAFT_OK;
}
