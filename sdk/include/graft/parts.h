/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of decoders, for plugins that bring a family: what its classes have in common with those of other families. A
 * class uses the functions of a part, and its `data` is the part's struct, which names the children:
 *
 *   static const struct graft_parts_mlp mlp = {.up = "c_fc", .down = "c_proj", .act = "act"};
 *   {GRAFT_PARTS_CLASS("GPT2MLP", GRAFT_INTERFACE_MLP, graft_parts_mlp), .data = &mlp}
 *
 * A class with a `describe` of its own calls the part's `declare` in it instead, once, and must not call sink->keep,
 * because `declare` keeps what the part's `create` needs; `data` is then free for the class's use. The built-in classes
 * are made in this way.
 *
 * Parts are not an interface between host and plugin: they are linked into the plugin, from libgraft-sdk.a. All
 * functions are [load] unless they say otherwise. */
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

/* Far above the sizes of published models, and small enough that products of four sizes fit 64 bits. */
enum { GRAFT_PARTS_MAX_SIZE = 1 << 20, GRAFT_PARTS_MAX_LAYERS = 4096 };

/* The type of `describe` in struct graft_class. */
typedef int graft_parts_describe(const struct graft_class *self, const struct graft_config *config,
                                 const struct graft_args *args, const struct graft_sink *sink,
                                 struct graft_error *error);
/* As `create`. */
typedef int graft_parts_create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                               struct graft_error *error);

/* The first initialisers of a class that is a part: PART_describe, PART_create and PART_vtable. */
#define GRAFT_PARTS_CLASS(class_name, interface, part)                                            \
    .struct_size = sizeof(struct graft_class), .name = (class_name), .interface_id = (interface), \
    .describe = part##_describe, GRAFT_PARTS_INSTANCE(part)

/* Only those initialisers that concern instances, for a class that has or inherits another `describe`. */
#define GRAFT_PARTS_INSTANCE(part) .create = part##_create, .destroy = graft_instance_destroy, .forward = &part##_vtable

/* --- Sizes in config.json --- */

/* Sizes, read under these names. The family's `fields` map the names to its own and set defaults. Comments of optional
 * fields give the default; for a family like Llama set attention_bias, mlp_bias (both 0) and hidden_act ("silu") in
 * `fields`. */
struct graft_parts_sizes {
    int64_t vocab_size;          /* up to 2^28 */
    int64_t hidden_size;         /* like the other sizes up to GRAFT_PARTS_MAX_SIZE */
    int64_t intermediate_size;   /* default, also for null: 4 * hidden_size */
    int64_t num_hidden_layers;   /* up to GRAFT_PARTS_MAX_LAYERS */
    int64_t num_attention_heads; /* of queries */
    int64_t num_key_value_heads; /* default, also for null: num_attention_heads, which it divides */
    int64_t head_dim;            /* default, also for null: hidden_size / num_attention_heads, without a remainder */
    int64_t max_position_embeddings; /* up to 2^30 */
    double layer_norm_eps;           /* 1e-5 */
    const char *hidden_act;          /* "gelu"; borrowed from the config */
    int32_t attention_bias;          /* default 1; for queries, keys, values and output, except as the next two say */
    int32_t qkv_bias;                /* default, also for null: attention_bias */
    int32_t o_proj_bias; /* default, also for null: attention_bias; 0 if only queries, keys and values have biases */
    int32_t mlp_bias;    /* 1 */
    int32_t tie_word_embeddings; /* 0 */
    double embedding_scale;      /* default 1; above 0: factor of the embeddings */
    double residual_scale;       /* default 1; above 0: factor of what a layer adds to its residual */
};

/* Reads and checks the sizes; errors name file and field. */
int graft_parts_read_sizes(const struct graft_config *config, struct graft_parts_sizes *sizes,
                           struct graft_error *error);

/* --- The model with its head --- */

