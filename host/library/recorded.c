/* SPDX-License-Identifier: Apache-2.0 */
/* Tensors of f32 as files. */
#include "base/alloc.h"
#include "base/fail.h"
#include "graft/host/recording.h"
#include "weights/safetensors_write.h"

static struct graft_tensor_view view_of(const struct graft_recorded *recorded) {
    struct graft_tensor_view view = {
        .name = recorded->name, .dtype = GRAFT_DTYPE_F32, .rank = recorded->rank, .data = recorded->data};
    view.bytes = (int64_t)sizeof *recorded->data;
    for (int32_t i = 0; i < GRAFT_MAX_RANK; i++) {
        view.shape[i] = 1;
    }
    for (int32_t i = 0; i < recorded->rank && i < GRAFT_RECORDED_RANK; i++) {
        view.shape[i] = recorded->shape[i];
        view.bytes *= recorded->shape[i];
    }
    return view;
}

int graft_recorded_write(const char *path, const struct graft_recorded *tensors, size_t n, struct graft_error *error) {
    struct graft_tensor_view *views = graft_alloc(n, sizeof *views);
    if (views == NULL) {
        return graft_fail_memory(error, path);
    }
    for (size_t i = 0; i < n; i++) {
        views[i] = view_of(&tensors[i]);
    }
    int status = graft_safetensors_write(path, views, n, NULL, error);
    graft_free(views);
    return status;
}
