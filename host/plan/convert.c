/* SPDX-License-Identifier: Apache-2.0 */
/* Applies one conversion at one module: finds its targets in the tree and its sources in the checkpoint, and puts the
 * result into the plan. */
#include "plan/convert.h"

#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "names/name.h"

/* The parameter of a target, for index `index` of its `*`; NULL if there is none. */
static struct graft_parameter *target_parameter(const struct conversion_site *site, int32_t target, int64_t index) {
    char name[GRAFT_NAME_BYTES];
    return graft_name_indexed(site->conversion->targets[target], index, name)
               ? graft_node_find_parameter(site->node, name)
               : NULL;
}

/* How many of the targets are parameters of this module. */
static int32_t count_targets(const struct conversion_site *site) {
    int32_t count = 0;
    for (int32_t i = 0; i < site->conversion->n_targets; i++) {
        count += target_parameter(site, i, 0) != NULL;
    }
    return count;
}

/* Whether the conversion takes a part of its source, which no checkpoint's layout does in advance. */
static int slices(const struct graft_conversion *conversion) {
    int found = 0;
    for (int32_t i = 0; i < conversion->n_operations && !found; i++) {
        found = graft_conversion_operation(conversion, i)->kind == GRAFT_OP_SLICE;
    }
    return found;
}

int graft_conversion_is_in_place(const struct graft_plan *plan, const struct graft_conversion *conversion,
                                 int32_t target) {
    int is_done = plan->runtime_layout && !slices(conversion);
    for (int32_t i = 0; i < conversion->n_sources && conversion->n_operations > 0 && !is_done; i++) {
        if (strcmp(conversion->sources[i], conversion->targets[target]) == 0) {
            return 1;
        }
    }
    return 0;
}

/* Whether the checkpoint has a target under its own name and the conversion does not read that tensor: then no
 * conversion is needed. */
static int target_is_found(const struct conversion_site *site) {
    for (int32_t i = 0; i < site->conversion->n_targets; i++) {
        const struct graft_parameter *parameter = target_parameter(site, i, 0);
        if (parameter != NULL && !graft_conversion_is_in_place(site->plan, site->conversion, i) &&
            graft_plan_binding(site->plan, parameter)->status == GRAFT_BINDING_FOUND) {
            return 1;
        }
    }
    return 0;
}

static int is_above(const struct graft_node *node, const struct graft_node *below) {
    while (below != NULL && below != node) {
        below = graft_node_above(below);
    }
    return below != NULL;
}

void graft_binding_give_back(struct graft_binding *binding) {
    const struct graft_tensor_view *tensor = graft_binding_tensor(binding);
    const struct graft_tensor_view *replaced = tensor != NULL ? tensor : binding->replaced;
    graft_value_free(&binding->value);
    graft_free(binding->problem);
    *binding = (struct graft_binding){
        .parameter = binding->parameter, .contiguous = binding->contiguous, .replaced = replaced};
}

/* Releases the tensor, or the result of a conversion above, that a parameter holds, if the conversion makes the
 * parameter of the tensor of its own name: it is then taken again, as the source. */
static void give_back(const struct conversion_site *site, struct graft_parameter *parameter) {
    struct graft_binding *binding = graft_plan_binding(site->plan, parameter);
    if (binding->site == NULL || (binding->site != site->node && is_above(binding->site, site->node))) {
        graft_binding_give_back(binding);
    }
}

static void give_back_targets(const struct conversion_site *site) {
    for (int32_t i = 0; i < site->conversion->n_targets; i++) {
        int is_list = strchr(site->conversion->targets[i], '*') != NULL;
        struct graft_parameter *parameter = target_parameter(site, i, 0);
        int in_place = graft_conversion_is_in_place(site->plan, site->conversion, i);
        for (int64_t index = 1; in_place && parameter != NULL; index++) {
            give_back(site, parameter);
            parameter = is_list ? target_parameter(site, i, index) : NULL;
        }
    }
}

static const struct graft_parameter *first_parameter(void *data, int32_t target) {
    return target_parameter(data, target, 0);
}

