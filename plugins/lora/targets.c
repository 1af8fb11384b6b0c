/* SPDX-License-Identifier: Apache-2.0 */
#include "targets.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_PATTERN = 4096 };

static const struct graft_regexes *regexes;

void lora_set_regexes(const struct graft_regexes *given) {
    regexes = given;
}

int lora_matches(const char *pattern, const char *text, const char *file, int32_t *found, struct graft_error *error) {
    char whole[MAX_PATTERN];
    int length = snprintf(whole, sizeof whole, "^(?:%s)$", pattern);
    if (length < 0 || (size_t)length >= sizeof whole) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, file, "a pattern of more than %d bytes: %.40s...",
                               (int)MAX_PATTERN, pattern);
    }
    return regexes->search(whole, text, file, found, error);
}

/* Whether `name` is the path `module` or its last components. */
static int is_end_of(const char *module, const char *name) {
    size_t length = strlen(module), wanted = strlen(name);
    return wanted <= length && strcmp(module + length - wanted, name) == 0 &&
           (wanted == length || module[length - wanted - 1] == '.');
}

/* Whether the list `field` of the config contains the path `module` or its last components. */
static int lists(const struct lora_fields *fields, const char *field, const char *module) {
    const struct graft_config *config = fields->config;
    char path[LORA_FIELD], element[LORA_FIELD + 24];
    int found = 0;
    lora_field_path(fields, field, path);
    for (int64_t i = 0; i < config->size(config->data, path) && !found; i++) {
        (void)snprintf(element, sizeof element, "%s.%lld", path, (long long)i);
        const char *name = config->string(config->data, element);
        found = name != NULL && is_end_of(module, name);
    }
    return found;
}

int lora_names_parameter(const struct lora_fields *fields, const char *parameter) {
    return lists(fields, "target_parameters", parameter);
}

/* Whether a field, a list of names or a regular expression, names the module. */
static int32_t names(const struct lora_fields *fields, const char *field, const char *module,
                     struct graft_error *error) {
    const struct graft_config *config = fields->config;
    char path[LORA_FIELD], where[sizeof fields->file + LORA_FIELD];
    lora_field_path(fields, field, path);
    const char *pattern = config->string(config->data, path);
    (void)snprintf(where, sizeof where, "%s: %s", fields->file, field);
    int32_t found = lists(fields, field, module);
    if (pattern != NULL) {
        lora_matches(pattern, module, where, &found, error);
    }
    return found;
}

/* The layer of a module: the number that follows ".PATTERN." in its path; if PATTERN is NULL, that follows any
 * name. -1: the module is in no layer. */
static int64_t layer_of(const struct lora_fields *fields, const char *module, const char *pattern,
                        struct graft_error *error) {
    int64_t layer = -1;
    for (const char *at = strchr(module, '.'); at != NULL && layer < 0 && error->code == GRAFT_OK;
         at = strchr(at + 1, '.')) {
        const size_t digits = strspn(at + 1, "0123456789");
        char before[MAX_PATTERN], whole[MAX_PATTERN];
        int32_t found = pattern == NULL && memchr(module, '.', (size_t)(at - module)) != NULL;
        if (digits == 0 || digits > 9 || at[1 + digits] != '.') {
            continue;
        }
        if (pattern != NULL) {
            (void)snprintf(before, sizeof before, "%.*s", (int)(at - module), module);
            (void)snprintf(whole, sizeof whole, "(.*\\.)?%.*s", MAX_PATTERN / 2, pattern);
            lora_matches(whole, before, fields->file, &found, error);
        }
        layer = found ? strtol(at + 1, NULL, 10) : -1;
    }
    return layer;
}

/* The layer with the first of `layers_pattern`, a string or a list, that matches. */
static int64_t find_layer(const struct lora_fields *fields, const char *module, struct graft_error *error) {
    const struct graft_config *config = fields->config;
    char path[LORA_FIELD], element[LORA_FIELD + 24];
    lora_field_path(fields, "layers_pattern", path);
    const char *pattern = config->string(config->data, path);
    const int64_t n = config->size(config->data, path);
    int64_t layer = -1;
    if (n == 0) {
        return layer_of(fields, module, pattern != NULL && pattern[0] != '\0' ? pattern : NULL, error);
    }
    for (int64_t i = 0; i < n && layer < 0 && error->code == GRAFT_OK; i++) {
        (void)snprintf(element, sizeof element, "%s.%lld", path, (long long)i);
        layer = layer_of(fields, module, config->string(config->data, element), error);
    }
    return layer;
}

