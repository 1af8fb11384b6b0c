/* SPDX-License-Identifier: Apache-2.0 */
/* A decoder with its head, which only sees the tokens whose logits are wanted. */
#include "arch/decoder/decoder_config.h"
#include "arch/role.h"
#include "graft/describe.h"
#include "graft/kernels.h"

enum { MAX_NAME = 64 };

/* What describe hands to create. */
struct sizes {
    int64_t hidden_size;
    int64_t vocab_size;
    double softcap; /* of logits; 0: none */
};

struct causal_lm {
    struct graft_instance base;
    const struct graft_module *model;
    const struct graft_module *lm_head; /* hidden_size -> vocab_size */
    struct sizes sizes;
};

int graft_causal_lm_describe(const struct graft_class *self, const struct graft_config *config,
                             const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    const struct graft_decoder_traits *traits = self->data;
    struct sizes *sizes = sink->keep(sink->data, sizeof *sizes, error);
    struct graft_decoder_config decoder;
    int status = sizes != NULL ? graft_decoder_config_read(config, traits, &decoder, error) : GRAFT_ERROR_INTERNAL;
    if (status != GRAFT_OK) {
        return status;
    }
    *sizes = (struct sizes){decoder.hidden_size, decoder.vocab_size, graft_args_real(args, "softcap", 0.0)};
    status = graft_describe_number(sink, "vocab_size", decoder.vocab_size, error);
    if (status == GRAFT_OK) {
        status = graft_describe_number(sink, "hidden_size", decoder.hidden_size, error);
    }
    if (status == GRAFT_OK) {
        status = graft_describe_child(sink, "model", traits->model, GRAFT_INTERFACE_BASE_MODEL, NULL, 0, error);
    }
    if (status == GRAFT_OK) {
        status = graft_describe_linear(sink, "lm_head", decoder.hidden_size, decoder.vocab_size, 0, error);
    }
    if (status == GRAFT_OK && decoder.tie_word_embeddings) {
        char source[MAX_NAME];
        (void)snprintf(source, sizeof source, "%s.weight",
                       traits->embed_tokens != NULL ? traits->embed_tokens : "model.embed_tokens");
        status = sink->tie(sink->data, "lm_head.weight", source, error);
    }
    return status;
}

int graft_causal_lm_create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                           struct graft_error *error) {
    const struct sizes *sizes = build->kept;
    int status = GRAFT_OK;
    (void)cls;
    struct causal_lm *self = graft_instance_new(build, sizeof *self, error);
    if (self == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    self->sizes = *sizes;
    self->model = graft_build_child(build, "model", &status, error);
    self->lm_head = graft_build_child(build, "lm_head", &status, error);
    return graft_instance_finish(self, status, instance);
}

/* logits = softcap * tanh(logits / softcap) */
static int cap(const struct causal_lm *self, const struct graft_call *call, const struct graft_causal_lm_args *args,
               struct graft_error *error) {
    int64_t count = args->n_rows * self->sizes.vocab_size;
    float softcap = (float)self->sizes.softcap;
    for (int64_t i = 0; i < count; i++) {
        args->logits[i] /= softcap;
    }
    int status = call->kernels->activation(call, GRAFT_ACTIVATION_TANH, args->logits, count, args->logits, error);
    for (int64_t i = 0; i < count; i++) {
        args->logits[i] *= softcap;
    }
    return status;
}

static int forward(void *instance, const struct graft_call *call, const struct graft_causal_lm_args *args,
                   struct graft_error *error) {
    const struct causal_lm *self = instance;
    float *hidden =
        graft_scratch_floats(call, args->batch->tokens, self->sizes.hidden_size, error);      /* [tokens, hidden] */
    float *wanted = graft_scratch_floats(call, args->n_rows, self->sizes.hidden_size, error); /* [n_rows, hidden] */
    const struct graft_base_model_args model_args = {
        .struct_size = sizeof model_args,
        .batch = args->batch,
        .input_ids = args->input_ids,
        .last_hidden_state = hidden,
        .images = args->images,
        .n_images = args->n_images,
        .image_stride = args->image_stride,
    };
    const struct graft_linear_args head_args = {sizeof head_args, 0, args->n_rows, wanted, args->logits};
    if (hidden == NULL || wanted == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    int status = graft_base_model_forward(self->model, call, &model_args, error);
    if (status != GRAFT_OK || args->n_rows == 0) {
        return status;
    }
    status = call->kernels->gather_rows(call, hidden, args->rows, args->n_rows, self->sizes.hidden_size, wanted, error);
    if (status == GRAFT_OK) {
        status = graft_linear_forward(self->lm_head, call, &head_args, error);
    }
    return status == GRAFT_OK && self->sizes.softcap > 0.0 ? cap(self, call, args, error) : status;
}

const struct graft_causal_lm graft_causal_lm_vtable = {
    .struct_size = sizeof graft_causal_lm_vtable,
    .forward = forward,
};
