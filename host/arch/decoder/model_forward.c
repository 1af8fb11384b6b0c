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
static void find_angles(const struct graft_decoder_model *self, const struct graft_pass *pass,
                        const struct graft_batch *batch, struct angles *angles) {
    for (int32_t type = 0; type < self->n_rotary_kinds; type++) {
        const int64_t width = self->rotary_widths[type];
        if (width == 0 || self->rotary_emb == NULL || (type > 0 && !self->typed_rotary)) {
            continue;
        }
        angles[type] = (struct angles){graft_pass_floats(pass, width), graft_pass_floats(pass, width)};
        const struct graft_rotary_args args = {
            .struct_size = sizeof args,
            .required_features = self->typed_rotary ? GRAFT_ROTARY_LAYER_TYPES : 0,
            .batch = batch,
            .head_dim = width,
            .cos = angles[type].cos,
            .sin = angles[type].sin,
            .layer_type = type,
        };
        if (graft_pass_ok(pass)) {
            (void)graft_rotary_forward(self->rotary_emb, pass->call, &args, pass->error);
        }
    }
}

/* Adds the tower's vectors for layer `layer` (deepstack), if any, to the hidden states of image and video tokens after
 * that layer. */
static void add_deepstack(const struct graft_decoder_model *self, const struct graft_pass *pass,
                          const struct graft_base_model_args *args, int64_t layer, float *hidden_states) {
    const struct graft_pass one = {pass->call, 1, pass->error};
    const int64_t width = self->hidden_size;
    if (!GRAFT_HAS(args, struct graft_base_model_args, n_deepstack) || layer >= args->n_deepstack) {
        return;
    }
    const float *added = args->deepstack + layer * args->n_embeddings * width;
    for (int64_t i = 0; i < args->n_embeddings; i++) {
        graft_pass_add(&one, hidden_states + args->embedding_rows[i] * width, added + i * width, width);
    }
}

/* What the layers of one forward share. */
struct run {
    const struct graft_base_model_args *args;
    const float *inputs; /* [tokens, layers, size]: further inputs of layers; NULL: none */
    struct angles angles[GRAFT_ROTARY_KINDS];
    struct graft_mask biased; /* with relative biases, for all layers */
    struct graft_block_masks opened;
    struct graft_shared_keys *shared; /* [layers] */
};

static void run_layer(const struct graft_decoder_model *self, const struct graft_pass *pass, struct run *run, int64_t i,
                      float *hidden_states) {
    const struct graft_model_layer *layer = &self->layers[i];
    const struct graft_batch *batch = run->args->batch;
    const struct angles own = layer->uses_rotary ? run->angles[layer->type] : (struct angles){NULL, NULL};
    const int shares = layer->sharing.kv_layer >= 0;
    const struct graft_decoder_layer_args args = {
        .struct_size = sizeof args,
        .required_features = (run->inputs != NULL ? (uint32_t)GRAFT_DECODER_LAYER_INPUT : 0) |
                             (self->streams.count > 0 ? (uint32_t)GRAFT_DECODER_LAYER_STREAMS : 0) |
                             (shares ? (uint32_t)GRAFT_DECODER_LAYER_SHARED_KEYS : 0),
        .batch = batch,
        .hidden_states = hidden_states,
        .cos = own.cos,
        .sin = own.sin,
        .mask = self->relative.table != NULL
                    ? &run->biased
                    : graft_block_mask(&run->opened, pass->call, batch, &layer->mask, pass->error),
        .layer_input = run->inputs != NULL ? run->inputs + i * self->layer_inputs.size : NULL,
        .layer_input_stride = self->layer_inputs.layers * self->layer_inputs.size,
        .shared_keys = shares ? &run->shared[layer->sharing.kv_layer] : NULL,
    };
    if (graft_pass_ok(pass)) {
        (void)graft_decoder_layer_forward(layer->module, pass->call, &args, pass->error);
    }
    add_deepstack(self, pass, run->args, i, hidden_states);
}

