/* SPDX-License-Identifier: Apache-2.0 */
#include "rope/parameters.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"

enum { MAX_OBJECT = 128, MAX_PATH = MAX_OBJECT + 64, MAX_POSITIONS = 1 << 30, MAX_HEAD = 65536 };

/* The path of a rope field: `object`.`name`. */
struct path {
    char text[MAX_PATH];
};

static struct path path_of(const char *object, const char *name) {
    struct path path;
    (void)snprintf(path.text, sizeof path.text, "%s.%s", object, name);
    return path;
}

/* Finds the object with the fields: the given path or, without one, `rope_scaling` if it is not empty, else
 * `rope_parameters`, as in the reference. NULL if there is none. */
static int find_object(const struct graft_config *config, const char *path, const char **object,
                       struct graft_error *error) {
    const char *const names[] = {path != NULL ? path : "rope_scaling", path != NULL ? path : "rope_parameters"};
    *object = NULL;
    for (size_t i = 0; i < sizeof names / sizeof names[0] && *object == NULL; i++) {
        if (!graft_config_has(config, names[i])) {
            continue;
        }
        if (config->kind(config->data, names[i]) != GRAFT_FIELD_OBJECT) {
            return graft_config_expected(config, names[i], "an object", error);
        }
        *object = config->size(config->data, names[i]) > 0 ? names[i] : NULL;
    }
    return GRAFT_OK;
}

static int has_sections(const struct graft_rope *rope) {
    return rope->mrope_section[0] + rope->mrope_section[1] + rope->mrope_section[2] > 0;
}

static int read_type(const struct graft_config *config, const char *object, struct graft_rope *rope,
                     struct graft_error *error) {
    static const char *const names[] = {"default", "llama3",   "linear",      "dynamic",
                                        "yarn",    "longrope", "proportional"}; /* by GRAFT_ROPE_... */
    struct path path = path_of(object, "rope_type");
    const char *name = names[GRAFT_ROPE_DEFAULT];
    if (!graft_config_has(config, path.text)) {
        path = path_of(object, "type");
    } else {
        (void)graft_config_has(
            config,
            path_of(object, "type").text); /* the older name, which rope_type overrides; it still counts as used */
    }
    int status = graft_config_string(config, path.text, &name, error);
    if (status != GRAFT_OK) {
        return status;
    }
    if (has_sections(rope) && strcmp(name, "mrope") == 0) {
        name = names[GRAFT_ROPE_DEFAULT]; /* an older name: sections alone define this type */
    }
    if (strcmp(name, "su") == 0) {
        name = names[GRAFT_ROPE_LONGROPE]; /* the name in Phi-3's first configs */
    }
    for (int32_t i = 0; i < (int32_t)(sizeof names / sizeof names[0]); i++) {
        if (strcmp(name, names[i]) == 0) {
            rope->rope_type = i;
            return GRAFT_OK;
        }
    }
    return graft_error_set(
        error, GRAFT_ERROR_MODEL, config->file,
        "%s: \"%s\" is not supported, expected default, llama3, linear, dynamic, yarn, longrope or proportional",
        path.text, name);
}

/* Refuses parameters by layer type if the caller did not name an object: using one type for all layers would be
 * wrong. */
static int refuse_layer_types(const struct graft_config *config, const char *object, struct graft_error *error) {
    static const char *const layer_types[] = {"full_attention", "sliding_attention"};
    for (size_t i = 0; i < sizeof layer_types / sizeof layer_types[0]; i++) {
        struct path nested = path_of(object, layer_types[i]);
        if (config->kind(config->data, nested.text) == GRAFT_FIELD_OBJECT) {
            return graft_error_set(error, GRAFT_ERROR_MODEL, config->file,
                                   "%s: parameters for one type of layer are not supported", nested.text);
        }
    }
    return GRAFT_OK;
}

