/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the kinds of cases in weight_transforms.json. */
#ifndef GRAFT_TEST_CONFORMANCE_WEIGHT_TRANSFORMS_H
#define GRAFT_TEST_CONFORMANCE_WEIGHT_TRANSFORMS_H

#include "runner.h"
#include "value/operations.h"

enum { CASE_NAMES = 16, CASE_OPERATIONS = 8, CASE_NAME = 256 };

/* A case's `transform` in the form of the host. */
struct case_transform {
    struct graft_operation operations[CASE_OPERATIONS];
    const char *permuted[CASE_OPERATIONS][CASE_NAMES];
    int32_t n_operations;
    const char *sources[CASE_NAMES];
    int32_t n_sources;
    const char *targets[CASE_NAMES];
    int32_t n_targets;
};

/* Returns 0, or -1 with a reason in `why` if the case has a field that this runner does not know. */
int case_transform_read(const graft_json *transform, struct case_transform *read, struct graft_text *why);

/* The recorded name of a fault; "" if none is recorded. */
const char *case_fault_kind(enum graft_operation_fault fault);

/* Cases of type `convert`: weight_convert.c. */
enum verdict convert_judge(const graft_json *row, struct graft_text *why);

#endif
