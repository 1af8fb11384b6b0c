/* SPDX-License-Identifier: Apache-2.0 */
#include "registry/families.h"

#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/nearest.h"
#include "base/text.h"
#include "registry/snapshot.h"

const struct graft_known_family *graft_snapshot_registered_family_at(const struct graft_snapshot *snapshot, size_t i) {
    return i < snapshot->n_families ? &snapshot->families[i] : NULL;
}

const struct graft_known_family *graft_snapshot_family_at(const struct graft_snapshot *snapshot, size_t i) {
    const struct graft_known_family *known =
        snapshot->built_in != NULL ? graft_built_in_family_at(snapshot->built_in, &i) : NULL;
    return known != NULL ? known : graft_snapshot_registered_family_at(snapshot, i);
}

const char *graft_family_prefix(const struct graft_family *family) {
    return family->base_model_prefix != NULL ? family->base_model_prefix : "";
}

const char *graft_family_stand_in_for(const struct graft_family *family, const char *class_name) {
    for (int32_t i = 0; i < family->n_stand_ins; i++) {
        if (strcmp(graft_family_stand_in(family, i)->name, class_name) == 0) {
            return graft_family_stand_in(family, i)->class_name;
        }
    }
    for (int32_t i = 0; i < family->n_classes; i++) {
        const struct graft_class *cls = graft_family_class(family, i);
        if (cls->base != NULL && strcmp(cls->base, class_name) == 0) {
            return cls->name;
        }
    }
    return NULL;
}

int graft_origin_place(const struct graft_origin *origin) {
    if (origin->plugin == NULL) {
        return 1;
    }
    return origin->rank > 0 || origin->file == NULL ? 0 : 2;
}

/* Whether `a` takes precedence over `b`, which was registered later; so it does if two plugins are tied. */
static int goes_before(const struct graft_origin *a, const struct graft_origin *b) {
    if (graft_origin_place(a) != graft_origin_place(b)) {
        return graft_origin_place(a) < graft_origin_place(b);
    }
    return a->rank <= b->rank;
}

int graft_snapshot_find_family(const struct graft_snapshot *snapshot, const char *model_type,
                               const struct graft_known_family **known_family, struct graft_error *error) {
    const struct graft_known_family *found = NULL;
    int status = snapshot->built_in != NULL ? graft_built_in_find_family(snapshot->built_in, model_type, &found, error)
                                            : GRAFT_OK;
    for (size_t i = 0; i < snapshot->n_families; i++) {
        const struct graft_known_family *known = &snapshot->families[i];
        if (strcmp(known->family->model_type, model_type) == 0 &&
            (found == NULL || !goes_before(&found->origin, &known->origin))) {
            found = known;
        }
    }
    *known_family = found;
    return status;
}

const struct graft_known_family *graft_snapshot_family(const struct graft_snapshot *snapshot, const char *model_type) {
    const struct graft_known_family *known = NULL;
    return graft_snapshot_find_family(snapshot, model_type, &known, NULL) == GRAFT_OK ? known : NULL;
}

int graft_family_append(struct graft_snapshot *snapshot, const struct graft_family *family,
                        const struct graft_origin *origin, struct graft_error *error) {
    int status = GRAFT_OK;
    for (int32_t i = 0; i < family->n_classes && status == GRAFT_OK; i++) {
        const struct graft_known_class known = {.cls = graft_family_class(family, i), .origin = *origin};
        status = graft_class_append(snapshot, &known, error);
    }
    snapshot->families[snapshot->n_families++] = (struct graft_known_family){family, *origin};
    return status;
}

int graft_snapshot_check_family(const struct graft_snapshot *snapshot, const struct graft_known_family *known,
                                struct graft_error *error) {
    for (size_t i = 0; i < snapshot->n_families && graft_origin_place(&known->origin) == 2; i++) {
        const struct graft_known_family *other = &snapshot->families[i];
        if (other != known && strcmp(other->family->model_type, known->family->model_type) == 0) {
            (void)graft_error_set(error, GRAFT_ERROR_PLUGIN, known->family->model_type,
                                  "plugins %s and %s both bring this model type", known->origin.plugin,
                                  other->origin.plugin);
            graft_error_hint(error, "load the one that should win first, or leave one out");
            return GRAFT_ERROR_PLUGIN;
        }
    }
    return GRAFT_OK;
}

int graft_snapshot_fail_family(const struct graft_snapshot *snapshot, const char *file, const char *model_type,
                               struct graft_error *error) {
    struct graft_nearest nearest = {.wanted = model_type};
    struct graft_text near = {0};
    if (snapshot->built_in != NULL) {
        const struct graft_family_finder finder = graft_built_in_finder(snapshot->built_in);
        finder.name_all(finder.data, &nearest);
    }
    for (size_t i = 0; i < snapshot->n_families; i++) {
        graft_nearest_add(&nearest, snapshot->families[i].family->model_type);
    }
    graft_nearest_print(&nearest, &near);
    const char *names = near.bytes != NULL && !near.failed ? near.bytes : "";
    (void)graft_error_set(error, GRAFT_ERROR_MODEL, file, "model_type: \"%s\" is not known%s%s%s", model_type,
                          names[0] != '\0' ? " (" : "", names, names[0] != '\0' ? ")" : "");
    graft_error_hint(error, "load a plugin that brings the model type (graft/family.h)");
    graft_text_free(&near);
    return GRAFT_ERROR_MODEL;
}
