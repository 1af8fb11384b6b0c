/* SPDX-License-Identifier: Apache-2.0 */
/* Mappings as immutable lists: a change makes a new one, which shares the patches that stay. */
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "registry/fused_modules.h"
#include "registry/snapshot.h"

struct mapping_version *graft_mapping_version_create(size_t capacity) {
    struct mapping_version *layer = graft_alloc(1, sizeof *layer);
    if (layer == NULL || (layer->patches = graft_alloc(capacity + 1, sizeof(struct rule *))) == NULL) {
        graft_free(layer);
        return NULL;
    }
    layer->references = 1;
    return layer;
}

struct mapping_version *graft_mapping_version_retain(struct mapping_version *layer) {
    atomic_fetch_add(&layer->references, 1);
    return layer;
}

void graft_mapping_version_release(struct mapping_version *layer) {
    if (layer != NULL && atomic_fetch_sub(&layer->references, 1) == 1) {
        for (size_t i = 0; i < layer->n; i++) {
            graft_rule_release(layer->patches[i]);
        }
        graft_free(layer->patches);
        graft_free(layer);
    }
}

/* What the old layer holds, with room for `n` elements more. */
static struct mapping_version *grown(const struct mapping_version *old, size_t n, struct graft_error *error) {
    struct mapping_version *next = graft_mapping_version_create(old->n + n);
    if (next == NULL) {
        (void)graft_fail_memory(error, "mapping");
        return NULL;
    }
    for (; next->n < old->n; next->n++) {
        next->patches[next->n] = graft_rule_retain(old->patches[next->n]);
    }
    return next;
}

/* The place of a key; behind the last when it is not there. */
static size_t place_of(const struct mapping_version *layer, const char *key) {
    size_t i = 0;
    while (i < layer->n && strcmp(layer->patches[i]->own.target, key) != 0) {
        i++;
    }
    return i;
}

/* At the place of its key, or behind the last. */
static void put(struct mapping_version *layer, struct rule *patch_take) {
    size_t place = place_of(layer, patch_take->own.target);
    if (place < layer->n) {
        graft_rule_release(layer->patches[place]);
    } else {
        layer->n++;
    }
    layer->patches[place] = patch_take;
}

static int put_element(struct mapping_version *layer, const struct graft_snapshot *snapshot,
                       const struct graft_patch *element, int overwrite, struct graft_error *error) {
    struct rule *patch = NULL;
    int status = graft_rule_create_mapped(element, snapshot, &patch, error);
    if (status != GRAFT_OK) {
        return status;
    }
    size_t place = place_of(layer, element->key);
    if (place < layer->n && !overwrite) {
        graft_rule_release(patch);
        status = graft_fail(error, GRAFT_ERROR_USAGE, element->key, "the key is registered already, for %s",
                            layer->patches[place]->own.replacement->name);
        graft_error_hint(error, "register it with `overwrite`, or unregister it before");
        return status;
    }
    put(layer, patch);
    return GRAFT_OK;
}

int graft_mapping_version_with(const struct graft_snapshot *snapshot, const struct graft_patch *elements, size_t n,
                               int overwrite, struct mapping_version **next, struct graft_error *error) {
    struct mapping_version *layer = grown(snapshot->mapping, n, error);
    int status = layer != NULL ? GRAFT_OK : GRAFT_ERROR_INTERNAL;
    for (size_t i = 0; i < n && status == GRAFT_OK; i++) {
        status = put_element(layer, snapshot, &elements[i], overwrite, error);
    }
    if (status != GRAFT_OK) {
        graft_mapping_version_release(layer);
        return status;
    }
    *next = layer;
    return GRAFT_OK;
}

/* Whether the first candidate of this class that fits is number `i`: there is one element a class. */
static int is_first_of_class(const struct graft_fused_modules *discovery, size_t i) {
    for (size_t k = 0; k < i; k++) {
        if (discovery->candidates[k]->fusable &&
            discovery->candidates[k]->original == discovery->candidates[i]->original) {
            return 0;
        }
    }
    return discovery->candidates[i]->fusable;
}

