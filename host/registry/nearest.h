/* SPDX-License-Identifier: Apache-2.0 */
/* For a class name that nobody knows: those it may have been meant for. All functions are [any]. */
#ifndef GRAFT_REGISTRY_NEAREST_H
#define GRAFT_REGISTRY_NEAREST_H

#include "registry/registry.h"

struct graft_text;

/* Writes "did you mean A or B?" with up to three names that differ in few letters, or nothing. */
void graft_snapshot_suggest(const struct graft_snapshot *snapshot, const char *name, struct graft_text *text);

/* The same as the hint of an error. */
void graft_snapshot_hint_nearest(const struct graft_snapshot *snapshot, const char *name, struct graft_error *error);

#endif
