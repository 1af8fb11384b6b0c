/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/plan.h"

#include <string.h>

#include "base/alloc.h"
#include "base/crash_context.h"
#include "base/fail.h"
#include "base/regex.h"
#include "plan/absent.h"
#include "plan/convert.h"
#include "plan/fit.h"
#include "plan/remote_parameters.h"
#include "plan/source_list.h"

struct planner {
    struct graft_plan *plan;
    struct lookup lookup;
    const struct graft_plan_options *options;
    const struct graft_config *config;
};

struct graft_binding *graft_plan_binding(const struct graft_plan *plan, const struct graft_parameter *parameter) {
    return &plan->bindings[parameter->index];
}

/* Takes the tensor of the parameter's own name. */
static int take_own(struct graft_source *source, struct graft_binding *binding, struct graft_error *error) {
    struct graft_error failure = graft_error_none();
    int status = graft_source_take(source, &binding->value, &failure);
    binding->transform = source->transform;
    binding->by_patch = source->by_patch;
    if (status == GRAFT_OK) {
        binding->status = GRAFT_BINDING_FOUND;
        return GRAFT_OK;
    }
    binding->status = GRAFT_BINDING_FAILED;
    binding->problem = graft_strdup(failure.message);
    return status == GRAFT_ERROR_MODEL && binding->problem != NULL ? GRAFT_OK
                                                                   : graft_fail_memory(error, source->view->name);
}

/* First pass: adds a binding for each parameter, with the tensor of the parameter's own name if the checkpoint has
 * it. */
static int add_bindings(void *data, struct graft_node *node, struct graft_error *error) {
    struct planner *planner = data;
    struct graft_plan *plan = planner->plan;
    for (size_t i = 0; i < node->n_parameters; i++) {
        struct graft_parameter *parameter = node->parameters[i];
        struct graft_binding *binding = &plan->bindings[plan->n_bindings];
        parameter->index = plan->n_bindings++;
        binding->parameter = parameter;
        binding->contiguous = (parameter->flags & GRAFT_PARAMETER_CONTIGUOUS) != 0;
        struct graft_source *source = graft_lookup_find(&planner->lookup, parameter->name, &binding->conversion);
        int status = source != NULL ? take_own(source, binding, error) : GRAFT_OK;
        if (status != GRAFT_OK) {
            return status;
        }
    }
    return GRAFT_OK;
}

/* Second pass: applies the conversions of each module's class. */
static int apply_conversions(void *data, struct graft_node *node, struct graft_error *error) {
    struct planner *planner = data;
    int status = GRAFT_OK;
    const struct graft_conversion *conversion;
    for (size_t i = 0; status == GRAFT_OK && (conversion = graft_node_conversion(node, i)) != NULL; i++) {
        struct conversion_site site = {planner->plan, node, conversion, &planner->lookup, planner->config, NULL, 0, 0,
                                       NULL};
        if (!graft_lookup_leaves_out(&planner->lookup, node, site.conversion)) {
            status = graft_conversion_apply(&site, error);
        }
    }
    return status;
}

/* Ties `lacking` to `other` if `lacking` has no weight and `other` has one. Returns whether it did. */
static int tie(struct graft_binding *lacking, struct graft_binding *other) {
    int has = other->status == GRAFT_BINDING_FOUND || other->status == GRAFT_BINDING_TIED;
    if (lacking->status != GRAFT_BINDING_MISSING || !has) {
        return 0;
    }
    lacking->status = GRAFT_BINDING_TIED;
    lacking->tied_to = other->status == GRAFT_BINDING_TIED ? other->tied_to : other;
    lacking->tied_to->contiguous |= lacking->contiguous;
    return 1;
}

/* Binds tied parameters to whichever of them has a weight. Ties may form chains. */
static void bind_ties(struct graft_plan *plan) {
    int changed = 1;
    while (changed) {
        changed = 0;
        for (size_t i = 0; i < plan->n_bindings; i++) {
            struct graft_binding *binding = &plan->bindings[i];
            if (binding->parameter->tied_to != NULL) {
                struct graft_binding *source = graft_plan_binding(plan, binding->parameter->tied_to);
                changed |= tie(binding, source) || tie(source, binding);
            }
        }
    }
}

