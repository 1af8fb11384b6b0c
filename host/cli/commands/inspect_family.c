/* SPDX-License-Identifier: Apache-2.0 */
/* The model families that a plugin declares. */
#include <string.h>

#include "cli/commands/inspect.h"
#include "graft/family.h"

static graft_json *architectures_json(struct graft_writer *writer, const struct graft_family *family) {
    graft_json *object = graft_json_new_object();
    for (int32_t i = 0; i < family->n_architectures; i++) {
        const char *name = graft_family_architecture(family, i)->name;
        graft_writer_set_string(writer, object, name, graft_family_root(family, name));
    }
    return object;
}

static graft_json *default_json(const struct graft_config_field *field) {
    switch (field->kind) {
    case GRAFT_FIELD_BOOL:
        return graft_json_new_bool(field->integer != 0);
    case GRAFT_FIELD_INT:
        return graft_json_new_int(field->integer);
    case GRAFT_FIELD_REAL:
        return graft_json_new_real(field->real);
    case GRAFT_FIELD_STRING:
        return graft_json_new_string(field->string);
    case GRAFT_FIELD_OBJECT:
        return graft_json_new_object();
    case GRAFT_FIELD_NULL:
        return graft_json_new_string(NULL);
    default:
        return NULL;
    }
}

static graft_json *fields_json(struct graft_writer *writer, const struct graft_family *family) {
    graft_json *array = graft_json_new_array();
    for (int32_t i = 0; i < family->n_fields; i++) {
        const struct graft_config_field *field = graft_family_field(family, i);
        graft_json *object = graft_json_new_object();
        graft_writer_set_string(writer, object, "name", field->name);
        if (field->alias != NULL) {
            graft_writer_set_string(writer, object, "alias", field->alias);
        }
        if (field->kind != GRAFT_FIELD_ABSENT) {
            graft_writer_set(writer, object, "default", default_json(field));
        }
        graft_writer_append(writer, array, object);
    }
    return array;
}

static graft_json *stand_ins_json(struct graft_writer *writer, const struct graft_family *family) {
    graft_json *object = graft_json_new_object();
    for (int32_t i = 0; i < family->n_stand_ins; i++) {
        const struct graft_stand_in *stand_in = graft_family_stand_in(family, i);
        graft_writer_set_string(writer, object, stand_in->name, stand_in->class_name);
    }
    return object;
}

graft_json *graft_inspect_rules(struct graft_writer *writer, const struct graft_field_rule *rules, int32_t n,
                                uint32_t stride) {
    graft_json *array = graft_json_new_array();
    for (int32_t i = 0; i < n; i++) {
        const struct graft_field_rule *rule = graft_field_rule_at(rules, stride, i);
        graft_json *object = graft_json_new_object();
        graft_json *values = NULL;
        graft_writer_set_string(writer, object, "name", rule->name);
        if (rule->values != NULL &&
            graft_json_parse(rule->values, strlen(rule->values), rule->name, &values, NULL) == 0) {
            graft_writer_set(writer, object, (rule->flags & GRAFT_FIELD_ONLY) != 0 ? "only" : "neutral", values);
        }
        graft_writer_append(writer, array, object);
    }
    return array;
}

static graft_json *family_rules_json(struct graft_writer *writer, const struct graft_family *family) {
    int32_t n = graft_family_n_field_rules(family);
    return n > 0 ? graft_inspect_rules(writer, family->field_rules, n, family->field_rule_stride)
                 : graft_json_new_array();
}

static graft_json *classes_json(struct graft_writer *writer, const struct graft_family *family) {
    graft_json *array = graft_json_new_array();
    for (int32_t i = 0; i < family->n_classes; i++) {
        graft_json *cls = graft_json_new_object();
        graft_inspect_class(writer, cls, graft_family_class(family, i));
        graft_writer_append(writer, array, cls);
    }
    return array;
}

void graft_inspect_families(struct graft_writer *writer, graft_json *object, const struct graft_plugin *descriptor) {
    graft_json *array = graft_json_new_array();
    for (int32_t i = 0; i < descriptor->n_families; i++) {
        const struct graft_family *family = graft_plugin_family(descriptor, i);
        graft_json *item = graft_json_new_object();
        graft_writer_set_string(writer, item, "model_type", family->model_type);
        graft_writer_set(writer, item, "architectures", architectures_json(writer, family));
        graft_writer_set_string(writer, item, "base_model_prefix", family->base_model_prefix);
        graft_writer_set(writer, item, "fields", fields_json(writer, family));
        graft_writer_set(writer, item, "ignored_tensors", graft_writer_list(writer, family->ignored_tensors));
        graft_writer_set(writer, item, "stand_ins", stand_ins_json(writer, family));
        graft_writer_set(writer, item, "field_rules", family_rules_json(writer, family));
        graft_writer_set(writer, item, "classes", classes_json(writer, family));
        graft_writer_append(writer, array, item);
    }
    graft_writer_set(writer, object, "families", array);
}
