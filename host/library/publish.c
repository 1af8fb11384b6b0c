/* SPDX-License-Identifier: Apache-2.0 */
/* Publishes the plan of a model. */
#include "base/fail.h"
#include "library/library.h"

/* Collects the names of tensors; NULL if memory ran out. */
static const char *const *publish_names(struct graft_model *model, const struct graft_tensor_view *const *tensors,
                                        size_t n) {
    const char **names = graft_arena_alloc(&model->published.arena, n, sizeof *names);
    for (size_t i = 0; i < n && names != NULL; i++) {
        names[i] = tensors[i]->name;
    }
    return names;
}

/* The tensors that no parameter uses. */
static int publish_unused(struct graft_model *model, struct graft_error *error) {
    const struct graft_plan *plan = model->plan;
    struct graft_plan_info *shown = &model->published.plan;
    shown->unexpected = publish_names(model, plan->unexpected, plan->n_unexpected);
    shown->n_unexpected = plan->n_unexpected;
    shown->elsewhere = publish_names(model, plan->elsewhere, plan->n_elsewhere);
    shown->n_elsewhere = plan->n_elsewhere;
    shown->elsewhere_bytes = plan->elsewhere_bytes;
    return shown->unexpected != NULL && shown->elsewhere != NULL ? GRAFT_OK
                                                                 : graft_fail_memory(error, model->directory);
}

static int publish_adapters(struct graft_model *model, struct graft_error *error) {
    struct graft_arena *arena = &model->published.arena;
    const struct graft_adapters *adapters = &model->adapters;
    const struct graft_planned_adapter **pointers = graft_arena_alloc(arena, adapters->n, sizeof *pointers);
    struct graft_planned_adapter *shown = graft_arena_alloc(arena, adapters->n, sizeof *shown);
    if (pointers == NULL || shown == NULL) {
        return graft_fail_memory(error, model->directory);
    }
    for (size_t i = 0; i < adapters->n; i++) {
        const struct graft_adapter *adapter = &adapters->items[i];
        shown[i] = (struct graft_planned_adapter){.struct_size = sizeof shown[i],
                                                  .name = adapter->name,
                                                  .directory = adapter->directory,
                                                  .scale = adapter->scale,
                                                  .n_tensors = adapter->n_tensors};
        pointers[i] = &shown[i];
    }
    model->published.plan.adapters = pointers;
    model->published.plan.n_adapters = adapters->n;
    return GRAFT_OK;
}

int graft_model_publish(struct graft_model *model, struct graft_error *error) {
    model->published.plan = (struct graft_plan_info){
        .struct_size = sizeof model->published.plan,
        .directory = model->directory,
        .model_type = model->config->model_type,
        .plugin = model->family.origin.plugin,
        .architecture = model->tree->root->class_name,
        .n_tensors = graft_checkpoint_count(model->checkpoint),
        .n_files = graft_checkpoint_file_count(model->checkpoint),
        .mapped_bytes = model->plan->mapped_bytes,
        .copied_bytes = model->plan->copied_bytes,
        .computed_bytes = model->plan->computed_bytes,
        .peak_anonymous_bytes = model->plan->peak_anonymous_bytes,
        .state_bytes = model->survey.state_bytes,
    };
    int status = graft_publish_modules(model, error);
    if (status == GRAFT_OK) {
        status = graft_publish_parameters(model, error);
    }
    if (status == GRAFT_OK) {
        status = graft_publish_fusions(model, error);
    }
    if (status == GRAFT_OK) {
        status = graft_publish_implementations(model, error);
    }
    if (status == GRAFT_OK) {
        status = publish_adapters(model, error);
    }
    return status == GRAFT_OK ? publish_unused(model, error) : status;
}

const struct graft_plan_info *graft_model_plan(const struct graft_model *model) {
    return &model->published.plan;
}

double graft_model_load_seconds(const struct graft_model *model) {
    return model->bound != NULL ? model->load_seconds : -1.0;
}

int graft_model_check_tensors(const struct graft_model *model, struct graft_error *error) {
    const struct graft_plan *plan = model->plan;
    int status = graft_plan_check(plan, error);
    if (status == GRAFT_OK && plan->n_unexpected > 0) {
        const struct graft_tensor_view *first = plan->unexpected[0];
        status = graft_error_set(error, GRAFT_ERROR_MODEL, first->file != NULL ? first->file : model->directory,
                                 "%s: unexpected: no parameter uses this tensor (%zu such tensors)", first->name,
                                 plan->n_unexpected);
    }
    const struct graft_binding *apart = status == GRAFT_OK ? graft_plan_tied_apart(plan) : NULL;
    if (apart != NULL) {
        const char *file = graft_plan_file_of(plan, apart->parameter->name);
        status = graft_error_set(error, GRAFT_ERROR_MODEL, file != NULL ? file : model->directory,
                                 "%s: tied to %s, but the checkpoint has other values for it", apart->parameter->name,
                                 apart->parameter->tied_to->name);
    }
    return status;
}

static int check_strictly(const struct graft_model *model, struct graft_error *error) {
    int status = graft_model_check_tensors(model, error);
    return status == GRAFT_OK ? graft_model_check_used(model, error) : status;
}

int graft_model_check_strict(const struct graft_model *model, struct graft_error *error) {
    struct graft_context *before = graft_model_begin(model);
    int status = check_strictly(model, error);
    (void)graft_context_enter(before);
    return status;
}
