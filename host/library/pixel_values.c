/* SPDX-License-Identifier: Apache-2.0 */
/* Images that were prepared elsewhere. */
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "graft/host/images.h"
#include "weights/safetensors.h"

enum { MAX_IMAGES = 1 << 16, MAX_GRID = 1 << 16 };

struct file {
    const char *name;
    const struct graft_tensor_view *pixel_values; /* [patches, patch_dim] F32 */
    const struct graft_tensor_view *grids;        /* [images, 3] I64 or I32 */
};

static int find(const struct graft_safetensors *safetensors, struct file *file, struct graft_error *error) {
    file->pixel_values = graft_safetensors_find(safetensors, "pixel_values");
    file->grids = graft_safetensors_find(safetensors, "image_grid_thw");
    if (file->pixel_values == NULL || file->pixel_values->rank != 2 || file->pixel_values->dtype != GRAFT_DTYPE_F32) {
        return graft_fail(error, GRAFT_ERROR_IO, file->name,
                          "expected a tensor pixel_values, F32 [patches, patch_dim]");
    }
    if (file->grids == NULL || file->grids->rank != 2 || file->grids->shape[1] != 3 || file->grids->shape[0] < 1 ||
        file->grids->shape[0] > MAX_IMAGES ||
        (file->grids->dtype != GRAFT_DTYPE_I64 && file->grids->dtype != GRAFT_DTYPE_I32)) {
        return graft_fail(error, GRAFT_ERROR_IO, file->name,
                          "expected a tensor image_grid_thw, I64 or I32 [1 to %d images, 3]", MAX_IMAGES);
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

/* Image number `i`, whose patches start at `*row`. */
static int take(const struct file *file, int64_t i, int64_t *row, struct graft_image *image,
                struct graft_error *error) {
    int64_t patches = 1;
    for (int64_t k = 0; k < 3; k++) {
        image->grid[k] = element(file->grids, i * 3 + k);
        if (image->grid[k] < 1 || image->grid[k] > MAX_GRID) {
            return graft_fail(error, GRAFT_ERROR_IO, file->name, "image_grid_thw: expected 1 to %d, got %lld", MAX_GRID,
                              (long long)image->grid[k]);
        }
        patches *= image->grid[k];
    }
    if (patches > file->pixel_values->shape[0] - *row) {
        return graft_fail(error, GRAFT_ERROR_IO, file->name,
                          "image_grid_thw: image %lld has %lld patches, pixel_values has %lld left", (long long)i + 1,
                          (long long)patches, (long long)(file->pixel_values->shape[0] - *row));
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

static int take_all(const struct file *file, struct graft_image **images, size_t *n, struct graft_error *error) {
    int64_t count = file->grids->shape[0];
    int64_t row = 0;
    int status = GRAFT_OK;
    *images = graft_alloc((size_t)count, sizeof **images);
    if (*images == NULL) {
        return graft_fail_memory(error, file->name);
    }
    for (int64_t i = 0; i < count && status == GRAFT_OK; i++) {
        (*images)[i].struct_size = sizeof **images;
        (*images)[i].patch_dim = file->pixel_values->shape[1];
        status = take(file, i, &row, &(*images)[i], error);
        *n += status == GRAFT_OK;
    }
    if (status == GRAFT_OK && row != file->pixel_values->shape[0]) {
        status = graft_fail(error, GRAFT_ERROR_IO, file->name,
                            "pixel_values: expected the %lld patches of image_grid_thw, got %lld", (long long)row,
                            (long long)file->pixel_values->shape[0]);
    }
    return status;
}

int graft_images_read(const char *name, struct graft_image **images, size_t *n, struct graft_error *error) {
    struct graft_safetensors *safetensors = NULL;
    struct file file = {.name = name};
    *images = NULL;
    *n = 0;
    int status = graft_safetensors_open(name, &safetensors, error);
    if (status == GRAFT_ERROR_MODEL) { /* it is no file of the model here */
        status = GRAFT_ERROR_IO;
        if (error != NULL) {
            error->code = status;
        }
    }
    if (status == GRAFT_OK) {
        status = find(safetensors, &file, error);
    }
    if (status == GRAFT_OK) {
        status = take_all(&file, images, n, error);
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
