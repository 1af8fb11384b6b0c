/* SPDX-License-Identifier: Apache-2.0 */
/* Models that classify: a Linear of a sequence's pooled hidden state, or of each token's, after a transform in some
 * families. */
#include "arch/decoder/choices.h"
#include "arch/decoder/inputs.h"
#include "arch/decoder/roles.h"
#include "arch/role.h"
#include "graft/encoder_parts.h"

/* The name of the last Linear, by task. */
static const char *head_name(const struct graft_description *description, int32_t head) {
    return graft_description_name(description, head == GRAFT_HEAD_ANSWERS  ? D_HEAD_ANSWERS
                                               : head == GRAFT_HEAD_TOKENS ? D_HEAD_TOKENS
                                                                           : D_HEAD_SEQUENCES);
}

/* Reads the head from config.json: labels, biases, and how sequences are pooled. */
static int read_head(const struct graft_config *config, struct graft_reader *reader, int32_t head,
                     struct graft_parts_encoder_sizes *sizes, struct graft_error *error) {
    static const int32_t poolings[] = {[D_POOLING_LAST] = GRAFT_POOLING_LAST,
                                       [D_POOLING_CLS] = GRAFT_POOLING_CLS,
                                       [D_POOLING_MEAN] = GRAFT_POOLING_MEAN,
                                       [D_POOLING_POOLER] = GRAFT_POOLING_POOLER,
                                       [D_POOLING_LATE] = GRAFT_POOLING_LATE};
    int status = sizes->token_types > 0 ? graft_parts_read_encoder_head(config, head, sizes, error)
                                        : graft_parts_read_decoder_head(config, head, sizes, error);
    if (status == GRAFT_OK && head == GRAFT_HEAD_TOKENS) {
        status = graft_config_bool(config, "token_classification_bias", &sizes->decoder_bias, error);
    }
    if (status == GRAFT_OK && head == GRAFT_HEAD_SEQUENCES) {
        const int32_t pooling = graft_read_word(reader, D_HEAD_POOLING);
        sizes->pooling = pooling >= 0 ? poolings[pooling] : GRAFT_POOLING_NONE;
        sizes->decoder_bias = graft_read_bool(reader, D_HEAD_SEQUENCES_BIAS);
        status = reader->status;
    }
    return status;
}

static int describe(const struct graft_class *self, const struct graft_config *config, int32_t head,
                    const struct graft_sink *sink, struct graft_error *error) {
    const struct graft_description *description = self->data;
    struct graft_reader reader;
    graft_reader_start(&reader, description, config, -1, error);
    const int64_t positions = graft_inputs_max_positions(&reader);
    const int transforms = head == GRAFT_HEAD_SEQUENCES || graft_read_bool(&reader, D_HEAD_LABELS_TRANSFORM_ALL);
    const char *transform = transforms ? graft_description_name(description, D_HEAD_LABELS_TRANSFORM) : NULL;
    const struct graft_parts_encoder_root part = {
        .model = graft_description_name(description, head == GRAFT_HEAD_ANSWERS ? D_MODEL_ANSWERS : D_MODEL_NAME),
        .model_class = graft_decoder_class_name(description, D_CLASS_BASE_MODEL),
        .decoder = head_name(description, head),
        .learned_positions = positions > 0,
        .transform = transform,
        .transform_act = graft_description_name(description, D_HEAD_LABELS_TRANSFORM_ACT_NAME),
        .transform_norm = graft_description_name(description, D_HEAD_LABELS_TRANSFORM_NORM),
        .transform_norm_class = graft_description_name(description, D_CLASS_NORM),
    };
    struct graft_parts_encoder_sizes sizes = {
        .vocab_size = graft_read_int(&reader, D_VOCAB_SIZE),
        .hidden_size = graft_read_int(&reader, D_HIDDEN_SIZE),
        .max_positions = positions,
        .token_types = graft_inputs_token_types(&reader),
        .transform_bias = graft_read_bool(&reader, D_HEAD_LABELS_TRANSFORM_BIAS),
        .transform_norm_bias = graft_read_bool(&reader, D_NORM_BIAS),
        .transform_eps = graft_read_real(&reader, D_NORM_EPS),
        .act = transform != NULL ? graft_read_text(&reader, D_HEAD_LABELS_TRANSFORM_ACT) : NULL,
    };
    int status = reader.status == GRAFT_OK ? read_head(config, &reader, head, &sizes, error) : reader.status;
    return status == GRAFT_OK ? graft_parts_encoder_root_declare(&part, &sizes, sink, error) : status;
}
int graft_decoder_sequences_describe(const struct graft_class *self, const struct graft_config *config,
                                     const struct graft_args *args, const struct graft_sink *sink,
                                     struct graft_error *error) {
    (void)args;
    return describe(self, config, GRAFT_HEAD_SEQUENCES, sink, error);
}

int graft_decoder_tokens_describe(const struct graft_class *self, const struct graft_config *config,
                                  const struct graft_args *args, const struct graft_sink *sink,
                                  struct graft_error *error) {
    (void)args;
    return describe(self, config, GRAFT_HEAD_TOKENS, sink, error);
}

int graft_decoder_answers_describe(const struct graft_class *self, const struct graft_config *config,
                                   const struct graft_args *args, const struct graft_sink *sink,
                                   struct graft_error *error) {
    (void)args;
    return describe(self, config, GRAFT_HEAD_ANSWERS, sink, error);
}
