/* SPDX-License-Identifier: Apache-2.0 */
/* A layer of the tower: attention and an MLP, each with a norm before it and a residual connection. */
#include "arch/pass.h"
#include "arch/role.h"
#include "arch/vision/choices.h"

struct block {
    struct graft_instance base;
    const struct graft_module *norm1;
    const struct graft_module *norm2;
    const struct graft_module *attn;
    const struct graft_module *mlp;
    int64_t hidden_size;
};

static void outline(struct graft_outline *of, struct block *self) {
    const int64_t hidden = graft_outline_hidden_size(of);
    const double eps = graft_read_real(&of->reader, V_NORM_EPS);
    const char *norm = graft_outline_name(of, V_CLASS_NORM);
    const struct graft_arg attention_args[] = {
        graft_int_arg("hidden_size", hidden),
        graft_int_arg("num_attention_heads", graft_read_int(&of->reader, V_ATTENTION_HEADS))};
    const struct graft_arg mlp_args[] = {
        graft_int_arg("layer_idx", graft_args_int(of->args, "layer_idx", 0)),
        graft_int_arg("intermediate_size", graft_read_int(&of->reader, V_MLP_SIZE)),
        graft_int_arg("hidden_size", hidden),
        graft_int_arg("mlp_bias", graft_read_bool(&of->reader, V_MLP_BIAS)),
        graft_string_arg("hidden_act", graft_read_text(&of->reader, V_MLP_ACT)),
    };
    self->hidden_size = hidden;
    graft_outline_norm(of, &self->norm1, graft_outline_name(of, V_BLOCK_ATTENTION_NORM), norm, hidden, eps);
    graft_outline_norm(of, &self->norm2, graft_outline_name(of, V_BLOCK_MLP_NORM), norm, hidden, eps);
    graft_outline_child(of, &self->attn, graft_outline_name(of, V_BLOCK_ATTENTION),
                        graft_outline_name(of, V_CLASS_ATTENTION), GRAFT_INTERFACE_VISION_ATTENTION, attention_args, 2);
    graft_outline_child(of, &self->mlp, graft_outline_name(of, V_BLOCK_MLP), graft_outline_name(of, V_CLASS_MLP),
                        GRAFT_INTERFACE_MLP, mlp_args, sizeof mlp_args / sizeof mlp_args[0]);
}

GRAFT_VISION_OUTLINED(graft_vision_block, struct block)

static int forward(void *instance, const struct graft_call *call, const struct graft_vision_block_args *args,
                   struct graft_error *error) {
    const struct block *self = instance;
    const struct graft_pass pass = {call, args->batch->tokens, error};
    float *normed = graft_pass_normed(&pass, self->norm1, args->hidden_states, self->hidden_size);
    float *output = graft_pass_floats(&pass, self->hidden_size); /* [patches, hidden_size] */
    const struct graft_mlp_args mlp_args = {sizeof mlp_args, 0, pass.rows, normed, output};
    const struct graft_vision_attention_args attention_args = {
        .struct_size = sizeof attention_args,
        .batch = args->batch,
        .hidden_states = normed,
        .cos = args->cos,
        .sin = args->sin,
        .output = output,
    };
    if (error->code == GRAFT_OK) {
        (void)graft_vision_attention_forward(self->attn, call, &attention_args, error);
    }
    /* The second norm also adds the attention's output to hidden_states. */
    graft_pass_norm(&pass, self->norm2, args->hidden_states, output, normed);
    if (error->code == GRAFT_OK) {
        (void)graft_mlp_forward(self->mlp, call, &mlp_args, error);
    }
    graft_pass_add(&pass, args->hidden_states, output, self->hidden_size);
    return error->code;
}

const struct graft_vision_block graft_vision_block_vtable = {.struct_size = sizeof graft_vision_block_vtable,
                                                             .forward = forward};
