/* SPDX-License-Identifier: Apache-2.0 */
#include "graft/host/library.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "library/library.h"
#include "plugin/plugin.h"

/* Orders families by model type; among those of one type the one in use comes first, then the host's, then those of
 * plugins by id. */
static int by_model_type(const void *a, const void *b) {
    const struct graft_family_info *left = a, *right = b;
    int order = strcmp(left->family->model_type, right->family->model_type);
    if (order == 0) {
        order = right->is_used - left->is_used;
    }
    return order != 0 ? order
                      : strcmp(left->plugin != NULL ? left->plugin : "", right->plugin != NULL ? right->plugin : "");
}

int graft_library_families(struct graft_library *library, struct graft_family_info **families, size_t *n,
                           struct graft_error *error) {
    struct graft_snapshot *snapshot = graft_registry_snapshot(library->registry);
    const struct graft_known_family *known;
    size_t count = 0;
    int status = graft_snapshot_read_all(snapshot, error);
    if (status != GRAFT_OK) {
        graft_snapshot_release(snapshot);
        return status;
    }
    while (graft_snapshot_family_at(snapshot, count) != NULL) {
        count++;
    }
    struct graft_family_info *result = graft_alloc(count, sizeof *result);
    for (size_t i = 0; result != NULL && (known = graft_snapshot_family_at(snapshot, i)) != NULL; i++) {
        result[i] = (struct graft_family_info){
            .struct_size = sizeof result[i],
            .is_used = graft_snapshot_family(snapshot, known->family->model_type) == known,
            .family = known->family,
            .plugin = known->origin.plugin,
            .file = known->origin.file,
        };
    }
    if (result != NULL) {
        qsort(result, count, sizeof *result, by_model_type);
    }
    graft_snapshot_release(snapshot);
    *families = result;
    *n = result != NULL ? count : 0;
    return result != NULL ? GRAFT_OK : graft_fail_memory(error, "library");
}

void graft_library_hint_left_out(struct graft_library *library, const char *name, struct graft_error *error) {
    const char *id = NULL;
    (void)pthread_mutex_lock(&library->lock);
    for (size_t i = 0; i < library->n_loaded && id == NULL && error != NULL; i++) {
        id = graft_left_out_find(library->loaded[i]->left_out, library->loaded[i]->n_left_out, name);
    }
    if (id != NULL) {
        error->hint[0] = '\0';
        graft_error_hint(error, "%s brings it, and is not among the plugins that were asked for", id);
    }
    (void)pthread_mutex_unlock(&library->lock);
}

void graft_families_free(struct graft_family_info *families) {
    graft_free(families);
}
