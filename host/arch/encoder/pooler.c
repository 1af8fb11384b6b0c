/* SPDX-License-Identifier: Apache-2.0 */
/* The hidden state of a sequence's first token through a Linear and tanh. */
#include "arch/encoder/encoder_config.h"
#include "arch/role.h"
#include "graft/describe.h"

struct pooler {
    struct graft_instance base;
    const struct graft_module *dense; /* hidden_size -> hidden_size */
    const struct graft_module *activation;
    int64_t hidden_size;
};

int graft_pooler_describe(const struct graft_class *self, const struct graft_config *config,
                          const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    const struct graft_encoder_config *encoder;
    (void)args;
    int status = graft_encoder_config_keep(config, self->data, sink, &encoder, error);
    if (status == GRAFT_OK) {
        status = graft_describe_linear(sink, "dense", encoder->hidden_size, encoder->hidden_size, 1, error);
    }
    return status == GRAFT_OK
               ? graft_describe_child(sink, "activation", "Tanh", GRAFT_INTERFACE_ACTIVATION, NULL, 0, error)
               : status;
}

int graft_pooler_create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                        struct graft_error *error) {
    const struct graft_encoder_config *encoder = build->kept;
    (void)cls;
    struct pooler *self = graft_instance_new(build, sizeof *self, error);
    if (self == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    self->hidden_size = encoder->hidden_size;
    self->dense = graft_build_child(build, "dense", error);
    self->activation = graft_build_child(build, "activation", error);
    return graft_instance_finish(self, instance, error);
}

static int forward(void *instance, const struct graft_call *call, const struct graft_pooler_args *args,
                   struct graft_error *error) {
    const struct pooler *self = instance;
    int32_t sequences = args->batch->sequences;
    float *first = graft_scratch_floats(call, sequences, self->hidden_size, error); /* [sequences, hidden_size] */
    int32_t *rows = graft_scratch_ints(call, sequences, error);
    if (first == NULL || rows == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    for (int32_t s = 0; s < sequences; s++) {
        rows[s] = (int32_t)args->batch->cu_seqlens[s];
    }
    const struct graft_linear_args dense_args = {sizeof dense_args, 0, sequences, first, args->output};
    const struct graft_activation_args act_args = {sizeof act_args, 0, sequences * self->hidden_size, args->output,
                                                   args->output};
    int status =
        call->kernels->gather_rows(call, args->hidden_states, rows, sequences, self->hidden_size, first, error);
    if (status == GRAFT_OK) {
        status = graft_linear_forward(self->dense, call, &dense_args, error);
    }
    return status == GRAFT_OK ? graft_activation_forward(self->activation, call, &act_args, error) : status;
}

const struct graft_pooler graft_pooler_vtable = {
    .struct_size = sizeof graft_pooler_vtable,
    .forward = forward,
};
