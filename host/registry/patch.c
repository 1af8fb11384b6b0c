/* SPDX-License-Identifier: Apache-2.0 */
/* One replacement: compiling its patterns, and whether it hits. */
#include <string.h>

#include "base/alloc.h"
#include "registry/discovery.h"
#include "registry/snapshot.h"

const char *patch_source(const struct patch *patch) {
    return patch->origin.file != NULL ? patch->origin.file : patch->origin.plugin;
}

static int compile(const struct patch *patch, const char *pattern, struct graft_regex **regex,
                   struct graft_error *error) {
    return graft_regex_compile(pattern, strlen(pattern), patch_source(patch), GRAFT_ERROR_PLUGIN, regex, error);
}

int patch_create(const struct graft_replacement *replacement, const struct graft_origin *origin, struct patch **patch,
                 struct graft_error *error) {
    int status = GRAFT_OK;
    struct patch *result = graft_alloc(1, sizeof *result);
    if (result == NULL) {
        return graft_error_set(error, GRAFT_ERROR_INTERNAL, replacement->target, "out of memory");
    }
    result->references = 1;
    result->declared = replacement;
    result->origin = *origin;
    result->replacement = (struct graft_known_class){replacement->replacement, *origin, 1, NULL};
    if (replacement->key == GRAFT_KEY_PATTERN) {
        status = compile(result, replacement->target, &result->target, error);
    }
    if (status == GRAFT_OK && replacement->module_path != NULL) {
        status = compile(result, replacement->module_path, &result->module_path, error);
    }
    if (status != GRAFT_OK) {
        patch_release(result);
        return status;
    }
    *patch = result;
    return GRAFT_OK;
}

struct patch *patch_retain(struct patch *patch) {
    atomic_fetch_add(&patch->references, 1);
    return patch;
}

static void free_own(const struct graft_replacement *own) {
    for (const char *const *type = own->model_types; type != NULL && *type != NULL; type++) {
        graft_free((void *)(uintptr_t)*type);
    }
    graft_free((void *)(uintptr_t)own->model_types);
    graft_free((void *)(uintptr_t)own->target);
    graft_free((void *)(uintptr_t)own->module_path);
    graft_free((void *)(uintptr_t)own->group);
}

void patch_release(struct patch *patch) {
    if (patch != NULL && atomic_fetch_sub(&patch->references, 1) == 1) {
        graft_discovery_release(patch->discovery);
        graft_regex_free(patch->target);
        graft_regex_free(patch->module_path);
        free_own(&patch->own);
        graft_free(patch->invalid);
        graft_free(patch);
    }
}

int patch_same_source(const struct patch *a, const struct patch *b) {
    const char *left = a->origin.plugin != NULL ? a->origin.plugin : "";
    const char *right = b->origin.plugin != NULL ? b->origin.plugin : "";
    int call = a->declared->key == KEY_BOTH;
    return call == (b->declared->key == KEY_BOTH) && (call || strcmp(left, right) == 0);
}

int patch_fits(const struct patch *patch, const struct graft_known_class *original) {
    return strcmp(patch->declared->replacement->interface_id, original->cls->interface_id) == 0;
}

int patch_names(const struct patch *patch, const struct graft_known_class *original) {
    return patch->declared->key != GRAFT_KEY_PATTERN && strcmp(patch->declared->target, original->cls->name) == 0;
}

static int too_costly(const struct patch *patch, const char *pattern, const char *subject, struct graft_error *error) {
    (void)graft_error_set(error, GRAFT_ERROR_PLUGIN, patch_source(patch),
                          "pattern \"%s\": searching \"%s\" costs too much", pattern, subject);
    graft_error_hint(error, "write a pattern without nested repetition");
    return -1;
}

int patch_hits(const struct patch *patch, const struct graft_known_class *original, struct graft_error *error) {
    struct graft_regex_match match;
    const char *name = original->cls->name;
    if (patch->declared->key == KEY_BOTH && original->private_to_plugin) {
        return 0;
    }
    if (patch_names(patch, original)) {
        return 1;
    }
    if (patch->target == NULL || (original->cls->flags & GRAFT_CLASS_BASIC) != 0) {
        return 0;
    }
    int hit = graft_regex_search(patch->target, name, strlen(name), 0, &match);
    return hit < 0 ? too_costly(patch, patch->declared->target, name, error) : hit;
}

int patch_is_for_model(const struct patch *patch, const char *model_type) {
    const char *const *types = patch->declared->model_types;
    if (types == NULL) {
        return 1;
    }
    for (; *types != NULL; types++) {
        if (strcmp(*types, model_type) == 0) {
            return 1;
        }
    }
    return 0;
}

int patch_wants(const struct patch *patch, const struct graft_known_class *original,
                const struct graft_module_place *place, struct graft_error *error) {
    struct graft_regex_match match;
    int hit = patch_is_for_model(patch, place->model_type) ? patch_hits(patch, original, error) : 0;
    if (patch->discovery != NULL) {
        const struct graft_candidate *candidate = graft_discovery_at(patch->discovery, place->path);
        return hit < 0 ? hit : hit == 1 && candidate != NULL && candidate->original == original->cls;
    }
    if (hit == 1 && patch->module_path != NULL) {
        hit = graft_regex_search(patch->module_path, place->path, strlen(place->path), 0, &match);
        return hit < 0 ? too_costly(patch, patch->declared->module_path, place->path, error) : hit;
    }
    return hit;
}

const struct graft_known_class *patch_replacement(const struct patch *patch, const struct graft_module_place *place) {
    const struct graft_candidate *candidate =
        patch->discovery != NULL ? graft_discovery_at(patch->discovery, place->path) : NULL;
    return candidate != NULL ? &candidate->known : &patch->replacement;
}
