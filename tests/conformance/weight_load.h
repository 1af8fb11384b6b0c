/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files for cases of type `load`. */
#ifndef GRAFT_TEST_CONFORMANCE_WEIGHT_LOAD_H
#define GRAFT_TEST_CONFORMANCE_WEIGHT_LOAD_H

#include "names/key_list.h"
#include "plan/plan.h"
#include "runner.h"

struct load_case {
    const graft_json *row;
    const struct key_list *list;
    struct graft_plan *plan;
    struct graft_text *deviations;
};

enum verdict load_judge(const graft_json *row, struct graft_text *why);

/* Whether the case contains a reason for which we refuse a parameter that the reference makes: indices with a gap, a
 * missing source, parts of unequal size, two names that become one, or numbers of a type that weights cannot have. */
int load_case_explains(const struct load_case *run, const struct graft_binding *binding);

#endif
