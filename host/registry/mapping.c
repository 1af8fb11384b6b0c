/* SPDX-License-Identifier: Apache-2.0 */
/* Library calls that change or read a registry's mapping, and the scopes that look-ups by name follow. */
#include "registry/mapping.h"

#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "registry/nearest.h"
#include "registry/stack.h"

/* Makes `mapping_take` the registry's mapping. The caller holds the lock. */
static int commit(struct graft_registry *registry, struct mapping_version *mapping_take, struct graft_error *error) {
    struct graft_snapshot *next = mapping_take != NULL ? graft_snapshot_copy(registry->current) : NULL;
    if (next == NULL) {
        graft_mapping_version_release(mapping_take);
        return graft_fail_memory(error, "mapping");
    }
    graft_mapping_version_release(next->mapping);
    next->mapping = mapping_take;
    graft_snapshot_release(registry->current);
    registry->current = next;
    return GRAFT_OK;
}

int graft_registry_register(struct graft_registry *registry, const struct graft_patch *patches, size_t n, int overwrite,
                            struct graft_error *error) {
    struct mapping_version *next = NULL;
    int status = graft_check_structs(patches, n, GRAFT_PATCH_SIZE_1_0, "struct graft_patch", error);
    if (status != GRAFT_OK) {
        return status;
    }
    (void)pthread_mutex_lock(&registry->lock);
    status = graft_mapping_version_with(registry->current, patches, n, overwrite, &next, error);
    if (status == GRAFT_OK) {
        status = commit(registry, next, error);
    }
    (void)pthread_mutex_unlock(&registry->lock);
    return status;
}

int graft_registry_put_fusion(struct graft_registry *registry, const struct graft_fused_modules *fused,
                              const char *model_type, struct graft_error *error) {
    struct mapping_version *next = NULL;
    (void)pthread_mutex_lock(&registry->lock);
    int status = graft_mapping_version_with_fused(registry->current, fused, model_type, &next, error);
    if (status == GRAFT_OK) {
        status = commit(registry, next, error);
    }
    (void)pthread_mutex_unlock(&registry->lock);
    return status;
}

int graft_snapshot_with_patches(const struct graft_snapshot *snapshot, const struct graft_patch *patches, size_t n,
                                struct graft_snapshot **made, struct graft_error *error) {
    struct mapping_version *mapping = NULL;
    int status = graft_check_structs(patches, n, GRAFT_PATCH_SIZE_1_0, "struct graft_patch", error);
    if (status == GRAFT_OK) {
        status = graft_mapping_version_over(snapshot, patches, n, &mapping, error);
    }
    if (status != GRAFT_OK) {
        return status;
    }
    struct graft_snapshot *next = graft_snapshot_copy(snapshot);
    if (next == NULL) {
        graft_mapping_version_release(mapping);
        return graft_fail_memory(error, "mapping");
    }
    graft_mapping_version_release(next->mapping);
    next->mapping = mapping;
    *made = next;
    return GRAFT_OK;
}

int graft_registry_unregister(struct graft_registry *registry, const char *const *keys, size_t n,
                              struct graft_error *error) {
    struct mapping_version *next = NULL;
    (void)pthread_mutex_lock(&registry->lock);
    int status = graft_mapping_version_without(registry->current->mapping, keys, n, &next, error);
    if (status == GRAFT_OK) {
        status = commit(registry, next, error);
    }
    (void)pthread_mutex_unlock(&registry->lock);
    return status;
}

int graft_registry_clear(struct graft_registry *registry, struct graft_error *error) {
    (void)pthread_mutex_lock(&registry->lock);
    int status = commit(registry, graft_mapping_version_create(0), error);
    (void)pthread_mutex_unlock(&registry->lock);
    return status;
}

/* A copy for the caller, whose strings belong to the version. */
struct copy {
    struct mapping_version *version;
    struct graft_patch elements[];
};

