/* SPDX-License-Identifier: Apache-2.0 */
/* Processes videos: writes frames one by one into the patches that they share. */
#include "base/alloc.h"
#include "base/fail.h"
#include "image/patches.h"
#include "image/processor.h"

static int check_size(const struct graft_pixels *first, const struct graft_pixels *pixels, const char *source,
                      struct graft_error *error) {
    if (pixels->width == first->width && pixels->height == first->height) {
        return GRAFT_OK;
    }
    return graft_error_set(
        error, GRAFT_ERROR_IO, source, "%lld x %lld pixels: expected %lld x %lld, the size of the video's first frame",
        (long long)pixels->width, (long long)pixels->height, (long long)first->width, (long long)first->height);
}

/* The frame rate that the reference assumes for frames without a video's metadata. */
enum { FRAMES_A_SECOND = 24 };

/* A video being processed. */
struct progress {
    const struct graft_processor_config *config;
    const struct graft_frames *frames;
    const char *source;
    struct graft_pixels first; /* only its size is used */
    struct graft_image *video;
};

static int add_frame(struct progress *progress, size_t i, struct graft_error *error) {
    const struct graft_processor_config *config = progress->config;
    struct graft_image *video = progress->video;
    int64_t time = (int64_t)i / config->temporal_patch_size;
    int64_t times = ((int64_t)progress->frames->count - 1) / config->temporal_patch_size + 1;
    struct graft_pixels pixels = {0};
    const char *source = progress->source;
    int status = progress->frames->read(progress->frames->data, i, &pixels, &source, error);
    if (status == GRAFT_OK && i == 0) {
        progress->first = (struct graft_pixels){.width = pixels.width, .height = pixels.height};
    }
    if (status == GRAFT_OK) {
        status = check_size(&progress->first, &pixels, source, error);
    }
    if (status == GRAFT_OK) {
        status = graft_fit_pixels(config, (int64_t)progress->frames->count, &pixels, source, error);
    }
    if (status == GRAFT_OK && i == 0) {
        status = graft_start_image(config, &pixels, times, progress->source, video, error);
        video->seconds = (double)config->temporal_patch_size / FRAMES_A_SECOND;
        video->frames = (int64_t)progress->frames->count;
    }
    if (status == GRAFT_OK) {
        float *values = (float *)(uintptr_t)video->pixel_values;
        values += time * video->grid[1] * video->grid[2] * video->patch_dim;
        graft_fill_patches(config, &pixels, (int64_t)i % config->temporal_patch_size, values);
    }
    graft_pixels_finish(&pixels);
    return status;
}

int graft_process_frames(const struct graft_processor_config *config, const struct graft_frames *frames,
                         const char *source, struct graft_image *video, struct graft_error *error) {
    struct progress progress = {.config = config, .frames = frames, .source = source, .video = video};
    int status = GRAFT_OK;
    *video = (struct graft_image){.struct_size = sizeof *video};
    if (frames->count < 1 || frames->count > GRAFT_MAX_FRAMES) {
        return graft_error_set(error, GRAFT_ERROR_IO, source, "%zu frames: expected 1 to %d", frames->count,
                               GRAFT_MAX_FRAMES);
    }
    if (config->counts_frames && (int64_t)frames->count < config->temporal_patch_size) {
        return graft_error_set(error, GRAFT_ERROR_IO, source,
                               "%zu frames: expected at least temporal_patch_size (%lld)", frames->count,
                               (long long)config->temporal_patch_size);
    }
    for (size_t i = 0; i < frames->count && status == GRAFT_OK; i++) {
        status = add_frame(&progress, i, error);
    }
    if (status != GRAFT_OK) {
        graft_free((void *)(uintptr_t)video->pixel_values);
        video->pixel_values = NULL;
    }
    return status;
}
