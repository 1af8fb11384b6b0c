/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What config.json says about a decoder, checked; and how families differ in what they make of it.
 */
#ifndef GRAFT_ARCH_DECODER_DECODER_CONFIG_H
#define GRAFT_ARCH_DECODER_DECODER_CONFIG_H

#include "arch/section.h"
#include "graft/class.h"
#include "graft/config.h"
#include "graft/parts.h"

enum { GRAFT_MAX_SIZE = GRAFT_PARTS_MAX_SIZE, GRAFT_MAX_LAYERS = GRAFT_PARTS_MAX_LAYERS, GRAFT_MAX_EXPERTS = 4096 };

/* Fields have the names they have in config.json. */
struct graft_decoder_config {
    int64_t vocab_size;
    int64_t hidden_size;
    int64_t intermediate_size;
    int64_t num_hidden_layers;
    int64_t num_attention_heads;
    int64_t num_key_value_heads; /* default 0, or null: num_attention_heads */
    int64_t head_dim;            /* default 0: hidden_size / num_attention_heads */
    int64_t max_position_embeddings;
    double rms_norm_eps;
    const char *hidden_act; /* of an MLP: "silu"; the config's string */
    int32_t tie_word_embeddings;
    int32_t qkv_bias; /* under the name that traits->qkv_bias gives */
    int32_t mlp_bias;
    int32_t bidirectional;    /* is_causal is false: a query sees the keys behind it */
    double rope_theta;        /* the default; the rotary class reads the rest (graft/rope.h) */
    int64_t mrope_section[3]; /* the default, of families with three positions a token */
    /* With traits->windows. */
    int32_t use_sliding_window; /* without traits->window_switch: whether sliding_window is a number */
    int64_t sliding_window;
    int64_t max_window_layers;
    /* With traits->sparse_moe_block. */
    int64_t num_experts;
    int64_t num_experts_per_tok;
    int64_t moe_intermediate_size; /* without traits->mlp: intermediate_size */
    int64_t shared_expert_intermediate_size;
    int64_t decoder_sparse_step;
    int32_t norm_topk_prob;
};

/* Which layers see a sliding window. */
enum {
    GRAFT_WINDOWS_NEVER = 0,       /* the family knows neither windows nor `layer_types` */
    GRAFT_WINDOWS_ALL = 1,         /* all of them, whatever `layer_types` says */
    GRAFT_WINDOWS_ALTERNATING = 2, /* those of `layer_types`, or every second one from 0 on, below max_window_layers */
    GRAFT_WINDOWS_UPPER = 3,       /* those of `layer_types`, or those from max_window_layers on */
    GRAFT_WINDOWS_LISTED = 4       /* those of `layer_types`, or all of them */
};

/* The `data` of each class of a family. */
struct graft_decoder_traits {
    /* The names of its classes. */
    const char *model;
    const char *decoder_layer;
    const char *attention;
    const char *mlp; /* NULL: every layer has experts */
    const char *rms_norm;
    const char *rotary_embedding;
    const char *sparse_moe_block; /* NULL: a family without experts */
    const char *router;
    const char *experts;

    const char *qkv_bias; /* the config field: whether q_proj, k_proj and v_proj have biases; NULL: as in `defaults` */
    int32_t o_proj_bias;  /* 1: the field holds for o_proj too; 0: it has none */
    const char *mlp_bias; /* the config field; NULL: an MLP has no biases */
    int32_t query_key_norm;    /* 1: heads of queries and keys are normed (q_norm, k_norm) before they are rotated */
    int32_t windows;           /* GRAFT_WINDOWS_... */
    const char *window_switch; /* the config field without which there are no windows; NULL: sliding_window says it */
    int32_t num_local_experts; /* 1: num_experts may be called so */
    int32_t shared_expert;     /* 1: beside the experts there is one for all tokens */
    const char *section;       /* "text_config": where the fields are if the config has it; NULL: never */
    const char *answers_model; /* what a model that answers questions calls the one below it; NULL: "model" */
    const char *tied_weight;   /* of the input embedding, below a causal LM; NULL: "model.embed_tokens.weight" */
    struct graft_decoder_config defaults;
};

/* [load] The part of the config that is the decoder's: all of it, or `section`, which must live as long. NULL with the
 * reason in `error`. */
const struct graft_config *graft_decoder_config_part(const struct graft_config *config,
                                                     const struct graft_decoder_traits *traits,
                                                     struct graft_config_section *section, struct graft_error *error);

/* [load] Reads and checks the whole config; errors name file and field. */
int graft_decoder_config_read(const struct graft_config *whole, const struct graft_decoder_traits *traits,
                              struct graft_decoder_config *decoder, struct graft_error *error);

/* [load] The same from a `describe`, into memory that `create` is given as `kept`. */
int graft_decoder_config_keep(const struct graft_config *whole, const struct graft_decoder_traits *traits,
                              const struct graft_sink *sink, const struct graft_decoder_config **decoder,
                              struct graft_error *error);

/* [load] windows [num_hidden_layers]: how many keys a query of each layer sees; 0: all before it. */
int graft_decoder_config_windows(const struct graft_config *whole, const struct graft_decoder_traits *traits,
                                 const struct graft_decoder_config *decoder, int64_t *windows,
                                 struct graft_error *error);

/* [load] Whether layer `layer` has experts in the place of its MLP. */
int graft_decoder_config_sparse(const struct graft_config *whole, const struct graft_decoder_traits *traits,
                                int64_t layer, int32_t *sparse, struct graft_error *error);

#endif
