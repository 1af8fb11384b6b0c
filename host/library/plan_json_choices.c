/* SPDX-License-Identifier: Apache-2.0 */
/* Writes which plugins take part in a model's plan, and what was chosen, as JSON. */
#include "graft/option.h"
#include "library/plan_json.h"

static void set_sha256(struct graft_writer *writer, graft_json *object, const struct graft_library *library, size_t i) {
    char digits[GRAFT_SHA256_LENGTH + 1];
    int known = graft_library_plugin_sha256(library, i, digits, NULL) == GRAFT_OK && digits[0] != '\0';
    graft_writer_set_string(writer, object, "sha256", known ? digits : NULL);
}

graft_json *graft_plan_plugins(struct graft_writer *writer, const struct graft_library *library) {
    graft_json *plugins = graft_json_new_array();
    const struct graft_plugin_info *loaded;
    for (size_t i = 0; (loaded = graft_library_plugin(library, i)) != NULL; i++) {
        graft_json *plugin = graft_json_new_object();
        graft_json *patches = graft_json_new_array();
        graft_json *options = graft_json_new_object();
        graft_writer_set_string(writer, plugin, "id", loaded->descriptor->id);
        graft_writer_set_string(writer, plugin, "version", loaded->descriptor->version);
        graft_writer_set_string(writer, plugin, "file", loaded->file);
        set_sha256(writer, plugin, library, i);
        for (int32_t j = 0; j < loaded->descriptor->n_replacements; j++) {
            const struct graft_replacement *replacement = graft_plugin_replacement(loaded->descriptor, j);
            graft_json *patch = graft_json_new_object();
            graft_writer_set_string(writer, patch, "key", replacement->target);
            graft_writer_set_string(writer, patch, "class", replacement->replacement->name);
            graft_writer_append(writer, patches, patch);
        }
        for (int32_t j = 0; j < loaded->descriptor->n_options; j++) {
            const char *name = graft_plugin_option(loaded->descriptor, j)->name;
            graft_writer_set_string(writer, options, name, loaded->options[j]);
        }
        graft_writer_set(writer, plugin, "patches", patches);
        graft_writer_set(writer, plugin, "options", options);
        graft_writer_append(writer, plugins, plugin);
    }
    return plugins;
}

/* Chains of fused modules. */
graft_json *graft_plan_chains(struct graft_writer *writer, const struct graft_model *model) {
    graft_json *chains = graft_json_new_array();
    const struct graft_chain_info *chain;
    for (size_t i = 0; (chain = graft_model_chain(model, i)) != NULL; i++) {
        graft_json *object = graft_json_new_object();
        graft_json *modules = graft_json_new_array();
        graft_json *classes = graft_json_new_array();
        for (size_t j = 0; j < chain->n_modules; j++) {
            graft_writer_append(writer, modules, graft_json_new_string(chain->modules[j]->path));
            graft_writer_append(writer, classes, graft_json_new_string(chain->modules[j]->class_name));
        }
        graft_writer_set(writer, object, "modules", modules);
        graft_writer_set(writer, object, "classes", classes);
        graft_writer_set_string(writer, object, "implementation", chain->implementation);
        graft_writer_set_string(writer, object, "plugin", chain->plugin);
        graft_writer_append(writer, chains, object);
    }
    return chains;
}

graft_json *graft_plan_adapters(struct graft_writer *writer, const struct graft_plan_info *plan) {
    graft_json *adapters = graft_json_new_array();
    for (size_t i = 0; i < plan->n_adapters; i++) {
        graft_json *object = graft_json_new_object();
        graft_writer_set_string(writer, object, "name", plan->adapters[i]->name);
        graft_writer_set_string(writer, object, "directory", plan->adapters[i]->directory);
        graft_writer_set(writer, object, "scale", graft_json_new_real(plan->adapters[i]->scale));
        graft_writer_set_int(writer, object, "tensors", (int64_t)plan->adapters[i]->n_tensors);
        graft_writer_append(writer, adapters, object);
    }
    return adapters;
}

graft_json *graft_plan_notes(struct graft_writer *writer, const struct graft_model *model,
                             const struct graft_library *library) {
    graft_json *notes = graft_json_new_array();
    for (size_t i = 0; graft_library_note(library, i) != NULL; i++) {
        graft_writer_append(writer, notes, graft_json_new_string(graft_library_note(library, i)));
    }
    for (size_t i = 0; graft_model_note(model, i) != NULL; i++) {
        graft_writer_append(writer, notes, graft_json_new_string(graft_model_note(model, i)));
    }
    return notes;
}

