/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/mixers/mamba2.h"

#include <math.h>

#include "arch/decoder/choices.h"
#include "arch/mixers/mixer.h"
#include "arch/role.h"
#include "graft/describe.h"
#include "graft/state.h"

static const struct graft_mamba2_scan_loops *const loops[] = GRAFT_ISA_TABLES(graft_mamba2_scan);

static void check(struct graft_reader *reader, const struct graft_mamba2_sizes *sizes) {
    const int64_t size = graft_read_int(reader, D_MIXER_SIZE);
    if (reader->status == GRAFT_OK && size != sizes->size) {
        graft_reader_fail(reader, D_MIXER_SIZE, "expected heads times their width, %lld * %lld, got %lld",
                          (long long)sizes->heads, (long long)sizes->head_dim, (long long)size);
    } else if (reader->status == GRAFT_OK && sizes->heads % sizes->groups != 0) {
        graft_reader_fail(reader, D_MIXER_GROUPS, "%lld does not divide the number of heads (%lld)",
                          (long long)sizes->groups, (long long)sizes->heads);
    }
}

static void read_sizes(struct graft_reader *reader, const struct graft_args *args, struct graft_mamba2_sizes *sizes) {
    *sizes = (struct graft_mamba2_sizes){
        .hidden_size = graft_args_int(args, "hidden_size", 0),
        .heads = graft_read_int(reader, D_MIXER_HEADS),
        .head_dim = graft_read_int(reader, D_MIXER_HEAD_DIM),
        .state_size = graft_read_int(reader, D_MIXER_STATE_SIZE),
        .groups = graft_read_int(reader, D_MIXER_GROUPS),
        .step_min = graft_read_real(reader, D_MIXER_STEP_MIN),
        .step_max = graft_read_is_null(reader, D_MIXER_STEP_MAX) ? INFINITY : graft_read_real(reader, D_MIXER_STEP_MAX),
        .input_scale = graft_read_real(reader, D_MIXER_INPUT_SCALE),
        .output_scale = graft_read_real(reader, D_MIXER_OUTPUT_SCALE),
        .gate_scale = graft_read_real(reader, D_MIXER_GATE_SCALE),
        .x_scale = graft_read_real(reader, D_MIXER_X_SCALE),
        .b_scale = graft_read_real(reader, D_MIXER_B_SCALE),
        .c_scale = graft_read_real(reader, D_MIXER_C_SCALE),
        .step_scale = graft_read_real(reader, D_MIXER_STEP_SCALE),
    };
    sizes->size = sizes->heads * sizes->head_dim;
    sizes->conv_dim = sizes->size + 2 * sizes->groups * sizes->state_size;
    check(reader, sizes);
}

static void describe_parameters(const struct graft_mamba2_sizes *sizes, const struct graft_sink *sink,
                                struct graft_error *error) {
    const int64_t shape[] = {sizes->heads, sizes->state_size, sizes->head_dim};
    graft_describe_vector(sink, "dt_bias", sizes->heads, error);
    graft_describe_vector(sink, "A_log", sizes->heads, error);
    graft_describe_vector(sink, "D", sizes->heads, error);
    graft_describe_state(sink, "recurrent_states", 3, shape, GRAFT_DTYPE_F32, error);
}

int graft_mamba2_describe(const struct graft_class *self, const struct graft_config *config,
                          const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    struct graft_mamba2_sizes *sizes = sink->keep(sink->data, sizeof *sizes, error); /* for `create` */
    struct graft_reader reader;
    if (sizes == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    graft_reader_start(&reader, self->data, config, graft_args_int(args, "layer_idx", 0), error);
    read_sizes(&reader, args, sizes);
    const int32_t bias = graft_read_bool(&reader, D_MIXER_BIAS);
    const int32_t output_bias = graft_read_bool(&reader, D_MIXER_OUTPUT_BIAS);
    if (reader.status != GRAFT_OK) {
        return reader.status;
    }
    describe_parameters(sizes, sink, error);
    graft_mixer_describe_act(&reader, "act", sink, error);
    graft_mixer_describe_conv(&reader, sizes->conv_dim, sink, error);
    graft_describe_linear(sink, "in_proj", sizes->hidden_size, graft_mamba2_projected(sizes), bias, error);
    if (graft_read_bool(&reader, D_MIXER_NORMED)) {
        graft_mixer_describe_norm(&reader, sizes->size, sizes->size / sizes->groups, sink, error);
    }
    graft_describe_linear(sink, graft_description_name(self->data, D_MIXER_OUTPUT), sizes->size, sizes->hidden_size,
                          output_bias, error);
    return error->code;
}

int graft_mamba2_create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                        struct graft_error *error) {
    const struct graft_description *description = cls->data;
    struct graft_mamba2 *self = graft_instance_new(build, sizeof *self, error);
    if (self == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    self->sizes = *(const struct graft_mamba2_sizes *)build->kept;
    self->loops = loops[graft_isa_choose(sizeof loops / sizeof loops[0])];
    self->in_proj = graft_build_child(build, "in_proj", error);
    self->conv1d = graft_build_child(build, graft_description_name(description, D_MIXER_CONV), error);
    self->act = graft_build_child(build, "act", error);
    self->norm = build->child(build->data, graft_description_name(description, D_MIXER_NORM));
    self->out_proj = graft_build_child(build, graft_description_name(description, D_MIXER_OUTPUT), error);
    self->dt_bias = graft_build_weight(build, "dt_bias", error);
    self->A_log = graft_build_weight(build, "A_log", error);
    self->D = graft_build_weight(build, "D", error);
    self->recurrent_states = graft_build_state(build, "recurrent_states", error);
    return graft_instance_finish(self, instance, error);
}
