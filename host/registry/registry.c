/* SPDX-License-Identifier: Apache-2.0 */
/* Fills a registry. Every change makes a new snapshot, which replaces the current one. */
#include "registry/registry.h"

#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/text.h"
#include "registry/snapshot.h"

struct graft_snapshot *graft_snapshot_retain(struct graft_snapshot *snapshot) {
    atomic_fetch_add(&snapshot->references, 1);
    return snapshot;
}

struct graft_snapshot *graft_snapshot_copy(const struct graft_snapshot *old) {
    struct graft_snapshot *copy = graft_alloc(1, sizeof *copy);
    size_t plugins = old != NULL ? old->n_plugins : 0;
    size_t classes = old != NULL ? old->n_classes : 0;
    size_t families = old != NULL ? old->n_families : 0;
    size_t fusions = old != NULL ? old->n_fusions : 0;
    size_t conversions = old != NULL ? old->n_conversions : 0;
    if (copy == NULL) {
        return NULL;
    }
    copy->references = 1;
    copy->built_in = old != NULL ? old->built_in : NULL;
    copy->implementations = graft_implementations_retain(old != NULL ? old->implementations : NULL);
    copy->plugins = graft_alloc(plugins + 1, sizeof *copy->plugins);
    copy->classes = graft_alloc(classes + 1, sizeof *copy->classes);
    copy->families = graft_alloc(families + 1, sizeof *copy->families);
    copy->mapping = old != NULL ? graft_mapping_version_retain(old->mapping) : graft_mapping_version_create(0);
    copy->fusions = graft_alloc(fusions + 1, sizeof(struct graft_known_fusion *));
    copy->conversions = graft_alloc(conversions + 1, sizeof(struct conversion_list *));
    if (copy->plugins == NULL || copy->classes == NULL || copy->families == NULL || copy->mapping == NULL ||
        copy->fusions == NULL || copy->conversions == NULL) {
        graft_snapshot_release(copy);
        return NULL;
    }
    for (; copy->n_plugins < plugins; copy->n_plugins++) {
        copy->plugins[copy->n_plugins] = old->plugins[copy->n_plugins];
    }
    for (; copy->n_classes < classes; copy->n_classes++) {
        copy->classes[copy->n_classes] = old->classes[copy->n_classes];
    }
    if (old != NULL) {
        memcpy(copy->first_in, old->first_in, sizeof copy->first_in);
    }
    for (; copy->n_families < families; copy->n_families++) {
        copy->families[copy->n_families] = old->families[copy->n_families];
    }
    for (; copy->n_fusions < fusions; copy->n_fusions++) {
        copy->fusions[copy->n_fusions] = graft_fusion_retain(old->fusions[copy->n_fusions]);
    }
    for (; copy->n_conversions < conversions; copy->n_conversions++) {
        copy->conversions[copy->n_conversions] = graft_conversion_list_retain(old->conversions[copy->n_conversions]);
    }
    return copy;
}

void graft_snapshot_release(struct graft_snapshot *snapshot) {
    if (snapshot != NULL && atomic_fetch_sub(&snapshot->references, 1) == 1) {
        for (size_t i = 0; i < snapshot->n_fusions; i++) {
            graft_fusion_release(snapshot->fusions[i]);
        }
        for (size_t i = 0; i < snapshot->n_conversions; i++) {
            graft_conversion_list_release(snapshot->conversions[i]);
        }
        graft_free(snapshot->conversions);
        graft_mapping_version_release(snapshot->mapping);
        graft_implementations_release(snapshot->implementations);
        graft_free(snapshot->fusions);
        graft_free(snapshot->families);
        graft_free(snapshot->classes);
        graft_free(snapshot->plugins);
        graft_free(snapshot);
    }
}

struct graft_registry *graft_registry_create(struct graft_built_in *built_in) {
    struct graft_registry *registry = graft_alloc(1, sizeof *registry);
    if (registry == NULL || (registry->current = graft_snapshot_copy(NULL)) == NULL) {
        graft_free(registry);
        return NULL;
    }
    registry->current->built_in = built_in;
    (void)pthread_mutex_init(&registry->lock, NULL);
    return registry;
}

