/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/decoder/pooler.h"

#include "arch/decoder/choices.h"
#include "arch/role.h"
#include "graft/describe.h"
#include "graft/kernels.h"

int graft_pooler_describe(const struct graft_description *description, const struct graft_sink *sink,
                          int64_t hidden_size, struct graft_error *error) {
    graft_describe_linear(sink, graft_description_name(description, D_MODEL_POOLER), hidden_size, hidden_size, 1,
                          error);
    graft_describe_child(sink, graft_description_name(description, D_MODEL_POOLER_ACT_NAME), "Tanh",
                         GRAFT_INTERFACE_ACTIVATION, NULL, 0, error);
    return error->code;
}

void graft_pooler_create(struct graft_pooler *self, const struct graft_description *description, int64_t hidden_size,
                         const struct graft_build *build, struct graft_error *error) {
    self->hidden_size = hidden_size;
    self->dense = graft_build_child(build, graft_description_name(description, D_MODEL_POOLER), error);
    self->act = graft_build_child(build, graft_description_name(description, D_MODEL_POOLER_ACT_NAME), error);
}

int graft_pooler_forward(const struct graft_pooler *self, const struct graft_call *call,
                         const struct graft_batch *batch, const float *hidden_states, float *output,
                         struct graft_error *error) {
    const int32_t sequences = batch->sequences;
    float *first = graft_scratch_floats(call, sequences, self->hidden_size, error); /* [sequences, hidden_size] */
    int32_t *rows = graft_scratch_ints(call, sequences, error);
    if (first == NULL || rows == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    for (int32_t s = 0; s < sequences; s++) {
        rows[s] = (int32_t)batch->cu_seqlens[s];
    }
    const struct graft_linear_args dense_args = {sizeof dense_args, 0, sequences, first, output};
    const struct graft_activation_args act_args = {sizeof act_args, 0, sequences * self->hidden_size, output, output};
    int status = call->kernels->gather_rows(call, hidden_states, rows, sequences, self->hidden_size, first, error);
    if (status == GRAFT_OK) {
        status = graft_linear_forward(self->dense, call, &dense_args, error);
    }
    return status == GRAFT_OK ? graft_activation_forward(self->act, call, &act_args, error) : status;
}
