/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of a snapshot: shared by the units of this folder only. */
#ifndef GRAFT_REGISTRY_SNAPSHOT_H
#define GRAFT_REGISTRY_SNAPSHOT_H

#include <stdatomic.h>

#include "base/regex.h"
#include "registry/registry.h"

/* One replacement with its patterns compiled. Immutable and shared by the snapshots that hold it. */
struct patch {
    atomic_long references;
    const struct graft_replacement *declared;
    struct graft_origin origin;
    struct graft_known_class replacement;
    struct graft_regex *target;      /* GRAFT_KEY_PATTERN only */
    struct graft_regex *module_path; /* NULL: everywhere */
};

struct graft_snapshot {
    atomic_long references;
    struct graft_known_class *classes;
    size_t n_classes;
    struct patch **patches;
    size_t n_patches;
};

/* A patch for `replacement`, with one reference. */
int patch_create(const struct graft_replacement *replacement, const struct graft_origin *origin, struct patch **patch,
                 struct graft_error *error);
void patch_release(struct patch *patch);

/* Whether the patch's key hits the class name: 1, 0, or -1 when the search cost too much. Basic classes are reached by
 * their exact name only. */
int patch_hits(const struct patch *patch, const struct graft_known_class *original);

/* Whether the patch is meant for this model type. */
int patch_wants_model(const struct patch *patch, const char *model_type);

/* A copy with room for one more class and one more patch. */
struct graft_snapshot *snapshot_copy(const struct graft_snapshot *old);

#endif
