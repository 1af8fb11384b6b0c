/* SPDX-License-Identifier: Apache-2.0 */
/* One conversion at one module: its targets in the tree, its sources in the checkpoint, its result into the plan. */
#include "plan/convert.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"

enum { MAX_NAME = 1024 };

/* A pattern with its module's path in front, and the `*` (if any) replaced by `index`. */
static int full_name(const struct graft_node *node, const char *pattern, int64_t index, char *name) {
    const char *star = strchr(pattern, '*');
    const char *dot = node->path[0] != '\0' ? "." : "";
    int length = star == NULL ? snprintf(name, MAX_NAME, "%s%s%s", node->path, dot, pattern)
                              : snprintf(name, MAX_NAME, "%s%s%.*s%lld%s", node->path, dot, (int)(star - pattern),
                                         pattern, (long long)index, star + 1);
    return length < 0 || length >= MAX_NAME ? -1 : 0;
}

/* The parameter a target pattern means (for index `index` of its `*`), or NULL. */
static struct graft_parameter *target_parameter(const struct conversion_site *site, int32_t target, int64_t index) {
    char name[MAX_NAME];
    struct graft_node *owner = site->node;
    size_t path = strlen(site->node->path);
    if (full_name(site->node, site->conversion->targets[target], index, name) != 0) {
        return NULL;
    }
    char *below = path > 0 ? name + path + 1 : name;
    char *dot = strrchr(below, '.');
    const char *own = dot != NULL ? dot + 1 : below;
    if (dot != NULL) {
        *dot = '\0';
        owner = graft_node_find(site->node, below);
    }
    struct graft_parameter *found = NULL;
    for (; owner != NULL && found == NULL; owner = owner->super) {
        found = graft_node_parameter(owner, own);
    }
    return found;
}

static int has_star(const char *pattern) {
    return strchr(pattern, '*') != NULL;
}

/* How many of the targets this module has. */
static int32_t count_targets(const struct conversion_site *site) {
    int32_t count = 0;
    for (int32_t i = 0; i < site->conversion->n_targets; i++) {
        count += target_parameter(site, i, 0) != NULL;
    }
    return count;
}

/* Whether a target is in the checkpoint under its own name: then it needs no conversion. */
static int target_is_found(const struct conversion_site *site) {
    for (int32_t i = 0; i < site->conversion->n_targets; i++) {
        const struct graft_parameter *parameter = target_parameter(site, i, 0);
        if (parameter != NULL && graft_plan_binding(site->plan, parameter)->status == GRAFT_BINDING_FOUND) {
            return 1;
        }
    }
    return 0;
}

static int32_t target_shape(void *data, int32_t target, int64_t shape[GRAFT_MAX_RANK]) {
    const struct graft_parameter *parameter = target_parameter(data, target, 0);
    if (parameter == NULL) {
        return -1;
    }
    memcpy(shape, parameter->shape, sizeof parameter->shape);
    return parameter->rank;
}

int graft_config_part_number(const struct graft_config *config, const char *part, const char *field, int64_t *number) {
    char path[MAX_NAME];
    int in_part = part != NULL && config->kind(config->data, part) == GRAFT_FIELD_OBJECT;
    int length = snprintf(path, sizeof path, "%s%s%s", in_part ? part : "", in_part ? "." : "", field);
    if (length < 0 || length >= MAX_NAME || config->kind(config->data, path) != GRAFT_FIELD_INT) {
        return -1;
    }
    *number = config->integer(config->data, path);
    return 0;
}

static int config_number(void *data, const char *part, const char *field, int64_t *number) {
    const struct conversion_site *site = data;
    return site->config != NULL ? graft_config_part_number(site->config, part, field, number) : -1;
}

static int take_tensor(struct conversion_site *site, const struct graft_tensor_view *tensor, struct graft_value *value,
                       struct graft_error *error) {
    char shape[GRAFT_SHAPE_TEXT];
    if (tensor->bytes == 0) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, tensor->name, "there is nothing in it, its shape is %s",
                               graft_shape_text(tensor->shape, tensor->rank, shape));
    }
    return graft_lookup_take(site->lookup, tensor, value, error);
}

/* The tensors of a `*` source, whose indices must be 0 to n - 1: a gap would shift all experts behind it. */
static int gather_indexed(struct conversion_site *site, const char *pattern, struct graft_value_list *list,
                          struct graft_error *error) {
    char before[MAX_NAME];
    struct indexed_tensor *found = NULL;
    int status = GRAFT_OK;
    const char *star = strchr(pattern, '*');
    int length = snprintf(before, sizeof before, "%s%s%.*s", site->node->path, site->node->path[0] != '\0' ? "." : "",
                          (int)(star - pattern), pattern);
    if (length < 0 || length >= MAX_NAME) {
        return GRAFT_OK;
    }
    int64_t n = graft_lookup_indexed(site->lookup, before, star + 1, &found);
    list->items = n < 0 ? NULL : graft_alloc((size_t)n + 1, sizeof *list->items);
    if (list->items == NULL) {
        status = graft_error_set(error, GRAFT_ERROR_INTERNAL, site->node->path, "out of memory");
    }
    for (int64_t i = 0; i < n && status == GRAFT_OK; i++) {
        if (found[i].index != i) {
            status = graft_error_set(error, GRAFT_ERROR_MODEL, found[i].tensor->name,
                                     "index %lld, expected %lld: indices must run from 0 without gap or repetition",
                                     (long long)found[i].index, (long long)i);
        } else {
            status = take_tensor(site, found[i].tensor, &list->items[i], error);
            list->count++;
        }
    }
    graft_free(found);
    return status;
}

