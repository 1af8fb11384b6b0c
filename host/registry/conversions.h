/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Model-wide lists of transforms, by the name of a model type or class. graft/host/registry.h documents registering;
 * these functions do it for a registry. A list is immutable and shared by the snapshots that have it. All functions are
 * [any].
 */
#ifndef GRAFT_REGISTRY_CONVERSIONS_H
#define GRAFT_REGISTRY_CONVERSIONS_H

#include <stdatomic.h>

#include "graft/host/registry.h"
#include "registry/registry.h"

struct conversion_list {
    atomic_long references;
    char *name;
    struct graft_weight_transform *transforms; /* allocated as one block */
    size_t n;
    int32_t adds; /* 1: the list adds to the conversions of classes, as fusions do; 0: it replaces them */
};

int graft_registry_register_conversions(struct graft_registry *registry, const char *name,
                                        const struct graft_weight_transform *transforms, size_t n, int overwrite,
                                        struct graft_error *error);

/* Adds a fusion's transforms to the list of that name. A new list adds to the conversions of classes. */
int graft_registry_replace_conversions(struct graft_registry *registry, const char *name,
                                       const struct graft_weight_transform *transforms, size_t n,
                                       struct graft_error *error);

/* Removes the list of that name, or all lists if `name` is NULL. */
int graft_registry_unregister_conversions(struct graft_registry *registry, const char *name, struct graft_error *error);

/* The list of that name; NULL if there is none. It lives as long as the snapshot. */
const struct conversion_list *graft_snapshot_conversions(const struct graft_snapshot *snapshot, const char *name);

/* Whether the snapshot has any list. */
int graft_snapshot_has_conversions(const struct graft_snapshot *snapshot);

struct conversion_list *graft_conversion_list_retain(struct conversion_list *list);
void graft_conversion_list_release(struct conversion_list *list);

#endif
