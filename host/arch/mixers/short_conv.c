/* SPDX-License-Identifier: Apache-2.0 */
/* A gated short convolution (LFM2): out(C * conv(B * x)), where one projection computes B, C and x. */
#include "arch/decoder/choices.h"
#include "arch/mixers/mixer.h"
#include "arch/role.h"

struct short_conv {
    struct graft_instance base;
    int64_t width;
    const struct graft_module *in_proj; /* hidden_size -> 3 * hidden_size */
    const struct graft_module *conv;
    const struct graft_module *output;
};

static void outline(struct graft_outline *of, struct short_conv *self) {
    const int32_t bias = graft_read_bool(&of->reader, D_MIXER_BIAS);
    self->width = graft_outline_hidden_size(of);
    graft_outline_linear(of, &self->in_proj, "in_proj", self->width, 3 * self->width, bias);
    graft_mixer_conv(of, &self->conv, self->width);
    graft_mixer_output(of, &self->output, self->width, bias);
}

GRAFT_OUTLINED(graft_short_conv, struct short_conv)

/* y[t] = a[t] * b[t] for `width` columns; rows of a and b are `a_stride` and `b_stride` apart. */
static void multiply(const float *a, int64_t a_stride, const float *b, int64_t b_stride, int64_t tokens, int64_t width,
                     float *y) {
    for (int64_t t = 0; t < tokens; t++) {
        for (int64_t i = 0; i < width; i++) {
            y[t * width + i] = a[t * a_stride + i] * b[t * b_stride + i];
        }
    }
}

static int forward(void *instance, const struct graft_call *call, const struct graft_mixer_args *args,
                   struct graft_error *error) {
    const struct short_conv *self = instance;
    const struct graft_pass pass = {call, args->batch->tokens, error};
    const int64_t width = self->width;
    float *BCx = graft_pass_product(&pass, self->in_proj, args->hidden_states, 3 * width); /* {B, C, x} [width] */
    float *Bx = graft_pass_floats(&pass, width);
    if (error->code == GRAFT_OK) {
        multiply(BCx, 3 * width, BCx + 2 * width, 3 * width, pass.rows, width, Bx);
    }
    float *mixed = graft_mixer_convolve(&pass, self->conv, args->batch, Bx, width);
    if (error->code == GRAFT_OK) {
        multiply(BCx + width, 3 * width, mixed, width, pass.rows, width, mixed);
    }
    graft_pass_linear(&pass, self->output, mixed, args->output);
    return error->code;
}

const struct graft_mixer graft_short_conv_vtable = {.struct_size = sizeof graft_short_conv_vtable, .forward = forward};
