/* SPDX-License-Identifier: Apache-2.0 */
/* The sum of the embeddings of a token's id, type and position, normed. */
#include "arch/encoder/encoder_config.h"
#include "arch/role.h"
#include "graft/describe.h"

struct embeddings {
    struct graft_instance base;
    const struct graft_module *word_embeddings;
    const struct graft_module *position_embeddings;
    const struct graft_module *token_type_embeddings;
    const struct graft_module *norm;
    int64_t hidden_size;
    int32_t padding_idx; /* of argument `padding_idx` (input_embeddings.h); -1: none */
};

int graft_input_embeddings_describe(const struct graft_class *self, const struct graft_config *config,
                                    const struct graft_args *args, const struct graft_sink *sink,
                                    struct graft_error *error) {
    const struct graft_encoder_config *encoder;
    int64_t padding_idx = graft_args_int(args, "padding_idx", -1);
    int status = graft_encoder_config_keep(config, self->data, sink, &encoder, error);
    if (status == GRAFT_OK && (padding_idx < -1 || padding_idx > encoder->max_position_embeddings - 2)) {
        status = graft_error_set(error, GRAFT_ERROR_PLUGIN, sink->path,
                                 "argument padding_idx: %lld leaves no position for a token, of %lld positions in all",
                                 (long long)padding_idx, (long long)encoder->max_position_embeddings);
    }
    if (status != GRAFT_OK) {
        return status;
    }
    const struct {
        const char *name;
        int64_t rows;
    } tables[] = {
        {"word_embeddings", encoder->vocab_size},
        {"position_embeddings", encoder->max_position_embeddings},
        {"token_type_embeddings", encoder->type_vocab_size},
    };
    for (size_t i = 0; i < sizeof tables / sizeof tables[0] && status == GRAFT_OK; i++) {
        const struct graft_arg table_args[] = {graft_int_arg("num_embeddings", tables[i].rows),
                                               graft_int_arg("embedding_dim", encoder->hidden_size)};
        status =
            graft_describe_child(sink, tables[i].name, "Embedding", GRAFT_INTERFACE_EMBEDDING, table_args, 2, error);
    }
    return status == GRAFT_OK
               ? graft_describe_layer_norm(sink, "LayerNorm", encoder->hidden_size, encoder->layer_norm_eps, error)
               : status;
}

int graft_input_embeddings_create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                                  struct graft_error *error) {
    const struct graft_encoder_config *encoder = build->kept;
    (void)cls;
    struct embeddings *self = graft_instance_new(build, sizeof *self, error);
    if (self == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    self->hidden_size = encoder->hidden_size;
    self->padding_idx = (int32_t)graft_args_int(build->args, "padding_idx", -1);
    self->word_embeddings = graft_build_child(build, "word_embeddings", error);
    self->position_embeddings = graft_build_child(build, "position_embeddings", error);
    self->token_type_embeddings = graft_build_child(build, "token_type_embeddings", error);
    self->norm = graft_build_child(build, "LayerNorm", error);
    return graft_instance_finish(self, instance, error);
}

/* What two look-ups are added in. */
struct sum {
    float *total; /* [tokens, hidden_size] */
    float *part;  /* [tokens, hidden_size] */
    int64_t tokens;
    int64_t hidden_size;
};

static int add(const struct graft_module *table, const struct graft_call *call, const int32_t *ids,
               const struct sum *sum, struct graft_error *error) {
    const struct graft_embedding_args args = {sizeof args, 0, sum->tokens, ids, sum->part};
    int status = graft_embedding_forward(table, call, &args, error);
    if (status == GRAFT_OK) {
        status = call->kernels->add(call, sum->total, sum->part, sum->tokens * sum->hidden_size, error);
    }
    return status;
}

/* positions [tokens]: counted behind padding_idx, from 0 without one. */
static void count_positions(const struct embeddings *self, const struct graft_input_embeddings_args *args,
                            int32_t *positions) {
    for (int32_t s = 0; s < args->batch->sequences; s++) {
        int32_t last = self->padding_idx;
        for (int64_t t = args->batch->cu_seqlens[s]; t < args->batch->cu_seqlens[s + 1]; t++) {
            int32_t is_padding = args->input_ids[t] == self->padding_idx;
            positions[t] = is_padding ? self->padding_idx : ++last;
        }
    }
}

static int forward(void *instance, const struct graft_call *call, const struct graft_input_embeddings_args *args,
                   struct graft_error *error) {
    const struct embeddings *self = instance;
    int64_t tokens = args->batch->tokens;
    const struct sum sum = {
        .total = graft_scratch_floats(call, tokens, self->hidden_size, error),
        .part = graft_scratch_floats(call, tokens, self->hidden_size, error),
        .tokens = tokens,
        .hidden_size = self->hidden_size,
    };
    int32_t *positions = graft_scratch_ints(call, tokens, error);
    if (sum.total == NULL || sum.part == NULL || positions == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    count_positions(self, args, positions);
    const struct graft_embedding_args word_args = {sizeof word_args, 0, tokens, args->input_ids, sum.total};
    const struct graft_norm_args norm_args = {sizeof norm_args, 0, tokens, sum.total, NULL, args->output};
    int status = graft_embedding_forward(self->word_embeddings, call, &word_args, error);
    if (status == GRAFT_OK) {
        status = add(self->token_type_embeddings, call, args->token_type_ids, &sum, error);
    }
    if (status == GRAFT_OK) {
        status = add(self->position_embeddings, call, positions, &sum, error);
    }
    return status == GRAFT_OK ? graft_norm_forward(self->norm, call, &norm_args, error) : status;
}

const struct graft_input_embeddings graft_input_embeddings_vtable = {
    .struct_size = sizeof graft_input_embeddings_vtable,
    .forward = forward,
};