/* Whether the module is in `layers_to_transform`, a number or a list, which applies only if targets are a list. */
static int32_t is_in_layers(const struct lora_fields *fields, const char *module, struct graft_error *error) {
    const struct graft_config *config = fields->config;
    char path[LORA_FIELD], element[LORA_FIELD + 24];
    lora_field_path(fields, "layers_to_transform", path);
    const int is_one = config->kind(config->data, path) == GRAFT_FIELD_INT;
    const int64_t n = config->size(config->data, path);
    if (!is_one && n == 0) {
        return 1;
    }
    const int64_t layer = find_layer(fields, module, error);
    int32_t is_in = is_one && layer >= 0 && config->integer(config->data, path) == layer;
    for (int64_t i = 0; i < n && !is_in; i++) {
        (void)snprintf(element, sizeof element, "%s.%lld", path, (long long)i);
        is_in = layer >= 0 && config->integer(config->data, element) == layer;
    }
    return is_in;
}

static int refuse(const struct lora_fields *fields, const char *field, const char *what, const char *module,
                  struct graft_error *error) {
    return graft_error_set(error, GRAFT_ERROR_MODEL, fields->file, "%s: %s %s, for which the adapter has tensors",
                           field, what, module);
}

/* Refuses a pair for a module that `exclude_modules` or `modules_to_save` names, as PEFT would not adapt it whatever
 * `target_modules` says. */
static void check_excluded(const struct lora_fields *fields, const char *module, struct graft_error *error) {
    static const char *const lists_of[] = {"exclude_modules", "modules_to_save"};
    for (size_t i = 0; i < sizeof lists_of / sizeof lists_of[0]; i++) {
        if (names(fields, lists_of[i], module, error)) {
            refuse(fields, lists_of[i], "names", module, error);
        }
    }
}

/* With `ensure_weight_tying` PEFT adapts a head that shares the embedding's weight, whatever its targets are. */
static int32_t is_tied(const struct lora_fields *fields, int64_t outputs, struct graft_error *error) {
    const struct graft_config *config = fields->config;
    int32_t ties = 0, shares = 1;
    lora_field_bool(fields, "ensure_weight_tying", &ties, error);
    if (ties) {
        graft_config_bool(config, "tie_word_embeddings", &shares, error);
    }
    return ties && shares && outputs == config->integer(config->data, "vocab_size");
}

int lora_check_target(const struct lora_fields *fields, const char *module, int64_t outputs,
                      struct graft_error *error) {
    const struct graft_config *config = fields->config;
    char path[LORA_FIELD];
    if (is_tied(fields, outputs, error)) {
        return error->code;
    }
    check_excluded(fields, module, error);
    lora_field_path(fields, "target_modules", path);
    const char *pattern = config->string(config->data, path);
    if (!graft_config_has(config, path) ||
        (pattern != NULL && strcmp(pattern, "all-linear") == 0)) { /* PEFT: all Linears */
        return error->code;
    }
    if (!names(fields, "target_modules", module, error)) {
        refuse(fields, "target_modules", "does not name", module, error);
    }
    if (pattern == NULL && !is_in_layers(fields, module, error)) {
        refuse(fields, "layers_to_transform", "leaves out", module, error);
    }
    return error->code;
}

int lora_is_saved(const struct lora_fields *fields, const char *module) {
    const struct graft_config *config = fields->config;
    char path[LORA_FIELD];
    (void)snprintf(path, sizeof path, "adapters.%lld.vocab_size", (long long)fields->number);
    if (config->integer(config->data, path) > 0) {
        return 0; /* the model has no such table, so the adapter is not expected to store one */
    }
    lora_field_path(fields, "ensure_weight_tying", path);
    return lists(fields, "modules_to_save", module) ||
           (config->integer(config->data, path) != 0 && config->kind(config->data, path) == GRAFT_FIELD_BOOL);
}