/* graft.causal_lm/1: a base model and lm_head, which is applied only to the tokens whose logits are wanted. */
struct graft_parts_causal_lm {
    const char *model;         /* "transformer" */
    const char *model_class;   /* "GPT2Model" */
    const char *tied_weight;   /* "transformer.wte.weight": what lm_head's weight is tied to if config.json says so */
    const char *head;          /* "embed_out"; NULL: "lm_head" */
    int32_t learned_positions; /* 1: a sequence has at most max_position_embeddings tokens */
    uint32_t reserved;
    /* A Linear before the head, followed by an activation and a norm; NULL: none of the three. */
    const char *transform;
    const char *transform_act;        /* "act": the activation */
    const char *transform_norm;       /* "norm"; NULL: none */
    const char *transform_norm_class; /* "LayerNorm" */
    const char *tied_bias;   /* the name under which checkpoints repeat the head's bias: "lm_head.bias"; NULL: none */
    const char *logits_bias; /* "final_logits_bias", [1, vocab_size], 0 if the checkpoint lacks it; NULL: none */
    /* An encoder of graft.base_model/1, which reads the source text and shares its token embeddings with `model`; NULL:
     * there is none, nor the members below. */
    const char *encoder;            /* "model.encoder" */
    const char *encoder_class;      /* "BartEncoder" */
    const char *encoder_embeddings; /* "embed_tokens": the name of its embeddings */
    const char *model_embeddings;   /* the name of those of `model` */
    const char *shared;             /* "model.shared": the module that both are tied to */
};

/* The sizes of a causal LM. */
struct graft_parts_causal_lm_sizes {
    int64_t vocab_size;              /* rows of lm_head */
    int64_t hidden_size;             /* columns of lm_head */
    int64_t max_position_embeddings; /* for learned positions */
    double logit_scale;              /* factor of the logits; 0: 1 */
    double softcap;                  /* logits then become softcap * tanh(logits / softcap); 0: no softcap */
    int32_t tie_word_embeddings;     /* 0 or 1 */
    int32_t bidirectional;           /* 1: the base model is bidirectional */
    int32_t bias;                    /* 1: lm_head has a bias */
    int32_t transform_bias;          /* 1: the transform has a bias; this and the next only with a transform */
    int32_t transform_norm_bias;     /* 1: its norm has a bias */
    uint32_t reserved;
    int64_t transform_size;    /* inputs of the transform; it has hidden_size outputs */
    double transform_eps;      /* epsilon of its norm */
    const char *act;           /* name of its activation in ACT2FN */
    int64_t encoder_size;      /* width of the encoder's hidden states; this and the next only with an encoder */
    int64_t encoder_positions; /* the most tokens that the encoder reads; 0: unlimited */
};

/* Declares the model, the head, and the attributes that a root has to declare (family.h). */
int graft_parts_causal_lm_declare(const struct graft_parts_causal_lm *part,
                                  const struct graft_parts_causal_lm_sizes *sizes, const struct graft_sink *sink,
                                  struct graft_error *error);

/* Uses struct graft_parts_sizes, `is_causal`, and the arguments `logit_scale` and `softcap` of a parent or derived
 * class. */
graft_parts_describe graft_parts_causal_lm_describe;
graft_parts_create graft_parts_causal_lm_create;
extern const struct graft_causal_lm graft_parts_causal_lm_vtable;

/* [forward] Runs an encoder, whose hidden states are `encoder_size` wide, on the source texts of a batch. `batch`
 * becomes a copy of `given` with source_states [source tokens, encoder_size], in scratch memory. */
int graft_parts_encode_sources(const struct graft_module *encoder, int64_t encoder_size, const struct graft_call *call,
                               const struct graft_batch *given, struct graft_batch *batch, struct graft_error *error);

/* [forward] Returns the call for children whose rows are source tokens, each with the adapter of its sequence: `call`
 * itself if these do not differ, else `space` filled in. NULL on failure, with an error recorded. */
const struct graft_call *graft_parts_source_call(const struct graft_call *call, const struct graft_batch *batch,
                                                 struct graft_gathered_call *space, struct graft_error *error);

/* graft.masked_lm/1: the same part with the same functions, except that a token also sees the tokens after it. */
extern const struct graft_masked_lm graft_parts_masked_lm_vtable;

/* --- A transform before a head's last Linear: norm(act(dense(x))) --- */

/* The children of a transform. */
struct graft_parts_transform_info {
    const char *dense;      /* "classifier.dense"; NULL: there is no transform */
    const char *act;        /* the child that is the activation: "act" */
    const char *norm;       /* "norm"; NULL: none */
    const char *norm_class; /* "LayerNorm" */
    const char *act_name;   /* name of the activation in ACT2FN: "gelu" */
    int64_t in_features;    /* inputs of the Linear */
    int64_t out_features;   /* outputs of the Linear */
    double eps;             /* epsilon of the norm */
    int32_t bias;           /* 1: the Linear has a bias */
    int32_t norm_bias;      /* 1: the norm has a bias */
};

