/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/decoder/choices.h"
#include "arch/role.h"

int graft_mlp_describe(const struct graft_class *self, const struct graft_config *config, const struct graft_args *args,
                       const struct graft_sink *sink, struct graft_error *error) {
    const struct graft_description *description = self->data;
    struct graft_reader reader;
    graft_reader_start(&reader, description, config, graft_args_int(args, "layer_idx", 0), error);
    const char *gate_up = graft_description_name(description, D_MLP_GATE_UP);
    const int32_t gated = graft_read_bool(&reader, D_MLP_GATED);
    const char *alone = gated ? NULL : graft_description_name(description, D_MLP_ALONE);
    const char *up = alone != NULL ? alone : graft_description_name(description, D_MLP_UP);
    const struct graft_parts_mlp part = {
        .gate = gate_up == NULL && gated ? graft_description_name(description, D_MLP_GATE) : NULL,
        .up = gate_up == NULL ? up : NULL,
        .gate_up = gate_up,
        .down = graft_description_name(description, D_MLP_DOWN),
        .act = graft_description_name(description, D_MLP_ACT_NAME),
        .norm = graft_description_name(description, D_MLP_NORM),
        .norm_class = graft_description_name(description, D_CLASS_NORM),
        .gate_scale = graft_read_real(&reader, D_MLP_GATE_SCALE),
        .output_scale = graft_read_real(&reader, D_MLP_OUTPUT_SCALE),
        .swiglu_alpha = graft_read_real(&reader, D_MLP_ALPHA),
        .swiglu_limit = graft_read_real(&reader, D_MLP_LIMIT),
        .gate_quantile = graft_read_real(&reader, D_MLP_GATE_QUANTILE),
        .down_bias = graft_read_is_null(&reader, D_MLP_DOWN_BIAS)     ? GRAFT_PARTS_AS_BIAS
                     : graft_read_bool(&reader, D_MLP_DOWN_BIAS) != 0 ? GRAFT_PARTS_BIAS
                                                                      : GRAFT_PARTS_NO_BIAS,
    };
    if (reader.status == GRAFT_OK &&
        graft_read_is_null(&reader, D_MLP_ALPHA) != graft_read_is_null(&reader, D_MLP_LIMIT)) {
        graft_reader_fail(&reader, part.swiglu_limit == 0.0 ? D_MLP_LIMIT : D_MLP_ALPHA, "expected a number, got null");
    }
    if (reader.status == GRAFT_OK && part.gate_quantile > 0.0 && part.gate == NULL && part.gate_up == NULL) {
        graft_reader_fail(&reader, D_MLP_GATE_QUANTILE, "expected 0, as the MLP has no gate, got %g",
                          part.gate_quantile);
    }
    if (reader.status == GRAFT_OK && part.gate_quantile >= 1.0) {
        graft_reader_fail(&reader, D_MLP_GATE_QUANTILE, "expected less than 1, got %g", part.gate_quantile);
    }
    return reader.status == GRAFT_OK ? graft_parts_mlp_declare(&part, config, args, sink, error) : reader.status;
}
