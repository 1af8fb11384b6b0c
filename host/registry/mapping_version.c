/* SPDX-License-Identifier: Apache-2.0 */
/* Versions of a mapping: immutable lists of rules. A change makes a new version, which shares the unchanged rules. */
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "registry/condition.h"
#include "registry/fused_modules.h"
#include "registry/stack.h"

struct mapping_version *graft_mapping_version_create(size_t capacity) {
    struct mapping_version *version = graft_alloc(1, sizeof *version);
    if (version == NULL || (version->rules = graft_alloc(capacity + 1, sizeof(struct rule *))) == NULL) {
        graft_free(version);
        return NULL;
    }
    version->references = 1;
    return version;
}

struct mapping_version *graft_mapping_version_retain(struct mapping_version *version) {
    atomic_fetch_add(&version->references, 1);
    return version;
}

void graft_mapping_version_release(struct mapping_version *version) {
    if (version != NULL && atomic_fetch_sub(&version->references, 1) == 1) {
        for (size_t i = 0; i < version->n; i++) {
            graft_rule_release(version->rules[i]);
        }
        graft_free(version->rules);
        graft_free(version);
    }
}

/* Copies a version with room for `n` more elements. */
static struct mapping_version *grown(const struct mapping_version *old, size_t n, struct graft_error *error) {
    struct mapping_version *next = graft_mapping_version_create(old->n + n);
    if (next == NULL) {
        (void)graft_fail_memory(error, "mapping");
        return NULL;
    }
    for (; next->n < old->n; next->n++) {
        next->rules[next->n] = graft_rule_retain(old->rules[next->n]);
    }
    return next;
}

/* The index of a key among the rules of one source, or of all sources (-1); the number of rules if it is not there. */
static size_t place_of(const struct mapping_version *version, const char *key, int source) {
    size_t i = 0;
    while (i < version->n && ((source >= 0 && (int)version->rules[i]->source != source) ||
                              strcmp(version->rules[i]->declared->target, key) != 0)) {
        i++;
    }
    return i;
}

static void take_out(struct mapping_version *version, size_t place) {
    graft_rule_release(version->rules[place]);
    memmove(&version->rules[place], &version->rules[place + 1], (version->n - place - 1) * sizeof(struct rule *));
    version->n--;
}

/* Puts a rule at the first place of its key, or at the end. Other rules with that key, of one source or of all (-1),
 * are removed; plugins may have several, for several paths or model types. */
static void put(struct mapping_version *version, struct rule *rule_take, int source) {
    const char *key = rule_take->declared->target;
    size_t place = place_of(version, key, source);
    if (place == version->n) {
        version->rules[version->n++] = rule_take;
        return;
    }
    graft_rule_release(version->rules[place]);
    version->rules[place] = rule_take;
    for (size_t i = version->n - 1; i > place; i--) {
        if ((source < 0 || (int)version->rules[i]->source == source) &&
            strcmp(version->rules[i]->declared->target, key) == 0) {
            take_out(version, i);
        }
    }
}

/* Sets the error that a key is registered already. */
static int taken(const struct rule *other, const struct graft_patch *element, struct graft_error *error) {
    int plugins = other->source == SOURCE_PLUGIN;
    int status = graft_error_set(error, GRAFT_ERROR_USAGE, element->key, "the key is already registered, for %s%s%s",
                                 other->declared->replacement->name, plugins ? " of plugin " : "",
                                 plugins ? other->origin.plugin : "");
    graft_error_hint(error, "register it with `overwrite`, or unregister it first");
    return status;
}

static int put_element(struct mapping_version *version, const struct graft_snapshot *snapshot,
                       const struct graft_patch *element, enum source source, int overwrite,
                       struct graft_error *error) {
    struct rule *rule = NULL;
    int status = graft_rule_create_mapped(element, source, snapshot, &rule, error);
    if (status != GRAFT_OK) {
        return status;
    }
    size_t place = place_of(version, element->key, -1);
    if (place < version->n && !overwrite) {
        graft_rule_release(rule);
        return taken(version->rules[place], element, error);
    }
    put(version, rule, -1);
    return GRAFT_OK;
}

