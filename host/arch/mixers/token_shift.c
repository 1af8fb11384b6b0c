/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/mixers/token_shift.h"

#include <string.h>

#include "graft/kernels.h"
#include "graft/state.h"

int graft_token_shift(const struct graft_call *call, const struct graft_batch *batch, const struct graft_state *state,
                      const float *x, int64_t width, float *shifted, struct graft_error *error) {
    const size_t bytes = (size_t)width * sizeof *x;
    for (int32_t s = 0; s < batch->sequences; s++) {
        const int64_t first = batch->cu_seqlens[s], end = batch->cu_seqlens[s + 1];
        float *before = graft_state_get(call, batch, state, s, error);
        if (before == NULL) {
            return GRAFT_ERROR_INTERNAL;
        }
        memcpy(shifted + first * width, before, bytes);
        memcpy(shifted + (first + 1) * width, x + first * width, (size_t)(end - first - 1) * bytes);
        memcpy(before, x + (end - 1) * width, bytes);
    }
    return GRAFT_OK;
}

float *graft_token_mix(const struct graft_call *call, const struct graft_weight *mix, const float *x,
                       const float *shifted, int64_t tokens, int64_t width, struct graft_error *error) {
    float *mixed = graft_scratch_floats(call, tokens, width, error);
    const float *factors = graft_scratch_widened(call, mix, error); /* [width] */
    if (mixed == NULL || factors == NULL) {
        return NULL;
    }
    for (int64_t t = 0; t < tokens; t++) {
        for (int64_t i = 0; i < width; i++) {
            const int64_t at = t * width + i;
            mixed[at] = x[at] * factors[i] + shifted[at] * (1.0f - factors[i]);
        }
    }
    return mixed;
}