static int gather_one(struct conversion_site *site, const char *pattern, struct graft_value_list *list,
                      struct graft_error *error) {
    char name[MAX_NAME];
    const struct graft_tensor_view *tensor =
        full_name(site->node, pattern, 0, name) == 0 ? graft_lookup_find(site->lookup, name, NULL) : NULL;
    if (tensor == NULL) {
        return graft_conversion_from_parents(site, name, list, error);
    }
    list->items = graft_alloc(1, sizeof *list->items);
    if (list->items == NULL) {
        return graft_error_set(error, GRAFT_ERROR_INTERNAL, name, "out of memory");
    }
    list->count = 1;
    return take_tensor(site, tensor, &list->items[0], error);
}

/* One list per source. `*present` counts the sources that the checkpoint has. */
static int gather(struct conversion_site *site, struct graft_value_list *lists, int32_t *present,
                  struct graft_error *error) {
    int status = GRAFT_OK;
    const char *absent = NULL;
    *present = 0;
    for (int32_t i = 0; i < site->conversion->n_sources && status == GRAFT_OK; i++) {
        const char *pattern = site->conversion->sources[i];
        status = has_star(pattern) ? gather_indexed(site, pattern, &lists[i], error)
                                   : gather_one(site, pattern, &lists[i], error);
        *present += lists[i].count > 0;
        absent = lists[i].count == 0 ? pattern : absent;
    }
    if (status == GRAFT_OK && *present > 0 && absent != NULL) {
        status =
            graft_error_set(error, GRAFT_ERROR_MODEL, site->node->path,
                            "the checkpoint has other sources of %s, but no %s", site->conversion->targets[0], absent);
    }
    return status;
}

static int fill(struct conversion_site *site, int32_t target, int64_t index, struct graft_value *value,
                struct graft_error *error) {
    struct graft_parameter *parameter = target_parameter(site, target, index);
    if (parameter == NULL) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, site->node->path, "%s: there is no parameter for index %lld",
                               site->conversion->targets[target], (long long)index);
    }
    struct graft_binding *binding = graft_plan_binding(site->plan, parameter);
    if (binding->status != GRAFT_BINDING_MISSING) {
        return binding->site == NULL
                   ? graft_error_set(error, GRAFT_ERROR_MODEL, parameter->name,
                                     "the checkpoint has it under its own name, and as part of another tensor")
                   : graft_error_set(error, GRAFT_ERROR_PLUGIN, parameter->name,
                                     "the conversions to %s of \"%s\" and to %s of \"%s\" both make it",
                                     binding->conversion->targets[0], binding->site->path, site->conversion->targets[0],
                                     site->node->path);
    }
    binding->status = GRAFT_BINDING_FOUND;
    binding->conversion = site->conversion;
    binding->site = site->node;
    binding->value = *value;
    *value = (struct graft_value){0};
    return GRAFT_OK;
}

/* Gives each target its values. */
static int distribute(struct conversion_site *site, struct graft_value_list *lists, struct graft_error *error) {
    int status = GRAFT_OK;
    for (int32_t i = 0; i < site->conversion->n_targets && status == GRAFT_OK; i++) {
        if (!has_star(site->conversion->targets[i]) && lists[i].count != 1) {
            status =
                graft_error_set(error, GRAFT_ERROR_PLUGIN, site->node->path, "%s: got %zu values for one parameter",
                                site->conversion->targets[i], lists[i].count);
        }
        for (size_t j = 0; j < lists[i].count && status == GRAFT_OK; j++) {
            status = fill(site, i, (int64_t)j, &lists[i].items[j], error);
        }
    }
    return status;
}