void graft_registry_free(struct graft_registry *registry) {
    if (registry != NULL) {
        while (registry->innermost != NULL) {
            graft_registry_leave(registry, registry->innermost);
        }
        for (size_t i = 0; i < registry->n_notes; i++) {
            graft_free(registry->notes[i]);
        }
        graft_free(registry->notes);
        graft_snapshot_release(registry->current);
        (void)pthread_mutex_destroy(&registry->lock);
        graft_free(registry);
    }
}

struct graft_snapshot *graft_registry_snapshot(struct graft_registry *registry) {
    (void)pthread_mutex_lock(&registry->lock);
    struct graft_snapshot *snapshot = graft_snapshot_retain(registry->current);
    (void)pthread_mutex_unlock(&registry->lock);
    return snapshot;
}

void graft_registry_restore(struct graft_registry *registry, struct graft_snapshot *snapshot) {
    (void)graft_snapshot_retain(snapshot);
    (void)pthread_mutex_lock(&registry->lock);
    struct graft_snapshot *old = registry->current;
    registry->current = snapshot;
    (void)pthread_mutex_unlock(&registry->lock);
    graft_snapshot_release(old);
}

/* Whether two classes of the same name conflict. A plugin's own class comes first for that plugin; otherwise the host's
 * class comes first, then those of plugins in their order. */
static int clash(const struct graft_known_class *a, const struct graft_known_class *b) {
    const char *left = a->origin.plugin != NULL ? a->origin.plugin : "";
    const char *right = b->origin.plugin != NULL ? b->origin.plugin : "";
    if (strcmp(a->cls->name, b->cls->name) != 0) {
        return 0;
    }
    return strcmp(left, right) == 0 || (!a->private_to_plugin && !b->private_to_plugin &&
                                        graft_origin_place(&a->origin) == 2 && graft_origin_place(&b->origin) == 2);
}

int graft_class_append(struct graft_snapshot *snapshot, const struct graft_known_class *added,
                       struct graft_error *error) {
    const uint64_t hash = graft_text_hash(0, added->cls->name);
    uint32_t *end = &snapshot->first_in[hash % GRAFT_CLASS_BUCKETS];
    for (; *end != 0; end = &snapshot->classes[*end - 1].next) {
        const struct graft_known_class *known = &snapshot->classes[*end - 1];
        if (clash(known, added)) {
            int status = graft_error_set(error, GRAFT_ERROR_PLUGIN, added->origin.file,
                                         "class %s: there is already one with that name in %s", added->cls->name,
                                         known->origin.file != NULL ? known->origin.file : "the host");
            if (known->origin.plugin != NULL && strcmp(known->origin.plugin, added->origin.plugin) != 0) {
                graft_error_hint(error, "load the one that should win first, or leave one out");
            }
            return status;
        }
    }
    struct graft_known_class *last = &snapshot->classes[snapshot->n_classes++];
    *last = *added;
    last->name_hash = hash;
    last->next = 0;
    *end = (uint32_t)snapshot->n_classes;
    return GRAFT_OK;
}

/* Replaces the snapshot's mapping by one with `n` more replacements, `stride` bytes apart. */
static int append_replacements(struct graft_snapshot *snapshot, const struct graft_replacement *replacements, size_t n,
                               size_t stride, const struct graft_origin *origin, struct graft_error *error) {
    struct mapping_version *next = NULL;
    int status =
        graft_mapping_version_with_replacements(snapshot->mapping, replacements, n, stride, origin, &next, error);
    if (status == GRAFT_OK) {
        graft_mapping_version_release(snapshot->mapping);
        snapshot->mapping = next;
    }
    return status;
}

