/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/mixers/token_shift.h"

#include <string.h>

#include "graft/linear.h"

void graft_token_shift_outline(struct graft_outline *of, struct graft_token_shift *self, const char *const names[][2],
                               const int64_t *widths, int32_t n) {
    const int64_t width = graft_outline_hidden_size(of), mix[] = {1, 1, width};
    self->n = n;
    for (int32_t i = 0; i < n; i++) {
        self->widths[i] = widths[i];
        graft_outline_linear(of, &self->projections[i], names[i][0], width, widths[i], 0);
        graft_outline_parameter(of, &self->mixes[i], names[i][1], 3, mix);
    }
    graft_outline_state(of, &self->shift_states, "shift_states", 1, &width);
}

/* shifted [tokens, width] = the token before each one. For a sequence's first token that is the state, which then
 * becomes its last token. */
static void shift(const struct graft_batch *batch, float *const *states, const float *x, int64_t width,
                  float *shifted) {
    const size_t bytes = (size_t)width * sizeof *x;
    for (int32_t s = 0; s < batch->sequences; s++) {
        const int64_t first = batch->cu_seqlens[s], end = batch->cu_seqlens[s + 1];
        memcpy(shifted + first * width, states[s], bytes);
        memcpy(shifted + (first + 1) * width, x + first * width, (size_t)(end - first - 1) * bytes);
        memcpy(states[s], x + (end - 1) * width, bytes);
    }
}

void graft_token_shift_run(const struct graft_token_shift *self, const struct graft_pass *pass,
                           const struct graft_mixer_args *args, float **made) {
    const int64_t width = self->mixes[0]->rows * self->mixes[0]->columns;
    const float *x = args->hidden_states;
    float *shifted = graft_pass_floats(pass, width);
    float **states = graft_mixer_states(pass, args->batch, self->shift_states);
    struct graft_linear_args linear_args[GRAFT_TOKEN_MIXES];
    if (graft_pass_ok(pass)) {
        shift(args->batch, states, x, width, shifted);
    }
    for (int32_t i = 0; i < self->n; i++) {
        const float *factors = graft_pass_widen(pass, self->mixes[i]);
        float *mixed = graft_pass_floats(pass, width);
        made[i] = graft_pass_floats(pass, self->widths[i]);
        linear_args[i] = (struct graft_linear_args){sizeof linear_args[i], 0, pass->rows, mixed, made[i]};
        for (int64_t t = 0; graft_pass_ok(pass) && t < pass->rows; t++) {
            for (int64_t c = 0; c < width; c++) {
                const int64_t at = t * width + c;
                mixed[at] = x[at] * factors[c] + shifted[at] * (1.0f - factors[c]);
            }
        }
    }
    if (graft_pass_ok(pass)) {
        (void)graft_linear_forward_all(self->projections, pass->call, linear_args, self->n, pass->error);
    }
}
