/* SPDX-License-Identifier: Apache-2.0 */
/* What config.json says about one layer: the keys it sees, and whether it has experts. */
#include "arch/decoder/decoder_config.h"
#include "graft/layer_types.h"

/* Which layers slide where the config does not list them. */
static int32_t slides(const struct graft_decoder_traits *traits, const struct graft_decoder_config *decoder,
                      int64_t layer) {
    switch (traits->windows) {
    case GRAFT_WINDOWS_ALL:
    case GRAFT_WINDOWS_LISTED:
        return 1;
    case GRAFT_WINDOWS_ALTERNATING:
        return layer % 2 == 0 && layer < decoder->max_window_layers;
    case GRAFT_WINDOWS_UPPER:
        return layer >= decoder->max_window_layers;
    default:
        return 0;
    }
}

int graft_decoder_config_windows(const struct graft_config *whole, const struct graft_decoder_traits *traits,
                                 const struct graft_decoder_config *decoder, int64_t *windows,
                                 struct graft_error *error) {
    struct graft_config_section section;
    const struct graft_config *config = graft_decoder_config_part(whole, traits, &section, error);
    if (config == NULL) {
        return GRAFT_ERROR_MODEL;
    }
    int64_t sliding_window = decoder->use_sliding_window ? decoder->sliding_window : 0;
    for (int64_t i = 0; i < decoder->num_hidden_layers; i++) {
        windows[i] = slides(traits, decoder, i) ? sliding_window : 0;
    }
    return traits->windows >= GRAFT_WINDOWS_ALTERNATING
               ? graft_layer_windows(config, decoder->num_hidden_layers, sliding_window, windows, error)
               : GRAFT_OK;
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
