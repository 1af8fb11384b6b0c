/* SPDX-License-Identifier: Apache-2.0 */
/* A decoder without its head: embedding, layers, a last norm. */
#include <string.h>

#include "arch/decoder/decoder_config.h"
#include "arch/role.h"
#include "graft/describe.h"

struct layer {
    const struct graft_module *module;
    struct graft_mask mask;
};

struct decoder {
    struct graft_instance base;
    const struct graft_module *embed_tokens;
    const struct graft_module *norm;
    const struct graft_module *rotary_emb;
    int64_t hidden_size;
    int64_t head_dim;
    int64_t n_layers;
    struct layer layers[]; /* [n_layers] */
};

/* What describe hands to create. */
struct kept {
    struct graft_decoder_config config;
    int64_t windows[]; /* [num_hidden_layers]: how many keys a query of the layer sees; 0: all before it */
};

enum { MAX_NAME = 32 };

static void layer_name(int64_t layer, char name[MAX_NAME]) {
    (void)snprintf(name, MAX_NAME, "layers.%lld", (long long)layer);
}

/* What config.json says of windows, or a derived class, which may know other fields. */
static int read_windows(const struct graft_config *config, const struct graft_decoder_traits *traits,
                        const struct graft_args *args, const struct graft_sink *sink, struct kept *kept,
                        struct graft_error *error) {
    const struct graft_arg *given = graft_args_find(args, "windows", GRAFT_ARG_INTS);
    int64_t layers = kept->config.num_hidden_layers;
    if (given == NULL) {
        return graft_decoder_config_windows(config, traits, &kept->config, kept->windows, error);
    }
    if (given->count != layers) {
        return graft_error_set(error, GRAFT_ERROR_PLUGIN, sink->path,
                               "argument windows: expected a number for each of %lld layers, got %d", (long long)layers,
                               (int)given->count);
    }
    for (int64_t i = 0; i < layers; i++) {
        kept->windows[i] = given->integers[i];
        if (given->integers[i] < 0 || given->integers[i] > GRAFT_MASK_UNLIMITED) {
            return graft_error_set(error, GRAFT_ERROR_PLUGIN, sink->path,
                                   "argument windows: layer %lld: expected 0 or more keys, got %lld", (long long)i,
                                   (long long)given->integers[i]);
        }
    }
    return GRAFT_OK;
}

