/* SPDX-License-Identifier: Apache-2.0 */
/* The model families of a snapshot, and which one a model gets if several have its `model_type`. */
#ifndef GRAFT_REGISTRY_FAMILIES_H
#define GRAFT_REGISTRY_FAMILIES_H

#include "graft/family.h"
#include "registry/registry.h"

struct graft_known_family {
    const struct graft_family *family;
    struct graft_origin origin;
};

/* [any] Adds a family of the host and its classes. */
int graft_registry_add_family(struct graft_registry *registry, const struct graft_family *family,
                              struct graft_error *error);

/* [any] Finds the family that a model of that type gets; `*known` is NULL if there is none. Of several it is that of
 * the plugin named first, or the one that a call registered first; else the host's own. Errors are those of reading the
 * host's family files. */
int graft_snapshot_find_family(const struct graft_snapshot *snapshot, const char *model_type,
                               const struct graft_known_family **known, struct graft_error *error);

/* [any] The same; NULL also if a family file could not be read. */
const struct graft_known_family *graft_snapshot_family(const struct graft_snapshot *snapshot, const char *model_type);

/* [any] Checks that no other plugin has a family of the same type with equal precedence; otherwise sets an error that
 * names both. */
int graft_snapshot_check_family(const struct graft_snapshot *snapshot, const struct graft_known_family *known,
                                struct graft_error *error);

/* [any] The prefix that a checkpoint's names may have or lack; "" if there is none. */
const char *graft_family_prefix(const struct graft_family *family);

/* [any] The class that stands in for a class name in models of the family, where the host describes a child: a class of
 * the family derived from the named one, or one that the family lists; NULL if it is the named class itself. */
const char *graft_family_stand_in_for(const struct graft_family *family, const char *class_name);

/* [any] Family number `i`: first the host's, which must have been read (graft_snapshot_read_all), then the others in
 * the order of registration; NULL past the last. */
const struct graft_known_family *graft_snapshot_family_at(const struct graft_snapshot *snapshot, size_t i);

/* [any] Family number `i` of those that were registered, which excludes the host's family files. */
const struct graft_known_family *graft_snapshot_registered_family_at(const struct graft_snapshot *snapshot, size_t i);

/* [any] Sets the error that no family has the model type in `file`, with a list of the known types. */
int graft_snapshot_fail_family(const struct graft_snapshot *snapshot, const char *file, const char *model_type,
                               struct graft_error *error);

#endif
