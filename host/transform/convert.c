/* SPDX-License-Identifier: Apache-2.0 */
/* One conversion at one module: its targets in the tree, its sources in the checkpoint, its result into the plan. */
#include "transform/convert.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"

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
        if (parameter != NULL && plan_binding(site->plan, parameter)->status == GRAFT_BINDING_FOUND) {
            return 1;
        }
    }
    return 0;
}

/* The size that target number `target` has along the dimension of the Chunk `op`, seen before the SplitModulelists that
 * follow take dimensions away. */
static int target_size(const struct conversion_site *site, int32_t target, int32_t op, int64_t *size) {
    const struct graft_conversion *conversion = site->conversion;
    const struct graft_parameter *parameter = target_parameter(site, target, 0);
    int64_t dim = graft_conversion_operation(conversion, op)->dim;
    for (int32_t i = op + 1; i < conversion->n_operations; i++) {
        const struct graft_operation *later = graft_conversion_operation(conversion, i);
        dim -= later->kind == GRAFT_OP_SPLIT_MODULELIST && later->dim < dim;
    }
    if (parameter == NULL || dim < 0 || dim >= parameter->rank) {
        return -1;
    }
    *size = parameter->shape[dim];
    return 0;
}

static int take_tensor(struct conversion_site *site, const struct graft_tensor_view *tensor, struct graft_value *value,
                       struct graft_error *error) {
    char shape[GRAFT_SHAPE_TEXT];
    if (tensor->bytes == 0) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, tensor->name, "there is nothing in it, its shape is %s",
                               graft_shape_text(tensor->shape, tensor->rank, shape));
    }
    lookup_use(site->lookup, tensor);
    return graft_value_of(tensor, value, error);
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
    int64_t n = lookup_indexed(site->lookup, before, star + 1, &found);
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
        full_name(site->node, pattern, 0, name) == 0 ? lookup_find(site->lookup, name, NULL) : NULL;
    if (tensor == NULL) {
        return GRAFT_OK;
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
    struct graft_binding *binding = plan_binding(site->plan, parameter);
    if (binding->status != GRAFT_BINDING_MISSING) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, parameter->name,
                               "the checkpoint has it under its own name, and as part of another tensor");
    }
    binding->status = GRAFT_BINDING_FOUND;
    binding->conversion = site->conversion;
    binding->value = *value;
    *value = (struct graft_value){0};
    return GRAFT_OK;
}

/* Gives each target its values. */
static int distribute(struct conversion_site *site, struct graft_value_list *lists, size_t n,
                      struct graft_error *error) {
    int status = GRAFT_OK;
    if (n != (size_t)site->conversion->n_targets) {
        return graft_error_set(error, GRAFT_ERROR_PLUGIN, site->node->path,
                               "the conversion to %s makes %zu values for %d targets", site->conversion->targets[0], n,
                               (int)site->conversion->n_targets);
    }
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

/* Makes a failure of this conversion a problem of its targets, to be reported with the others. */
static int record_problem(struct conversion_site *site, const struct graft_error *failure, struct graft_error *error) {
    for (int32_t i = 0; i < site->conversion->n_targets; i++) {
        const struct graft_parameter *parameter = target_parameter(site, i, 0);
        struct graft_binding *binding = parameter != NULL ? plan_binding(site->plan, parameter) : NULL;
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

int conversion_apply(struct conversion_site *site, struct graft_error *error) {
    struct graft_error failure = graft_error_none();
    size_t n = (size_t)site->conversion->n_sources;
    struct chunk_sizes sizes = {site, target_size};
    int32_t present = 0;
    int32_t targets = count_targets(site);
    if (targets == 0 || target_is_found(site)) {
        return GRAFT_OK;
    }
    if (targets < site->conversion->n_targets) {
        return graft_error_set(error, GRAFT_ERROR_PLUGIN, site->node->path,
                               "a conversion has %d targets, but the module has parameters for %d of them",
                               (int)site->conversion->n_targets, (int)targets);
    }
    struct graft_value_list *lists = graft_alloc(n, sizeof *lists);
    if (lists == NULL) {
        return graft_error_set(error, GRAFT_ERROR_INTERNAL, site->node->path, "out of memory");
    }
    int status = gather(site, lists, &present, &failure);
    if (status == GRAFT_OK && present > 0) {
        status = operations_run(site, &sizes, &lists, &n, &failure);
    }
    if (status == GRAFT_OK && present > 0) {
        status = distribute(site, lists, n, &failure);
    }
    for (size_t i = 0; i < n; i++) {
        graft_value_list_free(&lists[i]);
    }
    graft_free(lists);
    if (status == GRAFT_ERROR_MODEL) {
        return record_problem(site, &failure, error);
    }
    return status == GRAFT_OK ? GRAFT_OK : graft_error_set(error, status, failure.source, "%s", failure.message);
}
