/* SPDX-License-Identifier: Apache-2.0 */
#include "save/content.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "save/undo.h"

/* Whether the binding has a weight of its own; a parameter that is tied to another one has none. */
static int has_weight(const struct graft_binding *binding) {
    return binding->status == GRAFT_BINDING_FOUND || binding->status == GRAFT_BINDING_INITIAL;
}

static void add_parameter(struct save_content *content, const struct graft_binding *binding) {
    const struct graft_weight *weight = binding->parameter->weight;
    content->bindings[content->n_parameters] = binding;
    content->parameters[content->n_parameters] = (struct save_source){.weight = weight, .order = content->n_parameters};
    content->n_parameters++;
    content->elements += binding->shared_with != NULL ? 0 : weight->rows * weight->columns;
}

int graft_content_init(const struct graft_plan *plan, struct save_content *content, struct graft_error *error) {
    size_t n_stored = graft_checkpoint_count(plan->checkpoint), n_computed = 0;
    for (size_t i = 0; i < plan->n_computed; i++) {
        n_computed += (size_t)plan->computed[i]->n_outputs;
    }
    *content = (struct save_content){
        .parameters = graft_alloc(plan->n_bindings, sizeof *content->parameters),
        .bindings = graft_alloc(plan->n_bindings, sizeof(struct graft_binding *)),
        .stored = graft_alloc(n_stored, sizeof *content->stored),
        .computed = graft_alloc(n_computed, sizeof *content->computed),
    };
    if (content->parameters == NULL || content->bindings == NULL || content->stored == NULL ||
        content->computed == NULL) {
        graft_save_content_finish(content);
        return graft_fail_memory(error, "");
    }
    for (size_t i = 0; i < plan->n_bindings; i++) {
        if (has_weight(&plan->bindings[i])) {
            add_parameter(content, &plan->bindings[i]);
        }
    }
    for (size_t i = 0; i < n_stored; i++) {
        content->stored[i] = (struct save_source){.view = graft_checkpoint_at(plan->checkpoint, i), .order = SIZE_MAX};
    }
    struct save_source *next = content->computed;
    for (size_t i = 0; i < plan->n_computed; i++) {
        for (int32_t k = 0; k < plan->computed[i]->n_outputs; k++) {
            *next++ = (struct save_source){.view = &plan->computed[i]->outputs[k], .order = SIZE_MAX};
        }
    }
    return GRAFT_OK;
}

const struct save_source *graft_content_source(const struct save_content *content, const struct graft_plan *plan,
                                               const struct graft_tensor_view *tensor) {
    const struct save_source *first = content->computed;
    if (tensor->computed == NULL) {
        return &content->stored[graft_checkpoint_lower_bound(plan->checkpoint, tensor->name)];
    }
    for (size_t i = 0; plan->computed[i] != tensor->computed; i++) {
        first += plan->computed[i]->n_outputs;
    }
    return first + (tensor - tensor->computed->outputs);
}

int graft_content_add_tensor(struct save_content *content, const struct journal_tensor *form) {
    if (graft_grow(&content->tensors, &content->capacity, content->n_tensors, sizeof *content->tensors) != 0) {
        return -1;
    }
    struct save_tensor *tensor = &content->tensors[content->n_tensors++];
    *tensor = (struct save_tensor){.form = *form, .bytes = form->count * graft_stored_dtype_unit(form->dtype)};
    content->bytes += tensor->bytes;
    return 0;
}

int graft_content_add_part(struct save_tensor *tensor, const struct save_part *part) {
    struct save_part *last = tensor->n_parts > 0 ? &tensor->parts[tensor->n_parts - 1] : NULL;
    if (last != NULL && last->source == part->source && graft_box_join(&last->box, &part->box)) {
        return 0;
    }
    if (graft_grow(&tensor->parts, &tensor->capacity, tensor->n_parts, sizeof *part) != 0) {
        return -1;
    }
    tensor->parts[tensor->n_parts++] = *part;
    return 0;
}

void graft_save_content_finish(struct save_content *content) {
    for (size_t i = 0; i < content->n_tensors; i++) {
        graft_free(content->tensors[i].parts);
    }
    for (size_t i = 0; i < content->n_made; i++) {
        graft_save_made_finish(&content->made[i]);
    }
    graft_free(content->made);
    graft_free(content->tensors);
    graft_free(content->parameters);
    graft_free(content->bindings);
    graft_free(content->stored);
    graft_free(content->computed);
    *content = (struct save_content){0};
}
