/* SPDX-License-Identifier: Apache-2.0 */
/* Validates the model families of a plugin. */
#include <string.h>

#include "graft/family.h"
#include "plugin/validate.h"

enum { MAX_FAMILIES = 256, MAX_ELEMENTS = 4096, MAX_PATTERNS = 256 };

static int validate_architectures(const struct graft_place *place, const struct graft_family *family,
                                  struct graft_error *error) {
    for (int32_t i = 0; i < family->n_architectures; i++) {
        const struct graft_place element = {.parent = place, .field = "architectures", .index = i};
        const struct graft_architecture *architecture = graft_family_architecture(family, i);
        int status = graft_check_class_name(&element, "name", architecture->name, error);
        if (status == GRAFT_OK && architecture->class_name != NULL) {
            status = graft_check_class_name(&element, "class_name", architecture->class_name, error);
        }
        if (status != GRAFT_OK) {
            return status;
        }
    }
    return GRAFT_OK;
}

static int validate_default(const struct graft_place *place, const struct graft_config_field *field,
                            struct graft_error *error) {
    switch (field->kind) {
    case GRAFT_FIELD_ABSENT:
    case GRAFT_FIELD_INT:
    case GRAFT_FIELD_REAL:
    case GRAFT_FIELD_OBJECT:
    case GRAFT_FIELD_NULL:
        return GRAFT_OK;
    case GRAFT_FIELD_BOOL:
        return field->integer == 0 || field->integer == 1
                   ? GRAFT_OK
                   : graft_check_failed(place, "integer", error, "expected 0 or 1 for a GRAFT_FIELD_BOOL, got %lld",
                                        (long long)field->integer);
    case GRAFT_FIELD_STRING:
        return graft_check_text(place, "string", field->string, GRAFT_MAX_LINE, error);
    default:
        return graft_check_failed(place, "kind", error,
                                  "expected the kind of a single value or of an object (graft/config.h), got %d",
                                  (int)field->kind);
    }
}

static int validate_fields(const struct graft_place *place, const struct graft_family *family,
                           struct graft_error *error) {
    for (int32_t i = 0; i < family->n_fields; i++) {
        const struct graft_place element = {.parent = place, .field = "fields", .index = i};
        const struct graft_config_field *field = graft_family_field(family, i);
        int status = graft_check_path(&element, "name", field->name, error);
        if (status == GRAFT_OK && field->alias != NULL) {
            status = graft_check_path(&element, "alias", field->alias, error);
        }
        if (status == GRAFT_OK) {
            status = validate_default(&element, field, error);
        }
        if (status == GRAFT_OK) {
            status = graft_check_flags(&element, field->flags, GRAFT_FIELD_RENAMED, error);
        }
        if (status == GRAFT_OK && (field->flags & GRAFT_FIELD_RENAMED) != 0 && field->alias == NULL) {
            status =
                graft_check_failed(&element, "alias", error, "expected a name, which every GRAFT_FIELD_RENAMED needs");
        }
        if (status != GRAFT_OK) {
            return status;
        }
    }
    return GRAFT_OK;
}

static int validate_ignored(const struct graft_place *place, const char *const *patterns, struct graft_error *error) {
    for (int32_t i = 0; patterns != NULL && patterns[i] != NULL; i++) {
        const struct graft_place element = {.parent = place, .field = "ignored_tensors", .index = i};
        if (i == MAX_PATTERNS) {
            return graft_check_failed(place, "ignored_tensors", error, "expected NULL after at most %d patterns",
                                      (int)MAX_PATTERNS);
        }
        int status = graft_check_pattern(&element, NULL, patterns[i], error);
        if (status != GRAFT_OK) {
            return status;
        }
    }
    return GRAFT_OK;
}

static int validate_classes(const struct graft_place *place, const struct graft_family *family,
                            struct graft_error *error) {
    int status = GRAFT_OK;
    for (int32_t i = 0; i < family->n_classes && status == GRAFT_OK; i++) {
        const struct graft_place element = {.parent = place, .field = "classes", .index = i};
        status = graft_class_validate(&element, graft_family_class(family, i), 0, error);
    }
    return status;
}

