/* SPDX-License-Identifier: Apache-2.0 */
/* Opens models whose tensors are in the caller's memory, instead of in weight files. */
#include "base/alloc.h"
#include "base/dtype.h"
#include "base/fail.h"
#include "library/library.h"
#include "weights/checkpoint.h"

static size_t count(const struct graft_model_options *options) {
    return options != NULL && GRAFT_HAS(options, struct graft_model_options, n_tensors) ? options->n_tensors : 0;
}

static int check_tensor(const struct graft_given_tensor *tensor, size_t number, struct graft_error *error) {
    const char *name = tensor->name != NULL && tensor->name[0] != '\0' ? tensor->name : NULL;
    if (name == NULL) {
        return graft_error_set(error, GRAFT_ERROR_USAGE, "tensors", "number %zu: expected a name", number);
    }
    if (graft_dtype_size(tensor->dtype) == 0) {
        return graft_error_set(error, GRAFT_ERROR_USAGE, name, "dtype: expected GRAFT_DTYPE_..., got %d",
                               (int)tensor->dtype);
    }
    if (tensor->rank < 0 || tensor->rank > GRAFT_MAX_RANK) {
        return graft_error_set(error, GRAFT_ERROR_USAGE, name, "rank: expected 0 to %d, got %d", GRAFT_MAX_RANK,
                               (int)tensor->rank);
    }
    for (int32_t i = 0; i < tensor->rank; i++) {
        if (tensor->shape[i] < 1) {
            return graft_error_set(error, GRAFT_ERROR_USAGE, name, "shape[%d]: expected 1 or more, got %lld", (int)i,
                                   (long long)tensor->shape[i]);
        }
    }
    if (graft_tensor_view_size(tensor->dtype, tensor->rank, tensor->shape) < 0) {
        return graft_error_set(error, GRAFT_ERROR_USAGE, name, "shape: it has more bytes than there are");
    }
    return tensor->data != NULL ? GRAFT_OK
                                : graft_error_set(error, GRAFT_ERROR_USAGE, name, "data: expected numbers, got NULL");
}

int graft_model_check_given(const struct graft_model_options *options, struct graft_error *error) {
    const size_t n = count(options);
    int status = GRAFT_OK;
    if (n > 0 && (options->tensors == NULL || !options->without_weights)) {
        return graft_error_set(error, GRAFT_ERROR_USAGE, "struct graft_model_options",
                               options->tensors == NULL ? "tensors: expected %zu, got NULL"
                                                        : "tensors: %zu are given beside the directory's own",
                               n);
    }
    if (n > 0) {
        status =
            graft_check_structs(options->tensors, n, GRAFT_GIVEN_TENSOR_SIZE_1_0, "struct graft_given_tensor", error);
    }
    for (size_t i = 0; i < n && status == GRAFT_OK; i++) {
        status = check_tensor(graft_struct_at(options->tensors, i), i, error);
    }
    return status;
}

int graft_model_open_given(struct graft_model *model, const struct graft_model_options *options,
                           struct graft_error *error) {
    const size_t n = count(options);
    struct graft_tensor_view *views = graft_alloc(n + 1, sizeof *views);
    if (views == NULL) {
        return graft_fail_memory(error, model->directory);
    }
    for (size_t i = 0; i < n; i++) {
        const struct graft_given_tensor *tensor = graft_struct_at(options->tensors, i);
        views[i] = (struct graft_tensor_view){
            .name = tensor->name, .dtype = tensor->dtype, .rank = tensor->rank, .data = tensor->data};
        for (int32_t k = 0; k < GRAFT_MAX_RANK; k++) {
            views[i].shape[k] = k < tensor->rank ? tensor->shape[k] : 1;
        }
    }
    int status = graft_checkpoint_open_memory(model->directory, views, n, &model->checkpoint, error);
    graft_free(views);
    return status;
}
