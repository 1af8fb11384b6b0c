/* SPDX-License-Identifier: Apache-2.0 */
/* What the units for cases of type `load` share. */
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

/* Whether what a case holds is why we refuse to make a parameter that the reference makes: indices with a gap, a source
 * that is not there, parts that do not come out even, two names that become one, numbers of a type that is no weight.
 */
int load_case_explains(const struct load_case *run, const struct graft_binding *binding);

#endif
