/* SPDX-License-Identifier: Apache-2.0 */
#include "registry/nearest.h"

#include "base/nearest.h"
#include "registry/snapshot.h"

static struct graft_nearest nearest_classes(const struct graft_snapshot *snapshot, const char *name) {
    struct graft_nearest nearest = {.wanted = name};
    const struct graft_known_class *known;
    if (graft_snapshot_read_all(snapshot, NULL) != GRAFT_OK) {
        return nearest; /* if memory ran out, there is no hint */
    }
    for (size_t i = 0; (known = graft_snapshot_class_at(snapshot, i)) != NULL; i++) {
        if (!known->private_to_plugin) {
            graft_nearest_add(&nearest, known->cls->name);
        }
    }
    return nearest;
}

void graft_snapshot_suggest(const struct graft_snapshot *snapshot, const char *name, struct graft_text *text) {
    const struct graft_nearest nearest = nearest_classes(snapshot, name);
    graft_nearest_print(&nearest, text);
}

void graft_snapshot_hint_nearest(const struct graft_snapshot *snapshot, const char *name, struct graft_error *error) {
    const struct graft_nearest nearest = nearest_classes(snapshot, name);
    graft_nearest_hint(&nearest, error);
}
