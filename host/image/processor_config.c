/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "image/processor.h"
#include "image/resize.h"

enum { MAX_PATCH = 1024, MAX_SIZE = 64, MAX_TOKENS = 1 << 24, MAX_SIDE = 1 << 13 };

/* Reads a number small enough for products in f32. */
static int read_number(const struct graft_config *file, const char *path, const char *expected, double *value,
                       struct graft_error *error) {
    int32_t kind = file->kind(file->data, path);
    double number = file->real(file->data, path);
    if (kind != GRAFT_FIELD_INT && kind != GRAFT_FIELD_REAL) {
        return graft_config_expected(file, path, expected, error);
    }
    if (!(fabs(number) <= 1e6)) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, file->file,
                               "%s: expected a number from -1000000 to 1000000, got %g", path, number);
    }
    *value = number;
    return GRAFT_OK;
}

static int read_factor(const struct graft_config *file, struct graft_processor_config *config,
                       struct graft_error *error) {
    static const char name[] = "rescale_factor";
    int status =
        graft_config_has(file, name) ? read_number(file, name, "a number", &config->rescale_factor, error) : GRAFT_OK;
    if (status == GRAFT_OK && config->is_video && (float)config->rescale_factor == 0.0f) {
        status = graft_error_set(
            error, GRAFT_ERROR_MODEL, file->file,
            "rescale_factor: expected a number other than 0, because mean and deviation are divided by it");
    }
    return status;
}

/* Reads a number for each channel, or one for all. */
static int read_channels(const struct graft_config *file, const char *name, int is_divisor, double values[3],
                         struct graft_error *error) {
    int is_array = file->kind(file->data, name) == GRAFT_FIELD_ARRAY;
    if (!graft_config_has(file, name)) {
        return GRAFT_OK;
    }
    if (is_array && file->size(file->data, name) != 3) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, file->file, "%s: expected 3 numbers, got %lld", name,
                               (long long)file->size(file->data, name));
    }
    for (int i = 0; i < 3; i++) {
        char path[32];
        (void)snprintf(path, sizeof path, is_array ? "%s.%d" : "%s", name, i);
        int status = read_number(file, path, "a number", &values[i], error);
        if (status != GRAFT_OK) {
            return status;
        }
        if (is_divisor && (float)values[i] == 0.0f) {
            return graft_error_set(error, GRAFT_ERROR_MODEL, file->file,
                                   "%s: expected numbers other than 0, because pixels are divided by them", name);
        }
    }
    return GRAFT_OK;
}

/* Reads min_pixels and max_pixels; these older names take precedence over `size`. */
static int read_size(const struct graft_config *file, struct graft_processor_config *config,
                     struct graft_error *error) {
    const struct {
        const char *name;
        int64_t *value;
    } fields[] = {
        {"size.shortest_edge", &config->min_pixels},
        {"size.longest_edge", &config->max_pixels},
        {"min_pixels", &config->min_pixels},
        {"max_pixels", &config->max_pixels},
    };
    int status = GRAFT_OK;
    int has_size = graft_config_has(file, "size");
    if (has_size && file->kind(file->data, "size") != GRAFT_FIELD_OBJECT) {
        return graft_config_expected(file, "size", "an object", error);
    }
    for (size_t i = 0; i < 2 && has_size; i++) {
        if (!graft_config_has(file, fields[i].name) && !graft_config_has(file, fields[i + 2].name)) {
            return graft_config_expected(file, fields[i].name, "an integer", error);
        }
    }
    for (size_t i = 0; i < sizeof fields / sizeof fields[0] && status == GRAFT_OK; i++) {
        status = graft_config_int(file, fields[i].name, 1, GRAFT_MAX_PIXELS, fields[i].value, error);
    }
    if (status == GRAFT_OK && config->min_pixels > config->max_pixels) {
        status = graft_error_set(error, GRAFT_ERROR_MODEL, file->file,
                                 "the minimum number of pixels (%lld) exceeds the maximum (%lld)",
                                 (long long)config->min_pixels, (long long)config->max_pixels);
    }
    return status;
}

