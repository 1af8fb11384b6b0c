/* SPDX-License-Identifier: Apache-2.0 */
#include "fields.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "field_rules.h"

void lora_fields_of(const struct graft_config *config, int64_t i, struct lora_fields *fields) {
    char path[LORA_FIELD];
    fields->config = config;
    fields->number = i;
    (void)snprintf(path, sizeof path, "adapters.%lld.name", (long long)i);
    (void)snprintf(fields->prefix, sizeof fields->prefix, "adapter.%s", config->string(config->data, path));
    (void)snprintf(path, sizeof path, "adapters.%lld.directory", (long long)i);
    (void)snprintf(fields->file, sizeof fields->file, "%s/adapter_config.json", config->string(config->data, path));
}

void lora_field_path(const struct lora_fields *fields, const char *field, char path[LORA_FIELD]) {
    (void)snprintf(path, LORA_FIELD, "%s.%s", fields->prefix, field);
}

static int32_t kind(const struct lora_fields *fields, const char *field) {
    char path[LORA_FIELD];
    lora_field_path(fields, field, path);
    return fields->config->kind(fields->config->data, path);
}

static const char *text(const struct lora_fields *fields, const char *field) {
    char path[LORA_FIELD];
    lora_field_path(fields, field, path);
    return fields->config->string(fields->config->data, path);
}

int lora_field_number(const struct lora_fields *fields, const char *field, double *value, struct graft_error *error) {
    char path[LORA_FIELD];
    int32_t given = kind(fields, field);
    lora_field_path(fields, field, path);
    if (given == GRAFT_FIELD_INT || given == GRAFT_FIELD_REAL) {
        *value = fields->config->real(fields->config->data, path);
        return GRAFT_OK;
    }
    return given == GRAFT_FIELD_ABSENT || given == GRAFT_FIELD_NULL
               ? GRAFT_OK
               : graft_error_set(error, GRAFT_ERROR_MODEL, fields->file, "%s: expected a number", field);
}

int lora_field_bool(const struct lora_fields *fields, const char *field, int32_t *value, struct graft_error *error) {
    char path[LORA_FIELD];
    int32_t given = kind(fields, field);
    lora_field_path(fields, field, path);
    if (given == GRAFT_FIELD_BOOL) {
        *value = fields->config->integer(fields->config->data, path) != 0;
        return GRAFT_OK;
    }
    return given == GRAFT_FIELD_ABSENT || given == GRAFT_FIELD_NULL
               ? GRAFT_OK
               : graft_error_set(error, GRAFT_ERROR_MODEL, fields->file, "%s: expected a boolean", field);
}

/* Whether a field without a rule has no effect: PEFT writes all of its fields, most of them switched off. */
static int is_off(const struct lora_fields *fields, const char *field) {
    char path[LORA_FIELD];
    lora_field_path(fields, field, path);
    switch (kind(fields, field)) {
    case GRAFT_FIELD_NULL:
        return 1;
    case GRAFT_FIELD_BOOL:
        return fields->config->integer(fields->config->data, path) == 0;
    case GRAFT_FIELD_ARRAY:
    case GRAFT_FIELD_OBJECT:
        return fields->config->size(fields->config->data, path) == 0;
    default:
        return 0;
    }
}

static int is_known(const char *field) {
    for (size_t i = 0; i < sizeof lora_field_rules / sizeof lora_field_rules[0]; i++) {
        if (strcmp(lora_field_rules[i].name + sizeof LORA_RULE_PREFIX - 1, field) == 0) {
            return 1;
        }
    }
    return 0;
}

int lora_field_refuse(const struct lora_fields *fields, const char *field, const char *what,
                      struct graft_error *error) {
    return graft_error_set(error, GRAFT_ERROR_MODEL, fields->file, "%s: %s", field, what);
}

/* Whether training started from the unchanged base model. Other initialisations change the base, and PEFT repeats that
 * when it loads the adapter. */
static int starts_from_base(const struct lora_fields *fields) {
    static const char *const ways[] = {"gaussian", "orthogonal", "eva", "mica"};
    const char *way = text(fields, "init_lora_weights");
    size_t i = 0;
    while (way != NULL && i < sizeof ways / sizeof ways[0] && strcasecmp(way, ways[i]) != 0) {
        i++;
    }
    return i < sizeof ways / sizeof ways[0];
}

const char *lora_alpha_field(const struct lora_fields *fields) {
    const char *type = text(fields, "peft_type");
    return type != NULL && (strcmp(type, "LOHA") == 0 || strcmp(type, "LOKR") == 0) ? "alpha" : "lora_alpha";
}

static int is_type(const char *type) {
    static const char *const types[] = {"LORA", "IA3", "LOHA", "LOKR", "VERA"};
    size_t i = 0;
    while (i < sizeof types / sizeof types[0] && strcmp(types[i], type) != 0) {
        i++;
    }
    return i < sizeof types / sizeof types[0];
}

int lora_fields_check(const struct lora_fields *fields, const char *type, struct graft_error *error) {
    const struct graft_config *config = fields->config;
    const char *given = text(fields, "peft_type"), *bias = text(fields, "bias");
    const char *field;
    if (given == NULL || (type != NULL ? strcmp(given, type) != 0 : !is_type(given))) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, fields->file, "peft_type: expected \"%s\", got %s",
                               type != NULL ? type : "LORA", given != NULL ? given : "none");
    }
    if (bias != NULL && strcmp(bias, "none") != 0) {
        return lora_field_refuse(fields, "bias", "expected \"none\": trained biases are not applied", error);
    }
    if (!starts_from_base(fields)) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, fields->file,
                               "init_lora_weights: \"%.40s\" makes an adapter for a changed base, which is not "
                               "applied; save it as one for the original",
                               text(fields, "init_lora_weights"));
    }
    for (int64_t i = 0; (field = config->key(config->data, fields->prefix, i)) != NULL; i++) {
        char place[32];
        (void)snprintf(place, sizeof place, "#%lld", (long long)i); /* whatever characters the name has */
        if (!is_known(field) && !is_off(fields, place)) {
            return lora_field_refuse(fields, field,
                                     "this field is not known to the plugin lora, or not supported by it", error);
        }
    }
    return GRAFT_OK;
}
