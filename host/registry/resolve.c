/* SPDX-License-Identifier: Apache-2.0 */
/* What a class name stands for at one place of a model. */
#include <string.h>

#include "registry/discovery.h"
#include "registry/nearest.h"
#include "registry/tally_rows.h"

const struct graft_known_class *graft_snapshot_class(const struct graft_snapshot *snapshot, const char *name,
                                                     const char *asking) {
    const struct graft_known_class *found = NULL;
    for (size_t i = 0; i < snapshot->n_classes; i++) {
        const struct graft_known_class *known = &snapshot->classes[i];
        if (strcmp(known->cls->name, name) != 0) {
            continue;
        }
        if (!known->private_to_plugin) {
            found = known;
        } else if (asking != NULL && strcmp(known->origin.plugin, asking) == 0) {
            return known;
        }
    }
    return found;
}

const struct graft_known_class *graft_snapshot_class_at(const struct graft_snapshot *snapshot, size_t i) {
    return i < snapshot->n_classes ? &snapshot->classes[i] : NULL;
}

const struct graft_replacement *graft_snapshot_replacement(const struct graft_snapshot *snapshot, size_t i,
                                                           struct graft_origin *origin) {
    if (i >= snapshot->n_patches) {
        return NULL;
    }
    *origin = snapshot->patches[i]->origin;
    return snapshot->patches[i]->declared;
}

struct patch *snapshot_patch(const struct graft_snapshot *snapshot, size_t i) {
    if (i < snapshot->n_patches) {
        return snapshot->patches[i];
    }
    i -= snapshot->n_patches;
    return i < snapshot->mapping->n ? snapshot->mapping->patches[i] : NULL;
}

/* Which of two patches that want the same module gets it; NULL when nothing says so. `a` was registered first. */
static const struct patch *prefer(const struct patch *a, const struct patch *b,
                                  const struct graft_known_class *original) {
    if (patch_same_source(a, b)) {
        return !patch_names(a, original) && patch_names(b, original) ? b : a;
    }
    if (b->declared->key == KEY_BOTH) {
        return b;
    }
    if (a->origin.rank != b->origin.rank) {
        return a->origin.rank < b->origin.rank ? a : b;
    }
    return NULL;
}

static int undecided(const struct patch *a, const struct patch *b, const struct graft_module_place *place,
                     struct graft_error *error) {
    (void)graft_error_set(error, GRAFT_ERROR_PLUGIN, place->path, "plugins %s and %s both replace %s", a->origin.plugin,
                          b->origin.plugin, place->class_name);
    graft_error_hint(error, "say which goes first with --plugins, or leave one out");
    return GRAFT_ERROR_PLUGIN;
}

static int check_interface(const struct patch *patch, const struct graft_known_class *original,
                           const struct graft_module_place *place, struct graft_error *error) {
    const struct graft_class *replacement = patch->declared->replacement;
    if (patch_fits(patch, original)) {
        return GRAFT_OK;
    }
    return graft_error_set(error, GRAFT_ERROR_PLUGIN, patch_source(patch),
                           "%s cannot replace %s at %s: its interface is %s, expected %s", replacement->name,
                           original->cls->name, place->path, replacement->interface_id, original->cls->interface_id);
}

int graft_snapshot_original(const struct graft_snapshot *snapshot, const struct graft_module_place *place,
                            struct graft_resolution *resolution, struct graft_error *error) {
    resolution->original = graft_snapshot_class(snapshot, place->class_name, place->asking);
    resolution->replacement = NULL;
    if (resolution->original == NULL) {
        int status = graft_error_set(error, place->asking != NULL ? GRAFT_ERROR_PLUGIN : GRAFT_ERROR_MODEL, place->path,
                                     "there is no class %s", place->class_name);
        graft_snapshot_hint_nearest(snapshot, place->class_name, error);
        return status;
    }
    return GRAFT_OK;
}

/* The patch that gets the module; `*chosen` is NULL when nobody wants it. In a trial the first of two gets what nothing
 * decides, and nobody is said to have lost it. */
static int choose(const struct graft_snapshot *snapshot, const struct graft_known_class *original,
                  const struct graft_module_place *place, struct graft_tally *tally, const struct patch **chosen,
                  struct graft_error *error) {
    int clear = 1;
    *chosen = NULL;
    for (size_t i = 0; snapshot_patch(snapshot, i) != NULL; i++) {
        const struct patch *patch = snapshot_patch(snapshot, i);
        if (tally != NULL && tally->rows[i].left_out) {
            continue;
        }
        int hit = patch_wants(patch, original, place, error);
        if (hit < 0) {
            return GRAFT_ERROR_PLUGIN;
        }
        if (hit == 0) {
            continue;
        }
        if (tally != NULL) {
            tally_want(tally, i);
        }
        const struct patch *better = *chosen == NULL ? patch : prefer(*chosen, patch, original);
        if (better == NULL && (tally == NULL || !tally->trial)) {
            return undecided(*chosen, patch, place, error);
        }
        clear = clear && better != NULL;
        *chosen = better != NULL ? better : *chosen;
    }
    if (tally != NULL && *chosen != NULL && clear) {
        tally_give(tally, *chosen);
    }
    return GRAFT_OK;
}

/* The module is fused; patches that want it lose it. */
static int give_to_fusion(const struct graft_snapshot *snapshot, const struct graft_module_place *place,
                          struct graft_tally *tally, struct graft_resolution *resolution, struct graft_error *error) {
    for (size_t i = 0; tally != NULL && snapshot_patch(snapshot, i) != NULL; i++) {
        int hit = patch_wants(snapshot_patch(snapshot, i), resolution->original, place, error);
        if (hit < 0) {
            return GRAFT_ERROR_PLUGIN;
        }
        if (hit == 1 && !tally->rows[i].left_out) {
            tally_want(tally, i);
        }
    }
    if (tally != NULL) {
        tally_give_fusion(tally, &place->fused->known.origin);
    }
    resolution->replacement = &place->fused->known;
    return GRAFT_OK;
}

int graft_snapshot_resolve(const struct graft_snapshot *snapshot, const struct graft_module_place *place,
                           struct graft_tally *tally, struct graft_resolution *resolution, struct graft_error *error) {
    const struct patch *chosen;
    int status = graft_snapshot_original(snapshot, place, resolution, error);
    if (status != GRAFT_OK) {
        return status;
    }
    if (tally != NULL) {
        tally->modules++;
    }
    if (place->fused != NULL && place->fused->original == resolution->original->cls) {
        return give_to_fusion(snapshot, place, tally, resolution, error);
    }
    status = choose(snapshot, resolution->original, place, tally, &chosen, error);
    if (status != GRAFT_OK || chosen == NULL) {
        return status;
    }
    if (tally != NULL && tally->trial && !patch_fits(chosen, resolution->original)) {
        return GRAFT_OK;
    }
    resolution->replacement = patch_replacement(chosen, place);
    return check_interface(chosen, resolution->original, place, error);
}
