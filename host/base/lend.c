/* SPDX-License-Identifier: Apache-2.0 */
#include "base/lend.h"

#include <stddef.h>

static const struct graft_lender *current;

void graft_lender_set(const struct graft_lender *lender) {
    current = lender;
}

const struct graft_lender *graft_lender(void) {
    return current;
}

const struct graft_args *graft_lend_args(const struct graft_args *args) {
    return current != NULL ? current->args(args) : args;
}

const struct graft_sink *graft_lend_sink(const struct graft_sink *sink) {
    return current != NULL ? current->sink(sink) : sink;
}

const struct graft_build *graft_lend_build(const struct graft_build *build) {
    return current != NULL ? current->build(build) : build;
}

void graft_take_back(const void *lent) {
    if (current != NULL) {
        current->take_back(lent);
    }
}
