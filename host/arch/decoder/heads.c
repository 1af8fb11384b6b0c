/* SPDX-License-Identifier: Apache-2.0 */
/* Models that classify: a Linear of a sequence's pooled hidden state, or of each token's, after a transform in some
 * families. */
#include <string.h>

#include "arch/decoder/choices.h"
#include "arch/decoder/inputs.h"
#include "arch/decoder/roles.h"
#include "arch/decoder/transform.h"
#include "arch/role.h"

enum { MAX_LABELS = 1 << 20, ANSWER_ENDS = 2 /* an answer's beginning and its end */ };

/* What a head predicts: labels of each sequence, labels of each token, or start and end of an answer. */
enum { SEQUENCES, TOKENS, ANSWERS };

struct classifier {
    struct graft_instance base;
    const struct graft_module *model;
    struct graft_transform transform;
    const struct graft_module *decoder; /* hidden_size -> logits of a token or a sequence */
    int64_t hidden_size;
    int64_t pad_token_id; /* -1: there is none */
    int32_t pooling;      /* D_POOLING_...; -1: each token */
};

/* Without num_labels, id2label gives the number. If the two differ, num_labels counts. */
static int read_num_labels(const struct graft_config *config, int64_t *num_labels, struct graft_error *error) {
    const int is_named = graft_config_has(config, "id2label");
    if (is_named && config->kind(config->data, "id2label") != GRAFT_FIELD_OBJECT) {
        return graft_config_expected(config, "id2label", "an object", error);
    }
    *num_labels = is_named ? config->size(config->data, "id2label") : 2;
    int status = graft_config_int(config, "num_labels", 1, MAX_LABELS, num_labels, error);
    return status != GRAFT_OK || (*num_labels >= 1 && *num_labels <= MAX_LABELS)
               ? status
               : graft_error_set(error, GRAFT_ERROR_MODEL, config->file, "id2label: expected 1 to %d labels, got %lld",
                                 MAX_LABELS, (long long)*num_labels);
}

/* Reads how many logits a row has: a decoder's head that answers has two, whatever labels config.json has; an encoder's
 * needs as many labels. */
static int read_logits(const struct graft_config *config, int32_t head, int is_encoder, int64_t *logits,
                       struct graft_error *error) {
    *logits = ANSWER_ENDS;
    if (head == ANSWERS && !is_encoder) {
        return GRAFT_OK;
    }
    int status = read_num_labels(config, logits, error);
    return status == GRAFT_OK && head == ANSWERS && *logits != ANSWER_ENDS
               ? graft_error_set(error, GRAFT_ERROR_MODEL, config->file,
                                 "%s: expected 2 labels, for the beginning and the end of an answer, got %lld",
                                 graft_config_has(config, "id2label") ? "id2label" : "num_labels", (long long)*logits)
               : status;
}

