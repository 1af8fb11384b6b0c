/* SPDX-License-Identifier: Apache-2.0 */
/* An encoder that tells which class a sequence belongs to: a Linear after the pooler. */
#include "arch/encoder/encoder_config.h"
#include "arch/role.h"
#include "graft/describe.h"

struct sequence_classifier {
    struct graft_instance base;
    const struct graft_module *model;
    const struct graft_module *classifier; /* hidden_size -> num_labels */
    int64_t hidden_size;
};

int graft_sequence_classifier_describe(const struct graft_class *self, const struct graft_config *config,
                                       const struct graft_args *args, const struct graft_sink *sink,
                                       struct graft_error *error) {
    const struct graft_encoder_traits *traits = self->data;
    const struct graft_encoder_config *encoder;
    (void)args;
    int status = graft_encoder_config_keep(config, traits, sink, &encoder, error);
    if (status == GRAFT_OK) {
        status = graft_encoder_describe_root(sink, encoder, error);
    }
    if (status == GRAFT_OK) {
        status =
            graft_describe_child(sink, traits->child, traits->model, GRAFT_INTERFACE_ENCODER_MODEL, NULL, 0, error);
    }
    return status == GRAFT_OK
               ? graft_describe_linear(sink, "classifier", encoder->hidden_size, encoder->num_labels, 1, error)
               : status;
}

int graft_sequence_classifier_create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                                     struct graft_error *error) {
    const struct graft_encoder_traits *traits = cls->data;
    const struct graft_encoder_config *encoder = build->kept;
    int status = GRAFT_OK;
    struct sequence_classifier *self = graft_instance_new(build, sizeof *self, error);
    if (self == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    self->hidden_size = encoder->hidden_size;
    self->model = graft_build_child(build, traits->child, &status, error);
    self->classifier = graft_build_child(build, "classifier", &status, error);
    return graft_instance_finish(self, status, instance);
}

static int forward(void *instance, const struct graft_call *call, const struct graft_sequence_classifier_args *args,
                   struct graft_error *error) {
    const struct sequence_classifier *self = instance;
    int32_t sequences = args->batch->sequences;
    float *pooled = graft_scratch_floats(call, sequences, self->hidden_size, error); /* [sequences, hidden_size] */
    float *hidden = args->last_hidden_state;                                         /* [tokens, hidden_size] */
    if (hidden == NULL) {
        hidden = graft_scratch_floats(call, args->batch->tokens, self->hidden_size, error);
    }
    if (hidden == NULL || pooled == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    const struct graft_encoder_model_args model_args = {
        sizeof model_args, 0, args->batch, args->input_ids, args->token_type_ids, hidden, pooled,
    };
    const struct graft_linear_args classifier_args = {sizeof classifier_args, 0, sequences, pooled, args->logits};
    int status = graft_encoder_model_forward(self->model, call, &model_args, error);
    return status == GRAFT_OK && args->logits != NULL
               ? graft_linear_forward(self->classifier, call, &classifier_args, error)
               : status;
}

const struct graft_sequence_classifier graft_sequence_classifier_vtable = {
    .struct_size = sizeof graft_sequence_classifier_vtable,
    .forward = forward,
};
