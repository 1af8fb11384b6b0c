/* SPDX-License-Identifier: Apache-2.0 */
#include "registry/implementations.h"

#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/text.h"
#include "registry/snapshot.h"

static const char *const kinds[] = {"attention implementation", "experts implementation", "kernel", "logits processor"};

static const char *source_of(const struct graft_origin *origin) {
    return origin->file != NULL ? origin->file : origin->plugin != NULL ? origin->plugin : "the host";
}

struct implementations *graft_implementations_retain(struct implementations *implementations) {
    if (implementations != NULL) {
        atomic_fetch_add(&implementations->references, 1);
    }
    return implementations;
}

void graft_implementations_release(struct implementations *implementations) {
    if (implementations != NULL && atomic_fetch_sub(&implementations->references, 1) == 1) {
        graft_free(implementations->items);
        graft_free(implementations);
    }
}

/* Checks that the name is free. Only kernels of the same plugin may share a name. */
static int check_name(const struct implementations *old, const struct graft_implementation *added,
                      struct graft_error *error) {
    for (size_t i = 0; old != NULL && i < old->n; i++) {
        const struct graft_implementation *other = &old->items[i];
        int same_plugin = other->origin.plugin != NULL && added->origin.plugin != NULL &&
                          strcmp(other->origin.plugin, added->origin.plugin) == 0;
        if (other->kind == added->kind && strcmp(other->name, added->name) == 0 &&
            !(added->kind == GRAFT_IMPLEMENTATION_KERNEL && same_plugin)) {
            int status = graft_error_set(error, GRAFT_ERROR_PLUGIN, source_of(&added->origin),
                                         "%s \"%s\": there is already one with that name in %s", kinds[added->kind],
                                         added->name, source_of(&other->origin));
            graft_error_hint(error, "load only one of the two plugins");
            return status;
        }
    }
    return GRAFT_OK;
}

/* Replaces the snapshot's list by one with another implementation. */
static int append(struct graft_snapshot *snapshot, const struct graft_implementation *added,
                  struct graft_error *error) {
    const struct implementations *old = snapshot->implementations;
    size_t n = old != NULL ? old->n : 0;
    int status = check_name(old, added, error);
    if (status != GRAFT_OK) {
        return status;
    }
    struct implementations *next = graft_alloc(1, sizeof *next);
    if (next == NULL || (next->items = graft_alloc(n + 1, sizeof *next->items)) == NULL) {
        graft_free(next);
        return graft_fail_memory(error, added->name);
    }
    next->references = 1;
    for (; next->n < n; next->n++) {
        next->items[next->n] = old->items[next->n];
    }
    next->items[next->n++] = *added;
    graft_implementations_release(snapshot->implementations);
    snapshot->implementations = next;
    return GRAFT_OK;
}

int graft_implementations_append_all(struct graft_snapshot *snapshot, const struct graft_plugin *plugin,
                                     const struct graft_origin *origin, struct graft_error *error) {
    int status = GRAFT_OK;
    for (int32_t i = 0; i < plugin->n_attention_implementations && status == GRAFT_OK; i++) {
        const struct graft_attention_implementation *declared = graft_plugin_attention(plugin, i);
        status = append(
            snapshot, &(struct graft_implementation){GRAFT_IMPLEMENTATION_ATTENTION, declared->name, declared, *origin},
            error);
    }
    for (int32_t i = 0; i < plugin->n_experts_implementations && status == GRAFT_OK; i++) {
        const struct graft_experts_implementation *declared = graft_plugin_experts(plugin, i);
        status = append(snapshot,
                        &(struct graft_implementation){GRAFT_IMPLEMENTATION_EXPERTS, declared->name, declared, *origin},
                        error);
    }
    for (int32_t i = 0; i < plugin->n_kernels && status == GRAFT_OK; i++) {
        const struct graft_kernel_override *declared = graft_plugin_kernel(plugin, i);
        status = append(snapshot,
                        &(struct graft_implementation){GRAFT_IMPLEMENTATION_KERNEL, declared->name, declared, *origin},
                        error);
    }
    for (int32_t i = 0; i < graft_plugin_n_logits_processors(plugin) && status == GRAFT_OK; i++) {
        const struct graft_logits_processor *declared = graft_plugin_logits_processor(plugin, i);
        status = append(
            snapshot,
            &(struct graft_implementation){GRAFT_IMPLEMENTATION_LOGITS_PROCESSOR, declared->name, declared, *origin},
            error);
    }
    return status;
}

static int is_there(const struct implementations *old, const struct graft_implementation *added) {
    for (size_t i = 0; old != NULL && i < old->n; i++) {
        if (old->items[i].kind == added->kind && old->items[i].declared == added->declared) {
            return 1;
        }
    }
    return 0;
}

int graft_registry_add_implementation(struct graft_registry *registry, enum graft_implementation_kind kind,
                                      const char *name, const void *declared, const struct graft_origin *origin,
                                      struct graft_error *error) {
    static const struct graft_origin host = {0};
    const struct graft_implementation added = {kind, name, declared, origin != NULL ? *origin : host};
    (void)pthread_mutex_lock(&registry->lock);
    struct graft_snapshot *next = graft_snapshot_copy(registry->current);
    int status = next != NULL ? GRAFT_OK : graft_fail_memory(error, name);
    if (status == GRAFT_OK && !is_there(next->implementations, &added)) {
        status = append(next, &added, error);
    }
    if (status == GRAFT_OK) {
        struct graft_snapshot *old = registry->current;
        registry->current = next;
        next = old;
    }
    graft_snapshot_release(next);
    (void)pthread_mutex_unlock(&registry->lock);
    return status;
}

