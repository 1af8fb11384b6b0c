/* SPDX-License-Identifier: Apache-2.0 */
/* The document of `plan --json`. Failed allocations show in the containers' return values and are gathered in `failed`.
 */
#include "base/text.h"
#include "cli/report/implementations.h"
#include "cli/report/report.h"

struct writer {
    graft_json *modules;
    graft_json *parameters;
    graft_json *missing;
    graft_json *mismatched;
    graft_json *failures;
    const struct graft_plan *plan;
    int failed;
};

static void set(struct writer *writer, graft_json *object, const char *key, graft_json *value) {
    writer->failed |= graft_json_set_take(object, key, value) != 0;
}

static void append(struct writer *writer, graft_json *array, graft_json *value) {
    writer->failed |= graft_json_append_take(array, value) != 0;
}

static graft_json *shape_json(struct writer *writer, const int64_t *shape, int32_t rank) {
    graft_json *array = graft_json_new_array();
    for (int32_t i = 0; i < rank; i++) {
        append(writer, array, graft_json_new_int(shape[i]));
    }
    return array;
}

static void add_module(struct writer *writer, const struct graft_node *node) {
    graft_json *module = graft_json_new_object();
    int replaced = node->original != NULL;
    set(writer, module, "path", graft_json_new_string(node->path));
    set(writer, module, "class", graft_json_new_string(node->class_name));
    set(writer, module, "original_class", graft_json_new_string(replaced ? node->original->cls->name : NULL));
    set(writer, module, "plugin", graft_json_new_string(replaced ? node->known->origin.plugin : NULL));
    if (node->kernel_on != NULL) {
        set(writer, module, "kernel_on", graft_json_new_string(node->kernel_on->cls->name));
    }
    append(writer, writer->modules, module);
}

/* The names of the tensors behind a binding, in order, each once in a row. */
static graft_json *sources_json(struct writer *writer, const struct graft_binding *binding) {
    graft_json *sources = graft_json_new_array();
    const struct graft_value *value =
        binding->status == GRAFT_BINDING_TIED ? &binding->tied_to->value : &binding->value;
    const struct graft_tensor_view *last = NULL;
    for (size_t i = 0; i < value->n_parts; i++) {
        if (value->parts[i].tensor != last) {
            last = value->parts[i].tensor;
            append(writer, sources, graft_json_new_string(last->name));
        }
    }
    return sources;
}

static void add_parameter(struct writer *writer, const struct graft_binding *binding) {
    const struct graft_parameter *parameter = binding->parameter;
    struct graft_text operations = {0};
    graft_json *object = graft_json_new_object();
    int tied = binding->status == GRAFT_BINDING_TIED;
    graft_dtype dtype = tied ? binding->tied_to->dtype : binding->dtype;
    graft_binding_operations(binding, &operations);
    set(writer, object, "name", graft_json_new_string(parameter->name));
    set(writer, object, "shape", shape_json(writer, parameter->shape, parameter->rank));
    set(writer, object, "dtype", graft_json_new_string(dtype != GRAFT_DTYPE_NONE ? graft_dtype_name(dtype) : NULL));
    set(writer, object, "sources", sources_json(writer, binding));
    set(writer, object, "operations", graft_json_new_string(operations.length > 0 ? operations.bytes : ""));
    set(writer, object, "copied", graft_json_new_bool(binding->copied));
    set(writer, object, "bytes", graft_json_new_int(binding->bytes));
    append(writer, writer->parameters, object);
    graft_text_free(&operations);
}

static void add_problem(struct writer *writer, const struct graft_binding *binding) {
    const struct graft_parameter *parameter = binding->parameter;
    if (binding->status == GRAFT_BINDING_MISSING) {
        append(writer, writer->missing, graft_json_new_string(parameter->name));
    } else if (binding->status == GRAFT_BINDING_MISMATCHED) {
        graft_json *row = graft_json_new_object();
        set(writer, row, "name", graft_json_new_string(parameter->name));
        set(writer, row, "checkpoint_shape", shape_json(writer, binding->value.shape, binding->value.rank));
        set(writer, row, "model_shape", shape_json(writer, parameter->shape, parameter->rank));
        append(writer, writer->mismatched, row);
    } else if (binding->status == GRAFT_BINDING_FAILED) {
        graft_json *row = graft_json_new_object();
        set(writer, row, "name", graft_json_new_string(parameter->name));
        set(writer, row, "problem", graft_json_new_string(binding->problem));
        append(writer, writer->failures, row);
    }
}

static int visit(void *data, struct graft_node *node, struct graft_error *error) {
    struct writer *writer = data;
    (void)error;
    add_module(writer, node);
    for (size_t i = 0; i < node->n_parameters; i++) {
        const struct graft_binding *binding = &writer->plan->bindings[node->parameters[i]->index];
        if (binding->shared_with == NULL) {
            add_parameter(writer, binding);
        }
        add_problem(writer, binding);
    }
    return GRAFT_OK;
}