/* Reads an object of height and width, of shortest_edge alone where that is allowed, or a number for either. */
static int read_sides(const struct graft_config *file, const char *name, int64_t *shortest, int64_t *height,
                      int64_t *width, struct graft_error *error) {
    char path[64];
    int64_t side = 0;
    if (!graft_config_has(file, name)) {
        return GRAFT_OK;
    }
    if (file->kind(file->data, name) == GRAFT_FIELD_INT) {
        int status = graft_config_int(file, name, 1, MAX_SIDE, &side, error);
        *(shortest != NULL ? shortest : height) = side;
        *width = shortest != NULL ? *width : side;
        return status;
    }
    if (file->kind(file->data, name) != GRAFT_FIELD_OBJECT) {
        return graft_config_expected(file, name, "an object", error);
    }
    (void)snprintf(path, sizeof path, "%s.shortest_edge", name);
    if (shortest != NULL && graft_config_has(file, path)) {
        return graft_config_need_int(file, path, 1, MAX_SIDE, shortest, error);
    }
    if (shortest != NULL) {
        *shortest = 0;
    }
    (void)snprintf(path, sizeof path, "%s.height", name);
    int status = graft_config_need_int(file, path, 1, MAX_SIDE, height, error);
    (void)snprintf(path, sizeof path, "%s.width", name);
    return status == GRAFT_OK ? graft_config_need_int(file, path, 1, MAX_SIDE, width, error) : status;
}

/* Reads what is said of images that all have one size. */
static int read_fixed(const struct graft_config *file, struct graft_processor_config *config,
                      struct graft_error *error) {
    static const char *const unsupported[] = {"do_pad", "do_pan_and_scan"};
    int status = read_sides(file, "size", &config->shortest_edge, &config->height, &config->width, error);
    if (status == GRAFT_OK) {
        status = read_sides(file, "crop_size", NULL, &config->crop_height, &config->crop_width, error);
    }
    if (status == GRAFT_OK) {
        status = graft_config_bool(file, "do_center_crop", &config->do_center_crop, error);
    }
    for (size_t i = 0; i < sizeof unsupported / sizeof unsupported[0] && status == GRAFT_OK; i++) {
        int32_t is_on = 0;
        status = graft_config_bool(file, unsupported[i], &is_on, error);
        if (status == GRAFT_OK && is_on) {
            status = graft_error_set(error, GRAFT_ERROR_MODEL, file->file, "%s: true is not supported", unsupported[i]);
        }
    }
    return status;
}

static int read_resample(const struct graft_config *file, struct graft_processor_config *config,
                         struct graft_error *error) {
    int64_t resample = config->resample;
    int status = graft_config_int(file, "resample", 1, INT32_MAX, &resample, error);
    if (status == GRAFT_OK && resample != GRAFT_RESAMPLE_BILINEAR && resample != GRAFT_RESAMPLE_BICUBIC) {
        status = graft_error_set(error, GRAFT_ERROR_MODEL, file->file,
                                 "resample: expected 2 (bilinear) or 3 (bicubic), got %lld", (long long)resample);
    }
    config->resample = (int32_t)resample;
    return status;
}

