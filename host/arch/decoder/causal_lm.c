/* SPDX-License-Identifier: Apache-2.0 */
/* A decoder with its head, or an encoder with the same head, which predicts masked tokens. Only the tokens whose logits
 * are wanted go through the head. */
#include <stdio.h>

#include "arch/decoder/choices.h"
#include "arch/decoder/inputs.h"
#include "arch/decoder/roles.h"
#include "arch/decoder/rotary.h"
#include "arch/decoder/sources.h"
#include "arch/decoder/transform.h"
#include "arch/role.h"
#include "graft/describe.h"
#include "graft/kernels.h"

enum { MAX_PATH = 512 };

struct causal_lm {
    struct graft_instance base;
    const struct graft_module *model;
    struct graft_transform transform;   /* model_size -> the head's inputs */
    const struct graft_module *lm_head; /* -> vocab_size */
    int64_t model_size;
    int64_t vocab_size;
    float logit_scale;                      /* 1: none */
    float softcap;                          /* softcap of the logits; 0: none */
    const struct graft_module *encoder;     /* NULL: none, like the next one */
    const struct graft_weight *logits_bias; /* [1, vocab_size] */
    int64_t encoder_size;
};

/* Ties the parameter MODULE.PARAMETER to `source`. */
static void tie(struct graft_outline *of, const char *module, const char *parameter, const char *source) {
    char path[2 * MAX_PATH];
    (void)snprintf(path, sizeof path, "%s.%s", module, parameter);
    if (of->error->code == GRAFT_OK) {
        of->sink->tie(of->sink->data, path, source, of->error);
    }
}

/* Lays out the encoder, whose description is part of the decoder's, and the token embeddings that both share. */
static void outline_encoder(struct graft_outline *of, struct causal_lm *self, const char *shared_weight) {
    const struct graft_description *description = graft_description_encoder(of->reader.description);
    const char *encoder = graft_outline_name(of, D_MODEL_ENCODER), *model = graft_outline_name(of, D_MODEL_NAME);
    const char *shared = graft_outline_name(of, D_MODEL_SHARED), *bias = graft_outline_name(of, D_HEAD_LOGITS_BIAS);
    const int64_t hidden_size = graft_read_int(&of->reader, D_HIDDEN_SIZE), shape[] = {1, self->vocab_size};
    struct graft_reader own;
    graft_reader_start(&own, description, of->reader.whole, -1, of->error);
    self->encoder_size = graft_read_int(&own, D_HIDDEN_SIZE);
    const int64_t positions = graft_inputs_max_positions(&own);
    if (own.status == GRAFT_OK && self->encoder_size != hidden_size) {
        graft_reader_fail(&of->reader, D_HIDDEN_SIZE, "expected that of the encoder (%lld), got %lld",
                          (long long)self->encoder_size, (long long)hidden_size);
    }
    if (of->error->code != GRAFT_OK) {
        return;
    }
    graft_describe_embedding(of->sink, shared, "Embedding", self->vocab_size, hidden_size, of->error);
    graft_outline_child(of, &self->encoder, encoder, graft_description_name(description, D_CLASS_MODEL),
                        GRAFT_INTERFACE_BASE_MODEL, NULL, 0);
    graft_outline_number(of, "has_encoder", 1);
    if (positions > 0) {
        graft_outline_number(of, "max_source_positions", positions);
    }
    char own_weight[MAX_PATH];
    (void)snprintf(own_weight, sizeof own_weight, "%s.weight", graft_description_name(description, D_EMBEDDING_NAME));
    tie(of, encoder, own_weight, shared_weight);
    (void)snprintf(own_weight, sizeof own_weight, "%s.weight", graft_outline_name(of, D_EMBEDDING_NAME));
    tie(of, model, own_weight, shared_weight);
    if (bias != NULL && of->error->code == GRAFT_OK) {
        graft_describe_parameter(of->sink, bias, 2, shape, GRAFT_PARAMETER_CONTIGUOUS, GRAFT_INIT_ABSENT, of->error);
    }
    graft_outline_find_weight(of, &self->logits_bias, bias);
}

