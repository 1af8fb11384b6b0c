/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "arch/decoder/blocks.h"
#include "arch/decoder/model.h"
#include "arch/role.h"

/* The rotary angles of a batch; NULL without rotary positions. */
struct angles {
    float *cos; /* [tokens, width of the kind] */
    float *sin; /* likewise */
};

/* angles [n_rotary_kinds] */
static int find_angles(const struct graft_decoder_model *self, const struct graft_call *call,
                       const struct graft_batch *batch, struct angles *angles, struct graft_error *error) {
    int status = GRAFT_OK;
    for (int32_t type = 0; type < self->n_rotary_kinds && status == GRAFT_OK; type++) {
        const int64_t width = self->rotary_widths[type];
        angles[type] = (struct angles){NULL, NULL};
        if (width == 0 || self->rotary_emb == NULL || (type > 0 && !self->typed_rotary)) {
            continue;
        }
        angles[type].cos = graft_scratch_floats(call, batch->tokens, width, error);
        angles[type].sin = graft_scratch_floats(call, batch->tokens, width, error);
        const struct graft_rotary_args args = {
            .struct_size = sizeof args,
            .required_features = self->typed_rotary ? GRAFT_ROTARY_LAYER_TYPES : 0,
            .batch = batch,
            .head_dim = width,
            .cos = angles[type].cos,
            .sin = angles[type].sin,
            .layer_type = type,
        };
        status = args.cos != NULL && args.sin != NULL ? graft_rotary_forward(self->rotary_emb, call, &args, error)
                                                      : GRAFT_ERROR_INTERNAL;
    }
    return status;
}

/* Adds the tower's vectors for layer `layer` (deepstack), if any, to the hidden states of image and video tokens after
 * that layer. */
static int add_deepstack(const struct graft_decoder_model *self, const struct graft_call *call,
                         const struct graft_base_model_args *args, int64_t layer, float *hidden_states,
                         struct graft_error *error) {
    const int64_t width = self->hidden_size;
    int status = GRAFT_OK;
    if (!GRAFT_HAS(args, struct graft_base_model_args, n_deepstack) || layer >= args->n_deepstack) {
        return GRAFT_OK;
    }
    const float *added = args->deepstack + layer * args->n_embeddings * width;
    for (int64_t i = 0; i < args->n_embeddings && status == GRAFT_OK; i++) {
        status =
            call->kernels->add(call, hidden_states + args->embedding_rows[i] * width, added + i * width, width, error);
    }
    return status;
}

/* Runs hidden_states [tokens, hidden_size], or several streams of them, through all layers. `inputs` [tokens, layers,
 * size] are the layers' further inputs; NULL: none. */
