/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of `inspect` about a plugin: its declaration, the classes that its keys match, and their modules in a
 * model. */
#include <string.h>

#include "base/regex.h"
#include "cli/commands/inspect.h"
#include "cli/report/implementations.h"
#include "cli/report/plugin_options.h"
#include "graft/custom_operation.h"
#include "graft/family.h"
#include "graft/fusion.h"
#include "graft/quantization.h"

static int pattern_hits(const char *pattern, const char *name) {
    struct graft_regex *regex = NULL;
    struct graft_regex_match match;
    int hit = 0;
    if (graft_regex_compile(pattern, strlen(pattern), pattern, GRAFT_ERROR_PLUGIN, &regex, NULL) == GRAFT_OK) {
        hit = graft_regex_search(regex, name, strlen(name), 0, &match) == GRAFT_REGEX_MATCH;
    }
    graft_regex_free(regex);
    return hit;
}

int graft_inspect_hits(const struct graft_replacement *replacement, const struct graft_class *cls) {
    if (replacement->key != GRAFT_KEY_PATTERN) {
        return strcmp(replacement->target, cls->name) == 0;
    }
    return (cls->flags & GRAFT_CLASS_BASIC) == 0 && pattern_hits(replacement->target, cls->name);
}

static int is_among(const char *const *names, const char *name) {
    for (size_t i = 0; names[i] != NULL; i++) {
        if (strcmp(names[i], name) == 0) {
            return 1;
        }
    }
    return 0;
}

int graft_inspect_reaches(const struct graft_replacement *replacement, const struct graft_inspected_classes *classes,
                          const struct graft_class *cls) {
    int is_elsewhere = 0; /* only families that the replacement excludes declare it */
    for (size_t i = 0; i < classes->n_families && replacement->model_types != NULL; i++) {
        const struct graft_family *family = classes->families[i].family;
        for (int32_t k = 0; k < family->n_classes; k++) {
            if (strcmp(graft_family_class(family, k)->name, cls->name) != 0) {
                continue;
            }
            if (is_among(replacement->model_types, family->model_type)) {
                return graft_inspect_hits(replacement, cls);
            }
            is_elsewhere = 1;
        }
    }
    return !is_elsewhere && graft_inspect_hits(replacement, cls);
}

static graft_json *conditions_json(struct graft_writer *writer, const struct graft_replacement *replacement) {
    graft_json *conditions = graft_json_new_array();
    for (int32_t i = 0; i < replacement->n_conditions; i++) {
        const struct graft_condition *condition = graft_replacement_condition(replacement, i);
        static const char *const kinds[] = {"", "config", "tensor", "no_config", "no_tensor"};
        graft_json *object = graft_json_new_object();
        graft_writer_set_string(writer, object, "kind", kinds[condition->kind]);
        graft_writer_set_string(writer, object, "field", condition->field);
        graft_writer_set(writer, object, "any_of", graft_writer_list(writer, condition->any_of));
        graft_writer_append(writer, conditions, object);
    }
    return conditions;
}

void graft_inspect_key(struct graft_writer *writer, graft_json *object, const struct graft_replacement *replacement) {
    graft_writer_set_string(writer, object, "key", replacement->key == GRAFT_KEY_PATTERN ? "pattern" : "name");
    graft_writer_set_string(writer, object, "target", replacement->target);
    graft_writer_set_string(writer, object, "module_path", replacement->module_path);
    graft_writer_set(writer, object, "model_types", graft_writer_list(writer, replacement->model_types));
    graft_writer_set_string(writer, object, "group", replacement->group);
    if (replacement->n_conditions > 0) {
        graft_writer_set(writer, object, "conditions", conditions_json(writer, replacement));
    }
    if ((replacement->flags & GRAFT_REPLACEMENT_WHERE_IT_FITS) != 0) {
        graft_writer_set_bool(writer, object, "where_it_fits", 1);
    }
    if ((replacement->flags & GRAFT_REPLACEMENT_GIVES_WAY) != 0) {
        graft_writer_set_bool(writer, object, "gives_way", 1);
    }
}

/* Sets the classes of the host that the key matches: `fits` has those with the replacement's interface. */
static void set_hits(struct graft_writer *writer, graft_json *object, const struct graft_replacement *replacement,
                     const struct graft_inspected_classes *classes) {
    graft_json *fits = graft_json_new_array();
    graft_json *others = graft_json_new_array();
    for (size_t i = 0; i < classes->n; i++) {
        const struct graft_class *cls = classes->items[i].cls;
        if (!classes->items[i].is_private && graft_inspect_reaches(replacement, classes, cls)) {
            int same = strcmp(cls->interface_id, replacement->replacement->interface_id) == 0;
            graft_writer_append(writer, same ? fits : others, graft_json_new_string(cls->name));
        }
    }
    graft_writer_set(writer, object, "fits", fits);
    graft_writer_set(writer, object, "hits_of_other_interfaces", others);
}

/* Sets for each matched class the number of its modules that the replacement takes over in the model. */
static void set_modules(struct graft_writer *writer, graft_json *object, const struct graft_replacement *replacement,
                        const struct graft_inspected_classes *classes, const struct graft_model *model) {
    graft_json *array = graft_json_new_array();
    for (size_t i = 0; i < classes->n; i++) {
        const struct graft_class *cls = classes->items[i].cls;
        struct graft_inspected found = graft_inspect_find(model, cls->name, replacement->replacement);
        if (found.modules > 0 && graft_inspect_hits(replacement, cls)) {
            graft_json *row = graft_json_new_object();
            graft_writer_set_string(writer, row, "class", cls->name);
            graft_writer_set_int(writer, row, "modules", found.modules);
            graft_writer_set_string(writer, row, "first", found.first->path);
            graft_writer_append(writer, array, row);
        }
    }
    graft_writer_set(writer, object, "in_this_model", array);
}