/* Whether the module of a tied name lacks any parameter. */
static int lacks_any(const struct graft_plan *plan, const char *name) {
    const char *dot = strrchr(name, '.');
    size_t length = dot != NULL ? (size_t)(dot + 1 - name) : 0;
    for (size_t i = 0; i < plan->n_bindings; i++) {
        const struct graft_binding *binding = &plan->bindings[i];
        if (binding->status == GRAFT_BINDING_MISSING && strncmp(binding->parameter->name, name, length) == 0) {
            return 1;
        }
    }
    return 0;
}

/* A parameter may be tied to one that only another process has. Gives it that parameter's tensor, which must be
 * present. */
static int take_namesakes(struct planner *planner, struct graft_tree *tree, struct graft_error *error) {
    int status = GRAFT_OK;
    for (size_t i = 0; i < tree->n_tied_names && status == GRAFT_OK; i++) {
        const struct graft_tied_name *tied = &tree->tied_names[i];
        struct graft_parameter *parameter = tied->is_own ? graft_node_find_parameter(tree->root, tied->name) : NULL;
        struct graft_binding *binding = parameter != NULL ? graft_plan_binding(planner->plan, parameter) : NULL;
        if (binding != NULL && binding->status == GRAFT_BINDING_MISSING) {
            struct graft_source *source = graft_lookup_find(&planner->lookup, tied->tensor, &binding->conversion);
            status = source != NULL ? take_own(source, binding, error) : GRAFT_OK;
        }
        if (status == GRAFT_OK && lacks_any(planner->plan, tied->name)) {
            status = graft_lookup_need_present(&planner->lookup, planner->plan->checkpoint, tied->tensor, error);
        }
    }
    return status;
}

static int32_t matches(const void *regex, const char *name) {
    struct graft_regex_match match;
    return graft_regex_search(regex, name, strlen(name), 0, &match) == 1;
}

static int32_t is_ignored(const void *planner, const char *name) {
    const struct planner *self = planner;
    const struct graft_plugin_call task = {"ignores", name, NULL, self->options->ignores_plugin, NULL};
    const struct graft_crash_context before = graft_crash_context_begin(&task);
    const int32_t is_ignored = self->options->ignores(self->config, name) != 0;
    graft_crash_context_end(before);
    return is_ignored;
}

/* Removes the unexpected tensors that `unwanted` accepts. */
static void drop(struct graft_plan *plan, int32_t (*unwanted)(const void *data, const char *name), const void *data) {
    size_t kept = 0;
    for (size_t i = 0; i < plan->n_unexpected; i++) {
        if (!unwanted(data, plan->unexpected[i]->name)) {
            plan->unexpected[kept++] = plan->unexpected[i];
        }
    }
    plan->n_unexpected = kept;
}

/* Removes the unexpected tensors that the family ignores. */
static int drop_ignored(const struct planner *planner, struct graft_error *error) {
    const char *const *pattern = planner->options->ignored_tensors;
    int status = GRAFT_OK;
    for (; pattern != NULL && *pattern != NULL && status == GRAFT_OK; pattern++) {
        struct graft_regex *regex = NULL;
        status = graft_regex_compile(*pattern, strlen(*pattern), "ignored_tensors", GRAFT_ERROR_PLUGIN, &regex, error);
        if (status == GRAFT_OK) {
            drop(planner->plan, matches, regex);
            graft_regex_free(regex);
        }
    }
    if (status == GRAFT_OK && planner->options->ignores != NULL && planner->config != NULL) {
        drop(planner->plan, is_ignored, planner);
    }
    return status;
}

static int list_unexpected(struct planner *planner, struct graft_error *error) {
    struct graft_plan *plan = planner->plan;
    size_t n = plan->sources->n;
    plan->unexpected = graft_alloc(n + 1, sizeof(struct graft_tensor_view *));
    if (plan->unexpected == NULL) {
        return graft_fail_memory(error, "");
    }
    for (size_t i = 0; i < n; i++) {
        const struct graft_source *source = &plan->sources->items[i];
        /* tensors of adapters are checked separately (graft_plan_check_adapters) */
        if (!source->used &&
            (plan->adapters == NULL || graft_adapters_find(plan->adapters, source->view->name, NULL) == NULL)) {
            plan->unexpected[plan->n_unexpected++] = source->view;
        }
    }
    return drop_ignored(planner, error);
}

