/* SPDX-License-Identifier: Apache-2.0 */
/* Implements the queries of graft/host/library.h. */
#include "graft/host/library.h"

#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/sha256.h"
#include "graft/host/registry.h"
#include "library/library.h"
#include "registry/nearest.h"

int graft_library_classes(struct graft_library *library, struct graft_class_info **classes, size_t *n,
                          struct graft_error *error) {
    struct graft_snapshot *snapshot = graft_registry_snapshot(library->registry);
    const struct graft_known_class *known;
    size_t count = 0;
    int status = graft_snapshot_read_all(snapshot, error);
    if (status != GRAFT_OK) {
        graft_snapshot_release(snapshot);
        return status;
    }
    while (graft_snapshot_class_at(snapshot, count) != NULL) {
        count++;
    }
    struct graft_class_info *result = graft_alloc(count, sizeof *result);
    for (size_t i = 0; result != NULL && (known = graft_snapshot_class_at(snapshot, i)) != NULL; i++) {
        result[i] = (struct graft_class_info){
            .struct_size = sizeof result[i],
            .is_private = known->private_to_plugin,
            .cls = known->cls,
            .plugin = known->origin.plugin,
            .file = known->origin.file,
        };
    }
    graft_snapshot_release(snapshot);
    *classes = result;
    *n = result != NULL ? count : 0;
    return result != NULL ? GRAFT_OK : graft_fail_memory(error, "library");
}

void graft_classes_free(struct graft_class_info *classes) {
    graft_free(classes);
}

/* The host's class of that name, else the first of a plugin, private or not. */
static const struct graft_class *find(const struct graft_snapshot *snapshot, const char *name) {
    const struct graft_known_class *known;
    const struct graft_replacement *replacement;
    struct graft_origin origin;
    for (size_t i = 0; (known = graft_snapshot_class_at(snapshot, i)) != NULL; i++) {
        if (strcmp(known->cls->name, name) == 0) {
            return known->cls;
        }
    }
    for (size_t i = 0; (replacement = graft_snapshot_replacement(snapshot, i, &origin)) != NULL; i++) {
        if (strcmp(replacement->replacement->name, name) == 0) {
            return replacement->replacement;
        }
    }
    return NULL;
}

int graft_library_find_class(struct graft_library *library, const char *name, const struct graft_class **cls,
                             struct graft_error *error) {
    struct graft_snapshot *snapshot = graft_registry_snapshot(library->registry);
    int status = graft_snapshot_read_all(snapshot, error);
    *cls = status == GRAFT_OK ? find(snapshot, name) : NULL;
    if (status == GRAFT_OK && *cls == NULL) {
        status = graft_error_set(error, GRAFT_ERROR_USAGE, name, "there is no class of that name");
        graft_library_hint_left_out(library, name, error);
        graft_snapshot_hint_nearest(snapshot, name, error);
    }
    graft_snapshot_release(snapshot);
    return status;
}

const struct graft_plugin_info *graft_library_plugin(const struct graft_library *library, size_t i) {
    pthread_mutex_t *lock = (pthread_mutex_t *)&library->lock;
    const struct graft_plugin_info *found = NULL;
    (void)pthread_mutex_lock(lock);
    for (size_t k = 0; k < library->n_loaded && found == NULL; k++) {
        const struct graft_plugin_set *set = library->loaded[k];
        found = i < set->n ? &set->plugins[i].info : NULL;
        i -= found == NULL ? set->n : 0;
    }
    if (found == NULL && i < library->n_called) {
        found = &library->called[i]->plugins[0].info;
    }
    (void)pthread_mutex_unlock(lock);
    return found;
}

int graft_library_plugin_sha256(const struct graft_library *library, size_t i, char sha256[GRAFT_SHA256_LENGTH + 1],
                                struct graft_error *error) {
    const struct graft_plugin_info *plugin = graft_library_plugin(library, i);
    sha256[0] = '\0';
    return plugin != NULL && plugin->file != NULL ? graft_sha256_file(plugin->file, GRAFT_ERROR_PLUGIN, sha256, error)
                                                  : GRAFT_OK;
}

size_t graft_conversion_operations(const struct graft_conversion *conversion, char *text, size_t size) {
    struct graft_text described = {0};
    graft_binding_operations(&(struct graft_binding){.conversion = conversion}, &described);
    size_t length = described.failed ? 0 : described.length;
    if (size > 0) {
        size_t copied = length < size ? length : size - 1;
        memcpy(text, copied > 0 ? described.bytes : "", copied);
        text[copied] = '\0';
    }
    graft_text_free(&described);
    return length;
}
