/* SPDX-License-Identifier: Apache-2.0 */
/* The message about a parameter at fault: where it is, why the model cannot run, and which tensors near it are
 * unused. */
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/text.h"
#include "config/quantization.h"
#include "plan/lookup.h"
#include "plan/plan.h"
#include "plan/sources.h"

enum { MAX_NAMED = 4 };

const struct graft_binding *graft_plan_fault(const struct graft_plan *plan,
                                             int (*may_lack)(void *data, const char *name), void *data) {
    for (size_t i = 0; i < plan->n_bindings; i++) {
        const struct graft_binding *binding = &plan->bindings[i];
        int missing =
            binding->status == GRAFT_BINDING_MISSING && (may_lack == NULL || !may_lack(data, binding->parameter->name));
        if (missing || binding->status == GRAFT_BINDING_FAILED || binding->status == GRAFT_BINDING_MISMATCHED) {
            return binding;
        }
    }
    return NULL;
}

/* The file of a value's first element; NULL if it is unknown. */
static const char *file_of(const struct graft_value *value) {
    const struct graft_tensor_view *tensor = value->n_parts > 0 ? value->parts[0].tensor : NULL;
    while (tensor != NULL && tensor->computed != NULL) {
        value = tensor->computed->n_inputs > 0 ? &tensor->computed->inputs[0] : NULL;
        tensor = value != NULL && value->n_parts > 0 ? value->parts[0].tensor : NULL;
    }
    return tensor != NULL ? tensor->file : NULL;
}

/* The source of the error: the patch file whose conversion failed, the file of the parameter's tensor, the file of a
 * single-file checkpoint, or the model directory. */
static const char *place_of(const struct graft_plan *plan, const struct graft_binding *binding) {
    const struct graft_checkpoint *checkpoint = plan->checkpoint;
    const struct graft_tensor_view *own = graft_checkpoint_find(checkpoint, binding->parameter->name);
    const char *file = file_of(&binding->value);
    if (binding->status == GRAFT_BINDING_FAILED && binding->by_patch && plan->patch_file != NULL) {
        return plan->patch_file;
    }
    file = file == NULL && own != NULL ? own->file : file;
    if (file == NULL && graft_checkpoint_file_count(checkpoint) == 1) {
        file = graft_checkpoint_file_at(checkpoint, 0)->path;
    }
    return file != NULL ? file : graft_checkpoint_directory(checkpoint);
}

const char *graft_plan_file_of(const struct graft_plan *plan, const char *name) {
    size_t length = strlen(name);
    for (size_t i = 0; i < plan->n_bindings && length > 0; i++) {
        const struct graft_binding *binding = &plan->bindings[i];
        const char *parameter = binding->parameter->name;
        if (strncmp(parameter, name, length) == 0 && (parameter[length] == '.' || parameter[length] == '\0')) {
            const char *file = file_of(&binding->value);
            if (file != NULL) {
                return file;
            }
        }
    }
    return NULL;
}

/* `problem` without a leading `name`. */
static const char *unnamed(const char *problem, const char *name) {
    size_t length = strlen(name);
    return strncmp(problem, name, length) == 0 && problem[length] == ':' ? problem + length + strlen(": ") : problem;
}

/* The conversion that would make a parameter: of the nearest class, from its module upwards, that has it as a
 * target. */
static const struct graft_conversion *conversion_to(const struct graft_parameter *parameter) {
    for (const struct graft_node *node = parameter->node; node != NULL; node = node->parent) {
        const struct graft_class *cls = node->described_by != NULL ? node->described_by->cls : NULL;
        size_t length = strlen(node->path);
        const char *target = parameter->name + length + (length > 0);
        for (int32_t i = 0; cls != NULL && i < cls->n_conversions; i++) {
            const struct graft_conversion *conversion = graft_class_conversion(cls, i);
            for (int32_t k = 0; k < conversion->n_targets; k++) {
                if (strcmp(conversion->targets[k], target) == 0) {
                    return conversion;
                }
            }
        }
    }
    return NULL;
}

/* Says which tensors a parameter would be made of that has none. */
static void add_absent_sources(const struct graft_parameter *parameter, struct graft_text *text) {
    const struct graft_conversion *conversion = conversion_to(parameter);
    for (int32_t i = 0; conversion != NULL && i < conversion->n_sources; i++) {
        graft_text_printf(text, "%s%s", i > 0 ? ", " : ", and none of those it is made of: ", conversion->sources[i]);
    }
}

