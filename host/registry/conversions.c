/* SPDX-License-Identifier: Apache-2.0 */
#include "registry/conversions.h"

#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "names/key_list.h"
#include "names/transform_copy.h"
#include "registry/snapshot.h"

struct conversion_list *graft_conversion_list_retain(struct conversion_list *list) {
    atomic_fetch_add(&list->references, 1);
    return list;
}

void graft_conversion_list_release(struct conversion_list *list) {
    if (list != NULL && atomic_fetch_sub(&list->references, 1) == 1) {
        graft_free(list->name);
        graft_free(list->transforms);
        graft_free(list);
    }
}

/* Creates a list. All patterns are compiled here, so that a bad one is reported now and not when a model is opened. */
static int list_create(const char *name, const struct graft_weight_transform *transforms, size_t n,
                       struct conversion_list **list, struct graft_error *error) {
    struct key_list compiled;
    if (name == NULL || name[0] == '\0') {
        return graft_error_set(error, GRAFT_ERROR_USAGE, "conversions", "expected the name of a model type or class");
    }
    int status =
        graft_check_structs(transforms, n, GRAFT_WEIGHT_TRANSFORM_SIZE_1_0, "struct graft_weight_transform", error);
    if (status != GRAFT_OK) {
        return status;
    }
    status = graft_key_list_init(&compiled, transforms, n, name, NULL, error);
    if (status != GRAFT_OK) {
        return status;
    }
    graft_key_list_finish(&compiled);
    struct conversion_list *made = graft_alloc(1, sizeof *made);
    if (made != NULL) {
        made->references = 1;
        made->name = graft_strdup(name);
        made->transforms = graft_transforms_copy(transforms, n);
        made->n = n;
    }
    if (made == NULL || made->name == NULL || made->transforms == NULL) {
        graft_conversion_list_release(made);
        return graft_fail_memory(error, name);
    }
    *list = made;
    return GRAFT_OK;
}

static size_t place_of(const struct graft_snapshot *snapshot, const char *name) {
    size_t i = 0;
    while (i < snapshot->n_conversions && strcmp(snapshot->conversions[i]->name, name) != 0) {
        i++;
    }
    return i;
}

const struct conversion_list *graft_snapshot_conversions(const struct graft_snapshot *snapshot, const char *name) {
    size_t place = place_of(snapshot, name);
    return place < snapshot->n_conversions ? snapshot->conversions[place] : NULL;
}

int graft_snapshot_has_conversions(const struct graft_snapshot *snapshot) {
    return snapshot->n_conversions > 0;
}

/* Makes a snapshot with the list, which is consumed, even on failure. The caller holds the lock. */
static int commit(struct graft_registry *registry, struct conversion_list *list_take, int overwrite,
                  struct graft_error *error) {
    size_t place = place_of(registry->current, list_take->name);
    if (place < registry->current->n_conversions && !overwrite) {
        (void)graft_error_set(error, GRAFT_ERROR_USAGE, list_take->name,
                              "conversions with that name are already registered");
        graft_error_hint(error, "register them with `overwrite`");
        graft_conversion_list_release(list_take);
        return GRAFT_ERROR_USAGE;
    }
    struct graft_snapshot *next = graft_snapshot_copy(registry->current);
    if (next == NULL) {
        graft_conversion_list_release(list_take);
        return graft_fail_memory(error, "conversions");
    }
    if (place < next->n_conversions) {
        graft_conversion_list_release(next->conversions[place]);
    } else {
        next->n_conversions++; /* a copied snapshot has room for one more list */
    }
    next->conversions[place] = list_take;
    graft_snapshot_release(registry->current);
    registry->current = next;
    return GRAFT_OK;
}

int graft_registry_register_conversions(struct graft_registry *registry, const char *name,
                                        const struct graft_weight_transform *transforms, size_t n, int overwrite,
                                        struct graft_error *error) {
    struct conversion_list *list = NULL;
    int status = list_create(name, transforms, n, &list, error);
    if (status != GRAFT_OK) {
        return status;
    }
    (void)pthread_mutex_lock(&registry->lock);
    status = commit(registry, list, overwrite, error);
    (void)pthread_mutex_unlock(&registry->lock);
    return status;
}

int graft_registry_replace_conversions(struct graft_registry *registry, const char *name,
                                       const struct graft_weight_transform *transforms, size_t n,
                                       struct graft_error *error) {
    struct conversion_list *list = NULL;
    int status = list_create(name, transforms, n, &list, error);
    if (status != GRAFT_OK) {
        return status;
    }
    (void)pthread_mutex_lock(&registry->lock);
    const struct conversion_list *old = graft_snapshot_conversions(registry->current, name);
    list->adds = old == NULL || old->adds;
    status = commit(registry, list, 1, error);
    (void)pthread_mutex_unlock(&registry->lock);
    return status;
}

int graft_registry_unregister_conversions(struct graft_registry *registry, const char *name,
                                          struct graft_error *error) {
    (void)pthread_mutex_lock(&registry->lock);
    int is_there = name == NULL || graft_snapshot_conversions(registry->current, name) != NULL;
    struct graft_snapshot *next = is_there ? graft_snapshot_copy(registry->current) : NULL;
    int status = next != NULL ? GRAFT_OK
                 : is_there   ? graft_fail_memory(error, "conversions")
                            : graft_error_set(error, GRAFT_ERROR_USAGE, name, "no conversions are registered under it");
    if (status == GRAFT_OK) {
        size_t kept = 0;
        for (size_t i = 0; i < next->n_conversions; i++) {
            struct conversion_list *list = next->conversions[i];
            if (name == NULL || strcmp(list->name, name) == 0) {
                graft_conversion_list_release(list);
            } else {
                next->conversions[kept++] = list;
            }
        }
        next->n_conversions = kept;
        graft_snapshot_release(registry->current);
        registry->current = next;
    }
    (void)pthread_mutex_unlock(&registry->lock);
    return status;
}
