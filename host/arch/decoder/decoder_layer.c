/* SPDX-License-Identifier: Apache-2.0 */
/* One layer: attention, or the mixer of a derived class, and MLP, dense or with experts, each after a norm. */
#include "arch/decoder/decoder_config.h"
#include "arch/role.h"

int graft_decoder_layer_describe(const struct graft_class *self, const struct graft_config *config,
                                 const struct graft_args *args, const struct graft_sink *sink,
                                 struct graft_error *error) {
    const struct graft_decoder_traits *traits = self->data;
    int32_t sparse = 0;
    int status = graft_decoder_config_sparse(config, traits, graft_args_int(args, "layer_idx", 0), &sparse, error);
    const char *mixer = graft_args_string(args, "mixer", NULL);
    const struct graft_parts_layer part = {
        .attention = mixer == NULL ? "self_attn" : NULL,
        .attention_class = traits->attention,
        .mixer = mixer,
        .mixer_class = graft_args_string(args, "mixer_class", NULL),
        .mlp = "mlp",
        .mlp_class = sparse ? traits->sparse_moe_block : traits->mlp,
        .norm_class = traits->rms_norm,
        .attention_norm = "input_layernorm",
        .mlp_norm = "post_attention_layernorm",
    };
    return status == GRAFT_OK ? graft_parts_layer_declare(&part, config, args, sink, error) : status;
}
