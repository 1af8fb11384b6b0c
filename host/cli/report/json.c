/* SPDX-License-Identifier: Apache-2.0 */
/* The document of `plan --json`. */
#include "base/dtype.h"
#include "cli/report/fields.h"
#include "cli/report/implementations.h"
#include "cli/report/report.h"
#include "cli/report/writer.h"
#include "graft/option.h"

/* The classes of a module that call each other, the outermost first, the original or what replaces it last. */
static graft_json *stack_json(struct graft_writer *writer, const struct graft_named_module *module) {
    graft_json *stack = graft_json_new_array();
    for (; module != NULL; module = module->super) {
        graft_json *object = graft_json_new_object();
        graft_writer_set_string(writer, object, "class", module->class_name);
        graft_writer_set_string(writer, object, "plugin", module->plugin);
        graft_writer_append(writer, stack, object);
    }
    return stack;
}

static graft_json *modules_json(struct graft_writer *writer, const struct graft_model *model) {
    graft_json *modules = graft_json_new_array();
    const struct graft_named_module *module;
    for (size_t i = 0; (module = graft_model_module(model, i)) != NULL; i++) {
        graft_json *object = graft_json_new_object();
        graft_writer_set_string(writer, object, "path", module->path);
        graft_writer_set_string(writer, object, "class", module->class_name);
        graft_writer_set_string(writer, object, "original_class", module->original_class);
        graft_writer_set_string(writer, object, "plugin", module->original_class != NULL ? module->plugin : NULL);
        if (module->kernel_on != NULL) {
            graft_writer_set_string(writer, object, "kernel_on", module->kernel_on);
        }
        if ((module->flags & GRAFT_MODULE_SUPER) != 0) {
            graft_writer_set_bool(writer, object, "is_super", 1);
        } else if (module->super != NULL) {
            graft_writer_set(writer, object, "stack", stack_json(writer, module));
        }
        graft_writer_append(writer, modules, object);
    }
    return modules;
}

/* Who changed the tensors behind a parameter, in the order in which that happens. */
static graft_json *converted_by_json(struct graft_writer *writer, const struct graft_planned_parameter *parameter) {
    static const char *const names[] = {"list", "patch", "class"}; /* GRAFT_CONVERTED_BY_... */
    graft_json *array = graft_json_new_array();
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if ((parameter->converted_by & 1u << i) != 0) {
            graft_writer_append(writer, array, graft_json_new_string(names[i]));
        }
    }
    return array;
}

static graft_json *parameter_json(struct graft_writer *writer, const struct graft_planned_parameter *parameter) {
    graft_json *object = graft_json_new_object();
    int32_t n_sources = (int32_t)parameter->n_sources;
    graft_writer_set_string(writer, object, "name", parameter->name);
    graft_writer_set(writer, object, "shape", graft_writer_ints(writer, parameter->shape, parameter->rank));
    graft_writer_set_string(writer, object, "dtype",
                            parameter->dtype != GRAFT_DTYPE_NONE ? graft_dtype_name(parameter->dtype) : NULL);
    graft_writer_set(writer, object, "sources", graft_writer_strings(writer, parameter->sources, n_sources));
    graft_writer_set_string(writer, object, "operations", parameter->operations);
    graft_writer_set(writer, object, "converted_by", converted_by_json(writer, parameter));
    graft_writer_set_string(writer, object, "initial", graft_report_initial(parameter));
    graft_writer_set_bool(writer, object, "copied", parameter->copied);
    graft_writer_set_int(writer, object, "bytes", parameter->bytes);
    return object;
}

/* A parameter that an original has beside its replacement is one parameter, an absent one is none. */
static graft_json *parameters_json(struct graft_writer *writer, const struct graft_plan_info *plan) {
    graft_json *parameters = graft_json_new_array();
    for (size_t i = 0; i < plan->n_parameters; i++) {
        if (plan->parameters[i]->shared_with == NULL && plan->parameters[i]->status != GRAFT_PLANNED_ABSENT) {
            graft_writer_append(writer, parameters, parameter_json(writer, plan->parameters[i]));
        }
    }
    return parameters;
}

static graft_json *mismatch_json(struct graft_writer *writer, const struct graft_planned_parameter *parameter) {
    graft_json *row = graft_json_new_object();
    graft_writer_set_string(writer, row, "name", parameter->name);
    graft_writer_set(writer, row, "checkpoint_shape",
                     graft_writer_ints(writer, parameter->source_shape, parameter->source_rank));
    graft_writer_set(writer, row, "model_shape", graft_writer_ints(writer, parameter->shape, parameter->rank));
    return row;
}

static graft_json *failure_json(struct graft_writer *writer, const struct graft_planned_parameter *parameter) {
    graft_json *row = graft_json_new_object();
    graft_writer_set_string(writer, row, "name", parameter->name);
    graft_writer_set_string(writer, row, "problem", parameter->problem);
    return row;
}

