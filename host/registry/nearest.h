/* SPDX-License-Identifier: Apache-2.0 */
/* Suggestions for an unknown class name. All functions are [any]. */
#ifndef GRAFT_REGISTRY_NEAREST_H
#define GRAFT_REGISTRY_NEAREST_H

#include "registry/registry.h"

struct graft_text;

/* Writes "did you mean A or B?" with up to three names that differ in few letters, or nothing. */
void graft_snapshot_suggest(const struct graft_snapshot *snapshot, const char *name, struct graft_text *text);

/* Sets the same text as the hint of an error, if there is any. */
void graft_snapshot_hint_nearest(const struct graft_snapshot *snapshot, const char *name, struct graft_error *error);

#endif
