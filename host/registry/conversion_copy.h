/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of classes' conversions, for those that functions of plugins make. All functions are [any]. */
#ifndef GRAFT_REGISTRY_CONVERSION_COPY_H
#define GRAFT_REGISTRY_CONVERSION_COPY_H

#include "graft/conversion.h"

/* 0, or -1 if memory ran out; then, too, graft_conversion_finish is the caller's. What operations point to is the
 * plugin's, const like its classes. */
int graft_conversion_copy(const struct graft_conversion *conversion, struct graft_conversion *copy);

/* Frees what the copy holds. */
void graft_conversion_finish(const struct graft_conversion *copy);

#endif
