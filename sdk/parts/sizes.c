/* SPDX-License-Identifier: Apache-2.0 */
#include "graft/config.h"
#include "graft/parts.h"

enum { MAX_VOCAB = 1 << 28, MAX_POSITIONS = 1 << 30 };

static int read_optional(const struct graft_config *config, struct graft_parts_sizes *sizes,
                         struct graft_error *error) {
    graft_config_int(config, "intermediate_size", 1, GRAFT_PARTS_MAX_SIZE, &sizes->intermediate_size, error);
    graft_config_real_from(config, "layer_norm_eps", 0.0, &sizes->layer_norm_eps, error);
    graft_config_not_null(config, "hidden_act", "a string", error);
    graft_config_string(config, "hidden_act", &sizes->hidden_act, error);
    graft_config_bool(config, "attention_bias", &sizes->attention_bias, error);
    sizes->qkv_bias = sizes->o_proj_bias = sizes->attention_bias;
    graft_config_bool(config, "qkv_bias", &sizes->qkv_bias, error);
    graft_config_bool(config, "o_proj_bias", &sizes->o_proj_bias, error);
    graft_config_real(config, "embedding_scale", 0.0, &sizes->embedding_scale, error);
    graft_config_real(config, "residual_scale", 0.0, &sizes->residual_scale, error);
    graft_config_bool(config, "mlp_bias", &sizes->mlp_bias, error);
    graft_config_bool(config, "tie_word_embeddings", &sizes->tie_word_embeddings, error);
    return error->code;
}

/* Reports that one number does not divide another. */
static int indivisible(const struct graft_config *config, const char *divisor, int64_t by, const char *field,
                       int64_t value, struct graft_error *error) {
    return graft_error_set(error, GRAFT_ERROR_MODEL, config->file, "%s: %lld does not divide %s (%lld)",
                           graft_config_spelling(config, divisor), (long long)by, graft_config_spelling(config, field),
                           (long long)value);
}

static int read_heads(const struct graft_config *config, struct graft_parts_sizes *sizes, struct graft_error *error) {
    int64_t heads = sizes->num_attention_heads;
    if (!graft_config_has(config, "head_dim") && sizes->hidden_size % heads != 0) {
        return indivisible(config, "num_attention_heads", heads, "hidden_size", sizes->hidden_size, error);
    }
    sizes->head_dim = sizes->hidden_size / heads;
    sizes->num_key_value_heads = heads;
    int status = graft_config_int(config, "head_dim", 1, GRAFT_PARTS_MAX_SIZE, &sizes->head_dim, error);
    if (status == GRAFT_OK) {
        status = graft_config_int(config, "num_key_value_heads", 1, heads, &sizes->num_key_value_heads, error);
    }
    return status == GRAFT_OK && heads % sizes->num_key_value_heads != 0
               ? indivisible(config, "num_key_value_heads", sizes->num_key_value_heads, "num_attention_heads", heads,
                             error)
               : status;
}

int graft_parts_read_sizes(const struct graft_config *config, struct graft_parts_sizes *sizes,
                           struct graft_error *error) {
    const struct {
        const char *field;
        int64_t maximum;
        int64_t *value;
    } needed[] = {
        {"vocab_size", MAX_VOCAB, &sizes->vocab_size},
        {"hidden_size", GRAFT_PARTS_MAX_SIZE, &sizes->hidden_size},
        {"num_hidden_layers", GRAFT_PARTS_MAX_LAYERS, &sizes->num_hidden_layers},
        {"num_attention_heads", GRAFT_PARTS_MAX_SIZE, &sizes->num_attention_heads},
        {"max_position_embeddings", MAX_POSITIONS, &sizes->max_position_embeddings},
    };
    *sizes = (struct graft_parts_sizes){.layer_norm_eps = 1e-5,
                                        .hidden_act = "gelu",
                                        .attention_bias = 1,
                                        .mlp_bias = 1,
                                        .embedding_scale = 1.0,
                                        .residual_scale = 1.0};
    int status = GRAFT_OK;
    for (size_t i = 0; i < sizeof needed / sizeof needed[0] && status == GRAFT_OK; i++) {
        status = graft_config_need_int(config, needed[i].field, 1, needed[i].maximum, needed[i].value, error);
    }
    if (status == GRAFT_OK) {
        status = read_heads(config, sizes, error);
    }
    sizes->intermediate_size = 4 * sizes->hidden_size;
    return status == GRAFT_OK ? read_optional(config, sizes, error) : status;
}
