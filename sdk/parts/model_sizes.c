/* SPDX-License-Identifier: Apache-2.0 */
/* Describes a model whose sizes are in config.json under their usual names (graft_parts_read_sizes). */
#include "graft/describe.h"
#include "graft/parts.h"

/* Number of arguments of a layer: ALWAYS_ARGS in any case, at most MAX_ARGS. */
enum { ALWAYS_ARGS = 10, MAX_ARGS = 11 };

int graft_parts_model_describe(const struct graft_class *self, const struct graft_config *config,
                               const struct graft_args *args, const struct graft_sink *sink,
                               struct graft_error *error) {
    const struct graft_parts_model *part = self->data;
    struct graft_parts_sizes sizes;
    int32_t is_causal = 1;
    (void)args;
    int status = graft_parts_read_sizes(config, &sizes, error);
    if (status == GRAFT_OK) {
        status = graft_config_bool(config, "is_causal", &is_causal, error);
    }
    if (status != GRAFT_OK) {
        return status;
    }
    struct graft_arg items[MAX_ARGS] = {
        graft_int_arg("hidden_size", sizes.hidden_size),
        graft_int_arg("intermediate_size", sizes.intermediate_size),
        graft_int_arg("num_attention_heads", sizes.num_attention_heads),
        graft_int_arg("num_key_value_heads", sizes.num_key_value_heads),
        graft_int_arg("head_dim", sizes.head_dim),
        graft_int_arg("qkv_bias", sizes.qkv_bias),
        graft_int_arg("o_proj_bias", sizes.o_proj_bias),
        graft_int_arg("mlp_bias", sizes.mlp_bias),
        graft_string_arg("hidden_act", sizes.hidden_act),
        graft_real_arg("eps", sizes.layer_norm_eps),
    };
    int32_t n = ALWAYS_ARGS;
    if (sizes.residual_scale != 1.0) {
        items[n++] = graft_real_arg("residual_scale", sizes.residual_scale);
    }
    const struct graft_args layer_args = graft_args_of(items, n);
    const struct graft_parts_model_sizes numbers = {
        .vocab_size = sizes.vocab_size,
        .hidden_size = sizes.hidden_size,
        .num_hidden_layers = sizes.num_hidden_layers,
        .max_position_embeddings = sizes.max_position_embeddings,
        .rotary_width = sizes.head_dim,
        .eps = sizes.layer_norm_eps,
        .layer_args = &layer_args,
        .bidirectional = !is_causal,
        .embedding_scale = sizes.embedding_scale,
    };
    return graft_parts_model_declare(part, &numbers, sink, error);
}
