/* SPDX-License-Identifier: Apache-2.0 */
/* A gated short convolution (LFM2): out(C * conv(B * x)), where one projection computes B, C and x. */
#include "arch/decoder/choices.h"
#include "arch/mixers/mixer.h"
#include "arch/role.h"
#include "graft/describe.h"
#include "graft/mixer.h"

struct short_conv {
    struct graft_instance base;
    int64_t hidden_size;
    const struct graft_module *in_proj; /* hidden_size -> 3 * hidden_size */
    const struct graft_module *conv;
    const struct graft_module *output;
};

int graft_short_conv_describe(const struct graft_class *self, const struct graft_config *config,
                              const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    const int64_t width = graft_args_int(args, "hidden_size", 0);
    struct graft_reader reader;
    graft_reader_start(&reader, self->data, config, graft_args_int(args, "layer_idx", 0), error);
    const int32_t bias = graft_read_bool(&reader, D_MIXER_BIAS);
    graft_describe_linear(sink, "in_proj", width, 3 * width, bias, error);
    graft_mixer_describe_conv(&reader, width, sink, error);
    graft_describe_linear(sink, graft_description_name(self->data, D_MIXER_OUTPUT), width, width, bias, error);
    return error->code;
}

int graft_short_conv_create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                            struct graft_error *error) {
    struct short_conv *self = graft_instance_new(build, sizeof *self, error);
    if (self == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    self->hidden_size = graft_args_int(build->args, "hidden_size", 0);
    self->in_proj = graft_build_child(build, "in_proj", error);
    self->conv = graft_build_child(build, graft_description_name(cls->data, D_MIXER_CONV), error);
    self->output = graft_build_child(build, graft_description_name(cls->data, D_MIXER_OUTPUT), error);
    return graft_instance_finish(self, instance, error);
}

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
    const int64_t tokens = args->batch->tokens;
    const int64_t width = self->hidden_size;
    float *BCx = graft_scratch_floats(call, tokens, 3 * width, error); /* [tokens, {B, C, x} [hidden_size]] */
    float *Bx = graft_scratch_floats(call, tokens, width, error);      /* [tokens, hidden_size] */
    float *mixed = graft_scratch_floats(call, tokens, width, error);   /* [tokens, hidden_size] */
    const struct graft_linear_args in_args = {sizeof in_args, 0, tokens, args->hidden_states, BCx};
    const struct graft_causal_conv1d_args conv_args = {sizeof conv_args, 0, args->batch, Bx, mixed};
    const struct graft_linear_args output_args = {sizeof output_args, 0, tokens, mixed, args->output};
    if (BCx == NULL || Bx == NULL || mixed == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    int status = graft_linear_forward(self->in_proj, call, &in_args, error);
    if (status == GRAFT_OK) {
        multiply(BCx, 3 * width, BCx + 2 * width, 3 * width, tokens, width, Bx);
        status = graft_causal_conv1d_forward(self->conv, call, &conv_args, error);
    }
    if (status == GRAFT_OK) {
        multiply(BCx + width, 3 * width, mixed, width, tokens, width, mixed);
        status = graft_linear_forward(self->output, call, &output_args, error);
    }
    return status;
}

const struct graft_mixer graft_short_conv_vtable = {.struct_size = sizeof graft_short_conv_vtable, .forward = forward};
