/* SPDX-License-Identifier: Apache-2.0 */
/* Reads images and videos that were prepared elsewhere. */
#include <string.h>

#include "base/alloc.h"
#include "base/dtype.h"
#include "base/fail.h"
#include "graft/host/image.h"
#include "weights/safetensors.h"

enum { MAX_IMAGES = 1 << 16, MAX_GRID = 1 << 16 };

/* The names of a kind's two tensors. */
struct kind {
    const char *values;
    const char *grids;
    const char *name;
    int32_t is_video;
};

static const struct kind kinds[] = {{"pixel_values", "image_grid_thw", "image", 0},
                                    {"pixel_values_videos", "video_grid_thw", "video", 1}};

struct file {
    const char *name;
    const struct kind *kind;
    const struct graft_tensor_view *pixel_values; /* [patches, patch_dim] F32 */
    const struct graft_tensor_view *grids;        /* [images, 3] I64 or I32 */
};

static int check(const struct file *file, struct graft_error *error) {
    if (file->pixel_values == NULL || file->pixel_values->rank != 2 || file->pixel_values->dtype != GRAFT_DTYPE_F32) {
        return graft_error_set(error, GRAFT_ERROR_IO, file->name, "expected a tensor %s, F32 [patches, patch_dim]",
                               file->kind->values);
    }
    if (file->grids == NULL || file->grids->rank != 2 || file->grids->shape[1] != 3 || file->grids->shape[0] < 1 ||
        file->grids->shape[0] > MAX_IMAGES ||
        (file->grids->dtype != GRAFT_DTYPE_I64 && file->grids->dtype != GRAFT_DTYPE_I32)) {
        return graft_error_set(error, GRAFT_ERROR_IO, file->name, "expected a tensor %s, I64 or I32 [1 to %d %ss, 3]",
                               file->kind->grids, MAX_IMAGES, file->kind->name);
    }
    return GRAFT_OK;
}

static int64_t element(const struct graft_tensor_view *tensor, int64_t i) {
    int64_t size = graft_dtype_size(tensor->dtype);
    const char *at = (const char *)tensor->data + i * size;
    int64_t wide;
    int32_t narrow;
    if (tensor->dtype == GRAFT_DTYPE_I64) {
        memcpy(&wide, at, sizeof wide);
        return wide;
    }
    memcpy(&narrow, at, sizeof narrow);
    return narrow;
}

/* Reads image or video `i` of a kind, whose patches start at `*row`. */
static int take(const struct file *file, int64_t i, int64_t *row, struct graft_image *image,
                struct graft_error *error) {
    int64_t patches = 1;
    for (int64_t k = 0; k < 3; k++) {
        image->grid[k] = element(file->grids, i * 3 + k);
        if (image->grid[k] < 1 || image->grid[k] > MAX_GRID) {
            return graft_error_set(error, GRAFT_ERROR_IO, file->name, "%s: expected 1 to %d, got %lld",
                                   file->kind->grids, MAX_GRID, (long long)image->grid[k]);
        }
        patches *= image->grid[k];
    }
    if (patches > file->pixel_values->shape[0] - *row) {
        return graft_error_set(error, GRAFT_ERROR_IO, file->name, "%s: %s %lld has %lld patches, %s has %lld left",
                               file->kind->grids, file->kind->name, (long long)i + 1, (long long)patches,
                               file->kind->values, (long long)(file->pixel_values->shape[0] - *row));
    }
    size_t bytes = (size_t)(patches * image->patch_dim) * sizeof(float);
    float *values = graft_alloc(1, bytes);
    if (values == NULL) {
        return graft_fail_memory(error, file->name);
    }
    memcpy(values, (const char *)file->pixel_values->data + *row * image->patch_dim * (int64_t)sizeof(float), bytes);
    image->pixel_values = values;
    *row += patches;
    return GRAFT_OK;
}

/* Appends those of one kind to `images`, which has room for them. */
static int take_kind(const struct file *file, struct graft_image *images, size_t *n, struct graft_error *error) {
    int64_t row = 0;
    int status = GRAFT_OK;
    for (int64_t i = 0; i < file->grids->shape[0] && status == GRAFT_OK; i++) {
        struct graft_image *image = &images[*n];
        *image = (struct graft_image){.struct_size = sizeof *image, .is_video = file->kind->is_video};
        image->patch_dim = file->pixel_values->shape[1];
        status = take(file, i, &row, image, error);
        *n += status == GRAFT_OK;
    }
    if (status == GRAFT_OK && row != file->pixel_values->shape[0]) {
        status = graft_error_set(error, GRAFT_ERROR_IO, file->name, "%s: expected the %lld patches of %s, got %lld",
                                 file->kind->values, (long long)row, file->kind->grids,
                                 (long long)file->pixel_values->shape[0]);
    }
    return status;
}

static int take_all(const struct graft_safetensors *safetensors, const char *name, struct graft_image **images,
                    size_t *n, struct graft_error *error) {
    struct file files[2];
    size_t count = 0;
    int status = GRAFT_OK;
    for (size_t k = 0; k < 2; k++) {
        const struct kind *kind = &kinds[k];
        struct file file = {name, kind, graft_safetensors_find(safetensors, kind->values),
                            graft_safetensors_find(safetensors, kind->grids)};
        if (file.pixel_values != NULL || file.grids != NULL) {
            files[count++] = file;
        }
    }
    if (count == 0) {
        return graft_error_set(error, GRAFT_ERROR_IO, name, "expected tensors %s and %s, or %s and %s", kinds[0].values,
                               kinds[0].grids, kinds[1].values, kinds[1].grids);
    }
    for (size_t k = 0; k < count && status == GRAFT_OK; k++) {
        status = check(&files[k], error);
    }
    if (status != GRAFT_OK) {
        return status;
    }
    size_t room = (size_t)files[0].grids->shape[0] + (count > 1 ? (size_t)files[1].grids->shape[0] : 0);
    *images = graft_alloc(room, sizeof **images);
    status = *images != NULL ? GRAFT_OK : graft_fail_memory(error, name);
    for (size_t k = 0; k < count && status == GRAFT_OK; k++) {
        status = take_kind(&files[k], *images, n, error);
    }
    return status;
}

int graft_images_read(const char *name, struct graft_image **images, size_t *n, struct graft_error *error) {
    struct graft_safetensors *safetensors = NULL;
    *images = NULL;
    *n = 0;
    int status = graft_safetensors_open(name, &safetensors, error);
    if (status == GRAFT_ERROR_MODEL) { /* the file is an input, not part of the model */
        status = GRAFT_ERROR_IO;
        if (error != NULL) {
            error->code = status;
        }
    }
    if (status == GRAFT_OK) {
        status = take_all(safetensors, name, images, n, error);
    }
    graft_safetensors_close(safetensors);
    if (status != GRAFT_OK) {
        graft_images_free(*images, *n);
        *images = NULL;
        *n = 0;
    }
    return status;
}

void graft_images_free(struct graft_image *images, size_t n) {
    for (size_t i = 0; i < n; i++) {
        graft_image_finish(&images[i]);
    }
    graft_free(images);
}