/* Runs hidden_states [tokens, hidden_size], or several streams of them, through all layers. */
static void run_layers(const struct graft_decoder_model *self, const struct graft_pass *pass,
                       const struct graft_base_model_args *args, const float *inputs, float *hidden_states) {
    struct run run = {
        .args = args,
        .inputs = inputs,
        .opened = {.blocks = (args->required_features & GRAFT_BASE_MODEL_BLOCKS) != 0 ? args->blocks : NULL}};
    if (self->shares_keys) {
        run.shared = graft_scratch_zeroed(pass->call, self->n_layers * (int64_t)sizeof *run.shared, pass->error);
        for (int64_t i = 0; graft_pass_ok(pass) && i < self->n_layers; i++) {
            graft_sharing_make(&self->layers[i].sharing, i, pass, &run.shared[i]);
        }
    }
    find_angles(self, pass, args->batch, run.angles);
    if (self->relative.table != NULL) {
        run.biased = self->layers[0].mask;
        graft_relative_fill(&self->relative, pass, &run.biased);
    }
    for (int64_t i = 0; graft_pass_ok(pass) && i < self->n_layers; i++) {
        run_layer(self, pass, &run, i, hidden_states);
    }
}

/* Computes last_hidden_state [tokens, output_size] from x, the output of the last layer. */
static void finish(const struct graft_decoder_model *self, const struct graft_pass *pass, float *x,
                   float *last_hidden_state) {
    if (self->norm != NULL && self->project_out == NULL) {
        graft_pass_norm(pass, self->norm, x, NULL, last_hidden_state);
        return;
    }
    x = graft_pass_normed(pass, self->norm, x, self->hidden_size);
    if (self->project_out != NULL) {
        graft_pass_linear(pass, self->project_out, x, last_hidden_state);
    } else if (graft_pass_ok(pass)) {
        memcpy(last_hidden_state, x, (size_t)(pass->rows * self->output_size) * sizeof *x);
    }
}

/* output [sequences, output_size]: the pooler's vector of each sequence, of its first token. */
static void pool(const struct graft_decoder_model *self, const struct graft_pass *pass, const struct graft_batch *batch,
                 const float *hidden_states, float *output) {
    const struct graft_pass sequences = {pass->call, batch->sequences, pass->error};
    const int64_t width = self->output_size;
    float *first = graft_pass_floats(&sequences, width);
    for (int32_t s = 0; graft_pass_ok(pass) && s < batch->sequences; s++) {
        memcpy(first + s * width, hidden_states + batch->cu_seqlens[s] * width, (size_t)width * sizeof *first);
    }
    const float *x = graft_transform_run(&self->pooler, &sequences, first);
    if (graft_pass_ok(pass)) {
        memcpy(output, x, (size_t)(batch->sequences * width) * sizeof *x);
    }
}

static int forward(void *instance, const struct graft_call *call, const struct graft_base_model_args *args,
                   struct graft_error *error) {
    const struct graft_decoder_model *self = instance;
    const struct graft_pass pass = {call, args->batch->tokens, error};
    float *x = graft_inputs_forward(&self->inputs, &pass, args);
    const float *inputs = graft_layer_inputs_forward(&self->layer_inputs, &pass, args->input_ids, x);
    x = graft_streams_begin(&self->streams, &pass, x);
    run_layers(self, &pass, args, inputs, x);
    graft_streams_end(&self->streams, &pass, x);
    finish(self, &pass, x, args->last_hidden_state);
    if (self->pooler.dense != NULL && GRAFT_HAS(args, struct graft_base_model_args, pooler_output) &&
        args->pooler_output != NULL) {
        pool(self, &pass, args->batch, args->last_hidden_state, args->pooler_output);
    }
    return error->code;
}

const struct graft_base_model graft_decoder_model_vtable = {
    .struct_size = sizeof graft_decoder_model_vtable,
    .features = GRAFT_BASE_MODEL_DEEPSTACK | GRAFT_BASE_MODEL_BLOCKS,
    .forward = forward,
};
