/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The mapping that library calls fill, whose keys are both names and patterns. graft/host/registry.h documents these
 * functions for a library; here they work on its registry. All are [any].
 */
#ifndef GRAFT_REGISTRY_MAPPING_H
#define GRAFT_REGISTRY_MAPPING_H

#include "graft/host/registry.h"
#include "registry/registry.h"

/* Errors are GRAFT_ERROR_USAGE, with the key as the source. */
int graft_registry_register(struct graft_registry *registry, const struct graft_patch *patches, size_t n, int overwrite,
                            struct graft_error *error);
int graft_registry_unregister(struct graft_registry *registry, const char *const *keys, size_t n,
                              struct graft_error *error);
int graft_registry_clear(struct graft_registry *registry, struct graft_error *error);
int graft_registry_patches(struct graft_registry *registry, struct graft_patch **patches, size_t *n,
                           struct graft_error *error);

/* Makes a snapshot with further elements in front of its mapping. */
int graft_snapshot_with_patches(const struct graft_snapshot *snapshot, const struct graft_patch *patches, size_t n,
                                struct graft_snapshot **made, struct graft_error *error);

/* The classes whose descriptions and conversions apply at modules of the host's class `name`, in models of a type,
 * outermost first; `n` is 0 for an unknown name. Replacements that are limited to some paths are left out. Two plugins
 * without an order are an error. */
int graft_snapshot_describing_classes(const struct graft_snapshot *snapshot, const char *name, const char *model_type,
                                      const struct graft_class *describing[GRAFT_MAX_STACK], size_t *n,
                                      struct graft_error *error);

int graft_registry_enter(struct graft_registry *registry, struct graft_scope **scope, struct graft_error *error);
void graft_registry_leave(struct graft_registry *registry, struct graft_scope *scope_take);

/* Looks up a class; `asking` is as in graft_snapshot_class. */
int graft_registry_look_up(struct graft_registry *registry, const char *name, const char *asking,
                           const struct graft_class **cls, struct graft_error *error);

/* Note number `i` on keys that look-ups met, valid as long as the registry; NULL after the last. */
const char *graft_registry_note(struct graft_registry *registry, size_t i);

#endif