/* Lays out the head, whose inputs are `size` wide, and ties it. */
static void outline_head(struct graft_outline *of, struct causal_lm *self, int64_t size, const char *tied_to) {
    const char *transform = graft_outline_name(of, D_HEAD_TRANSFORM), *head = graft_outline_name(of, D_HEAD_NAME);
    const char *tied_bias = graft_outline_name(of, D_HEAD_TIED_BIAS);
    const int32_t bias = graft_read_bool(&of->reader, D_HEAD_BIAS), is_tied = graft_read_bool(&of->reader, D_HEAD_TIED);
    int32_t is_whole_tied = 0; /* tie_word_embeddings of the whole config, if the decoder's fields are in a section */
    if (of->reader.section.name != NULL && of->error->code == GRAFT_OK) {
        graft_config_bool(of->reader.whole, "tie_word_embeddings", &is_whole_tied, of->error);
    }
    graft_transform_outline(of, &self->transform, transform, graft_outline_name(of, D_HEAD_TRANSFORM_ACT_NAME),
                            transform != NULL ? graft_read_text(&of->reader, D_HEAD_TRANSFORM_ACT) : NULL,
                            graft_outline_name(of, D_HEAD_TRANSFORM_NORM), self->model_size, size,
                            graft_read_bool(&of->reader, D_HEAD_TRANSFORM_BIAS));
    graft_outline_linear(of, &self->lm_head, head, size, self->vocab_size, bias);
    if (tied_bias != NULL && bias && of->error->code == GRAFT_OK) {
        graft_describe_parameter(of->sink, tied_bias, 1, &self->vocab_size, 0, GRAFT_INIT_NONE, of->error);
        tie(of, head, "bias", tied_bias); /* checkpoints may hold the bias under this name, too */
    }
    if (is_tied || is_whole_tied) {
        tie(of, head, "weight", tied_to);
    }
}

static int describe(const struct graft_class *cls, const struct graft_config *config, const struct graft_args *args,
                    int has_encoder, int is_masked, const struct graft_sink *sink, struct graft_error *error) {
    struct graft_outline of;
    struct causal_lm *self =
        graft_outline_start(&of, cls, config, args, sink, sizeof *self, GRAFT_OUTLINE_MEMBERS, error);
    struct graft_reader *reader = &of.reader;
    if (self == NULL) {
        return error->code;
    }
    reader->layer = -1;
    const char *model = graft_outline_name(&of, D_MODEL_NAME);
    const char *tied_to = has_encoder ? NULL : graft_outline_name(&of, D_HEAD_TIED_TO);
    const int has_transform = graft_outline_name(&of, D_HEAD_TRANSFORM) != NULL;
    const int64_t renewed_after = graft_read_int(reader, D_ROTARY_RENEWED_AFTER);
    const struct graft_arg across = graft_int_arg("cross", 1);
    char made[MAX_PATH];
    (void)snprintf(made, sizeof made, has_encoder ? "%s.weight" : "%s.%s.weight",
                   has_encoder ? graft_outline_name(&of, D_MODEL_SHARED) : model,
                   graft_outline_name(&of, D_EMBEDDING_NAME));
    self->vocab_size = graft_read_int(reader, D_VOCAB_SIZE);
    self->model_size = graft_inputs_output_size(reader);
    self->logit_scale = (float)graft_args_real(args, "logit_scale", graft_read_real(reader, D_HEAD_SCALE));
    self->softcap = (float)graft_args_real(args, "softcap", graft_read_real(reader, D_HEAD_SOFTCAP));
    graft_inputs_outline_numbers(&of, is_masked ? graft_inputs_token_types(reader) : 0);
    if (graft_args_int(args, "bidirectional", !graft_read_bool(reader, D_CAUSAL)) != 0) {
        graft_outline_number(&of, "bidirectional", 1);
    }
    graft_outline_child(&of, &self->model, model, graft_decoder_class_name(reader->description, D_CLASS_BASE_MODEL),
                        GRAFT_INTERFACE_BASE_MODEL, &across, has_encoder);
    if (has_encoder) {
        outline_encoder(&of, self, made);
    }
    outline_head(&of, self, has_transform ? graft_read_int(reader, D_HEAD_TRANSFORM_SIZE) : self->model_size,
                 tied_to != NULL ? tied_to : made);
    if (renewed_after > 0 && error->code == GRAFT_OK && graft_rotary_changes(reader, sink->host, renewed_after)) {
        graft_outline_number(&of, "renewed_after", renewed_after);
    }
    return error->code;
}