/* What a conversion wants and cannot use is part of its problem, and nobody else's: it is not unexpected as well. */
static void use_sources(struct conversion_site *site) {
    for (int32_t i = 0; i < site->conversion->n_sources; i++) {
        const char *pattern = site->conversion->sources[i], *star = strchr(pattern, '*');
        struct indexed_tensor *found = NULL;
        const struct graft_tensor_view *tensor = NULL;
        char name[MAX_NAME];
        if (full_name(site->node, pattern, 0, name) != 0) {
            continue;
        }
        if (star == NULL) {
            tensor = graft_lookup_find(site->lookup, name, NULL);
        } else {
            name[strlen(name) - strlen(star)] = '\0'; /* an index of one digit stood for the star */
        }
        int64_t n = star != NULL ? graft_lookup_indexed(site->lookup, name, star + 1, &found) : 0;
        for (int64_t k = 0; k < n; k++) {
            graft_lookup_use(site->lookup, found[k].tensor);
        }
        if (tensor != NULL) {
            graft_lookup_use(site->lookup, tensor);
        }
        graft_free(found);
    }
}

/* Makes a failure of this conversion a problem of its targets, to be reported with the others. */
static int record_problem(struct conversion_site *site, const struct graft_error *failure, struct graft_error *error) {
    for (int32_t i = 0; i < site->conversion->n_targets; i++) {
        const struct graft_parameter *parameter = target_parameter(site, i, 0);
        struct graft_binding *binding = parameter != NULL ? graft_plan_binding(site->plan, parameter) : NULL;
        if (binding != NULL && binding->problem == NULL) {
            binding->status = GRAFT_BINDING_FAILED;
            binding->problem = graft_format("%s: %s", failure->source, failure->message);
            if (binding->problem == NULL) {
                return graft_error_set(error, GRAFT_ERROR_INTERNAL, site->node->path, "out of memory");
            }
        }
    }
    return GRAFT_OK;
}

static int apply_custom(void *data, const struct graft_operation *operation, const struct graft_value *const *values,
                        size_t n, struct graft_value *results, struct graft_error *error) {
    struct conversion_site *site = data;
    struct graft_plan *plan = site->plan;
    const char *plugin = site->node->describer != NULL ? site->node->describer->origin.plugin : NULL;
    if (graft_grow(&plan->computed, &plan->computed_capacity, plan->n_computed, sizeof(struct graft_computed *)) != 0) {
        return graft_fail_memory(error, site->node->path);
    }
    int status = graft_computed_make(operation->custom, plugin, site->node->path, values, n, results,
                                     (size_t)site->conversion->n_targets, &plan->computed[plan->n_computed], error);
    plan->n_computed += status == GRAFT_OK;
    return status;
}

static int run_operations(struct conversion_site *site, struct graft_value_list **lists, size_t *n,
                          struct graft_error *error) {
    const struct graft_operations operations = {
        .items = site->conversion->operations,
        .count = site->conversion->n_operations,
        .stride = site->conversion->operation_stride,
        .place = site->node->path,
        .sources = site->conversion->sources,
        .targets = site->conversion->targets,
        .n_targets = site->conversion->n_targets,
        .data = site,
        .target_shape = target_shape,
        .config_number = config_number,
        .custom = apply_custom,
    };
    return graft_operations_run(&operations, lists, n, NULL, error);
}

void graft_conversion_values_free(struct graft_value_list *lists, size_t n) {
    for (size_t i = 0; i < n; i++) {
        graft_value_list_free(&lists[i]);
    }
    graft_free(lists);
}

int graft_conversion_values(struct conversion_site *site, struct graft_value_list **lists, size_t *n,
                            struct graft_error *error) {
    size_t made = (size_t)site->conversion->n_sources;
    struct graft_value_list *values = graft_alloc(made, sizeof *values);
    int32_t present = 0;
    *lists = NULL;
    *n = 0;
    if (values == NULL) {
        return graft_error_set(error, GRAFT_ERROR_INTERNAL, site->node->path, "out of memory");
    }
    int status = gather(site, values, &present, error);
    if (status == GRAFT_OK && present > 0) {
        status = run_operations(site, &values, &made, error);
    }
    if (status != GRAFT_OK || present == 0) {
        graft_conversion_values_free(values, made);
        return status;
    }
    *lists = values;
    *n = made;
    return GRAFT_OK;
}

int graft_conversion_apply(struct conversion_site *site, struct graft_error *error) {
    struct graft_error failure = graft_error_none();
    struct graft_value_list *lists = NULL;
    size_t n = 0;
    int32_t targets = count_targets(site);
    if (targets == 0 || target_is_found(site)) {
        return GRAFT_OK;
    }
    if (targets < site->conversion->n_targets) {
        return graft_error_set(error, GRAFT_ERROR_PLUGIN, site->node->path,
                               "a conversion has %d targets, but the module has parameters for %d of them",
                               (int)site->conversion->n_targets, (int)targets);
    }
    int status = graft_conversion_values(site, &lists, &n, &failure);
    if (status == GRAFT_OK && n > 0) {
        status = distribute(site, lists, &failure);
    }
    graft_conversion_values_free(lists, n);
    if (status == GRAFT_ERROR_MODEL) {
        use_sources(site);
        return record_problem(site, &failure, error);
    }
    return status == GRAFT_OK ? GRAFT_OK : graft_error_set(error, status, failure.source, "%s", failure.message);
}
