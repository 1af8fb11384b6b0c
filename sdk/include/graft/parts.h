/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parts of decoders, for plugins that bring a family: what its classes have in common with those of other families. A
 * class takes the functions of a part, and its `data` is the part's struct, which says what the children are called:
 *
 *     static const struct graft_parts_mlp mlp = {.up = "c_fc", .down = "c_proj", .act = "act"};
 *     {GRAFT_PARTS_CLASS("GPT2MLP", GRAFT_INTERFACE_MLP, graft_parts_mlp), .data = &mlp}
 *
 * A class with a `describe` of its own calls the part's `declare` in it instead, once, and keeps nothing itself: what
 * the part's `create` needs is kept there. `data` is the class's own then. The built-in classes are made like that.
 *
 * The parts are no interface between host and plugin: they are linked into the plugin, from libgraft-sdk.a. All
 * functions are [load] unless they say otherwise.
 */
#ifndef GRAFT_PARTS_H
#define GRAFT_PARTS_H

#include "attention.h"
#include "base_model.h"
#include "causal_lm.h"
#include "class.h"
#include "decoder_layer.h"
#include "embedding.h"
#include "instance.h"
#include "masked_lm.h"
#include "mixer.h"
#include "mlp.h"
#include "norm.h"
#include "rotary.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Far above every published model, and low enough that products of four sizes stay within 64 bits. */
enum { GRAFT_PARTS_MAX_SIZE = 1 << 20, GRAFT_PARTS_MAX_LAYERS = 4096 };

/* As `describe` in struct graft_class. */
typedef int graft_parts_describe(const struct graft_class *self, const struct graft_config *config,
                                 const struct graft_args *args, const struct graft_sink *sink,
                                 struct graft_error *error);
/* As `create`. */
typedef int graft_parts_create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                               struct graft_error *error);

/* The first initialisers of a class that is a part: of its functions PART_describe and PART_create, of PART_vtable. */
#define GRAFT_PARTS_CLASS(class_name, interface, part)                                            \
    .struct_size = sizeof(struct graft_class), .name = (class_name), .interface_id = (interface), \
    .describe = part##_describe, GRAFT_PARTS_INSTANCE(part)

/* Those of them that make its instances, for a class with a `describe` of its own or of the class it is derived from.
 */
#define GRAFT_PARTS_INSTANCE(part) .create = part##_create, .destroy = graft_instance_destroy, .forward = &part##_vtable

/* --- What config.json says --- */

/* Read by these names; the family's `fields` lead them to its own, and have the defaults. Fields that need not be there
 * are marked with what they are then; for a family like Llama set attention_bias, mlp_bias (both 0) and hidden_act
 * ("silu") in `fields`. */
struct graft_parts_sizes {
    int64_t vocab_size;              /* up to 2^28 */
    int64_t hidden_size;             /* this and the other sizes up to GRAFT_PARTS_MAX_SIZE */
    int64_t intermediate_size;       /* or null: 4 * hidden_size */
    int64_t num_hidden_layers;       /* up to GRAFT_PARTS_MAX_LAYERS */
    int64_t num_attention_heads;     /* of queries */
    int64_t num_key_value_heads;     /* or null: num_attention_heads, which it divides */
    int64_t head_dim;                /* or null: hidden_size / num_attention_heads, without a remainder */
    int64_t max_position_embeddings; /* up to 2^30 */
    double layer_norm_eps;           /* 1e-5 */
    const char *hidden_act;          /* "gelu"; the config's string */
    int32_t attention_bias;          /* 1; of queries, keys, values and output, unless one of the next two says else */
    int32_t qkv_bias;                /* or null: attention_bias */
    int32_t o_proj_bias;             /* or null: attention_bias; 0 where queries, keys and values alone have biases */
    int32_t mlp_bias;                /* 1 */
    int32_t tie_word_embeddings;     /* 0 */
    double embedding_scale;          /* 1; above 0: what embeddings are multiplied by */
    double residual_scale;           /* 1; above 0: what a layer multiplies by before it adds */
};

/* Reads and checks them; errors name file and field. */
int graft_parts_read_sizes(const struct graft_config *config, struct graft_parts_sizes *sizes,
                           struct graft_error *error);

/* --- The model with its head --- */

