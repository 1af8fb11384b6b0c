/* SPDX-License-Identifier: Apache-2.0 */
/* A layer of the tower: attention and an MLP, each with a norm before it and a residual connection. */
#include "arch/role.h"
#include "arch/vision/choices.h"
#include "graft/describe.h"
#include "graft/kernels.h"

struct block {
    struct graft_instance base;
    const struct graft_module *norm1;
    const struct graft_module *norm2;
    const struct graft_module *attn;
    const struct graft_module *mlp;
    int64_t hidden_size;
};

int graft_vision_block_describe(const struct graft_class *self, const struct graft_config *config,
                                const struct graft_args *args, const struct graft_sink *sink,
                                struct graft_error *error) {
    const struct graft_description *description = self->data;
    const char *norm = graft_description_name(description, V_CLASS_NORM);
    struct graft_vision_reader reader;
    int64_t *hidden = sink->keep(sink->data, sizeof *hidden, error);
    if (hidden == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    graft_vision_reader_start(&reader, description, config, error);
    *hidden = graft_args_int(args, "hidden_size", 0);
    const double eps = graft_read_real(&reader.of, V_NORM_EPS);
    const struct graft_arg attention_args[] = {
        graft_int_arg("hidden_size", *hidden),
        graft_int_arg("num_attention_heads", graft_read_int(&reader.of, V_ATTENTION_HEADS))};
    const struct graft_arg mlp_args[] = {
        graft_int_arg("layer_idx", graft_args_int(args, "layer_idx", 0)),
        graft_int_arg("intermediate_size", graft_read_int(&reader.of, V_MLP_SIZE)),
        graft_int_arg("hidden_size", *hidden),
        graft_int_arg("mlp_bias", graft_read_bool(&reader.of, V_MLP_BIAS)),
        graft_string_arg("hidden_act", graft_read_text(&reader.of, V_MLP_ACT)),
    };
    if (reader.of.status == GRAFT_OK) {
        graft_describe_norm(sink, graft_description_name(description, V_BLOCK_ATTENTION_NORM), norm, *hidden, eps,
                            error);
        graft_describe_norm(sink, graft_description_name(description, V_BLOCK_MLP_NORM), norm, *hidden, eps, error);
        graft_describe_child(sink, graft_description_name(description, V_BLOCK_ATTENTION),
                             graft_description_name(description, V_CLASS_ATTENTION), GRAFT_INTERFACE_VISION_ATTENTION,
                             attention_args, 2, error);
        graft_describe_child(sink, graft_description_name(description, V_BLOCK_MLP),
                             graft_description_name(description, V_CLASS_MLP), GRAFT_INTERFACE_MLP, mlp_args,
                             sizeof mlp_args / sizeof mlp_args[0], error);
    }
    return error->code;
}

int graft_vision_block_create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                              struct graft_error *error) {
    const int64_t *hidden = build->kept;
    struct block *self = graft_instance_new(build, sizeof *self, error);
    if (self == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    self->hidden_size = *hidden;
    self->norm1 = graft_build_child(build, graft_description_name(cls->data, V_BLOCK_ATTENTION_NORM), error);
    self->norm2 = graft_build_child(build, graft_description_name(cls->data, V_BLOCK_MLP_NORM), error);
    self->attn = graft_build_child(build, graft_description_name(cls->data, V_BLOCK_ATTENTION), error);
    self->mlp = graft_build_child(build, graft_description_name(cls->data, V_BLOCK_MLP), error);
    return graft_instance_finish(self, instance, error);
}

static int forward(void *instance, const struct graft_call *call, const struct graft_vision_block_args *args,
                   struct graft_error *error) {
    const struct block *self = instance;
    int64_t patches = args->batch->tokens;
    float *normed = graft_scratch_floats(call, patches, self->hidden_size, error); /* [patches, hidden_size] */
    float *output = graft_scratch_floats(call, patches, self->hidden_size, error); /* [patches, hidden_size] */
    if (normed == NULL || output == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    /* The second norm also adds the attention's output to hidden_states. */
    const struct graft_norm_args first = {sizeof first, 0, patches, args->hidden_states, NULL, normed};
    const struct graft_norm_args second = {sizeof second, 0, patches, args->hidden_states, output, normed};
    const struct graft_mlp_args mlp_args = {sizeof mlp_args, 0, patches, normed, output};
    const struct graft_vision_attention_args attention_args = {
        .struct_size = sizeof attention_args,
        .batch = args->batch,
        .hidden_states = normed,
        .cos = args->cos,
        .sin = args->sin,
        .output = output,
    };
    int status = graft_norm_forward(self->norm1, call, &first, error);
    if (status == GRAFT_OK) {
        status = graft_vision_attention_forward(self->attn, call, &attention_args, error);
    }
    if (status == GRAFT_OK) {
        status = graft_norm_forward(self->norm2, call, &second, error);
    }
    if (status == GRAFT_OK) {
        status = graft_mlp_forward(self->mlp, call, &mlp_args, error);
    }
    if (status == GRAFT_OK) {
        status = call->kernels->add(call, args->hidden_states, output, patches * self->hidden_size, error);
    }
    return status;
}

const struct graft_vision_block graft_vision_block_vtable = {
    .struct_size = sizeof graft_vision_block_vtable,
    .forward = forward,
};
