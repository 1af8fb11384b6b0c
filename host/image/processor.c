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
    return graft_error_set(error, GRAFT_ERROR_IO, source,
                           "%lld x %lld pixels: expected multiples of %lld, because do_resize is false",
                           (long long)pixels->width, (long long)pixels->height, (long long)factor);
}

/* Makes the pixels of the transparent colour white. */
static void paint_key(struct graft_pixels *pixels) {
    for (int64_t i = 0; i < pixels->width * pixels->height; i++) {
        uint8_t *pixel = pixels->rgb + i * 3;
        if (memcmp(pixel, pixels->key, sizeof pixels->key) == 0) {
            memset(pixel, 255, sizeof pixels->key);
        }
    }
}

/* The maximum number of pixels of a frame, or of all frames together with counts_frames. With cap_pixels_per_frame, a
 * frame gets its share of nine tenths of what max_video_tokens allow or, with counts_frames, at most what they allow
 * and its share of max_pixels; but at least 1.05 times min_pixels. */
static int64_t max_pixels(const struct graft_processor_config *config, int64_t frames) {
    const int64_t factor = config->patch_size * config->merge_size;
    const int64_t least = (int64_t)((double)config->min_pixels * 1.05);
    const int64_t tokens = config->max_video_tokens * factor * factor;
    if (!config->is_video || !config->cap_pixels_per_frame) {
        return config->max_pixels;
    }
    const int64_t all = config->counts_frames ? tokens : (int64_t)((double)tokens * 0.9);
    const int64_t most = config->counts_frames ? config->max_pixels / frames : config->max_pixels;
    int64_t share = config->counts_frames ? all : all * config->temporal_patch_size / frames;
    share = share < most ? share : most;
    share = share > least ? share : least;
    return config->counts_frames ? share * frames : share;
}

int graft_fit_pixels(const struct graft_processor_config *config, int64_t frames, struct graft_pixels *pixels,
                     const char *source, struct graft_error *error) {
    struct graft_pixels resized;
    struct smart_size size;
    if (config->is_fixed) {
        return graft_fit_fixed(config, pixels, source, error);
    }
    if (!config->do_resize) {
        return check_grid(config, pixels, source, error);
    }
    const struct graft_resize_method method = {config->resample,
                                               config->is_video ? GRAFT_RESIZE_TORCHVISION : GRAFT_RESIZE_PILLOW};
    const int64_t counted = config->is_video ? frames : config->temporal_patch_size;
    const struct smart_bounds bounds = {config->patch_size * config->merge_size, config->min_pixels,
                                        max_pixels(config, frames), config->counts_frames ? counted : 0,
                                        config->temporal_patch_size};
    int status = graft_smart_resize(pixels->height, pixels->width, &bounds, source, &size, error);
    if (status == GRAFT_OK && (size.width != pixels->width || size.height != pixels->height)) {
        status = graft_pixels_resize(pixels, size.width, size.height, method, source, &resized, error);
        if (status == GRAFT_OK) {
            graft_pixels_finish(pixels);
            *pixels = resized;
        }
    }
    return status;
}

int graft_start_image(const struct graft_processor_config *config, const struct graft_pixels *pixels, int64_t times,
                      const char *source, struct graft_image *image, struct graft_error *error) {
    int64_t patch = config->patch_size;
    *image = (struct graft_image){
        .struct_size = sizeof *image,
        .grid = {times, pixels->height / patch, pixels->width / patch},
        .patch_dim = 3 * config->temporal_patch_size * patch * patch,
        .is_video = config->is_video,
    };
    int64_t patches = times * image->grid[1] * image->grid[2];
    image->pixel_values = graft_alloc((size_t)patches, (size_t)image->patch_dim * sizeof *image->pixel_values);
    return image->pixel_values != NULL ? GRAFT_OK : graft_fail_memory(error, source);
}

int graft_process_pixels(const struct graft_processor_config *config, struct graft_pixels *pixels, const char *source,
                         struct graft_image *image, struct graft_error *error) {
    if (config->do_convert_rgb && pixels->has_key) {
        paint_key(pixels);
    }
    int status = graft_fit_pixels(config, 1, pixels, source, error);
    if (status == GRAFT_OK) {
        status = graft_start_image(config, pixels, 1, source, image, error);
    }
    if (status == GRAFT_OK) {
        graft_fill_patches(config, pixels, 0, (float *)(uintptr_t)image->pixel_values);
    }
    return status;
}
