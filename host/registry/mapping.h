/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What library calls register: a mapping of keys that are names and patterns at once. graft/host/registry.h says what
 * these functions do; there they are called for a library, here for its registry. All are [any].
 */
#ifndef GRAFT_REGISTRY_MAPPING_H
#define GRAFT_REGISTRY_MAPPING_H

#include "graft/host/registry.h"
#include "registry/registry.h"

/* Errors are GRAFT_ERROR_USAGE, their source is the key. */
int graft_registry_register(struct graft_registry *registry, const struct graft_patch *patches, size_t n, int overwrite,
                            struct graft_error *error);
int graft_registry_unregister(struct graft_registry *registry, const char *const *keys, size_t n,
                              struct graft_error *error);
int graft_registry_clear(struct graft_registry *registry, struct graft_error *error);
int graft_registry_patches(struct graft_registry *registry, struct graft_patch **patches, size_t *n,
                           struct graft_error *error);

/* A snapshot that is like another, with these elements in front of its mapping. */
int graft_snapshot_with_patches(const struct graft_snapshot *snapshot, const struct graft_patch *patches, size_t n,
                                struct graft_snapshot **made, struct graft_error *error);

/* The classes whose descriptions and conversions hold at modules of the host's class of that name, in models of a type,
 * the outermost first: `n` of them, 0 for a name that is unknown. Replacements at some paths only are left out. Two
 * plugins without an order are an error. */
int graft_snapshot_describers(const struct graft_snapshot *snapshot, const char *name, const char *model_type,
                              const struct graft_class *describers[GRAFT_MAX_STACK], size_t *n,
                              struct graft_error *error);

int graft_registry_enter(struct graft_registry *registry, struct graft_scope **scope, struct graft_error *error);
void graft_registry_leave(struct graft_registry *registry, struct graft_scope *scope_take);

/* `asking`: as in graft_snapshot_class. */
int graft_registry_look_up(struct graft_registry *registry, const char *name, const char *asking,
                           const struct graft_class **cls, struct graft_error *error);

/* Notes on keys that look-ups came across: number `i`, valid as long as the registry; NULL after the last. */
const char *graft_registry_note(struct graft_registry *registry, size_t i);

#endif
