/* SPDX-License-Identifier: Apache-2.0 */
/* Turns decoded images and videos into patches, as the model directory says (Qwen2VLImageProcessor and
 * Glm4vImageProcessor, CLIPImageProcessor, SiglipImageProcessor and Gemma3ImageProcessor with the Pillow backend,
 * Qwen2VLVideoProcessor, Qwen3VLVideoProcessor, Glm4vVideoProcessor). */
#ifndef GRAFT_IMAGE_PROCESSOR_H
#define GRAFT_IMAGE_PROCESSOR_H

#include "graft/config.h"
#include "graft/image.h"
#include "image/pixels.h"

enum { GRAFT_MAX_FRAMES = 1 << 16 };

/* Fields have the names they have in the file; `size` is min_pixels (shortest_edge) and max_pixels (longest_edge). */
struct graft_processor_config {
    int32_t is_video; /* 1: for the video processor, which computes differently */
    int32_t do_resize;
    int32_t do_rescale;
    int32_t do_normalize;
    int32_t do_convert_rgb; /* 1: transparent pixels become white; images are always converted to RGB */
    int32_t resample;       /* GRAFT_RESAMPLE_... */
    double rescale_factor;
    double image_mean[3];
    double image_std[3];
    int64_t min_pixels;
    int64_t max_pixels;
    int64_t patch_size;
    int64_t temporal_patch_size;
    int64_t merge_size;
    int32_t counts_frames; /* 1: min_pixels and max_pixels count all frames together, of an image those of a patch */
    int32_t cap_pixels_per_frame; /* for videos: frames share the pixels that max_video_tokens allow */
    int64_t max_video_tokens;
    /* For processors whose images all have one size; patch_size, temporal_patch_size and merge_size are the model's. */
    int32_t is_fixed;
    int32_t do_center_crop;
    int64_t height; /* with width: size of a resized image */
    int64_t width;
    int64_t shortest_edge; /* > 0: of a resized image, in their place */
    int64_t crop_height;
    int64_t crop_width;
};

/* [load] Reads and checks a preprocessor_config.json, or another file with the same fields. `kind` is the processor to
 * assume if the file does not name one. Errors are GRAFT_ERROR_MODEL. */
enum {
    GRAFT_PROCESSOR_IMAGE,
    GRAFT_PROCESSOR_VIDEO,
    GRAFT_PROCESSOR_COUNTED_VIDEO,
    GRAFT_PROCESSOR_GLM_IMAGE,
    GRAFT_PROCESSOR_GLM_VIDEO,
    GRAFT_PROCESSOR_CLIP, /* this one and those below resize all images to the same size */
    GRAFT_PROCESSOR_SIGLIP,
    GRAFT_PROCESSOR_GEMMA3
};
int graft_processor_config_read(const struct graft_config *file, int32_t kind, struct graft_processor_config *config,
                                struct graft_error *error);

/* [any] Makes transparent pixels white, resizes (in place), normalises, and cuts into patches. The caller frees
 * image->pixel_values with graft_free. */
int graft_process_pixels(const struct graft_processor_config *config, struct graft_pixels *pixels, const char *source,
                         struct graft_image *image, struct graft_error *error);

/* Provides the frames of a video. */
struct graft_frames {
    size_t count;
    /* Reads frame `i`, which the caller finishes after success. `*source` names it in messages and lives as long as the
     * frames. */
    int (*read)(void *data, size_t i, struct graft_pixels *pixels, const char **source, struct graft_error *error);
    void *data;
};

/* [any] The same for a video, with the video processor's config: frames are read one by one and must have the same
 * size. The last one is repeated until their number is a multiple of temporal_patch_size. `source` names the video in
 * messages. */
int graft_process_frames(const struct graft_processor_config *config, const struct graft_frames *frames,
                         const char *source, struct graft_image *video, struct graft_error *error);

#endif