static graft_json *module_json(struct graft_writer *writer, const struct graft_considered_module *module) {
    graft_json *object = graft_json_new_object();
    graft_writer_set_string(writer, object, "path", module->path);
    graft_writer_set_string(writer, object, "class", module->class_name);
    graft_writer_set_string(writer, object, "fused_class", module->fused_class);
    graft_writer_set_string(writer, object, "reason", module->reason);
    return object;
}

graft_json *graft_plan_fusion(struct graft_writer *writer, const struct graft_plan_info *plan) {
    graft_json *array = graft_json_new_array();
    for (size_t i = 0; i < plan->n_fusions; i++) {
        const struct graft_planned_fusion *fusion = plan->fusions[i];
        graft_json *family = graft_json_new_object();
        graft_json *modules = graft_json_new_array();
        for (size_t k = 0; k < fusion->n_modules; k++) {
            graft_writer_append(writer, modules, module_json(writer, fusion->modules[k]));
        }
        graft_writer_set_string(writer, family, "family", fusion->family);
        graft_writer_set_string(writer, family, "plugin", fusion->plugin);
        graft_writer_set(writer, family, "modules", modules);
        graft_writer_append(writer, array, family);
    }
    return array;
}

static graft_json *chosen_json(struct graft_writer *writer, const struct graft_implementation_info *chosen) {
    graft_json *object = graft_json_new_object();
    graft_writer_set_string(writer, object, "name", chosen->name);
    graft_writer_set_string(writer, object, "plugin", chosen->plugin);
    return object;
}

static graft_json *kernels_json(struct graft_writer *writer, const struct graft_model *model) {
    graft_json *kernels = graft_json_new_array();
    const struct graft_implementation_info *kernel;
    for (size_t i = GRAFT_IMPLEMENTATION_KERNEL; (kernel = graft_model_implementation(model, i)) != NULL; i++) {
        graft_json *object = chosen_json(writer, kernel);
        graft_writer_set_string(writer, object, "class", kernel->class_name);
        graft_writer_set_string(writer, object, "original_class", kernel->original_class);
        graft_writer_set_int(writer, object, "modules", kernel->modules);
        graft_writer_append(writer, kernels, object);
    }
    return kernels;
}

void graft_plan_implementations(struct graft_writer *writer, graft_json *document, const struct graft_model *model) {
    graft_writer_set(writer, document, "attention_implementation",
                     chosen_json(writer, graft_model_implementation(model, GRAFT_IMPLEMENTATION_ATTENTION)));
    graft_writer_set(writer, document, "experts_implementation",
                     chosen_json(writer, graft_model_implementation(model, GRAFT_IMPLEMENTATION_EXPERTS)));
    graft_writer_set(writer, document, "kernels", kernels_json(writer, model));
}

void graft_plan_fields(struct graft_writer *writer, graft_json *document, const struct graft_model *model) {
    static const char *const uses[] = {NULL,      "used",     "without effect",
                                       "neutral", "not used", "ignored"}; /* in the order of GRAFT_FIELD_USED, ... */
    graft_json *fields = graft_json_new_array();
    graft_json *asked = graft_json_new_array();
    const struct graft_model_field *field;
    const char *name;
    for (size_t i = 0; (field = graft_model_field_at(model, i)) != NULL; i++) {
        graft_json *object = graft_json_new_object();
        graft_writer_set_string(writer, object, "file", field->file);
        graft_writer_set_string(writer, object, "adapter", field->adapter);
        graft_writer_set_string(writer, object, "name", field->name);
        graft_writer_set_string(writer, object, "value", field->value);
        graft_writer_set_string(writer, object, "use", uses[field->use]);
        graft_writer_set_string(writer, object, "by", field->by);
        graft_writer_append(writer, fields, object);
    }
    for (size_t i = 0; (name = graft_model_asked_field(model, i)) != NULL; i++) {
        graft_writer_append(writer, asked, graft_json_new_string(name));
    }
    graft_writer_set(writer, document, "fields", fields);
    graft_writer_set(writer, document, "asked_fields", asked);
}
