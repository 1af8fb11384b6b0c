/* SPDX-License-Identifier: Apache-2.0 */
/* Writes recorded tensors of f32 to files. */
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/text.h"
#include "graft/host/observe.h"
#include "weights/safetensors_write.h"

/* More elements than an array in memory can have. */
static const int64_t max_numbers = INT64_C(1) << 48;

static int refuse(const struct graft_recorded *recorded, const char *field, struct graft_error *error) {
    return graft_error_set(error, GRAFT_ERROR_USAGE, field, "of tensor \"%.300s\": out of range", recorded->name);
}

/* Describes the tensor to write, if its sizes can be those of an array in memory. */
static int view_of(const struct graft_recorded *recorded, struct graft_tensor_view *view, struct graft_error *error) {
    int64_t count = 1;
    const char *name = recorded->name != NULL ? recorded->name : "";
    size_t length = strlen(name);
    if (length == 0 || graft_utf8_valid_prefix(name, length) != length || strcmp(name, "__metadata__") == 0) {
        return graft_error_set(error, GRAFT_ERROR_USAGE, "name", "expected a tensor's name in UTF-8, got \"%.300s\"",
                               name);
    }
    if (recorded->rank < 1 || recorded->rank > GRAFT_RECORDED_RANK) {
        return refuse(recorded, "rank", error);
    }
    *view = (struct graft_tensor_view){
        .name = recorded->name, .dtype = GRAFT_DTYPE_F32, .rank = recorded->rank, .data = recorded->data};
    for (int32_t i = 0; i < GRAFT_MAX_RANK; i++) {
        view->shape[i] = i < recorded->rank ? recorded->shape[i] : 1;
        if (view->shape[i] < 0 || (view->shape[i] > 0 && count > max_numbers / view->shape[i])) {
            return refuse(recorded, "shape", error);
        }
        count *= view->shape[i];
    }
    view->bytes = count * (int64_t)sizeof *recorded->data;
    return count == 0 || recorded->data != NULL ? GRAFT_OK : refuse(recorded, "data", error);
}

int graft_recorded_write(const char *path, const struct graft_recorded *tensors, size_t n, struct graft_error *error) {
    int status = graft_check_given_path(path, "path", error);
    if (status == GRAFT_OK) {
        status = graft_check_structs(tensors, n, GRAFT_RECORDED_SIZE_1_0, "struct graft_recorded", error);
    }
    struct graft_tensor_view *views = graft_alloc(n, sizeof *views);
    if (status == GRAFT_OK && views == NULL) {
        status = graft_fail_memory(error, path);
    }
    for (size_t i = 0; i < n && status == GRAFT_OK; i++) {
        status = view_of(graft_struct_at(tensors, i), &views[i], error);
    }
    if (status == GRAFT_OK) {
        status = graft_safetensors_write(path, views, n, NULL, error);
    }
    graft_free(views);
    return status;
}
