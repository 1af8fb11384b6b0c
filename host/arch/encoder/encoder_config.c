/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/encoder/encoder_config.h"

#include <stddef.h>
#include <string.h>

#include "arch/sizes.h"
#include "graft/describe.h"

/* Far above every published model, and low enough that products of four sizes stay within 64 bits. */
enum { MAX_SIZE = 1 << 20, MAX_VOCAB = 1 << 28, MAX_POSITIONS = 1 << 24, MAX_LAYERS = 4096 };

static int read_sizes(const struct graft_config *config, struct graft_encoder_config *encoder,
                      struct graft_error *error) {
    const struct graft_size_field fields[] = {
        {"vocab_size", &encoder->vocab_size, MAX_VOCAB},
        {"hidden_size", &encoder->hidden_size, MAX_SIZE},
        {"intermediate_size", &encoder->intermediate_size, MAX_SIZE},
        {"num_hidden_layers", &encoder->num_hidden_layers, MAX_LAYERS},
        {"num_attention_heads", &encoder->num_attention_heads, MAX_SIZE},
        {"max_position_embeddings", &encoder->max_position_embeddings, MAX_POSITIONS},
        {"type_vocab_size", &encoder->type_vocab_size, MAX_SIZE},
    };
    int status = graft_sizes_read(config, fields, sizeof fields / sizeof fields[0], error);
    if (status == GRAFT_OK && encoder->hidden_size % encoder->num_attention_heads != 0) {
        status = graft_error_set(error, GRAFT_ERROR_MODEL, config->file,
                                 "num_attention_heads: %lld does not divide hidden_size (%lld)",
                                 (long long)encoder->num_attention_heads, (long long)encoder->hidden_size);
    }
    return status;
}

/* Whether a field that makes another kind of model of it is true. */
static int refuse_if(const struct graft_config *config, const char *field, const char *reason,
                     struct graft_error *error) {
    int32_t value = 0;
    int status = graft_config_bool(config, field, &value, error);
    if (status == GRAFT_OK && value) {
        status =
            graft_error_set(error, GRAFT_ERROR_MODEL, config->file, "%s: true is not supported: %s", field, reason);
    }
    return status;
}

/* What would be read as an encoder, and is none, or is one that works in another way. */
static int check_kind(const struct graft_config *config, struct graft_error *error) {
    const char *positions = "absolute";
    int status = refuse_if(config, "is_decoder", "this model runs as an encoder only", error);
    if (status == GRAFT_OK) {
        status = refuse_if(config, "add_cross_attention", "there is no decoder to attend from", error);
    }
    if (status == GRAFT_OK) {
        status = graft_config_string(config, "position_embedding_type", &positions, error);
    }
    if (status == GRAFT_OK && strcmp(positions, "absolute") != 0) {
        status = graft_error_set(error, GRAFT_ERROR_MODEL, config->file,
                                 "position_embedding_type: expected \"absolute\", got \"%s\"", positions);
    }
    return status;
}

int graft_encoder_config_read(const struct graft_config *config, const struct graft_encoder_traits *traits,
                              struct graft_encoder_config *encoder, struct graft_error *error) {
    *encoder = traits->defaults;
    int status = check_kind(config, error);
    if (status == GRAFT_OK) {
        status = read_sizes(config, encoder, error);
    }
    if (status == GRAFT_OK) {
        status = graft_config_not_null(config, "layer_norm_eps", "a number", error);
    }
    if (status == GRAFT_OK) {
        status = graft_config_real_from(config, "layer_norm_eps", 0.0, &encoder->layer_norm_eps, error);
    }
    if (status == GRAFT_OK) {
        status = graft_config_bool(config, "is_causal", &encoder->is_causal, error);
    }
    return status == GRAFT_OK ? graft_config_bool(config, "tie_word_embeddings", &encoder->tie_word_embeddings, error)
                              : status;
}

struct graft_parts_encoder_sizes graft_encoder_config_sizes(const struct graft_encoder_config *encoder) {
    return (struct graft_parts_encoder_sizes){
        .vocab_size = encoder->vocab_size,
        .hidden_size = encoder->hidden_size,
        .max_positions = encoder->max_position_embeddings,
        .token_types = encoder->type_vocab_size,
        .decoder_bias = 1,
    };
}

int graft_encoder_config_keep(const struct graft_config *config, const struct graft_encoder_traits *traits,
                              const struct graft_sink *sink, const struct graft_encoder_config **encoder,
                              struct graft_error *error) {
    struct graft_encoder_config *kept = sink->keep(sink->data, sizeof *kept, error);
    *encoder = kept;
    return kept != NULL ? graft_encoder_config_read(config, traits, kept, error) : GRAFT_ERROR_INTERNAL;
}

int graft_encoder_describe_activation(const struct graft_sink *sink, const char *name,
                                      const struct graft_config *config, struct graft_error *error) {
    if (config->kind(config->data, "hidden_act") == GRAFT_FIELD_ABSENT) {
        return graft_describe_child(sink, name, "GELUActivation", GRAFT_INTERFACE_ACTIVATION, NULL, 0, error);
    }
    return graft_describe_activation(sink, name, config, NULL, "hidden_act", error);
}
