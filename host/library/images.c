/* SPDX-License-Identifier: Apache-2.0 */
/* Images and videos for models with a vision tower: what the model declares about them, and their preparation. */
#include "graft/host/image.h"

#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "image/decode.h"
#include "image/processor.h"
#include "library/library.h"

struct graft_image_processor {
    struct graft_processor_config config;
};

/* A search for the first module that declares an attribute. */
struct search {
    const char *attribute;
    const struct graft_attribute *found;
};

static int look(void *data, struct graft_node *node, struct graft_error *error) {
    struct search *search = data;
    (void)error;
    for (size_t i = 0; i < node->n_attributes && search->found == NULL; i++) {
        if (strcmp(node->attributes[i].name, search->attribute) == 0) {
            search->found = &node->attributes[i];
        }
    }
    return GRAFT_OK;
}

int64_t graft_model_say(const struct graft_model *model, const char *attribute, int64_t fallback) {
    struct search search = {attribute, NULL};
    (void)graft_tree_walk(model->tree, look, &search, NULL);
    return search.found != NULL ? search.found->values[0] : fallback;
}

int32_t graft_model_image_token_id(const struct graft_model *model) {
    return (int32_t)model->survey.image_token_id;
}

int32_t graft_model_video_token_id(const struct graft_model *model) {
    return (int32_t)model->survey.video_token_id;
}

/* Checks that prompt `i` has images if it has their tokens. `ids` are the tokens of images and videos. */
static int check_images(const struct graft_model *model, const struct graft_prompt *prompt, size_t i,
                        const int32_t ids[2], struct graft_error *error) {
    size_t places[2] = {0, 0};
    size_t given[2] = {0, 0};
    for (size_t j = 0; j < prompt->count; j++) {
        places[0] += prompt->ids[j] == ids[0];
        places[1] += prompt->ids[j] == ids[1];
    }
    for (size_t j = 0; j < prompt->n_images; j++) {
        const struct graft_image *image = graft_struct_at(prompt->images, j);
        given[image->is_video != 0]++;
    }
    if (graft_model_video_form(model) == GRAFT_VIDEO_SECONDS_AFTER) {
        given[0] += given[1]; /* videos use image tokens */
    }
    for (size_t kind = 0; kind < 2; kind++) {
        if (ids[kind] < 0 && given[kind] > 0) {
            return graft_error_set(error, GRAFT_ERROR_USAGE, "prompt", "prompt %zu: %s takes no %s", i + 1,
                                   model->tree->root->class_name, kind == 1 ? "videos" : "images");
        }
        if (ids[kind] >= 0 && places[kind] > 0 && given[kind] == 0) {
            return graft_error_set(error, GRAFT_ERROR_USAGE, "prompt",
                                   "prompt %zu has %s tokens (%ld), but no %s to go with them", i + 1,
                                   kind == 1 ? "video" : "image", (long)ids[kind], kind == 1 ? "video" : "image");
        }
    }
    return GRAFT_OK;
}

int graft_model_check_prompts(const struct graft_model *model, const struct graft_prompt *prompts, size_t n,
                              struct graft_error *error) {
    const int32_t ids[] = {graft_model_image_token_id(model), graft_model_video_token_id(model)};
    int status = graft_check_structs(prompts, n, GRAFT_PROMPT_SIZE_1_0, "struct graft_prompt", error);
    for (size_t i = 0; i < n && status == GRAFT_OK; i++) {
        const struct graft_prompt *prompt = graft_struct_at(prompts, i);
        if (prompt->reserved != 0) {
            return graft_error_set(error, GRAFT_ERROR_USAGE, "struct graft_prompt", "reserved: expected 0");
        }
        status =
            graft_check_structs(prompt->images, prompt->n_images, GRAFT_IMAGE_SIZE_1_0, "struct graft_image", error);
        if (status == GRAFT_OK) {
            status = check_images(model, prompt, i, ids, error);
        }
    }
    return status;
}

int graft_image_give(int status, const struct graft_image *made, struct graft_image *image) {
    if (status == GRAFT_OK) {
        graft_struct_copy(image, image->struct_size, made);
    } else {
        image->pixel_values = NULL;
    }
    return status;
}

int graft_fail_pixels(int status, const struct graft_error *cause, struct graft_error *error) {
    if (status == GRAFT_OK) {
        return GRAFT_OK;
    }
    status = graft_error_set(error, status == GRAFT_ERROR_IO ? GRAFT_ERROR_USAGE : status, cause->source, "%s",
                             cause->message);
    graft_error_hint(error, "%s", cause->hint);
    return status;
}

int64_t graft_model_image_tokens(const struct graft_model *model, const struct graft_image *image) {
    enum { MAX_GRID = 1 << 16 };
    int64_t merge = graft_model_say(model, "spatial_merge_size", 0);
    const int64_t *grid = image->grid;
    for (int32_t i = 0; i < 3; i++) {
        if (grid[i] < 1 || grid[i] > MAX_GRID || merge < 1 || (i > 0 && grid[i] % merge != 0)) {
            return 0;
        }
    }
    return grid[0] * (grid[1] / merge) * (grid[2] / merge);
}

