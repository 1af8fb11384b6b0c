/* SPDX-License-Identifier: Apache-2.0 */
/* One replacement: compiling its patterns, and whether it hits. */
#include <string.h>

#include "base/alloc.h"
#include "registry/fused_modules.h"
#include "registry/snapshot.h"

const char *graft_rule_source(const struct rule *patch) {
    return patch->origin.file != NULL ? patch->origin.file : patch->origin.plugin;
}

static int compile(const struct rule *patch, const char *pattern, struct graft_regex **regex,
                   struct graft_error *error) {
    return graft_regex_compile(pattern, strlen(pattern), graft_rule_source(patch), GRAFT_ERROR_PLUGIN, regex, error);
}

int graft_rule_create(const struct graft_replacement *replacement, const struct graft_origin *origin,
                      struct rule **patch, struct graft_error *error) {
    int status = GRAFT_OK;
    struct rule *result = graft_alloc(1, sizeof *result);
    if (result == NULL) {
        return graft_fail_memory(error, replacement->target);
    }
    result->references = 1;
    result->declared = replacement;
    result->source = SOURCE_PLUGIN;
    result->origin = *origin;
    result->replacement = (struct graft_known_class){replacement->replacement, *origin, 1, NULL};
    result->is_unasked = origin->rank == 0 && graft_class_is_lossy(replacement->replacement);
    if (replacement->key == GRAFT_KEY_PATTERN) {
        status = compile(result, replacement->target, &result->target, error);
    }
    if (status == GRAFT_OK && replacement->module_path != NULL) {
        status = compile(result, replacement->module_path, &result->module_path, error);
    }
    if (status != GRAFT_OK) {
        graft_rule_release(result);
        return status;
    }
    *patch = result;
    return GRAFT_OK;
}

struct rule *graft_rule_retain(struct rule *patch) {
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

void graft_rule_release(struct rule *patch) {
    if (patch != NULL && atomic_fetch_sub(&patch->references, 1) == 1) {
        graft_fused_modules_release(patch->fused);
        graft_regex_free(patch->target);
        graft_regex_free(patch->module_path);
        free_own(&patch->own);
        graft_free(patch->invalid);
        graft_free(patch);
    }
}

int graft_rule_same_source(const struct rule *a, const struct rule *b) {
    const char *left = a->origin.plugin != NULL ? a->origin.plugin : "";
    const char *right = b->origin.plugin != NULL ? b->origin.plugin : "";
    return a->source == b->source && (a->source != SOURCE_PLUGIN || strcmp(left, right) == 0);
}

const struct rule *graft_rule_prefer(const struct rule *a, const struct rule *b,
                                     const struct graft_known_class *original) {
    if (graft_rule_same_source(a, b)) {
        return !graft_rule_names(a, original) && graft_rule_names(b, original) ? b : a;
    }
    if (a->source != b->source) {
        return a->source < b->source ? a : b;
    }
    if (a->origin.rank != b->origin.rank) {
        return a->origin.rank < b->origin.rank ? a : b;
    }
    return NULL;
}

int graft_rule_fits(const struct rule *patch, const struct graft_known_class *original) {
    return strcmp(patch->declared->replacement->interface_id, original->cls->interface_id) == 0;
}

int graft_rule_names(const struct rule *patch, const struct graft_known_class *original) {
    return patch->declared->key != GRAFT_KEY_PATTERN && strcmp(patch->declared->target, original->cls->name) == 0;
}

void graft_rule_add_key(const struct rule *patch, struct graft_text *text) {
    int is_call = patch->declared->key == KEY_BOTH;
    const char *what = is_call                                     ? "key"
                       : patch->is_kernel                          ? "kernel for class"
                       : patch->declared->key == GRAFT_KEY_PATTERN ? "pattern"
                                                                   : "class";
    graft_text_printf(text, "%s%s%s \"%s\"", is_call ? "" : patch->origin.plugin, is_call ? "" : ": ", what,
                      patch->declared->target);
}

static int too_costly(const struct rule *patch, const char *pattern, const char *subject, struct graft_error *error) {
    (void)graft_error_set(error, GRAFT_ERROR_PLUGIN, graft_rule_source(patch),
                          "pattern \"%s\": searching \"%s\" costs too much", pattern, subject);
    graft_error_hint(error, "write a pattern without nested repetition");
    return -1;
}

/* Whether another plugin keeps the class for children of its own, and converts their weights. */
static int is_of_another(const struct rule *patch, const struct graft_known_class *original) {
    const char *own = patch->origin.plugin != NULL ? patch->origin.plugin : "";
    const char *other = original->origin.plugin != NULL ? original->origin.plugin : "";
    return original->private_to_plugin && strcmp(own, other) != 0;
}

int graft_rule_leaves(const struct rule *patch, const struct graft_known_class *original) {
    return (patch->declared->flags & GRAFT_REPLACEMENT_WHERE_IT_FITS) != 0 && !graft_rule_names(patch, original) &&
           !graft_rule_fits(patch, original);
}

static int finds_class(const struct rule *patch, const struct graft_known_class *original, struct graft_error *error) {
    struct graft_regex_match match;
    const char *name = original->cls->name;
    if (patch->declared->key == KEY_BOTH && original->private_to_plugin) {
        return 0;
    }
    if (graft_rule_names(patch, original)) {
        return 1;
    }
    if (patch->target == NULL || (original->cls->flags & GRAFT_CLASS_BASIC) != 0 || is_of_another(patch, original)) {
        return 0;
    }
    if (patch->is_name && !graft_rule_fits(patch, original)) {
        return 0;
    }
    int hit = graft_regex_search(patch->target, name, strlen(name), 0, &match);
    return hit < 0 ? too_costly(patch, patch->declared->target, name, error) : hit;
}

int graft_rule_hits(const struct rule *patch, const struct graft_known_class *original, struct graft_error *error) {
    return patch->is_unasked || graft_rule_leaves(patch, original) ? 0 : finds_class(patch, original, error);
}

int graft_rule_is_for_model(const struct rule *patch, const char *model_type) {
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

int graft_rule_finds(const struct rule *patch, const struct graft_known_class *original,
                     const struct graft_module_place *place, struct graft_error *error) {
    struct graft_regex_match match;
    int hit = graft_rule_is_for_model(patch, place->model_type) ? finds_class(patch, original, error) : 0;
    if (patch->fused != NULL) {
        const struct graft_candidate *candidate = graft_fused_modules_at(patch->fused, place->path);
        return hit < 0 ? hit : hit == 1 && candidate != NULL && candidate->original == original->cls;
    }
    if (hit == 1 && patch->module_path != NULL) {
        hit = graft_regex_search(patch->module_path, place->path, strlen(place->path), 0, &match);
        return hit < 0 ? too_costly(patch, patch->declared->module_path, place->path, error) : hit;
    }
    return hit;
}

int graft_rule_wants(const struct rule *patch, const struct graft_known_class *original,
                     const struct graft_module_place *place, struct graft_error *error) {
    return patch->is_unasked || graft_rule_leaves(patch, original) ? 0
                                                                   : graft_rule_finds(patch, original, place, error);
}

const struct graft_known_class *graft_rule_replacement(const struct rule *patch,
                                                       const struct graft_module_place *place) {
    const struct graft_candidate *candidate =
        patch->fused != NULL ? graft_fused_modules_at(patch->fused, place->path) : NULL;
    return candidate != NULL ? &candidate->known : &patch->replacement;
}