static int fill(void *data, int32_t target, int64_t index, struct graft_value *value, struct graft_error *error) {
    const struct conversion_site *site = data;
    struct graft_parameter *parameter = target_parameter(site, target, index);
    if (parameter == NULL) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, site->node->path, "%s: there is no parameter for index %lld",
                               site->conversion->targets[target], (long long)index);
    }
    struct graft_binding *binding = graft_plan_binding(site->plan, parameter);
    if (binding->status != GRAFT_BINDING_MISSING) {
        return binding->site == NULL
                   ? graft_error_set(error, GRAFT_ERROR_MODEL, parameter->name,
                                     "the checkpoint has it under its own name and also as part of another tensor")
                   : graft_error_set(error, GRAFT_ERROR_PLUGIN, parameter->name,
                                     "the conversions to %s of \"%s\" and to %s of \"%s\" both make it",
                                     binding->conversion->targets[0], binding->site->path, site->conversion->targets[0],
                                     site->node->path);
    }
    binding->status = GRAFT_BINDING_FOUND;
    binding->conversion = site->conversion;
    binding->site = site->node;
    binding->transform = site->listed != NULL ? site->listed->transform : NULL;
    binding->by_patch = site->listed != NULL && site->listed->by_patch;
    binding->from_tied = site->from_tied;
    binding->from_adapter = graft_conversion_is_of_adapter(site->conversion);
    binding->cut_by = site->cut_by;
    binding->value = *value;
    *value = (struct graft_value){0};
    return GRAFT_OK;
}

/* Remembers the first source that a list made or renamed, for reports. */
static void note_list(struct conversion_site *site, const struct gathered *gathered) {
    for (size_t i = 0; i < gathered->n && site->listed == NULL; i++) {
        const struct graft_source *source = graft_sources_find(site->lookup->sources, gathered->items[i].view->name);
        site->listed = source != NULL && source->transform != NULL ? source : NULL;
    }
}

/* Gathers the tensor of a parameter to which a name is tied, or what an adapter makes of that tensor. */
static int gather_other(struct conversion_site *site, const char *tensor, struct gathered *gathered,
                        struct graft_value_list *list, struct graft_error *error) {
    const struct graft_parameter *parameter = graft_node_find_parameter(site->lookup->tree->root, tensor);
    if (parameter != NULL && graft_plan_binding(site->plan, parameter)->from_adapter) {
        struct conversion_site other = *site;
        other.node = parameter->node;
        return graft_conversion_from_parents(&other, tensor, list, error);
    }
    return graft_lookup_gather(site->lookup, tensor, gathered, error);
}

/* Looks up the parameter to which a name is tied, and gathers its tensor. */
static int gather_tied(struct conversion_site *site, const char *name, struct gathered *gathered,
                       struct graft_value_list *list, struct graft_error *error) {
    const struct graft_tree *tree = site->lookup->tree;
    int status = GRAFT_OK;
    for (size_t i = 0; tree != NULL && i < tree->n_tied_names && gathered->n + list->count == 0 && status == GRAFT_OK;
         i++) {
        if (strcmp(tree->tied_names[i].name, name) == 0) {
            status = gather_other(site, tree->tied_names[i].tensor, gathered, list, error);
        }
    }
    const struct graft_parameter *own = tree != NULL ? graft_node_find_parameter(tree->root, name) : NULL;
    if (status == GRAFT_OK && gathered->n + list->count == 0 && own != NULL && own->tied_to != NULL) {
        status = graft_lookup_gather(site->lookup, own->tied_to->name, gathered, error);
    }
    site->n_tied += gathered->n + list->count > 0;
    return status;
}

/* Gathers each source from the checkpoint, from modules above, or from a tied parameter. `*present` counts the sources
 * found. */
static int gather(struct conversion_site *site, struct conversion_use *use, int32_t *present,
                  struct graft_error *error) {
    const char *path = site->node->path, *absent = NULL;
    int status = GRAFT_OK;
    *present = 0;
    for (int32_t i = 0; i < use->n_sources && status == GRAFT_OK; i++) {
        const char *source = use->source_names[i];
        char name[GRAFT_NAME_BYTES];
        if (graft_name_below(path, source, name)) {
            if (!graft_conversion_is_changed_above(site, name)) {
                status = graft_lookup_gather(site->lookup, name, &use->gathered[i], error);
                note_list(site, &use->gathered[i]);
            }
            if (status == GRAFT_OK && use->gathered[i].n == 0) {
                status = graft_conversion_from_parents(site, name, &use->lists[i], error);
            }
            if (status == GRAFT_OK && use->gathered[i].n == 0 && use->lists[i].count == 0) {
                status = gather_tied(site, name, &use->gathered[i], &use->lists[i], error);
            }
        }
        int is_present = use->gathered[i].n + use->lists[i].count > 0;
        *present += is_present;
        absent = is_present ? absent : source;
    }
    if (status == GRAFT_OK && *present > 0 && absent != NULL) {
        status = graft_error_set(error, GRAFT_ERROR_MODEL, path, "the checkpoint has other sources of %s, but no %s",
                                 site->conversion->targets[0], absent);
    }
    return status;
}

