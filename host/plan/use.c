/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/use.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "names/name.h"
#include "registry/operations.h"

static int32_t target_shape(void *data, int32_t target, int64_t shape[GRAFT_MAX_RANK]) {
    const struct conversion_use *use = data;
    const struct graft_parameter *parameter = use->parameter(use->data, target);
    if (parameter == NULL) {
        return -1;
    }
    memcpy(shape, parameter->shape, sizeof parameter->shape);
    return parameter->rank;
}

static int config_number(void *data, const char *part, const char *field, int64_t *number) {
    const struct graft_config *config = ((const struct conversion_use *)data)->config;
    char path[GRAFT_NAME_BYTES];
    int in_part = config != NULL && part != NULL && config->kind(config->data, part) == GRAFT_FIELD_OBJECT;
    int length = snprintf(path, sizeof path, "%s%s%s", in_part ? part : "", in_part ? "." : "", field);
    if (config == NULL || length < 0 || length >= GRAFT_NAME_BYTES ||
        config->kind(config->data, path) != GRAFT_FIELD_INT) {
        return -1;
    }
    *number = config->integer(config->data, path);
    return 0;
}

static int apply_custom(void *data, const struct graft_operation *operation, const struct graft_value *const *values,
                        size_t n, struct graft_value *results, struct graft_error *error) {
    const struct conversion_use *use = data;
    struct graft_plan *plan = use->plan;
    const char *plugin = use->plugin;
    if (plugin == NULL) {
        plugin = graft_snapshot_operation_plugin(plan->tree->snapshot, operation->custom);
    }
    if (graft_grow(&plan->computed, &plan->computed_capacity, plan->n_computed, sizeof(struct graft_computed *)) != 0) {
        return graft_fail_memory(error, use->place);
    }
    int status = graft_computed_make(operation->custom, plugin, use->module, values, n, results, (size_t)use->n_targets,
                                     &plan->computed[plan->n_computed], error);
    if (status == GRAFT_OK) {
        plan->computed[plan->n_computed++]->from_tied = use->from_tied;
    }
    return status;
}

static void drop(void *data, const struct graft_value *dropped) {
    const struct graft_plan *plan = ((const struct conversion_use *)data)->plan;
    for (size_t i = 0; i < dropped->n_parts && plan->sliced != NULL; i++) {
        size_t number = graft_checkpoint_number(plan->checkpoint, dropped->parts[i].tensor);
        if (number != SIZE_MAX) {
            plan->sliced[number] = 1;
        }
    }
}

int graft_conversion_use_begin(struct conversion_use *use, struct graft_error *error) {
    use->n_lists = (size_t)use->n_sources;
    use->lists = graft_alloc(use->n_lists, sizeof *use->lists);
    use->gathered = graft_alloc(use->n_lists, sizeof *use->gathered);
    return use->lists != NULL && use->gathered != NULL ? GRAFT_OK : graft_fail_memory(error, use->place);
}

void graft_conversion_use_finish(struct conversion_use *use) {
    for (size_t i = 0; use->lists != NULL && i < use->n_lists; i++) {
        graft_value_list_free(&use->lists[i]);
    }
    for (int32_t i = 0; use->gathered != NULL && i < use->n_sources; i++) {
        graft_free(use->gathered[i].items);
    }
    graft_free(use->lists);
    graft_free(use->gathered);
}

int graft_conversion_use_run(struct conversion_use *use, struct graft_error *error) {
    const struct graft_operations operations = {
        .items = use->operations,
        .count = use->n_operations,
        .stride = use->operation_stride,
        .place = use->place,
        .sources = use->source_names,
        .targets = use->target_names,
        .n_targets = use->n_targets,
        .data = use,
        .target_shape = target_shape,
        .config_number = config_number,
        .custom = apply_custom,
        .drop = drop,
    };
    int status = GRAFT_OK;
    for (int32_t i = 0; i < use->n_sources && status == GRAFT_OK; i++) {
        if (use->gathered[i].n > 0) {
            status = graft_gathered_values(&use->gathered[i], use->sources, &use->lists[i], error);
        }
    }
    return status == GRAFT_OK ? graft_operations_run(&operations, &use->lists, &use->n_lists, NULL, error) : status;
}

int graft_conversion_use_deliver(struct conversion_use *use, struct graft_error *error) {
    int status = GRAFT_OK;
    for (int32_t i = 0; i < use->n_targets && status == GRAFT_OK; i++) {
        const struct graft_value_list *list = &use->lists[i];
        if (strchr(use->target_names[i], '*') == NULL && list->count != 1) {
            return graft_error_set(error, GRAFT_ERROR_PLUGIN, use->place, "%s: got %zu values for one parameter",
                                   use->target_names[i], list->count);
        }
        for (size_t k = 0; k < list->count && status == GRAFT_OK; k++) {
            status = use->deliver(use->data, i, (int64_t)k, &list->items[k], error);
        }
    }
    return status;
}