int graft_mapping_version_with(const struct graft_snapshot *snapshot, const struct graft_patch *elements, size_t n,
                               int overwrite, struct mapping_version **next, struct graft_error *error) {
    struct mapping_version *version = grown(snapshot->mapping, n, error);
    int status = version != NULL ? GRAFT_OK : GRAFT_ERROR_INTERNAL;
    for (size_t i = 0; i < n && status == GRAFT_OK; i++) {
        status = put_element(version, snapshot, graft_struct_at(elements, i), SOURCE_CALL, overwrite, error);
    }
    if (status != GRAFT_OK) {
        graft_mapping_version_release(version);
        return status;
    }
    *next = version;
    return GRAFT_OK;
}

/* Whether candidate `i` is the first of its class that can be fused, since each class gets one element. */
static int is_first_of_class(const struct graft_fused_modules *fused, size_t i) {
    for (size_t k = 0; k < i; k++) {
        if (fused->candidates[k]->fusable && fused->candidates[k]->original == fused->candidates[i]->original) {
            return 0;
        }
    }
    return fused->candidates[i]->fusable;
}

int graft_mapping_version_with_fused(const struct graft_snapshot *snapshot, const struct graft_fused_modules *fused,
                                     const char *model_type, struct mapping_version **next, struct graft_error *error) {
    struct mapping_version *version = grown(snapshot->mapping, fused->n, error);
    int status = version != NULL ? GRAFT_OK : GRAFT_ERROR_INTERNAL;
    for (size_t i = 0; i < fused->n && status == GRAFT_OK; i++) {
        struct rule *rule = NULL;
        if (is_first_of_class(fused, i)) {
            status = graft_rule_create_fused(fused, fused->candidates[i], snapshot, model_type, &rule, error);
        }
        if (status == GRAFT_OK && rule != NULL) {
            put(version, rule, SOURCE_CALL);
        }
    }
    if (status != GRAFT_OK) {
        graft_mapping_version_release(version);
        return status;
    }
    *next = version;
    return GRAFT_OK;
}

int graft_mapping_version_over(const struct graft_snapshot *snapshot, const struct graft_patch *elements, size_t n,
                               struct mapping_version **next, struct graft_error *error) {
    const struct mapping_version *old = snapshot->mapping;
    struct mapping_version *version = graft_mapping_version_create(old->n + n);
    int status = version != NULL ? GRAFT_OK : graft_fail_memory(error, "mapping");
    for (size_t i = 0; i < n && status == GRAFT_OK; i++) {
        status = put_element(version, snapshot, graft_struct_at(elements, i), SOURCE_PATCH, 0, error);
    }
    for (size_t i = 0; i < old->n && status == GRAFT_OK; i++) {
        version->rules[version->n++] = graft_rule_retain(old->rules[i]);
    }
    if (status != GRAFT_OK) {
        graft_mapping_version_release(version);
        return status;
    }
    *next = version;
    return GRAFT_OK;
}

/* How many of a plugin's replacements are in the group of replacement `i`. */
static size_t group_size(const struct graft_replacement *replacements, size_t n, size_t stride, size_t i) {
    const char *bytes = (const char *)replacements;
    const char *group = ((const struct graft_replacement *)(const void *)(bytes + i * stride))->group;
    size_t size = 0;
    for (size_t k = 0; group != NULL && k < n; k++) {
        const char *other = ((const struct graft_replacement *)(const void *)(bytes + k * stride))->group;
        size += other != NULL && strcmp(other, group) == 0;
    }
    return size;
}

int graft_mapping_version_with_replacements(const struct mapping_version *old,
                                            const struct graft_replacement *replacements, size_t n, size_t stride,
                                            const struct graft_origin *origin, struct mapping_version **next,
                                            struct graft_error *error) {
    struct mapping_version *version = grown(old, n, error);
    int status = version != NULL ? GRAFT_OK : GRAFT_ERROR_INTERNAL;
    for (size_t i = 0; i < n && status == GRAFT_OK; i++) {
        const char *at = (const char *)replacements + i * stride;
        status = graft_rule_create((const struct graft_replacement *)(const void *)at, origin,
                                   &version->rules[version->n], error);
        if (status == GRAFT_OK) {
            version->rules[version->n++]->group_size = group_size(replacements, n, stride, i);
        }
    }
    if (status != GRAFT_OK) {
        graft_mapping_version_release(version);
        return status;
    }
    *next = version;
    return GRAFT_OK;
}

