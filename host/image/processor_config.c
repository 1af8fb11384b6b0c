/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/file.h"
#include "image/processor.h"
#include "image/resize.h"

enum { MAX_FILE_BYTES = 1 << 20, MAX_PATCH = 1024, MAX_SIZE = 64, MAX_TOKENS = 1 << 24 };

/* A document and its name, for messages. */
struct source {
    const graft_json *document;
    const char *name;
};

static int is_there(const graft_json *field) {
    return graft_json_type(field) != GRAFT_JSON_ABSENT && graft_json_type(field) != GRAFT_JSON_NULL;
}

static int refuse(const struct source *source, const char *name, const char *expected, const graft_json *field,
                  struct graft_error *error) {
    return graft_error_set(error, GRAFT_ERROR_MODEL, source->name, "%s: expected %s, got %s", name, expected,
                           graft_json_type_name(field));
}

static int read_bool(const struct source *source, const char *name, int32_t *value, struct graft_error *error) {
    const graft_json *field = graft_json_get(source->document, name);
    if (!is_there(field)) {
        return GRAFT_OK;
    }
    if (graft_json_type(field) != GRAFT_JSON_BOOL) {
        return refuse(source, name, "a boolean", field, error);
    }
    *value = graft_json_bool(field);
    return GRAFT_OK;
}

/* `field` called `name` in messages, from 1 to `maximum`. */
static int take_integer(const struct source *source, const graft_json *field, const char *name, int64_t maximum,
                        int64_t *value, struct graft_error *error) {
    if (!is_there(field)) {
        return GRAFT_OK;
    }
    if (graft_json_type(field) != GRAFT_JSON_INT) {
        return refuse(source, name, "an integer", field, error);
    }
    *value = graft_json_int(field);
    if (*value < 1 || *value > maximum) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, source->name, "%s: expected 1 to %lld, got %lld", name,
                               (long long)maximum, (long long)*value);
    }
    return GRAFT_OK;
}

static int is_number(const graft_json *field) {
    return (graft_json_type(field) == GRAFT_JSON_INT || graft_json_type(field) == GRAFT_JSON_REAL) &&
           isfinite(graft_json_real(field)) && fabs(graft_json_real(field)) <= 1e6;
}

static int read_factor(const struct source *source, struct graft_processor_config *config, struct graft_error *error) {
    const graft_json *field = graft_json_get(source->document, "rescale_factor");
    if (is_there(field) && !is_number(field)) {
        return refuse(source, "rescale_factor", "a number", field, error);
    }
    config->rescale_factor = is_there(field) ? graft_json_real(field) : config->rescale_factor;
    if (config->is_video && (float)config->rescale_factor == 0.0f) {
        return graft_error_set(
            error, GRAFT_ERROR_MODEL, source->name,
            "rescale_factor: expected a number other than 0, because mean and deviation are divided by it");
    }
    return GRAFT_OK;
}

/* A number for each channel, or one for all. */
static int read_channels(const struct source *source, const char *name, int is_divisor, double values[3],
                         struct graft_error *error) {
    const graft_json *field = graft_json_get(source->document, name);
    int is_array = graft_json_type(field) == GRAFT_JSON_ARRAY;
    if (!is_there(field)) {
        return GRAFT_OK;
    }
    if (is_array && graft_json_size(field) != 3) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, source->name, "%s: expected 3 numbers, got %zu", name,
                               graft_json_size(field));
    }
    for (size_t i = 0; i < 3; i++) {
        const graft_json *number = is_array ? graft_json_at(field, i) : field;
        if (!is_number(number)) {
            return refuse(source, name, "numbers", number, error);
        }
        values[i] = graft_json_real(number);
        if (is_divisor && (float)values[i] == 0.0f) {
            return graft_error_set(error, GRAFT_ERROR_MODEL, source->name,
                                   "%s: expected numbers other than 0, because pixels are divided by them", name);
        }
    }
    return GRAFT_OK;
}

