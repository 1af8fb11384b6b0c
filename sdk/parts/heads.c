/* SPDX-License-Identifier: Apache-2.0 */
/* Reads fields of config.json for classification heads, and describes such heads of decoders. */
#include "graft/encoder_parts.h"

enum { MAX_LABELS = 1 << 20, ANSWER_ENDS = 2 /* an answer's start and end */ };

/* Without num_labels, id2label gives the number. If the two differ, num_labels counts. */
int graft_parts_read_num_labels(const struct graft_config *config, int64_t *num_labels, struct graft_error *error) {
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

int graft_parts_read_encoder_head(const struct graft_config *config, int32_t head,
                                  struct graft_parts_encoder_sizes *sizes, struct graft_error *error) {
    sizes->decoder_bias = 1;
    sizes->classifies = 1;
    sizes->answers = head == GRAFT_HEAD_ANSWERS;
    int status = graft_parts_read_num_labels(config, &sizes->logits, error);
    return status == GRAFT_OK && sizes->answers && sizes->logits != ANSWER_ENDS
               ? graft_error_set(error, GRAFT_ERROR_MODEL, config->file,
                                 "%s: expected 2 labels, for the beginning and the end of an answer, got %lld",
                                 graft_config_has(config, "id2label") ? "id2label" : "num_labels",
                                 (long long)sizes->logits)
               : status;
}

/* A question answering head has two logits, for an answer's start and end, whatever labels config.json has. */
int graft_parts_read_decoder_head(const struct graft_config *config, int32_t head,
                                  struct graft_parts_encoder_sizes *sizes, struct graft_error *error) {
    sizes->classifies = 1;
    sizes->answers = head == GRAFT_HEAD_ANSWERS;
    sizes->pooling = head == GRAFT_HEAD_SEQUENCES ? GRAFT_POOLING_LAST : GRAFT_POOLING_NONE;
    sizes->decoder_bias = head != GRAFT_HEAD_SEQUENCES;
    sizes->pad_token_id = -1;
    sizes->logits = ANSWER_ENDS;
    int status = sizes->answers ? GRAFT_OK : graft_parts_read_num_labels(config, &sizes->logits, error);
    return status == GRAFT_OK && head == GRAFT_HEAD_SEQUENCES
               ? graft_config_int(config, "pad_token_id", INT32_MIN, INT32_MAX, &sizes->pad_token_id, error)
               : status;
}

static int describe(const struct graft_class *self, const struct graft_config *config, int32_t head,
                    const struct graft_sink *sink, struct graft_error *error) {
    const struct graft_parts_encoder_root *part = self->data;
    struct graft_parts_sizes read;
    int status = graft_parts_read_sizes(config, &read, error);
    struct graft_parts_encoder_sizes sizes = {
        .vocab_size = read.vocab_size,
        .hidden_size = read.hidden_size,
        .max_positions = part->learned_positions ? read.max_position_embeddings : 0,
    };
    if (status == GRAFT_OK) {
        status = graft_parts_read_decoder_head(config, head, &sizes, error);
    }
    return status == GRAFT_OK ? graft_parts_encoder_root_declare(part, &sizes, sink, error) : status;
}

int graft_parts_decoder_sequences_describe(const struct graft_class *self, const struct graft_config *config,
                                           const struct graft_args *args, const struct graft_sink *sink,
                                           struct graft_error *error) {
    (void)args;
    return describe(self, config, GRAFT_HEAD_SEQUENCES, sink, error);
}

int graft_parts_decoder_tokens_describe(const struct graft_class *self, const struct graft_config *config,
                                        const struct graft_args *args, const struct graft_sink *sink,
                                        struct graft_error *error) {
    (void)args;
    return describe(self, config, GRAFT_HEAD_TOKENS, sink, error);
}

int graft_parts_decoder_answers_describe(const struct graft_class *self, const struct graft_config *config,
                                         const struct graft_args *args, const struct graft_sink *sink,
                                         struct graft_error *error) {
    (void)args;
    return describe(self, config, GRAFT_HEAD_ANSWERS, sink, error);
}
