/* SPDX-License-Identifier: Apache-2.0 */
/* Images of one size for all: resized to it, or by their shorter side, and cut out of the middle. */
#include <string.h>

#include "base/fail.h"
#include "image/patches.h"
#include "image/resize.h"

enum { MAX_RATIO = 200 };

static int resize(const struct graft_processor_config *config, struct graft_pixels *pixels, const char *source,
                  struct graft_error *error) {
    const int64_t shorter = pixels->width < pixels->height ? pixels->width : pixels->height;
    const int64_t longer = pixels->width < pixels->height ? pixels->height : pixels->width;
    int64_t width = config->width, height = config->height;
    struct graft_pixels resized;
    if (config->shortest_edge > 0) {
        const int64_t other = (int64_t)((double)(config->shortest_edge * longer) / (double)shorter);
        width = pixels->width <= pixels->height ? config->shortest_edge : other;
        height = pixels->width <= pixels->height ? other : config->shortest_edge;
    }
    if (longer / shorter > MAX_RATIO) {
        return graft_error_set(error, GRAFT_ERROR_IO, source,
                               "%lld x %lld pixels: expected one side to be at most %d times the other",
                               (long long)pixels->width, (long long)pixels->height, MAX_RATIO);
    }
    if (width == pixels->width && height == pixels->height) {
        return GRAFT_OK;
    }
    const struct graft_resize_method method = {config->resample, GRAFT_RESIZE_PILLOW};
    int status = graft_pixels_resize(pixels, width, height, method, source, &resized, error);
    if (status == GRAFT_OK) {
        graft_pixels_finish(pixels);
        *pixels = resized;
    }
    return status;
}

/* Half of a difference, rounded down also where it is negative. */
static int64_t half(int64_t difference) {
    return (difference - (difference % 2 != 0 && difference < 0)) / 2;
}

/* Crops the image; a smaller one is padded with black. */
static int crop(const struct graft_processor_config *config, struct graft_pixels *pixels, const char *source,
                struct graft_error *error) {
    const int64_t top = half(pixels->height - config->crop_height), left = half(pixels->width - config->crop_width);
    struct graft_pixels cropped;
    int status = graft_pixels_init(&cropped, config->crop_width, config->crop_height, source, error);
    if (status != GRAFT_OK) {
        return status;
    }
    memset(cropped.rgb, 0, (size_t)(cropped.width * cropped.height) * 3);
    for (int64_t y = 0; y < cropped.height; y++) {
        for (int64_t x = 0; x < cropped.width; x++) {
            const int64_t row = top + y, column = left + x;
            if (row >= 0 && row < pixels->height && column >= 0 && column < pixels->width) {
                memcpy(cropped.rgb + (y * cropped.width + x) * 3, pixels->rgb + (row * pixels->width + column) * 3, 3);
            }
        }
    }
    graft_pixels_finish(pixels);
    *pixels = cropped;
    return GRAFT_OK;
}

int graft_fit_fixed(const struct graft_processor_config *config, struct graft_pixels *pixels, const char *source,
                    struct graft_error *error) {
    int status = config->do_resize ? resize(config, pixels, source, error) : GRAFT_OK;
    if (status == GRAFT_OK && config->do_center_crop) {
        status = crop(config, pixels, source, error);
    }
    const int64_t side = config->patch_size * config->merge_size;
    return status == GRAFT_OK && (pixels->width < side || pixels->height < side)
               ? graft_error_set(error, GRAFT_ERROR_IO, source, "%lld x %lld pixels: expected at least %lld x %lld",
                                 (long long)pixels->width, (long long)pixels->height, (long long)side, (long long)side)
               : status;
}