static int describe(const struct graft_class *cls, const struct graft_config *config, const struct graft_args *args,
                    int32_t head, const struct graft_sink *sink, struct graft_error *error) {
    static const int32_t decoders[] = {D_HEAD_SEQUENCES, D_HEAD_TOKENS, D_HEAD_ANSWERS};
    struct graft_outline of;
    struct graft_reader *reader = &of.reader;
    struct classifier *self =
        graft_outline_start(&of, cls, config, args, sink, sizeof *self, GRAFT_OUTLINE_MEMBERS, error);
    if (self == NULL) {
        return error->code;
    }
    reader->layer = -1;
    const int64_t types = graft_inputs_token_types(reader);
    const int transforms = head == SEQUENCES || graft_read_bool(reader, D_HEAD_LABELS_TRANSFORM_ALL);
    const char *transform = transforms ? graft_outline_name(&of, D_HEAD_LABELS_TRANSFORM) : NULL;
    const char *act = transform != NULL ? graft_read_text(reader, D_HEAD_LABELS_TRANSFORM_ACT) : NULL;
    const int32_t transform_bias = graft_read_bool(reader, D_HEAD_LABELS_TRANSFORM_BIAS);
    int32_t bias = 1;
    int64_t logits = 0;
    self->hidden_size = graft_inputs_output_size(reader);
    self->pooling = -1;
    self->pad_token_id = -1;
    if (reader->status == GRAFT_OK) {
        read_logits(config, head, types > 0, &logits, error);
    }
    if (head == SEQUENCES && types == 0 && error->code == GRAFT_OK) {
        graft_config_int(config, "pad_token_id", INT32_MIN, INT32_MAX, &self->pad_token_id, error);
    }
    if (head == TOKENS && error->code == GRAFT_OK) {
        graft_config_bool(config, "token_classification_bias", &bias, error);
    }
    if (head == SEQUENCES) {
        self->pooling = graft_read_word(reader, D_HEAD_POOLING);
        bias = graft_read_bool(reader, D_HEAD_SEQUENCES_BIAS);
    }
    const struct graft_arg pools = graft_int_arg("add_pooling_layer", 1);
    graft_inputs_outline_numbers(&of, types);
    if (logits > 0) {
        graft_outline_number(&of, "num_labels", logits);
    }
    if (head == ANSWERS) {
        graft_outline_number(&of, "answers", 1);
    }
    graft_outline_child(&of, &self->model, graft_outline_name(&of, head == ANSWERS ? D_MODEL_ANSWERS : D_MODEL_NAME),
                        graft_decoder_class_name(reader->description, D_CLASS_BASE_MODEL), GRAFT_INTERFACE_BASE_MODEL,
                        &pools, self->pooling == D_POOLING_POOLER);
    graft_transform_outline(&of, &self->transform, transform, graft_outline_name(&of, D_HEAD_LABELS_TRANSFORM_ACT_NAME),
                            act, graft_outline_name(&of, D_HEAD_LABELS_TRANSFORM_NORM), self->hidden_size,
                            self->hidden_size, transform_bias);
    graft_outline_linear(&of, &self->decoder, graft_outline_name(&of, decoders[head]), self->hidden_size, logits, bias);
    return error->code;
}

int graft_decoder_sequences_describe(const struct graft_class *cls, const struct graft_config *config,
                                     const struct graft_args *args, const struct graft_sink *sink,
                                     struct graft_error *error) {
    return describe(cls, config, args, SEQUENCES, sink, error);
}

int graft_decoder_tokens_describe(const struct graft_class *cls, const struct graft_config *config,
                                  const struct graft_args *args, const struct graft_sink *sink,
                                  struct graft_error *error) {
    return describe(cls, config, args, TOKENS, sink, error);
}

int graft_decoder_answers_describe(const struct graft_class *cls, const struct graft_config *config,
                                   const struct graft_args *args, const struct graft_sink *sink,
                                   struct graft_error *error) {
    return describe(cls, config, args, ANSWERS, sink, error);
}

/* Runs the model: hidden [tokens, hidden_size], or NULL for memory of its own, and pooled [sequences, hidden_size] of a
 * model with a pooler, or NULL. Returns `hidden`. */
static float *run_model(const struct classifier *self, const struct graft_pass *pass, const struct graft_batch *batch,
                        const int32_t *input_ids, const int32_t *token_type_ids, float *hidden, float *pooled) {
    const struct graft_base_model_args args = {
        .struct_size = sizeof args,
        .batch = batch,
        .input_ids = input_ids,
        .token_type_ids = token_type_ids,
        .last_hidden_state = hidden != NULL ? hidden : graft_pass_floats(pass, self->hidden_size),
        .pooler_output = pooled,
    };
    if (graft_pass_ok(pass)) {
        (void)graft_base_model_forward(self->model, pass->call, &args, pass->error);
    }
    return args.last_hidden_state;
}

/* --- graft.sequence_classifier/1 --- */

/* The token whose hidden state stands for a sequence: the first one with D_POOLING_CLS, else the last one that is not
 * padding. */