static graft_json *replacement_json(struct graft_writer *writer, const struct graft_replacement *replacement,
                                    const struct graft_inspected_classes *classes, const struct graft_model *model) {
    graft_json *object = graft_json_new_object();
    graft_inspect_key(writer, object, replacement);
    set_hits(writer, object, replacement, classes);
    if (model != NULL) {
        set_modules(writer, object, replacement, classes, model);
    }
    graft_json *cls = graft_json_new_object();
    graft_inspect_class(writer, cls, replacement->replacement);
    graft_writer_set(writer, object, "replacement", cls);
    return object;
}

/* The quantizations that --quantize may name. */
static graft_json *quantizations_json(struct graft_writer *writer, const struct graft_plugin *descriptor) {
    graft_json *names = graft_json_new_array();
    for (int32_t i = 0; i < graft_plugin_n_quantizations(descriptor); i++) {
        const struct graft_quantization *format = graft_plugin_quantization(descriptor, i);
        graft_json *object = graft_json_new_object();
        graft_writer_set_string(writer, object, "name", format->name);
        graft_writer_set_int(writer, object, "group_size", format->group_size);
        graft_writer_append(writer, names, object);
    }
    return names;
}

static graft_json *families_json(struct graft_writer *writer, const struct graft_plugin *descriptor) {
    graft_json *families = graft_json_new_array();
    for (int32_t i = 0; i < descriptor->n_fusion_families; i++) {
        const struct graft_fusion_family *family = graft_plugin_fusion_family(descriptor, i);
        graft_json *object = graft_json_new_object();
        graft_writer_set_string(writer, object, "name", family->name);
        graft_writer_set_string(writer, object, "description", family->description);
        graft_writer_set(writer, object, "target_modules_patterns",
                         graft_writer_list(writer, family->target_modules_patterns));
        graft_writer_append(writer, families, object);
    }
    return families;
}

static graft_json *operations_json(struct graft_writer *writer, const struct graft_plugin *descriptor) {
    graft_json *operations = graft_json_new_array();
    for (int32_t i = 0; i < descriptor->n_custom_operations; i++) {
        const struct graft_custom_operation *operation = graft_plugin_custom_operation(descriptor, i);
        graft_json *object = graft_json_new_object();
        graft_writer_set_string(writer, object, "name", operation->name);
        graft_writer_set_bool(writer, object, "reversible", operation->reverse != NULL);
        graft_writer_append(writer, operations, object);
    }
    return operations;
}

static graft_json *abi_json(struct graft_writer *writer, const struct graft_plugin *descriptor) {
    graft_json *object = graft_json_new_object();
    graft_writer_set_int(writer, object, "major", descriptor->abi_major);
    graft_writer_set_int(writer, object, "minor_needed", descriptor->abi_minor_needed);
    graft_writer_set_int(writer, object, "minor_built", descriptor->abi_minor_built);
    return object;
}

graft_json *graft_inspect_plugin(struct graft_writer *writer, const struct graft_plugin_info *plugin,
                                 const struct graft_inspected_classes *classes, const struct graft_model *model) {
    const struct graft_plugin *descriptor = plugin->descriptor;
    graft_json *object = graft_json_new_object();
    graft_json *replacements = graft_json_new_array();
    graft_json *private_classes = graft_json_new_array();
    for (int32_t i = 0; i < descriptor->n_replacements; i++) {
        graft_writer_append(writer, replacements,
                            replacement_json(writer, graft_plugin_replacement(descriptor, i), classes, model));
    }
    for (int32_t i = 0; i < descriptor->n_classes; i++) {
        graft_json *cls = graft_json_new_object();
        graft_inspect_class(writer, cls, graft_plugin_class(descriptor, i));
        graft_writer_append(writer, private_classes, cls);
    }
    graft_writer_set_string(writer, object, "file", plugin->file);
    graft_writer_set_string(writer, object, "id", descriptor->id);
    graft_writer_set_string(writer, object, "version", descriptor->version);
    graft_writer_set_string(writer, object, "license", descriptor->license);
    graft_writer_set_string(writer, object, "description", descriptor->description);
    graft_writer_set(writer, object, "abi", abi_json(writer, descriptor));
    graft_writer_set(writer, object, "requires_extensions", graft_writer_list(writer, descriptor->requires_extensions));
    graft_writer_set(writer, object, "uses_extensions", graft_writer_list(writer, descriptor->uses_extensions));
    graft_writer_set(writer, object, "offers_extensions", graft_writer_list(writer, descriptor->offers_extensions));
    graft_writer_set(writer, object, "quant_methods", graft_writer_list(writer, descriptor->quant_methods));
    if (graft_plugin_n_quantizations(descriptor) > 0) {
        graft_writer_set(writer, object, "quantizations", quantizations_json(writer, descriptor));
    }
    if (graft_plugin_n_field_rules(descriptor) > 0) {
        graft_writer_set(writer, object, "field_rules",
                         graft_inspect_rules(writer, descriptor->field_rules, descriptor->n_field_rules,
                                             descriptor->field_rule_stride));
    }
    graft_writer_set(writer, object, "replacements", replacements);
    graft_writer_set(writer, object, "private_classes", private_classes);
    graft_inspect_families(writer, object, descriptor);
    graft_writer_set(writer, object, "fusion_families", families_json(writer, descriptor));
    graft_writer_set(writer, object, "custom_operations", operations_json(writer, descriptor));
    graft_inspect_implementations(writer, object, descriptor);
    graft_inspect_options(writer, object, plugin);
    return object;
}