/* Processors by the names that files have for them, those of one kind together, and the kinds that they are for. */
static const struct {
    const char *name;
    int32_t kind;
} processors[] = {
    {"Qwen2VLImageProcessor", GRAFT_PROCESSOR_IMAGE},       {"Qwen2VLImageProcessorFast", GRAFT_PROCESSOR_IMAGE},
    {"Qwen2VLImageProcessorPil", GRAFT_PROCESSOR_IMAGE},    {"Glm4vImageProcessor", GRAFT_PROCESSOR_GLM_IMAGE},
    {"Glm4vImageProcessorFast", GRAFT_PROCESSOR_GLM_IMAGE}, {"Glm4vImageProcessorPil", GRAFT_PROCESSOR_GLM_IMAGE},
    {"CLIPImageProcessor", GRAFT_PROCESSOR_CLIP},           {"CLIPImageProcessorFast", GRAFT_PROCESSOR_CLIP},
    {"CLIPImageProcessorPil", GRAFT_PROCESSOR_CLIP},        {"LlavaImageProcessor", GRAFT_PROCESSOR_CLIP},
    {"LlavaImageProcessorFast", GRAFT_PROCESSOR_CLIP},      {"LlavaImageProcessorPil", GRAFT_PROCESSOR_CLIP},
    {"SiglipImageProcessor", GRAFT_PROCESSOR_SIGLIP},       {"SiglipImageProcessorFast", GRAFT_PROCESSOR_SIGLIP},
    {"SiglipImageProcessorPil", GRAFT_PROCESSOR_SIGLIP},    {"Gemma3ImageProcessor", GRAFT_PROCESSOR_GEMMA3},
    {"Gemma3ImageProcessorFast", GRAFT_PROCESSOR_GEMMA3},   {"Gemma3ImageProcessorPil", GRAFT_PROCESSOR_GEMMA3},
    {"Qwen2VLVideoProcessor", GRAFT_PROCESSOR_VIDEO},       {"Qwen3VLVideoProcessor", GRAFT_PROCESSOR_COUNTED_VIDEO},
    {"Glm4vVideoProcessor", GRAFT_PROCESSOR_GLM_VIDEO},
};

static int is_of_video(int32_t kind) {
    return kind == GRAFT_PROCESSOR_VIDEO || kind == GRAFT_PROCESSOR_COUNTED_VIDEO || kind == GRAFT_PROCESSOR_GLM_VIDEO;
}

/* Sets `*kind` to that of the processor that the field `name` has, if the file has it. Other processors use the same
 * fields differently, so they are an error, in which the first known one stands as an example. */
static int read_type(const struct graft_config *file, const char *name, int is_video, int32_t *kind,
                     struct graft_error *error) {
    const char *type = NULL, *example = NULL;
    int status = graft_config_string(file, name, &type, error);
    if (status != GRAFT_OK || type == NULL) {
        return status;
    }
    for (size_t i = 0; i < sizeof processors / sizeof processors[0]; i++) {
        if (is_of_video(processors[i].kind) == is_video) {
            example = example == NULL ? processors[i].name : example;
            if (strcmp(type, processors[i].name) == 0) {
                *kind = processors[i].kind;
                return GRAFT_OK;
            }
        }
    }
    return graft_error_set(error, GRAFT_ERROR_MODEL, file->file, "%s: expected \"%s\", got %s", name, example, type);
}

/* Sets `*kind` to the processor that the file names, if it names one. A file for images may serve videos, too. */
static int read_kind(const struct graft_config *file, int32_t *kind, struct graft_error *error) {
    int32_t of_images = *kind;
    int status = read_type(file, "image_processor_type", 0, &of_images, error);
    if (status == GRAFT_OK && is_of_video(*kind)) {
        return read_type(file, "video_processor_type", 1, kind, error);
    }
    *kind = of_images;
    return status;
}

static int read_fields(const struct graft_config *file, struct graft_processor_config *config,
                       struct graft_error *error) {
    const struct {
        const char *name;
        int32_t *value;
    } bools[] = {
        {"do_resize", &config->do_resize},
        {"do_rescale", &config->do_rescale},
        {"do_normalize", &config->do_normalize},
        {"do_convert_rgb", &config->do_convert_rgb},
        {"cap_pixels_per_frame", &config->cap_pixels_per_frame},
    };
    const struct {
        const char *name;
        int64_t maximum;
        int64_t *value;
    } sizes[] = {
        {"patch_size", MAX_PATCH, &config->patch_size},
        {"temporal_patch_size", MAX_SIZE, &config->temporal_patch_size},
        {"merge_size", MAX_SIZE, &config->merge_size},
        {"max_video_tokens", MAX_TOKENS, &config->max_video_tokens},
    };
    int status = GRAFT_OK;
    for (size_t i = 0; i < sizeof bools / sizeof bools[0] && status == GRAFT_OK; i++) {
        status = graft_config_bool(file, bools[i].name, bools[i].value, error);
    }
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0] && status == GRAFT_OK && !config->is_fixed; i++) {
        status = graft_config_int(file, sizes[i].name, 1, sizes[i].maximum, sizes[i].value, error);
    }
    if (status == GRAFT_OK) {
        status = config->is_fixed ? read_fixed(file, config, error) : read_size(file, config, error);
    }
    if (status == GRAFT_OK) {
        status = read_resample(file, config, error);
    }
    if (status == GRAFT_OK) {
        status = read_factor(file, config, error);
    }
    if (status == GRAFT_OK) {
        status = read_channels(file, "image_mean", 0, config->image_mean, error);
    }
    return status == GRAFT_OK ? read_channels(file, "image_std", 1, config->image_std, error) : status;
}

