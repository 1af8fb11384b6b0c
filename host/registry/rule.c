/* SPDX-License-Identifier: Apache-2.0 */
/* Rules: replacements with compiled patterns, and whether they match. */
#include <string.h>

#include "base/alloc.h"
#include "registry/fused_modules.h"
#include "registry/snapshot.h"

const char *graft_rule_source(const struct rule *rule) {
    return rule->origin.file != NULL ? rule->origin.file : rule->origin.plugin;
}

static int compile(const struct rule *rule, const char *pattern, struct graft_regex **regex,
                   struct graft_error *error) {
    return graft_regex_compile(pattern, strlen(pattern), graft_rule_source(rule), GRAFT_ERROR_PLUGIN, regex, error);
}

int graft_rule_create(const struct graft_replacement *replacement, const struct graft_origin *origin,
                      struct rule **rule, struct graft_error *error) {
    int status = GRAFT_OK;
    struct rule *result = graft_alloc(1, sizeof *result);
    if (result == NULL) {
        return graft_fail_memory(error, replacement->target);
    }
    result->references = 1;
    result->declared = replacement;
    result->source = SOURCE_PLUGIN;
    result->origin = *origin;
    result->replacement =
        (struct graft_known_class){.cls = replacement->replacement, .origin = *origin, .private_to_plugin = 1};
    result->is_unasked = origin->rank == 0 && (graft_class_is_lossy(replacement->replacement) ||
                                               (replacement->flags & GRAFT_REPLACEMENT_ON_REQUEST) != 0);
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
    *rule = result;
    return GRAFT_OK;
}