static int64_t representative(const struct classifier *self, const struct graft_batch *batch, const int32_t *input_ids,
                              int32_t sequence) {
    const int64_t first = batch->cu_seqlens[sequence];
    int64_t token = self->pooling == D_POOLING_CLS ? first : batch->cu_seqlens[sequence + 1] - 1;
    while (token > first && input_ids[token] == self->pad_token_id) {
        token--;
    }
    return token;
}

/* pooled [sequences, hidden_size] of hidden_states [tokens, hidden_size]: one row of each sequence. */
static void take_one(const struct classifier *self, const struct graft_batch *batch, const int32_t *input_ids,
                     const float *hidden_states, float *pooled) {
    const int64_t width = self->hidden_size;
    for (int32_t s = 0; s < batch->sequences; s++) {
        memcpy(pooled + s * width, hidden_states + representative(self, batch, input_ids, s) * width,
               (size_t)width * sizeof *pooled);
    }
}

/* The same, but the mean of each sequence's rows. */
static void take_mean(const struct graft_batch *batch, const float *hidden_states, int64_t hidden_size, float *pooled) {
    for (int32_t s = 0; s < batch->sequences; s++) {
        const int64_t begin = batch->cu_seqlens[s], end = batch->cu_seqlens[s + 1];
        for (int64_t i = 0; i < hidden_size; i++) {
            double sum = 0.0;
            for (int64_t t = begin; t < end; t++) {
                sum += hidden_states[t * hidden_size + i];
            }
            pooled[s * hidden_size + i] = (float)(sum / (double)(end - begin));
        }
    }
}

static int run_sequences(void *instance, const struct graft_call *call,
                         const struct graft_sequence_classifier_args *args, struct graft_error *error) {
    const struct classifier *self = instance;
    const struct graft_pass pass = {call, args->batch->tokens, error};
    const struct graft_pass sequences = {call, args->batch->sequences, error};
    const int has_pooler = self->pooling == D_POOLING_POOLER, is_late = self->pooling == D_POOLING_LATE;
    float *pooled = graft_pass_floats(&sequences, self->hidden_size);
    float *hidden = run_model(self, &pass, args->batch, args->input_ids, args->token_type_ids, args->last_hidden_state,
                              has_pooler ? pooled : NULL);
    if (args->logits == NULL) {
        return error->code;
    }
    /* The reference takes the mean of the logits of all tokens, which a Linear gives: it gives the same of the tokens'
     * mean. */
    hidden = is_late ? graft_transform_run(&self->transform, &pass, hidden) : hidden;
    if (error->code == GRAFT_OK && (is_late || self->pooling == D_POOLING_MEAN)) {
        take_mean(args->batch, hidden, self->hidden_size, pooled);
    } else if (error->code == GRAFT_OK && !has_pooler) {
        take_one(self, args->batch, args->input_ids, hidden, pooled);
    }
    pooled = is_late ? pooled : graft_transform_run(&self->transform, &sequences, pooled);
    graft_pass_linear(&sequences, self->decoder, pooled, args->logits);
    return error->code;
}

const struct graft_sequence_classifier graft_decoder_sequences_vtable = {
    .struct_size = sizeof graft_decoder_sequences_vtable, .forward = run_sequences};

/* --- graft.token_classifier/1 --- */

static int run_tokens(void *instance, const struct graft_call *call, const struct graft_token_classifier_args *args,
                      struct graft_error *error) {
    const struct classifier *self = instance;
    const struct graft_pass pass = {call, args->batch->tokens, error};
    float *hidden =
        run_model(self, &pass, args->batch, args->input_ids, args->token_type_ids, args->last_hidden_state, NULL);
    if (args->logits != NULL) {
        graft_pass_linear(&pass, self->decoder, graft_transform_run(&self->transform, &pass, hidden), args->logits);
    }
    return error->code;
}

const struct graft_token_classifier graft_decoder_tokens_vtable = {.struct_size = sizeof graft_decoder_tokens_vtable,
                                                                   .forward = run_tokens};