static int validate_stand_ins(const struct graft_place *place, const struct graft_family *family,
                              struct graft_error *error) {
    int status = GRAFT_OK;
    for (int32_t i = 0; i < family->n_stand_ins && status == GRAFT_OK; i++) {
        const struct graft_place element = {.parent = place, .field = "stand_ins", .index = i};
        const struct graft_stand_in *stand_in = graft_family_stand_in(family, i);
        status = graft_check_class_name(&element, "name", stand_in->name, error);
        if (status == GRAFT_OK) {
            status = graft_check_class_name(&element, "class_name", stand_in->class_name, error);
        }
    }
    return status;
}

/* Checks count, stride and address of each list. */
static int validate_lists(const struct graft_place *place, const struct graft_family *family,
                          struct graft_error *error) {
    const struct graft_array architectures = {
        "architectures",       "n_architectures",           "architecture_stride",
        family->architectures, family->n_architectures,     1,
        MAX_ELEMENTS,          family->architecture_stride, GRAFT_ARCHITECTURE_SIZE_1_0};
    const struct graft_array fields = {"fields",       "n_fields",           "field_stride",
                                       family->fields, family->n_fields,     0,
                                       MAX_ELEMENTS,   family->field_stride, GRAFT_CONFIG_FIELD_SIZE_1_0};
    const struct graft_array classes = {"classes",       "n_classes",          "class_stride",
                                        family->classes, family->n_classes,    0,
                                        MAX_ELEMENTS,    family->class_stride, GRAFT_CLASS_SIZE_1_0};
    const struct graft_array stand_ins = {"stand_ins",       "n_stand_ins",           "stand_in_stride",
                                          family->stand_ins, family->n_stand_ins,     0,
                                          MAX_ELEMENTS,      family->stand_in_stride, GRAFT_STAND_IN_SIZE_1_0};
    int status = graft_check_list(place, &architectures, error);
    if (status == GRAFT_OK) {
        status = graft_check_list(place, &fields, error);
    }
    if (status == GRAFT_OK) {
        status = graft_check_list(place, &stand_ins, error);
    }
    return status == GRAFT_OK ? graft_check_array(place, &classes, error) : status;
}

static int validate_family(const struct graft_place *place, const struct graft_family *family,
                           struct graft_error *error) {
    int status = graft_check_zero(place, "reserved", family->reserved, error);
    if (status == GRAFT_OK) {
        status = graft_check_text(place, "model_type", family->model_type, GRAFT_MAX_NAME, error);
    }
    if (status == GRAFT_OK && family->base_model_prefix != NULL) {
        status = graft_check_path(place, "base_model_prefix", family->base_model_prefix, error);
    }
    if (status == GRAFT_OK) {
        status = validate_lists(place, family, error);
    }
    if (status == GRAFT_OK) {
        status = validate_architectures(place, family, error);
    }
    if (status == GRAFT_OK) {
        status = validate_fields(place, family, error);
    }
    if (status == GRAFT_OK) {
        status = validate_ignored(place, family->ignored_tensors, error);
    }
    if (status == GRAFT_OK) {
        status = validate_stand_ins(place, family, error);
    }
    if (status == GRAFT_OK && graft_family_n_field_rules(family) != 0) {
        status = graft_field_rules_validate(place, family->field_rules, family->n_field_rules,
                                            family->field_rule_stride, error);
    }
    return status == GRAFT_OK ? validate_classes(place, family, error) : status;
}

int graft_families_validate(const struct graft_place *place, const struct graft_plugin *plugin,
                            struct graft_error *error) {
    const struct graft_array array = {"families",       "n_families",          "family_stride",
                                      plugin->families, plugin->n_families,    0,
                                      MAX_FAMILIES,     plugin->family_stride, GRAFT_FAMILY_SIZE_1_0};
    int status = graft_check_array(place, &array, error);
    for (int32_t i = 0; i < plugin->n_families && status == GRAFT_OK; i++) {
        const struct graft_place element = {.parent = place, .field = "families", .index = i};
        const struct graft_family *family = graft_plugin_family(plugin, i);
        status = validate_family(&element, family, error);
        for (int32_t k = 0; k < i && status == GRAFT_OK; k++) {
            if (strcmp(family->model_type, graft_plugin_family(plugin, k)->model_type) == 0) {
                status =
                    graft_check_failed(&element, "model_type", error, "\"%s\" is also the model type of families[%d]",
                                       family->model_type, (int)k);
            }
        }
        if (status != GRAFT_OK) {
            graft_error_hint(error, "graft/family.h says what a family must hold");
        }
    }
    return status;
}
