/* SPDX-License-Identifier: Apache-2.0 */
#include "image/patches.h"

#include <string.h>

/* The value of each of the 256 levels of a channel. For images: scaled in f64, then in f32 less the mean, divided by
 * the deviation. */
static void fill_image_levels(const struct graft_processor_config *config, int64_t channel, float levels[256]) {
    for (int32_t i = 0; i < 256; i++) {
        float value = config->do_rescale ? (float)((double)i * config->rescale_factor) : (float)i;
        levels[i] = config->do_normalize
                        ? (value - (float)config->image_mean[channel]) / (float)config->image_std[channel]
                        : value;
    }
}

/* For videos all computation is in f32, and mean and deviation are scaled to levels instead. */
static void fill_video_levels(const struct graft_processor_config *config, int64_t channel, float levels[256]) {
    float scale = config->do_rescale ? (float)(1.0 / config->rescale_factor) : 1.0f;
    float mean = (float)config->image_mean[channel] * scale;
    float deviation = (float)config->image_std[channel] * scale;
    float factor = config->do_rescale ? (float)config->rescale_factor : 1.0f;
    for (int32_t i = 0; i < 256; i++) {
        levels[i] = config->do_normalize ? ((float)i - mean) / deviation : (float)i * factor;
    }
}

/* Fills one channel of the patch whose upper left pixel is `from`: values [temporal_patch_size, patch_size,
 * patch_size], from frame `first` on. */
static void fill_channel(const struct graft_processor_config *config, const uint8_t *from, int64_t row, int64_t first,
                         const float levels[256], float *values) {
    int64_t patch = config->patch_size;
    values += first * patch * patch;
    for (int64_t y = 0; y < patch; y++) {
        for (int64_t x = 0; x < patch; x++) {
            values[y * patch + x] = levels[from[y * row + x * 3]];
        }
    }
    for (int64_t t = 1; t < config->temporal_patch_size - first; t++) {
        memcpy(values + t * patch * patch, values, (size_t)(patch * patch) * sizeof *values);
    }
}

void graft_fill_patches(const struct graft_processor_config *config, const struct graft_pixels *pixels, int64_t first,
                        float *values) {
    int64_t patch = config->patch_size;
    int64_t merge = config->merge_size;
    int64_t columns = pixels->width / patch;
    int64_t patches = pixels->height / patch * columns;
    float levels[3][256];
    for (int64_t c = 0; c < 3; c++) {
        if (config->is_video) {
            fill_video_levels(config, c, levels[c]);
        } else {
            fill_image_levels(config, c, levels[c]);
        }
    }
    for (int64_t i = 0; i < patches; i++) {
        int64_t square = i / (merge * merge);
        int64_t inner = i % (merge * merge);
        int64_t y = square / (columns / merge) * merge + inner / merge;
        int64_t x = square % (columns / merge) * merge + inner % merge;
        const uint8_t *from = pixels->rgb + (y * patch * pixels->width + x * patch) * 3;
        for (int64_t c = 0; c < 3; c++) {
            fill_channel(config, from + c, pixels->width * 3, first, levels[c], values);
            values += config->temporal_patch_size * patch * patch;
        }
    }
}
