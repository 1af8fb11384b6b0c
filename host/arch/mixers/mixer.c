/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/mixers/mixer.h"

#include <math.h>
#include <string.h>

#include "arch/decoder/choices.h"
#include "graft/causal_conv1d.h"
#include "graft/describe.h"
#include "graft/gated_norm.h"

int graft_mixer_describe_conv(struct graft_reader *reader, int64_t channels, const struct graft_sink *sink,
                              struct graft_error *error) {
    const struct graft_arg args[] = {graft_int_arg("channels", channels),
                                     graft_int_arg("kernel_size", graft_read_int(reader, D_MIXER_KERNEL)),
                                     graft_int_arg("bias", graft_read_bool(reader, D_MIXER_CONV_BIAS))};
    return reader->status == GRAFT_OK
               ? graft_describe_child(sink, graft_description_name(reader->description, D_MIXER_CONV), "Conv1d",
                                      GRAFT_INTERFACE_CAUSAL_CONV1D, args, 3, error)
               : reader->status;
}

int graft_mixer_describe_norm(struct graft_reader *reader, int64_t width, int64_t group, const struct graft_sink *sink,
                              struct graft_error *error) {
    const struct graft_description *description = reader->description;
    const char *class_name = graft_description_name(description, D_CLASS_GATED_NORM);
    const struct graft_arg args[] = {graft_int_arg("hidden_size", width),
                                     graft_real_arg("eps", graft_read_real(reader, D_MIXER_NORM_EPS)),
                                     graft_int_arg("group_size", group)};
    if (class_name == NULL) {
        graft_reader_fail(reader, D_CLASS_GATED_NORM, "missing, but the mixer has such a norm");
    }
    return reader->status == GRAFT_OK
               ? graft_describe_child(sink, graft_description_name(description, D_MIXER_NORM), class_name,
                                      GRAFT_INTERFACE_GATED_NORM, args, group != width ? 3 : 2, error)
               : reader->status;
}

int graft_mixer_describe_act(struct graft_reader *reader, const char *name, const struct graft_sink *sink,
                             struct graft_error *error) {
    const struct graft_arg arg = graft_string_arg("hidden_act", graft_read_text(reader, D_MIXER_ACT));
    const struct graft_args args = graft_args_of(&arg, 1);
    return reader->status == GRAFT_OK
               ? graft_describe_activation(sink, name, reader->config, &args, "hidden_act", error)
               : reader->status;
}

void graft_take_columns(const float *x, int64_t stride, int64_t first, int64_t tokens, int64_t columns, float *y) {
    for (int64_t t = 0; t < tokens; t++) {
        memcpy(y + t * columns, x + t * stride + first, (size_t)columns * sizeof *y);
    }
}

void graft_scale(float *x, int64_t count, float scale) {
    for (int64_t i = 0; scale != 1.0f && i < count; i++) {
        x[i] *= scale;
    }
}

float graft_softplus(float x) {
    return x > 20.0f ? x : log1pf(expf(x)); /* for larger x both are equal in f32 */
}
