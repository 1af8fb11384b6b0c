/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/source_use.h"

#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "names/name.h"

static int compare(const struct source_use *use, const struct key_transform *converter, const char *name) {
    return use->converter != converter ? (use->converter < converter ? -1 : 1) : strcmp(use->name, name);
}

/* The position of a use in `order`, or the one where it belongs. */
static size_t place_of(const struct source_uses *uses, const struct key_transform *converter, const char *name) {
    size_t low = 0, high = uses->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare(&uses->items[uses->order[middle]], converter, name) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static void use_finish(struct source_use *use) {
    graft_conversion_use_finish(&use->use);
    graft_free(use->before);
    graft_free(use->name);
}

/* Inserts a new use at position `at` of the order. */
static int insert(struct source_uses *uses, size_t at, const struct key_transform *converter, int by_patch,
                  const struct key_result *result, struct graft_error *error) {
    const struct graft_weight_transform *given = converter->given;
    const struct graft_tree *tree = uses->tree;
    struct source_use use = {converter, by_patch, graft_strdup(result->name), graft_strdup(result->before), {0}};
    use.use = (struct conversion_use){
        .plan = uses->plan,
        .config = tree->config != NULL ? &tree->config->view : NULL,
        .place = use.name,
        .module = "",
        .operations = given->operations,
        .n_operations = given->n_operations,
        .operation_stride = given->operation_stride,
        .source_names = (const char *const *)converter->patterns.sources,
        .n_sources = converter->patterns.n_sources,
        .target_names = (const char *const *)converter->patterns.targets,
        .n_targets = converter->patterns.n_targets,
    };
    int status = use.name != NULL && use.before != NULL ? graft_conversion_use_begin(&use.use, error)
                                                        : graft_fail_memory(error, result->name);
    if (status == GRAFT_OK && (graft_grow(&uses->items, &uses->capacity, uses->n, sizeof use) != 0 ||
                               graft_grow(&uses->order, &uses->order_capacity, uses->n, sizeof *uses->order) != 0)) {
        status = graft_fail_memory(error, result->name);
    }
    if (status != GRAFT_OK) {
        use_finish(&use);
        return status;
    }
    memmove(&uses->order[at + 1], &uses->order[at], (uses->n - at) * sizeof *uses->order);
    uses->order[at] = uses->n;
    uses->items[uses->n++] = use;
    return GRAFT_OK;
}

int graft_source_uses_add(struct source_uses *uses, const struct key_transform *converter, int by_patch,
                          const struct graft_tensor_view *view, const struct key_result *result,
                          struct graft_error *error) {
    size_t at = place_of(uses, converter, result->name);
    int known = at < uses->n && compare(&uses->items[uses->order[at]], converter, result->name) == 0;
    int status = known ? GRAFT_OK : insert(uses, at, converter, by_patch, result, error);
    return status == GRAFT_OK
               ? graft_gathered_add(&uses->items[uses->order[at]].use.gathered[result->source],
                                    graft_key_transform_index(converter, result->source, result->before), view, error)
               : status;
}

void graft_source_uses_finish(struct source_uses *uses) {
    for (size_t i = 0; i < uses->n; i++) {
        use_finish(&uses->items[i]);
    }
    graft_free(uses->items);
    graft_free(uses->order);
}

/* A use being converted. */
struct converting {
    const struct source_uses *uses;
    char **names; /* [n_targets]: full names, which may contain a `*` */
};

/* The parameter of a full name, or NULL. */
static const struct graft_parameter *find_parameter(const struct graft_tree *tree, const char *name) {
    return graft_node_find_parameter(tree->root, name);
}

int graft_plan_has_parameter(void *data, const char *name) {
    return find_parameter(data, name) != NULL;
}

static const struct graft_parameter *parameter(void *data, int32_t target) {
    const struct converting *converting = data;
    struct graft_tree *tree = converting->uses->tree;
    char name[GRAFT_NAME_BYTES], spelled[GRAFT_NAME_BYTES];
    int known = graft_name_indexed(converting->names[target], 0, name) &&
                graft_name_in_model(converting->uses->prefix, name, graft_plan_has_parameter, tree, spelled);
    return known ? find_parameter(tree, spelled) : NULL;
}

/* Adds a source under a target's name, with a value or with the problem that prevented it (`problem_take`). */
static int add_source(const struct converting *converting, int32_t target, int64_t index, struct graft_value *value,
                      char *problem_take, struct graft_error *error) {
    char name[GRAFT_NAME_BYTES];
    if (!graft_name_indexed(converting->names[target], index, name)) {
        graft_free(problem_take);
        return graft_error_set(error, GRAFT_ERROR_MODEL, converting->names[target],
                               "expected a name of less than %d bytes", GRAFT_NAME_BYTES);
    }
    return graft_sources_add(converting->uses->plan->sources, NULL, graft_strdup(name), value, problem_take, error);
}

static int deliver(void *data, int32_t target, int64_t index, struct graft_value *value, struct graft_error *error) {
    return add_source(data, target, index, value, NULL, error);
}

/* Records a failed conversion as a problem of its targets. */
static int add_problem(const struct converting *converting, int32_t n, const struct graft_error *failure,
                       struct graft_error *error) {
    int status = GRAFT_OK;
    for (int32_t i = 0; i < n && status == GRAFT_OK; i++) {
        char *problem = graft_format("%s: %s", failure->source, failure->message);
        status = problem != NULL ? add_source(converting, i, 0, NULL, problem, error)
                                 : graft_fail_memory(error, converting->names[i]);
    }
    return status;
}

static int convert(struct source_use *source, struct converting *converting, struct graft_error *error) {
    struct graft_error failure = graft_error_none();
    struct conversion_use *use = &source->use;
    int status = GRAFT_OK;
    for (int32_t i = 0; i < use->n_targets && status == GRAFT_OK; i++) {
        status = graft_key_transform_target(source->converter, source->before, i, &converting->names[i], error);
    }
    if (status != GRAFT_OK) {
        return status;
    }
    use->data = converting;
    use->parameter = parameter;
    use->deliver = deliver;
    status = graft_conversion_use_run(use, &failure);
    if (status == GRAFT_OK) {
        return graft_conversion_use_deliver(use, error);
    }
    return status != GRAFT_ERROR_INTERNAL ? add_problem(converting, use->n_targets, &failure, error)
                                          : graft_error_set(error, status, failure.source, "%s", failure.message);
}

int graft_source_uses_convert(struct source_uses *uses, struct graft_error *error) {
    int status = GRAFT_OK;
    for (size_t i = 0; i < uses->n && status == GRAFT_OK; i++) {
        int32_t n = uses->items[i].use.n_targets;
        struct converting converting = {uses, graft_alloc((size_t)n, sizeof(char *))};
        size_t first = uses->plan->sources->n;
        status = converting.names != NULL ? convert(&uses->items[i], &converting, error)
                                          : graft_fail_memory(error, uses->items[i].name);
        graft_sources_attribute(uses->plan->sources, first, uses->items[i].converter->given, uses->items[i].by_patch);
        for (int32_t k = 0; converting.names != NULL && k < n; k++) {
            graft_free(converting.names[k]);
        }
        graft_free(converting.names);
    }
    return status;
}