/* Checks sizes: the weights were trained for patches of one size. */
static int check(const struct graft_model *model, struct graft_processor_config *config, struct graft_error *error) {
    const struct {
        const char *name;
        const char *attribute;
        int64_t value;
    } fields[] = {
        {"patch_size", "patch_size", config->patch_size},
        {"temporal_patch_size", "temporal_patch_size", config->temporal_patch_size},
        {"merge_size", "spatial_merge_size", config->merge_size},
    };
    const int is_fixed = graft_model_say(model, "image_side", 0) > 0;
    if (is_fixed != config->is_fixed) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, model->directory,
                               "image_processor_type: expected one whose images %s, as %s takes them",
                               is_fixed ? "all have the same size, such as CLIPImageProcessor"
                                        : "keep their shape, such as Qwen2VLImageProcessor",
                               model->tree->root->class_name);
    }
    if (is_fixed) {
        config->patch_size = graft_model_say(model, "patch_size", 1);
        config->merge_size = graft_model_say(model, "spatial_merge_size", 1);
        return GRAFT_OK;
    }
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        int64_t expected = graft_model_say(model, fields[i].attribute, fields[i].value);
        if (fields[i].value != expected) {
            return graft_error_set(error, GRAFT_ERROR_MODEL, model->directory,
                                   "%s of the %s processor: expected %lld, as config.json has it, got %lld",
                                   fields[i].name, config->is_video ? "video" : "image", (long long)expected,
                                   (long long)fields[i].value);
        }
    }
    return GRAFT_OK;
}

int graft_model_read_processor(const struct graft_model *model, int32_t is_video, struct graft_processor_config *config,
                               struct graft_error *error) {
    if ((is_video ? graft_model_video_token_id(model) : graft_model_image_token_id(model)) < 0) {
        return graft_error_set(error, GRAFT_ERROR_USAGE, model->directory, "%s takes no %s",
                               model->tree->root->class_name, is_video ? "videos" : "images");
    }
    const struct graft_model_processor *processor = &model->processors.of[is_video != 0];
    if (processor->error.code != GRAFT_OK) {
        int status =
            graft_error_set(error, processor->error.code, processor->error.source, "%s", processor->error.message);
        graft_error_hint(error, "%s", processor->error.hint);
        return status;
    }
    *config = processor->config;
    return check(model, config, error);
}

int graft_image_processor_open(const struct graft_model *model, struct graft_image_processor **processor,
                               struct graft_error *error) {
    struct graft_processor_config config;
    *processor = NULL;
    int status = graft_model_read_processor(model, 0, &config, error);
    if (status == GRAFT_OK) {
        *processor = graft_alloc(1, sizeof **processor);
        status = *processor != NULL ? GRAFT_OK : graft_fail_memory(error, model->directory);
    }
    if (status == GRAFT_OK) {
        (*processor)->config = config;
    }
    return status;
}

void graft_image_processor_free(struct graft_image_processor *processor) {
    graft_free(processor);
}

int graft_image_processor_read(const struct graft_image_processor *processor, const char *file,
                               struct graft_image *image, struct graft_error *error) {
    struct graft_pixels pixels;
    struct graft_image made = {.struct_size = sizeof made};
    int status = graft_check_given(image, GRAFT_IMAGE_SIZE_1_0, "struct graft_image", error);
    if (status != GRAFT_OK) {
        return status;
    }
    status = graft_pixels_read(file, &pixels, error);
    if (status == GRAFT_OK) {
        status = graft_process_pixels(&processor->config, &pixels, file, &made, error);
    }
    graft_pixels_finish(&pixels);
    return graft_image_give(status, &made, image);
}

int graft_image_processor_decode(const struct graft_image_processor *processor, const void *bytes, size_t length,
                                 const char *source, struct graft_image *image, struct graft_error *error) {
    struct graft_error cause = graft_error_none();
    struct graft_pixels pixels;
    struct graft_image made = {.struct_size = sizeof made};
    int status = graft_check_given(image, GRAFT_IMAGE_SIZE_1_0, "struct graft_image", error);
    if (status != GRAFT_OK) {
        return status;
    }
    status = graft_pixels_decode(bytes, length, source, &pixels, &cause);
    if (status == GRAFT_OK) {
        status = graft_process_pixels(&processor->config, &pixels, source, &made, &cause);
    }
    graft_pixels_finish(&pixels);
    return graft_image_give(graft_fail_pixels(status, &cause, error), &made, image);
}

int graft_image_processor_rgb(const struct graft_image_processor *processor, const uint8_t *rgb, int64_t width,
                              int64_t height, struct graft_image *image, struct graft_error *error) {
    struct graft_error cause = graft_error_none();
    struct graft_pixels pixels;
    struct graft_image made = {.struct_size = sizeof made};
    int status = graft_check_given(image, GRAFT_IMAGE_SIZE_1_0, "struct graft_image", error);
    if (status != GRAFT_OK) {
        return status;
    }
    status = graft_pixels_init(&pixels, width, height, "image", &cause);
    if (status == GRAFT_OK) {
        memcpy(pixels.rgb, rgb, (size_t)(width * height) * 3);
        status = graft_process_pixels(&processor->config, &pixels, "image", &made, &cause);
    }
    graft_pixels_finish(&pixels);
    return graft_image_give(graft_fail_pixels(status, &cause, error), &made, image);
}

void graft_image_finish(struct graft_image *image) {
    graft_free((void *)(uintptr_t)image->pixel_values);
    image->pixel_values = NULL;
}
