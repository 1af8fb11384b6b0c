/* SPDX-License-Identifier: Apache-2.0 */
/* Looks up custom operations as patch files name them: "NAME", or "PLUGIN.NAME" where two plugins have one of that
 * name. */
#ifndef GRAFT_NAMES_NAMED_OPERATION_H
#define GRAFT_NAMES_NAMED_OPERATION_H

#include <stddef.h>

#include "graft/custom_operation.h"

struct graft_field;

struct graft_named_operation {
    const char *plugin; /* id of the plugin that has it */
    const struct graft_custom_operation *operation;
};

/* [any] Finds the operation called `name`. None or several are errors at the member `op` of `object`, with the names
 * to choose from. */
int graft_named_operation_find(const struct graft_named_operation *items, size_t n, const char *name,
                               const struct graft_field *object, const struct graft_custom_operation **operation,
                               struct graft_error *error);

#endif
