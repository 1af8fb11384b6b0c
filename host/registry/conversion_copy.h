/* SPDX-License-Identifier: Apache-2.0 */
/* Copies conversions of classes that functions of plugins make. All functions are [any]. */
#ifndef GRAFT_REGISTRY_CONVERSION_COPY_H
#define GRAFT_REGISTRY_CONVERSION_COPY_H

#include "graft/conversion.h"

/* Copies a conversion. Returns 0, or -1 if memory ran out. The caller calls graft_conversion_finish either way. What
 * operations point to belongs to the plugin and is const, like its classes. */
int graft_conversion_copy(const struct graft_conversion *conversion, struct graft_conversion *copy);

/* Frees the content of a copy. */
void graft_conversion_finish(const struct graft_conversion *copy);

#endif
