/* SPDX-License-Identifier: Apache-2.0 */
/* From decoded images to patches, as preprocessor_config.json says (Qwen2VLImageProcessor with the Pillow backend). */
#ifndef GRAFT_IMAGE_PROCESSOR_H
#define GRAFT_IMAGE_PROCESSOR_H

#include "base/json.h"
#include "graft/image.h"
#include "image/pixels.h"

/* Fields have the names they have in the file; `size` is min_pixels (shortest_edge) and max_pixels (longest_edge). */
struct graft_processor_config {
    int32_t do_resize;
    int32_t do_rescale;
    int32_t do_normalize;
    int32_t do_convert_rgb; /* files always are: 1 makes the colour that stands for transparency white */
    int32_t resample;       /* GRAFT_RESAMPLE_... */
    double rescale_factor;
    double image_mean[3];
    double image_std[3];
    int64_t min_pixels;
    int64_t max_pixels;
    int64_t patch_size;
    int64_t temporal_patch_size;
    int64_t merge_size;
};

/* [load] Reads and checks the directory's preprocessor_config.json, or the part `image_processor` of its
 * processor_config.json, which goes before it, as in transformers. Errors are GRAFT_ERROR_MODEL. */
int graft_processor_config_read(const char *directory, struct graft_processor_config *config,
                                struct graft_error *error);

/* [load] The same from a parsed document; `name` is the file's. */
int graft_processor_config_parse(const graft_json *document, const char *name, struct graft_processor_config *config,
                                 struct graft_error *error);

/* [any] Paints (in place), resizes, normalises and cuts into patches. image->pixel_values is the caller's, to be freed
 * with graft_free. */
int graft_process_pixels(const struct graft_processor_config *config, struct graft_pixels *pixels, const char *source,
                         struct graft_image *image, struct graft_error *error);

#endif
