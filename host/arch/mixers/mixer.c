/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/mixers/mixer.h"

#include <math.h>

#include "arch/decoder/choices.h"
#include "graft/causal_conv1d.h"
#include "graft/describe.h"
#include "graft/gated_norm.h"

void graft_mixer_conv(struct graft_outline *of, const struct graft_module **conv, int64_t channels) {
    const struct graft_arg args[] = {graft_int_arg("channels", channels),
                                     graft_int_arg("kernel_size", graft_read_int(&of->reader, D_MIXER_KERNEL)),
                                     graft_int_arg("bias", graft_read_bool(&of->reader, D_MIXER_CONV_BIAS))};
    graft_outline_child(of, conv, graft_outline_name(of, D_MIXER_CONV), "Conv1d", GRAFT_INTERFACE_CAUSAL_CONV1D, args,
                        3);
}

void graft_mixer_norm(struct graft_outline *of, const struct graft_module **norm, int64_t width, int64_t group) {
    const char *class_name = graft_outline_name(of, D_CLASS_GATED_NORM);
    const struct graft_arg args[] = {graft_int_arg("hidden_size", width),
                                     graft_real_arg("eps", graft_read_real(&of->reader, D_MIXER_NORM_EPS)),
                                     graft_int_arg("group_size", group)};
    if (class_name == NULL) {
        graft_reader_fail(&of->reader, D_CLASS_GATED_NORM, "missing, but the mixer has such a norm");
    }
    graft_outline_child(of, norm, graft_outline_name(of, D_MIXER_NORM), class_name, GRAFT_INTERFACE_GATED_NORM, args,
                        group != width ? 3 : 2);
}

void graft_mixer_act(struct graft_outline *of, const struct graft_module **act, const char *name) {
    const struct graft_arg arg = graft_string_arg("hidden_act", graft_read_text(&of->reader, D_MIXER_ACT));
    const struct graft_args own = graft_args_of(&arg, 1), *given = of->args;
    of->args = &own;
    graft_outline_activation(of, act, name);
    of->args = given;
}

void graft_mixer_output(struct graft_outline *of, const struct graft_module **output, int64_t size, int32_t bias) {
    graft_outline_linear(of, output, graft_outline_name(of, D_MIXER_OUTPUT), size, graft_outline_hidden_size(of), bias);
}

float *graft_mixer_convolve(const struct graft_pass *pass, const struct graft_module *conv,
                            const struct graft_batch *batch, const float *x, int64_t channels) {
    float *y = graft_pass_floats(pass, channels);
    const struct graft_causal_conv1d_args args = {sizeof args, 0, batch, x, y};
    if (graft_pass_ok(pass)) {
        (void)graft_causal_conv1d_forward(conv, pass->call, &args, pass->error);
    }
    return y;
}

void graft_mixer_gated_norm(const struct graft_pass *pass, const struct graft_module *norm, int64_t heads, float *x,
                            float *gate) {
    const struct graft_gated_norm_args args = {sizeof args, 0, pass->rows * heads, x, gate};
    if (graft_pass_ok(pass)) {
        (void)graft_gated_norm_forward(norm, pass->call, &args, pass->error);
    }
}

float **graft_mixer_states(const struct graft_pass *pass, const struct graft_batch *batch,
                           const struct graft_state *state) {
    float **states = graft_scratch_zeroed(pass->call, batch->sequences * (int64_t)sizeof *states, pass->error);
    for (int32_t s = 0; s < batch->sequences && graft_pass_ok(pass); s++) {
        states[s] = graft_state_get(pass->call, batch, state, s, pass->error);
    }
    return states;
}
