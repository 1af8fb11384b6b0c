/* SPDX-License-Identifier: Apache-2.0 */
/* A model without its head: embeddings, layers, and a final norm. */
#include <string.h>

#include "graft/describe.h"
#include "graft/parts.h"

enum { MAX_NAME = 64, MAX_LAYER_ARGS = 32 };

struct kept {
    struct graft_parts_model part;
    int64_t hidden_size;
    int64_t rotary_width;
    int32_t bidirectional;
    double embedding_scale; /* 0: none */
    int64_t n_layers;
    int64_t windows[]; /* [n_layers] */
};

struct layer {
    const struct graft_module *module;
    struct graft_mask mask;
};

struct model {
    struct graft_instance base;
    const struct graft_module *embeddings;
    const struct graft_module *position_embeddings; /* NULL: none */
    const struct graft_module *rotary_emb;          /* NULL: none */
    const struct graft_module *norm;
    int64_t hidden_size;
    int64_t rotary_width;
    float embedding_scale; /* 1: none */
    int64_t n_layers;
    struct layer layers[]; /* [n_layers] */
};

static void layer_name(const struct graft_parts_model *part, int64_t layer, char name[MAX_NAME]) {
    (void)snprintf(name, MAX_NAME, "%s.%lld", part->layers, (long long)layer);
}

