/* SPDX-License-Identifier: Apache-2.0 */
/* A decoder with its head. */
#include "arch/decoder/decoder_config.h"
#include "arch/role.h"

int graft_causal_lm_describe(const struct graft_class *self, const struct graft_config *config,
                             const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    const struct graft_decoder_traits *traits = self->data;
    struct graft_decoder_config decoder;
    int status = graft_decoder_config_read(config, traits, &decoder, error);
    if (status != GRAFT_OK) {
        return status;
    }
    const struct graft_parts_causal_lm part = {
        .model = "model",
        .model_class = traits->model,
        .tied_weight = traits->tied_weight != NULL ? traits->tied_weight : "model.embed_tokens.weight",
    };
    const struct graft_parts_causal_lm_sizes sizes = {
        .vocab_size = decoder.vocab_size,
        .hidden_size = decoder.hidden_size,
        .logit_scale = graft_args_real(args, "logit_scale", 0.0),
        .softcap = graft_args_real(args, "softcap", 0.0),
        .tie_word_embeddings = decoder.tie_word_embeddings,
        .bidirectional = graft_args_int(args, "bidirectional", decoder.bidirectional) != 0,
    };
    return graft_parts_causal_lm_declare(&part, &sizes, sink, error);
}
