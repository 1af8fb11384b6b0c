/* SPDX-License-Identifier: Apache-2.0 */
/* Decoders that classify: a Linear after the last norm, of a sequence's last token or of each token. */
#include "arch/decoder/decoder_config.h"
#include "arch/role.h"
#include "graft/encoder_parts.h"

static int describe(const struct graft_class *self, const struct graft_config *config, int32_t head,
                    const struct graft_sink *sink, struct graft_error *error) {
    const struct graft_decoder_traits *traits = self->data;
    struct graft_decoder_config decoder;
    const char *model = head == GRAFT_HEAD_ANSWERS && traits->answers_model != NULL ? traits->answers_model : "model";
    const struct graft_parts_encoder_root part = {
        .model = model,
        .model_class = traits->model,
        .decoder = head == GRAFT_HEAD_ANSWERS ? "qa_outputs" : "score",
        .is_decoder = 1,
    };
    int status = graft_decoder_config_read(config, traits, &decoder, error);
    struct graft_parts_encoder_sizes sizes = {
        .vocab_size = decoder.vocab_size, .hidden_size = decoder.hidden_size, .token_types = 1};
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