/* What does not fit. */
static void set_problems(struct graft_writer *writer, graft_json *document, const struct graft_plan_info *plan) {
    graft_json *missing = graft_json_new_array();
    graft_json *mismatched = graft_json_new_array();
    graft_json *failures = graft_json_new_array();
    for (size_t i = 0; i < plan->n_parameters; i++) {
        const struct graft_planned_parameter *parameter = plan->parameters[i];
        if (parameter->status == GRAFT_PLANNED_MISSING) {
            graft_writer_append(writer, missing, graft_json_new_string(parameter->name));
        } else if (parameter->status == GRAFT_PLANNED_MISMATCHED) {
            graft_writer_append(writer, mismatched, mismatch_json(writer, parameter));
        } else if (parameter->status == GRAFT_PLANNED_FAILED) {
            graft_writer_append(writer, failures, failure_json(writer, parameter));
        }
    }
    graft_writer_set(writer, document, "missing", missing);
    graft_writer_set(writer, document, "unexpected",
                     graft_writer_strings(writer, plan->unexpected, (int32_t)plan->n_unexpected));
    graft_writer_set(writer, document, "elsewhere",
                     graft_writer_strings(writer, plan->elsewhere, (int32_t)plan->n_elsewhere));
    graft_writer_set_int(writer, document, "elsewhere_bytes", plan->elsewhere_bytes);
    graft_writer_set(writer, document, "mismatched", mismatched);
    graft_writer_set(writer, document, "conversion_errors", failures);
}

void graft_report_sha256_json(struct graft_writer *writer, graft_json *object, const struct graft_library *library,
                              size_t i) {
    char digits[GRAFT_SHA256_LENGTH + 1];
    int known = graft_library_plugin_sha256(library, i, digits, NULL) == GRAFT_OK && digits[0] != '\0';
    graft_writer_set_string(writer, object, "sha256", known ? digits : NULL);
}

static graft_json *plugins_json(struct graft_writer *writer, const struct graft_library *library) {
    graft_json *plugins = graft_json_new_array();
    const struct graft_plugin_info *loaded;
    for (size_t i = 0; (loaded = graft_library_plugin(library, i)) != NULL; i++) {
        graft_json *plugin = graft_json_new_object();
        graft_json *patches = graft_json_new_array();
        graft_json *options = graft_json_new_object();
        graft_writer_set_string(writer, plugin, "id", loaded->descriptor->id);
        graft_writer_set_string(writer, plugin, "version", loaded->descriptor->version);
        graft_writer_set_string(writer, plugin, "file", loaded->file);
        graft_report_sha256_json(writer, plugin, library, i);
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
static graft_json *chains_json(struct graft_writer *writer, const struct graft_model *model) {
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

static graft_json *adapters_json(struct graft_writer *writer, const struct graft_plan_info *plan) {
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

static graft_json *notes_json(struct graft_writer *writer, const struct graft_model *model,
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

graft_json *graft_report_json(const struct graft_model *model, const struct graft_library *library) {
    const struct graft_plan_info *plan = graft_model_plan(model);
    struct graft_writer writer = {0};
    graft_json *document = graft_json_new_object();
    graft_writer_set_string(&writer, document, "model_type", plan->model_type);
    graft_writer_set_string(&writer, document, "model_type_by", plan->plugin);
    graft_writer_set_string(&writer, document, "architecture", plan->architecture);
    graft_writer_set(&writer, document, "modules", modules_json(&writer, model));
    graft_writer_set(&writer, document, "parameters", parameters_json(&writer, plan));
    set_problems(&writer, document, plan);
    graft_writer_set_int(&writer, document, "copied_bytes", plan->copied_bytes);
    graft_writer_set_int(&writer, document, "computed_bytes", plan->computed_bytes);
    graft_writer_set_int(&writer, document, "peak_anonymous_bytes", plan->peak_anonymous_bytes);
    graft_writer_set_int(&writer, document, "mapped_bytes", plan->mapped_bytes);
    graft_writer_set_int(&writer, document, "state_bytes", plan->state_bytes);
    graft_writer_set(&writer, document, "adapters", adapters_json(&writer, plan));
    graft_writer_set(&writer, document, "fusion", graft_report_fusion_json(&writer, plan));
    graft_writer_set(&writer, document, "chains", chains_json(&writer, model));
    graft_report_implementations_json(&writer, document, model);
    graft_writer_set(&writer, document, "plugins", plugins_json(&writer, library));
    graft_report_fields_json(&writer, document, model);
    graft_writer_set(&writer, document, "notes", notes_json(&writer, model, library));
    if (writer.failed) {
        graft_json_free(document);
        return NULL;
    }
    return document;
}
