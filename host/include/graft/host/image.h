/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Images and videos for models with a vision tower.
 *
 *     struct graft_image_processor *processor;
 *     struct graft_image image = {.struct_size = sizeof image};
 *     graft_image_processor_open(model, &processor, &error);
 *     graft_image_processor_read(processor, "picture.png", &image, &error);
 *     graft_model_place_images(model, tokenizer, &image, 1, &ids, &error); // its tokens, for the placeholder in `ids`
 *     struct graft_prompt prompt = {
 *         .struct_size = sizeof prompt, .ids = ids.ids, .count = ids.n, .images = &image, .n_images = 1};
 *     ...
 *     graft_image_finish(&image);
 *     graft_image_processor_free(processor);
 *
 * A video processor prepares a video. In a prompt, videos are members of `images` too, in the order of their tokens. It
 * is an error if a prompt has image or video tokens without an image or video for them.
 *
 * A program that prepares pixel values itself fills in a struct graft_image (graft/image.h) and needs no processor.
 */
#ifndef GRAFT_HOST_IMAGE_H
#define GRAFT_HOST_IMAGE_H

#include <stddef.h>
#include <stdint.h>

#include "graft/error.h"
#include "graft/image.h"

#ifdef __cplusplus
extern "C" {
#endif

struct graft_ids;
struct graft_model;
struct graft_tokenizer;
struct graft_video_processor;

/* Prepares images as the model directory's preprocessor_config.json says. Immutable: several threads may use it. */
struct graft_image_processor;

/* [any] Opens the processor of a model that takes images, which the processor does not need afterwards. The caller
 * frees it. */
int graft_image_processor_open(const struct graft_model *model, struct graft_image_processor **processor,
                               struct graft_error *error);

/* [any] Accepts NULL. */
void graft_image_processor_free(struct graft_image_processor *processor);

/* [any] Reads a PNG or JPEG file as patches. Errors in the file are GRAFT_ERROR_IO and name it. Fills `image`, whose
 * struct_size is set; the caller frees it with graft_image_finish. */
int graft_image_processor_read(const struct graft_image_processor *processor, const char *file,
                               struct graft_image *image, struct graft_error *error);

/* [any] Reads the bytes of a PNG or JPEG file in memory, like graft_image_processor_read; `source` names them in errors
 * (GRAFT_ERROR_USAGE). */
int graft_image_processor_decode(const struct graft_image_processor *processor, const void *bytes, size_t length,
                                 const char *source, struct graft_image *image, struct graft_error *error);

/* [any] The same for pixels in memory: rgb [height, width, 3]. An impossible size is GRAFT_ERROR_USAGE. */
int graft_image_processor_rgb(const struct graft_image_processor *processor, const uint8_t *rgb, int64_t width,
                              int64_t height, struct graft_image *image, struct graft_error *error);

/* [any] Frees the pixel values of an image that one of these functions made. */
void graft_image_finish(struct graft_image *image);

/* [any] Reads the images and videos of the safetensors file `name`, in which a program has stored what transformers'
 * processors return: `pixel_values` [patches, patch_dim] f32 and `image_grid_thw` [images, 3], or `pixel_values_videos`
 * and `video_grid_thw`, or both. Images come before videos; the caller puts them in the order of their tokens, and
 * frees them with graft_images_free. */
int graft_images_read(const char *name, struct graft_image **images, size_t *n, struct graft_error *error);

/* [any] Frees `n` images and their array. */
void graft_images_free(struct graft_image *images, size_t n);

/* [any] The id of image tokens in prompts; -1 for a model that takes no images. */
int32_t graft_model_image_token_id(const struct graft_model *model);

/* [any] The id of the placeholder for an image in a prompt. It is graft_model_image_token_id for most models, but some
 * use another token (Gemma 3). -1 for a model that takes no images. */
int32_t graft_model_image_place_id(const struct graft_model *model);

/* [any] How many tokens an image or video takes: its patches, merged in squares. 0 if the model takes none, or if the
 * grid cannot be divided into squares. */
int64_t graft_model_image_tokens(const struct graft_model *model, const struct graft_image *image);

/* [any] 1: each temporal patch of a video has a run of tokens of its own, with its time as text before or after it. 0:
 * a video is a single run, or the model takes no videos. */
int graft_model_videos_by_frame(const struct graft_model *model);

/* [any] Adds the ids that take the place of an image's or a video's placeholder in a prompt: image or video tokens and,
 * if graft_model_videos_by_frame is 1, the times of a video's frames as text. Only these times need the model's
 * tokenizer, which may be NULL otherwise; a tokenizer without the tokens around a frame is GRAFT_ERROR_USAGE. */
int graft_model_image_ids(const struct graft_model *model, const struct graft_tokenizer *tokenizer,
                          const struct graft_image *image, struct graft_ids *ids, struct graft_error *error);

/* [any] Does the same for a whole prompt: each run of image or video tokens in `ids` stands for the next of `images`
 * [n], and is replaced by what graft_model_image_ids adds for it; a run of the right length stays. With a tokenizer,
 * the prompt also gets what the model's processor adds to prompts with images: line breaks and tokens around each
 * placeholder (Gemma 3), or a bos token and a line break (PaliGemma). A wrong number of runs, or a run of the wrong
 * kind or length, is GRAFT_ERROR_USAGE and leaves `ids` unchanged. */
int graft_model_place_images(const struct graft_model *model, const struct graft_tokenizer *tokenizer,
                             const struct graft_image *images, size_t n, struct graft_ids *ids,
                             struct graft_error *error);

/* Prepares videos as the model directory's video_preprocessor_config.json says, or preprocessor_config.json if there is
 * none. Immutable: several threads may use it. */

/* [any] Opens the video processor of a model. The model may be freed before the processor, which the caller frees. */
int graft_video_processor_open(const struct graft_model *model, struct graft_video_processor **processor,
                               struct graft_error *error);

/* [any] Accepts NULL. */
void graft_video_processor_free(struct graft_video_processor *processor);

/* [any] Reads the files of a directory as the frames of one video: PNG or JPEG, all of one size, sorted by name with
 * numbers compared by value; hidden files are skipped. Every frame is used, whatever the config says about sampling.
 * Errors in the files are GRAFT_ERROR_IO and name them. Fills `video`, whose struct_size is set; the caller frees it
 * with graft_image_finish. */
int graft_video_processor_read(const struct graft_video_processor *processor, const char *directory,
                               struct graft_image *video, struct graft_error *error);

/* [any] The same for pixels in memory: rgb [frames, height, width, 3]. Impossible sizes are GRAFT_ERROR_USAGE. */
int graft_video_processor_rgb(const struct graft_video_processor *processor, const uint8_t *rgb, size_t frames,
                              int64_t width, int64_t height, struct graft_image *video, struct graft_error *error);

/* [any] The id of video tokens in prompts; -1 for a model that takes no videos. */
int32_t graft_model_video_token_id(const struct graft_model *model);

#ifdef __cplusplus
}
#endif

#endif
