/* SPDX-License-Identifier: Apache-2.0 */
#include "graft/config.h"
#include "parts.h"

enum { MAX_VOCAB = 1 << 28, MAX_LAYERS = 4096 };

static int read_optional(const struct graft_config *config, struct parts_sizes *sizes, struct graft_error *error) {
    sizes->intermediate_size = 4 * sizes->hidden_size;
    int status = graft_config_int(config, "intermediate_size", 1, PARTS_MAX_SIZE, &sizes->intermediate_size, error);
    sizes->layer_norm_eps = 1e-5;
    if (status == GRAFT_OK) {
        status = graft_config_real(config, "layer_norm_eps", 0.0, &sizes->layer_norm_eps, error);
    }
    sizes->hidden_act = "gelu";
    if (status == GRAFT_OK) {
        status = graft_config_not_null(config, "hidden_act", "a string", error);
    }
    if (status == GRAFT_OK) {
        status = graft_config_string(config, "hidden_act", &sizes->hidden_act, error);
    }
    sizes->attention_bias = 1;
    return status == GRAFT_OK ? graft_config_bool(config, "attention_bias", &sizes->attention_bias, error) : status;
}

int parts_read_sizes(const struct graft_config *config, struct parts_sizes *sizes, struct graft_error *error) {
    const struct {
        const char *field;
        int64_t maximum;
        int64_t *value;
    } needed[] = {
        {"vocab_size", MAX_VOCAB, &sizes->vocab_size},
        {"hidden_size", PARTS_MAX_SIZE, &sizes->hidden_size},
        {"num_hidden_layers", MAX_LAYERS, &sizes->num_hidden_layers},
        {"num_attention_heads", PARTS_MAX_SIZE, &sizes->num_attention_heads},
        {"max_position_embeddings", PARTS_MAX_SIZE, &sizes->max_position_embeddings},
    };
    int status = GRAFT_OK;
    for (size_t i = 0; i < sizeof needed / sizeof needed[0] && status == GRAFT_OK; i++) {
        status = graft_config_need_int(config, needed[i].field, 1, needed[i].maximum, needed[i].value, error);
    }
    if (status == GRAFT_OK && sizes->hidden_size % sizes->num_attention_heads != 0) {
        status =
            graft_error_set(error, GRAFT_ERROR_MODEL, config->file, "%s: %lld does not divide %s (%lld)",
                            graft_config_spelling(config, "num_attention_heads"), (long long)sizes->num_attention_heads,
                            graft_config_spelling(config, "hidden_size"), (long long)sizes->hidden_size);
    }
    return status == GRAFT_OK ? read_optional(config, sizes, error) : status;
}
