/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What config.json says about an encoder, checked; and what families call its parts.
 */
#ifndef GRAFT_ARCH_ENCODER_ENCODER_CONFIG_H
#define GRAFT_ARCH_ENCODER_ENCODER_CONFIG_H

#include "graft/class.h"
#include "graft/config.h"
#include "graft/encoder_parts.h"

/* Fields have the names they have in config.json. */
struct graft_encoder_config {
    int64_t vocab_size;
    int64_t hidden_size;
    int64_t intermediate_size;
    int64_t num_hidden_layers;
    int64_t num_attention_heads;
    int64_t max_position_embeddings;
    int64_t type_vocab_size;
    double layer_norm_eps;
    int32_t tie_word_embeddings;
    int32_t is_causal; /* a token sees none of those behind it; 0 without the field */
};

/* The `data` of each class of a family: the names of its classes, and its defaults. */
struct graft_encoder_traits {
    const char *model;
    const char *child; /* what a model with a head calls the model below it: "bert" */
    const char *embeddings;
    const char *encoder;
    const char *layer;
    const char *attention;
    const char *self_attention;
    const char *self_output;
    const char *intermediate;
    const char *output;
    const char *pooler;
    const char *mlm_head;
    const char *prediction_head;
    const char *prediction_transform;
    struct graft_encoder_config defaults;
};

/* [load] Reads and checks the whole config; errors name file and field. */
int graft_encoder_config_read(const struct graft_config *config, const struct graft_encoder_traits *traits,
                              struct graft_encoder_config *encoder, struct graft_error *error);

/* [load] The same, into memory that `create` is given as `kept`. */
int graft_encoder_config_keep(const struct graft_config *config, const struct graft_encoder_traits *traits,
                              const struct graft_sink *sink, const struct graft_encoder_config **encoder,
                              struct graft_error *error);

/* What a root owes the host, for the parts of roots. */
struct graft_parts_encoder_sizes graft_encoder_config_sizes(const struct graft_encoder_config *encoder);

/* [load] A child of the class that `hidden_act` names; "gelu" without that field. */
int graft_encoder_describe_activation(const struct graft_sink *sink, const char *name,
                                      const struct graft_config *config, struct graft_error *error);

#endif
