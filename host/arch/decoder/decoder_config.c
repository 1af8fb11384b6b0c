/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/decoder/decoder_config.h"

#include <stddef.h>

enum { MAX_VOCAB = 1 << 28, MAX_POSITIONS = 1 << 30 };

struct integer_field {
    const char *name;
    size_t offset; /* of an int64_t in struct graft_decoder_config */
    int64_t minimum;
    int64_t maximum;
};

#define FIELD(name, minimum, maximum) \
    { #name, offsetof(struct graft_decoder_config, name), (minimum), (maximum) }

static const struct integer_field fields[] = {
    FIELD(vocab_size, 1, MAX_VOCAB),
    FIELD(hidden_size, 1, GRAFT_MAX_SIZE),
    FIELD(intermediate_size, 1, GRAFT_MAX_SIZE),
    FIELD(num_hidden_layers, 1, GRAFT_MAX_LAYERS),
    FIELD(num_attention_heads, 1, GRAFT_MAX_SIZE),
    FIELD(num_key_value_heads, 1, GRAFT_MAX_SIZE),
    FIELD(head_dim, 1, GRAFT_MAX_SIZE),
    FIELD(max_position_embeddings, 1, MAX_POSITIONS),
};

static const struct integer_field window_fields[] = {
    FIELD(sliding_window, 1, MAX_POSITIONS),
    FIELD(max_window_layers, 0, MAX_POSITIONS),
};

static const struct integer_field moe_fields[] = {
    FIELD(num_experts, 0, GRAFT_MAX_EXPERTS),
    FIELD(num_experts_per_tok, 1, GRAFT_MAX_EXPERTS),
};

/* Of families that also have dense layers. */
static const struct integer_field dense_fields[] = {
    FIELD(moe_intermediate_size, 1, GRAFT_MAX_SIZE),
    FIELD(decoder_sparse_step, 1, GRAFT_MAX_LAYERS),
};

static const struct integer_field shared_fields[] = {
    FIELD(shared_expert_intermediate_size, 1, GRAFT_MAX_SIZE),
};

#define READ_INTEGERS(table) read_integers(config, table, sizeof(table) / sizeof(table)[0], decoder, error)

static int read_integers(const struct graft_config *config, const struct integer_field *table, size_t count,
                         struct graft_decoder_config *decoder, struct graft_error *error) {
    int status = GRAFT_OK;
    for (size_t i = 0; i < count && status == GRAFT_OK; i++) {
        int64_t *value = (int64_t *)(void *)((char *)decoder + table[i].offset);
        status = graft_config_int(config, table[i].name, table[i].minimum, table[i].maximum, value, error);
    }
    return status;
}

/* Fills in the sizes that follow from others. */
static int check_heads(const struct graft_config *config, struct graft_decoder_config *decoder,
                       struct graft_error *error) {
    int64_t heads = decoder->num_attention_heads;
    if (decoder->num_key_value_heads == 0 || graft_config_is_null(config, "num_key_value_heads")) {
        decoder->num_key_value_heads = heads;
    }
    if (heads % decoder->num_key_value_heads != 0) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, config->file,
                               "num_key_value_heads: %lld does not divide num_attention_heads (%lld)",
                               (long long)decoder->num_key_value_heads, (long long)heads);
    }
    if (decoder->head_dim == 0) {
        if (decoder->hidden_size % heads != 0) {
            return graft_error_set(error, GRAFT_ERROR_MODEL, config->file,
                                   "num_attention_heads: %lld does not divide hidden_size (%lld), and there is no "
                                   "head_dim",
                                   (long long)heads, (long long)decoder->hidden_size);
        }
        decoder->head_dim = decoder->hidden_size / heads;
    }
    if (decoder->head_dim % 2 != 0) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, config->file,
                               "head_dim: expected an even number, because halves of a head are rotated, got %lld",
                               (long long)decoder->head_dim);
    }
    return GRAFT_OK;
}

static int read_bool(const struct graft_config *config, const char *field, int32_t *value, struct graft_error *error) {
    return field != NULL ? graft_config_bool(config, field, value, error) : GRAFT_OK;
}

static int read_causality(const struct graft_config *config, struct graft_decoder_config *decoder,
                          struct graft_error *error) {
    int32_t is_causal = 1;
    int status = graft_config_bool(config, "is_causal", &is_causal, error);
    decoder->bidirectional = !is_causal;
    return status;
}

static int read_activation(const struct graft_config *config, struct graft_decoder_config *decoder,
                           struct graft_error *error) {
    decoder->hidden_act = "silu";
    int status = graft_config_not_null(config, "hidden_act", "a string", error);
    return status == GRAFT_OK ? graft_config_string(config, "hidden_act", &decoder->hidden_act, error) : status;
}

