/* SPDX-License-Identifier: Apache-2.0 */
/* The model without a head: embeddings, layers, a last norm. Layers of both types have angles and a mask of their own.
 */
#include <math.h>

#include "graft/describe.h"
#include "graft/layer_types.h"
#include "modernbert.h"

enum { MAX_NAME = 32, MAX_WINDOW = 1 << 30 };

/* What `describe` hands to `create`. */
struct kept {
    struct modernbert_config config;
    int64_t side;      /* how many tokens before its own, and how many behind it, a query of a sliding layer sees */
    int64_t windows[]; /* [num_hidden_layers]: 0: the layer sees everything */
};

struct model {
    struct graft_instance base;
    const struct graft_module *embeddings;
    const struct graft_module *final_norm;
    const struct graft_module *rotary_emb;
    int64_t hidden_size;
    int64_t head_dim;
    struct graft_mask masks[GRAFT_PARTS_LAYER_TYPES];
    int32_t has_type[GRAFT_PARTS_LAYER_TYPES]; /* whether a layer is of the type */
    int32_t is_causal;
    int64_t n_layers;
    struct {
        const struct graft_module *module;
        int32_t type;
    } layers[]; /* [n_layers] */
};

static void layer_name(int64_t layer, char name[MAX_NAME]) {
    (void)snprintf(name, MAX_NAME, "layers.%lld", (long long)layer);
}

/* Every third layer sees everything, from the first on, unless `layer_types` says otherwise. */
static int read_windows(const struct graft_config *config, struct kept *kept, struct graft_error *error) {
    int64_t layers = kept->config.sizes.num_hidden_layers;
    int64_t local_attention = 0;
    int64_t every = 3;
    int status = graft_config_need_int(config, "local_attention", 2, MAX_WINDOW, &local_attention, error);
    if (status == GRAFT_OK) {
        status = graft_config_int(config, "global_attn_every_n_layers", 1, INT32_MAX, &every, error);
    }
    kept->side = local_attention / 2;
    for (int64_t i = 0; i < layers && status == GRAFT_OK; i++) {
        kept->windows[i] = i % every != 0 ? local_attention : 0;
    }
    return status == GRAFT_OK ? graft_layer_windows(config, layers, local_attention, kept->windows, error) : status;
}

static int describe_layers(const struct graft_parts_sizes *sizes, const struct graft_sink *sink,
                           struct graft_error *error) {
    for (int64_t i = 0; i < sizes->num_hidden_layers; i++) {
        const struct graft_arg layer_args[] = {graft_int_arg("layer_idx", i)};
        char name[MAX_NAME];
        layer_name(i, name);
        graft_describe_child(sink, name, "ModernBertEncoderLayer", GRAFT_INTERFACE_ENCODER_LAYER, layer_args, 1, error);
    }
    return error->code;
}