/* graft.causal_lm/1: a base model, and lm_head, which only sees the tokens whose logits are wanted. */
struct graft_parts_causal_lm {
    const char *model;         /* "transformer" */
    const char *model_class;   /* "GPT2Model" */
    const char *tied_weight;   /* "transformer.wte.weight": what lm_head's is tied to where config.json says so */
    const char *head;          /* "embed_out"; NULL: "lm_head" */
    int32_t learned_positions; /* 1: a sequence has no more than max_position_embeddings */
    uint32_t reserved;
    /* A Linear before the head, behind which come an activation and a norm; NULL: none of the three. */
    const char *transform;
    const char *transform_act;        /* "act": the activation */
    const char *transform_norm;       /* "norm"; NULL: none */
    const char *transform_norm_class; /* "LayerNorm" */
    const char *tied_bias;            /* where checkpoints keep the head's bias, too: "lm_head.bias"; NULL: nowhere */
    const char *logits_bias;          /* "final_logits_bias", [1, vocab_size], 0 where there is none; NULL: none */
    /* A model of graft.base_model/1 that reads another text, from which this one follows, and whose token embeddings
     * are those of `model`; NULL: none of them. */
    const char *encoder;            /* "model.encoder" */
    const char *encoder_class;      /* "BartEncoder" */
    const char *encoder_embeddings; /* "embed_tokens": which of its children they are */
    const char *model_embeddings;   /* likewise of `model` */
    const char *shared;             /* "model.shared": what both are tied to */
};

/* The numbers of one. */
struct graft_parts_causal_lm_sizes {
    int64_t vocab_size;              /* rows of lm_head */
    int64_t hidden_size;             /* columns of lm_head */
    int64_t max_position_embeddings; /* with learned positions */
    double logit_scale;              /* logits are multiplied by it; 0: as they are */
    double softcap;                  /* then they become softcap * tanh(logits / softcap); 0: as they are */
    int32_t tie_word_embeddings;     /* 0 or 1 */
    int32_t bidirectional;           /* 1: the base model is, as its sizes say */
    int32_t bias;                    /* 1: lm_head has one */
    int32_t transform_bias;          /* 1: a transform has one; this and the next with a transform */
    int32_t transform_norm_bias;     /* 1: so has its norm */
    uint32_t reserved;
    int64_t transform_size;    /* what it takes; what it gives is hidden_size */
    double transform_eps;      /* of its norm */
    const char *act;           /* its activation, as ACT2FN calls it */
    int64_t encoder_size;      /* numbers of a hidden state of an encoder; this and the next with one */
    int64_t encoder_positions; /* how many tokens it reads at most; 0: any number */
};

/* Declares model, head, and the numbers that the host goes by (family.h). */
int graft_parts_causal_lm_declare(const struct graft_parts_causal_lm *part,
                                  const struct graft_parts_causal_lm_sizes *sizes, const struct graft_sink *sink,
                                  struct graft_error *error);

/* With struct graft_parts_sizes and `is_causal`, and a parent's or derived class's arguments `logit_scale` and
 * `softcap`. */
graft_parts_describe graft_parts_causal_lm_describe;
graft_parts_create graft_parts_causal_lm_create;
extern const struct graft_causal_lm graft_parts_causal_lm_vtable;

/* [forward] Runs an encoder, whose hidden states have `encoder_size` numbers, on what sequences bring along. `batch`
 * becomes a copy of `given` with source_states [source tokens, encoder_size], in scratch memory. */
int graft_parts_encode_sources(const struct graft_module *encoder, int64_t encoder_size, const struct graft_call *call,
                               const struct graft_batch *given, struct graft_batch *batch, struct graft_error *error);

/* graft.masked_lm/1: the same parts, described by the same functions; tokens see those behind them as well. */
extern const struct graft_masked_lm graft_parts_masked_lm_vtable;

/* --- What stands before a head's last Linear: norm(act(dense(x))) --- */

/* What one is made of. */
struct graft_parts_transform_info {
    const char *dense;      /* "classifier.dense"; NULL: there is no transform */
    const char *act;        /* the child that is the activation: "act" */
    const char *norm;       /* "norm"; NULL: none */
    const char *norm_class; /* "LayerNorm" */
    const char *act_name;   /* the activation as ACT2FN calls it: "gelu" */
    int64_t in_features;    /* what the Linear takes */
    int64_t out_features;   /* and what it gives */
    double eps;             /* of the norm */
    int32_t bias;           /* 1: the Linear has one */
    int32_t norm_bias;      /* 1: the norm has one */
};

