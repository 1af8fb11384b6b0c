/* SPDX-License-Identifier: Apache-2.0 */
#include "config/rules.h"

#include <string.h>

#include "config/path.h"

/* The length of a path's first component. */
static size_t part(const char *path) {
    return strcspn(path, ".");
}

/* Whether a path begins with a section of config.json that is a config itself: text_config, vision_config, ... */
static int is_section(const char *path) {
    static const char suffix[] = "_config", not_one[] = "quantization_config";
    size_t length = part(path), n = sizeof suffix - 1;
    return path[length] == '.' && length > n && memcmp(path + length - n, suffix, n) == 0 &&
           !(length == sizeof not_one - 1 && memcmp(path, not_one, length) == 0);
}

/* Whether the field is `name` or below it; `*below` says which. */
static int begins_with(const char *field, const char *name, int *below) {
    for (;;) {
        size_t wanted = part(name), length = part(field);
        int is_any = wanted == 1 && name[0] == '*';
        if (!is_any && (wanted != length || memcmp(name, field, length) != 0)) {
            return 0;
        }
        if (name[wanted] == '\0') {
            *below = field[length] != '\0';
            return 1;
        }
        if (field[length] == '\0') {
            return 0;
        }
        name += wanted + 1;
        field += length + 1;
    }
}

/* Whether the rule's name means the field, in the whole config or in a section. */
static int finds(const char *name, const char *field, int *below) {
    while (!begins_with(field, name, below)) {
        if (!is_section(field)) {
            return 0;
        }
        field += part(field) + 1;
    }
    return 1;
}

int graft_rule_is_for(const char *name, const char *field) {
    int below;
    return finds(name, field, &below);
}

static int is_number(const graft_json *value) {
    return graft_json_type(value) == GRAFT_JSON_INT || graft_json_type(value) == GRAFT_JSON_REAL;
}

/* Whether two values are equal, where 1 equals 1.0. */
static int is_same(const graft_json *a, const graft_json *b) {
    return is_number(a) && is_number(b) ? graft_json_real(a) == graft_json_real(b) : graft_json_equal(a, b);
}

/* Whether the rule lists the value; -1 if memory ran out. */
static int is_listed(const struct graft_field_rule *rule, const graft_json *value) {
    graft_json *values = NULL;
    int found = 0;
    if (graft_json_parse(rule->values, strlen(rule->values), rule->name, &values, NULL) != GRAFT_OK) {
        return -1; /* the rule's text was checked when its plugin was loaded */
    }
    for (size_t i = 0; i < graft_json_size(values) && !found; i++) {
        found = is_same(graft_json_at(values, i), value);
    }
    graft_json_free(values);
    return found;
}

static enum graft_ruling judge(const struct graft_field_rule *rule, const char *field, const graft_json *value) {
    int below = 0;
    if (!finds(rule->name, field, &below)) {
        return GRAFT_RULING_NONE;
    }
    if (rule->values == NULL) {
        return GRAFT_RULING_WITHOUT_EFFECT;
    }
    int listed = below ? 0 : is_listed(rule, value);
    if (listed != 0) {
        return listed > 0 ? GRAFT_RULING_NEUTRAL : GRAFT_RULING_FAILED;
    }
    return (rule->flags & GRAFT_FIELD_ONLY) != 0 ? GRAFT_RULING_REFUSED : GRAFT_RULING_NONE;
}

enum graft_ruling graft_rules_judge(const struct graft_rules *list, const char *field, const graft_json *value,
                                    const struct graft_field_rule **rule) {
    enum graft_ruling ruling = GRAFT_RULING_NONE;
    for (int32_t i = 0; i < list->n && ruling == GRAFT_RULING_NONE; i++) {
        *rule = graft_field_rule_at(list->rules, list->stride, i);
        ruling = judge(*rule, field, value);
    }
    return ruling;
}