static int make(struct planner *planner, struct graft_tree *tree, struct graft_error *error) {
    struct graft_plan *plan = planner->plan;
    plan->bindings = graft_alloc(tree->n_parameters + 1, sizeof *plan->bindings);
    plan->sources = graft_alloc(1, sizeof *plan->sources);
    plan->sliced = graft_alloc(graft_checkpoint_count(plan->checkpoint) + 1, 1);
    if (plan->bindings == NULL || plan->sources == NULL || plan->sliced == NULL) {
        return graft_fail_memory(error, "");
    }
    planner->lookup.sources = plan->sources;
    int status = graft_plan_sources_make(plan, tree, planner->options, error);
    if (status != GRAFT_OK) {
        return status;
    }
    status = graft_renamings_collect(tree, &planner->lookup.renamings, error);
    if (status == GRAFT_OK) {
        status = graft_tree_walk(tree, add_bindings, planner, error);
    }
    if (status == GRAFT_OK) {
        status = graft_tree_walk(tree, apply_conversions, planner, error);
    }
    if (status == GRAFT_OK) {
        status = take_namesakes(planner, tree, error);
    }
    if (status == GRAFT_OK) {
        graft_plan_follow_adapters(plan);
        bind_ties(plan);
    }
    if (status == GRAFT_OK) {
        status = graft_plan_fit(plan, error);
    }
    if (status == GRAFT_OK) {
        status = list_unexpected(planner, error);
    }
    return status == GRAFT_OK ? graft_plan_find_elsewhere(plan, &planner->lookup, error) : status;
}

int graft_plan_make(struct graft_tree *tree, const struct graft_checkpoint *checkpoint,
                    const struct graft_plan_options *options, struct graft_plan **plan, struct graft_error *error) {
    struct planner planner = {.plan = graft_alloc(1, sizeof **plan),
                              .options = options,
                              .lookup = {.prefix = options->base_model_prefix,
                                         .without = options->without,
                                         .tree = tree,
                                         .adapters = options->adapters}};
    if (planner.plan == NULL) {
        return graft_fail_memory(error, "");
    }
    planner.lookup.plan = planner.plan;
    planner.plan->tree = tree;
    planner.plan->checkpoint = checkpoint;
    planner.plan->base_model_prefix = options->base_model_prefix;
    planner.plan->layout_patched = options->layout_patched;
    planner.plan->runtime_layout = options->runtime_layout;
    planner.plan->adapters = options->adapters;
    planner.plan->patch_file = options->patch_file;
    planner.config = tree->config != NULL ? &tree->config->view : NULL;
    int status = make(&planner, tree, error);
    graft_renamings_free(&planner.lookup.renamings);
    if (status != GRAFT_OK) {
        graft_plan_free(planner.plan);
        return status;
    }
    *plan = planner.plan;
    return GRAFT_OK;
}

void graft_plan_free(struct graft_plan *plan) {
    if (plan != NULL) {
        for (size_t i = 0; i < plan->n_bindings; i++) {
            graft_value_free(&plan->bindings[i].value);
            graft_free(plan->bindings[i].problem);
        }
        for (size_t i = 0; i < plan->n_computed; i++) {
            graft_computed_free(plan->computed[i]);
        }
        if (plan->sources != NULL) {
            graft_sources_finish(plan->sources);
        }
        graft_free(plan->sources);
        graft_free(plan->computed);
        graft_free(plan->bindings);
        graft_free(plan->unexpected);
        graft_free(plan->elsewhere);
        graft_absent_free(plan);
        graft_free(plan->sliced);
        graft_free(plan);
    }
}

int graft_plan_check(const struct graft_plan *plan, struct graft_error *error) {
    return graft_plan_check_but(plan, NULL, NULL, error);
}

int graft_plan_check_but(const struct graft_plan *plan, int (*may_lack)(void *data, const char *name), void *data,
                         struct graft_error *error) {
    const struct graft_binding *fault = graft_plan_fault(plan, may_lack, data);
    return fault != NULL ? graft_plan_fail(plan, fault, error) : graft_plan_check_sources(plan, error);
}