/* Removes all rules of a key. */
static int take(struct mapping_version *version, const char *key, struct graft_error *error) {
    size_t place = key != NULL ? place_of(version, key, -1) : version->n;
    if (place == version->n) {
        return graft_error_set(error, GRAFT_ERROR_USAGE, key, "the key is not registered");
    }
    for (; place < version->n; place = place_of(version, key, -1)) {
        take_out(version, place);
    }
    return GRAFT_OK;
}

int graft_mapping_version_without(const struct mapping_version *old, const char *const *keys, size_t n,
                                  struct mapping_version **next, struct graft_error *error) {
    struct mapping_version *version = grown(old, 0, error);
    int status = version != NULL ? GRAFT_OK : GRAFT_ERROR_INTERNAL;
    for (size_t i = 0; i < n && status == GRAFT_OK; i++) {
        status = take(version, keys[i], error);
    }
    if (status != GRAFT_OK) {
        graft_mapping_version_release(version);
        return status;
    }
    *next = version;
    return GRAFT_OK;
}

/* Whether the element depends only on the class and, unless it is NULL, on the model type. */
static int is_general(const struct rule *rule, const char *model_type) {
    int any_type = rule->declared->model_types == NULL;
    return rule->declared->module_path == NULL && graft_unmet_without_facts(rule->declared) == NULL &&
           rule->fused == NULL && !rule->is_unasked &&
           (any_type || (model_type != NULL && graft_rule_is_for_model(rule, model_type)));
}

/* Sets the error that two plugins without an order want the class. */
static int undecided(const struct rule *a, const struct rule *b, const struct graft_known_class *original,
                     struct graft_error *error) {
    int status = graft_error_set(error, GRAFT_ERROR_PLUGIN, original->cls->name, "plugins %s and %s both replace it",
                                 a->origin.plugin, b->origin.plugin);
    graft_error_hint(error, "give an order when plugins are loaded, or unregister one of the keys");
    return status;
}

/* Whether a rule's pattern has to be matched at all, or the rules found so far exclude it. */
static int may_matter(const struct stack *found, const struct rule *rule, const struct graft_known_class *original) {
    for (size_t i = 0; i < found->n; i++) {
        const struct rule *other = found->items[i].rule;
        if (graft_rule_excludes(other, rule) && graft_rule_prefer(other, rule, original) == other) {
            return 0;
        }
    }
    return 1;
}

static int search(struct rule *rule, const struct graft_known_class *original, mapping_invalid_function invalid,
                  void *data, struct stack *found, struct graft_error *error) {
    int hit = graft_rule_hits(rule, original, error);
    if (hit == 1) {
        return graft_stack_add(found, rule, &rule->replacement, original, error);
    }
    if (hit == 0 && rule->invalid != NULL && invalid != NULL) {
        return invalid(data, rule, error);
    }
    return hit == 0 ? GRAFT_OK : GRAFT_ERROR_PLUGIN;
}

int graft_mapping_version_look_up(const struct mapping_version *version, const struct graft_known_class *original,
                                  const char *model_type, mapping_invalid_function invalid, void *data,
                                  struct stack *found, struct graft_error *error) {
    int status = GRAFT_OK;
    *found = (struct stack){0};
    for (size_t i = 0; i < version->n && !original->private_to_plugin && status == GRAFT_OK; i++) {
        const struct rule *rule = version->rules[i];
        if (is_general(rule, model_type) && graft_rule_names(rule, original)) {
            status = graft_stack_add(found, rule, &rule->replacement, original, error);
        }
    }
    for (size_t i = 0; i < version->n && status == GRAFT_OK; i++) {
        if (is_general(version->rules[i], model_type) && may_matter(found, version->rules[i], original)) {
            status = search(version->rules[i], original, invalid, data, found, error);
        }
    }
    graft_stack_order(found, original);
    return status == GRAFT_OK && found->tied != NULL
               ? undecided(graft_stack_innermost(found)->rule, found->tied, original, error)
               : status;
}
