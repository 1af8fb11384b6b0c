/* SPDX-License-Identifier: Apache-2.0 */
/* Replaces tensors of a checkpoint by tensors in memory. */
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "weights/checkpoint_parts.h"

enum { LINE = 64 };

static int copy(const struct graft_tensor_view *from, struct graft_tensor_view *to) {
    *to = (struct graft_tensor_view){
        .name = graft_strdup(from->name),
        .dtype = from->dtype,
        .rank = from->rank,
        .bytes = graft_tensor_view_size(from->dtype, from->rank, from->shape),
        .file = from->file,
        .is_made = 1,
    };
    for (int32_t i = 0; i < GRAFT_MAX_RANK; i++) {
        to->shape[i] = i < from->rank ? from->shape[i] : 1;
    }
    return to->name != NULL ? 0 : -1;
}

int graft_checkpoint_exchange(struct graft_checkpoint *checkpoint, const unsigned char *removed,
                              const struct graft_tensor_view *made, size_t n, struct graft_error *error) {
    size_t kept = 0;
    const struct graft_tensor_view **tensors = graft_alloc(checkpoint->count + n, sizeof *tensors);
    checkpoint->made = graft_alloc(n + 1, sizeof *checkpoint->made);
    if (tensors == NULL || checkpoint->made == NULL) {
        graft_free(tensors);
        return graft_fail_memory(error, checkpoint->directory);
    }
    for (size_t i = 0; i < checkpoint->count; i++) {
        if (!removed[i]) {
            tensors[kept++] = checkpoint->tensors[i];
        }
    }
    graft_free(checkpoint->tensors);
    checkpoint->tensors = tensors;
    checkpoint->count = kept;
    for (; checkpoint->n_made < n; checkpoint->n_made++) {
        struct graft_tensor_view *view = &checkpoint->made[checkpoint->n_made];
        if (copy(&made[checkpoint->n_made], view) != 0) {
            return graft_fail_memory(error, checkpoint->directory);
        }
        checkpoint->tensors[checkpoint->count++] = view;
    }
    return graft_checkpoint_sort(checkpoint, error);
}

int graft_checkpoint_open_memory(const char *directory, const struct graft_tensor_view *tensors, size_t n,
                                 struct graft_checkpoint **checkpoint, struct graft_error *error) {
    struct graft_checkpoint *opened = NULL;
    int status = graft_checkpoint_open_none(directory, &opened, error);
    if (status != GRAFT_OK) {
        return status;
    }
    opened->is_lent = 1;
    status = graft_checkpoint_exchange(opened, NULL, tensors, n, error);
    if (status != GRAFT_OK) {
        graft_checkpoint_close(opened);
        return status;
    }
    for (size_t i = 0; i < n; i++) {
        opened->made[i].data = tensors[i].data;
        opened->made[i].file = opened->directory;
    }
    *checkpoint = opened;
    return GRAFT_OK;
}

int graft_checkpoint_make_room(struct graft_checkpoint *checkpoint, struct graft_error *error) {
    for (size_t i = 0; i < checkpoint->n_made; i++) {
        struct graft_tensor_view *view = &checkpoint->made[i];
        if (view->data == NULL) { /* an earlier call, after which something failed, may have allocated it */
            view->data = graft_alloc_aligned(LINE, (size_t)view->bytes);
        }
        if (view->data == NULL) {
            return graft_error_set(error, GRAFT_ERROR_INTERNAL, view->name, "out of memory: %lld bytes",
                                   (long long)view->bytes);
        }
    }
    return GRAFT_OK;
}

const struct graft_tensor_view *graft_checkpoint_made_at(const struct graft_checkpoint *checkpoint, size_t i) {
    return &checkpoint->made[i];
}

int64_t graft_checkpoint_made_bytes(const struct graft_checkpoint *checkpoint) {
    int64_t bytes = 0;
    for (size_t i = 0; i < checkpoint->n_made && !checkpoint->is_lent; i++) {
        bytes += checkpoint->made[i].bytes;
    }
    return bytes;
}

void graft_checkpoint_free_made(struct graft_checkpoint *checkpoint) {
    for (size_t i = 0; i < checkpoint->n_made; i++) {
        graft_free((void *)(uintptr_t)checkpoint->made[i].name);
        if (!checkpoint->is_lent) {
            graft_free((void *)(uintptr_t)checkpoint->made[i].data);
        }
    }
    graft_free(checkpoint->made);
}
