/* SPDX-License-Identifier: Apache-2.0 */
/* A model with its language model head, which only processes the rows whose logits are wanted. */
#include <stdio.h>

#include "graft/describe.h"
#include "graft/parts.h"

enum { MAX_NAME = 264 };

struct kept {
    const char *model;
    const char *head;
    struct graft_parts_transform_info transform;
    const char *logits_bias; /* NULL: none; so is the next */
    const char *encoder;
    struct graft_parts_causal_lm_sizes sizes;
};

struct causal_lm {
    struct graft_instance base;
    const struct graft_module *model;
    struct graft_parts_transform transform; /* model_size -> hidden_size */
    const struct graft_module *lm_head;     /* hidden_size -> vocab_size */
    int64_t model_size;                     /* hidden_size without a transform */
    int64_t vocab_size;
    const struct graft_module *encoder;     /* NULL: none; so is the next */
    const struct graft_weight *logits_bias; /* [1, vocab_size] */
    int64_t encoder_size;
    float logit_scale; /* 1: none */
    float softcap;     /* soft cap of logits; 0: none */
};

/* Ties the head's bias to the root's parameter `tied_bias`, the name under which published checkpoints have it. */
static void tie_bias(const struct graft_parts_causal_lm *part, const struct graft_parts_causal_lm_sizes *sizes,
                     const char *head, const struct graft_sink *sink, struct graft_error *error) {
    char bias[MAX_NAME];
    if (part->tied_bias == NULL || !sizes->bias) {
        return;
    }
    (void)snprintf(bias, sizeof bias, "%s.bias", head);
    graft_describe_parameter(sink, part->tied_bias, 1, &sizes->vocab_size, 0, GRAFT_INIT_NONE, error);
    sink->tie(sink->data, bias, part->tied_bias, error);
}

/* Declares the encoder and the shared embeddings, and ties those of encoder and decoder to them. */
static void describe_encoder(const struct graft_parts_causal_lm *part, const struct graft_parts_causal_lm_sizes *sizes,
                             const struct graft_sink *sink, struct graft_error *error) {
    const char *const paths[][2] = {{part->encoder, part->encoder_embeddings}, {part->model, part->model_embeddings}};
    char shared[MAX_NAME];
    graft_describe_embedding(sink, part->shared, "Embedding", sizes->vocab_size, sizes->hidden_size, error);
    graft_describe_child(sink, part->encoder, part->encoder_class, GRAFT_INTERFACE_BASE_MODEL, NULL, 0, error);
    graft_describe_number(sink, "has_encoder", 1, error);
    if (sizes->encoder_positions > 0) {
        graft_describe_number(sink, "max_source_positions", sizes->encoder_positions, error);
    }
    (void)snprintf(shared, sizeof shared, "%s.weight", part->shared);
    for (int i = 0; i < 2; i++) {
        char own[2 * MAX_NAME];
        (void)snprintf(own, sizeof own, "%s.%s.weight", paths[i][0], paths[i][1]);
        sink->tie(sink->data, own, shared, error);
    }
}

