/* SPDX-License-Identifier: Apache-2.0 */
/* Validates rules for fields that no class asks for (graft/field_rule.h). */
#include <string.h>

#include "base/fail.h"
#include "base/json.h"
#include "plugin/validate.h"

enum { MAX_RULES = 4096 };

static int validate_values(const struct graft_place *place, const char *values, struct graft_error *error) {
    graft_json *document = NULL;
    struct graft_error cause = graft_error_none();
    int status = graft_check_text(place, "values", values, GRAFT_MAX_LINE, error);
    if (status != GRAFT_OK) {
        return status;
    }
    status = graft_json_parse(values, strlen(values), "values", &document, &cause);
    if (status == GRAFT_ERROR_INTERNAL) {
        return graft_fail_memory(error, "values"); /* not the plugin's fault, so the plugin is not skipped for it */
    }
    if (status != GRAFT_OK) {
        return graft_check_failed(place, "values", error, "%s", cause.message);
    }
    if (graft_json_type(document) != GRAFT_JSON_ARRAY || graft_json_size(document) == 0) {
        status = graft_check_failed(place, "values", error, "expected a JSON array of values, got %s", values);
    }
    graft_json_free(document);
    return status;
}

int graft_field_rules_validate(const struct graft_place *place, const struct graft_field_rule *rules, int32_t n,
                               uint32_t stride, struct graft_error *error) {
    const struct graft_array array = {"field_rules", "n_field_rules", "field_rule_stride",      rules, n, 0,
                                      MAX_RULES,     stride,          GRAFT_FIELD_RULE_SIZE_1_0};
    int status = graft_check_list(place, &array, error);
    for (int32_t i = 0; i < n && status == GRAFT_OK; i++) {
        const struct graft_place element = {.parent = place, .field = "field_rules", .index = i};
        const struct graft_field_rule *rule = graft_field_rule_at(rules, stride, i);
        status = graft_check_path(&element, "name", rule->name, error);
        if (status == GRAFT_OK && rule->values != NULL) {
            status = validate_values(&element, rule->values, error);
        }
        if (status == GRAFT_OK) {
            status = graft_check_flags(&element, rule->flags, GRAFT_FIELD_ONLY, error);
        }
        if (status == GRAFT_OK && rule->values == NULL && (rule->flags & GRAFT_FIELD_ONLY) != 0) {
            status =
                graft_check_failed(&element, "values", error, "expected values, which every GRAFT_FIELD_ONLY needs");
        }
        if (status == GRAFT_OK) {
            status = graft_check_zero(&element, "reserved", rule->reserved, error);
        }
    }
    return status;
}
