/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a model's plan as JSON: modules, parameters, and problems; plan_json_choices.c writes the rest. */
#include "library/plan_json.h"

#include "base/alloc.h"
#include "base/dtype.h"
#include "base/fail.h"
#include "base/text.h"
#include "library/library.h"

/* The initial value of a parameter without a tensor. */
static const char *initial(const struct graft_planned_parameter *parameter) {
    return parameter->status != GRAFT_PLANNED_INITIAL ? NULL : parameter->init == GRAFT_INIT_ONES ? "ones" : "zeros";
}

/* The classes of a module that call each other, the outermost first; the last is the original or its replacement. */
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

/* Which classes and plugins changed the tensors of a parameter, in that order. */
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
    graft_writer_set_string(writer, object, "initial", initial(parameter));
    graft_writer_set_bool(writer, object, "copied", parameter->copied);
    graft_writer_set_bool(writer, object, "computed", parameter->computed);
    graft_writer_set_int(writer, object, "bytes", parameter->bytes);
    return object;
}

/* Writes the parameters. One that an original and its replacement both have is listed once, an absent one is not
 * listed. */
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

/* Writes missing, mismatched and unused tensors. */
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

graft_json *graft_plan_document(const struct graft_model *model) {
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
    graft_writer_set(&writer, document, "adapters", graft_plan_adapters(&writer, plan));
    graft_writer_set(&writer, document, "fusion", graft_plan_fusion(&writer, plan));
    graft_writer_set(&writer, document, "chains", graft_plan_chains(&writer, model));
    graft_plan_implementations(&writer, document, model);
    graft_writer_set(&writer, document, "plugins", graft_plan_plugins(&writer, model->library));
    graft_plan_fields(&writer, document, model);
    graft_writer_set(&writer, document, "notes", graft_plan_notes(&writer, model, model->library));
    if (writer.failed) {
        graft_json_free(document);
        return NULL;
    }
    return document;
}

int graft_model_plan_json(const struct graft_model *model, int32_t indent, struct graft_text *json,
                          struct graft_error *error) {
    graft_json *document = graft_plan_document(model);
    char *text = document != NULL ? graft_json_dump(document, indent) : NULL;
    graft_json_free(document);
    if (text != NULL) {
        graft_text_add_string(json, text);
        graft_free(text);
    }
    return text == NULL || json->failed ? graft_fail_memory(error, model->directory) : GRAFT_OK;
}
