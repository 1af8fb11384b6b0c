/* SPDX-License-Identifier: Apache-2.0 */
/* One replacement: compiling its patterns, and whether it hits. */
#include <string.h>

#include "base/alloc.h"
#include "registry/snapshot.h"

static int compile(const char *pattern, const struct graft_origin *origin, struct graft_regex **regex,
                   struct graft_error *error) {
    const char *source = origin->file != NULL ? origin->file : origin->plugin;
    return graft_regex_compile(pattern, strlen(pattern), source, GRAFT_ERROR_PLUGIN, regex, error);
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
    result->replacement = (struct graft_known_class){replacement->replacement, *origin, 1};
    if (replacement->key == GRAFT_KEY_PATTERN) {
        status = compile(replacement->target, origin, &result->target, error);
    }
    if (status == GRAFT_OK && replacement->module_path != NULL) {
        status = compile(replacement->module_path, origin, &result->module_path, error);
    }
    if (status != GRAFT_OK) {
        patch_release(result);
        return status;
    }
    *patch = result;
    return GRAFT_OK;
}

void patch_release(struct patch *patch) {
    if (patch != NULL && atomic_fetch_sub(&patch->references, 1) == 1) {
        graft_regex_free(patch->target);
        graft_regex_free(patch->module_path);
        graft_free(patch);
    }
}

int patch_hits(const struct patch *patch, const struct graft_known_class *original) {
    struct graft_regex_match match;
    const char *name = original->cls->name;
    if (patch->declared->key == GRAFT_KEY_NAME) {
        return strcmp(patch->declared->target, name) == 0;
    }
    if ((original->cls->flags & GRAFT_CLASS_BASIC) != 0) {
        return 0;
    }
    return graft_regex_search(patch->target, name, strlen(name), 0, &match);
}

int patch_wants_model(const struct patch *patch, const char *model_type) {
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
