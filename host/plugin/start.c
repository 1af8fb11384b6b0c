/* SPDX-License-Identifier: Apache-2.0 */
#include "plugin/start.h"

#include <string.h>

#include "plugin/check.h"
#include "plugin/host_services.h"
#include "plugin/plugin_ref.h"

static int has_id(const char *const *ids, const char *id) {
    while (ids != NULL && *ids != NULL && strcmp(*ids, id) != 0) {
        ids++;
    }
    return ids != NULL && *ids != NULL;
}

const struct graft_loaded_plugin *graft_plugin_offering(const struct graft_plugin_set *set, const char *id,
                                                        const struct graft_loaded_plugin *asking) {
    const struct graft_loaded_plugin *found = NULL;
    for (size_t i = 0; i < set->n; i++) {
        const struct graft_loaded_plugin *plugin = &set->plugins[i];
        if (plugin != asking && has_id(plugin->descriptor->offers_extensions, id) &&
            (found == NULL || plugin->rank < found->rank)) {
            found = plugin;
        }
    }
    return found;
}

/* The plugin that offers `id` to `asking`; NULL if there is none. */
static const struct graft_loaded_plugin *find_provider(const struct graft_plugin_scope *scope, const char *id,
                                                       const struct graft_loaded_plugin *asking) {
    const struct graft_loaded_plugin *found = NULL;
    for (size_t i = 0; i < scope->n_others && found == NULL; i++) {
        found = graft_plugin_offering(scope->others[i], id, asking);
        /* the plugins of a set that is only inspected are not started */
        found = found != NULL && found->started ? found : NULL;
    }
    return found != NULL ? found : graft_plugin_offering(scope->set, id, asking);
}

/* The first plugin that has to be started before this one; NULL if there is none. */
static const struct graft_loaded_plugin *waits_for(const struct graft_plugin_scope *scope,
                                                   const struct graft_loaded_plugin *plugin, const char **id) {
    const char *const *const lists[] = {plugin->descriptor->requires_extensions, plugin->descriptor->uses_extensions};
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        for (const char *const *at = lists[i]; at != NULL && *at != NULL; at++) {
            const struct graft_loaded_plugin *provider = find_provider(scope, *at, plugin);
            if (provider != NULL && !provider->started) {
                *id = *at;
                return provider;
            }
        }
    }
    return NULL;
}

struct graft_loaded_plugin *graft_plugin_next(const struct graft_plugin_scope *scope) {
    struct graft_plugin_set *set = scope->set;
    const struct graft_loaded_plugin *waiting = NULL;
    const char *id;
    for (size_t i = 0; i < set->n; i++) {
        if (!set->plugins[i].started) {
            waiting = &set->plugins[i];
            if (waits_for(scope, waiting, &id) == NULL) {
                return &set->plugins[i];
            }
        }
    }
    /* following the plugins that wait for each other ends in a circle */
    for (size_t i = 0; waiting != NULL && i < set->n; i++) {
        waiting = waits_for(scope, waiting, &id);
    }
    return waiting != NULL ? &set->plugins[waiting - set->plugins] : NULL;
}

/* Links a plugin to the extensions that others offer. */
static int link_list(const struct graft_plugin_scope *scope, const struct graft_loaded_plugin *plugin,
                     const struct graft_place *place, const char *const *ids, int are_required,
                     struct graft_error *error) {
    int status = GRAFT_OK;
    for (int32_t i = 0; ids != NULL && ids[i] != NULL && status == GRAFT_OK; i++) {
        const struct graft_loaded_plugin *provider = find_provider(scope, ids[i], plugin);
        if (provider != NULL) {
            status = graft_plugin_ref_link(plugin->use, ids[i], provider->use, error);
        } else if (are_required && graft_host_get()->get_extension(ids[i]) == NULL) {
            const struct graft_place element = {.parent = place, .field = "requires_extensions", .index = i};
            status = graft_check_failed(&element, NULL, error, "no other loaded plugin offers \"%s\"", ids[i]);
            graft_error_hint(error, "load the plugin that offers it");
        }
    }
    return status;
}

static int link_all(const struct graft_plugin_scope *scope, const struct graft_loaded_plugin *plugin, const char *file,
                    struct graft_error *error) {
    const struct graft_plugin *descriptor = plugin->descriptor;
    const struct graft_place place = {.file = file, .index = -1};
    const char *id = NULL;
    const struct graft_loaded_plugin *other = waits_for(scope, plugin, &id);
    if (other != NULL) {
        return graft_error_set(error, GRAFT_ERROR_PLUGIN, file,
                               "cannot be started: it waits for \"%s\" of plugin %s, which waits for this plugin", id,
                               other->descriptor->id);
    }
    int status = link_list(scope, plugin, &place, descriptor->requires_extensions, 1, error);
    return status == GRAFT_OK ? link_list(scope, plugin, &place, descriptor->uses_extensions, 0, error) : status;
}

int graft_plugin_start(const struct graft_plugin_scope *scope, struct graft_loaded_plugin *plugin,
                       struct graft_error *error) {
    const char *file = plugin->file != NULL ? plugin->file : plugin->descriptor->id;
    int status = graft_plugin_ref_is_started(plugin->use) ? GRAFT_OK : link_all(scope, plugin, file, error);
    if (status == GRAFT_OK) {
        status = graft_plugin_ref_init(plugin->use, file, plugin->values, error);
    }
    if (status != GRAFT_OK && !graft_plugin_ref_is_started(plugin->use)) {
        graft_plugin_ref_forget(plugin->use);
    }
    plugin->started = status == GRAFT_OK;
    return status;
}