int graft_causal_lm_describe(const struct graft_class *cls, const struct graft_config *config,
                             const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    return describe(cls, config, args, 0, 0, sink, error);
}

int graft_conditional_describe(const struct graft_class *cls, const struct graft_config *config,
                               const struct graft_args *args, const struct graft_sink *sink,
                               struct graft_error *error) {
    return describe(cls, config, args, 1, 0, sink, error);
}

int graft_masked_lm_describe(const struct graft_class *cls, const struct graft_config *config,
                             const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    return describe(cls, config, args, 0, 1, sink, error);
}

/* logits [n_rows, vocab_size] of the rows of hidden [tokens, model_size]. */
static int find_logits(const struct causal_lm *self, const struct graft_call *call, const float *hidden,
                       const int32_t *rows, int64_t n_rows, float *logits, struct graft_error *error) {
    struct graft_gathered_call space;
    const struct graft_pass pass = {graft_call_gather(call, rows, n_rows, &space, error), n_rows, error};
    float *wanted = graft_scratch_floats(call, n_rows, self->model_size, error); /* [n_rows, model_size] */
    if (pass.call == NULL || error->code != GRAFT_OK) {
        return GRAFT_ERROR_INTERNAL;
    }
    (void)call->kernels->gather_rows(call, hidden, rows, n_rows, self->model_size, wanted, error);
    graft_pass_linear(&pass, self->lm_head, graft_transform_run(&self->transform, &pass, wanted), logits);
    graft_pass_scale(&pass, logits, self->vocab_size, self->logit_scale);
    const float *bias = graft_pass_widen(&pass, self->logits_bias);
    const struct graft_pass one = {call, 1, error};
    for (int64_t i = 0; bias != NULL && i < n_rows; i++) {
        graft_pass_add(&one, logits + i * self->vocab_size, bias, self->vocab_size);
    }
    return error->code == GRAFT_OK && self->softcap > 0.0f
               ? graft_softcap(call, self->softcap, logits, n_rows * self->vocab_size, error)
               : error->code;
}

/* Runs the model, into memory of its own unless its arguments have some, and the head on the rows that are wanted. */
static int run(const struct causal_lm *self, const struct graft_call *call, struct graft_base_model_args *model_args,
               const int32_t *rows, int64_t n_rows, float *logits, struct graft_error *error) {
    const struct graft_pass pass = {call, model_args->batch->tokens, error};
    if (model_args->last_hidden_state == NULL) { /* [tokens, model_size] */
        model_args->last_hidden_state = graft_pass_floats(&pass, self->model_size);
    }
    if (graft_pass_ok(&pass)) {
        (void)graft_base_model_forward(self->model, call, model_args, error);
    }
    return graft_pass_ok(&pass) && n_rows > 0
               ? find_logits(self, call, model_args->last_hidden_state, rows, n_rows, logits, error)
               : error->code;
}

static int forward(void *instance, const struct graft_call *call, const struct graft_causal_lm_args *args,
                   struct graft_error *error) {
    const struct causal_lm *self = instance;
    struct graft_batch batch;
    struct graft_base_model_args model_args = {
        .struct_size = sizeof model_args,
        .batch = args->batch,
        .input_ids = args->input_ids,
        .images = args->images,
        .n_images = args->n_images,
        .image_stride = args->image_stride,
    };
    if (self->encoder != NULL) {
        model_args.batch = &batch;
        if (graft_encode_sources(self->encoder, self->encoder_size, call, args->batch, &batch, error) != GRAFT_OK) {
            return error->code;
        }
    }
    return run(self, call, &model_args, args->rows, args->n_rows, args->logits, error);
}

const struct graft_causal_lm graft_causal_lm_vtable = {.struct_size = sizeof graft_causal_lm_vtable,
                                                       .forward = forward};

static int run_masked(void *instance, const struct graft_call *call, const struct graft_masked_lm_args *args,
                      struct graft_error *error) {
    struct graft_base_model_args model_args = {
        .struct_size = sizeof model_args,
        .batch = args->batch,
        .input_ids = args->input_ids,
        .token_type_ids = args->token_type_ids,
        .last_hidden_state = args->last_hidden_state,
    };
    return run(instance, call, &model_args, args->rows, args->n_rows, args->logits, error);
}

const struct graft_masked_lm graft_masked_lm_vtable = {.struct_size = sizeof graft_masked_lm_vtable,
                                                       .forward = run_masked};