static int need_real(const struct graft_config *config, const char *object, const char *name, double *value,
                     struct graft_error *error) {
    struct path path = path_of(object, name);
    if (!graft_config_has(config, path.text)) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, config->file, "%s: missing, expected a number", path.text);
    }
    return graft_config_real(config, path.text, 0.0, value, error);
}

static int read_real(const struct graft_config *config, const char *object, const char *name, double *value,
                     struct graft_error *error) {
    return graft_config_real(config, path_of(object, name).text, 0.0, value, error);
}

/* The field next to the object takes precedence over the one in it; the default is max_position_embeddings. */
static int read_original(const struct graft_config *config, const char *object, struct graft_rope *rope,
                         struct graft_error *error) {
    static const char name[] = "original_max_position_embeddings";
    int64_t *original = &rope->original_max_position_embeddings;
    *original = rope->max_position_embeddings;
    int status = graft_config_int(config, path_of(object, name).text, 1, MAX_POSITIONS, original, error);
    return status == GRAFT_OK ? graft_config_int(config, name, 1, MAX_POSITIONS, original, error) : status;
}

static int read_llama3(const struct graft_config *config, const char *object, struct graft_rope *rope,
                       struct graft_error *error) {
    int status = need_real(config, object, "factor", &rope->factor, error);
    if (status == GRAFT_OK) {
        status = need_real(config, object, "low_freq_factor", &rope->low_freq_factor, error);
    }
    if (status == GRAFT_OK) {
        status = need_real(config, object, "high_freq_factor", &rope->high_freq_factor, error);
    }
    if (status == GRAFT_OK && rope->high_freq_factor <= rope->low_freq_factor) {
        status = graft_error_set(error, GRAFT_ERROR_MODEL, config->file,
                                 "%s.high_freq_factor: expected more than low_freq_factor (%g), got %g", object,
                                 rope->low_freq_factor, rope->high_freq_factor);
    }
    return status == GRAFT_OK ? read_original(config, object, rope, error) : status;
}

/* Reads alpha, with which the base is stretched once; HunYuan's configs call this dynamic. */
static int read_alpha(const struct graft_config *config, const struct graft_rope_info *info, const char *object,
                      struct graft_rope *rope, struct graft_error *error) {
    double alpha = 0.0;
    int status = GRAFT_HAS(info, struct graft_rope_info, takes_alpha) && info->takes_alpha
                     ? read_real(config, object, "alpha", &alpha, error)
                     : GRAFT_OK;
    if (status == GRAFT_OK && alpha > 0.0) {
        rope->rope_type = GRAFT_ROPE_DEFAULT;
        rope->rope_theta *= pow(alpha, (double)rope->width / (double)(rope->width - 2));
    }
    return status;
}

static int read_dynamic(const struct graft_config *config, const struct graft_rope_info *info, const char *object,
                        struct graft_rope *rope, struct graft_error *error) {
    if (rope->width <= 2) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, config->file,
                               "head_dim: expected more than 2 with the rope type dynamic, got %lld",
                               (long long)rope->width);
    }
    int status = read_alpha(config, info, object, rope, error);
    return status == GRAFT_OK && rope->rope_type == GRAFT_ROPE_DYNAMIC
               ? need_real(config, object, "factor", &rope->factor, error)
               : status;
}

/* 0.1 mscale ln(factor) + 1 (Peng et al. 2023, eq. 22, with a field of its own for the 0.1). */
static double magnitude(double factor, double mscale) {
    return factor <= 1.0 ? 1.0 : 0.1 * mscale * log(factor) + 1.0;
}

/* Reads the attention factor or, without the field, computes it from `factor`, mscale and mscale_all_dim (both or
 * neither). */
