/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "image/processor.h"
#include "image/resize.h"

enum { MAX_PATCH = 1024, MAX_SIZE = 64, MAX_TOKENS = 1 << 24 };

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
    {"Qwen2VLVideoProcessor", GRAFT_PROCESSOR_VIDEO},       {"Qwen3VLVideoProcessor", GRAFT_PROCESSOR_COUNTED_VIDEO},
    {"Glm4vVideoProcessor", GRAFT_PROCESSOR_GLM_VIDEO},
};

static int is_of_video(int32_t kind) {
    return kind != GRAFT_PROCESSOR_IMAGE && kind != GRAFT_PROCESSOR_GLM_IMAGE;
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
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0] && status == GRAFT_OK; i++) {
        status = graft_config_int(file, sizes[i].name, 1, sizes[i].maximum, sizes[i].value, error);
    }
    if (status == GRAFT_OK) {
        status = read_size(file, config, error);
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

/* What the processors differ in where a file does not say it. */
struct defaults {
    int64_t min_pixels;
    int64_t max_pixels;
    int64_t patch_size;
    int64_t max_video_tokens;
    int32_t counts_frames;
    int32_t is_centered; /* mean and deviation are 0.5, not CLIP's (Radford et al. 2021) */
};

static const struct defaults defaults[] = {
    [GRAFT_PROCESSOR_IMAGE] = {56 * 56, 1280 * 28 * 28, 14, 128000, 0, 0},
    [GRAFT_PROCESSOR_VIDEO] = {128 * 28 * 28, 768 * 28 * 28, 14, 128000, 0, 0},
    [GRAFT_PROCESSOR_COUNTED_VIDEO] = {128 * 32 * 32, 768 * 32 * 32, 16, 768, 1, 1},
    [GRAFT_PROCESSOR_GLM_IMAGE] = {112 * 112, 15000 * 28 * 28, 14, 128000, 1, 0},
    [GRAFT_PROCESSOR_GLM_VIDEO] = {112 * 112, 60000 * 28 * 28, 14, 128000, 1, 0},
};

static struct graft_processor_config defaults_of(int32_t kind) {
    const struct defaults *own = &defaults[kind];
    struct graft_processor_config config = {
        .is_video = is_of_video(kind),
        .do_resize = 1,
        .do_rescale = 1,
        .do_normalize = 1,
        .do_convert_rgb = 1,
        .resample = GRAFT_RESAMPLE_BICUBIC,
        .rescale_factor = 1.0 / 255.0,
        .image_mean = {0.48145466, 0.4578275, 0.40821073},
        .image_std = {0.26862954, 0.26130258, 0.27577711},
        .min_pixels = own->min_pixels,
        .max_pixels = own->max_pixels,
        .patch_size = own->patch_size,
        .temporal_patch_size = 2,
        .merge_size = 2,
        .counts_frames = own->counts_frames,
        .max_video_tokens = own->max_video_tokens,
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
