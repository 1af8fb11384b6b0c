/* SPDX-License-Identifier: Apache-2.0 */
/* Loads and frees models whose classes get guarded memory: a fault is one of the build, as nothing runs. */
#include "validate/checks.h"
#include "validate/lender.h"
#include "validate/tiny.h"

static int load(struct graft_subject *subject, struct graft_error *error) {
    graft_region_forget();
    graft_lender_begin(GRAFT_REGION_GUARD_AFTER);
    int status = graft_subject_open(subject, 0, &subject->library, &subject->model, error);
    if (status == GRAFT_OK) {
        status = graft_lender_check_blocks(subject->validation, error);
    }
    graft_subject_close(subject);
    return status;
}

int graft_check_loads(struct graft_validation *validation, struct graft_error *error) {
    return graft_tiny_each_closed(validation, load, error);
}