/* A transform of a built model. */
struct graft_parts_transform {
    const struct graft_module *dense; /* in_features -> out_features; NULL: there is no transform */
    const struct graft_module *act;   /* the activation; NULL if `dense` is */
    const struct graft_module *norm;  /* NULL: none */
    int64_t out_features;             /* outputs of the Linear */
};

/* [load] Declares the children. */
int graft_parts_transform_declare(const struct graft_parts_transform_info *info, const struct graft_sink *sink,
                                  struct graft_error *error);

/* [load] Looks up the children. */
void graft_parts_transform_find(struct graft_parts_transform *self, const struct graft_parts_transform_info *info,
                                const struct graft_build *build, struct graft_error *error);

/* [forward] Replaces *x [rows, in_features] by [rows, out_features], in scratch memory; does nothing if there is no
 * transform. */
int graft_parts_transform_apply(const struct graft_parts_transform *self, const struct graft_call *call, int64_t rows,
                                float **x, struct graft_error *error);

/* --- The model --- */

/* graft.base_model/1: embeddings, layers, and a final norm. */
struct graft_parts_model {
    const char *embeddings;          /* "wte" */
    const char *position_embeddings; /* "wpe"; NULL: none */
    const char *layers;              /* "h" */
    const char *layer_class;         /* "GPT2Block" */
    const char *norm;                /* "ln_f" */
    const char *norm_class;          /* "LayerNorm" */
    const char *rotary_class;        /* class of the child rotary_emb: "LlamaRotaryEmbedding"; NULL: none */
    int32_t norms_without_bias;      /* 1: its LayerNorms have no bias, nor have those of its layers */
    uint32_t reserved;
};

/* The sizes of a model. */
struct graft_parts_model_sizes {
    int64_t vocab_size;              /* rows of the embeddings */
    int64_t hidden_size;             /* their columns */
    int64_t num_hidden_layers;       /* up to GRAFT_PARTS_MAX_LAYERS */
    int64_t max_position_embeddings; /* with position_embeddings */
    int64_t rotary_width;            /* with rotary_class: width of cos and sin */
    double eps;                      /* of the final norm, added to the variance */
    const int64_t *windows; /* [num_hidden_layers]: how many keys a query sees, 0: all; NULL: all in every layer */
    const struct graft_args *layer_args; /* arguments of every layer besides layer_idx */
    uint32_t reserved;
    /* 0: a query sees no keys after its own. 1: it does, and a window of n covers n keys on either side, as in
     * transformers if `is_causal` is false. */
    int32_t bidirectional;
    /* Factor of the embeddings (granite's embedding_multiplier), including those that replace some tokens' embeddings,
     * before positions are added; 0: 1. */
    double embedding_scale;
};

/* Declares the children, and the attributes that a root has to declare (family.h). */
int graft_parts_model_declare(const struct graft_parts_model *part, const struct graft_parts_model_sizes *sizes,
                              const struct graft_sink *sink, struct graft_error *error);

/* Uses struct graft_parts_sizes, from which the layers get all arguments that attention, MLP, norms and residuals need;
 * without windows. Bidirectional if `is_causal` is false. */
graft_parts_describe graft_parts_model_describe;
graft_parts_create graft_parts_model_create;
extern const struct graft_base_model graft_parts_model_vtable;

/* --- A layer --- */

/* graft.decoder_layer/1: attention or a mixer, or both in parallel, and an MLP, with residuals, and with those norms
 * that are named. With the argument `residual_scale` (a real number), the outputs of attention and MLP are multiplied
 * by it, after any norm, before they are added (granite's residual_multiplier). A class whose norms depend on
 * config.json has a `describe` of its own, which declares one of two parts: for example one with mlp_norm, and one that
 * is `parallel` without it. */
