/* SPDX-License-Identifier: Apache-2.0 */
/* An encoder without a head: embeddings, layers, and optionally a pooler. */
#include "arch/encoder/encoder_config.h"
#include "arch/role.h"
#include "graft/describe.h"

struct encoder_model {
    struct graft_instance base;
    const struct graft_module *embeddings;
    const struct graft_module *encoder;
    const struct graft_module *pooler; /* NULL without a pooling layer */
    struct graft_mask mask;
};

int graft_encoder_model_describe(const struct graft_class *self, const struct graft_config *config,
                                 const struct graft_args *args, const struct graft_sink *sink,
                                 struct graft_error *error) {
    const struct graft_encoder_traits *traits = self->data;
    const struct graft_encoder_config *encoder;
    int status = graft_encoder_config_keep(config, traits, sink, &encoder, error);
    if (status == GRAFT_OK) {
        struct graft_parts_encoder_sizes sizes = graft_encoder_config_sizes(encoder);
        sizes.max_positions = graft_args_int(args, "max_positions", sizes.max_positions);
        status = graft_parts_encoder_numbers(&sizes, sink, error);
    }
    if (status == GRAFT_OK) {
        status = graft_describe_child(sink, "embeddings", traits->embeddings, GRAFT_INTERFACE_INPUT_EMBEDDINGS, NULL, 0,
                                      error);
    }
    if (status == GRAFT_OK) {
        status = graft_describe_child(sink, "encoder", traits->encoder, GRAFT_INTERFACE_ENCODER, NULL, 0, error);
    }
    return status == GRAFT_OK && graft_args_int(args, "add_pooling_layer", 1)
               ? graft_describe_child(sink, "pooler", traits->pooler, GRAFT_INTERFACE_POOLER, NULL, 0, error)
               : status;
}

int graft_encoder_model_create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                               struct graft_error *error) {
    const struct graft_encoder_config *encoder = build->kept;
    struct encoder_model *self = graft_instance_new(build, sizeof *self, error);
    (void)cls;
    if (self == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    self->embeddings = graft_build_child(build, "embeddings", error);
    self->encoder = graft_build_child(build, "encoder", error);
    self->pooler = build->child(build->data, "pooler");
    self->mask.struct_size = sizeof self->mask;
    self->mask.kind = encoder->is_causal ? GRAFT_MASK_CAUSAL : GRAFT_MASK_NONE;
    return graft_instance_finish(self, instance, error);
}

static int forward(void *instance, const struct graft_call *call, const struct graft_encoder_model_args *args,
                   struct graft_error *error) {
    const struct encoder_model *self = instance;
    float *hidden = args->last_hidden_state; /* [tokens, hidden] */
    const struct graft_input_embeddings_args embedding_args = {
        sizeof embedding_args, 0, args->batch, args->input_ids, args->token_type_ids, hidden,
    };
    const struct graft_encoder_args encoder_args = {sizeof encoder_args, 0, args->batch, hidden, &self->mask};
    const struct graft_pooler_args pooler_args = {sizeof pooler_args, 0, args->batch, hidden, args->pooler_output};
    int status = graft_input_embeddings_forward(self->embeddings, call, &embedding_args, error);
    if (status == GRAFT_OK) {
        status = graft_encoder_forward(self->encoder, call, &encoder_args, error);
    }
    return status == GRAFT_OK && self->pooler != NULL && args->pooler_output != NULL
               ? graft_pooler_forward(self->pooler, call, &pooler_args, error)
               : status;
}

const struct graft_encoder_model graft_encoder_model_vtable = {
    .struct_size = sizeof graft_encoder_model_vtable,
    .forward = forward,
};
