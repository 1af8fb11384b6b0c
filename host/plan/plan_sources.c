/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/plan_sources.h"

#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "plan/convert.h"

struct surroundings {
    struct graft_plan *plan;
    struct graft_tree *tree;
};

enum { MAX_NAME = RENAMING_MAX_NAME };

/* The parameter of that full name, or NULL. */
static const struct graft_parameter *find_parameter(struct graft_tree *tree, const char *name) {
    char path[MAX_NAME];
    const char *dot = strrchr(name, '.');
    size_t length = dot != NULL ? (size_t)(dot - name) : 0;
    const struct graft_parameter *found = NULL;
    if (length >= sizeof path) {
        return NULL;
    }
    memcpy(path, name, length);
    path[length] = '\0';
    for (struct graft_node *node = graft_node_find(tree->root, path); node != NULL && found == NULL;
         node = node->super) {
        found = graft_node_parameter(node, dot != NULL ? dot + 1 : name);
    }
    return found;
}

static int32_t shape_of(void *data, const char *name, int64_t shape[GRAFT_MAX_RANK]) {
    const struct surroundings *around = data;
    const struct graft_parameter *parameter = find_parameter(around->tree, name);
    if (parameter == NULL) {
        return -1;
    }
    memcpy(shape, parameter->shape, sizeof parameter->shape);
    return parameter->rank;
}

static int config_number(void *data, const char *part, const char *field, int64_t *number) {
    const struct surroundings *around = data;
    return around->tree->config != NULL ? graft_config_part_number(&around->tree->config->view, part, field, number)
                                        : -1;
}

static int apply_custom(void *data, const struct graft_operation *operation, const char *place,
                        const struct graft_value *const *values, size_t n, struct graft_value *results,
                        size_t n_results, struct graft_error *error) {
    struct graft_plan *plan = ((struct surroundings *)data)->plan;
    if (graft_grow(&plan->computed, &plan->computed_capacity, plan->n_computed, sizeof(struct graft_computed *)) != 0) {
        return graft_fail_memory(error, place);
    }
    int status = graft_computed_make(operation->custom, NULL, place, values, n, results, n_results,
                                     &plan->computed[plan->n_computed], error);
    plan->n_computed += status == GRAFT_OK;
    return status;
}

int graft_plan_sources_make(struct graft_plan *plan, struct graft_tree *tree, const struct graft_plan_options *options,
                            struct graft_error *error) {
    struct surroundings around = {plan, tree};
    const struct source_context context = {
        .checkpoint = plan->checkpoint,
        .list = options->transforms,
        .n_forced = options->n_forced,
        .prefix = options->base_model_prefix,
        .shape = shape_of,
        .config_number = config_number,
        .custom = apply_custom,
        .data = &around,
    };
    return options->transforms != NULL && options->transforms->n > 0
               ? graft_sources_convert(&context, plan->sources, error)
               : graft_sources_of_checkpoint(plan->checkpoint, plan->sources, error);
}
