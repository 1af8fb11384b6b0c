/* SPDX-License-Identifier: Apache-2.0 */
/* Saves a model, loaded or only opened. */
#include "save/save.h"

#include "base/fail.h"
#include "library/library.h"
#include "library/recode.h"

static const struct graft_save_options defaults = {.struct_size = sizeof defaults};

static int save(struct graft_model *model, const char *directory, const struct graft_save_options *options,
                struct graft_error *error) {
    struct graft_config_changes changes = {0};
    if (model->fusion_config != NULL) {
        changes.items[changes.n++] = (struct graft_config_change){"fusion_config", model->fusion_config};
    }
    graft_recoding_changes(model, &changes);
    if (model->recoding != NULL && options->on_note != NULL) {
        options->on_note(options->data, model->recoding->note);
    }
    return graft_save(model->directory, model->tree, model->plan, changes.n > 0 ? &changes : NULL, directory, options,
                      error);
}

static int save_model(struct graft_model *model, const char *directory, const struct graft_save_options *options,
                      struct graft_error *error) {
    struct graft_bound *bound = NULL;
    int status = graft_check_given(options, GRAFT_SAVE_OPTIONS_SIZE_1_0, "struct graft_save_options", error);
    if (status == GRAFT_OK) {
        status = graft_check_given_path(directory, "directory", error);
    }
    if (status != GRAFT_OK) {
        return status;
    }
    options = options != NULL ? options : &defaults;
    if (model->without_weights) {
        return graft_error_set(error, GRAFT_ERROR_USAGE, model->directory, "was opened without weights to save");
    }
    if (model->adapters.n > 0) {
        (void)graft_error_set(error, GRAFT_ERROR_USAGE, model->directory,
                              "adapters cannot be saved as part of a model, and one is in effect");
        graft_error_hint(error,
                         "save the model without the adapter, and give the adapter whenever the model is loaded");
        return GRAFT_ERROR_USAGE;
    }
    if (model->bound != NULL) {
        return save(model, directory, options, error);
    }
    status = graft_save_check(model->directory, model->tree, model->plan, error);
    if (status != GRAFT_OK) {
        return status;
    }
    status = graft_save_check_target(model->directory, model->plan, directory, options, error);
    if (status == GRAFT_OK) {
        status = graft_recoding_fill(model, error);
    }
    if (status == GRAFT_OK) {
        status = graft_bind(model->plan, &bound, error);
    }
    if (status == GRAFT_OK) {
        status = save(model, directory, options, error);
    }
    for (size_t i = 0; i < model->plan->n_bindings; i++) {
        model->plan->bindings[i].parameter->weight = NULL;
    }
    graft_bound_free(bound);
    return status;
}

int graft_model_save(struct graft_model *model, const char *directory, const struct graft_save_options *options,
                     struct graft_error *error) {
    struct graft_context *before = graft_model_begin(model);
    int status = save_model(model, directory, options, error);
    (void)graft_context_enter(before);
    return status;
}