static int keep(const struct graft_parts_model *part, const struct graft_parts_model_sizes *sizes,
                const struct graft_sink *sink, struct graft_error *error) {
    struct kept *kept = sink->keep(
        sink->data, (int64_t)sizeof *kept + sizes->num_hidden_layers * (int64_t)sizeof kept->windows[0], error);
    if (kept == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    kept->part = *part;
    kept->hidden_size = sizes->hidden_size;
    kept->rotary_width = sizes->rotary_width;
    kept->bidirectional = sizes->bidirectional;
    kept->embedding_scale = sizes->embedding_scale;
    kept->n_layers = sizes->num_hidden_layers;
    if (sizes->windows != NULL) {
        memcpy(kept->windows, sizes->windows, (size_t)kept->n_layers * sizeof kept->windows[0]);
    }
    return GRAFT_OK;
}

static int describe_norm(const struct graft_parts_model *part, const struct graft_parts_model_sizes *sizes,
                         const struct graft_sink *sink, struct graft_error *error) {
    const struct graft_arg args[] = {graft_int_arg("hidden_size", sizes->hidden_size),
                                     graft_real_arg("eps", sizes->eps), graft_int_arg("bias", 0)};
    return graft_describe_child(sink, part->norm, part->norm_class, GRAFT_INTERFACE_NORM, args,
                                part->norms_without_bias ? 3 : 2, error);
}

static int describe_layers(const struct graft_parts_model *part, const struct graft_parts_model_sizes *sizes,
                           const struct graft_sink *sink, struct graft_error *error) {
    struct graft_arg args[MAX_LAYER_ARGS];
    int32_t count = 1;
    for (int32_t i = 0; i < sizes->layer_args->count && count < MAX_LAYER_ARGS; i++) {
        args[count++] = *graft_args_at(sizes->layer_args, i);
    }
    if (part->norms_without_bias && count < MAX_LAYER_ARGS) {
        args[count++] = graft_int_arg("bias", 0);
    }
    for (int64_t i = 0; i < sizes->num_hidden_layers; i++) {
        char name[MAX_NAME];
        args[0] = graft_int_arg("layer_idx", i);
        layer_name(part, i, name);
        graft_describe_child(sink, name, part->layer_class, GRAFT_INTERFACE_DECODER_LAYER, args, count, error);
    }
    return error->code;
}

/* Declares the attributes that the host reads from a root (family.h), in case the model is one. */
static int describe_numbers(const struct graft_parts_model *part, const struct graft_parts_model_sizes *sizes,
                            const struct graft_sink *sink, struct graft_error *error) {
    graft_describe_number(sink, "vocab_size", sizes->vocab_size, error);
    graft_describe_number(sink, "hidden_size", sizes->hidden_size, error);
    if (part->position_embeddings != NULL) {
        graft_describe_number(sink, "max_positions", sizes->max_position_embeddings, error);
    }
    return error->code;
}

int graft_parts_model_declare(const struct graft_parts_model *part, const struct graft_parts_model_sizes *sizes,
                              const struct graft_sink *sink, struct graft_error *error) {
    keep(part, sizes, sink, error);
    describe_numbers(part, sizes, sink, error);
    graft_describe_embedding(sink, part->embeddings, "Embedding", sizes->vocab_size, sizes->hidden_size, error);
    if (part->position_embeddings != NULL) {
        graft_describe_embedding(sink, part->position_embeddings, "Embedding", sizes->max_position_embeddings,
                                 sizes->hidden_size, error);
    }
    describe_layers(part, sizes, sink, error);
    describe_norm(part, sizes, sink, error);
    if (part->rotary_class != NULL) {
        graft_describe_child(sink, "rotary_emb", part->rotary_class, GRAFT_INTERFACE_ROTARY, NULL, 0, error);
    }
    return error->code;
}

/* The attention mask of a layer; `window` 0: no window. */
static struct graft_mask mask_of(const struct kept *kept, int64_t window) {
    struct graft_mask mask = {.struct_size = sizeof mask};
    if (kept->bidirectional) {
        mask.kind = window > 0 ? GRAFT_MASK_WINDOW : GRAFT_MASK_NONE;
        mask.left = window;
        mask.right = window;
    } else {
        mask.kind = window > 0 ? GRAFT_MASK_SLIDING : GRAFT_MASK_CAUSAL;
        mask.window = window;
    }
    return mask;
}

int graft_parts_model_create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                             struct graft_error *error) {
    const struct kept *kept = build->kept;
    const struct graft_parts_model *part = &kept->part;
    (void)cls;
    struct model *self =
        graft_instance_new(build, sizeof *self + (size_t)kept->n_layers * sizeof self->layers[0], error);
    if (self == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    self->hidden_size = kept->hidden_size;
    self->rotary_width = kept->rotary_width;
    self->embedding_scale = kept->embedding_scale != 0.0 ? (float)kept->embedding_scale : 1.0f;
    self->n_layers = kept->n_layers;
    self->embeddings = graft_build_child(build, part->embeddings, error);
    self->norm = graft_build_child(build, part->norm, error);
    if (part->position_embeddings != NULL) {
        self->position_embeddings = graft_build_child(build, part->position_embeddings, error);
    }
    if (part->rotary_class != NULL) {
        self->rotary_emb = graft_build_child(build, "rotary_emb", error);
    }
    for (int64_t i = 0; i < self->n_layers; i++) {
        char name[MAX_NAME];
        layer_name(part, i, name);
        self->layers[i].module = graft_build_child(build, name, error);
        self->layers[i].mask = mask_of(kept, kept->windows[i]);
    }
    return graft_instance_finish(self, instance, error);
}

/* hidden_states [tokens, hidden_size] += position_embeddings. The host ensures that positions are below the root's
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

/* hidden_states [tokens, hidden_size] = embeddings of the tokens, or the embeddings that the caller passed. */
static int embed(const struct model *self, const struct graft_call *call, const struct graft_base_model_args *args,
                 float *hidden_states, struct graft_error *error) {
    const struct graft_embedding_args embedding_args = {sizeof embedding_args, 0, args->batch->tokens, args->input_ids,
                                                        hidden_states};
    int status = graft_embedding_forward(self->embeddings, call, &embedding_args, error);
    for (int64_t i = 0; i < args->n_embeddings && status == GRAFT_OK; i++) {
        memcpy(hidden_states + args->embedding_rows[i] * self->hidden_size, args->embeddings + i * self->hidden_size,
               (size_t)self->hidden_size * sizeof *hidden_states);
    }
    for (int64_t i = 0; self->embedding_scale != 1.0f && i < args->batch->tokens * self->hidden_size; i++) {
        hidden_states[i] *= self->embedding_scale;
    }
    return status == GRAFT_OK && self->position_embeddings != NULL
               ? add_positions(self, call, args->batch, hidden_states, error)
               : status;
}

/* Computes cos and sin [tokens, rotary_width] of a batch; NULL without rotary positions. */
static int find_angles(const struct model *self, const struct graft_call *call, const struct graft_batch *batch,
                       float **cos, float **sin, struct graft_error *error) {
    *cos = *sin = NULL;
    if (self->rotary_emb == NULL) {
        return GRAFT_OK;
    }
    *cos = graft_scratch_floats(call, batch->tokens, self->rotary_width, error);
    *sin = graft_scratch_floats(call, batch->tokens, self->rotary_width, error);
    const struct graft_rotary_args args = {
        .struct_size = sizeof args,
        .batch = batch,
        .head_dim = self->rotary_width,
        .cos = *cos,
        .sin = *sin,
    };
    return *cos != NULL && *sin != NULL ? graft_rotary_forward(self->rotary_emb, call, &args, error)
                                        : GRAFT_ERROR_INTERNAL;
}

/* Runs all layers on hidden_states [tokens, hidden_size]. */
static int run_layers(const struct model *self, const struct graft_call *call, const struct graft_batch *batch,
                      float *hidden_states, struct graft_error *error) {
    float *cos, *sin;
    int status = find_angles(self, call, batch, &cos, &sin, error);
    for (int64_t i = 0; i < self->n_layers && status == GRAFT_OK; i++) {
        const struct layer *layer = &self->layers[i];
        const struct graft_decoder_layer_args args = {
            .struct_size = sizeof args,
            .batch = batch,
            .hidden_states = hidden_states,
            .cos = cos,
            .sin = sin,
            .mask = &layer->mask,
        };
        status = graft_decoder_layer_forward(layer->module, call, &args, error);
    }
    return status;
}

static int forward(void *instance, const struct graft_call *call, const struct graft_base_model_args *args,
                   struct graft_error *error) {
    const struct model *self = instance;
    int64_t tokens = args->batch->tokens;
    float *hidden_states = graft_scratch_floats(call, tokens, self->hidden_size, error); /* [tokens, hidden_size] */
    const struct graft_norm_args norm_args = {sizeof norm_args, 0,    tokens,
                                              hidden_states,    NULL, args->last_hidden_state};
    int status = hidden_states != NULL ? embed(self, call, args, hidden_states, error) : GRAFT_ERROR_INTERNAL;
    if (status == GRAFT_OK) {
        status = run_layers(self, call, args->batch, hidden_states, error);
    }
    return status == GRAFT_OK ? graft_norm_forward(self->norm, call, &norm_args, error) : status;
}

const struct graft_base_model graft_parts_model_vtable = {
    .struct_size = sizeof graft_parts_model_vtable,
    .forward = forward,
};
