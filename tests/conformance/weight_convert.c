/* SPDX-License-Identifier: Apache-2.0 */
/* weight_transforms.json, type `convert`: one converter, forward and reversed. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "operation_reverse.h"
#include "tensors.h"
#include "weight_transforms.h"

/* One direction of a case. */
struct direction {
    const graft_json *row;
    const struct case_transform *transform;
    int back; /* from targets to sources: the shapes are those of the inputs */
};

/* `layer_name` with the first target's pattern replaced by another, and its `*` by an index (-1: left). */
static const char *full_name(const struct direction *direction, const char *pattern, int64_t index, char *name) {
    const char *layer = text_at(direction->row, "layer_name"), *first = direction->transform->targets[0];
    const char *found = strstr(layer, first);
    char own[CASE_NAME];
    (void)snprintf(own, sizeof own, "%.*s%s%s", found != NULL ? (int)(found - layer) : 0, layer, pattern,
                   found != NULL ? found + strlen(first) : "");
    const char *star = index >= 0 ? strchr(own, '*') : NULL;
    (void)snprintf(name, CASE_NAME, "%.*s", star != NULL ? (int)(star - own) : CASE_NAME - 1, own);
    if (star != NULL) {
        size_t length = strlen(name);
        (void)snprintf(name + length, CASE_NAME - length, "%lld%s", (long long)index, star + 1);
    }
    return name;
}

static const graft_json *inputs_of(const struct direction *direction, int32_t source) {
    return graft_json_get(graft_json_get(direction->row, "inputs"), direction->transform->sources[source]);
}

static const struct graft_tensor_view *input_of(const struct direction *direction, int32_t source, size_t i) {
    return tensors_find(graft_json_string(graft_json_at(inputs_of(direction, source), i), NULL));
}

static int32_t target_shape(void *data, int32_t target, int64_t shape[GRAFT_MAX_RANK]) {
    const struct direction *direction = data;
    char name[CASE_NAME];
    if (direction->back) {
        const struct graft_tensor_view *input = input_of(direction, target, 0);
        memcpy(shape, input->shape, sizeof input->shape);
        return input->rank;
    }
    const graft_json *sizes = graft_json_get(graft_json_get(direction->row, "param_shapes"),
                                             full_name(direction, direction->transform->targets[target], -1, name));
    for (size_t i = 0; i < GRAFT_MAX_RANK; i++) {
        shape[i] = i < graft_json_size(sizes) ? graft_json_int(graft_json_at(sizes, i)) : 1;
    }
    return sizes != NULL ? (int32_t)graft_json_size(sizes) : -1;
}

static int config_number(void *data, const char *part, const char *field, int64_t *number) {
    const struct direction *direction = data;
    const graft_json *config = graft_json_get(direction->row, "config");
    const graft_json *inner = part != NULL ? graft_json_get(config, part) : NULL;
    const graft_json *value = graft_json_get(inner != NULL ? inner : config, field);
    *number = graft_json_int(value);
    return graft_json_type(value) == GRAFT_JSON_INT ? 0 : -1;
}

static enum graft_operation_fault run(struct direction *direction, struct graft_value_list **lists, size_t *n,
                                      struct graft_error *error) {
    const struct case_transform *transform = direction->transform;
    struct graft_operation reversed[CASE_OPERATIONS];
    enum graft_operation_fault fault;
    for (int32_t i = 0; i < transform->n_operations; i++) {
        reversed[transform->n_operations - 1 - i] = operation_reverse(&transform->operations[i]);
    }
    const struct graft_operations operations = {
        .items = direction->back ? reversed : transform->operations,
        .count = transform->n_operations,
        .stride = sizeof transform->operations[0],
        .place = "case",
        .sources = direction->back ? transform->targets : transform->sources,
        .targets = direction->back ? transform->sources : transform->targets,
        .n_targets = direction->back ? transform->n_sources : transform->n_targets,
        .data = direction,
        .target_shape = target_shape,
        .config_number = config_number,
    };
    if (direction->back || graft_operations_check(&operations, transform->n_sources, &fault, error) == GRAFT_OK) {
        (void)graft_operations_run(&operations, lists, n, &fault, error);
    }
    return fault;
}

static int gather(const struct direction *direction, struct graft_value_list *lists, struct graft_text *why) {
    struct graft_error error = graft_error_none();
    for (int32_t i = 0; i < direction->transform->n_sources; i++) {
        size_t count = graft_json_size(inputs_of(direction, i));
        lists[i].items = graft_alloc(count, sizeof *lists[i].items);
        for (size_t k = 0; lists[i].items != NULL && k < count; k++) {
            const struct graft_tensor_view *tensor = input_of(direction, i, k);
            if (tensor == NULL || graft_value_of(tensor, &lists[i].items[k], &error) != GRAFT_OK) {
                (void)fail(why, "there is no tensor for %s", direction->transform->sources[i]);
                return -1;
            }
            lists[i].count++;
        }
    }
    return 0;
}

/* The fault for which we refuse what the reference converts in a way of its own, judged by the case's content;
 * GRAFT_FAULT_NONE if there is none. */