/* Their older names go before `size`. */
static int read_size(const struct source *source, struct graft_processor_config *config, struct graft_error *error) {
    const graft_json *size = graft_json_get(source->document, "size");
    const struct {
        const graft_json *field;
        const char *name;
        int64_t *value;
    } fields[] = {
        {graft_json_get(size, "shortest_edge"), "size.shortest_edge", &config->min_pixels},
        {graft_json_get(size, "longest_edge"), "size.longest_edge", &config->max_pixels},
        {graft_json_get(source->document, "min_pixels"), "min_pixels", &config->min_pixels},
        {graft_json_get(source->document, "max_pixels"), "max_pixels", &config->max_pixels},
    };
    int status = GRAFT_OK;
    if (is_there(size) && graft_json_type(size) != GRAFT_JSON_OBJECT) {
        return refuse(source, "size", "an object", size, error);
    }
    for (size_t i = 0; i < 2 && is_there(size); i++) {
        if (!is_there(fields[i].field) && !is_there(fields[i + 2].field)) {
            return refuse(source, fields[i].name, "an integer", fields[i].field, error);
        }
    }
    for (size_t i = 0; i < sizeof fields / sizeof fields[0] && status == GRAFT_OK; i++) {
        status = take_integer(source, fields[i].field, fields[i].name, GRAFT_MAX_PIXELS, fields[i].value, error);
    }
    if (status == GRAFT_OK && config->min_pixels > config->max_pixels) {
        status = graft_error_set(error, GRAFT_ERROR_MODEL, source->name,
                                 "the minimum number of pixels (%lld) exceeds the maximum (%lld)",
                                 (long long)config->min_pixels, (long long)config->max_pixels);
    }
    return status;
}

static int read_resample(const struct source *source, struct graft_processor_config *config,
                         struct graft_error *error) {
    int64_t resample = config->resample;
    int status =
        take_integer(source, graft_json_get(source->document, "resample"), "resample", INT32_MAX, &resample, error);
    if (status == GRAFT_OK && resample != GRAFT_RESAMPLE_BILINEAR && resample != GRAFT_RESAMPLE_BICUBIC) {
        status = graft_error_set(error, GRAFT_ERROR_MODEL, source->name,
                                 "resample: expected 2 (bilinear) or 3 (bicubic), got %lld", (long long)resample);
    }
    config->resample = (int32_t)resample;
    return status;
}

/* Other processors mean other things by the same fields. A field of that name is absent or has one of the types
 * `known`, of which the first is the one to name. */
static int check_type(const struct source *source, const char *name, const char *const *known,
                      struct graft_error *error) {
    const graft_json *field = graft_json_get(source->document, name);
    const char *type = graft_json_string(field, NULL);
    if (!is_there(field)) {
        return GRAFT_OK;
    }
    for (size_t i = 0; type != NULL && known[i] != NULL; i++) {
        if (strcmp(type, known[i]) == 0) {
            return GRAFT_OK;
        }
    }
    return graft_error_set(error, GRAFT_ERROR_MODEL, source->name, "%s: expected \"%s\", got %s", name, known[0],
                           type != NULL ? type : graft_json_type_name(field));
}

static int check_types(const struct source *source, int32_t is_video, struct graft_error *error) {
    static const char *const image[] = {"Qwen2VLImageProcessor", "Qwen2VLImageProcessorFast",
                                        "Qwen2VLImageProcessorPil", NULL};
    static const char *const video[] = {"Qwen2VLVideoProcessor", NULL};
    int status = check_type(source, "image_processor_type", image, error);
    return status == GRAFT_OK && is_video ? check_type(source, "video_processor_type", video, error) : status;
}

