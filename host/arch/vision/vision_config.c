/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/vision/vision_config.h"

#include <string.h>

#include "arch/sizes.h"

/* Far above every published model, and low enough that products of four sizes stay within 64 bits. */
enum { MAX_SIZE = 1 << 20, MAX_LAYERS = 4096, MAX_PATCH = 1024, MAX_MERGE = 64 };

static int read_sizes(const struct graft_config *config, struct graft_vision_config *vision,
                      struct graft_error *error) {
    const struct graft_size_field fields[] = {
        {"depth", &vision->depth, MAX_LAYERS},
        {"embed_dim", &vision->embed_dim, MAX_SIZE},
        {"hidden_size", &vision->hidden_size, MAX_SIZE},
        {"num_heads", &vision->num_heads, MAX_SIZE},
        {"in_channels", &vision->in_channels, MAX_MERGE},
        {"patch_size", &vision->patch_size, MAX_PATCH},
        {"spatial_merge_size", &vision->spatial_merge_size, MAX_MERGE},
        {"temporal_patch_size", &vision->temporal_patch_size, MAX_MERGE},
    };
    return graft_sizes_read(config, fields, sizeof fields / sizeof fields[0], error);
}

/* Fills in the sizes that follow from others. */
static int derive(const struct graft_config *config, struct graft_vision_config *vision, struct graft_error *error) {
    double mlp_ratio = 4.0;
    int status = graft_config_real(config, "mlp_ratio", 0.0, &mlp_ratio, error);
    if (status != GRAFT_OK) {
        return status;
    }
    if ((double)vision->embed_dim * mlp_ratio < 1.0 || (double)vision->embed_dim * mlp_ratio > MAX_SIZE) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, config->file, "mlp_ratio: %g is out of range", mlp_ratio);
    }
    vision->intermediate_size = (int64_t)((double)vision->embed_dim * mlp_ratio);
    vision->head_dim = vision->embed_dim / vision->num_heads;
    if (vision->head_dim * vision->num_heads != vision->embed_dim || vision->head_dim % 4 != 0) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, config->file,
                               "num_heads: expected a divisor of embed_dim (%lld) that gives a head size divisible by "
                               "4, because quarters of a head are rotated, got %lld",
                               (long long)vision->embed_dim, (long long)vision->num_heads);
    }
    return GRAFT_OK;
}

static int read_rope(const struct graft_config *config, struct graft_vision_config *vision, struct graft_error *error) {
    static const char object[] = "rope_parameters";
    const char *type = "axial";
    if (graft_config_has(config, object) && config->kind(config->data, object) != GRAFT_FIELD_OBJECT) {
        return graft_config_expected(config, object, "an object", error);
    }
    int status = graft_config_string(config, "rope_parameters.rope_type", &type, error);
    if (status == GRAFT_OK && strcmp(type, "axial") != 0) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, config->file,
                               "rope_parameters.rope_type: \"%s\" is not supported, expected axial", type);
    }
    if (status == GRAFT_OK) {
        status = graft_config_real(config, "rope_theta", 0.0, &vision->rope_theta, error);
    }
    return status == GRAFT_OK ? graft_config_real(config, "rope_parameters.rope_theta", 0.0, &vision->rope_theta, error)
                              : status;
}

int graft_vision_config_read(const struct graft_config *config, struct graft_vision_config *vision,
                             struct graft_error *error) {
    struct graft_config_section section;
    *vision = (struct graft_vision_config){
        .depth = 32,
        .embed_dim = 1280,
        .hidden_size = 3584,
        .num_heads = 16,
        .in_channels = 3,
        .patch_size = 14,
        .spatial_merge_size = 2,
        .temporal_patch_size = 2,
        .rope_theta = 10000.0,
    };
    int status = graft_config_section(config, "vision_config", &section, error);
    if (status == GRAFT_OK) {
        status = read_sizes(&section.view, vision, error);
    }
    if (status == GRAFT_OK) {
        status = derive(&section.view, vision, error);
    }
    return status == GRAFT_OK ? read_rope(&section.view, vision, error) : status;
}

int graft_vision_config_keep(const struct graft_config *config, const struct graft_sink *sink,
                             const struct graft_vision_config **vision, struct graft_error *error) {
    struct graft_vision_config *kept = sink->keep(sink->data, sizeof *kept, error);
    *vision = kept;
    return kept != NULL ? graft_vision_config_read(config, kept, error) : GRAFT_ERROR_INTERNAL;
}
