/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of transforms as library calls and files describe them. All functions are [any]. */
#ifndef GRAFT_NAMES_TRANSFORM_COPY_H
#define GRAFT_NAMES_TRANSFORM_COPY_H

#include "graft/host/registry.h"

/* A copy in one block, with all it points to but custom operations; to be freed by graft_free. NULL if memory ran
 * out. The descriptions must have passed transform_check. */
struct graft_weight_transform *graft_transforms_copy(const struct graft_weight_transform *transforms, size_t n);

/* Whether counts, pointers and kinds of a description can be relied on. `place` names it in errors
 * (GRAFT_ERROR_USAGE). */
int graft_transform_check(const struct graft_weight_transform *transform, const char *place, struct graft_error *error);

/* Operation number `i`. */
const struct graft_operation *graft_transform_operation(const struct graft_weight_transform *transform, int32_t i);

#endif