static graft_json *plugins_json(struct writer *writer, const struct graft_library *library) {
    graft_json *plugins = graft_json_new_array();
    for (size_t i = 0; library->plugins != NULL && i < library->plugins->n; i++) {
        const struct graft_loaded_plugin *loaded = &library->plugins->plugins[i];
        graft_json *plugin = graft_json_new_object();
        graft_json *patches = graft_json_new_array();
        set(writer, plugin, "id", graft_json_new_string(loaded->descriptor->id));
        set(writer, plugin, "version", graft_json_new_string(loaded->descriptor->version));
        set(writer, plugin, "file", graft_json_new_string(loaded->file));
        for (int32_t j = 0; j < loaded->descriptor->n_replacements; j++) {
            const struct graft_replacement *replacement = graft_plugin_replacement(loaded->descriptor, j);
            graft_json *patch = graft_json_new_object();
            set(writer, patch, "key", graft_json_new_string(replacement->target));
            set(writer, patch, "class", graft_json_new_string(replacement->replacement->name));
            append(writer, patches, patch);
        }
        set(writer, plugin, "patches", patches);
        append(writer, plugins, plugin);
    }
    return plugins;
}

/* Chains of fused modules. */
static graft_json *fused_json(struct writer *writer, const struct graft_chains *fusions) {
    graft_json *fused = graft_json_new_array();
    for (size_t i = 0; i < fusions->count; i++) {
        const struct graft_fused_chain *chain = fusions->items[i];
        graft_json *object = graft_json_new_object();
        graft_json *modules = graft_json_new_array();
        graft_json *classes = graft_json_new_array();
        for (size_t j = 0; j < chain->n; j++) {
            append(writer, modules, graft_json_new_string(chain->modules[j].node->path));
            append(writer, classes, graft_json_new_string(chain->modules[j].node->class_name));
        }
        set(writer, object, "modules", modules);
        set(writer, object, "classes", classes);
        set(writer, object, "implementation",
            graft_json_new_string(chain->implementation != NULL ? chain->implementation->name : NULL));
        set(writer, object, "plugin", graft_json_new_string(chain->plugin));
        append(writer, fused, object);
    }
    return fused;
}

static graft_json *notes_json(struct writer *writer, const struct graft_model *model,
                              const struct graft_library *library) {
    graft_json *notes = graft_json_new_array();
    for (size_t i = 0; graft_library_note(library, i) != NULL; i++) {
        append(writer, notes, graft_json_new_string(graft_library_note(library, i)));
    }
    for (size_t i = 0; graft_model_note(model, i) != NULL; i++) {
        append(writer, notes, graft_json_new_string(graft_model_note(model, i)));
    }
    return notes;
}

graft_json *graft_report_json(const struct graft_model *model, const struct graft_library *library) {
    struct writer writer = {
        .modules = graft_json_new_array(),
        .parameters = graft_json_new_array(),
        .missing = graft_json_new_array(),
        .mismatched = graft_json_new_array(),
        .failures = graft_json_new_array(),
        .plan = model->plan,
    };
    struct graft_writer offers = {0};
    graft_json *document = graft_json_new_object();
    graft_json *unexpected = graft_json_new_array();
    (void)graft_tree_walk(model->tree, visit, &writer, NULL);
    for (size_t i = 0; i < model->plan->n_unexpected; i++) {
        append(&writer, unexpected, graft_json_new_string(model->plan->unexpected[i]->name));
    }
    set(&writer, document, "model_type", graft_json_new_string(model->config->model_type));
    set(&writer, document, "architecture", graft_json_new_string(model->tree->root->class_name));
    set(&writer, document, "modules", writer.modules);
    set(&writer, document, "parameters", writer.parameters);
    set(&writer, document, "missing", writer.missing);
    set(&writer, document, "unexpected", unexpected);
    set(&writer, document, "mismatched", writer.mismatched);
    set(&writer, document, "conversion_errors", writer.failures);
    set(&writer, document, "copied_bytes", graft_json_new_int(model->plan->copied_bytes));
    set(&writer, document, "computed_bytes", graft_json_new_int(model->plan->computed_bytes));
    set(&writer, document, "peak_anonymous_bytes", graft_json_new_int(model->plan->peak_anonymous_bytes));
    set(&writer, document, "mapped_bytes", graft_json_new_int(model->plan->mapped_bytes));
    set(&writer, document, "fusion", graft_report_fusion_json(model->tree));
    set(&writer, document, "chains", fused_json(&writer, &model->fusions));
    graft_report_implementations_json(&offers, document, model);
    set(&writer, document, "plugins", plugins_json(&writer, library));
    set(&writer, document, "notes", notes_json(&writer, model, library));
    if (writer.failed || offers.failed) {
        graft_json_free(document);
        return NULL;
    }
    return document;
}