const struct graft_implementation *graft_snapshot_implementation_at(const struct graft_snapshot *snapshot, size_t i) {
    return snapshot->implementations != NULL && i < snapshot->implementations->n ? &snapshot->implementations->items[i]
                                                                                 : NULL;
}

static int unknown(const struct graft_snapshot *snapshot, enum graft_implementation_kind kind, const char *name,
                   const char *option, struct graft_error *error) {
    const struct graft_implementation *implementation;
    const char *last = NULL;
    struct graft_text known = {0};
    for (size_t i = 0; (implementation = graft_snapshot_implementation_at(snapshot, i)) != NULL; i++) {
        if (implementation->kind == kind && (last == NULL || strcmp(last, implementation->name) != 0)) {
            last = implementation->name;
            graft_text_printf(&known, "%s%s", known.length > 0 ? ", " : "", last);
        }
    }
    int status = graft_error_set(error, GRAFT_ERROR_USAGE, option, "there is no %s \"%s\"; known: %s", kinds[kind],
                                 name, known.length > 0 ? known.bytes : "none");
    graft_error_hint(error, "plugins may provide more");
    graft_text_free(&known);
    return status;
}

int graft_snapshot_implementation(const struct graft_snapshot *snapshot, enum graft_implementation_kind kind,
                                  const char *name, const char *option,
                                  const struct graft_implementation **implementation, struct graft_error *error) {
    const struct graft_implementation *at;
    for (size_t i = 0; (at = graft_snapshot_implementation_at(snapshot, i)) != NULL; i++) {
        if (at->kind == kind && strcmp(at->name, name) == 0) {
            *implementation = at;
            return GRAFT_OK;
        }
    }
    return unknown(snapshot, kind, name, option, error);
}

static int add_kernel(struct graft_snapshot **snapshot, const struct graft_implementation *implementation,
                      struct graft_error *error) {
    const struct graft_kernel_override *kernel = implementation->declared;
    struct mapping_version *mapping = NULL;
    int status =
        graft_mapping_version_with_replacements((*snapshot)->mapping, kernel->replacement, 1,
                                                sizeof *kernel->replacement, &implementation->origin, &mapping, error);
    if (status != GRAFT_OK) {
        return status;
    }
    mapping->rules[mapping->n - 1]->is_kernel = 1;
    struct graft_snapshot *next = graft_snapshot_copy(*snapshot);
    if (next == NULL) {
        graft_mapping_version_release(mapping);
        return graft_fail_memory(error, implementation->name);
    }
    graft_mapping_version_release(next->mapping);
    next->mapping = mapping;
    graft_snapshot_release(*snapshot);
    *snapshot = next;
    return GRAFT_OK;
}

static int is_repeated(const char *const *names, size_t i) {
    for (size_t k = 0; k < i; k++) {
        if (strcmp(names[k], names[i]) == 0) {
            return 1;
        }
    }
    return 0;
}

/* Adds all kernels of a name. */
static int add_named(struct graft_snapshot **snapshot, const char *name, struct graft_error *error) {
    const struct graft_implementation *implementation = NULL;
    int status =
        graft_snapshot_implementation(*snapshot, GRAFT_IMPLEMENTATION_KERNEL, name, "kernels", &implementation, error);
    for (size_t i = 0; status == GRAFT_OK && (implementation = graft_snapshot_implementation_at(*snapshot, i)) != NULL;
         i++) {
        if (implementation->kind == GRAFT_IMPLEMENTATION_KERNEL && strcmp(implementation->name, name) == 0) {
            status = add_kernel(snapshot, implementation, error);
        }
    }
    return status;
}

int graft_snapshot_with_kernels(struct graft_snapshot *snapshot, const char *const *names, size_t n,
                                struct graft_snapshot **result, struct graft_error *error) {
    struct graft_snapshot *made = graft_snapshot_retain(snapshot);
    int status = GRAFT_OK;
    for (size_t i = 0; i < n && status == GRAFT_OK; i++) {
        status = is_repeated(names, i) ? GRAFT_OK : add_named(&made, names[i], error);
    }
    if (status != GRAFT_OK) {
        graft_snapshot_release(made);
        return status;
    }
    *result = made;
    return GRAFT_OK;
}

const struct graft_implementation *graft_snapshot_kernel_of(const struct graft_snapshot *snapshot,
                                                            const struct graft_class *cls) {
    const struct graft_implementation *implementation;
    for (size_t i = 0; (implementation = graft_snapshot_implementation_at(snapshot, i)) != NULL; i++) {
        if (implementation->kind == GRAFT_IMPLEMENTATION_KERNEL) {
            const struct graft_kernel_override *kernel = implementation->declared;
            if (kernel->replacement->replacement == cls) {
                return implementation;
            }
        }
    }
    return NULL;
}