int modernbert_model_describe(const struct graft_class *self, const struct graft_config *config,
                              const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    struct modernbert_config read;
    (void)self;
    (void)args; /* there is no pooling layer to leave out */
    int status = modernbert_read(config, &read, error);
    if (status != GRAFT_OK) {
        return status;
    }
    int64_t layers = read.sizes.num_hidden_layers;
    struct kept *kept =
        sink->keep(sink->data, (int64_t)sizeof *kept + layers * (int64_t)sizeof kept->windows[0], error);
    if (kept == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    kept->config = read;
    status = read_windows(config, kept, error);
    if (status == GRAFT_OK) {
        const struct graft_parts_encoder_sizes root = {
            .vocab_size = read.sizes.vocab_size, .hidden_size = read.sizes.hidden_size, .token_types = 1};
        status = graft_parts_encoder_numbers(&root, sink, error);
    }
    if (status == GRAFT_OK) {
        status = graft_describe_number(sink, "has_pooler", 0, error);
    }
    if (status == GRAFT_OK) {
        status = graft_describe_child(sink, "embeddings", "ModernBertEmbeddings", GRAFT_INTERFACE_INPUT_EMBEDDINGS,
                                      NULL, 0, error);
    }
    if (status == GRAFT_OK) {
        status = describe_layers(&read.sizes, sink, error);
    }
    if (status == GRAFT_OK) {
        status = modernbert_describe_norm(&read, "final_norm", sink, error);
    }
    return status == GRAFT_OK ? graft_describe_child(sink, "rotary_emb", "ModernBertRotaryEmbedding",
                                                     GRAFT_INTERFACE_ROTARY, NULL, 0, error)
                              : status;
}

int modernbert_model_create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                            struct graft_error *error) {
    const struct kept *kept = build->kept;
    int64_t layers = kept->config.sizes.num_hidden_layers;
    (void)cls;
    struct model *self = graft_instance_new(build, sizeof *self + (size_t)layers * sizeof self->layers[0], error);
    if (self == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    self->hidden_size = kept->config.sizes.hidden_size;
    self->head_dim = kept->config.sizes.head_dim;
    self->is_causal = kept->config.is_causal;
    self->masks[GRAFT_LAYER_FULL_ATTENTION] = (struct graft_mask){
        .struct_size = sizeof(struct graft_mask), .kind = self->is_causal ? GRAFT_MASK_CAUSAL : GRAFT_MASK_NONE};
    self->masks[GRAFT_LAYER_SLIDING_ATTENTION] = (struct graft_mask){
        .struct_size = sizeof(struct graft_mask), .kind = GRAFT_MASK_WINDOW, .left = kept->side, .right = kept->side};
    self->embeddings = graft_build_child(build, "embeddings", error);
    self->final_norm = graft_build_child(build, "final_norm", error);
    self->rotary_emb = graft_build_child(build, "rotary_emb", error);
    self->n_layers = layers;
    for (int64_t i = 0; i < layers; i++) {
        int32_t type = kept->windows[i] > 0 ? GRAFT_LAYER_SLIDING_ATTENTION : GRAFT_LAYER_FULL_ATTENTION;
        char name[MAX_NAME];
        layer_name(i, name);
        self->layers[i].module = graft_build_child(build, name, error);
        self->layers[i].type = type;
        self->has_type[type] = 1;
    }
    return graft_instance_finish(self, instance, error);
}

/* Angles of the types that there are: cos and sin [GRAFT_PARTS_LAYER_TYPES] become [tokens, head_dim] each. */
static int find_angles(const struct model *self, const struct graft_call *call, const struct graft_batch *batch,
                       float **cos, float **sin, struct graft_error *error) {
    int status = GRAFT_OK;
    for (int32_t type = 0; type < GRAFT_PARTS_LAYER_TYPES && status == GRAFT_OK; type++) {
        if (!self->has_type[type]) {
            continue;
        }
        cos[type] = graft_scratch_floats(call, batch->tokens, self->head_dim, error);
        sin[type] = graft_scratch_floats(call, batch->tokens, self->head_dim, error);
        const struct graft_rotary_args args = {
            .struct_size = sizeof args,
            .required_features = GRAFT_ROTARY_LAYER_TYPES,
            .batch = batch,
            .head_dim = self->head_dim,
            .cos = cos[type],
            .sin = sin[type],
            .layer_type = type,
        };
        status = cos[type] != NULL && sin[type] != NULL ? graft_rotary_forward(self->rotary_emb, call, &args, error)
                                                        : GRAFT_ERROR_INTERNAL;
    }
    return status;
}

/* What the queries of layers with a window see where `is_causal` is true: with transformers' sdpa a text that is
 * shorter than the window to one side is causal, and any other sees the window to both sides. */
static int find_causal_windows(const struct model *self, const struct graft_call *call, const struct graft_batch *batch,
                               struct graft_mask *mask, struct graft_error *error) {
    int64_t side = self->masks[GRAFT_LAYER_SLIDING_ATTENTION].left;
    int64_t longest = 0;
    for (int32_t s = 0; s < batch->sequences; s++) {
        int64_t length = batch->cu_seqlens[s + 1] - batch->cu_seqlens[s];
        longest = length > longest ? length : longest;
    }
    float *bias = graft_scratch_floats(call, batch->tokens, longest, error); /* [tokens, longest] */
    if (bias == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    for (int32_t s = 0; s < batch->sequences; s++) {
        int64_t length = batch->cu_seqlens[s + 1] - batch->cu_seqlens[s];
        for (int64_t i = 0; i < length; i++) {
            float *row = bias + (batch->cu_seqlens[s] + i) * longest;
            for (int64_t j = 0; j < length; j++) {
                int is_seen = length < side ? j <= i : j >= i - side && j <= i + side;
                row[j] = is_seen ? 0.0f : -INFINITY;
            }
        }
    }
    *mask = (struct graft_mask){
        .struct_size = sizeof *mask, .kind = GRAFT_MASK_DENSE, .bias = bias, .bias_stride = longest};
    return GRAFT_OK;
}

static int forward(void *instance, const struct graft_call *call, const struct graft_encoder_model_args *args,
                   struct graft_error *error) {
    const struct model *self = instance;
    int64_t tokens = args->batch->tokens;
    float *hidden = graft_scratch_floats(call, tokens, self->hidden_size, error); /* [tokens, hidden_size] */
    float *cos[GRAFT_PARTS_LAYER_TYPES] = {NULL};
    float *sin[GRAFT_PARTS_LAYER_TYPES] = {NULL};
    const struct graft_input_embeddings_args embedding_args = {
        sizeof embedding_args, 0, args->batch, args->input_ids, args->token_type_ids, hidden,
    };
    const struct graft_norm_args norm_args = {sizeof norm_args, 0, tokens, hidden, NULL, args->last_hidden_state};
    struct graft_mask causal_windows = {0};
    const struct graft_mask *masks[] = {&self->masks[0], &self->masks[1]};
    int status = hidden != NULL ? find_angles(self, call, args->batch, cos, sin, error) : GRAFT_ERROR_INTERNAL;
    if (status == GRAFT_OK) {
        status = graft_input_embeddings_forward(self->embeddings, call, &embedding_args, error);
    }
    if (status == GRAFT_OK && self->is_causal && self->has_type[GRAFT_LAYER_SLIDING_ATTENTION]) {
        status = find_causal_windows(self, call, args->batch, &causal_windows, error);
        masks[GRAFT_LAYER_SLIDING_ATTENTION] = &causal_windows;
    }
    for (int64_t i = 0; i < self->n_layers && status == GRAFT_OK; i++) {
        int32_t type = self->layers[i].type;
        const struct graft_encoder_layer_args layer_args = {
            sizeof layer_args, 0, args->batch, hidden, cos[type], sin[type], masks[type],
        };
        status = graft_encoder_layer_forward(self->layers[i].module, call, &layer_args, error);
    }
    return status == GRAFT_OK ? graft_norm_forward(self->final_norm, call, &norm_args, error) : status;
}

const struct graft_encoder_model modernbert_model_vtable = {
    .struct_size = sizeof modernbert_model_vtable,
    .forward = forward,
};
