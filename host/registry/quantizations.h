/* SPDX-License-Identifier: Apache-2.0 */
/* The formats that plugins can quantize to. */
#ifndef GRAFT_REGISTRY_QUANTIZATIONS_H
#define GRAFT_REGISTRY_QUANTIZATIONS_H

#include "graft/quantization.h"
#include "registry/registry.h"

/* [any] The first that "NAME" or "NAME:GROUP" means, and the plugin's id; both are the plugin's. GRAFT_ERROR_USAGE,
 * with those there are, where it means none. */
int graft_snapshot_quantization(const struct graft_snapshot *snapshot, const char *name,
                                const struct graft_quantization **format, const char **id, struct graft_error *error);

#endif