/* One in a model that is built. */
struct graft_parts_transform {
    const struct graft_module *dense; /* in_features -> out_features; NULL: there is no transform */
    const struct graft_module *act;   /* the activation; NULL with dense */
    const struct graft_module *norm;  /* NULL: none */
    int64_t out_features;             /* of the Linear */
};

/* [load] Declares the children. */
int graft_parts_transform_declare(const struct graft_parts_transform_info *info, const struct graft_sink *sink,
                                  struct graft_error *error);

/* [load] Finds them. */
void graft_parts_transform_find(struct graft_parts_transform *self, const struct graft_parts_transform_info *info,
                                const struct graft_build *build, struct graft_error *error);

/* [forward] *x [rows, in_features] becomes [rows, out_features], in scratch memory; nothing happens without one. */
int graft_parts_transform_apply(const struct graft_parts_transform *self, const struct graft_call *call, int64_t rows,
                                float **x, struct graft_error *error);

/* --- Rotary positions --- */

struct graft_rope_info; /* rope.h */

/* graft.rotary/1: angles for the part of a head that is rotated, by graft.rope/1. */
struct graft_parts_rotary {
    double rope_theta;            /* where config.json has none */
    double partial_rotary_factor; /* likewise */
};

/* How many numbers of a head are rotated, the first ones. */
int graft_parts_rotary_width(const struct graft_parts_rotary *part, const struct graft_config *config,
                             const struct graft_host *host, int64_t *width, struct graft_error *error);

/* Whether a sequence of more than `length` tokens is rotated otherwise than one of as many: 1 or 0. */
int graft_parts_rotary_changes(const struct graft_parts_rotary *part, const struct graft_config *config,
                               const struct graft_host *host, int64_t length, int32_t *changes,
                               struct graft_error *error);

/* The same of any rotation of graft.rope/1. */
int graft_parts_rope_changes(const struct graft_host *host, const struct graft_config *config,
                             const struct graft_rope_info *info, int64_t length, int32_t *changes,
                             struct graft_error *error);

/* Of the class's `data`, with struct graft_parts_sizes. */
graft_parts_describe graft_parts_rotary_describe;
graft_parts_create graft_parts_rotary_create;
/* An instance with the rotation that `info` describes, for a class that reads config.json itself. */
int graft_parts_rotary_make(const struct graft_build *build, const struct graft_config *config,
                            const struct graft_rope_info *info, void **instance, struct graft_error *error);
/* Frees the instance. */
void graft_parts_rotary_destroy(void *instance);
extern const struct graft_rotary graft_parts_rotary_vtable;

/* The first initialisers of such a class. */
#define GRAFT_PARTS_ROTARY_CLASS(class_name)                                                                 \
    .struct_size = sizeof(struct graft_class), .name = (class_name), .interface_id = GRAFT_INTERFACE_ROTARY, \
    .describe = graft_parts_rotary_describe, .create = graft_parts_rotary_create,                            \
    .destroy = graft_parts_rotary_destroy, .forward = &graft_parts_rotary_vtable

enum { GRAFT_PARTS_LAYER_TYPES = 2 };

/* Where the parameters of one type of layer are. */
struct graft_parts_rotary_type {
    const char *layer_type;       /* in rope_parameters: "full_attention" */
    const char *rope_theta_field; /* the base, where it is not there: "rope_local_base_freq" */
    double rope_theta;            /* where config.json has neither */
    int32_t scaled;               /* 1: without rope_parameters, rope_scaling holds for the type */
    uint32_t reserved;
};

/* The same of a model whose types of layers have angles of their own, for whole heads. Such a class has
 * graft_parts_typed_rotary_destroy as its `destroy`. */
struct graft_parts_typed_rotary {
    struct graft_parts_rotary_type types[GRAFT_PARTS_LAYER_TYPES]; /* by GRAFT_LAYER_... */
};

/* Of the class's `data`, with struct graft_parts_sizes. */
graft_parts_describe graft_parts_typed_rotary_describe;
graft_parts_create graft_parts_typed_rotary_create;
/* Frees the instance. */
void graft_parts_typed_rotary_destroy(void *instance);
extern const struct graft_rotary graft_parts_typed_rotary_vtable;

