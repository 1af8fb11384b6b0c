/* SPDX-License-Identifier: Apache-2.0 */
#include "targets.h"

#include <stdio.h>
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

/* The whole name, or its last parts. */
static int is_end_of(const char *module, const char *name) {
    size_t length = strlen(module), wanted = strlen(name);
    return wanted <= length && strcmp(module + length - wanted, name) == 0 &&
           (wanted == length || module[length - wanted - 1] == '.');
}

/* Whether a list of the config has an end of the name. */
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

/* A list of names, or a regular expression; "all-linear" is short for a list that depends on the model. */
int lora_check_target(const struct lora_fields *fields, const char *module, struct graft_error *error) {
    const struct graft_config *config = fields->config;
    char path[LORA_FIELD];
    lora_field_path(fields, "target_modules", path);
    const char *pattern = config->string(config->data, path);
    if (!graft_config_has(config, path) || (pattern != NULL && strcmp(pattern, "all-linear") == 0)) {
        return GRAFT_OK;
    }
    int32_t found = lists(fields, "target_modules", module);
    int status = pattern != NULL ? lora_matches(pattern, module, fields->file, &found, error) : GRAFT_OK;
    return status != GRAFT_OK || found
               ? status
               : graft_error_set(error, GRAFT_ERROR_MODEL, fields->file,
                                 "target_modules: does not name %s, for which the adapter has tensors", module);
}