struct graft_parts_layer {
    const char *attention;       /* "self_attn"; NULL: none */
    const char *attention_class; /* "LlamaAttention" */
    const char *mixer;          /* "linear_attn", of graft.mixer/1, which has the same input as attention; NULL: none */
    const char *mixer_class;    /* "Qwen3NextGatedDeltaNet" */
    const char *mlp;            /* "mlp"; NULL: none, and not `parallel` */
    const char *mlp_class;      /* "LlamaMLP" */
    const char *norm_class;     /* "LlamaRMSNorm" */
    const char *attention_norm; /* norm of attention's input: "input_layernorm" */
    const char *attention_output_norm; /* norm of attention's output, before it is added */
    const char *mlp_norm;              /* norm of the MLP's input; NULL with `parallel`: attention's norm is used */
    const char *mlp_output_norm;       /* norm of the MLP's output, before it is added */
    int32_t parallel;                  /* 1: attention and MLP have the same input, that of the layer */
    int32_t norm_after_add; /* 1: attention_norm and mlp_norm are applied to the sums after attention and MLP (not
                               parallel) */
    const char
        *parallel_field; /* field of config.json that overrides `parallel`: "use_parallel_residual"; NULL: none */
    /* 1: outputs are added to the normed inputs of attention and MLP (not parallel). */
    int32_t residual_normed;
    int32_t mlp_mixes; /* 1: the MLP is of graft.mixer/1, because it uses other tokens */
    /* Factor of the residual to which attention's output is added; 0: 1, as below. Not for layers without norms. */
    double attention_skip;
    double attention_scale; /* factor of attention's output */
    double mlp_skip;        /* factor of the residual to which the MLP's output is added */
    double mlp_scale;       /* factor of the MLP's output */
    /* Vectors [hidden_size] by which the residuals of attention and MLP are multiplied (with norms before, not
     * parallel): "input_residual"; NULL: none. */
    const char *attention_residual;
    const char *mlp_residual; /* "post_attention_residual" */
    /* Cross attention to an encoder's output, after self attention (not parallel); NULL: none. */
    const char *cross;       /* "encoder_attn" */
    const char *cross_class; /* "BartCrossAttention" */
    const char *cross_norm;  /* its norm, in the same place as attention_norm; required with `cross` */
};

/* Declares the children, which get `args`, all the layer's arguments. */
int graft_parts_layer_declare(const struct graft_parts_layer *part, const struct graft_config *config,
                              const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error);

/* [forward] What a class that does more than such a layer adds to the layer's steps; each function may be NULL. `self`
 * is the class's, and args->hidden_states is the residual to which `output` [tokens, hidden_size] will be added. */
struct graft_parts_layer_steps {
    /* Fills in `output`, which is added to the normed output of attention before that is scaled; attention's input is
     * `seen`. */
    int (*beside_attention)(void *self, const struct graft_call *call, const struct graft_decoder_layer_args *args,
                            const float *seen, float *output, struct graft_error *error);
    /* Changes `output`, the MLP's output before its norm. */
    int (*behind_mlp)(void *self, const struct graft_call *call, const struct graft_decoder_layer_args *args,
                      float *output, struct graft_error *error);
    void *self; /* passed to these functions */
};

/* [forward] Runs the layer, an instance of graft_parts_layer_create, with these steps. */
int graft_parts_layer_run(void *layer, const struct graft_parts_layer_steps *steps, const struct graft_call *call,
                          const struct graft_decoder_layer_args *args, struct graft_error *error);

/* For a class whose `data` is a struct graft_parts_layer: `describe`, `create` and the vtable. */
graft_parts_describe graft_parts_layer_describe;
graft_parts_create graft_parts_layer_create;
extern const struct graft_decoder_layer graft_parts_layer_vtable;

/* --- Attention --- */

/* The arguments of an attention (attention.h). */
struct graft_parts_attention_sizes {
    int64_t hidden_size;  /* inputs of the projections, and outputs of the output projection */
    int64_t heads;        /* heads of queries: num_attention_heads */
    int64_t kv_heads;     /* heads of keys and values: num_key_value_heads */
    int64_t head_dim;     /* width of a head */
    int64_t rotary_width; /* how many numbers of a head are rotated, from the first on, if there are angles */
    double scaling;       /* factor of the scores */
    double softcap;       /* softcap of the scores; 0: none */
    int32_t layer;        /* layer_idx */
    int32_t qkv_bias;     /* 0 or 1 */
    int32_t o_proj_bias;  /* 0 or 1 */
    int32_t rope_layout;  /* GRAFT_ROPE_HALVES, ... */
};

/* Reads and checks the arguments; the error names the module: `path` is sink->path. */
int graft_parts_read_attention_sizes(const struct graft_args *args, const char *path,
                                     struct graft_parts_attention_sizes *sizes, struct graft_error *error);