/* The first initialisers of such a class. */
#define GRAFT_PARTS_TYPED_ROTARY_CLASS(class_name)                                                           \
    .struct_size = sizeof(struct graft_class), .name = (class_name), .interface_id = GRAFT_INTERFACE_ROTARY, \
    .describe = graft_parts_typed_rotary_describe, .create = graft_parts_typed_rotary_create,                \
    .destroy = graft_parts_typed_rotary_destroy, .forward = &graft_parts_typed_rotary_vtable

/* --- The model --- */

/* graft.base_model/1: embeddings, layers, a last norm. */
struct graft_parts_model {
    const char *embeddings;                  /* "wte" */
    const char *position_embeddings;         /* "wpe"; NULL: none */
    const char *layers;                      /* "h" */
    const char *layer_class;                 /* "GPT2Block" */
    const char *norm;                        /* "ln_f" */
    const char *norm_class;                  /* "LayerNorm" */
    const char *rotary_class;                /* of the child rotary_emb: "GPTNeoXRotaryEmbedding"; NULL: none */
    const struct graft_parts_rotary *rotary; /* that class's `data`; not read by `declare` */
    int32_t norms_without_bias;              /* 1: its LayerNorms have none, nor do those that its layers describe */
    uint32_t reserved;
};

/* The numbers of one. */
struct graft_parts_model_sizes {
    int64_t vocab_size;                  /* rows of the embeddings */
    int64_t hidden_size;                 /* their columns */
    int64_t num_hidden_layers;           /* up to GRAFT_PARTS_MAX_LAYERS */
    int64_t max_position_embeddings;     /* with position_embeddings */
    int64_t rotary_width;                /* with rotary_class: numbers of a token in cos and sin */
    double eps;                          /* of the last norm */
    const int64_t *windows;              /* [num_hidden_layers]: how many keys a query sees; 0: all; NULL: all 0 */
    const struct graft_args *layer_args; /* what each layer is given besides layer_idx */
    int32_t typed_rotary;                /* 1: layers with a window have angles of their own, by layer_type */
    /* 0: a query sees no keys behind it. 1: it sees those, too, and a window of n is n keys to either side of its own,
     * as transformers has it where `is_causal` is false. */
    int32_t bidirectional;
    /* What the embeddings of tokens are multiplied by (granite's embedding_multiplier), those that were given in the
     * place of some included, before positions are added; 0: they are as they are. */
    double embedding_scale;
};

/* Declares the children, and the numbers that the host goes by where the model is the root (family.h). */
int graft_parts_model_declare(const struct graft_parts_model *part, const struct graft_parts_model_sizes *sizes,
                              const struct graft_sink *sink, struct graft_error *error);

/* With struct graft_parts_sizes, of which layers are given all that attention, MLP, norms and sums need; without
 * windows. Where `is_causal` is false, it is bidirectional. */
graft_parts_describe graft_parts_model_describe;
graft_parts_create graft_parts_model_create;
extern const struct graft_base_model graft_parts_model_vtable;

/* --- A layer --- */

/* graft.decoder_layer/1: attention or a mixer or both side by side, and an MLP, with residuals, and norms where there
 * are names for them. With the argument `residual_scale` (a real number) what attention and MLP give, normed, is
 * multiplied by it before it is added (granite's residual_multiplier). A class whose norms depend on config.json has a
 * `describe` of its own, which declares the one or the other of two parts: one with mlp_norm, say, and one that is
 * `parallel` without. */