struct rule *graft_rule_retain(struct rule *rule) {
    atomic_fetch_add(&rule->references, 1);
    return rule;
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

void graft_rule_release(struct rule *rule) {
    if (rule != NULL && atomic_fetch_sub(&rule->references, 1) == 1) {
        graft_fused_modules_release(rule->fused);
        graft_regex_free(rule->target);
        graft_regex_free(rule->module_path);
        free_own(&rule->own);
        graft_free(rule->invalid);
        graft_free(rule);
    }
}

int graft_rule_same_source(const struct rule *a, const struct rule *b) {
    const char *left = a->origin.plugin != NULL ? a->origin.plugin : "";
    const char *right = b->origin.plugin != NULL ? b->origin.plugin : "";
    return a->source == b->source && (a->source != SOURCE_PLUGIN || strcmp(left, right) == 0);
}

static int gives_way(const struct rule *rule) {
    return (rule->declared->flags & GRAFT_REPLACEMENT_GIVES_WAY) != 0;
}

/* The rule whose key is the class's name; NULL if both are or neither is. */
static const struct rule *named(const struct rule *a, const struct rule *b, const struct graft_known_class *original) {
    int a_names = graft_rule_names(a, original), b_names = graft_rule_names(b, original);
    return a_names == b_names ? NULL : a_names ? a : b;
}

const struct rule *graft_rule_prefer(const struct rule *a, const struct rule *b,
                                     const struct graft_known_class *original) {
    if (graft_rule_same_source(a, b)) {
        return named(a, b, original) == b ? b : a;
    }
    if (a->source != b->source) {
        return a->source < b->source ? a : b;
    }
    if (a->origin.rank != b->origin.rank) {
        return a->origin.rank < b->origin.rank ? a : b;
    }
    if (gives_way(a) != gives_way(b)) {
        return gives_way(a) ? b : a;
    }
    return named(a, b, original);
}

int graft_rule_fits(const struct rule *rule, const struct graft_known_class *original) {
    const struct graft_class *replacement = rule->declared->replacement;
    const int joins = (replacement->flags & GRAFT_CLASS_JOINS_QKV) != 0;
    return strcmp(replacement->interface_id, original->cls->interface_id) == 0 &&
           (!joins || (original->cls->flags & GRAFT_CLASS_JOINS_QKV) != 0);
}

int graft_rule_names(const struct rule *rule, const struct graft_known_class *original) {
    return rule->declared->key != GRAFT_KEY_PATTERN && strcmp(rule->declared->target, original->cls->name) == 0;
}

void graft_rule_add_key(const struct rule *rule, struct graft_text *text) {
    int is_call = rule->declared->key == KEY_BOTH;
    const char *what = is_call                                    ? "key"
                       : rule->is_kernel                          ? "kernel for class"
                       : rule->declared->key == GRAFT_KEY_PATTERN ? "pattern"
                                                                  : "class";
    graft_text_printf(text, "%s%s%s \"%s\"", is_call ? "" : rule->origin.plugin, is_call ? "" : ": ", what,
                      rule->declared->target);
}

static int too_costly(const struct rule *rule, const char *pattern, const char *subject, struct graft_error *error) {
    (void)graft_error_set(error, GRAFT_ERROR_PLUGIN, graft_rule_source(rule),
                          "pattern \"%s\": searching \"%s\" costs too much", pattern, subject);
    graft_error_hint(error, "write a pattern without nested repetition");
    return -1;
}

/* Whether the class is private to another plugin, which converts its weights. */
static int is_of_another(const struct rule *rule, const struct graft_known_class *original) {
    const char *own = rule->origin.plugin != NULL ? rule->origin.plugin : "";
    const char *other = original->origin.plugin != NULL ? original->origin.plugin : "";
    return original->private_to_plugin && strcmp(own, other) != 0;
}

/* Whether the rule leaves the class alone although its pattern matches, since the interfaces differ. */
static int leaves_alone(const struct rule *rule, const struct graft_known_class *original) {
    return (rule->declared->flags & GRAFT_REPLACEMENT_WHERE_IT_FITS) != 0 && !graft_rule_names(rule, original) &&
           !graft_rule_fits(rule, original);
}

static int finds_class(const struct rule *rule, const struct graft_known_class *original, struct graft_error *error) {
    struct graft_regex_match match;
    const char *name = original->cls->name;
    if (rule->declared->key == KEY_BOTH && original->private_to_plugin) {
        return 0;
    }
    if (graft_rule_names(rule, original)) {
        return 1;
    }
    if (rule->target == NULL || (original->cls->flags & GRAFT_CLASS_BASIC) != 0 || is_of_another(rule, original)) {
        return 0;
    }
    if (rule->is_name && !graft_rule_fits(rule, original)) {
        return 0;
    }
    int hit = graft_regex_search(rule->target, name, strlen(name), 0, &match);
    return hit < 0 ? too_costly(rule, rule->declared->target, name, error) : hit;
}

int graft_rule_hits(const struct rule *rule, const struct graft_known_class *original, struct graft_error *error) {
    return rule->is_unasked || leaves_alone(rule, original) ? 0 : finds_class(rule, original, error);
}

int graft_rule_asks_for_place(const struct rule *rule, const struct graft_known_class *original) {
    return (rule->module_path != NULL || rule->fused != NULL || graft_asks_for_tensors(rule->declared)) &&
           graft_rule_hits(rule, original, NULL) != 0;
}

int graft_rule_is_for_model(const struct rule *rule, const char *model_type) {
    const char *const *types = rule->declared->model_types;
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

static struct graft_tensor_places tensor_places(const struct rule *rule, const struct graft_module_place *place) {
    const struct graft_joined *joined = place->joined;
    const int takes_parts = (rule->declared->replacement->flags & GRAFT_CLASS_TAKES_PARTS) != 0;
    return joined != NULL ? (struct graft_tensor_places){place->path, place->alias, joined->parts, joined->n_parts,
                                                         takes_parts && joined->outputs != NULL}
                          : (struct graft_tensor_places){.path = place->path, .alias = place->alias};
}

static const struct graft_condition *unmet_at(const struct rule *rule, const struct graft_module_place *place) {
    const struct graft_tensor_places places = tensor_places(rule, place);
    return graft_unmet_in_module(rule->declared, place->facts, &places);
}

/* Whether the rule is for the module, apart from conditions on tensors. */
static int is_for_module(const struct rule *rule, const struct graft_known_class *original,
                         const struct graft_module_place *place, struct graft_error *error) {
    struct graft_regex_match match;
    if (rule->target == NULL && !graft_rule_names(rule, original)) {
        return 0; /* checked first, since looking up fields of the config costs more */
    }
    int hit = graft_rule_is_for_model(rule, place->model_type) ? finds_class(rule, original, error) : 0;
    if (hit == 1 && graft_unmet_in_config(rule->declared, place->facts) != NULL) {
        return 0; /* checked last: most classes do not match, and fields of the config cost more than a search */
    }
    if (rule->fused != NULL) {
        const struct graft_candidate *candidate = graft_fused_modules_at(rule->fused, place->path);
        return hit < 0 ? hit : hit == 1 && candidate != NULL && candidate->original == original->cls;
    }
    if (hit == 1 && rule->module_path != NULL) {
        hit = graft_regex_search(rule->module_path, place->path, strlen(place->path), 0, &match);
        return hit < 0 ? too_costly(rule, rule->declared->module_path, place->path, error) : hit;
    }
    return hit;
}

int graft_rule_finds(const struct rule *rule, const struct graft_known_class *original,
                     const struct graft_module_place *place, struct graft_error *error) {
    int hit = is_for_module(rule, original, place, error);
    return hit == 1 ? unmet_at(rule, place) == NULL : hit;
}

int graft_rule_wants(const struct rule *rule, const struct graft_known_class *original,
                     const struct graft_module_place *place, struct graft_error *error) {
    return rule->is_unasked || leaves_alone(rule, original) ? 0 : graft_rule_finds(rule, original, place, error);
}

const struct graft_condition *graft_rule_declines(const struct rule *rule, const struct graft_known_class *original,
                                                  const struct graft_module_place *place) {
    return !rule->is_unasked && !leaves_alone(rule, original) && is_for_module(rule, original, place, NULL) == 1
               ? unmet_at(rule, place) /* checked last, since looking for tensors costs most */
               : NULL;
}

int graft_rule_divides(const struct rule *rule, const struct graft_module_place *place, struct graft_text *text) {
    const struct graft_tensor_places places = tensor_places(rule, place);
    return graft_condition_parts_differ(rule->declared, place->facts, &places, text);
}

const struct graft_known_class *graft_rule_replacement(const struct rule *rule,
                                                       const struct graft_module_place *place) {
    const struct graft_candidate *candidate =
        rule->fused != NULL ? graft_fused_modules_at(rule->fused, place->path) : NULL;
    return candidate != NULL ? &candidate->known : &rule->replacement;
}