static int read_fields(const struct source *source, struct graft_processor_config *config, struct graft_error *error) {
    const graft_json *document = source->document;
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
    int status = check_types(source, config->is_video, error);
    for (size_t i = 0; i < sizeof bools / sizeof bools[0] && status == GRAFT_OK; i++) {
        status = read_bool(source, bools[i].name, bools[i].value, error);
    }
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0] && status == GRAFT_OK; i++) {
        status = take_integer(source, graft_json_get(document, sizes[i].name), sizes[i].name, sizes[i].maximum,
                              sizes[i].value, error);
    }
    if (status == GRAFT_OK) {
        status = read_size(source, config, error);
    }
    if (status == GRAFT_OK) {
        status = read_resample(source, config, error);
    }
    if (status == GRAFT_OK) {
        status = read_factor(source, config, error);
    }
    if (status == GRAFT_OK) {
        status = read_channels(source, "image_mean", 0, config->image_mean, error);
    }
    return status == GRAFT_OK ? read_channels(source, "image_std", 1, config->image_std, error) : status;
}

int graft_processor_config_parse(const graft_json *document, const char *name, int32_t is_video,
                                 struct graft_processor_config *config, struct graft_error *error) {
    const struct source source = {document, name};
    /* The processors' defaults; mean and deviation are CLIP's (Radford et al. 2021). */
    *config = (struct graft_processor_config){
        .is_video = is_video,
        .do_resize = 1,
        .do_rescale = 1,
        .do_normalize = 1,
        .do_convert_rgb = 1,
        .resample = GRAFT_RESAMPLE_BICUBIC,
        .rescale_factor = 1.0 / 255.0,
        .image_mean = {0.48145466, 0.4578275, 0.40821073},
        .image_std = {0.26862954, 0.26130258, 0.27577711},
        .min_pixels = is_video ? 128 * 28 * 28 : 56 * 56,
        .max_pixels = is_video ? 768 * 28 * 28 : 1280 * 28 * 28,
        .patch_size = 14,
        .temporal_patch_size = 2,
        .merge_size = 2,
        .max_video_tokens = 128000,
    };
    if (graft_json_type(document) != GRAFT_JSON_OBJECT) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, name, "expected an object, got %s",
                               graft_json_type_name(document));
    }
    return read_fields(&source, config, error);
}

/* Where a config may be: a file of the directory, or the member `part` of it. */
struct place {
    const char *file;
    const char *part;
};

/* `*found` says whether there is such a thing. */
static int read_place(const char *directory, const struct place *place, int32_t is_video,
                      struct graft_processor_config *config, int *found, struct graft_error *error) {
    char *path = graft_path_join(directory, place->file);
    graft_json *document = NULL;
    int status = path != NULL ? GRAFT_OK : graft_fail_memory(error, directory);
    if (status == GRAFT_OK && graft_file_exists(path)) {
        status = graft_json_read(path, MAX_FILE_BYTES, &document, error);
    }
    const graft_json *fields = place->part != NULL ? graft_json_get(document, place->part) : document;
    if (status == GRAFT_OK && is_there(fields)) {
        *found = 1;
        status = graft_processor_config_parse(fields, path, is_video, config, error);
    }
    graft_json_free(document);
    graft_free(path);
    return status;
}

int graft_processor_config_read(const char *directory, int32_t is_video, struct graft_processor_config *config,
                                struct graft_error *error) {
    static const struct place image[] = {{"processor_config.json", "image_processor"},
                                         {"preprocessor_config.json", NULL}};
    static const struct place video[] = {{"processor_config.json", "video_processor"},
                                         {"video_preprocessor_config.json", NULL},
                                         {"preprocessor_config.json", NULL}};
    const struct place *places = is_video ? video : image;
    size_t n = is_video ? 3 : 2;
    int found = 0;
    int status = GRAFT_OK;
    for (size_t i = 0; i < n && status == GRAFT_OK && !found; i++) {
        status = read_place(directory, &places[i], is_video, config, &found, error);
    }
    if (status == GRAFT_OK && !found) {
        status = graft_error_set(error, GRAFT_ERROR_MODEL, directory, "has no %s, which says how %s are prepared",
                                 is_video ? "video_preprocessor_config.json or preprocessor_config.json"
                                          : "preprocessor_config.json",
                                 is_video ? "videos" : "images");
    }
    return status;
}
