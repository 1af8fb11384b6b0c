/* SPDX-License-Identifier: Apache-2.0 */
/* Two libraries in one process share a plugin: freeing one library must not stop the plugin for the other. */
#include "base/alloc.h"
#include "validate/compare.h"

/* Makes, runs and frees another library with a model of its own. */
static int come_and_go(struct graft_subject *subject, const float *before, struct graft_error *error) {
    struct graft_library *library = NULL;
    struct graft_model *model = NULL;
    int status = graft_subject_open(subject, 0, &library, &model, error);
    if (status == GRAFT_OK && before != NULL) {
        status = graft_same_logits(subject, subject->model, model, "logits of two libraries", 0.0, error);
    }
    graft_model_free(model);
    graft_library_free(library);
    return status;
}

static int share(struct graft_subject *subject, struct graft_error *error) {
    const struct graft_prompt prompt = graft_validation_prompt();
    int64_t count = GRAFT_VALIDATION_IDS * graft_model_vocab_size(subject->model);
    float *before = NULL, *after = NULL;
    int status = GRAFT_OK;
    if (graft_has_logits(subject->model)) {
        status = graft_make_logits(subject, subject->model, &prompt, 1, &before, error);
    }
    if (status == GRAFT_OK) {
        status = come_and_go(subject, before, error);
    }
    if (status == GRAFT_OK && before != NULL) {
        status = graft_make_logits(subject, subject->model, &prompt, 1, &after, error);
    }
    if (status == GRAFT_OK && before != NULL) {
        status = graft_compare_numbers(subject, after, before, count, 0.0,
                                       "logits after another library is gone, and before", error);
    }
    graft_free(before);
    graft_free(after);
    return status;
}

static int check_shared(struct graft_validation *validation, struct graft_error *error) {
    return graft_tiny_each(validation, share, error);
}

const struct graft_validation_check graft_shared_checks[] = {
    GRAFT_CHECK("life.shared", "two libraries of one process share it; when one is freed, the other still works",
                check_shared),
    {{0}, NULL, 0},
};
