/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "arch/basic/activation.h"
#include "arch/decoder/attention.h"
#include "arch/decoder/choices.h"
#include "arch/mixers/mixer.h"

static float open(int32_t act, float gate) {
    return act == D_GATE_SIGMOID ? 1.0f / (1.0f + expf(-gate)) : graft_softplus(gate);
}

/* context *= act(gate + bias) */
static void apply_gate(const struct graft_attention *self, const struct graft_pass *pass,
                       const struct graft_heads *gate, float *context) {
    const int64_t heads = self->sizes.heads, dim = self->value_dim;
    const float *bias = graft_pass_widen(pass, self->gate_bias);
    for (int64_t i = 0; graft_pass_ok(pass) && i < pass->rows * heads; i++) {
        const float *from = graft_heads_at(gate, heads, i);
        const float added = bias != NULL ? bias[i % heads] : 0.0f;
        float factor = open(self->gate_act, from[0] + added);
        for (int64_t d = 0; d < dim; d++) {
            factor = d == 0 || self->gate_kind == D_GATE_HEAD ? factor : open(self->gate_act, from[d] + added);
            context[i * dim + d] *= factor;
        }
    }
}

void graft_attention_give(const struct graft_attention *self, const struct graft_pass *pass,
                          const struct graft_heads *gate, float *context, float *output) {
    if (gate->x != NULL) {
        apply_gate(self, pass, gate, context);
    }
    context = graft_pass_normed(pass, self->output_norm, context, self->sizes.heads * self->value_dim);
    graft_pass_linear(pass, self->output, context, output);
}
