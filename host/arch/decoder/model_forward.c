/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "arch/decoder/model.h"
#include "arch/role.h"

/* hidden_states [tokens, hidden_size] += learned positions. The host keeps positions below the root's `max_positions`.
 */
static int add_positions(const struct graft_decoder_model *self, const struct graft_call *call,
                         const struct graft_batch *batch, float *hidden_states, struct graft_error *error) {
    int32_t *ids = graft_scratch_ints(call, batch->tokens, error);
    float *embedded = graft_scratch_floats(call, batch->tokens, self->hidden_size, error); /* [tokens, hidden_size] */
    const struct graft_embedding_args args = {sizeof args, 0, batch->tokens, ids, embedded};
    if (ids == NULL || embedded == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    for (int64_t t = 0; t < batch->tokens; t++) {
        ids[t] = (int32_t)(batch->positions[t] + self->position_offset);
    }
    int status = graft_embedding_forward(self->positions, call, &args, error);
    return status == GRAFT_OK
               ? call->kernels->add(call, hidden_states, embedded, batch->tokens * self->hidden_size, error)
               : status;
}

/* *x [tokens, from] becomes its product with `linear` [to, from], in scratch memory; nothing happens without one. */
static int project(const struct graft_module *linear, const struct graft_call *call, int64_t tokens, int64_t to,
                   float **x, struct graft_error *error) {
    if (linear == NULL) {
        return GRAFT_OK;
    }
    float *projected = graft_scratch_floats(call, tokens, to, error);
    const struct graft_linear_args args = {sizeof args, 0, tokens, *x, projected};
    if (projected == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    *x = projected;
    return graft_linear_forward(linear, call, &args, error);
}

/* The same of a norm of `width` numbers. */
static int norm(const struct graft_module *module, const struct graft_call *call, int64_t tokens, int64_t width,
                float **x, struct graft_error *error) {
    if (module == NULL) {
        return GRAFT_OK;
    }
    float *normed = graft_scratch_floats(call, tokens, width, error);
    const struct graft_norm_args args = {sizeof args, 0, tokens, *x, NULL, normed};
    if (normed == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    *x = normed;
    return graft_norm_forward(module, call, &args, error);
}

/* *hidden_states [tokens, hidden_size] = embeddings, of the tokens or as they were given. */
static int embed(const struct graft_decoder_model *self, const struct graft_call *call,
                 const struct graft_base_model_args *args, float **hidden_states, struct graft_error *error) {
    const int64_t tokens = args->batch->tokens;
    float *x = graft_scratch_floats(call, tokens, self->embedding_size, error);
    const struct graft_embedding_args embedding_args = {sizeof embedding_args, 0, tokens, args->input_ids, x};
    if (x == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    int status = graft_embedding_forward(self->embeddings, call, &embedding_args, error);
    for (int64_t i = 0; i < args->n_embeddings && status == GRAFT_OK; i++) {
        memcpy(x + args->embedding_rows[i] * self->embedding_size, args->embeddings + i * self->embedding_size,
               (size_t)self->embedding_size * sizeof *x);
    }
    for (int64_t i = 0; self->embedding_scale != 1.0f && i < tokens * self->embedding_size; i++) {
        x[i] *= self->embedding_scale;
    }
    if (status == GRAFT_OK) {
        status = project(self->project_in, call, tokens, self->hidden_size, &x, error);
    }
    if (status == GRAFT_OK) {
        status = norm(self->embedding_norm, call, tokens, self->hidden_size, &x, error);
    }
    *hidden_states = x;
    return status == GRAFT_OK && self->positions != NULL ? add_positions(self, call, args->batch, x, error) : status;
}

/* The angles of a batch, NULL without rotary positions. */
struct angles {
    float *cos; /* [tokens, width of the type] */
    float *sin; /* likewise */
};

/* angles [GRAFT_ROTARY_KINDS] */
static int find_angles(const struct graft_decoder_model *self, const struct graft_call *call,
                       const struct graft_batch *batch, struct angles *angles, struct graft_error *error) {
    int status = GRAFT_OK;
    for (int32_t type = 0; type < GRAFT_ROTARY_KINDS && self->rotary_emb != NULL && status == GRAFT_OK; type++) {
        const int64_t width = self->rotary_widths[type];
        if (width == 0 || (type > 0 && !self->typed_rotary)) {
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

/* hidden_states [tokens, hidden_size] through all layers. */
static int run_layers(const struct graft_decoder_model *self, const struct graft_call *call,
                      const struct graft_batch *batch, float *hidden_states, struct graft_error *error) {
    struct angles angles[GRAFT_ROTARY_KINDS] = {{NULL, NULL}};
    int status = find_angles(self, call, batch, angles, error);
    for (int64_t i = 0; i < self->n_layers && status == GRAFT_OK; i++) {
        const struct graft_model_layer *layer = &self->layers[i];
        const struct angles own = layer->uses_rotary ? angles[layer->type] : (struct angles){NULL, NULL};
        const struct graft_decoder_layer_args args = {sizeof args, 0,       batch,       hidden_states,
                                                      own.cos,     own.sin, &layer->mask};
        status = graft_decoder_layer_forward(layer->module, call, &args, error);
    }
    return status;
}

static int forward(void *instance, const struct graft_call *call, const struct graft_base_model_args *args,
                   struct graft_error *error) {
    const struct graft_decoder_model *self = instance;
    const int64_t tokens = args->batch->tokens;
    float *x;
    int status = embed(self, call, args, &x, error);
    if (status == GRAFT_OK) {
        status = run_layers(self, call, args->batch, x, error);
    }
    if (status == GRAFT_OK && self->norm != NULL && self->project_out == NULL) {
        const struct graft_norm_args norm_args = {sizeof norm_args, 0, tokens, x, NULL, args->last_hidden_state};
        return graft_norm_forward(self->norm, call, &norm_args, error);
    }
    if (status == GRAFT_OK) {
        status = norm(self->norm, call, tokens, self->hidden_size, &x, error);
    }
    if (status == GRAFT_OK) {
        status = project(self->project_out, call, tokens, self->embedding_size, &x, error);
    }
    if (status == GRAFT_OK) {
        memcpy(args->last_hidden_state, x, (size_t)(tokens * self->embedding_size) * sizeof *x);
    }
    return status;
}

const struct graft_base_model graft_decoder_model_vtable = {
    .struct_size = sizeof graft_decoder_model_vtable,
    .forward = forward,
};