int graft_conversion_values(struct conversion_site *site, struct conversion_use *use, struct graft_error *error) {
    const struct graft_conversion *conversion = site->conversion;
    int32_t present = 0;
    *use = (struct conversion_use){
        .plan = site->plan,
        .config = site->config,
        .place = site->node->path,
        .module = site->node->path,
        .plugin = site->node->described_by != NULL ? site->node->described_by->origin.plugin : NULL,
        .sources = site->lookup->sources,
        .operations = conversion->operations,
        .n_operations = conversion->n_operations,
        .operation_stride = conversion->operation_stride,
        .source_names = conversion->sources,
        .n_sources = conversion->n_sources,
        .target_names = conversion->targets,
        .n_targets = conversion->n_targets,
        .data = site,
        .parameter = first_parameter,
        .deliver = fill,
    };
    int status = graft_conversion_use_begin(use, error);
    if (status == GRAFT_OK) {
        status = gather(site, use, &present, error);
    }
    site->from_tied = present > 0 && site->n_tied == present;
    use->from_tied = site->from_tied;
    if (status == GRAFT_OK && present > 0) {
        return graft_conversion_use_run(use, error);
    }
    use->n_lists = present > 0 ? use->n_lists : 0;
    return status;
}

/* Marks the sources of a failed conversion as used, so that they are not reported as unexpected as well. */
static void use_sources(const struct conversion_use *use) {
    for (int32_t i = 0; i < use->n_sources; i++) {
        for (size_t k = 0; k < use->gathered[i].n; k++) {
            struct graft_source *source = graft_sources_find(use->sources, use->gathered[i].items[k].view->name);
            if (source != NULL) {
                source->used = 1;
            }
        }
    }
}

/* Records a failed conversion as a problem of its targets, to be reported together with other problems. */
static int record_problem(struct conversion_site *site, const struct graft_error *failure, struct graft_error *error) {
    for (int32_t i = 0; i < site->conversion->n_targets; i++) {
        const struct graft_parameter *parameter = target_parameter(site, i, 0);
        struct graft_binding *binding = parameter != NULL ? graft_plan_binding(site->plan, parameter) : NULL;
        if (binding != NULL && binding->problem == NULL) {
            binding->status = GRAFT_BINDING_FAILED;
            binding->problem = graft_format("%s: %s", failure->source, failure->message);
            if (binding->problem == NULL) {
                return graft_fail_memory(error, site->node->path);
            }
        }
    }
    return GRAFT_OK;
}

int graft_conversion_apply(struct conversion_site *site, struct graft_error *error) {
    struct graft_error failure = graft_error_none();
    struct conversion_use use;
    int32_t targets = count_targets(site);
    const int is_of_adapter = graft_conversion_is_of_adapter(site->conversion);
    if (targets == 0 && is_of_adapter) {
        return graft_conversion_check_tied(site, error);
    }
    if (targets == 0 || (!is_of_adapter && target_is_found(site))) {
        return GRAFT_OK;
    }
    if (targets < site->conversion->n_targets) {
        return graft_error_set(error, GRAFT_ERROR_PLUGIN, site->node->path,
                               "a conversion has %d targets, but the module has parameters for %d of them",
                               (int)site->conversion->n_targets, (int)targets);
    }
    give_back_targets(site);
    if (is_of_adapter) {
        int is_same = 0, status = graft_conversion_replace(site, &is_same, error);
        if (status != GRAFT_OK || is_same) {
            return status;
        }
    }
    int status = graft_conversion_values(site, &use, &failure);
    if (status == GRAFT_OK && use.n_lists > 0) {
        status = graft_conversion_use_deliver(&use, &failure);
    }
    if (status == GRAFT_ERROR_MODEL) {
        use_sources(&use);
        status = record_problem(site, &failure, error);
    } else if (status != GRAFT_OK) {
        (void)graft_error_set(error, status, failure.source, "%s", failure.message);
    }
    graft_conversion_use_finish(&use);
    return status;
}