struct graft_parts_layer {
    const char *attention;             /* "self_attn"; NULL: none */
    const char *attention_class;       /* "LlamaAttention" */
    const char *mixer;                 /* "linear_attn", of graft.mixer/1, which sees what attention sees; NULL: none */
    const char *mixer_class;           /* "Qwen3NextGatedDeltaNet" */
    const char *mlp;                   /* "mlp"; NULL: none, and then not `parallel` */
    const char *mlp_class;             /* "LlamaMLP" */
    const char *norm_class;            /* "LlamaRMSNorm" */
    const char *attention_norm;        /* of what attention sees: "input_layernorm" */
    const char *attention_output_norm; /* of what it gives, before that is added */
    const char *mlp_norm;              /* of what the MLP sees; NULL with `parallel`: it shares attention's norm */
    const char *mlp_output_norm;       /* of what it gives, before that is added */
    int32_t parallel;                  /* 1: the MLP sees the layer's input, not what attention has made of it */
    int32_t norm_after_add; /* 1: attention_norm and mlp_norm are of the sums behind attention and MLP (not parallel) */
    const char *parallel_field; /* where config.json may say otherwise: "use_parallel_residual"; NULL: nowhere */
    /* 1: outputs are added to what attention or MLP saw, their norms being before (not parallel). */
    int32_t residual_normed;
    int32_t mlp_mixes; /* 1: the MLP is of graft.mixer/1, as it looks at other tokens */
    /* What attention's output is added to is multiplied by it before; 0: 1, as below. Not where there is no norm. */
    double attention_skip;
    double attention_scale; /* what attention gives is multiplied by it before it is added */
    double mlp_skip;        /* the same of what the MLP saw */
    double mlp_scale;       /* the same of what it gives */
    /* Vectors [hidden_size] that multiply what attention's output, or the MLP's, is added to (norms being before, not
     * parallel): "input_residual"; NULL: it stays. */
    const char *attention_residual;
    const char *mlp_residual; /* "post_attention_residual" */
    /* Attention to what an encoder makes of another text, behind the other one (not parallel); NULL: none. */
    const char *cross;       /* "encoder_attn" */
    const char *cross_class; /* "BartCrossAttention" */
    const char *cross_norm;  /* where attention_norm is, of what it sees or of the sum behind it; never NULL with it */
};

/* Declares the children, which are given `args`, all that the layer was. */
int graft_parts_layer_declare(const struct graft_parts_layer *part, const struct graft_config *config,
                              const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error);

/* [forward] What a class that is more than such a layer adds to its steps; each may be NULL. `self` is the class's, and
 * args->hidden_states what `output` [tokens, hidden_size] will be added to. */
struct graft_parts_layer_steps {
    /* `output` becomes what is added to what attention gives of `seen`, normed, before that is scaled. */
    int (*beside_attention)(void *self, const struct graft_call *call, const struct graft_decoder_layer_args *args,
                            const float *seen, float *output, struct graft_error *error);
    /* `output` is what the MLP gives, before its norm, and may be changed. */
    int (*behind_mlp)(void *self, const struct graft_call *call, const struct graft_decoder_layer_args *args,
                      float *output, struct graft_error *error);
    void *self; /* what these functions are given */
};

/* [forward] The layer, an instance of graft_parts_layer_create, with these steps. */
int graft_parts_layer_run(void *layer, const struct graft_parts_layer_steps *steps, const struct graft_call *call,
                          const struct graft_decoder_layer_args *args, struct graft_error *error);

/* The same of the class's `data`. */
graft_parts_describe graft_parts_layer_describe;
graft_parts_create graft_parts_layer_create;
extern const struct graft_decoder_layer graft_parts_layer_vtable;

/* --- Attention --- */

/* What a parent says of an attention (attention.h). */
struct graft_parts_attention_sizes {
    int64_t hidden_size;  /* what the projections take, and what the output has */
    int64_t heads;        /* of queries: num_attention_heads */
    int64_t kv_heads;     /* of keys and values: num_key_value_heads */
    int64_t head_dim;     /* numbers of a head */
    int64_t rotary_width; /* the first numbers of a head, which are rotated where there are angles */
    double scaling;       /* of the scores */
    double softcap;       /* likewise; 0: none */
    int32_t layer;        /* layer_idx */
    int32_t qkv_bias;     /* 0 or 1 */
    int32_t o_proj_bias;  /* 0 or 1 */
    int32_t rope_layout;  /* GRAFT_ROPE_HALVES, ... */
};

/* Reads and checks them; the error names the module: `path` is sink->path. */
int graft_parts_read_attention_sizes(const struct graft_args *args, const char *path,
                                     struct graft_parts_attention_sizes *sizes, struct graft_error *error);

/* graft.self_attention/1: one projection for queries, keys and values, one for the output. For separate projections
 * derive the class from LlamaAttention. */
struct graft_parts_fused_attention {
    const char *qkv;    /* "c_attn" */
    const char *output; /* "c_proj" */
    int32_t by_head;    /* the rows of qkv are 1: [heads, 3, head_dim]; 0: queries, then keys, then values */
    uint32_t reserved;
};

