/* SPDX-License-Identifier: Apache-2.0 */
/* Finds state that a plugin keeps outside of its instances: models are built, run and freed while its static variables
 * are read-only. */
#include "base/alloc.h"
#include "validate/checks.h"
#include "validate/compare.h"
#include "validate/crash.h"

static int use_model(struct graft_subject *subject, struct graft_error *error) {
    const struct graft_model_options options = {.struct_size = sizeof options, .precision = GRAFT_PRECISION_FLOAT32};
    const struct graft_prompt prompt = graft_validation_prompt();
    int status = graft_tiny_open(subject->library, subject->directory, &options, &subject->model, error);
    if (status == GRAFT_OK) {
        status = graft_model_load(subject->model, error);
    }
    for (int i = 0; i < 2 && status == GRAFT_OK && graft_has_logits(subject->model); i++) {
        float *logits = NULL;
        status = graft_make_logits(subject, subject->model, &prompt, 1, &logits, error);
        graft_free(logits);
    }
    graft_model_free(subject->model);
    subject->model = NULL;
    return status;
}

/* `init` and `deinit` may write to static variables. */
static int with_statics(struct graft_subject *subject, struct graft_error *error) {
    int status = graft_validation_library_of_models(subject->validation, &subject->library, error);
    if (status != GRAFT_OK) {
        return status;
    }
    if ((graft_plugin_flags(graft_library_plugin(subject->library, 0)->descriptor) & GRAFT_PLUGIN_GUARDS_STATICS) !=
        0) {
        return graft_subject_leave(subject, "it says that it guards its static variables");
    }
    const size_t bytes = graft_crash_guard_statics(1);
    status = bytes > 0 ? use_model(subject, error)
                       : graft_subject_leave(subject, "it has no static variables that can be written");
    (void)graft_crash_guard_statics(0);
    return status;
}

int graft_check_statics(struct graft_validation *validation, struct graft_error *error) {
    return graft_tiny_each_closed(validation, with_statics, error);
}
