/* SPDX-License-Identifier: Apache-2.0 */
/* Publishes the parameters for graft/host/plan.h. */
#include <string.h>

#include "base/fail.h"
#include "library/library.h"

static int32_t status_of(const struct graft_binding *binding) {
    static const int32_t statuses[] = {
        [GRAFT_BINDING_MISSING] = GRAFT_PLANNED_MISSING, [GRAFT_BINDING_FOUND] = GRAFT_PLANNED_FOUND,
        [GRAFT_BINDING_TIED] = GRAFT_PLANNED_TIED,       [GRAFT_BINDING_INITIAL] = GRAFT_PLANNED_INITIAL,
        [GRAFT_BINDING_ABSENT] = GRAFT_PLANNED_ABSENT,   [GRAFT_BINDING_MISMATCHED] = GRAFT_PLANNED_MISMATCHED,
        [GRAFT_BINDING_FAILED] = GRAFT_PLANNED_FAILED,
    };
    return statuses[binding->status];
}

static uint32_t converted_by(const struct graft_binding *binding) {
    uint32_t list = binding->by_patch ? GRAFT_CONVERTED_BY_PATCH : GRAFT_CONVERTED_BY_LIST;
    return (binding->transform != NULL ? list : 0u) | (binding->conversion != NULL ? GRAFT_CONVERTED_BY_CLASS : 0u);
}

/* The names of a value's tensors, including those it is computed from by custom operations; in order, without repeating
 * a name that was just added. */
struct sources {
    const char **names; /* NULL: names are only counted */
    size_t n;
    const struct graft_tensor_view *last;
};

static void add_sources(struct sources *sources, const struct graft_value *value) {
    for (size_t i = 0; i < value->n_parts; i++) {
        const struct graft_tensor_view *tensor = value->parts[i].tensor;
        for (int32_t k = 0; tensor->computed != NULL && k < tensor->computed->n_inputs; k++) {
            add_sources(sources, &tensor->computed->inputs[k]);
        }
        if (tensor->computed == NULL && tensor != sources->last) {
            if (sources->names != NULL) {
                sources->names[sources->n] = tensor->name;
            }
            sources->n++;
            sources->last = tensor;
        }
    }
}

static int set_sources(struct graft_model *model, const struct graft_value *value,
                       struct graft_planned_parameter *shown) {
    struct sources counted = {0}, named = {0};
    add_sources(&counted, value);
    named.names = graft_arena_take(&model->published.arena, counted.n, sizeof *named.names);
    if (named.names == NULL) {
        return -1;
    }
    add_sources(&named, value);
    shown->sources = named.names;
    shown->n_sources = named.n;
    return 0;
}

static int set_operations(struct graft_model *model, const struct graft_binding *binding,
                          struct graft_planned_parameter *shown) {
    struct graft_text text = {0};
    graft_binding_operations(binding, &text);
    shown->operations = text.length > 0 && !text.failed ? graft_arena_strdup(&model->published.arena, text.bytes) : "";
    int failed = text.failed || shown->operations == NULL;
    graft_text_free(&text);
    return failed ? -1 : 0;
}

static const struct graft_planned_parameter *shown_of(const struct graft_model *model,
                                                      const struct graft_binding *binding) {
    return binding != NULL ? &model->published.parameters[binding - model->plan->bindings] : NULL;
}

/* Whether a custom operation makes some of the value. */
static int32_t is_computed(const struct graft_value *value) {
    for (size_t i = 0; i < value->n_parts; i++) {
        if (value->parts[i].tensor->computed != NULL) {
            return 1;
        }
    }
    return 0;
}

static int fill(struct graft_model *model, const struct graft_binding *binding, struct graft_planned_parameter *shown) {
    const struct graft_parameter *parameter = binding->parameter;
    const struct graft_binding *source = binding->status == GRAFT_BINDING_TIED ? binding->tied_to : binding;
    *shown = (struct graft_planned_parameter){
        .struct_size = sizeof *shown,
        .status = status_of(binding),
        .name = parameter->name,
        .own_name = parameter->own_name,
        .module = graft_published_module(model, parameter->node),
        .rank = parameter->rank,
        .dtype = source->dtype,
        .init = parameter->init,
        .flags = parameter->flags,
        .converter = graft_published_module(model, binding->site),
        .converted_by = converted_by(binding),
        .tied_to = shown_of(model, binding->tied_to),
        .shared_with = shown_of(model, binding->shared_with),
        .bytes = binding->bytes,
        .copied = binding->copied,
        .source_rank = source->value.rank,
        .problem = binding->problem,
        .computed = is_computed(&source->value),
    };
    memcpy(shown->shape, parameter->shape, sizeof shown->shape);
    memcpy(shown->source_shape, source->value.shape, sizeof shown->source_shape);
    return set_sources(model, &source->value, shown) != 0 || set_operations(model, binding, shown) != 0 ? -1 : 0;
}

/* Assigns parameters to modules; both are in the same order. */
static void share_out(struct graft_model *model, const struct graft_planned_parameter *const *pointers) {
    for (size_t i = 0; i < model->plan->n_bindings; i++) {
        const struct graft_node *node = model->plan->bindings[i].parameter->node;
        struct graft_named_module *module = &model->published.modules[node->index];
        module->parameters = module->n_parameters > 0 ? module->parameters : &pointers[i];
        module->n_parameters++;
    }
}

int graft_publish_parameters(struct graft_model *model, struct graft_error *error) {
    struct graft_published *published = &model->published;
    size_t n = model->plan->n_bindings;
    const struct graft_planned_parameter **pointers = graft_arena_take(&published->arena, n, sizeof *pointers);
    published->parameters = graft_arena_take(&published->arena, n, sizeof *published->parameters);
    int failed = pointers == NULL || published->parameters == NULL;
    for (size_t i = 0; i < n && !failed; i++) {
        failed = fill(model, &model->plan->bindings[i], &published->parameters[i]) != 0;
        pointers[i] = &published->parameters[i];
    }
    if (failed) {
        return graft_fail_memory(error, model->directory);
    }
    share_out(model, pointers);
    published->plan.parameters = pointers;
    published->plan.n_parameters = n;
    return GRAFT_OK;
}