int graft_parts_causal_lm_declare(const struct graft_parts_causal_lm *part,
                                  const struct graft_parts_causal_lm_sizes *sizes, const struct graft_sink *sink,
                                  struct graft_error *error) {
    struct kept *kept = sink->keep(sink->data, sizeof *kept, error); /* for `create` */
    if (kept == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    const char *head = part->head != NULL ? part->head : "lm_head";
    const struct graft_arg across = graft_int_arg("cross", 1);
    const int64_t bias_shape[] = {1, sizes->vocab_size};
    char tied[MAX_NAME];
    (void)snprintf(tied, sizeof tied, "%s.weight", head);
    *kept = (struct kept){
        part->model,
        head,
        {.dense = part->transform,
         .act = part->transform_act,
         .norm = part->transform_norm,
         .norm_class = part->transform_norm_class,
         .act_name = sizes->act,
         .in_features = sizes->transform_size,
         .out_features = sizes->hidden_size,
         .eps = sizes->transform_eps,
         .bias = sizes->transform_bias,
         .norm_bias = sizes->transform_norm_bias},
        part->logits_bias,
        part->encoder,
        *sizes,
    };
    graft_describe_number(sink, "vocab_size", sizes->vocab_size, error);
    graft_describe_number(sink, "hidden_size", part->transform != NULL ? sizes->transform_size : sizes->hidden_size,
                          error);
    if (part->learned_positions) {
        graft_describe_number(sink, "max_positions", sizes->max_position_embeddings, error);
    }
    if (sizes->bidirectional) {
        graft_describe_number(sink, "bidirectional", 1, error);
    }
    graft_describe_child(sink, part->model, part->model_class, GRAFT_INTERFACE_BASE_MODEL, &across,
                         part->encoder != NULL ? 1 : 0, error);
    if (part->encoder != NULL) {
        describe_encoder(part, sizes, sink, error);
    }
    if (part->logits_bias != NULL) {
        graft_describe_parameter(sink, part->logits_bias, 2, bias_shape, GRAFT_PARAMETER_CONTIGUOUS, GRAFT_INIT_ABSENT,
                                 error);
    }
    graft_parts_transform_declare(&kept->transform, sink, error);
    graft_describe_linear(sink, head, sizes->hidden_size, sizes->vocab_size, sizes->bias, error);
    tie_bias(part, sizes, head, sink, error);
    if (sizes->tie_word_embeddings) {
        sink->tie(sink->data, tied, part->tied_weight, error);
    }
    return error->code;
}

int graft_parts_causal_lm_describe(const struct graft_class *self, const struct graft_config *config,
                                   const struct graft_args *args, const struct graft_sink *sink,
                                   struct graft_error *error) {
    struct graft_parts_sizes read;
    int32_t is_causal = 1;
    int status = graft_parts_read_sizes(config, &read, error);
    if (status == GRAFT_OK) {
        status = graft_config_bool(config, "is_causal", &is_causal, error);
    }
    const struct graft_parts_causal_lm_sizes sizes = {
        .vocab_size = read.vocab_size,
        .hidden_size = read.hidden_size,
        .max_position_embeddings = read.max_position_embeddings,
        .logit_scale = graft_args_real(args, "logit_scale", 0.0),
        .softcap = graft_args_real(args, "softcap", 0.0),
        .tie_word_embeddings = read.tie_word_embeddings,
        .bidirectional = !is_causal,
    };
    return status == GRAFT_OK ? graft_parts_causal_lm_declare(self->data, &sizes, sink, error) : status;
}

int graft_parts_causal_lm_create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                                 struct graft_error *error) {
    const struct kept *kept = build->kept;
    (void)cls;
    struct causal_lm *self = graft_instance_new(build, sizeof *self, error);
    if (self == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    self->model_size = kept->transform.dense != NULL ? kept->sizes.transform_size : kept->sizes.hidden_size;
    self->vocab_size = kept->sizes.vocab_size;
    self->logit_scale = kept->sizes.logit_scale != 0.0 ? (float)kept->sizes.logit_scale : 1.0f;
    self->softcap = (float)kept->sizes.softcap;
    self->model = graft_build_child(build, kept->model, error);
    self->lm_head = graft_build_child(build, kept->head, error);
    self->encoder_size = kept->sizes.encoder_size;
    if (kept->encoder != NULL) {
        self->encoder = graft_build_child(build, kept->encoder, error);
    }
    if (kept->logits_bias != NULL) {
        self->logits_bias = build->weight(build->data, kept->logits_bias);
    }
    graft_parts_transform_find(&self->transform, &kept->transform, build, error);
    return graft_instance_finish(self, instance, error);
}

/* logits [n_rows, vocab_size] += logits_bias */
static int add_bias(const struct causal_lm *self, const struct graft_call *call, int64_t n_rows, float *logits,
                    struct graft_error *error) {
    const float *bias = graft_scratch_widened(call, self->logits_bias, error);
    int status = bias != NULL ? GRAFT_OK : GRAFT_ERROR_INTERNAL;
    for (int64_t i = 0; i < n_rows && status == GRAFT_OK; i++) {
        status = call->kernels->add(call, logits + i * self->vocab_size, bias, self->vocab_size, error);
    }
    return status;
}

/* logits [n_rows, vocab_size] of the rows of hidden [tokens, model_size]. */
static int find_logits(const struct causal_lm *self, const struct graft_call *call, const float *hidden,
                       const int32_t *rows, int64_t n_rows, float *logits, struct graft_error *error) {
    float *wanted = graft_scratch_floats(call, n_rows, self->model_size, error); /* [n_rows, model_size] */
    struct graft_gathered_call space;
    const struct graft_call *head_call = graft_call_gather(call, rows, n_rows, &space, error);
    if (head_call == NULL || wanted == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    int status = call->kernels->gather_rows(call, hidden, rows, n_rows, self->model_size, wanted, error);
    if (status == GRAFT_OK) {
        status = graft_parts_transform_apply(&self->transform, head_call, n_rows, &wanted, error);
    }
    if (status == GRAFT_OK) {
        const struct graft_linear_args head_args = {sizeof head_args, 0, n_rows, wanted, logits};
        status = graft_linear_forward(self->lm_head, head_call, &head_args, error);
    }
    for (int64_t i = 0; self->logit_scale != 1.0f && i < n_rows * self->vocab_size && status == GRAFT_OK; i++) {
        logits[i] *= self->logit_scale;
    }
    if (status == GRAFT_OK && self->logits_bias != NULL) {
        status = add_bias(self, call, n_rows, logits, error);
    }
    return status == GRAFT_OK && self->softcap > 0.0f
               ? graft_softcap(call, self->softcap, logits, n_rows * self->vocab_size, error)
               : status;
}

static int forward(void *instance, const struct graft_call *call, const struct graft_causal_lm_args *args,
                   struct graft_error *error) {
    const struct causal_lm *self = instance;
    struct graft_batch batch;
    float *hidden = graft_scratch_floats(call, args->batch->tokens, self->model_size, error); /* [tokens, model] */
    const struct graft_base_model_args model_args = {
        .struct_size = sizeof model_args,
        .batch = self->encoder != NULL ? &batch : args->batch,
        .input_ids = args->input_ids,
        .last_hidden_state = hidden,
        .images = args->images,
        .n_images = args->n_images,
        .image_stride = args->image_stride,
    };
    int status = hidden != NULL ? GRAFT_OK : GRAFT_ERROR_INTERNAL;
    if (status == GRAFT_OK && self->encoder != NULL) {
        status = graft_parts_encode_sources(self->encoder, self->encoder_size, call, args->batch, &batch, error);
    }
    if (status == GRAFT_OK) {
        status = graft_base_model_forward(self->model, call, &model_args, error);
    }
    return status == GRAFT_OK && args->n_rows > 0
               ? find_logits(self, call, hidden, args->rows, args->n_rows, args->logits, error)
               : status;
}

const struct graft_causal_lm graft_parts_causal_lm_vtable = {
    .struct_size = sizeof graft_parts_causal_lm_vtable,
    .forward = forward,
};

static int run_masked(void *instance, const struct graft_call *call, const struct graft_masked_lm_args *args,
                      struct graft_error *error) {
    const struct causal_lm *self = instance;
    float *hidden = args->last_hidden_state; /* [tokens, model_size] */
    if (hidden == NULL) {
        hidden = graft_scratch_floats(call, args->batch->tokens, self->model_size, error);
    }
    const struct graft_base_model_args model_args = {
        .struct_size = sizeof model_args,
        .batch = args->batch,
        .input_ids = args->input_ids,
        .token_type_ids = args->token_type_ids,
        .last_hidden_state = hidden,
    };
    int status =
        hidden != NULL ? graft_base_model_forward(self->model, call, &model_args, error) : GRAFT_ERROR_INTERNAL;
    return status == GRAFT_OK && args->n_rows > 0
               ? find_logits(self, call, hidden, args->rows, args->n_rows, args->logits, error)
               : status;
}

const struct graft_masked_lm graft_parts_masked_lm_vtable = {
    .struct_size = sizeof graft_parts_masked_lm_vtable,
    .forward = run_masked,
};