static void add_cause(const struct graft_binding *binding, struct graft_text *text) {
    const struct graft_parameter *parameter = binding->parameter;
    char shape[GRAFT_SHAPE_TEXT];
    graft_text_printf(text, "%s: ", parameter->name);
    if (binding->status == GRAFT_BINDING_MISSING) {
        graft_text_add_string(text, "missing, the checkpoint has no tensor for this parameter");
        add_absent_sources(parameter, text);
    } else if (binding->status == GRAFT_BINDING_MISMATCHED) {
        graft_text_printf(text, "expected %s, but %s", graft_shape_text(parameter->shape, parameter->rank, shape),
                          binding->problem);
    } else {
        graft_text_add_string(text, unnamed(binding->problem, parameter->name));
    }
}

/* Names some of the unused tensors below a module, and counts the others. Returns how many there are. */
static size_t add_unused(const struct graft_plan *plan, const struct lookup *lookup, const struct graft_node *node,
                         struct graft_text *text) {
    size_t n = 0;
    for (size_t i = 0; i < plan->n_unexpected; i++) {
        const char *name = plan->unexpected[i]->name;
        if (node->path[0] != '\0' && !graft_lookup_is_below(lookup, node->path, name)) {
            continue;
        }
        if (n == 0) {
            graft_text_printf(text, "; unused tensors of %s: %.100s", node->path[0] != '\0' ? node->path : "the model",
                              name);
        } else if (n < MAX_NAMED) {
            graft_text_printf(text, ", %.100s", name);
        }
        n++;
    }
    if (n > MAX_NAMED) {
        graft_text_printf(text, " and %zu more", n - MAX_NAMED);
    }
    return n;
}

/* Adds the unused tensors of the module or, if there are none, of its parent, since another layout may have other
 * children. */
static int add_neighbours(const struct graft_plan *plan, const struct graft_node *node, struct graft_text *text,
                          struct graft_error *error) {
    struct lookup lookup = {.sources = plan->sources, .prefix = plan->base_model_prefix};
    int status = graft_renamings_collect(plan->tree, &lookup.renamings, error);
    if (status == GRAFT_OK && add_unused(plan, &lookup, node, text) == 0 && node->parent != NULL &&
        node->parent->path[0] != '\0') {
        (void)add_unused(plan, &lookup, node->parent, text);
    }
    graft_renamings_free(&lookup.renamings);
    return status;
}

/* Model Optimizer's file about quantization; its older versions write nothing to config.json */
static const char model_optimizer_file[] = "hf_quant_config.json";

static int has_file(const struct graft_plan *plan, const char *name) {
    char *path = graft_path_join(graft_checkpoint_directory(plan->checkpoint), name);
    int has = path != NULL && graft_file_exists(path);
    graft_free(path);
    return has;
}

static void add_quantization(const struct graft_plan *plan, struct graft_text *text) {
    const struct graft_config *config = plan->tree->config != NULL ? &plan->tree->config->view : NULL;
    const char *field = config != NULL ? graft_quantization_field(config) : NULL;
    if (field != NULL) {
        graft_text_printf(text, "; config.json has a %s", field);
    } else if (has_file(plan, model_optimizer_file)) {
        graft_text_printf(text,
                          "; %s says how weights are quantized, but config.json has no quantization_config, with "
                          "quant_method \"modelopt\" and the quant_algo from there",
                          model_optimizer_file);
    }
}

int graft_plan_fail(const struct graft_plan *plan, const struct graft_binding *binding, struct graft_error *error) {
    struct graft_text text = {0};
    add_cause(binding, &text);
    int status = add_neighbours(plan, binding->parameter->node, &text, error);
    add_quantization(plan, &text);
    if (status == GRAFT_OK) {
        status = text.failed ? graft_fail_memory(error, binding->parameter->name)
                             : graft_error_set(error, GRAFT_ERROR_MODEL, place_of(plan, binding), "%s", text.bytes);
    }
    graft_text_free(&text);
    return status;
}

int graft_plan_check_sources(const struct graft_plan *plan, struct graft_error *error) {
    for (size_t i = 0; i < plan->sources->n; i++) {
        const struct graft_source *source = &plan->sources->items[i];
        if (source->problem == NULL || source->used) {
            continue;
        }
        const char *problem = unnamed(source->problem, source->view->name);
        return source->by_patch && plan->patch_file != NULL
                   ? graft_error_set(error, GRAFT_ERROR_MODEL, plan->patch_file, "%s: %s", source->view->name, problem)
                   : graft_error_set(error, GRAFT_ERROR_MODEL, source->view->name, "%s", problem);
    }
    return GRAFT_OK;
}
