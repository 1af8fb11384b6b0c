/* SPDX-License-Identifier: Apache-2.0 */
/* An encoder that predicts masked tokens. The head only sees the tokens whose logits are wanted. */
#include "arch/encoder/encoder_config.h"
#include "arch/role.h"
#include "graft/describe.h"

struct masked_lm {
    struct graft_instance base;
    const struct graft_module *model;
    const struct graft_module *cls; /* hidden_size -> vocab_size */
    int64_t hidden_size;
};

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
    const struct graft_arg model_args[] = {graft_int_arg("add_pooling_layer", 0)};
    const struct graft_encoder_config *encoder;
    (void)args;
    int status = graft_encoder_config_keep(config, traits, sink, &encoder, error);
    if (status != GRAFT_OK) {
        return status;
    }
    status = graft_encoder_describe_root(sink, encoder, error);
    if (status != GRAFT_OK) {
        return status;
    }
    const struct graft_arg head_args[] = {graft_int_arg("out_features", encoder->vocab_size)};
    status =
        graft_describe_child(sink, traits->child, traits->model, GRAFT_INTERFACE_ENCODER_MODEL, model_args, 1, error);
    if (status == GRAFT_OK) {
        status = graft_describe_child(sink, "cls", traits->mlm_head, GRAFT_INTERFACE_HEAD, head_args, 1, error);
    }
    return status == GRAFT_OK ? describe_ties(traits, encoder, sink, error) : status;
}

int graft_masked_lm_create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                           struct graft_error *error) {
    const struct graft_encoder_traits *traits = cls->data;
    const struct graft_encoder_config *encoder = build->kept;
    int status = GRAFT_OK;
    struct masked_lm *self = graft_instance_new(build, sizeof *self, error);
    if (self == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    self->hidden_size = encoder->hidden_size;
    self->model = graft_build_child(build, traits->child, &status, error);
    self->cls = graft_build_child(build, "cls", &status, error);
    return graft_instance_finish(self, status, instance);
}

static int forward(void *instance, const struct graft_call *call, const struct graft_masked_lm_args *args,
                   struct graft_error *error) {
    const struct masked_lm *self = instance;
    float *hidden = args->last_hidden_state;                                            /* [tokens, hidden_size] */
    float *wanted = graft_scratch_floats(call, args->n_rows, self->hidden_size, error); /* [n_rows, hidden_size] */
    if (hidden == NULL) {
        hidden = graft_scratch_floats(call, args->batch->tokens, self->hidden_size, error);
    }
    if (hidden == NULL || wanted == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    const struct graft_encoder_model_args model_args = {
        sizeof model_args, 0, args->batch, args->input_ids, args->token_type_ids, hidden, NULL,
    };
    const struct graft_head_args head_args = {sizeof head_args, 0, args->n_rows, wanted, args->logits};
    int status = graft_encoder_model_forward(self->model, call, &model_args, error);
    if (status != GRAFT_OK || args->n_rows == 0) {
        return status;
    }
    status = call->kernels->gather_rows(call, hidden, args->rows, args->n_rows, self->hidden_size, wanted, error);
    return status == GRAFT_OK ? graft_head_forward(self->cls, call, &head_args, error) : status;
}

const struct graft_masked_lm graft_masked_lm_vtable = {
    .struct_size = sizeof graft_masked_lm_vtable,
    .forward = forward,
};
