/* SPDX-License-Identifier: Apache-2.0 */
/* The custom operations that plugins list in their descriptors. */
#ifndef GRAFT_REGISTRY_OPERATIONS_H
#define GRAFT_REGISTRY_OPERATIONS_H

#include "names/named_operation.h"
#include "registry/registry.h"

/* [any] Operation number `i`, in the order of plugins; returns 0 after the last. */
int graft_snapshot_operation_at(const struct graft_snapshot *snapshot, size_t i, struct graft_named_operation *found);

/* [any] The operation that plugin `plugin` lists as `name`; NULL if there is none or `snapshot` is NULL. */
const struct graft_custom_operation *graft_snapshot_operation(const struct graft_snapshot *snapshot, const char *plugin,
                                                              const char *name);

/* [any] The id of the plugin that lists `operation`; NULL if none does or `snapshot` is NULL. */
const char *graft_snapshot_operation_plugin(const struct graft_snapshot *snapshot,
                                            const struct graft_custom_operation *operation);

#endif
