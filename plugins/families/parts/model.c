/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "graft/describe.h"
#include "parts.h"

enum { MAX_NAME = 64 };

struct kept {
    struct parts_sizes sizes;
    int64_t rotary_width; /* of each head; 0 without rotary positions */
};

struct model {
    const struct graft_module *embeddings;
    const struct graft_module *position_embeddings; /* NULL: none */
    const struct graft_module *rotary_emb;          /* NULL: none */
    const struct graft_module *norm;
    int64_t hidden_size;
    int64_t rotary_width;
    int64_t n_layers;
    const struct graft_module *layers[]; /* [n_layers] */
};

static void layer_name(const struct parts_model *names, int64_t layer, char name[MAX_NAME]) {
    (void)snprintf(name, MAX_NAME, "%s.%lld", names->layers, (long long)layer);
}

static int describe_embedding(const struct graft_sink *sink, const char *name, int64_t rows, int64_t columns,
                              struct graft_error *error) {
    const struct graft_arg args[] = {graft_int_arg("num_embeddings", rows), graft_int_arg("embedding_dim", columns)};
    return graft_describe_child(sink, name, "Embedding", GRAFT_INTERFACE_EMBEDDING, args, 2, error);
}

/* Layers are given all that attention, MLP and norms need. */
static int describe_layers(const struct parts_model *names, const struct parts_sizes *sizes,
                           const struct graft_sink *sink, struct graft_error *error) {
    int status = GRAFT_OK;
    for (int64_t i = 0; i < sizes->num_hidden_layers && status == GRAFT_OK; i++) {
        char name[MAX_NAME];
        const struct graft_arg args[] = {
            graft_int_arg("layer_idx", i),
            graft_int_arg("hidden_size", sizes->hidden_size),
            graft_int_arg("intermediate_size", sizes->intermediate_size),
            graft_int_arg("num_attention_heads", sizes->num_attention_heads),
            graft_int_arg("num_key_value_heads", sizes->num_attention_heads),
            graft_int_arg("head_dim", sizes->hidden_size / sizes->num_attention_heads),
            graft_int_arg("qkv_bias", sizes->attention_bias),
            graft_int_arg("o_proj_bias", sizes->attention_bias),
            graft_int_arg("mlp_bias", 1),
            graft_string_arg("hidden_act", sizes->hidden_act),
            graft_real_arg("eps", sizes->layer_norm_eps),
        };
        layer_name(names, i, name);
        status = graft_describe_child(sink, name, names->layer_class, GRAFT_INTERFACE_DECODER_LAYER, args,
                                      (int32_t)(sizeof args / sizeof args[0]), error);
    }
    return status;
}

static int read_config(const struct graft_config *config, const struct parts_model *names,
                       const struct graft_host *host, struct kept *kept, struct graft_error *error) {
    int status = parts_read_sizes(config, &kept->sizes, error);
    return status == GRAFT_OK && names->rotary != NULL
               ? parts_rotary_width(names->rotary, config, host, &kept->rotary_width, error)
               : status;
}

int parts_model_describe(const struct graft_class *self, const struct graft_config *config,
                         const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    const struct parts_model *names = self->data;
    struct kept *kept = sink->keep(sink->data, sizeof *kept, error);
    (void)args;
    int status = kept != NULL ? read_config(config, names, sink->host, kept, error) : GRAFT_ERROR_INTERNAL;
    if (status != GRAFT_OK) {
        return status;
    }
    const struct parts_sizes *sizes = &kept->sizes;
    status = describe_embedding(sink, names->embeddings, sizes->vocab_size, sizes->hidden_size, error);
    if (status == GRAFT_OK && names->position_embeddings != NULL) {
        status = describe_embedding(sink, names->position_embeddings, sizes->max_position_embeddings,
                                    sizes->hidden_size, error);
    }
    if (status == GRAFT_OK) {
        status = describe_layers(names, sizes, sink, error);
    }
    if (status == GRAFT_OK) {
        status = graft_describe_layer_norm(sink, names->norm, sizes->hidden_size, sizes->layer_norm_eps, error);
    }
    return status == GRAFT_OK && names->rotary != NULL
               ? graft_describe_child(sink, "rotary_emb", names->rotary->class_name, GRAFT_INTERFACE_ROTARY, NULL, 0,
                                      error)
               : status;
}