static int run_layers(const struct graft_decoder_model *self, const struct graft_call *call,
                      const struct graft_base_model_args *model_args, const float *inputs, float *hidden_states,
                      struct graft_error *error) {
    struct angles angles[GRAFT_ROTARY_KINDS];
    struct graft_mask biased = {0};
    struct graft_block_masks opened = {
        .blocks = (model_args->required_features & GRAFT_BASE_MODEL_BLOCKS) != 0 ? model_args->blocks : NULL};
    int status = find_angles(self, call, model_args->batch, angles, error);
    const uint32_t features = (inputs != NULL ? (uint32_t)GRAFT_DECODER_LAYER_INPUT : 0) |
                              (self->streams.count > 0 ? (uint32_t)GRAFT_DECODER_LAYER_STREAMS : 0);
    struct graft_shared_keys *shared = graft_scratch_zeroed(call, self->n_layers * (int64_t)sizeof *shared, error);
    status = shared != NULL ? status : GRAFT_ERROR_INTERNAL;
    for (int64_t i = 0; i < self->n_layers && status == GRAFT_OK; i++) {
        status = graft_sharing_make(&self->layers[i].sharing, i, call, model_args->batch->tokens, &shared[i], error);
    }
    if (status == GRAFT_OK && self->relative_table != NULL) {
        biased = self->layers[0].mask;
        status = graft_relative_fill(&self->relative, self->relative_table, call, &biased, error);
    }
    for (int64_t i = 0; i < self->n_layers && status == GRAFT_OK; i++) {
        const struct graft_model_layer *layer = &self->layers[i];
        const struct graft_mask *mask = self->relative_table != NULL
                                            ? &biased
                                            : graft_block_mask(&opened, call, model_args->batch, &layer->mask, error);
        if (mask == NULL) {
            return GRAFT_ERROR_INTERNAL;
        }
        const struct angles own = layer->uses_rotary ? angles[layer->type] : (struct angles){NULL, NULL};
        const int shares = layer->sharing.kv_layer >= 0;
        const struct graft_decoder_layer_args args = {
            .struct_size = sizeof args,
            .required_features = features | (shares ? (uint32_t)GRAFT_DECODER_LAYER_SHARED_KEYS : 0),
            .batch = model_args->batch,
            .hidden_states = hidden_states,
            .cos = own.cos,
            .sin = own.sin,
            .mask = mask,
            .layer_input = inputs != NULL ? inputs + i * self->layer_inputs.size : NULL,
            .layer_input_stride = self->layer_inputs.layers * self->layer_inputs.size,
            .shared_keys = shares ? &shared[layer->sharing.kv_layer] : NULL,
        };
        status = graft_decoder_layer_forward(layer->module, call, &args, error);
        if (status == GRAFT_OK) {
            status = add_deepstack(self, call, model_args, i, hidden_states, error);
        }
    }
    return status;
}

/* Computes last_hidden_state [tokens, output_size] from x, the output of the last layer. */
static int finish(const struct graft_decoder_model *self, const struct graft_call *call, int64_t tokens, float *x,
                  float *last_hidden_state, struct graft_error *error) {
    if (self->norm != NULL && self->project_out == NULL) {
        const struct graft_norm_args norm_args = {sizeof norm_args, 0, tokens, x, NULL, last_hidden_state};
        return graft_norm_forward(self->norm, call, &norm_args, error);
    }
    int status = graft_inputs_norm(self->norm, call, tokens, self->hidden_size, &x, error);
    if (status == GRAFT_OK) {
        status = graft_inputs_project(self->project_out, call, tokens, self->output_size, &x, error);
    }
    if (status == GRAFT_OK) {
        memcpy(last_hidden_state, x, (size_t)(tokens * self->output_size) * sizeof *x);
    }
    return status;
}

static int forward(void *instance, const struct graft_call *call, const struct graft_base_model_args *args,
                   struct graft_error *error) {
    const struct graft_decoder_model *self = instance;
    float *x, *inputs = NULL;
    int status = graft_inputs_forward(&self->inputs, call, args, &x, error);
    if (status == GRAFT_OK) {
        status = graft_layer_inputs_forward(&self->layer_inputs, call, args->batch->tokens, args->input_ids, x, &inputs,
                                            error);
    }
    if (status == GRAFT_OK) {
        status = graft_streams_begin(&self->streams, call, args->batch->tokens, &x, error);
    }
    if (status == GRAFT_OK) {
        status = run_layers(self, call, args, inputs, x, error);
    }
    if (status == GRAFT_OK) {
        status = graft_streams_end(&self->streams, call, args->batch->tokens, x, error);
    }
    if (status == GRAFT_OK) {
        status = finish(self, call, args->batch->tokens, x, args->last_hidden_state, error);
    }
    return status == GRAFT_OK && self->pooler.dense != NULL &&
                   GRAFT_HAS(args, struct graft_base_model_args, pooler_output) && args->pooler_output != NULL
               ? graft_pooler_forward(&self->pooler, call, args->batch, args->last_hidden_state, args->pooler_output,
                                      error)
               : status;
}

const struct graft_base_model graft_decoder_model_vtable = {
    .struct_size = sizeof graft_decoder_model_vtable,
    .features = GRAFT_BASE_MODEL_DEEPSTACK | GRAFT_BASE_MODEL_BLOCKS,
    .forward = forward,
};
