/* SPDX-License-Identifier: Apache-2.0 */
#include "plugin/known_families.h"

#include <string.h>

#include "base/nearest.h"

/* Plugin number `i` of the set that is being loaded, then of earlier sets; NULL after the last. */
static const struct graft_loaded_plugin *plugin_at(const struct graft_known_families *known, size_t i) {
    const struct graft_plugin_set *set = known->set;
    for (size_t k = 0; set != NULL; k++) {
        if (i < set->n) {
            return &set->plugins[i];
        }
        i -= set->n;
        set = k < known->options->n_others ? known->options->others[k] : NULL;
    }
    return NULL;
}

static int find_family(void *data, const char *model_type, const struct graft_family **found,
                       struct graft_error *error) {
    const struct graft_known_families *known = data;
    const struct graft_family_finder *host = &known->options->families;
    const struct graft_loaded_plugin *plugin;
    *found = NULL;
    int status = host->find_family != NULL ? host->find_family(host->data, model_type, found, error) : GRAFT_OK;
    for (size_t i = 0; status == GRAFT_OK && *found == NULL && (plugin = plugin_at(known, i)) != NULL; i++) {
        for (int32_t k = 0; k < plugin->descriptor->n_families && *found == NULL; k++) {
            const struct graft_family *family = graft_plugin_family(plugin->descriptor, k);
            *found = strcmp(family->model_type, model_type) == 0 ? family : NULL;
        }
    }
    return status;
}

static int find_class(void *data, const char *name, const struct graft_class **found, struct graft_error *error) {
    const struct graft_known_families *known = data;
    const struct graft_family_finder *host = &known->options->families;
    const struct graft_loaded_plugin *plugin;
    *found = NULL;
    int status = host->find_class != NULL ? host->find_class(host->data, name, found, error) : GRAFT_OK;
    for (size_t i = 0; status == GRAFT_OK && *found == NULL && (plugin = plugin_at(known, i)) != NULL; i++) {
        for (int32_t k = 0; k < plugin->descriptor->n_families && *found == NULL; k++) {
            *found = graft_family_find_class(graft_plugin_family(plugin->descriptor, k), name);
        }
    }
    return status;
}

static void name_all(void *data, struct graft_nearest *nearest) {
    const struct graft_known_families *known = data;
    const struct graft_family_finder *host = &known->options->families;
    const struct graft_loaded_plugin *plugin;
    if (host->name_all != NULL) {
        host->name_all(host->data, nearest);
    }
    for (size_t i = 0; (plugin = plugin_at(known, i)) != NULL; i++) {
        for (int32_t k = 0; k < plugin->descriptor->n_families; k++) {
            graft_nearest_add(nearest, graft_plugin_family(plugin->descriptor, k)->model_type);
        }
    }
}

struct graft_family_finder graft_known_families_finder(struct graft_known_families *known) {
    return (struct graft_family_finder){known, find_family, find_class, name_all};
}

struct graft_plugin_ref *graft_known_families_use(const struct graft_known_families *known,
                                                  const struct graft_family *family) {
    const struct graft_loaded_plugin *plugin;
    for (size_t i = 0; (plugin = plugin_at(known, i)) != NULL; i++) {
        for (int32_t k = 0; k < plugin->descriptor->n_families; k++) {
            if (graft_plugin_family(plugin->descriptor, k) == family) {
                return plugin->use;
            }
        }
    }
    return NULL;
}
