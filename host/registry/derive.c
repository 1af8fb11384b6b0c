/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the bases of derived classes. */
#include <string.h>

#include "registry/nearest.h"
#include "registry/snapshot.h"

/* a longer chain can only be a circle */
enum { MAX_BASES = 32 };

const struct graft_known_class *graft_snapshot_base(const struct graft_snapshot *snapshot,
                                                    const struct graft_known_class *known) {
    const char *name = known->cls->base;
    if (name == NULL) {
        return NULL;
    }
    const struct graft_known_class *own = graft_snapshot_class(snapshot, name, known->origin.plugin);
    return own == NULL || own->cls != known->cls ? own : graft_snapshot_class(snapshot, name, NULL);
}

int graft_snapshot_is_derived(const struct graft_snapshot *snapshot, const struct graft_known_class *known,
                              const char *name) {
    for (int i = 0; i < MAX_BASES && known != NULL && known->cls->base != NULL; i++) {
        if (strcmp(known->cls->base, name) == 0) {
            return 1;
        }
        known = graft_snapshot_base(snapshot, known);
    }
    return 0;
}

static const char *source_of(const struct graft_known_class *known) {
    return known->origin.file != NULL ? known->origin.file : known->origin.plugin;
}

/* Moves from a class that lacks functions to its base. */
static int step(const struct graft_snapshot *snapshot, const struct graft_known_class **at, struct graft_error *error) {
    const struct graft_known_class *known = *at;
    const struct graft_known_class *base = graft_snapshot_base(snapshot, known);
    if (base == NULL) {
        int status = graft_error_set(error, GRAFT_ERROR_PLUGIN, source_of(known), "base of %s: there is no class %s",
                                     known->cls->name, known->cls->base);
        graft_snapshot_hint_nearest(snapshot, known->cls->base, error);
        return status;
    }
    if (strcmp(base->cls->interface_id, known->cls->interface_id) != 0) {
        return graft_error_set(error, GRAFT_ERROR_PLUGIN, source_of(known),
                               "base of %s: the interface of %s is %s, expected %s", known->cls->name, base->cls->name,
                               base->cls->interface_id, known->cls->interface_id);
    }
    *at = base;
    return GRAFT_OK;
}

static int describes(const struct graft_class *cls) {
    return cls->describe != NULL;
}

static int makes(const struct graft_class *cls) {
    return cls->forward != NULL;
}

static int find(const struct graft_snapshot *snapshot, const struct graft_known_class *known,
                int (*has)(const struct graft_class *cls), const struct graft_known_class **found,
                struct graft_error *error) {
    const struct graft_known_class *at = known;
    int status = GRAFT_OK;
    for (int i = 0; i < MAX_BASES && status == GRAFT_OK; i++) {
        if (has(at->cls) || at->cls->base == NULL) {
            *found = has(at->cls) ? at : NULL;
            return GRAFT_OK;
        }
        status = step(snapshot, &at, error);
    }
    return status != GRAFT_OK ? status
                              : graft_error_set(error, GRAFT_ERROR_PLUGIN, source_of(known),
                                                "base of %s: its bases go round in a circle", known->cls->name);
}

int graft_snapshot_describing_class(const struct graft_snapshot *snapshot, const struct graft_known_class *known,
                                    const struct graft_known_class **describing, struct graft_error *error) {
    return find(snapshot, known, describes, describing, error);
}

int graft_snapshot_creating_class(const struct graft_snapshot *snapshot, const struct graft_known_class *known,
                                  const struct graft_known_class **creating, struct graft_error *error) {
    return find(snapshot, known, makes, creating, error);
}
