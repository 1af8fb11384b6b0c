/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parts of a decoder that several families here have, each under names of its own: LayerNorms, an MLP without a gate, a
 * head. A class takes a part's functions; its `data` says what the children are called. Attention is the family's.
 *
 * All read config.json by general names (struct parts_sizes); the family's `fields` lead these to its own, and have the
 * defaults.
 */
#ifndef FAMILY_PARTS_H
#define FAMILY_PARTS_H

#include "graft/base_model.h"
#include "graft/causal_lm.h"
#include "graft/class.h"
#include "graft/decoder_layer.h"
#include "graft/mlp.h"
#include "graft/rotary.h"

enum { PARTS_MAX_SIZE = 1 << 20 };

/* What config.json says. Fields that need not be there are marked with what they are then. */
struct parts_sizes {
    int64_t vocab_size;
    int64_t hidden_size;
    int64_t intermediate_size; /* or null: 4 * hidden_size */
    int64_t num_hidden_layers;
    int64_t num_attention_heads; /* divides hidden_size */
    int64_t max_position_embeddings;
    double layer_norm_eps;  /* 1e-5 */
    const char *hidden_act; /* "gelu" */
    int32_t attention_bias; /* 1 */
};

/* [load] Reads and checks them; errors name file and field. */
int parts_read_sizes(const struct graft_config *config, struct parts_sizes *sizes, struct graft_error *error);

/* graft.rotary/1: angles for the part of a head that is rotated, by graft.rope/1. */
struct parts_rotary {
    const char *class_name;       /* "GPTNeoXRotaryEmbedding" */
    double rope_theta;            /* where config.json has none */
    double partial_rotary_factor; /* likewise */
};

/* [load] How many numbers of a head are rotated, the first ones. */
int parts_rotary_width(const struct parts_rotary *defaults, const struct graft_config *config,
                       const struct graft_host *host, int64_t *width, struct graft_error *error);

/* graft.causal_lm/1: a base model, and lm_head, tied to the embeddings where `tie_word_embeddings` says so. */
struct parts_causal_lm {
    const char *model;         /* "transformer" */
    const char *model_class;   /* "GPT2Model" */
    const char *tied_weight;   /* "transformer.wte.weight" */
    int32_t learned_positions; /* 1: there are no more than max_position_embeddings */
};

/* [load] What parts_causal_lm_create finds: model, head and their numbers. Called once by a `describe` that has sizes
 * of its own; parts_causal_lm_describe has those of struct parts_sizes. */
int parts_causal_lm_declare(const struct parts_causal_lm *names, int64_t vocab_size, int64_t hidden_size, int32_t tied,
                            const struct graft_sink *sink, struct graft_error *error);

/* graft.base_model/1: embeddings, layers with causal attention, a last norm. */
struct parts_model {
    const char *embeddings;            /* "wte" */
    const char *position_embeddings;   /* "wpe"; NULL: none */
    const char *layers;                /* "h" */
    const char *layer_class;           /* "GPT2Block" */
    const char *norm;                  /* "ln_f" */
    const struct parts_rotary *rotary; /* of the child rotary_emb; NULL: none */
};

/* graft.decoder_layer/1: attention and MLP, each after a LayerNorm, with residuals. */
struct parts_layer {
    const char *attention_norm; /* "ln_1" */
    const char *attention;      /* "attn" */
    const char *attention_class;
    const char *mlp_norm; /* "ln_2" */
    const char *mlp;      /* "mlp" */
    const char *mlp_class;
    int32_t parallel; /* 1: `use_parallel_residual`, unless false, has the MLP see the layer's input */
};

/* Of an attention: one projection for queries, keys and values, one for the output. */
struct parts_projection_names {
    const char *qkv;    /* "c_attn" */
    const char *output; /* "c_proj" */
};

struct parts_projections {
    const struct graft_module *qkv;    /* hidden_size -> 3 * heads * head_dim */
    const struct graft_module *output; /* heads * head_dim -> hidden_size */
    int64_t heads;
    int64_t head_dim;
};

/* [load] For `describe`: declares both, from the arguments of graft.self_attention/1, which it checks. */
int parts_projections_describe(const struct parts_projection_names *names, const struct graft_args *args,
                               const struct graft_sink *sink, struct graft_error *error);

/* [load] For `create`: finds both. */
int parts_projections_find(const struct parts_projection_names *names, const struct graft_build *build,
                           struct parts_projections *projections, struct graft_error *error);

/* graft.mlp/1: down(act(up(x))). */
struct parts_mlp {
    const char *up;   /* "c_fc" */
    const char *down; /* "c_proj" */
    const char *act;  /* "act" */
};

#define PARTS_FUNCTIONS(part)                                                                                     \
    int part##_describe(const struct graft_class *self, const struct graft_config *config,                        \
                        const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error); \
    int part##_create(const struct graft_class *cls, const struct graft_build *build, void **instance,            \
                      struct graft_error *error)

PARTS_FUNCTIONS(parts_causal_lm);
PARTS_FUNCTIONS(parts_model);
PARTS_FUNCTIONS(parts_layer);
PARTS_FUNCTIONS(parts_mlp);
PARTS_FUNCTIONS(parts_rotary);
void parts_rotary_destroy(void *instance);

extern const struct graft_causal_lm parts_causal_lm_vtable;
extern const struct graft_base_model parts_model_vtable;
extern const struct graft_decoder_layer parts_layer_vtable;
extern const struct graft_mlp parts_mlp_vtable;
extern const struct graft_rotary parts_rotary_vtable;

/* The first initialisers of a class with the functions NAME_describe and NAME_create and the vtable NAME_vtable. */
#define PARTS_CLASS(class_name, interface, functions)                                             \
    .struct_size = sizeof(struct graft_class), .name = (class_name), .interface_id = (interface), \
    .describe = functions##_describe, .create = functions##_create, .destroy = free, .forward = &functions##_vtable

#endif