static int read_attention_factor(const struct graft_config *config, const char *object, struct graft_rope *rope,
                                 struct graft_error *error) {
    double numerator = 0.0;
    double denominator = 0.0;
    int status = graft_config_real(config, path_of(object, "mscale").text, -HUGE_VAL, &numerator, error);
    if (status == GRAFT_OK) {
        status = graft_config_real(config, path_of(object, "mscale_all_dim").text, -HUGE_VAL, &denominator, error);
    }
    if (status != GRAFT_OK) {
        return status;
    }
    rope->attention_factor = numerator != 0.0 && denominator != 0.0
                                 ? magnitude(rope->factor, numerator) / magnitude(rope->factor, denominator)
                                 : magnitude(rope->factor, 1.0);
    return read_real(config, object, "attention_factor", &rope->attention_factor, error);
}

static int read_yarn(const struct graft_config *config, const char *object, struct graft_rope *rope,
                     struct graft_error *error) {
    rope->beta_fast = 32.0;
    rope->beta_slow = 1.0;
    rope->truncate = 1;
    int status = read_original(config, object, rope, error);
    if (status == GRAFT_OK) {
        rope->factor = (double)rope->max_position_embeddings / (double)rope->original_max_position_embeddings;
        status = read_real(config, object, "factor", &rope->factor, error);
    }
    if (status == GRAFT_OK) {
        status = read_real(config, object, "beta_fast", &rope->beta_fast, error);
    }
    if (status == GRAFT_OK) {
        status = read_real(config, object, "beta_slow", &rope->beta_slow, error);
    }
    if (status == GRAFT_OK) {
        status = graft_config_bool(config, path_of(object, "truncate").text, &rope->truncate, error);
    }
    return status == GRAFT_OK ? read_attention_factor(config, object, rope, error) : status;
}

/* Reads an array of width / 2 factors. */
static int read_factors(const struct graft_config *config, const char *object, const char *name, int64_t n,
                        float **factors, struct graft_error *error) {
    struct path path = path_of(object, name);
    if (config->kind(config->data, path.text) != GRAFT_FIELD_ARRAY || config->size(config->data, path.text) != n) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, config->file, "%s: expected an array of %lld numbers",
                               path.text, (long long)n);
    }
    *factors = graft_alloc((size_t)n, sizeof **factors);
    if (*factors == NULL) {
        return graft_fail_memory(error, config->file);
    }
    int status = GRAFT_OK;
    for (int64_t i = 0; i < n && status == GRAFT_OK; i++) {
        char index[24];
        double factor = 0.0;
        (void)snprintf(index, sizeof index, "%lld", (long long)i);
        status = need_real(config, path.text, index, &factor, error);
        (*factors)[i] = (float)factor;
    }
    return status;
}

/* Without the field, the attention factor is sqrt(1 + ln factor / ln original) (Ding et al. 2024, section 3.3). */
static int read_longrope(const struct graft_config *config, const char *object, struct graft_rope *rope,
                         struct graft_error *error) {
    int64_t n = rope->width / 2;
    int status = read_original(config, object, rope, error);
    if (status == GRAFT_OK && rope->original_max_position_embeddings < 2) {
        status = graft_error_set(error, GRAFT_ERROR_MODEL, config->file,
                                 "original_max_position_embeddings: expected more than 1 with the rope type longrope");
    }
    double original = (double)rope->original_max_position_embeddings;
    rope->factor = (double)rope->max_position_embeddings / original;
    if (status == GRAFT_OK) {
        status = read_real(config, object, "factor", &rope->factor, error);
    }
    rope->attention_factor = rope->factor <= 1.0 ? 1.0 : sqrt(1.0 + log(rope->factor) / log(original));
    if (status == GRAFT_OK) {
        status = read_real(config, object, "attention_factor", &rope->attention_factor, error);
    }
    if (status == GRAFT_OK) {
        status = read_factors(config, object, "short_factor", n, &rope->short_factor, error);
    }
    return status == GRAFT_OK ? read_factors(config, object, "long_factor", n, &rope->long_factor, error) : status;
}

