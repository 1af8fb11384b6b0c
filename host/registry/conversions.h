/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Model-wide lists of transforms by the name of a model type or class. graft/host/registry.h says what registering
 * does; here it is for a registry. A list is immutable and shared by the snapshots that hold it. All functions are
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
    struct graft_weight_transform *transforms; /* in one block */
    size_t n;
    int32_t adds; /* 1: to what classes own, as fusions do; 0: it takes their place */
};

int graft_registry_register_conversions(struct graft_registry *registry, const char *name,
                                        const struct graft_weight_transform *transforms, size_t n, int overwrite,
                                        struct graft_error *error);

/* A list with a fusion's transforms in it, in the place of the one of its name. Where there is none, it adds. */
int graft_registry_replace_conversions(struct graft_registry *registry, const char *name,
                                       const struct graft_weight_transform *transforms, size_t n,
                                       struct graft_error *error);

/* Removes one; `name` NULL: all. */
int graft_registry_unregister_conversions(struct graft_registry *registry, const char *name, struct graft_error *error);

/* The list of that name; NULL when there is none. It lives as long as the snapshot. */
const struct conversion_list *graft_snapshot_conversions(const struct graft_snapshot *snapshot, const char *name);

/* Whether there is any. */
int graft_snapshot_has_conversions(const struct graft_snapshot *snapshot);

struct conversion_list *graft_conversion_list_retain(struct conversion_list *list);
void graft_conversion_list_release(struct conversion_list *list);

#endif