static enum graft_operation_fault deviation(const struct direction *direction) {
    const struct case_transform *transform = direction->transform;
    const struct graft_operation *first = &transform->operations[0];
    for (int32_t i = 0; i < transform->n_sources; i++) {
        if (graft_json_size(inputs_of(direction, i)) == 0) {
            return GRAFT_FAULT_SOURCE_ABSENT;
        }
    }
    if (transform->n_operations == 0 || first->kind != GRAFT_OP_CHUNK || first->num_shards_attribute != NULL) {
        return GRAFT_FAULT_NONE;
    }
    if (graft_json_size(inputs_of(direction, 0)) > 1) {
        return GRAFT_FAULT_SINGLE_EXPECTED;
    }
    const struct graft_tensor_view *input = input_of(direction, 0, 0);
    int64_t dim = first->dim < 0 ? first->dim + input->rank : first->dim;
    return dim < input->rank && input->shape[dim] % transform->n_targets != 0 ? GRAFT_FAULT_SPLIT_SIZES
                                                                              : GRAFT_FAULT_NONE;
}

static void compare_outputs(const struct direction *direction, const struct graft_value_list *lists, size_t n,
                            struct graft_text *why) {
    const graft_json *outputs = graft_json_get(direction->row, "outputs");
    size_t found = 0;
    for (size_t i = 0; i < n; i++) {
        const char *pattern = direction->transform->targets[i];
        for (size_t k = 0; k < lists[i].count; k++, found++) {
            char name[CASE_NAME];
            const char *label = text_at(outputs, full_name(direction, pattern, (int64_t)k, name));
            const struct graft_tensor_view *wanted = tensors_find(label);
            if (wanted == NULL) {
                (void)fail(why, "%s is not among the outputs", name);
                return;
            }
            (void)tensors_same(&lists[i].items[k], wanted, name, why);
        }
    }
    if (found != graft_json_size(outputs)) {
        (void)fail(why, "expected %zu outputs, got %zu", graft_json_size(outputs), found);
    }
}

/* Reversing gives the inputs again, whatever the reference makes of it. */
static void compare_back(const struct direction *direction, const struct graft_value_list *lists, size_t n,
                         struct graft_text *why, int *differs) {
    const graft_json *recorded = graft_json_get(direction->row, "reverse_outputs");
    for (size_t i = 0; i < n && why->length == 0; i++) {
        if (lists[i].count != graft_json_size(inputs_of(direction, (int32_t)i))) {
            (void)fail(why, "reversed: %zu tensors for %s", lists[i].count, direction->transform->sources[i]);
        }
        for (size_t k = 0; k < lists[i].count && why->length == 0; k++) {
            char name[CASE_NAME];
            const struct graft_tensor_view *input = input_of(direction, (int32_t)i, k);
            (void)full_name(direction, direction->transform->sources[i], (int64_t)k, name);
            (void)tensors_same(&lists[i].items[k], input, name, why);
            const struct graft_tensor_view *theirs = tensors_find(text_at(recorded, name));
            *differs = *differs || theirs == NULL || !tensors_equal(theirs, input);
        }
    }
}

static enum verdict judge_fault(const struct direction *direction, enum graft_operation_fault fault,
                                const struct graft_error *error, struct graft_text *why) {
    const char *recorded = text_at(graft_json_get(direction->row, "error"), "kind");
    if (strcmp(recorded, case_fault_kind(fault)) == 0) {
        return PASSED;
    }
    if (recorded[0] == '\0' && fault == deviation(direction)) {
        deviate(why, error->message);
        return DEVIATION;
    }
    return fail(why, "expected %s, got %s: %s", recorded[0] != '\0' ? recorded : "outputs", case_fault_kind(fault),
                error->message);
}

static enum verdict judge_outputs(struct direction *direction, struct graft_value_list **lists, size_t *n,
                                  struct graft_text *why) {
    const graft_json *row = direction->row;
    struct graft_error error = graft_error_none();
    int differs = 0;
    if (graft_json_get(row, "error") != NULL) {
        return fail(why, "expected %s, got outputs", text_at(graft_json_get(row, "error"), "kind"));
    }
    compare_outputs(direction, *lists, *n, why);
    if (why->length > 0 ||
        (graft_json_get(row, "reverse_outputs") == NULL && graft_json_get(row, "reverse_error") == NULL)) {
        return why->length > 0 ? FAILED : PASSED;
    }
    direction->back = 1;
    if (run(direction, lists, n, &error) != GRAFT_FAULT_NONE) {
        return fail(why, "reversed: %s", error.message);
    }
    compare_back(direction, *lists, *n, why, &differs);
    if (why->length > 0 || !differs) {
        return why->length > 0 ? FAILED : PASSED;
    }
    deviate(why, "reversing gives back what was there");
    return DEVIATION;
}

enum verdict convert_judge(const graft_json *row, struct graft_text *why) {
    struct case_transform transform;
    struct graft_error error = graft_error_none();
    struct direction direction = {row, &transform, 0};
    if (case_transform_read(graft_json_get(row, "transform"), &transform, why) != 0) {
        return FAILED;
    }
    size_t n = (size_t)transform.n_sources;
    struct graft_value_list *lists = graft_alloc(n, sizeof *lists);
    enum verdict verdict = FAILED;
    if (lists != NULL && gather(&direction, lists, why) == 0) {
        enum graft_operation_fault fault = run(&direction, &lists, &n, &error);
        verdict = fault != GRAFT_FAULT_NONE ? judge_fault(&direction, fault, &error, why)
                                            : judge_outputs(&direction, &lists, &n, why);
    }
    for (size_t i = 0; i < n; i++) {
        graft_value_list_free(&lists[i]);
    }
    graft_free(lists);
    return verdict;
}