static int read_by_type(const struct graft_config *config, const struct graft_rope_info *info, const char *object,
                        struct graft_rope *rope, struct graft_error *error) {
    switch (rope->rope_type) {
    case GRAFT_ROPE_LLAMA3:
        return read_llama3(config, object, rope, error);
    case GRAFT_ROPE_LINEAR:
        return need_real(config, object, "factor", &rope->factor, error);
    case GRAFT_ROPE_DYNAMIC:
        return read_dynamic(config, info, object, rope, error);
    case GRAFT_ROPE_YARN:
        return read_yarn(config, object, rope, error);
    case GRAFT_ROPE_LONGROPE:
        return read_longrope(config, object, rope, error);
    case GRAFT_ROPE_PROPORTIONAL:
        rope->factor = 1.0;
        return read_real(config, object, "factor", &rope->factor, error);
    default:
        return GRAFT_OK;
    }
}

/* Reads mrope_section, which divides the frequencies among axes, for families that have it. */
static int read_sections(const struct graft_config *config, const char *object, struct graft_rope *rope,
                         struct graft_error *error) {
    struct path path = path_of(object, "mrope_section");
    int status = GRAFT_OK;
    if (!has_sections(rope)) {
        return GRAFT_OK;
    }
    if (graft_config_has(config, path.text) &&
        (config->kind(config->data, path.text) != GRAFT_FIELD_ARRAY || config->size(config->data, path.text) != 3)) {
        return graft_config_expected(config, path.text, "an array of three integers", error);
    }
    for (int32_t i = 0; i < 3 && status == GRAFT_OK; i++) {
        static const char *const names[] = {"mrope_section.0", "mrope_section.1", "mrope_section.2"};
        status =
            graft_config_int(config, path_of(object, names[i]).text, 0, rope->width, &rope->mrope_section[i], error);
    }
    int64_t sum = rope->mrope_section[0] + rope->mrope_section[1] + rope->mrope_section[2];
    if (status == GRAFT_OK && !rope->interleaved_sections && sum != rope->width / 2) {
        status = graft_error_set(error, GRAFT_ERROR_MODEL, config->file,
                                 "%s: expected numbers that add up to half of head_dim (%lld), got %lld", path.text,
                                 (long long)rope->width / 2, (long long)sum);
    }
    return status;
}

/* Finds how much of each head is rotated: all, or the first part. The type "proportional" rotates all, with some
 * frequencies 0. */
static int find_width(const struct graft_config *config, const struct graft_rope_info *info, struct graft_rope *rope,
                      struct graft_error *error) {
    double factor = rope->rope_type == GRAFT_ROPE_PROPORTIONAL ? 1.0 : rope->partial_rotary_factor;
    rope->dim = (int64_t)((double)info->head_dim * factor);
    rope->width = rope->dim + rope->dim % 2; /* rounded up, as in the reference */
    if (rope->partial_rotary_factor > 1.0 || rope->width < 2 || rope->width > info->head_dim) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, config->file,
                               "%s: expected at most 1, and a part of a head of %lld that can be rotated, got %g",
                               graft_config_spelling(config, "partial_rotary_factor"), (long long)info->head_dim,
                               rope->partial_rotary_factor);
    }
    return GRAFT_OK;
}

static int check_info(const struct graft_rope_info *info, const char *file, struct graft_error *error) {
    if (info->head_dim > MAX_HEAD) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, file,
                               "head_dim: expected at most %d where heads are rotated, got %lld", (int)MAX_HEAD,
                               (long long)info->head_dim);
    }
    if (info->head_dim < 2 || info->max_position_embeddings <= 0 || !(info->rope_theta > 0.0) ||
        !(info->partial_rotary_factor >= 0.0)) {
        return graft_error_set(error, GRAFT_ERROR_PLUGIN, file,
                               "a rotation of heads of %lld, for %lld positions, with the base %g and the part %g",
                               (long long)info->head_dim, (long long)info->max_position_embeddings, info->rope_theta,
                               info->partial_rotary_factor);
    }
    if (info->object != NULL && strlen(info->object) > MAX_OBJECT) {
        return graft_error_set(error, GRAFT_ERROR_PLUGIN, file, "the path of a rope object is longer than %d bytes",
                               (int)MAX_OBJECT);
    }
    return GRAFT_OK;
}

