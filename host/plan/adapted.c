/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters of the model that an adapter replaces by values of its own, which PEFT loads into the model. */
#include <string.h>

#include "base/fail.h"
#include "graft/convert.h"
#include "names/name.h"
#include "plan/convert.h"

static int is_of_adapter(const char *name) {
    static const char of_adapter[] = "adapter.";
    return strncmp(name, of_adapter, strlen(of_adapter)) == 0;
}

int graft_conversion_is_of_adapter(const struct graft_conversion *conversion) {
    int found = 0;
    for (int32_t i = 0; i < conversion->n_sources && !is_of_adapter(conversion->targets[0]); i++) {
        found |= conversion->n_operations > 0 && is_of_adapter(conversion->sources[i]);
    }
    return found;
}

/* Whether the conversion's only source is one tensor of an adapter. */
static int takes_one(const struct graft_conversion *conversion) {
    return conversion->n_sources == 1 && conversion->n_targets == 1;
}

static int is_float(graft_dtype dtype) {
    return dtype == GRAFT_DTYPE_F32 || dtype == GRAFT_DTYPE_F16 || dtype == GRAFT_DTYPE_BF16;
}

/* Whether two tensors hold the same numbers, possibly in different types. */
static int are_equal(const struct graft_tensor_view *a, const struct graft_tensor_view *b) {
    if (a == b) {
        return 1;
    }
    if (a->data == NULL || b->data == NULL || a->rank != b->rank ||
        memcmp(a->shape, b->shape, (size_t)a->rank * sizeof a->shape[0]) != 0) {
        return 0;
    }
    if (a->dtype == b->dtype) {
        return memcmp(a->data, b->data, (size_t)a->bytes) == 0;
    }
    int64_t n = is_float(a->dtype) && is_float(b->dtype) ? 1 : 0, i = 0;
    for (int32_t k = 0; k < a->rank; k++) {
        n *= a->shape[k];
    }
    while (i < n && graft_f32_at(a->data, a->dtype, i) == graft_f32_at(b->data, b->dtype, i)) {
        i++;
    }
    return i == n && n > 0;
}

/* The binding from which the parameter takes its weight: its own if it has a value, or one that it is tied to; NULL if
 * none has a value. */
static struct graft_binding *find_value(const struct graft_plan *plan, struct graft_binding *binding) {
    const struct graft_parameter *parameter = binding->parameter;
    if (binding->status == GRAFT_BINDING_FOUND) {
        return binding;
    }
    for (size_t i = 0; i < plan->n_bindings; i++) {
        struct graft_binding *other = &plan->bindings[i];
        if (other->status == GRAFT_BINDING_FOUND &&
            (other->parameter == parameter->tied_to || other->parameter->tied_to == parameter)) {
            return other;
        }
    }
    return NULL;
}

/* The tensor that is the conversion's only source. */
static const struct graft_tensor_view *find_source(const struct conversion_site *site) {
    const struct graft_conversion *renaming;
    char source[GRAFT_NAME_BYTES];
    const struct graft_source *found =
        takes_one(site->conversion) && graft_name_below(site->node->path, site->conversion->sources[0], source)
            ? graft_lookup_find(site->lookup, source, &renaming)
            : NULL;
    return found != NULL ? found->view : NULL;
}

int graft_conversion_check_tied(const struct conversion_site *site, struct graft_error *error) {
    const struct graft_tree *tree = site->lookup->tree;
    const struct graft_tensor_view *tensor = tree != NULL ? find_source(site) : NULL;
    char target[GRAFT_NAME_BYTES];
    if (tensor == NULL || !graft_name_below(site->node->path, site->conversion->targets[0], target)) {
        return GRAFT_OK;
    }
    for (size_t i = 0; i < tree->n_tied_names; i++) {
        const struct graft_parameter *other = strcmp(tree->tied_names[i].name, target) == 0
                                                  ? graft_node_find_parameter(tree->root, tree->tied_names[i].tensor)
                                                  : NULL;
        const struct graft_tensor_view *has =
            other != NULL ? graft_binding_tensor(graft_plan_binding(site->plan, other)) : NULL;
        if (other != NULL && (has == NULL || !are_equal(tensor, has))) {
            return graft_error_set(error, GRAFT_ERROR_MODEL, tensor->name,
                                   "has other values than %s, which is tied to it: not done where a plugin makes "
                                   "something else of one of the two",
                                   other->name);
        }
    }
    return GRAFT_OK;
}

int graft_conversion_replace(struct conversion_site *site, int *is_same, struct graft_error *error) {
    char target[GRAFT_NAME_BYTES];
    struct graft_parameter *parameter = graft_name_indexed(site->conversion->targets[0], 0, target)
                                            ? graft_node_find_parameter(site->node, target)
                                            : NULL;
    struct graft_binding *own = parameter != NULL ? graft_plan_binding(site->plan, parameter) : NULL;
    if (own == NULL) {
        return GRAFT_OK;
    }
    const struct graft_tensor_view *tensor = find_source(site);
    const struct graft_binding *present = find_value(site->plan, own);
    const struct graft_tensor_view *has = present != NULL ? graft_binding_tensor(present) : NULL;
    if (tensor != NULL && has != NULL && are_equal(tensor, has)) {
        graft_sources_find(site->lookup->sources, tensor->name)->used = 1;
        *is_same = 1;
        return GRAFT_OK;
    }
    if (own->from_adapter) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, parameter->name,
                               "two adapters have other values for it, and not the same: load one of them");
    }
    graft_binding_give_back(own);
    own->replaced = own->replaced != NULL ? own->replaced : has;
    return GRAFT_OK;
}

/* Whether the adapter replaces the parameter's tensor. */
static int is_replaced(const struct graft_binding *binding) {
    return binding->from_adapter && takes_one(binding->conversion);
}

/* Whether the adapter's tensor is a "base_layer" weight, which tied parameters share. Modules that are saved whole
 * share nothing. */
static int is_base_layer(const struct graft_binding *binding) {
    return is_replaced(binding) && strstr(binding->conversion->sources[0], ".base_layer.") != NULL;
}

/* Whether the one parameter has the weight that the other had before an adapter replaced it. */
static int was_same(const struct graft_binding *plain, const struct graft_binding *changed) {
    const struct graft_tensor_view *tensor = graft_binding_tensor(plain);
    return tensor != NULL && changed->replaced != NULL && are_equal(tensor, changed->replaced);
}

void graft_plan_follow_adapters(struct graft_plan *plan) {
    for (size_t i = 0; i < plan->n_bindings; i++) {
        struct graft_binding *head = &plan->bindings[i];
        struct graft_binding *embedding =
            head->parameter->tied_to != NULL ? graft_plan_binding(plan, head->parameter->tied_to) : NULL;
        if (embedding == NULL || head->status != GRAFT_BINDING_FOUND || embedding->status != GRAFT_BINDING_FOUND) {
            continue;
        }
        if (embedding->from_adapter && !head->from_adapter && was_same(head, embedding)) {
            graft_binding_give_back(head);
        } else if (is_replaced(head) && ((is_base_layer(head) && is_base_layer(embedding)) ||
                                         (!embedding->from_adapter && was_same(embedding, head)))) {
            graft_binding_give_back(embedding);
        }
    }
}