static struct graft_patch describe(const struct rule *rule) {
    const struct graft_replacement *declared = rule->declared;
    int plugins = rule->source == SOURCE_PLUGIN;
    return (struct graft_patch){
        .struct_size = sizeof(struct graft_patch),
        .key = declared->target,
        .replacement = declared->replacement,
        .module_path = declared->module_path,
        .model_types = declared->model_types,
        .group = declared->group,
        .flags = declared->flags,
        .key_kind = plugins ? declared->key : 0,
        .plugin = plugins ? rule->origin.plugin : NULL,
        .file = plugins ? rule->origin.file : NULL,
    };
}

int graft_registry_patches(struct graft_registry *registry, struct graft_patch **patches, size_t *n,
                           struct graft_error *error) {
    (void)pthread_mutex_lock(&registry->lock);
    struct mapping_version *version = graft_mapping_version_retain(registry->current->mapping);
    (void)pthread_mutex_unlock(&registry->lock);
    struct copy *copy = graft_alloc(1, sizeof *copy + version->n * sizeof copy->elements[0]);
    if (copy == NULL) {
        graft_mapping_version_release(version);
        return graft_fail_memory(error, "mapping");
    }
    copy->version = version;
    for (size_t i = 0; i < version->n; i++) {
        copy->elements[i] = describe(version->rules[i]);
    }
    *patches = copy->elements;
    *n = version->n;
    return GRAFT_OK;
}

void graft_patches_free(struct graft_patch *patches) {
    if (patches != NULL) {
        struct copy *copy = (struct copy *)(void *)((char *)patches - offsetof(struct copy, elements));
        graft_mapping_version_release(copy->version);
        graft_free(copy);
    }
}

int graft_registry_enter(struct graft_registry *registry, struct graft_scope **scope, struct graft_error *error) {
    struct graft_scope *entered = graft_alloc(1, sizeof *entered);
    if (entered == NULL) {
        return graft_fail_memory(error, "scope");
    }
    (void)pthread_mutex_lock(&registry->lock);
    entered->version = graft_mapping_version_retain(registry->current->mapping);
    entered->outer = registry->innermost;
    registry->innermost = entered;
    (void)pthread_mutex_unlock(&registry->lock);
    *scope = entered;
    return GRAFT_OK;
}

void graft_registry_leave(struct graft_registry *registry, struct graft_scope *scope_take) {
    if (scope_take == NULL) {
        return;
    }
    (void)pthread_mutex_lock(&registry->lock);
    struct graft_scope **link = &registry->innermost;
    while (*link != scope_take) {
        link = &(*link)->outer;
    }
    *link = scope_take->outer;
    (void)pthread_mutex_unlock(&registry->lock);
    graft_mapping_version_release(scope_take->version);
    graft_free(scope_take);
}

/* The state of the registry when a look-up begins. */
struct view {
    struct graft_snapshot *snapshot;
    struct mapping_version **versions; /* the version of the innermost scope first */
    size_t n;
};

static int view_init(struct view *view, struct graft_registry *registry, struct graft_error *error) {
    size_t n = 0;
    *view = (struct view){0};
    (void)pthread_mutex_lock(&registry->lock);
    for (const struct graft_scope *scope = registry->innermost; scope != NULL; scope = scope->outer) {
        n++;
    }
    view->versions = graft_alloc(n, sizeof(struct mapping_version *));
    if (view->versions != NULL) {
        view->snapshot = graft_snapshot_retain(registry->current);
        for (const struct graft_scope *scope = registry->innermost; scope != NULL; scope = scope->outer) {
            view->versions[view->n++] = graft_mapping_version_retain(scope->version);
        }
    }
    (void)pthread_mutex_unlock(&registry->lock);
    return view->versions != NULL ? GRAFT_OK : graft_fail_memory(error, "scope");
}

static void view_finish(struct view *view) {
    for (size_t i = 0; i < view->n; i++) {
        graft_mapping_version_release(view->versions[i]);
    }
    graft_free(view->versions);
    graft_snapshot_release(view->snapshot);
}

