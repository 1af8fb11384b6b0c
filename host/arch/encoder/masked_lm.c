/* SPDX-License-Identifier: Apache-2.0 */
/* An encoder that predicts masked tokens. */
#include "arch/encoder/encoder_config.h"
#include "arch/role.h"

/* The tie of the two biases holds in any case: published checkpoints have only the outer one, and without
 * tie_word_embeddings it would be lost. */
static int describe_ties(const struct graft_encoder_traits *traits, const struct graft_encoder_config *encoder,
                         const struct graft_sink *sink, struct graft_error *error) {
    char words[128];
    (void)snprintf(words, sizeof words, "%s.embeddings.word_embeddings.weight", traits->child);
    int status = sink->tie(sink->data, "cls.predictions.decoder.bias", "cls.predictions.bias", error);
    return status == GRAFT_OK && encoder->tie_word_embeddings
               ? sink->tie(sink->data, "cls.predictions.decoder.weight", words, error)
               : status;
}

int graft_masked_lm_describe(const struct graft_class *self, const struct graft_config *config,
                             const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    const struct graft_encoder_traits *traits = self->data;
    struct graft_encoder_config encoder;
    (void)args;
    int status = graft_encoder_config_read(config, traits, &encoder, error);
    const struct graft_parts_encoder_root part = {
        .model = traits->child, .model_class = traits->model, .head = "cls", .head_class = traits->mlm_head};
    struct graft_parts_encoder_sizes sizes = graft_encoder_config_sizes(&encoder);
    sizes.logits = encoder.vocab_size;
    if (status == GRAFT_OK) {
        status = graft_parts_encoder_root_declare(&part, &sizes, sink, error);
    }
    return status == GRAFT_OK ? describe_ties(traits, &encoder, sink, error) : status;
}
