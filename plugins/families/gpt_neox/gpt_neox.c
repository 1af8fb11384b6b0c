/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GPT-NeoX (Black et al. 2022): attention and MLP side by side, queries, keys and values of a head together in one
 * projection, rotary positions for a part of each head.
 */
#include <math.h>
#include <stdlib.h>

#include "../parts/parts.h"
#include "graft/attention.h"
#include "graft/describe.h"
#include "graft/family.h"
#include "graft/plugin.h"
#include "graft/rope.h"

static const struct parts_rotary rotary = {
    .class_name = "GPTNeoXRotaryEmbedding",
    .rope_theta = 10000.0,
    .partial_rotary_factor = 0.25,
};

/* --- Attention --- */

static const struct parts_projection_names projections = {.qkv = "query_key_value", .output = "dense"};

struct attention {
    struct parts_projections projections;
    int32_t layer;
    int64_t rotary_width; /* the first numbers of a head, which are rotated */
};

static int attention_describe(const struct graft_class *self, const struct graft_config *config,
                              const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    int64_t *rotary_width = sink->keep(sink->data, sizeof *rotary_width, error);
    (void)self;
    int status = rotary_width != NULL ? parts_rotary_width(&rotary, config, sink->host, rotary_width, error)
                                      : GRAFT_ERROR_INTERNAL;
    return status == GRAFT_OK ? parts_projections_describe(&projections, args, sink, error) : status;
}

static int attention_create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                            struct graft_error *error) {
    const int64_t *rotary_width = build->kept;
    struct attention *self = calloc(1, sizeof *self);
    (void)cls;
    if (self == NULL) {
        return graft_fail_memory(error, build->path);
    }
    self->layer = (int32_t)graft_args_int(build->args, "layer_idx", 0);
    self->rotary_width = *rotary_width;
    int status = parts_projections_find(&projections, build, &self->projections, error);
    if (status != GRAFT_OK) {
        free(self);
        return status;
    }
    *instance = self;
    return GRAFT_OK;
}

/* Rotates a part of each query or of each key in qkv [tokens, heads, 3, head_dim], from the first one's on. */
static int rotate(const struct attention *self, const struct graft_call *call,
                  const struct graft_self_attention_args *args, float *first, struct graft_error *error) {
    const struct graft_rope_args rope_args = {
        .struct_size = sizeof rope_args,
        .layout = GRAFT_ROPE_HALVES,
        .x = first,
        .stride = self->projections.heads * 3 * self->projections.head_dim,
        .head_stride = 3 * self->projections.head_dim,
        .tokens = args->batch->tokens,
        .heads = self->projections.heads,
        .width = self->rotary_width,
        .cos = args->cos,
        .sin = args->sin,
    };
    return call->kernels->rope(call, &rope_args, error);
}

