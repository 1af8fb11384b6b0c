/* SPDX-License-Identifier: Apache-2.0 */
/* The message about a parameter that a model cannot run without: where and why, and which tensors near it are
 * unused. */
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/text.h"
#include "config/quantization.h"
#include "plan/lookup.h"
#include "plan/plan.h"

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

/* The file that the parameter's first element comes from; the model's directory where that is not known. */
static const char *place_of(const struct graft_plan *plan, const struct graft_binding *binding) {
    const struct graft_tensor_view *tensor = binding->value.n_parts > 0 ? binding->value.parts[0].tensor : NULL;
    return tensor != NULL && tensor->computed == NULL ? tensor->file : graft_checkpoint_directory(plan->checkpoint);
}

static void add_cause(const struct graft_binding *binding, struct graft_text *text) {
    const struct graft_parameter *parameter = binding->parameter;
    size_t length = strlen(parameter->name);
    char shape[GRAFT_SHAPE_TEXT];
    graft_text_printf(text, "%s: ", parameter->name);
    if (binding->status == GRAFT_BINDING_MISSING) {
        graft_text_add_string(text, "missing, the checkpoint has no tensor for this parameter");
    } else if (binding->status == GRAFT_BINDING_MISMATCHED) {
        graft_text_printf(text, "expected %s, but %s", graft_shape_text(parameter->shape, parameter->rank, shape),
                          binding->problem);
    } else {
        int named = strncmp(binding->problem, parameter->name, length) == 0 && binding->problem[length] == ':';
        graft_text_add_string(text, named ? binding->problem + length + strlen(": ") : binding->problem);
    }
}

/* Names some of the tensors below a module that nothing took, and counts the others. Returns their number. */
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

/* The module's; or else, since one in another layout may have other children, those of the module around it. */
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

/* Where Model Optimizer says how it quantized weights; its older versions, only there. */
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