int graft_mapping_version_with_fused(const struct graft_snapshot *snapshot, const struct graft_fused_modules *discovery,
                                     const char *model_type, struct mapping_version **next, struct graft_error *error) {
    struct mapping_version *layer = grown(snapshot->mapping, discovery->n, error);
    int status = layer != NULL ? GRAFT_OK : GRAFT_ERROR_INTERNAL;
    for (size_t i = 0; i < discovery->n && status == GRAFT_OK; i++) {
        struct rule *patch = NULL;
        if (is_first_of_class(discovery, i)) {
            status = graft_rule_create_fused(discovery, discovery->candidates[i], snapshot, model_type, &patch, error);
        }
        if (status == GRAFT_OK && patch != NULL) {
            put(layer, patch);
        }
    }
    if (status != GRAFT_OK) {
        graft_mapping_version_release(layer);
        return status;
    }
    *next = layer;
    return GRAFT_OK;
}

int graft_mapping_version_over(const struct graft_snapshot *snapshot, const struct graft_patch *elements, size_t n,
                               struct mapping_version **next, struct graft_error *error) {
    const struct mapping_version *old = snapshot->mapping;
    struct mapping_version *layer = graft_mapping_version_create(old->n + n);
    int status = layer != NULL ? GRAFT_OK : graft_fail_memory(error, "mapping");
    for (size_t i = 0; i < n && status == GRAFT_OK; i++) {
        status = put_element(layer, snapshot, &elements[i], 0, error);
    }
    for (size_t i = 0; i < old->n && status == GRAFT_OK; i++) {
        if (place_of(layer, old->patches[i]->own.target) == layer->n) {
            layer->patches[layer->n++] = graft_rule_retain(old->patches[i]);
        }
    }
    if (status != GRAFT_OK) {
        graft_mapping_version_release(layer);
        return status;
    }
    *next = layer;
    return GRAFT_OK;
}

static int take(struct mapping_version *layer, const char *key, struct graft_error *error) {
    size_t place = key != NULL ? place_of(layer, key) : layer->n;
    if (place == layer->n) {
        return graft_fail(error, GRAFT_ERROR_USAGE, key, "the key is not registered");
    }
    graft_rule_release(layer->patches[place]);
    memmove(&layer->patches[place], &layer->patches[place + 1], (layer->n - place - 1) * sizeof(struct rule *));
    layer->n--;
    return GRAFT_OK;
}

int graft_mapping_version_without(const struct mapping_version *old, const char *const *keys, size_t n,
                                  struct mapping_version **next, struct graft_error *error) {
    struct mapping_version *layer = grown(old, 0, error);
    int status = layer != NULL ? GRAFT_OK : GRAFT_ERROR_INTERNAL;
    for (size_t i = 0; i < n && status == GRAFT_OK; i++) {
        status = take(layer, keys[i], error);
    }
    if (status != GRAFT_OK) {
        graft_mapping_version_release(layer);
        return status;
    }
    *next = layer;
    return GRAFT_OK;
}

/* Whether the element depends on nothing but the class. */
static int is_general(const struct rule *patch) {
    return patch->own.module_path == NULL && patch->own.model_types == NULL && patch->discovery == NULL;
}

int graft_mapping_version_look_up(const struct mapping_version *layer, const struct graft_known_class *original,
                                  mapping_invalid_function invalid, void *data, const struct rule **found,
                                  struct graft_error *error) {
    int status = GRAFT_OK;
    *found = NULL;
    for (size_t i = 0; i < layer->n && !original->private_to_plugin; i++) {
        if (is_general(layer->patches[i]) && graft_rule_names(layer->patches[i], original)) {
            *found = layer->patches[i];
            return GRAFT_OK;
        }
    }
    for (size_t i = 0; i < layer->n && status == GRAFT_OK; i++) {
        struct rule *patch = layer->patches[i];
        int hit = is_general(patch) ? graft_rule_hits(patch, original, error) : 0;
        if (hit == 1) {
            *found = patch;
            return GRAFT_OK;
        }
        if (hit == 0 && is_general(patch) && patch->invalid != NULL) {
            status = invalid(data, patch, error);
        }
        status = hit < 0 ? GRAFT_ERROR_PLUGIN : status;
    }
    return status;
}