/* graft.self_attention/1 with one projection for queries, keys and values, and one for the output. For separate
 * projections derive the class from LlamaAttention. */
struct graft_parts_fused_attention {
    const char *qkv;    /* "c_attn" */
    const char *output; /* "c_proj" */
    int32_t by_head;    /* 1: the rows of qkv are [heads, 3, head_dim]; 0: queries, then keys, then values */
    uint32_t reserved;
};

/* Declares the children. */
int graft_parts_fused_attention_declare(const struct graft_parts_fused_attention *part,
                                        const struct graft_parts_attention_sizes *sizes, const struct graft_sink *sink,
                                        struct graft_error *error);

/* For a class whose `data` is this struct; uses the parent's arguments. */
graft_parts_describe graft_parts_fused_attention_describe;
graft_parts_create graft_parts_fused_attention_create;
extern const struct graft_self_attention graft_parts_fused_attention_vtable;

/* --- MLP and embedding --- */

/* graft.mlp/1: down(act(gate(x)) * up(x)), or down(act(up(x))) without a gate; optionally with a norm of down's
 * input. */
struct graft_parts_mlp {
    const char *gate;       /* "gate_proj"; NULL: none */
    const char *up;         /* "up_proj" */
    const char *gate_up;    /* replaces both: one projection, with the gate's rows first: "gate_up_proj"; NULL: none */
    const char *down;       /* "down_proj" */
    const char *act;        /* "act_fn" */
    const char *norm;       /* norm of down's input: "ffn_sub_norm"; NULL: none */
    const char *norm_class; /* "BitNetRMSNorm" */
    double gate_scale;      /* factor of the gate before its activation; 0: 1 */
    double output_scale;    /* factor of the MLP's output; 0: 1 */
    double swiglu_alpha;    /* with swiglu_limit */
    double swiglu_limit;    /* above 0: the gating of swiglu.h, with this limit, replaces act; 0: act */
    /* With a gate: a quantile of the normal distribution that has the mean and deviation of the gate's outputs. Outputs
     * below it become 0, and it is subtracted from the others, before the activation. 0: none; less than 1. */
    double gate_quantile;
    int32_t down_bias; /* GRAFT_PARTS_AS_BIAS, ... */
    uint32_t reserved;
};

/* Whether a Linear has a bias, if that may differ from the other Linears. */
enum {
    GRAFT_PARTS_AS_BIAS = 0, /* as the other Linears */
    GRAFT_PARTS_BIAS = 1,    /* it has one */
    GRAFT_PARTS_NO_BIAS = 2  /* it has none */
};

/* Declares the children, from the arguments of graft.mlp/1. */
int graft_parts_mlp_declare(const struct graft_parts_mlp *part, const struct graft_config *config,
                            const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error);

/* For a class whose `data` is a struct graft_parts_mlp: `describe`, `create` and the vtable. */
graft_parts_describe graft_parts_mlp_describe;
graft_parts_create graft_parts_mlp_create;
extern const struct graft_mlp graft_parts_mlp_vtable;

/* For a class derived from Embedding: multiplies embeddings by the square root of their width, or of the argument
 * scale_dim, rounded to bf16 if the model computes in bf16. A head that is tied to it uses the table unchanged. */
graft_parts_create graft_parts_scaled_embedding_create;
extern const struct graft_embedding graft_parts_scaled_embedding_vtable;

GRAFT_ASSERT_SIZE(struct graft_parts_sizes, 120);
GRAFT_ASSERT_SIZE(struct graft_parts_causal_lm, 128);
GRAFT_ASSERT_SIZE(struct graft_parts_causal_lm_sizes, 104);
GRAFT_ASSERT_SIZE(struct graft_parts_transform_info, 72);
GRAFT_ASSERT_SIZE(struct graft_parts_transform, 32);
GRAFT_ASSERT_SIZE(struct graft_parts_model, 64);
GRAFT_ASSERT_SIZE(struct graft_parts_model_sizes, 80);
GRAFT_ASSERT_SIZE(struct graft_parts_layer, 184);
GRAFT_ASSERT_SIZE(struct graft_parts_layer_steps, 24);
GRAFT_ASSERT_SIZE(struct graft_parts_attention_sizes, 72);
GRAFT_ASSERT_SIZE(struct graft_parts_fused_attention, 24);
GRAFT_ASSERT_SIZE(struct graft_parts_mlp, 104);

#ifdef __cplusplus
}
#endif

#endif
