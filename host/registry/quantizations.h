/* SPDX-License-Identifier: Apache-2.0 */
/* The formats to which plugins can quantize. */
#ifndef GRAFT_REGISTRY_QUANTIZATIONS_H
#define GRAFT_REGISTRY_QUANTIZATIONS_H

#include "graft/quantization.h"
#include "registry/registry.h"

/* [any] Finds the first format called "NAME" or "NAME:GROUP", and its plugin's id; both belong to the plugin. An
 * unknown name is GRAFT_ERROR_USAGE, with a list of the known ones. */
int graft_snapshot_quantization(const struct graft_snapshot *snapshot, const char *name,
                                const struct graft_quantization **format, const char **id, struct graft_error *error);

#endif
