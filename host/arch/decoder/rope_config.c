/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/decoder/rope_config.h"

#include <math.h>
#include <string.h>

enum { MAX_PATH = 64, MAX_POSITIONS = 1 << 30 };

/* Where one of the rope fields is: `object`.`name`. */
struct path {
    char text[MAX_PATH];
};

static struct path path_of(const char *object, const char *name) {
    struct path path;
    (void)snprintf(path.text, sizeof path.text, "%s.%s", object, name);
    return path;
}

/* The object that holds the fields. A `rope_scaling` goes before `rope_parameters`, as in the reference. */
static int find_object(const struct graft_config *config, const char **object, struct graft_error *error) {
    static const char *const names[] = {"rope_scaling", "rope_parameters"};
    *object = NULL;
    for (size_t i = 0; i < sizeof names / sizeof names[0] && *object == NULL; i++) {
        int32_t kind = config->kind(config->data, names[i]);
        if (kind != GRAFT_FIELD_ABSENT && kind != GRAFT_FIELD_OBJECT) {
            return graft_config_expected(config, names[i], "an object", error);
        }
        *object = kind == GRAFT_FIELD_OBJECT ? names[i] : NULL;
    }
    return GRAFT_OK;
}

static int read_type(const struct graft_config *config, const char *object, int32_t *type, struct graft_error *error) {
    struct path path = path_of(object, "rope_type");
    const char *name = "default";
    if (config->kind(config->data, path.text) == GRAFT_FIELD_ABSENT) {
        path = path_of(object, "type");
    }
    int status = graft_config_string(config, path.text, &name, error);
    if (status != GRAFT_OK) {
        return status;
    }
    if (strcmp(name, "default") == 0) {
        *type = GRAFT_ROPE_DEFAULT;
    } else if (strcmp(name, "llama3") == 0) {
        *type = GRAFT_ROPE_LLAMA3;
    } else {
        return graft_error_set(error, GRAFT_ERROR_MODEL, config->file,
                               "%s: \"%s\" is not supported, expected \"default\" or \"llama3\"", path.text, name);
    }
    return GRAFT_OK;
}

/* What would be ignored, and the model be wrong: other angles for each type of layer, or for a part of each head. */
static int refuse_unsupported(const struct graft_config *config, const char *object, struct graft_error *error) {
    static const char *const layer_types[] = {"full_attention", "sliding_attention"};
    for (size_t i = 0; i < sizeof layer_types / sizeof layer_types[0]; i++) {
        struct path nested = path_of(object, layer_types[i]);
        if (config->kind(config->data, nested.text) == GRAFT_FIELD_OBJECT) {
            return graft_error_set(error, GRAFT_ERROR_MODEL, config->file,
                                   "%s: parameters for one type of layer are not supported", nested.text);
        }
    }
    struct path partial = path_of(object, "partial_rotary_factor");
    double factor = 1.0;
    int status = graft_config_real(config, partial.text, 0.0, &factor, error);
    if (status == GRAFT_OK && factor != 1.0) {
        status = graft_error_set(error, GRAFT_ERROR_MODEL, config->file, "%s: %g is not supported, expected 1",
                                 partial.text, factor);
    }
    return status;
}

static int need_real(const struct graft_config *config, const char *object, const char *name, double *value,
                     struct graft_error *error) {
    struct path path = path_of(object, name);
    if (config->kind(config->data, path.text) == GRAFT_FIELD_ABSENT) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, config->file, "%s: missing, expected a number", path.text);
    }
    return graft_config_real(config, path.text, 0.0, value, error);
}

static int read_llama3(const struct graft_config *config, const char *object, struct graft_rope_config *rope,
                       struct graft_error *error) {
    /* Beside the object it counts more than in it. */
    static const char name[] = "original_max_position_embeddings";
    struct path path = path_of(object, name);
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
    if (status == GRAFT_OK) {
        status = graft_config_int(config, path.text, 1, MAX_POSITIONS, &rope->original_max_position_embeddings, error);
    }
    if (status == GRAFT_OK) {
        status = graft_config_int(config, name, 1, MAX_POSITIONS, &rope->original_max_position_embeddings, error);
    }
    return status;
}

int graft_rope_config_read(const struct graft_config *config, struct graft_rope_config *rope,
                           struct graft_error *error) {
    const char *object;
    int status = graft_config_real(config, "rope_theta", 0.0, &rope->rope_theta, error);
    if (status == GRAFT_OK) {
        status = find_object(config, &object, error);
    }
    if (status != GRAFT_OK || object == NULL) {
        return status;
    }
    struct path theta = path_of(object, "rope_theta");
    status = graft_config_real(config, theta.text, 0.0, &rope->rope_theta, error);
    if (status == GRAFT_OK) {
        status = read_type(config, object, &rope->rope_type, error);
    }
    if (status == GRAFT_OK) {
        status = refuse_unsupported(config, object, error);
    }
    if (status == GRAFT_OK && rope->rope_type == GRAFT_ROPE_LLAMA3) {
        status = read_llama3(config, object, rope, error);
    }
    return status;
}

/* Wavelengths above original_max_position_embeddings / low_freq_factor are stretched by `factor`, those below
 * original_max_position_embeddings / high_freq_factor are kept, and between the two it is blended linearly in the
 * number of turns per original context. Published with Llama 3.1 (Meta 2024), in its config fields and model code. */
static float stretch(const struct graft_rope_config *rope, float inv_freq) {
    float original = (float)rope->original_max_position_embeddings;
    float factor = (float)rope->factor;
    float low = (float)rope->low_freq_factor;
    float high = (float)rope->high_freq_factor;
    float wavelength = 6.28318530717958647692f / inv_freq;
    if (wavelength > original / low) {
        return inv_freq / factor;
    }
    if (wavelength < original / high) {
        return inv_freq;
    }
    float kept = (original / wavelength - low) / (high - low);
    return (1.0f - kept) * inv_freq / factor + kept * inv_freq;
}

void graft_rope_config_inv_freq(const struct graft_rope_config *rope, int64_t head_dim, float *inv_freq) {
    for (int64_t i = 0; i < head_dim / 2; i++) {
        /* theta^(-2i / head_dim), Su et al. 2021, section 3.2.2; each step rounded to f32 as the reference does. */
        float exponent = (float)(2 * i) / (float)head_dim;
        inv_freq[i] = 1.0f / powf((float)rope->rope_theta, exponent);
        if (rope->rope_type == GRAFT_ROPE_LLAMA3) {
            inv_freq[i] = stretch(rope, inv_freq[i]);
        }
    }
}
