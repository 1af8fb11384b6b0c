/* SPDX-License-Identifier: Apache-2.0 */
/* Converts weights to the plugin's parameters, and back again by saving. */
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "graft/host/model.h"
#include "validate/compare.h"
#include "validate/tiny.h"
#include "weights/checkpoint.h"

static int strictly(struct graft_subject *subject, struct graft_error *error) {
    return graft_model_check_tensors(subject->model, error);
}

static int check_forward(struct graft_validation *validation, struct graft_error *error) {
    return graft_tiny_each(validation, strictly, error);
}

/* Compares the tensors of two directories, bit by bit. */
static int compare_checkpoints(const struct graft_subject *subject, const char *saved, struct graft_error *error) {
    struct graft_checkpoint *before = NULL, *after = NULL;
    int status = graft_checkpoint_open(subject->directory, &before, error);
    if (status == GRAFT_OK) {
        status = graft_checkpoint_open(saved, &after, error);
    }
    for (size_t i = 0; status == GRAFT_OK && i < graft_checkpoint_count(before); i++) {
        const struct graft_tensor_view *old = graft_checkpoint_at(before, i);
        const struct graft_tensor_view *new = graft_checkpoint_find(after, old->name);
        if (new == NULL) {
            status = graft_validation_fault(subject->validation, error, "%s is gone after saving", old->name);
        } else if (old->bytes != new->bytes || memcmp(old->data, new->data, (size_t)old->bytes) != 0) {
            status = graft_validation_fault(subject->validation, error, "%s is different after saving", old->name);
        }
    }
    graft_checkpoint_close(before);
    graft_checkpoint_close(after);
    return status;
}

static char *save_name(const struct graft_subject *subject, const char *what) {
    return graft_format("%s/.%s-%s", subject->validation->folder, what, subject->model_type);
}

/* Saves in the original layout. Skipped for models with an adapter, since adapters are not saved. */
static int save_original(struct graft_subject *subject, struct graft_error *error) {
    if (subject->is_adapted) {
        return graft_subject_leave(subject, "an adapter is in effect");
    }
    char *saved = save_name(subject, "original");
    if (saved == NULL) {
        return graft_fail_memory(error, subject->directory);
    }
    int status = graft_model_save(subject->model, saved, NULL, error);
    if (status == GRAFT_OK) {
        status = compare_checkpoints(subject, saved, error);
    } else if (subject->is_lossy) {
        *error = graft_error_none(); /* refusing an operation that cannot be undone is correct */
        status = graft_subject_leave(subject, "it is lossy, and cannot go back");
    }
    graft_free(saved);
    return status;
}

static int check_back(struct graft_validation *validation, struct graft_error *error) {
    return graft_tiny_each(validation, save_original, error);
}

/* Saves in the runtime layout, and checks that the copy computes the same bits and can be saved as the same tensors. */
static int save_runtime(struct graft_subject *subject, struct graft_error *error) {
    const struct graft_save_options options = {.struct_size = sizeof options, .runtime_layout = 1};
    if (subject->is_adapted) {
        return graft_subject_leave(subject, "an adapter is in effect");
    }
    struct graft_subject again = *subject;
    struct graft_library *library = NULL;
    struct graft_model *model = NULL;
    again.directory = save_name(subject, "runtime");
    if (again.directory == NULL) {
        return graft_fail_memory(error, subject->directory);
    }
    int status = graft_model_save(subject->model, again.directory, &options, error);
    if (status == GRAFT_OK) {
        status = graft_subject_open(&again, 0, &library, &model, error);
    }
    if (status == GRAFT_OK && graft_has_logits(model)) {
        status = graft_same_logits(subject, subject->model, model, "in the runtime layout", 0.0, error);
    }
    graft_model_free(model);
    graft_library_free(library);
    graft_free(again.directory);
    return status;
}

static int check_runtime(struct graft_validation *validation, struct graft_error *error) {
    return graft_tiny_each(validation, save_runtime, error);
}

const struct graft_validation_check graft_conversion_checks[] = {
    GRAFT_CHECK("conversion.forward", "every parameter gets its weight, and every tensor is used", check_forward),
    GRAFT_CHECK("conversion.back", "saving restores the checkpoint's weights, bit for bit", check_back),
    GRAFT_CHECK("conversion.runtime", "saved in the runtime layout and opened again, the model gives the same bits",
                check_runtime),
    {{0}, NULL, 0},
};