static int attention_forward(void *instance, const struct graft_call *call,
                             const struct graft_self_attention_args *args, struct graft_error *error) {
    const struct attention *self = instance;
    int64_t tokens = args->batch->tokens;
    int64_t width = self->projections.heads * self->projections.head_dim;
    float *qkv = graft_scratch_floats(call, tokens, 3 * width, error); /* [tokens, heads, 3, head_dim] */
    float *context = graft_scratch_floats(call, tokens, width, error); /* [tokens, heads, head_dim] */
    if (qkv == NULL || context == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    const struct graft_linear_args in_args = {sizeof in_args, 0, tokens, args->hidden_states, qkv};
    const struct graft_linear_args out_args = {sizeof out_args, 0, tokens, context, args->output};
    const struct graft_attention_args attention_args = {
        .struct_size = sizeof attention_args,
        .layer = self->layer,
        .batch = args->batch,
        .mask = args->mask,
        .heads = self->projections.heads,
        .kv_heads = self->projections.heads,
        .head_dim = self->projections.head_dim,
        .scaling = (float)(1.0 / sqrt((double)self->projections.head_dim)),
        .q = qkv,
        .q_stride = 3 * width,
        .q_head_stride = 3 * self->projections.head_dim,
        .k = qkv + self->projections.head_dim,
        .k_stride = 3 * width,
        .k_head_stride = 3 * self->projections.head_dim,
        .v = qkv + 2 * self->projections.head_dim,
        .v_stride = 3 * width,
        .v_head_stride = 3 * self->projections.head_dim,
        .output = context,
        .output_stride = width,
    };
    int status = graft_linear_forward(self->projections.qkv, call, &in_args, error);
    if (status == GRAFT_OK) {
        status = rotate(self, call, args, qkv, error);
    }
    if (status == GRAFT_OK) {
        status = rotate(self, call, args, qkv + self->projections.head_dim, error);
    }
    if (status == GRAFT_OK) {
        status = call->kernels->attention(call, &attention_args, error);
    }
    return status == GRAFT_OK ? graft_linear_forward(self->projections.output, call, &out_args, error) : status;
}

static const struct graft_self_attention attention_vtable = {.struct_size = sizeof attention_vtable,
                                                             .forward = attention_forward};

/* --- What the host is told --- */

static const struct parts_causal_lm causal_lm = {
    .model = "gpt_neox",
    .model_class = "GPTNeoXModel",
    .tied_weight = "gpt_neox.embed_in.weight",
};
static const struct parts_model model = {
    .embeddings = "embed_in",
    .layers = "layers",
    .layer_class = "GPTNeoXLayer",
    .norm = "final_layer_norm",
    .rotary = &rotary,
};
static const struct parts_layer layer = {
    .attention_norm = "input_layernorm",
    .attention = "attention",
    .attention_class = "GPTNeoXAttention",
    .mlp_norm = "post_attention_layernorm",
    .mlp = "mlp",
    .mlp_class = "GPTNeoXMLP",
    .parallel = 1,
};
static const struct parts_mlp mlp = {.up = "dense_h_to_4h", .down = "dense_4h_to_h", .act = "act"};

static const char *const embed_out[] = {"embed_out"};
static const char *const lm_head[] = {"lm_head"};
static const struct graft_conversion head_conversion = GRAFT_RENAMING(embed_out, lm_head);

static const struct graft_class classes[] = {
    {PARTS_CLASS("GPTNeoXForCausalLM", GRAFT_INTERFACE_CAUSAL_LM, parts_causal_lm), .conversions = &head_conversion,
     .n_conversions = 1, .conversion_stride = sizeof head_conversion, .data = &causal_lm},
    {PARTS_CLASS("GPTNeoXModel", GRAFT_INTERFACE_BASE_MODEL, parts_model), .data = &model},
    {PARTS_CLASS("GPTNeoXLayer", GRAFT_INTERFACE_DECODER_LAYER, parts_layer), .data = &layer},
    {PARTS_CLASS("GPTNeoXAttention", GRAFT_INTERFACE_SELF_ATTENTION, attention)},
    {PARTS_CLASS("GPTNeoXMLP", GRAFT_INTERFACE_MLP, parts_mlp), .data = &mlp},
    {.struct_size = sizeof(struct graft_class),
     .name = "GPTNeoXRotaryEmbedding",
     .interface_id = GRAFT_INTERFACE_ROTARY,
     .describe = parts_rotary_describe,
     .create = parts_rotary_create,
     .destroy = parts_rotary_destroy,
     .forward = &parts_rotary_vtable,
     .data = &rotary},
};

static const struct graft_architecture architectures[] = {{"GPTNeoXForCausalLM", NULL}, {"GPTNeoXModel", NULL}};

static const struct graft_config_field fields[] = {
    {.name = "vocab_size", .kind = GRAFT_FIELD_INT, .integer = 50432},
    {.name = "hidden_size", .kind = GRAFT_FIELD_INT, .integer = 6144},
    {.name = "intermediate_size", .kind = GRAFT_FIELD_INT, .integer = 24576},
    {.name = "num_hidden_layers", .kind = GRAFT_FIELD_INT, .integer = 44},
    {.name = "num_attention_heads", .kind = GRAFT_FIELD_INT, .integer = 64},
    {.name = "max_position_embeddings", .kind = GRAFT_FIELD_INT, .integer = 2048},
    {.name = "partial_rotary_factor", .alias = "rotary_pct"},
    {.name = "rope_theta", .alias = "rotary_emb_base"},
};

/* The causal mask and other numbers that are computed, which older checkpoints hold. */
static const char *const ignored_tensors[] = {"\\.attention\\.(masked_)?bias$", "rotary_emb\\.inv_freq$", NULL};

static const struct graft_family family = {
    .struct_size = sizeof family,
    .model_type = "gpt_neox",
    .base_model_prefix = "gpt_neox",
    .architectures = architectures,
    .n_architectures = sizeof architectures / sizeof architectures[0],
    .architecture_stride = sizeof architectures[0],
    .classes = classes,
    .n_classes = sizeof classes / sizeof classes[0],
    .class_stride = sizeof classes[0],
    .fields = fields,
    .n_fields = sizeof fields / sizeof fields[0],
    .field_stride = sizeof fields[0],
    .ignored_tensors = ignored_tensors,
};

static const char *const required[] = {GRAFT_ROPE_ID, NULL};

static const struct graft_plugin plugin = {
    GRAFT_PLUGIN_HEADER,
    .id = "gpt_neox",
    .version = "1.0.0",
    .license = "Apache-2.0",
    .description = "The model type gpt_neox",
    .requires_extensions = required,
    .families = &family,
    .n_families = 1,
    .family_stride = sizeof family,
};

const struct graft_plugin *graft_plugin_entry(const struct graft_host *host, struct graft_error *error) {
    (void)host;
    (void)error;
    return &plugin;
}
