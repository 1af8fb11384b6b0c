/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Images for models with a vision tower.
 *
 *     struct graft_image_processor *processor;
 *     struct graft_image image;
 *     graft_image_processor_open(model, &processor, &error);
 *     graft_image_processor_read(processor, "picture.png", &image, &error);
 *     // among the prompt's ids: graft_model_image_tokens(model, &image) times graft_model_image_token_id(model)
 *     struct graft_prompt prompt = {ids, count, &image, 1};
 *     ...
 *     graft_image_finish(&image);
 *     graft_image_processor_free(processor);
 *
 * A program that prepares pixel values itself fills in a struct graft_image (graft/image.h) and needs no processor.
 */
#ifndef GRAFT_HOST_IMAGES_H
#define GRAFT_HOST_IMAGES_H

#include "graft/host/graft.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Prepares images as the model directory's preprocessor_config.json says. Immutable: several threads may use it. */
struct graft_image_processor;

/* [any] For a model that takes images; does not need it afterwards. The caller frees the processor. */
int graft_image_processor_open(const struct graft_model *model, struct graft_image_processor **processor,
                               struct graft_error *error);
void graft_image_processor_free(struct graft_image_processor *processor);

/* [any] A PNG or JPEG file as patches. Errors of the file are GRAFT_ERROR_IO and name it. The caller finishes the
 * image. */
int graft_image_processor_read(const struct graft_image_processor *processor, const char *file,
                               struct graft_image *image, struct graft_error *error);

/* [any] The same for pixels in memory: rgb [height, width, 3]. */
int graft_image_processor_rgb(const struct graft_image_processor *processor, const uint8_t *rgb, int64_t width,
                              int64_t height, struct graft_image *image, struct graft_error *error);

/* [any] Frees the pixel values of an image that one of these functions made. */
void graft_image_finish(struct graft_image *image);

/* [any] The images of the safetensors file `name`, which holds what transformers' image processor returns:
 * `pixel_values` [patches, patch_dim] f32 and `image_grid_thw` [images, 3]. The caller frees the array and what is in
 * it with graft_images_free. */
int graft_images_read(const char *name, struct graft_image **images, size_t *n, struct graft_error *error);
void graft_images_free(struct graft_image *images, size_t n);

/* [any] The id that stands for images in prompts; -1 for a model that takes none. */
int32_t graft_model_image_token_id(const struct graft_model *model);

/* [any] How many tokens an image takes: its patches by squares that the model merges. 0 for a model that takes none,
 * and for a grid that squares do not fill. */
int64_t graft_model_image_tokens(const struct graft_model *model, const struct graft_image *image);

#ifdef __cplusplus
}
#endif

#endif
