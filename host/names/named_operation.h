/* SPDX-License-Identifier: Apache-2.0 */
/* Custom operations by name, as patch files ask for them: "NAME", or "PLUGIN.NAME" where two plugins have one. */
#ifndef GRAFT_NAMES_NAMED_OPERATION_H
#define GRAFT_NAMES_NAMED_OPERATION_H

#include <stddef.h>

#include "graft/custom_operation.h"

struct json_place;

struct graft_named_operation {
    const char *plugin; /* the id of the plugin that lists it */
    const struct graft_custom_operation *operation;
};

/* [any] The operation that `name` asks for. That there is none, or several, is GRAFT_ERROR_USAGE: "FILE: FIELD.op: ..."
 * with the names that would do. */
int graft_named_operation_find(const struct graft_named_operation *items, size_t n, const char *name,
                               const struct json_place *place, const struct graft_custom_operation **operation,
                               struct graft_error *error);

#endif