/* Makes room for `more` elements after the `n` of an array, which may move. */
static int make_room(void **items, size_t n, size_t more, size_t size) {
    void *grown = graft_realloc(*items, n + more + 1, size);
    *items = grown != NULL ? grown : *items;
    return grown != NULL ? 0 : -1;
}

/* Makes room in a new snapshot for everything that a plugin brings, and for one more element of each kind. */
static int make_room_for(struct graft_snapshot *next, const struct graft_plugin *plugin) {
    void *plugins = next->plugins, *classes = next->classes, *families = next->families, *fusions = next->fusions;
    size_t n_classes = (size_t)plugin->n_classes;
    for (int32_t i = 0; i < plugin->n_families; i++) {
        n_classes += (size_t)graft_plugin_family(plugin, i)->n_classes;
    }
    int failed = make_room(&plugins, next->n_plugins, 1, sizeof *next->plugins) != 0;
    failed |= make_room(&classes, next->n_classes, n_classes, sizeof *next->classes) != 0;
    failed |= make_room(&families, next->n_families, (size_t)plugin->n_families, sizeof *next->families) != 0;
    failed |= make_room(&fusions, next->n_fusions, (size_t)plugin->n_fusion_families,
                        sizeof(struct graft_known_fusion *)) != 0;
    next->plugins = plugins;
    next->classes = classes;
    next->families = families;
    next->fusions = fusions;
    return failed ? -1 : 0;
}

/* Adds a plugin. Two plugins of a registry cannot have the same id, by which private classes are found. */
static int append_plugin(struct graft_snapshot *next, const struct graft_known_plugin *added,
                         struct graft_error *error) {
    for (size_t i = 0; i < next->n_plugins; i++) {
        const struct graft_origin *other = &next->plugins[i].origin;
        if (strcmp(next->plugins[i].descriptor->id, added->descriptor->id) == 0) {
            int status = graft_error_set(error, GRAFT_ERROR_PLUGIN,
                                         added->origin.file != NULL ? added->origin.file : added->origin.plugin,
                                         "the plugin id \"%s\" is already used by %s", added->descriptor->id,
                                         other->file != NULL ? other->file : "a plugin registered by a call");
            graft_error_hint(error, "remove one of them");
            return status;
        }
    }
    if (make_room_for(next, added->descriptor) != 0) {
        return graft_fail_memory(error, "registry");
    }
    next->plugins[next->n_plugins++] = *added;
    return GRAFT_OK;
}

/* Marks rules as unasked whose classes have lossy children. The rules were just added, so that nothing shares them
 * yet. */
static void hold_back(struct graft_snapshot *next, const struct graft_plugin *plugin) {
    int lossy = 0;
    for (int32_t i = 0; i < plugin->n_classes; i++) {
        lossy |= graft_class_is_lossy(graft_plugin_class(plugin, i));
    }
    for (int32_t i = 0; lossy && i < plugin->n_replacements; i++) {
        next->mapping->rules[next->mapping->n - 1 - (size_t)i]->is_unasked = 1;
    }
}

static int add_all(struct graft_snapshot *next, const struct graft_known_plugin *added, struct graft_error *error) {
    const struct graft_plugin *plugin = added->descriptor;
    const struct graft_origin *origin = &added->origin;
    int status = append_plugin(next, added, error);
    for (int32_t i = 0; i < plugin->n_classes && status == GRAFT_OK; i++) {
        struct graft_known_class known = {
            .cls = graft_plugin_class(plugin, i), .origin = *origin, .private_to_plugin = 1};
        status = graft_class_append(next, &known, error);
    }
    for (int32_t i = 0; i < plugin->n_families && status == GRAFT_OK; i++) {
        status = graft_family_append(next, graft_plugin_family(plugin, i), origin, error);
    }
    if (status == GRAFT_OK) {
        status = append_replacements(next, plugin->replacements, (size_t)plugin->n_replacements,
                                     plugin->replacement_stride, origin, error);
    }
    if (status == GRAFT_OK && origin->rank == 0) {
        hold_back(next, plugin);
    }
    for (int32_t i = 0; i < plugin->n_fusion_families && status == GRAFT_OK; i++) {
        status = graft_fusion_append(next, graft_plugin_fusion_family(plugin, i), origin, error);
    }
    return status == GRAFT_OK ? graft_implementations_append_all(next, plugin, origin, error) : status;
}

