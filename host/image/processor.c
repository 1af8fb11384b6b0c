/* SPDX-License-Identifier: Apache-2.0 */
#include "image/processor.h"

#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "image/patches.h"
#include "image/resize.h"
#include "image/smart_resize.h"

static int check_grid(const struct graft_processor_config *config, const struct graft_pixels *pixels,
                      const char *source, struct graft_error *error) {
    int64_t factor = config->patch_size * config->merge_size;
    if (pixels->width % factor == 0 && pixels->height % factor == 0) {
        return GRAFT_OK;
    }
    return graft_fail(error, GRAFT_ERROR_IO, source,
                      "%lld x %lld pixels: expected multiples of %lld, because do_resize is false",
                      (long long)pixels->width, (long long)pixels->height, (long long)factor);
}

static int cut(const struct graft_processor_config *config, const struct graft_pixels *pixels, const char *source,
               struct graft_image *image, struct graft_error *error) {
    int64_t patch = config->patch_size;
    *image = (struct graft_image){
        .struct_size = sizeof *image,
        .grid = {1, pixels->height / patch, pixels->width / patch},
        .patch_dim = 3 * config->temporal_patch_size * patch * patch,
    };
    float *values = graft_alloc((size_t)(image->grid[1] * image->grid[2]), (size_t)image->patch_dim * sizeof *values);
    if (values == NULL) {
        return graft_fail_memory(error, source);
    }
    graft_fill_patches(config, pixels, values);
    image->pixel_values = values;
    return GRAFT_OK;
}

/* Transparent pixels, before white. */
static void paint_key(struct graft_pixels *pixels) {
    for (int64_t i = 0; i < pixels->width * pixels->height; i++) {
        uint8_t *pixel = pixels->rgb + i * 3;
        if (memcmp(pixel, pixels->key, sizeof pixels->key) == 0) {
            memset(pixel, 255, sizeof pixels->key);
        }
    }
}

int graft_process_pixels(const struct graft_processor_config *config, struct graft_pixels *pixels, const char *source,
                         struct graft_image *image, struct graft_error *error) {
    struct graft_pixels resized;
    struct smart_size size;
    if (config->do_convert_rgb && pixels->has_key) {
        paint_key(pixels);
    }
    if (!config->do_resize) {
        int status = check_grid(config, pixels, source, error);
        return status == GRAFT_OK ? cut(config, pixels, source, image, error) : status;
    }
    int status = graft_smart_resize(pixels->height, pixels->width, config->patch_size * config->merge_size,
                                    config->min_pixels, config->max_pixels, source, &size, error);
    if (status == GRAFT_OK) {
        status = graft_pixels_resize(pixels, size.width, size.height, config->resample, source, &resized, error);
    }
    if (status != GRAFT_OK) {
        return status;
    }
    status = cut(config, &resized, source, image, error);
    graft_pixels_finish(&resized);
    return status;
}
