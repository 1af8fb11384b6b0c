/* SPDX-License-Identifier: Apache-2.0 */
/* The model without its head: embeddings, layers, a last norm. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graft/base_model.h"
#include "graft/decoder_layer.h"
#include "graft/describe.h"
#include "mamba2.h"

enum { MAX_NAME = 32 };

struct model {
    const struct graft_module *embeddings;
    const struct graft_module *norm_f;
    int64_t hidden_size;
    int64_t n_layers;
    const struct graft_module *layers[]; /* [n_layers] */
};

static void layer_name(int64_t layer, char name[MAX_NAME]) {
    (void)snprintf(name, MAX_NAME, "layers.%lld", (long long)layer);
}

int mamba2_model_describe(const struct graft_class *cls, const struct graft_config *config,
                          const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    const struct mamba2_sizes *sizes;
    (void)cls;
    (void)args;
    int status = mamba2_sizes_keep(config, sink, &sizes, error);
    if (status != GRAFT_OK) {
        return status;
    }
    const struct graft_arg embedding_args[] = {graft_int_arg("num_embeddings", sizes->vocab_size),
                                               graft_int_arg("embedding_dim", sizes->hidden_size)};
    status = graft_describe_child(sink, "embeddings", "Embedding", GRAFT_INTERFACE_EMBEDDING, embedding_args, 2, error);
    for (int64_t i = 0; i < sizes->num_hidden_layers && status == GRAFT_OK; i++) {
        char name[MAX_NAME];
        const struct graft_arg layer_args[] = {graft_int_arg("layer_idx", i),
                                               graft_int_arg("hidden_size", sizes->hidden_size),
                                               graft_real_arg("eps", sizes->layer_norm_epsilon)};
        layer_name(i, name);
        status = graft_describe_child(sink, name, "Mamba2Block", GRAFT_INTERFACE_DECODER_LAYER, layer_args, 3, error);
    }
    return status == GRAFT_OK ? graft_describe_norm(sink, "norm_f", "Mamba2RMSNorm", sizes->hidden_size,
                                                    sizes->layer_norm_epsilon, error)
                              : status;
}

int mamba2_model_create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                        struct graft_error *error) {
    const struct mamba2_sizes *sizes = build->kept;
    struct model *self = calloc(1, sizeof *self + (size_t)sizes->num_hidden_layers * sizeof(const void *));
    int status = GRAFT_OK;
    (void)cls;
    if (self == NULL) {
        return graft_fail_memory(error, build->path);
    }
    self->hidden_size = sizes->hidden_size;
    self->n_layers = sizes->num_hidden_layers;
    self->embeddings = graft_build_child(build, "embeddings", &status, error);
    self->norm_f = graft_build_child(build, "norm_f", &status, error);
    for (int64_t i = 0; i < self->n_layers; i++) {
        char name[MAX_NAME];
        layer_name(i, name);
        self->layers[i] = graft_build_child(build, name, &status, error);
    }
    if (status != GRAFT_OK) {
        free(self);
        return status;
    }
    *instance = self;
    return GRAFT_OK;
}

static int forward(void *instance, const struct graft_call *call, const struct graft_base_model_args *args,
                   struct graft_error *error) {
    const struct model *self = instance;
    int64_t tokens = args->batch->tokens;
    float *hidden_states = graft_scratch_floats(call, tokens, self->hidden_size, error); /* [tokens, hidden_size] */
    const struct graft_embedding_args embedding_args = {sizeof embedding_args, 0, tokens, args->input_ids,
                                                        hidden_states};
    const struct graft_decoder_layer_args layer_args = {
        .struct_size = sizeof layer_args, .batch = args->batch, .hidden_states = hidden_states};
    const struct graft_norm_args norm_args = {sizeof norm_args, 0,    tokens,
                                              hidden_states,    NULL, args->last_hidden_state};
    if (hidden_states == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    int status = graft_embedding_forward(self->embeddings, call, &embedding_args, error);
    for (int64_t i = 0; i < args->n_embeddings && status == GRAFT_OK; i++) {
        memcpy(hidden_states + args->embedding_rows[i] * self->hidden_size, args->embeddings + i * self->hidden_size,
               (size_t)self->hidden_size * sizeof *hidden_states);
    }
    for (int64_t i = 0; i < self->n_layers && status == GRAFT_OK; i++) {
        status = graft_decoder_layer_forward(self->layers[i], call, &layer_args, error);
    }
    return status == GRAFT_OK ? graft_norm_forward(self->norm_f, call, &norm_args, error) : status;
}

const struct graft_base_model mamba2_model_vtable = {.struct_size = sizeof mamba2_model_vtable, .forward = forward};
