/* SPDX-License-Identifier: Apache-2.0 */
/* A fake model that is planned with a checkpoint made for it. */
#ifndef GRAFT_TEST_FAKE_PLAN_H
#define GRAFT_TEST_FAKE_PLAN_H

#include "fake_model.h"
#include "plan/plan.h"
#include "save/save.h"
#include "tensor_file.h"

struct fake_plan {
    struct fake_model model;
    char folder[64];
    struct graft_checkpoint *checkpoint;
    struct graft_plan *plan;
};

static inline void fake_plan_init(struct fake_plan *fake) {
    fake->checkpoint = NULL;
    fake->plan = NULL;
    folder_create(fake->folder);
    fake_model_init(&fake->model);
}

static inline void fake_plan_finish(struct fake_plan *fake) {
    graft_plan_free(fake->plan);
    graft_checkpoint_close(fake->checkpoint);
    fake_model_finish(&fake->model);
    folder_remove(fake->folder);
}

/* Plans the class with the folder's checkpoint. Returns the status of graft_plan_make. */
static inline int fake_plan_again(struct fake_plan *fake, const char *class_name) {
    struct graft_error *error = &fake->model.error;
    graft_plan_free(fake->plan);
    graft_checkpoint_close(fake->checkpoint);
    fake->plan = NULL;
    assert_int_equal(fake_model_build(&fake->model, class_name), GRAFT_OK);
    assert_int_equal(graft_checkpoint_open(fake->folder, &fake->checkpoint, error), GRAFT_OK);
    static const char *const ignored[] = {"rotary_emb\\.inv_freq$", NULL};
    const struct graft_plan_options options = {.base_model_prefix = "model",
                                               .ignored_tensors = ignored,
                                               .runtime_layout = graft_save_is_runtime_layout(fake->folder)};
    int status = graft_plan_make(fake->model.tree, fake->checkpoint, &options, &fake->plan, error);
    assert_int_equal(status, error->code);
    return status;
}

/* Does the same with a new checkpoint of these tensors. */
static inline int fake_plan_make(struct fake_plan *fake, const char *class_name, const struct fake_tensor *tensors) {
    fake_checkpoint_write(fake->folder, tensors);
    return fake_plan_again(fake, class_name);
}

static inline struct graft_binding *fake_plan_binding(const struct fake_plan *fake, const char *name) {
    for (size_t i = 0; i < fake->plan->n_bindings; i++) {
        if (strcmp(fake->plan->bindings[i].parameter->name, name) == 0) {
            return &fake->plan->bindings[i];
        }
    }
    fail_msg("there is no binding %s", name);
    return NULL;
}

/* Whether the plan can be run; otherwise checks that the error names directory or file and the parameter, and contains
 * all `words`. */
static inline void fake_plan_refused(struct fake_plan *fake, const char *parameter, const char *words) {
    struct graft_error error = graft_error_none();
    assert_int_equal(graft_plan_check(fake->plan, &error), GRAFT_ERROR_MODEL);
    assert_memory_equal(error.source, fake->folder, strlen(fake->folder));
    assert_memory_equal(error.message, parameter, strlen(parameter));
    assert_memory_equal(error.message + strlen(parameter), ": ", 2);
    if (strstr(error.message, words) == NULL) {
        fail_msg("\"%s\" does not say \"%s\"", error.message, words);
    }
}

static inline int fake_plan_uses(const struct graft_plan *plan, const struct graft_tensor_view *tensor) {
    for (size_t i = 0; i < plan->n_bindings; i++) {
        for (size_t k = 0; k < plan->bindings[i].value.n_parts; k++) {
            if (plan->bindings[i].value.parts[k].tensor == tensor) {
                return 1;
            }
        }
    }
    return 0;
}

/* Checks that every tensor is either used by a parameter or unexpected, and that every parameter has a status. */
static inline void fake_plan_account(const struct fake_plan *fake) {
    size_t unexpected = 0;
    for (size_t i = 0; i < graft_checkpoint_count(fake->checkpoint); i++) {
        const struct graft_tensor_view *tensor = graft_checkpoint_at(fake->checkpoint, i);
        int listed = unexpected < fake->plan->n_unexpected && fake->plan->unexpected[unexpected] == tensor;
        unexpected += (size_t)listed;
        if (listed == fake_plan_uses(fake->plan, tensor)) {
            fail_msg("%s is %s", tensor->name, listed ? "used and unexpected" : "neither used nor unexpected");
        }
    }
    assert_int_equal(unexpected, fake->plan->n_unexpected);
    assert_int_equal(fake->plan->n_bindings, fake->model.tree->n_parameters);
}

#endif