/* Declares the children. */
int graft_parts_fused_attention_declare(const struct graft_parts_fused_attention *part,
                                        const struct graft_parts_attention_sizes *sizes, const struct graft_sink *sink,
                                        struct graft_error *error);

/* Of the class's `data`, with what the parent says. */
graft_parts_describe graft_parts_fused_attention_describe;
graft_parts_create graft_parts_fused_attention_create;
extern const struct graft_self_attention graft_parts_fused_attention_vtable;

/* --- MLP and embedding --- */

/* graft.mlp/1: down(act(gate(x)) * up(x)), or without a gate down(act(up(x))); with a norm of what down takes. */
struct graft_parts_mlp {
    const char *gate;    /* "gate_proj"; NULL: none */
    const char *up;      /* "up_proj" */
    const char *gate_up; /* in the place of both: one projection, the gate's rows first: "gate_up_proj"; NULL: none */
    const char *down;    /* "down_proj" */
    const char *act;     /* "act_fn" */
    const char *norm;    /* of what down takes: "ffn_sub_norm"; NULL: none */
    const char *norm_class; /* "BitNetRMSNorm" */
    double gate_scale;      /* what the gate is multiplied by before its activation; 0: 1 */
    double output_scale;    /* what the MLP gives is multiplied by; 0: 1 */
    double swiglu_alpha;    /* with swiglu_limit */
    double swiglu_limit;    /* 0: act; else with a gate, in its place: the gating of swiglu.h */
    /* With a gate: what it gives below this quantile, of a normal distribution with its mean and deviation, becomes 0,
     * and the quantile is subtracted from the rest, before its activation; 0: nothing, up to but not including 1. */
    double gate_quantile;
    int32_t down_bias; /* GRAFT_PARTS_AS_BIAS, ... */
    uint32_t reserved;
};

/* Whether a Linear has a bias, where its neighbours need not have the same. */
enum {
    GRAFT_PARTS_AS_BIAS = 0, /* as the neighbours */
    GRAFT_PARTS_BIAS = 1,    /* it has one */
    GRAFT_PARTS_NO_BIAS = 2  /* it has none */
};

/* Declares the children, from the arguments of graft.mlp/1. */
int graft_parts_mlp_declare(const struct graft_parts_mlp *part, const struct graft_config *config,
                            const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error);

/* The same of the class's `data`. */
graft_parts_describe graft_parts_mlp_describe;
graft_parts_create graft_parts_mlp_create;
extern const struct graft_mlp graft_parts_mlp_vtable;

/* For a class derived from Embedding: embeddings times the root of their width, or of the argument scale_dim, rounded
 * to bf16 where the model computes in bf16. A head that is tied to it takes the table as it is. */
graft_parts_create graft_parts_scaled_embedding_create;
extern const struct graft_embedding graft_parts_scaled_embedding_vtable;

GRAFT_ASSERT_SIZE(struct graft_parts_sizes, 120);
GRAFT_ASSERT_SIZE(struct graft_parts_causal_lm, 128);
GRAFT_ASSERT_SIZE(struct graft_parts_causal_lm_sizes, 104);
GRAFT_ASSERT_SIZE(struct graft_parts_transform_info, 72);
GRAFT_ASSERT_SIZE(struct graft_parts_transform, 32);
GRAFT_ASSERT_SIZE(struct graft_parts_model, 72);
GRAFT_ASSERT_SIZE(struct graft_parts_model_sizes, 80);
GRAFT_ASSERT_SIZE(struct graft_parts_layer, 184);
GRAFT_ASSERT_SIZE(struct graft_parts_layer_steps, 24);
GRAFT_ASSERT_SIZE(struct graft_parts_attention_sizes, 72);
GRAFT_ASSERT_SIZE(struct graft_parts_fused_attention, 24);
GRAFT_ASSERT_SIZE(struct graft_parts_rotary, 16);
GRAFT_ASSERT_SIZE(struct graft_parts_rotary_type, 32);
GRAFT_ASSERT_SIZE(struct graft_parts_typed_rotary, 64);
GRAFT_ASSERT_SIZE(struct graft_parts_mlp, 104);

#ifdef __cplusplus
}
#endif

#endif
