/* SPDX-License-Identifier: Apache-2.0 */
/* Decoders that classify: a Linear after the last norm, of a sequence's last token or of each token. */
#include "arch/decoder/choices.h"
#include "arch/decoder/inputs.h"
#include "arch/decoder/roles.h"
#include "arch/role.h"
#include "graft/encoder_parts.h"

static int describe(const struct graft_class *self, const struct graft_config *config, int32_t head,
                    const struct graft_sink *sink, struct graft_error *error) {
    const struct graft_description *description = self->data;
    struct graft_reader reader;
    graft_reader_start(&reader, description, config, -1, error);
    const int64_t positions = graft_inputs_max_positions(&reader);
    const struct graft_parts_encoder_root part = {
        .model = graft_description_name(description, head == GRAFT_HEAD_ANSWERS ? D_MODEL_ANSWERS : D_MODEL_NAME),
        .model_class = graft_decoder_class_name(description, D_CLASS_BASE_MODEL),
        .decoder = head == GRAFT_HEAD_ANSWERS  ? "qa_outputs"
                   : head == GRAFT_HEAD_TOKENS ? graft_description_name(description, D_HEAD_TOKENS)
                                               : "score",
        .is_decoder = 1,
        .learned_positions = positions > 0,
    };
    struct graft_parts_encoder_sizes sizes = {
        .vocab_size = graft_read_int(&reader, D_VOCAB_SIZE),
        .hidden_size = graft_read_int(&reader, D_HIDDEN_SIZE),
        .max_positions = positions,
        .token_types = 1,
    };
    int status = reader.status;
    if (status == GRAFT_OK) {
        status = graft_parts_read_decoder_head(config, head, &sizes, error);
    }
    if (status == GRAFT_OK && head == GRAFT_HEAD_TOKENS) {
        status = graft_config_bool(config, "token_classification_bias", &sizes.decoder_bias, error);
    }
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