int parts_model_create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                       struct graft_error *error) {
    const struct parts_model *names = cls->data;
    const struct kept *kept = build->kept;
    size_t n_layers = (size_t)kept->sizes.num_hidden_layers;
    struct model *self = calloc(1, sizeof *self + n_layers * sizeof(const struct graft_module *));
    int status = GRAFT_OK;
    if (self == NULL) {
        return graft_fail_memory(error, build->path);
    }
    self->hidden_size = kept->sizes.hidden_size;
    self->rotary_width = kept->rotary_width;
    self->n_layers = kept->sizes.num_hidden_layers;
    self->embeddings = graft_build_child(build, names->embeddings, &status, error);
    self->norm = graft_build_child(build, names->norm, &status, error);
    if (names->position_embeddings != NULL) {
        self->position_embeddings = graft_build_child(build, names->position_embeddings, &status, error);
    }
    if (names->rotary != NULL) {
        self->rotary_emb = graft_build_child(build, "rotary_emb", &status, error);
    }
    for (int64_t i = 0; i < self->n_layers; i++) {
        char name[MAX_NAME];
        layer_name(names, i, name);
        self->layers[i] = graft_build_child(build, name, &status, error);
    }
    if (status != GRAFT_OK) {
        free(self);
        return status;
    }
    *instance = self;
    return GRAFT_OK;
}

/* hidden_states [tokens, hidden_size] += position_embeddings. The host keeps positions below the root's
 * `max_positions`. */
static int add_positions(const struct model *self, const struct graft_call *call, const struct graft_batch *batch,
                         float *hidden_states, struct graft_error *error) {
    int32_t *ids = graft_scratch_ints(call, batch->tokens, error);
    float *embedded = graft_scratch_floats(call, batch->tokens, self->hidden_size, error); /* [tokens, hidden_size] */
    const struct graft_embedding_args args = {sizeof args, 0, batch->tokens, ids, embedded};
    if (ids == NULL || embedded == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    for (int64_t t = 0; t < batch->tokens; t++) {
        ids[t] = (int32_t)batch->positions[t];
    }
    int status = graft_embedding_forward(self->position_embeddings, call, &args, error);
    return status == GRAFT_OK
               ? call->kernels->add(call, hidden_states, embedded, batch->tokens * self->hidden_size, error)
               : status;
}

/* hidden_states [tokens, hidden_size] through all layers. */
static int run_layers(const struct model *self, const struct graft_call *call, const struct graft_batch *batch,
                      float *hidden_states, struct graft_error *error) {
    const struct graft_mask mask = {.struct_size = sizeof mask, .kind = GRAFT_MASK_CAUSAL};
    struct graft_decoder_layer_args args = {
        .struct_size = sizeof args, .batch = batch, .hidden_states = hidden_states, .mask = &mask};
    int status = GRAFT_OK;
    if (self->rotary_emb != NULL) {
        float *cosines =
            graft_scratch_floats(call, batch->tokens, self->rotary_width, error); /* [tokens, rotary_width] */
        float *sines =
            graft_scratch_floats(call, batch->tokens, self->rotary_width, error); /* [tokens, rotary_width] */
        const struct graft_rotary_args rotary_args = {sizeof rotary_args, 0, batch, self->rotary_width, cosines, sines};
        args.cos = cosines;
        args.sin = sines;
        status = cosines != NULL && sines != NULL ? graft_rotary_forward(self->rotary_emb, call, &rotary_args, error)
                                                  : GRAFT_ERROR_INTERNAL;
    }
    for (int64_t i = 0; i < self->n_layers && status == GRAFT_OK; i++) {
        status = graft_decoder_layer_forward(self->layers[i], call, &args, error);
    }
    return status;
}

static int forward(void *instance, const struct graft_call *call, const struct graft_base_model_args *args,
                   struct graft_error *error) {
    const struct model *self = instance;
    int64_t tokens = args->batch->tokens;
    float *hidden_states = graft_scratch_floats(call, tokens, self->hidden_size, error); /* [tokens, hidden_size] */
    const struct graft_embedding_args embedding_args = {sizeof embedding_args, 0, tokens, args->input_ids,
                                                        hidden_states};
    const struct graft_norm_args norm_args = {sizeof norm_args, 0,    tokens,
                                              hidden_states,    NULL, args->last_hidden_state};
    int status = hidden_states != NULL ? graft_embedding_forward(self->embeddings, call, &embedding_args, error)
                                       : GRAFT_ERROR_INTERNAL;
    if (status == GRAFT_OK && self->position_embeddings != NULL) {
        status = add_positions(self, call, args->batch, hidden_states, error);
    }
    if (status == GRAFT_OK) {
        status = run_layers(self, call, args->batch, hidden_states, error);
    }
    return status == GRAFT_OK ? graft_norm_forward(self->norm, call, &norm_args, error) : status;
}

const struct graft_base_model parts_model_vtable = {
    .struct_size = sizeof parts_model_vtable,
    .forward = forward,
};
