/* SPDX-License-Identifier: Apache-2.0 */
/* Encoders that classify: a Linear after the pooler, of a sequence, or after the last layer, of each token. */
#include "arch/encoder/encoder_config.h"
#include "arch/role.h"

static int describe(const struct graft_class *self, const struct graft_config *config, int32_t head,
                    const char *decoder, const struct graft_sink *sink, struct graft_error *error) {
    const struct graft_encoder_traits *traits = self->data;
    struct graft_encoder_config encoder;
    int status = graft_encoder_config_read(config, traits, &encoder, error);
    const struct graft_parts_encoder_root part = {
        .model = traits->child, .model_class = traits->model, .decoder = decoder};
    struct graft_parts_encoder_sizes sizes = graft_encoder_config_sizes(&encoder);
    sizes.pooling = head == GRAFT_HEAD_SEQUENCES ? GRAFT_POOLING_POOLER : GRAFT_POOLING_NONE;
    if (status == GRAFT_OK) {
        status = graft_parts_read_encoder_head(config, head, &sizes, error);
    }
    return status == GRAFT_OK ? graft_parts_encoder_root_declare(&part, &sizes, sink, error) : status;
}

int graft_sequence_classifier_describe(const struct graft_class *self, const struct graft_config *config,
                                       const struct graft_args *args, const struct graft_sink *sink,
                                       struct graft_error *error) {
    (void)args;
    return describe(self, config, GRAFT_HEAD_SEQUENCES, "classifier", sink, error);
}

int graft_token_classifier_describe(const struct graft_class *self, const struct graft_config *config,
                                    const struct graft_args *args, const struct graft_sink *sink,
                                    struct graft_error *error) {
    (void)args;
    return describe(self, config, GRAFT_HEAD_TOKENS, "classifier", sink, error);
}

int graft_answerer_describe(const struct graft_class *self, const struct graft_config *config,
                            const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    (void)args;
    return describe(self, config, GRAFT_HEAD_ANSWERS, "qa_outputs", sink, error);
}
