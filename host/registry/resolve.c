/* SPDX-License-Identifier: Apache-2.0 */
/* What a class name stands for at one place of a model. */
#include <string.h>

#include "registry/snapshot.h"

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

/* 1 when the patch wants the module at `place`, 0 when not, -1 after an error. */
static int wants(const struct patch *patch, const struct graft_known_class *original, const struct graft_place *place,
                 struct graft_error *error) {
    struct graft_regex_match match;
    int hit = patch_wants_model(patch, place->model_type) ? patch_hits(patch, original) : 0;
    if (hit == 1 && patch->module_path != NULL) {
        hit = graft_regex_search(patch->module_path, place->path, strlen(place->path), 0, &match);
    }
    if (hit < 0) {
        (void)graft_error_set(error, GRAFT_ERROR_PLUGIN, patch->origin.file,
                              "pattern \"%s\": searching \"%s\" costs too much", patch->declared->target,
                              original->cls->name);
        graft_error_hint(error, "write a pattern without nested repetition");
    }
    return hit;
}

static int same_plugin(const struct patch *a, const struct patch *b) {
    const char *left = a->origin.plugin != NULL ? a->origin.plugin : "";
    const char *right = b->origin.plugin != NULL ? b->origin.plugin : "";
    return strcmp(left, right) == 0;
}

/* Which of two patches that want the same module gets it; NULL after an error. `a` was registered first. */
static const struct patch *prefer(const struct patch *a, const struct patch *b, const struct graft_place *place,
                                  struct graft_error *error) {
    if (!same_plugin(a, b)) {
        if (a->origin.rank != b->origin.rank) {
            return a->origin.rank < b->origin.rank ? a : b;
        }
        (void)graft_error_set(error, GRAFT_ERROR_PLUGIN, place->path, "plugins %s and %s both replace %s",
                              a->origin.plugin, b->origin.plugin, place->class_name);
        graft_error_hint(error, "say which goes first with --plugins, or leave one out");
        return NULL;
    }
    return a->declared->key == GRAFT_KEY_PATTERN && b->declared->key == GRAFT_KEY_NAME ? b : a;
}

static int check_interface(const struct patch *patch, const struct graft_known_class *original,
                           const struct graft_place *place, struct graft_error *error) {
    const struct graft_class *replacement = patch->declared->replacement;
    if (strcmp(replacement->interface_id, original->cls->interface_id) == 0) {
        return GRAFT_OK;
    }
    return graft_error_set(error, GRAFT_ERROR_PLUGIN, patch->origin.file,
                           "%s cannot replace %s at %s: its interface is %s, expected %s", replacement->name,
                           original->cls->name, place->path, replacement->interface_id, original->cls->interface_id);
}

int graft_snapshot_resolve(const struct graft_snapshot *snapshot, const struct graft_place *place,
                           struct graft_resolution *resolution, struct graft_error *error) {
    const struct patch *chosen = NULL;
    resolution->original = graft_snapshot_class(snapshot, place->class_name, place->asking);
    resolution->replacement = NULL;
    if (resolution->original == NULL) {
        return graft_error_set(error, place->asking != NULL ? GRAFT_ERROR_PLUGIN : GRAFT_ERROR_MODEL, place->path,
                               "there is no class %s", place->class_name);
    }
    for (size_t i = 0; i < snapshot->n_patches; i++) {
        const struct patch *patch = snapshot->patches[i];
        int hit = wants(patch, resolution->original, place, error);
        if (hit == 1) {
            chosen = chosen == NULL ? patch : prefer(chosen, patch, place, error);
        }
        if (hit < 0 || (hit == 1 && chosen == NULL)) {
            return GRAFT_ERROR_PLUGIN;
        }
    }
    if (chosen != NULL) {
        resolution->replacement = &chosen->replacement;
        return check_interface(chosen, resolution->original, place, error);
    }
    return GRAFT_OK;
}
