/* SPDX-License-Identifier: Apache-2.0 */
/* Implements graft/host/registry.h: registered conversion lists, and the conversions of classes where none is
 * registered. */
#include "registry/conversions.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "library/class_conversions.h"
#include "library/library.h"
#include "names/transform_copy.h"

/* Refuses to register a name that stands for conversions of classes, unless a list has that name. */
static int check_free(struct graft_library *library, const char *name, struct graft_error *error) {
    struct graft_snapshot *snapshot = graft_registry_snapshot(library->registry);
    struct class_conversions own = {0};
    int status = name != NULL ? graft_class_conversions_collect(snapshot, name, &own, error) : GRAFT_OK;
    if (status == GRAFT_OK && own.n > 0) {
        status = graft_error_set(error, GRAFT_ERROR_USAGE, name,
                                 "conversions with that name exist already: %zu owned by classes", own.n);
        graft_error_hint(error, "register with `overwrite` to replace them");
    }
    graft_class_conversions_finish(&own);
    graft_snapshot_release(snapshot);
    return status;
}

int graft_library_register_conversions(struct graft_library *library, const char *name,
                                       const struct graft_weight_transform *transforms, size_t n, int overwrite,
                                       struct graft_error *error) {
    int status = overwrite ? GRAFT_OK : check_free(library, name, error);
    return status == GRAFT_OK
               ? graft_registry_register_conversions(library->registry, name, transforms, n, overwrite, error)
               : status;
}

int graft_library_unregister_conversions(struct graft_library *library, const char *name, struct graft_error *error) {
    return name != NULL ? graft_registry_unregister_conversions(library->registry, name, error)
                        : graft_error_set(error, GRAFT_ERROR_USAGE, "conversions", "expected a name, got NULL");
}

int graft_library_clear_conversions(struct graft_library *library, struct graft_error *error) {
    return graft_registry_unregister_conversions(library->registry, NULL, error);
}

/* Copies the conversions of classes, followed by what a list adds. */
static int copy_both(struct class_conversions *own, const struct conversion_list *list,
                     struct graft_weight_transform **transforms, struct graft_error *error) {
    for (size_t i = 0; list != NULL && i < list->n; i++) {
        if (graft_grow(&own->items, &own->capacity, own->n, sizeof *own->items) != 0) {
            return graft_fail_memory(error, "conversions");
        }
        own->items[own->n++] = list->transforms[i];
    }
    *transforms = own->n > 0 || list != NULL ? graft_transforms_copy(own->items, own->n) : NULL;
    return *transforms != NULL || (own->n == 0 && list == NULL) ? GRAFT_OK : graft_fail_memory(error, "conversions");
}

int graft_library_conversions(struct graft_library *library, const char *name,
                              struct graft_weight_transform **transforms, size_t *n, struct graft_error *error) {
    *transforms = NULL;
    *n = 0;
    if (name == NULL) {
        return graft_error_set(error, GRAFT_ERROR_USAGE, "conversions", "expected a name, got NULL");
    }
    struct graft_snapshot *snapshot = graft_registry_snapshot(library->registry);
    const struct conversion_list *list = graft_snapshot_conversions(snapshot, name);
    struct class_conversions own = {0};
    int status = GRAFT_OK;
    if (list == NULL || list->adds) {
        status = graft_class_conversions_collect(snapshot, name, &own, error);
    }
    if (status == GRAFT_OK) {
        status = copy_both(&own, list, transforms, error);
    }
    if (status == GRAFT_OK) {
        *n = own.n;
    }
    graft_class_conversions_finish(&own);
    graft_snapshot_release(snapshot);
    return status;
}

void graft_transforms_free(struct graft_weight_transform *transforms) {
    graft_free(transforms);
}