/* Makes `next` the current snapshot if `status` is GRAFT_OK. The caller holds the lock. */
static int commit(struct graft_registry *registry, struct graft_snapshot *next, int status) {
    if (status == GRAFT_OK) {
        struct graft_snapshot *old = registry->current;
        registry->current = next;
        next = old;
    }
    graft_snapshot_release(next);
    return status;
}

int graft_registry_add_class(struct graft_registry *registry, const struct graft_class *cls,
                             const struct graft_origin *origin, int32_t private_to_plugin, struct graft_error *error) {
    static const struct graft_origin host = {0};
    struct graft_known_class added = {
        .cls = cls, .origin = origin != NULL ? *origin : host, .private_to_plugin = private_to_plugin};
    (void)pthread_mutex_lock(&registry->lock);
    struct graft_snapshot *next = graft_snapshot_copy(registry->current);
    int status = next == NULL ? graft_fail_memory(error, "registry")
                              : commit(registry, next, graft_class_append(next, &added, error));
    (void)pthread_mutex_unlock(&registry->lock);
    return status;
}

int graft_registry_add_family(struct graft_registry *registry, const struct graft_family *family,
                              struct graft_error *error) {
    static const struct graft_origin host = {0};
    (void)pthread_mutex_lock(&registry->lock);
    struct graft_snapshot *next = graft_snapshot_copy(registry->current);
    void *classes = next != NULL ? next->classes : NULL;
    int failed =
        next == NULL || make_room(&classes, next->n_classes, (size_t)family->n_classes, sizeof *next->classes) != 0;
    if (next != NULL) {
        next->classes = classes;
    }
    int status = failed ? graft_fail_memory(error, "registry") : graft_family_append(next, family, &host, error);
    status = commit(registry, next, status);
    (void)pthread_mutex_unlock(&registry->lock);
    return status;
}

int graft_registry_add_replacement(struct graft_registry *registry, const struct graft_replacement *replacement,
                                   const struct graft_origin *origin, struct graft_error *error) {
    (void)pthread_mutex_lock(&registry->lock);
    struct graft_snapshot *next = graft_snapshot_copy(registry->current);
    int status = next == NULL ? graft_fail_memory(error, "registry")
                              : commit(registry, next,
                                       append_replacements(next, replacement, 1, sizeof *replacement, origin, error));
    (void)pthread_mutex_unlock(&registry->lock);
    return status;
}

int graft_registry_add_plugins(struct graft_registry *registry, const struct graft_known_plugin *plugins, size_t n,
                               struct graft_error *error) {
    (void)pthread_mutex_lock(&registry->lock);
    struct graft_snapshot *next = graft_snapshot_copy(registry->current);
    int status = next != NULL ? GRAFT_OK : graft_fail_memory(error, "registry");
    for (size_t i = 0; i < n && status == GRAFT_OK; i++) {
        status = add_all(next, &plugins[i], error);
    }
    status = commit(registry, next, status);
    (void)pthread_mutex_unlock(&registry->lock);
    return status;
}

int graft_registry_add_fusion(struct graft_registry *registry, const struct graft_fusion_family *family,
                              const struct graft_origin *origin, struct graft_error *error) {
    static const struct graft_origin host = {0};
    const struct graft_origin *from = origin != NULL ? origin : &host;
    (void)pthread_mutex_lock(&registry->lock);
    struct graft_snapshot *next = graft_snapshot_copy(registry->current);
    int status = next == NULL ? graft_fail_memory(error, "registry")
                              : commit(registry, next, graft_fusion_append(next, family, from, error));
    (void)pthread_mutex_unlock(&registry->lock);
    return status;
}