static int read_common(const struct graft_config *config, const struct graft_decoder_traits *traits,
                       struct graft_decoder_config *decoder, struct graft_error *error) {
    int status = READ_INTEGERS(fields);
    if (status == GRAFT_OK) {
        status = check_heads(config, decoder, error);
    }
    if (status == GRAFT_OK) {
        status = graft_config_not_null(config, "rms_norm_eps", "a number", error);
    }
    if (status == GRAFT_OK) {
        status = graft_config_real_from(config, "rms_norm_eps", 0.0, &decoder->rms_norm_eps, error);
    }
    if (status == GRAFT_OK) {
        status = graft_config_bool(config, "tie_word_embeddings", &decoder->tie_word_embeddings, error);
    }
    if (status == GRAFT_OK) {
        status = read_activation(config, decoder, error);
    }
    if (status == GRAFT_OK) {
        status = read_causality(config, decoder, error);
    }
    if (status == GRAFT_OK) {
        status = read_bool(config, traits->qkv_bias, &decoder->qkv_bias, error);
    }
    if (status == GRAFT_OK) {
        status = read_bool(config, traits->mlp_bias, &decoder->mlp_bias, error);
    }
    return status;
}

static int read_windows(const struct graft_config *config, const struct graft_decoder_traits *traits,
                        struct graft_decoder_config *decoder, struct graft_error *error) {
    int status = read_bool(config, traits->window_switch, &decoder->use_sliding_window, error);
    if (traits->window_switch == NULL && graft_config_has(config, "sliding_window")) {
        decoder->use_sliding_window = 1;
    }
    if (graft_config_is_null(config, "sliding_window")) {
        decoder->use_sliding_window = 0;
    }
    /* Where no window is used, 0 is written as well. */
    return status == GRAFT_OK && decoder->use_sliding_window ? READ_INTEGERS(window_fields) : status;
}

static int read_expert_count(const struct graft_config *config, const struct graft_decoder_traits *traits,
                             struct graft_decoder_config *decoder, struct graft_error *error) {
    int status = READ_INTEGERS(moe_fields);
    if (status == GRAFT_OK && traits->num_local_experts) {
        status = graft_config_int(config, "num_local_experts", 0, GRAFT_MAX_EXPERTS, &decoder->num_experts, error);
    }
    if (status == GRAFT_OK && traits->mlp == NULL && decoder->num_experts == 0) {
        status = graft_error_set(error, GRAFT_ERROR_MODEL, config->file,
                                 "num_local_experts: expected at least 1 expert, got 0");
    }
    if (status == GRAFT_OK && decoder->num_experts > 0 && decoder->num_experts_per_tok > decoder->num_experts) {
        status = graft_error_set(error, GRAFT_ERROR_MODEL, config->file,
                                 "num_experts_per_tok: expected at most the number of experts (%lld), got %lld",
                                 (long long)decoder->num_experts, (long long)decoder->num_experts_per_tok);
    }
    return status;
}

static int read_moe(const struct graft_config *config, const struct graft_decoder_traits *traits,
                    struct graft_decoder_config *decoder, struct graft_error *error) {
    int status = read_expert_count(config, traits, decoder, error);
    if (status == GRAFT_OK && traits->mlp == NULL) {
        decoder->moe_intermediate_size = decoder->intermediate_size;
        return GRAFT_OK;
    }
    if (status == GRAFT_OK) {
        status = READ_INTEGERS(dense_fields);
    }
    if (status == GRAFT_OK && traits->shared_expert) {
        status = READ_INTEGERS(shared_fields);
    }
    return status == GRAFT_OK ? graft_config_bool(config, "norm_topk_prob", &decoder->norm_topk_prob, error) : status;
}

const struct graft_config *graft_decoder_config_part(const struct graft_config *config,
                                                     const struct graft_decoder_traits *traits,
                                                     struct graft_config_section *section, struct graft_error *error) {
    if (traits->section == NULL || !graft_config_has(config, traits->section)) {
        return config;
    }
    return graft_config_section(config, traits->section, section, error) == GRAFT_OK ? &section->view : NULL;
}

int graft_decoder_config_read(const struct graft_config *whole, const struct graft_decoder_traits *traits,
                              struct graft_decoder_config *decoder, struct graft_error *error) {
    struct graft_config_section section;
    const struct graft_config *config = graft_decoder_config_part(whole, traits, &section, error);
    int32_t tied = 0;
    if (config == NULL) {
        return GRAFT_ERROR_MODEL;
    }
    *decoder = traits->defaults;
    int status = graft_config_bool(whole, "tie_word_embeddings", &tied, error);
    if (status == GRAFT_OK) {
        status = read_common(config, traits, decoder, error);
    }
    decoder->tie_word_embeddings |= config != whole && tied;
    if (status == GRAFT_OK && traits->windows != GRAFT_WINDOWS_NEVER) {
        status = read_windows(config, traits, decoder, error);
    }
    if (status == GRAFT_OK && traits->sparse_moe_block != NULL) {
        status = read_moe(config, traits, decoder, error);
    }
    return status;
}

int graft_decoder_config_keep(const struct graft_config *whole, const struct graft_decoder_traits *traits,
                              const struct graft_sink *sink, const struct graft_decoder_config **decoder,
                              struct graft_error *error) {
    struct graft_decoder_config *kept = sink->keep(sink->data, sizeof *kept, error);
    *decoder = kept;
    return kept != NULL ? graft_decoder_config_read(whole, traits, kept, error) : GRAFT_ERROR_INTERNAL;
}
