/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/decoder/pooler.h"

#include <string.h>

#include "arch/decoder/choices.h"
#include "graft/kernels.h"

struct graft_parts_transform_info graft_pooler_info(const struct graft_description *description, int64_t hidden_size) {
    return (struct graft_parts_transform_info){
        .dense = graft_description_name(description, D_MODEL_POOLER),
        .act = graft_description_name(description, D_MODEL_POOLER_ACT_NAME),
        .act_name = "tanh",
        .in_features = hidden_size,
        .out_features = hidden_size,
        .bias = 1,
    };
}

int graft_pooler_forward(const struct graft_parts_transform *self, const struct graft_call *call,
                         const struct graft_batch *batch, const float *hidden_states, float *output,
                         struct graft_error *error) {
    const int64_t width = self->out_features;
    float *x = graft_scratch_floats(call, batch->sequences, width, error); /* [sequences, hidden_size] */
    if (x == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    for (int32_t s = 0; s < batch->sequences; s++) {
        memcpy(x + s * width, hidden_states + batch->cu_seqlens[s] * width, (size_t)width * sizeof *x);
    }
    int status = graft_parts_transform_apply(self, call, batch->sequences, &x, error);
    if (status == GRAFT_OK) {
        memcpy(output, x, (size_t)(batch->sequences * width) * sizeof *x);
    }
    return status;
}
