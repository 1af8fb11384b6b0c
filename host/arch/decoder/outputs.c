/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "arch/decoder/attention.h"
#include "arch/decoder/choices.h"
#include "graft/describe.h"
#include "graft/linear.h"
#include "graft/norm.h"

int graft_attention_describe_output(const struct graft_description *description,
                                    const struct graft_attention_kept *kept, const struct graft_args *args,
                                    const struct graft_sink *sink, struct graft_error *error) {
    const char *norm = graft_description_name(description, D_OUTPUT_NORM);
    const int64_t width = kept->sizes.heads * kept->value_dim;
    graft_describe_linear(sink, graft_description_name(description, D_OUTPUT), width, kept->sizes.hidden_size,
                          kept->sizes.o_proj_bias, error);
    if (norm != NULL) {
        graft_describe_norm(sink, norm, graft_description_name(description, D_CLASS_NORM), width,
                            graft_args_real(args, "eps", 1e-6), error);
    }
    return error->code;
}

static float open(int32_t act, float gate) {
    return act == D_GATE_SIGMOID ? 1.0f / (1.0f + expf(-gate)) : gate > 20.0f ? gate : log1pf(expf(gate));
}

/* context *= act(gate + bias) */
static int apply_gate(const struct graft_attention *self, const struct graft_call *call, const struct graft_heads *gate,
                      int64_t tokens, float *context, struct graft_error *error) {
    const struct graft_attention_kept *kept = &self->kept;
    const int64_t heads = kept->sizes.heads, dim = kept->value_dim;
    const float *bias = self->gate_bias != NULL ? graft_scratch_widened(call, self->gate_bias, error) : NULL;
    if (bias == NULL && self->gate_bias != NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    for (int64_t i = 0; i < tokens * heads; i++) {
        const float *from = gate->x + i / heads * gate->stride + i % heads * gate->head_stride;
        const float added = bias != NULL ? bias[i % heads] : 0.0f;
        float factor = open(kept->gate_act, from[0] + added);
        for (int64_t d = 0; d < dim; d++) {
            factor = d == 0 || kept->gate == D_GATE_HEAD ? factor : open(kept->gate_act, from[d] + added);
            context[i * dim + d] *= factor;
        }
    }
    return GRAFT_OK;
}

/* Replaces x [tokens, width] by a normalised copy, in scratch memory, if there is a norm. */
static int norm(const struct graft_attention *self, const struct graft_call *call, int64_t tokens, float **x,
                struct graft_error *error) {
    if (self->output_norm == NULL) {
        return GRAFT_OK;
    }
    float *normed = graft_scratch_floats(call, tokens, self->kept.sizes.heads * self->kept.value_dim, error);
    const struct graft_norm_args args = {sizeof args, 0, tokens, *x, NULL, normed};
    if (normed == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    *x = normed;
    return graft_norm_forward(self->output_norm, call, &args, error);
}

int graft_attention_give(const struct graft_attention *self, const struct graft_call *call, int64_t tokens,
                         const struct graft_heads *gate, float *context, float *output, struct graft_error *error) {
    int status = gate->x != NULL ? apply_gate(self, call, gate, tokens, context, error) : GRAFT_OK;
    if (status == GRAFT_OK) {
        status = norm(self, call, tokens, &context, error);
    }
    const struct graft_linear_args args = {sizeof args, 0, tokens, context, output};
    return status == GRAFT_OK ? graft_linear_forward(self->output, call, &args, error) : status;
}
