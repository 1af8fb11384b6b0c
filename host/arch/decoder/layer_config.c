/* SPDX-License-Identifier: Apache-2.0 */
/* What config.json says about one layer: the keys it sees, and whether it has experts. */
#include <string.h>

#include "arch/decoder/decoder_config.h"

/* Whether `layer_types` makes the layer a sliding one. */
static int read_layer_type(const struct graft_config *config, const struct graft_decoder_config *decoder, int64_t layer,
                           int32_t *sliding, struct graft_error *error) {
    char path[32];
    const char *type = "";
    if (config->kind(config->data, "layer_types") != GRAFT_FIELD_ARRAY) {
        return graft_config_expected(config, "layer_types", "an array", error);
    }
    int64_t size = config->size(config->data, "layer_types");
    if (size != decoder->num_hidden_layers) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, config->file,
                               "layer_types: expected num_hidden_layers (%lld) entries, got %lld",
                               (long long)decoder->num_hidden_layers, (long long)size);
    }
    (void)snprintf(path, sizeof path, "layer_types.%lld", (long long)layer);
    int status = graft_config_string(config, path, &type, error);
    if (status != GRAFT_OK) {
        return status;
    }
    *sliding = strcmp(type, "sliding_attention") == 0;
    if (*sliding == 0 && strcmp(type, "full_attention") != 0) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, config->file,
                               "%s: expected \"full_attention\" or \"sliding_attention\", got \"%s\"", path, type);
    }
    return GRAFT_OK;
}

/* Which layers slide where the config does not list them. */
static int32_t slides(const struct graft_decoder_traits *traits, const struct graft_decoder_config *decoder,
                      int64_t layer) {
    if (!decoder->use_sliding_window) {
        return 0;
    }
    switch (traits->windows) {
    case GRAFT_WINDOWS_ALL:
        return 1;
    case GRAFT_WINDOWS_ALTERNATING:
        return layer % 2 == 0 && layer < decoder->max_window_layers;
    case GRAFT_WINDOWS_UPPER:
        return layer >= decoder->max_window_layers;
    default:
        return 0;
    }
}

int graft_decoder_config_window(const struct graft_config *whole, const struct graft_decoder_traits *traits,
                                const struct graft_decoder_config *decoder, int64_t layer, int64_t *window,
                                struct graft_error *error) {
    struct graft_config_section section;
    const struct graft_config *config = graft_decoder_config_part(whole, traits, &section, error);
    if (config == NULL) {
        return GRAFT_ERROR_MODEL;
    }
    int32_t sliding = slides(traits, decoder, layer);
    int32_t listed = traits->windows == GRAFT_WINDOWS_ALTERNATING || traits->windows == GRAFT_WINDOWS_UPPER;
    *window = 0;
    if (listed && graft_config_has(config, "layer_types")) {
        int status = read_layer_type(config, decoder, layer, &sliding, error);
        if (status != GRAFT_OK) {
            return status;
        }
    }
    if (!sliding) {
        return GRAFT_OK;
    }
    if (!decoder->use_sliding_window || decoder->sliding_window < 1) {
        int32_t off = !decoder->use_sliding_window && !graft_config_is_null(config, "sliding_window");
        return graft_error_set(error, GRAFT_ERROR_MODEL, config->file,
                               "%s: layer %lld has sliding attention, which needs a window",
                               off ? traits->window_switch : "sliding_window", (long long)layer);
    }
    *window = decoder->sliding_window;
    return GRAFT_OK;
}

int graft_decoder_config_sparse(const struct graft_config *whole, const struct graft_decoder_traits *traits,
                                int64_t layer, int32_t *sparse, struct graft_error *error) {
    struct graft_config_section section;
    struct graft_decoder_config decoder;
    const struct graft_config *config = graft_decoder_config_part(whole, traits, &section, error);
    if (config == NULL) {
        return GRAFT_ERROR_MODEL;
    }
    *sparse = traits->mlp == NULL;
    if (traits->sparse_moe_block == NULL || traits->mlp == NULL) {
        return GRAFT_OK;
    }
    int status = graft_decoder_config_read(whole, traits, &decoder, error);
    if (status != GRAFT_OK || decoder.num_experts == 0) {
        return status;
    }
    if (graft_config_has(config, "mlp_only_layers") &&
        config->kind(config->data, "mlp_only_layers") != GRAFT_FIELD_ARRAY) {
        return graft_config_expected(config, "mlp_only_layers", "an array", error);
    }
    *sparse = (layer + 1) % decoder.decoder_sparse_step == 0;
    for (int64_t i = 0; i < config->size(config->data, "mlp_only_layers"); i++) {
        char path[48];
        int64_t mlp_only = -1;
        (void)snprintf(path, sizeof path, "mlp_only_layers.%lld", (long long)i);
        status = graft_config_int(config, path, INT64_MIN, INT64_MAX, &mlp_only, error);
        if (status != GRAFT_OK) {
            return status;
        }
        *sparse = *sparse && mlp_only != layer;
    }
    return GRAFT_OK;
}