/* Reads fields that may be next to the object and in it; in the object they take precedence. */
static int read_both(const struct graft_config *config, const struct graft_rope_info *info, const char *object,
                     const char *name, double *value, struct graft_error *error) {
    int status = info->object == NULL ? graft_config_real(config, name, 0.0, value, error) : GRAFT_OK;
    return status == GRAFT_OK && object != NULL ? read_real(config, object, name, value, error) : status;
}

/* Reads which part of a head is rotated. The field is asked for even if heads are always rotated as a whole, so that it
 * counts as used. */
static int read_part(const struct graft_config *config, const struct graft_rope_info *info, const char *object,
                     struct graft_rope *rope, struct graft_error *error) {
    static const char name[] = "partial_rotary_factor";
    if (GRAFT_HAS(info, struct graft_rope_info, whole_heads) && info->whole_heads &&
        rope->rope_type == GRAFT_ROPE_DEFAULT) {
        (void)graft_config_has(config, info->object == NULL ? name : path_of(info->object, name).text);
        (void)graft_config_has(config, object != NULL ? path_of(object, name).text : name);
        return GRAFT_OK;
    }
    return read_both(config, info, object, name, &rope->partial_rotary_factor, error);
}

static int read_mscales(const struct graft_config *config, const char *object, struct graft_rope *rope,
                        struct graft_error *error) {
    int status = read_original(config, object, rope, error);
    if (status == GRAFT_OK) {
        status = need_real(config, object, "short_mscale", &rope->short_mscale, error);
    }
    return status == GRAFT_OK ? need_real(config, object, "long_mscale", &rope->long_mscale, error) : status;
}

int graft_rope_read(const struct graft_config *config, const struct graft_rope_info *info, struct graft_rope *rope,
                    struct graft_error *error) {
    const char *object = NULL;
    rope->attention_factor = 1.0;
    rope->max_position_embeddings = info->max_position_embeddings;
    rope->rope_theta = info->rope_theta;
    rope->partial_rotary_factor = info->partial_rotary_factor > 0.0 ? info->partial_rotary_factor : 1.0;
    memcpy(rope->mrope_section, info->mrope_section, sizeof rope->mrope_section);
    rope->interleaved_sections =
        GRAFT_HAS(info, struct graft_rope_info, interleaved_sections) && info->interleaved_sections;
    int status = check_info(info, config->file, error);
    if (status == GRAFT_OK) {
        status = find_object(config, info->object, &object, error);
    }
    if (status == GRAFT_OK) {
        status = read_both(config, info, object, "rope_theta", &rope->rope_theta, error);
    }
    if (GRAFT_HAS(info, struct graft_rope_info, base) && info->base > 0.0) {
        rope->rope_theta = info->base;
    }
    if (status == GRAFT_OK && object != NULL) {
        status = read_type(config, object, rope, error);
    }
    if (status == GRAFT_OK) {
        status = read_part(config, info, object, rope, error);
    }
    if (status == GRAFT_OK) {
        status = find_width(config, info, rope, error);
    }
    if (status == GRAFT_OK) {
        status = read_sections(config, object != NULL ? object : "rope_parameters", rope, error);
    }
    if (status == GRAFT_OK && object != NULL && info->object == NULL) {
        status = refuse_layer_types(config, object, error);
    }
    if (status == GRAFT_OK && object != NULL) {
        status = read_by_type(config, info, object, rope, error);
    }
    return status == GRAFT_OK && GRAFT_HAS(info, struct graft_rope_info, base) && info->takes_mscales &&
                   rope->rope_type != GRAFT_ROPE_DEFAULT
               ? read_mscales(config, object, rope, error)
               : status;
}

void graft_rope_finish(struct graft_rope *rope) {
    graft_free(rope->short_factor);
    graft_free(rope->long_factor);
}