/* Defaults that differ between processors. */
struct defaults {
    int64_t min_pixels;
    int64_t max_pixels;
    int64_t patch_size;
    int64_t max_video_tokens;
    int32_t counts_frames;
    int32_t is_centered; /* mean and deviation are 0.5, not CLIP's (Radford et al. 2021) */
};

enum { FIXED_SIDE = 224 };

static const struct defaults defaults[] = {
    [GRAFT_PROCESSOR_IMAGE] = {56 * 56, 1280 * 28 * 28, 14, 128000, 0, 0},
    [GRAFT_PROCESSOR_VIDEO] = {128 * 28 * 28, 768 * 28 * 28, 14, 128000, 0, 0},
    [GRAFT_PROCESSOR_COUNTED_VIDEO] = {128 * 32 * 32, 768 * 32 * 32, 16, 768, 1, 1},
    [GRAFT_PROCESSOR_GLM_IMAGE] = {112 * 112, 15000 * 28 * 28, 14, 128000, 1, 0},
    [GRAFT_PROCESSOR_GLM_VIDEO] = {112 * 112, 60000 * 28 * 28, 14, 128000, 1, 0},
    [GRAFT_PROCESSOR_CLIP] = {1, 1, 1, 1, 0, 0},
    [GRAFT_PROCESSOR_SIGLIP] = {1, 1, 1, 1, 0, 1},
    [GRAFT_PROCESSOR_GEMMA3] = {1, 1, 1, 1, 0, 1},
};

static struct graft_processor_config defaults_of(int32_t kind) {
    const struct defaults *own = &defaults[kind];
    struct graft_processor_config config = {
        .is_video = is_of_video(kind),
        .do_resize = 1,
        .do_rescale = 1,
        .do_normalize = 1,
        .do_convert_rgb = 1,
        .resample = kind == GRAFT_PROCESSOR_GEMMA3 ? GRAFT_RESAMPLE_BILINEAR : GRAFT_RESAMPLE_BICUBIC,
        .rescale_factor = 1.0 / 255.0,
        .image_mean = {0.48145466, 0.4578275, 0.40821073},
        .image_std = {0.26862954, 0.26130258, 0.27577711},
        .min_pixels = own->min_pixels,
        .max_pixels = own->max_pixels,
        .patch_size = own->patch_size,
        .temporal_patch_size = kind >= GRAFT_PROCESSOR_CLIP ? 1 : 2,
        .merge_size = kind >= GRAFT_PROCESSOR_CLIP ? 1 : 2,
        .counts_frames = own->counts_frames,
        .max_video_tokens = own->max_video_tokens,
        .is_fixed = kind >= GRAFT_PROCESSOR_CLIP,
        .do_center_crop = kind == GRAFT_PROCESSOR_CLIP,
        .height = FIXED_SIDE,
        .width = FIXED_SIDE,
        .shortest_edge = kind == GRAFT_PROCESSOR_CLIP ? FIXED_SIDE : 0,
        .crop_height = FIXED_SIDE,
        .crop_width = FIXED_SIDE,
    };
    for (int32_t c = 0; c < 3 && own->is_centered; c++) {
        config.image_mean[c] = config.image_std[c] = 0.5;
    }
    return config;
}

int graft_processor_config_read(const struct graft_config *file, int32_t kind, struct graft_processor_config *config,
                                struct graft_error *error) {
    const int status = read_kind(file, &kind, error);
    *config = defaults_of(kind);
    return status == GRAFT_OK ? read_fields(file, config, error) : status;
}
