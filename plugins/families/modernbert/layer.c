/* SPDX-License-Identifier: Apache-2.0 */
/* One layer: attention and MLP, each of the normed states and added to them (pre-norm). The embeddings are normed
 * already, so the first layer's first norm is an Identity. */
#include "graft/attention.h"
#include "graft/describe.h"
#include "modernbert.h"

struct layer {
    struct graft_instance base;
    const struct graft_module *attn_norm;
    const struct graft_module *attn;
    const struct graft_module *mlp_norm;
    const struct graft_module *mlp;
    int64_t hidden_size;
};

static int describe_attention(const struct modernbert_config *config, int64_t layer, const struct graft_sink *sink,
                              struct graft_error *error) {
    const struct graft_parts_sizes *sizes = &config->sizes;
    const struct graft_arg identity_args[] = {graft_int_arg("hidden_size", sizes->hidden_size)};
    const struct graft_arg args[] = {
        graft_int_arg("layer_idx", layer),
        graft_int_arg("hidden_size", sizes->hidden_size),
        graft_int_arg("num_attention_heads", sizes->num_attention_heads),
        graft_int_arg("num_key_value_heads", sizes->num_attention_heads),
        graft_int_arg("head_dim", sizes->head_dim),
        graft_int_arg("qkv_bias", sizes->attention_bias),
        graft_int_arg("o_proj_bias", sizes->attention_bias),
    };
    int status =
        layer == 0 ? graft_describe_child(sink, "attn_norm", "Identity", GRAFT_INTERFACE_NORM, identity_args, 1, error)
                   : modernbert_describe_norm(config, "attn_norm", sink, error);
    return status == GRAFT_OK
               ? graft_describe_child(sink, "attn", "ModernBertAttention", GRAFT_INTERFACE_SELF_ATTENTION, args,
                                      sizeof args / sizeof args[0], error)
               : status;
}

int modernbert_layer_describe(const struct graft_class *self, const struct graft_config *config,
                              const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    struct modernbert_config *kept = sink->keep(sink->data, sizeof *kept, error);
    int64_t layer = graft_args_int(args, "layer_idx", 0);
    (void)self;
    int status = kept != NULL ? modernbert_read(config, kept, error) : GRAFT_ERROR_INTERNAL;
    if (status == GRAFT_OK) {
        status = describe_attention(kept, layer, sink, error);
    }
    if (status == GRAFT_OK) {
        status = modernbert_describe_norm(kept, "mlp_norm", sink, error);
    }
    if (status != GRAFT_OK) {
        return status;
    }
    const struct graft_arg mlp_args[] = {
        graft_int_arg("layer_idx", layer),
        graft_int_arg("hidden_size", kept->sizes.hidden_size),
        graft_int_arg("intermediate_size", kept->sizes.intermediate_size),
        graft_int_arg("mlp_bias", kept->sizes.mlp_bias),
        graft_string_arg("hidden_act", kept->sizes.hidden_act),
    };
    return graft_describe_child(sink, "mlp", "ModernBertMLP", GRAFT_INTERFACE_MLP, mlp_args,
                                sizeof mlp_args / sizeof mlp_args[0], error);
}

int modernbert_layer_create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                            struct graft_error *error) {
    const struct modernbert_config *kept = build->kept;
    (void)cls;
    struct layer *self = graft_instance_new(build, sizeof *self, error);
    if (self == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    self->hidden_size = kept->sizes.hidden_size;
    self->attn_norm = graft_build_child(build, "attn_norm", error);
    self->attn = graft_build_child(build, "attn", error);
    self->mlp_norm = graft_build_child(build, "mlp_norm", error);
    self->mlp = graft_build_child(build, "mlp", error);
    return graft_instance_finish(self, instance, error);
}

static int forward(void *instance, const struct graft_call *call, const struct graft_encoder_layer_args *args,
                   struct graft_error *error) {
    const struct layer *self = instance;
    int64_t tokens = args->batch->tokens;
    float *hidden = args->hidden_states;
    float *normed = graft_scratch_floats(call, tokens, self->hidden_size, error); /* [tokens, hidden_size] */
    float *output = graft_scratch_floats(call, tokens, self->hidden_size, error); /* [tokens, hidden_size] */
    const struct graft_norm_args attn_norm_args = {sizeof attn_norm_args, 0, tokens, hidden, NULL, normed};
    const struct graft_self_attention_args attn_args = {
        sizeof attn_args, 0, args->batch, normed, args->cos, args->sin, args->mask, output,
    };
    const struct graft_norm_args mlp_norm_args = {sizeof mlp_norm_args, 0, tokens, hidden, output, normed};
    const struct graft_mlp_args mlp_args = {sizeof mlp_args, 0, tokens, normed, output};
    if (normed == NULL || output == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    int status = graft_norm_forward(self->attn_norm, call, &attn_norm_args, error);
    if (status == GRAFT_OK) {
        status = graft_self_attention_forward(self->attn, call, &attn_args, error);
    }
    if (status == GRAFT_OK) { /* which adds the attention's output first */
        status = graft_norm_forward(self->mlp_norm, call, &mlp_norm_args, error);
    }
    if (status == GRAFT_OK) {
        status = graft_mlp_forward(self->mlp, call, &mlp_args, error);
    }
    return status == GRAFT_OK ? call->kernels->add(call, hidden, output, tokens * self->hidden_size, error) : status;
}

const struct graft_encoder_layer modernbert_layer_vtable = {
    .struct_size = sizeof modernbert_layer_vtable,
    .forward = forward,
};
