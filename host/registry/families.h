/* SPDX-License-Identifier: Apache-2.0 */
/* Which model families there are, and which of several of one `model_type` a model gets. */
#ifndef GRAFT_REGISTRY_FAMILIES_H
#define GRAFT_REGISTRY_FAMILIES_H

#include "graft/family.h"
#include "registry/registry.h"

struct graft_known_family {
    const struct graft_family *family;
    struct graft_origin origin;
};

/* [any] Adds a family of the host with its classes. */
int graft_registry_add_family(struct graft_registry *registry, const struct graft_family *family,
                              struct graft_error *error);

/* [any] The family that a model of that type gets; `*known` is NULL when there is none. Of several it is that of the
 * plugin named first, or registered first by a call; else the host's own. Errors are those of reading the host's. */
int graft_snapshot_find_family(const struct graft_snapshot *snapshot, const char *model_type,
                               const struct graft_known_family **known, struct graft_error *error);

/* [any] The same, NULL also where it could not be read. */
const struct graft_known_family *graft_snapshot_family(const struct graft_snapshot *snapshot, const char *model_type);

/* [any] Whether nothing decides between that family and another plugin's: an error that names both. */
int graft_snapshot_check_family(const struct graft_snapshot *snapshot, const struct graft_known_family *known,
                                struct graft_error *error);

/* [any] What a checkpoint may have or lack in front of its names; "" for nothing. */
const char *graft_family_prefix(const struct graft_family *family);

/* [any] The class that a host's description of a child names, in models of the family: a class of the family that is
 * derived from that one, or what the family lists; NULL: the class of that very name. */
const char *graft_family_stand_in_for(const struct graft_family *family, const char *class_name);

/* [any] Number `i`, the host's first, which have to be read (graft_snapshot_read_all), then in the order of
 * registration; NULL behind the last. */
const struct graft_known_family *graft_snapshot_family_at(const struct graft_snapshot *snapshot, size_t i);

/* [any] Number `i` of those that were registered, which leaves out what the host has as files. */
const struct graft_known_family *graft_snapshot_registered_family_at(const struct graft_snapshot *snapshot, size_t i);

/* [any] Records that no family is of the model type that `file` has; the error lists those there are. */
int graft_snapshot_fail_family(const struct graft_snapshot *snapshot, const char *file, const char *model_type,
                               struct graft_error *error);

#endif
