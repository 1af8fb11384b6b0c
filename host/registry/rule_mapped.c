/* SPDX-License-Identifier: Apache-2.0 */
/* Checks and copies an element of a mapping, and compiles its key if that is possible. */
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/text.h"
#include "plugin/validate.h"
#include "registry/fused_modules.h"
#include "registry/snapshot.h"

enum { MAX_CLASS_BYTES = 65536 };

/* Checks a class that a caller passed: first that its head is that of a class, then everything that is checked for a
 * plugin's class. */
static int check_class(const char *key, const struct graft_class *cls, struct graft_error *error) {
    const struct graft_place place = {.index = -1};
    struct graft_error cause = graft_error_none();
    uint32_t size = 0;
    if (cls != NULL) {
        memcpy(&size, cls, sizeof size);
    }
    if (size < GRAFT_CLASS_SIZE_1_0 || size > MAX_CLASS_BYTES) {
        return graft_error_set(error, GRAFT_ERROR_USAGE, key, "its replacement is not a class: expected %s",
                               cls == NULL ? "one, got NULL" : "a struct graft_class with its struct_size");
    }
    if (cls->interface_id == NULL) {
        return graft_error_set(error, GRAFT_ERROR_USAGE, key,
                               "its replacement is not a class of modules: it has no interface");
    }
    if (graft_class_validate(&place, cls, 1, &cause) != GRAFT_OK) {
        (void)graft_error_set(error, GRAFT_ERROR_USAGE, key, "its replacement: %s", cause.message);
        graft_error_hint(error, "%s", cause.hint);
        return GRAFT_ERROR_USAGE;
    }
    return GRAFT_OK;
}

static int check_element(const struct graft_patch *element, struct graft_error *error) {
    if (element->reserved != 0) {
        return graft_error_set(error, GRAFT_ERROR_USAGE, "struct graft_patch", "reserved: expected 0");
    }
    if (element->key == NULL) {
        return graft_error_set(error, GRAFT_ERROR_USAGE, "mapping", "expected a key, got NULL");
    }
    if (graft_utf8_valid_prefix(element->key, strlen(element->key)) < strlen(element->key)) {
        return graft_error_set(error, GRAFT_ERROR_USAGE, element->key, "expected a key in UTF-8");
    }
    if (graft_flags_unknown(element->flags, 0) != 0) {
        return graft_error_set(error, GRAFT_ERROR_USAGE, element->key,
                               "flags: requirement 0x%x is unknown to this host",
                               (unsigned)graft_flags_unknown(element->flags, 0));
    }
    return check_class(element->key, element->replacement, error);
}

/* Copies a NULL-terminated list with its strings; NULL if memory ran out. */
static const char *const *copy_list(const char *const *list) {
    size_t n = 0;
    while (list[n] != NULL) {
        n++;
    }
    char **copy = graft_alloc(n + 1, sizeof *copy);
    for (size_t i = 0; copy != NULL && i < n; i++) {
        copy[i] = graft_strdup(list[i]);
        if (copy[i] == NULL) {
            while (i > 0) {
                graft_free(copy[--i]);
            }
            graft_free(copy);
            return NULL;
        }
    }
    return (const char *const *)copy;
}

/* Copies an element. Returns 0, or -1 if memory ran out; the rule frees what was copied. */
static int copy_element(struct graft_replacement *own, const struct graft_patch *element) {
    *own = (struct graft_replacement){
        .struct_size = sizeof *own, .key = KEY_BOTH, .replacement = element->replacement, .flags = element->flags};
    own->target = graft_strdup(element->key);
    own->module_path = element->module_path != NULL ? graft_strdup(element->module_path) : NULL;
    own->model_types = element->model_types != NULL ? copy_list(element->model_types) : NULL;
    own->group = element->group != NULL ? graft_strdup(element->group) : NULL;
    return own->target != NULL && (own->module_path != NULL) == (element->module_path != NULL) &&
                   (own->model_types != NULL) == (element->model_types != NULL) &&
                   (own->group != NULL) == (element->group != NULL)
               ? 0
               : -1;
}

/* Compiles the patterns. A key that does not compile is a name only; a module path must compile. */
static int compile(struct rule *rule, struct graft_error *error) {
    const struct graft_replacement *own = &rule->own;
    struct graft_error cause = graft_error_none();
    int status =
        graft_regex_compile(own->target, strlen(own->target), own->target, GRAFT_ERROR_USAGE, &rule->target, &cause);
    if (status == GRAFT_ERROR_USAGE) {
        rule->invalid = graft_strdup(cause.message);
        status = rule->invalid != NULL ? GRAFT_OK : graft_fail_memory(error, own->target);
    } else if (status != GRAFT_OK) {
        status = graft_fail_memory(error, own->target);
    }
    if (status == GRAFT_OK && own->module_path != NULL) {
        status = graft_regex_compile(own->module_path, strlen(own->module_path), own->target, GRAFT_ERROR_USAGE,
                                     &rule->module_path, error);
    }
    return status;
}

int graft_rule_create_mapped(const struct graft_patch *element, enum source source,
                             const struct graft_snapshot *snapshot, struct rule **rule, struct graft_error *error) {
    const struct graft_origin by = {.plugin = source == SOURCE_PATCH ? "patch" : "program"};
    int status = check_element(element, error);
    if (status != GRAFT_OK) {
        return status;
    }
    struct rule *result = graft_alloc(1, sizeof *result);
    if (result == NULL) {
        return graft_fail_memory(error, element->key);
    }
    result->references = 1;
    result->declared = &result->own;
    result->source = source;
    result->origin = by;
    const struct graft_origin *origin = graft_snapshot_origin_of(snapshot, element->replacement);
    result->replacement = (struct graft_known_class){
        .cls = element->replacement, .origin = origin != NULL ? *origin : by, .private_to_plugin = 1};
    const struct graft_known_class *named = NULL;
    status = graft_snapshot_find_class(snapshot, element->key, NULL, &named, error);
    result->is_name = named != NULL;
    if (status == GRAFT_OK) {
        status =
            copy_element(&result->own, element) == 0 ? compile(result, error) : graft_fail_memory(error, element->key);
    }
    if (status != GRAFT_OK) {
        graft_rule_release(result);
        return status;
    }
    *rule = result;
    return GRAFT_OK;
}

int graft_rule_create_fused(const struct graft_fused_modules *fused, const struct graft_candidate *candidate,
                            const struct graft_snapshot *snapshot, const char *model_type, struct rule **rule,
                            struct graft_error *error) {
    const char *const types[] = {model_type, NULL};
    const struct graft_patch element = {.struct_size = sizeof element,
                                        .key = candidate->original->name,
                                        .replacement = candidate->known.cls,
                                        .model_types = types};
    int status = graft_rule_create_mapped(&element, SOURCE_CALL, snapshot, rule, error);
    if (status == GRAFT_OK) {
        (*rule)->fused = graft_fused_modules_retain(fused);
    }
    return status;
}