static int read_config(const struct graft_config *config, const struct graft_decoder_traits *traits,
                       const struct graft_args *args, const struct graft_sink *sink, struct kept **kept,
                       struct graft_error *error) {
    struct graft_decoder_config decoder;
    int status = graft_decoder_config_read(config, traits, &decoder, error);
    if (status != GRAFT_OK) {
        return status;
    }
    int64_t layers = decoder.num_hidden_layers;
    *kept = sink->keep(sink->data, (int64_t)sizeof **kept + layers * (int64_t)sizeof(*kept)->windows[0], error);
    if (*kept == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    (*kept)->config = decoder;
    return read_windows(config, traits, args, sink, *kept, error);
}

/* Layers are given all that their attention, MLP and norms are. `given` is what the model was given itself. */
static int describe_layers(const struct graft_decoder_traits *traits, const struct graft_decoder_config *decoder,
                           const struct graft_args *given, const struct graft_sink *sink, struct graft_error *error) {
    const char *const passed_on[] = {"scaling", "softcap"};
    int status = GRAFT_OK;
    for (int64_t i = 0; i < decoder->num_hidden_layers && status == GRAFT_OK; i++) {
        char name[MAX_NAME];
        struct graft_arg args[13] = {
            graft_int_arg("layer_idx", i),
            graft_int_arg("hidden_size", decoder->hidden_size),
            graft_int_arg("intermediate_size", decoder->intermediate_size),
            graft_int_arg("num_attention_heads", decoder->num_attention_heads),
            graft_int_arg("num_key_value_heads", decoder->num_key_value_heads),
            graft_int_arg("head_dim", decoder->head_dim),
            graft_int_arg("qkv_bias", decoder->qkv_bias),
            graft_int_arg("o_proj_bias", traits->o_proj_bias && decoder->qkv_bias),
            graft_int_arg("mlp_bias", decoder->mlp_bias),
            graft_string_arg("hidden_act", decoder->hidden_act),
            graft_real_arg("eps", decoder->rms_norm_eps),
        };
        int32_t count = 11;
        for (size_t k = 0; k < sizeof passed_on / sizeof passed_on[0]; k++) {
            if (graft_args_find(given, passed_on[k], GRAFT_ARG_REAL) != NULL) {
                args[count++] = graft_real_arg(passed_on[k], graft_args_real(given, passed_on[k], 0.0));
            }
        }
        layer_name(i, name);
        status =
            graft_describe_child(sink, name, traits->decoder_layer, GRAFT_INTERFACE_DECODER_LAYER, args, count, error);
    }
    return status;
}

int graft_decoder_describe(const struct graft_class *self, const struct graft_config *config,
                           const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    const struct graft_decoder_traits *traits = self->data;
    struct kept *kept = NULL;
    int status = read_config(config, traits, args, sink, &kept, error);
    if (status != GRAFT_OK) {
        return status;
    }
    const struct graft_decoder_config *decoder = &kept->config;
    const struct graft_arg embedding_args[] = {graft_int_arg("num_embeddings", decoder->vocab_size),
                                               graft_int_arg("embedding_dim", decoder->hidden_size)};
    status =
        graft_describe_child(sink, "embed_tokens", "Embedding", GRAFT_INTERFACE_EMBEDDING, embedding_args, 2, error);
    if (status == GRAFT_OK) {
        status = describe_layers(traits, decoder, args, sink, error);
    }
    if (status == GRAFT_OK) {
        status =
            graft_describe_norm(sink, "norm", traits->rms_norm, decoder->hidden_size, decoder->rms_norm_eps, error);
    }
    if (status == GRAFT_OK) {
        status =
            graft_describe_child(sink, "rotary_emb", traits->rotary_embedding, GRAFT_INTERFACE_ROTARY, NULL, 0, error);
    }
    return status;
}

int graft_decoder_create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                         struct graft_error *error) {
    const struct kept *kept = build->kept;
    const struct graft_decoder_config *decoder = &kept->config;
    int status = GRAFT_OK;
    (void)cls;
    size_t layers = (size_t)decoder->num_hidden_layers;
    struct decoder *self = graft_instance_new(build, sizeof *self + layers * sizeof self->layers[0], error);
    if (self == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    self->hidden_size = decoder->hidden_size;
    self->head_dim = decoder->head_dim;
    self->n_layers = decoder->num_hidden_layers;
    self->embed_tokens = graft_build_child(build, "embed_tokens", &status, error);
    self->norm = graft_build_child(build, "norm", &status, error);
    self->rotary_emb = graft_build_child(build, "rotary_emb", &status, error);
    for (int64_t i = 0; i < self->n_layers; i++) {
        char name[MAX_NAME];
        layer_name(i, name);
        self->layers[i].module = graft_build_child(build, name, &status, error);
        self->layers[i].mask = (struct graft_mask){
            .struct_size = sizeof(struct graft_mask),
            .kind = kept->windows[i] > 0 ? GRAFT_MASK_SLIDING : GRAFT_MASK_CAUSAL,
            .window = kept->windows[i],
        };
    }
    return graft_instance_finish(self, status, instance);
}

/* hidden [tokens, hidden_size] through all layers. */
static int run_layers(const struct decoder *self, const struct graft_call *call, const struct graft_batch *batch,
                      float *hidden, struct graft_error *error) {
    float *cosines = graft_scratch_floats(call, batch->tokens, self->head_dim, error); /* [tokens, head_dim] */
    float *sines = graft_scratch_floats(call, batch->tokens, self->head_dim, error);   /* [tokens, head_dim] */
    const struct graft_rotary_args rotary_args = {sizeof rotary_args, 0, batch, self->head_dim, cosines, sines};
    if (cosines == NULL || sines == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    int status = graft_rotary_forward(self->rotary_emb, call, &rotary_args, error);
    for (int64_t i = 0; i < self->n_layers && status == GRAFT_OK; i++) {
        const struct layer *layer = &self->layers[i];
        const struct graft_decoder_layer_args args = {sizeof args, 0, batch, hidden, cosines, sines, &layer->mask};
        status = graft_decoder_layer_forward(layer->module, call, &args, error);
    }
    return status;
}

static int forward(void *instance, const struct graft_call *call, const struct graft_base_model_args *args,
                   struct graft_error *error) {
    const struct decoder *self = instance;
    int64_t tokens = args->batch->tokens;
    float *hidden = graft_scratch_floats(call, tokens, self->hidden_size, error); /* [tokens, hidden_size] */
    const struct graft_embedding_args embedding_args = {sizeof embedding_args, 0, tokens, args->input_ids, hidden};
    const struct graft_norm_args norm_args = {sizeof norm_args, 0, tokens, hidden, NULL, args->last_hidden_state};
    if (hidden == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    int status = graft_embedding_forward(self->embed_tokens, call, &embedding_args, error);
    for (int64_t i = 0; i < args->n_embeddings && status == GRAFT_OK; i++) {
        memcpy(hidden + args->embedding_rows[i] * self->hidden_size, args->embeddings + i * self->hidden_size,
               (size_t)self->hidden_size * sizeof *hidden);
    }
    if (status == GRAFT_OK) {
        status = run_layers(self, call, args->batch, hidden, error);
    }
    return status == GRAFT_OK ? graft_norm_forward(self->norm, call, &norm_args, error) : status;
}

const struct graft_base_model graft_decoder_vtable = {
    .struct_size = sizeof graft_decoder_vtable,
    .forward = forward,
};