int graft_snapshot_describing_classes(const struct graft_snapshot *snapshot, const char *name, const char *model_type,
                                      const struct graft_class *describing[GRAFT_MAX_STACK], size_t *n,
                                      struct graft_error *error) {
    const struct graft_known_family *family = NULL;
    const struct graft_known_class *original = NULL;
    struct stack found;
    *n = 0;
    int status = graft_snapshot_find_family(snapshot, model_type, &family, error);
    if (status == GRAFT_OK) {
        status =
            graft_snapshot_find_class(snapshot, name, family != NULL ? family->origin.plugin : NULL, &original, error);
    }
    if (status != GRAFT_OK || original == NULL) {
        return status;
    }
    status = graft_mapping_version_look_up(snapshot->mapping, original, model_type, NULL, NULL, &found, error);
    int original_describes = 1;
    for (size_t i = 0; i < found.n && status == GRAFT_OK; i++) {
        const struct graft_known_class *known = found.items[i].known;
        if (known->cls->describe != NULL && graft_rule_fits(found.items[i].rule, original)) {
            describing[(*n)++] = known->cls;
            original_describes = graft_known_calls_super(known);
        }
    }
    if (status == GRAFT_OK && original_describes) {
        status = graft_snapshot_describing_class(snapshot, original, &original, error);
        if (status == GRAFT_OK && original != NULL) {
            describing[(*n)++] = original->cls;
        }
    }
    return status;
}

/* Adds a note, once, that a key is not a valid regular expression. */
static int note_invalid(void *data, struct rule *rule, struct graft_error *error) {
    struct graft_registry *registry = data;
    if (atomic_exchange(&rule->reported, 1) != 0) {
        return GRAFT_OK;
    }
    char *note = graft_format("key \"%s\" is treated as a plain name: %s", rule->own.target, rule->invalid);
    if (note != NULL) {
        graft_error_clean(note);
    }
    (void)pthread_mutex_lock(&registry->lock);
    int failed = note == NULL || graft_grow(&registry->notes, &registry->note_capacity, registry->n_notes,
                                            sizeof *registry->notes) != 0;
    if (!failed) {
        registry->notes[registry->n_notes++] = note;
    }
    (void)pthread_mutex_unlock(&registry->lock);
    if (failed) {
        graft_free(note);
        return graft_fail_memory(error, rule->own.target);
    }
    return GRAFT_OK;
}

static int look_up(struct graft_registry *registry, const struct view *view, const struct graft_known_class *original,
                   const struct graft_class **cls, struct graft_error *error) {
    struct stack found = {0};
    int status = GRAFT_OK;
    *cls = original->cls;
    for (size_t i = 0; i < view->n && found.n == 0 && status == GRAFT_OK; i++) {
        status =
            graft_mapping_version_look_up(view->versions[i], original, NULL, note_invalid, registry, &found, error);
    }
    if (status != GRAFT_OK || found.n == 0) {
        return status;
    }
    const struct rule *first = found.items[0].rule;
    *cls = first->declared->replacement;
    return graft_rule_fits(first, original)
               ? GRAFT_OK
               : graft_error_set(error, GRAFT_ERROR_USAGE, first->declared->target,
                                 "%s cannot replace %s: its interface is %s, expected %s", (*cls)->name,
                                 original->cls->name, (*cls)->interface_id, original->cls->interface_id);
}

int graft_registry_look_up(struct graft_registry *registry, const char *name, const char *asking,
                           const struct graft_class **cls, struct graft_error *error) {
    struct view view;
    int status = view_init(&view, registry, error);
    if (status != GRAFT_OK) {
        return status;
    }
    const struct graft_known_class *original = NULL;
    status = graft_snapshot_find_class(view.snapshot, name, asking, &original, error);
    if (original != NULL) {
        status = look_up(registry, &view, original, cls, error);
    } else if (status == GRAFT_OK) {
        status = graft_error_set(error, GRAFT_ERROR_USAGE, name, "there is no class of this name");
        graft_snapshot_hint_nearest(view.snapshot, name, error);
    }
    view_finish(&view);
    return status;
}

const char *graft_registry_note(struct graft_registry *registry, size_t i) {
    (void)pthread_mutex_lock(&registry->lock);
    const char *note = i < registry->n_notes ? registry->notes[i] : NULL;
    (void)pthread_mutex_unlock(&registry->lock);
    return note;
}
