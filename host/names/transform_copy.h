/* SPDX-License-Identifier: Apache-2.0 */
/* Checks and copies descriptions of transforms from library calls and files. All functions are [any]. */
#ifndef GRAFT_NAMES_TRANSFORM_COPY_H
#define GRAFT_NAMES_TRANSFORM_COPY_H

#include "graft/host/registry.h"

/* Copies descriptions into one block, with everything they point to except custom operations; the caller frees it with
 * graft_free. NULL if memory ran out. The descriptions must have passed graft_transform_check. */
struct graft_weight_transform *graft_transforms_copy(const struct graft_weight_transform *transforms, size_t n);

/* Checks counts, pointers and kinds of a description. `place` names it in errors (GRAFT_ERROR_USAGE). */
int graft_transform_check(const struct graft_weight_transform *transform, const char *place, struct graft_error *error);

/* Operation number `i`. */
const struct graft_operation *graft_transform_operation(const struct graft_weight_transform *transform, int32_t i);

#endif
