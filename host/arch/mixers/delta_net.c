/* SPDX-License-Identifier: Apache-2.0 */
/* The mixer of the gated delta rule: projections, a short convolution, and the rule. */
#include "arch/mixers/delta_net.h"

#include <string.h>

#include "arch/decoder/choices.h"
#include "arch/mixers/mixer.h"
#include "arch/role.h"
#include "graft/describe.h"
#include "graft/state.h"

static const struct graft_delta_rule_loops *const loops[] = GRAFT_ISA_TABLES(graft_delta_rule);

/* --- Creating an instance --- */

static void check(struct graft_reader *reader, const struct graft_delta_sizes *sizes) {
    const char *act = graft_read_text(reader, D_MIXER_ACT);
    if (reader->status != GRAFT_OK) {
        return;
    }
    if (strcmp(act, "silu") != 0 && strcmp(act, "swish") != 0) {
        graft_reader_fail(reader, D_MIXER_ACT, "expected \"silu\" in a model with linear attention, got \"%s\"", act);
    } else if (sizes->value_heads % sizes->key_heads != 0) {
        graft_reader_fail(reader, D_MIXER_KEY_HEADS, "%lld does not divide the number of heads of values (%lld)",
                          (long long)sizes->key_heads, (long long)sizes->value_heads);
    }
}

static void read_sizes(struct graft_reader *reader, const struct graft_args *args, struct graft_delta_sizes *sizes) {
    const int32_t by_key = graft_read_word(reader, D_MIXER_DECAY) == D_DECAY_KEY;
    *sizes = (struct graft_delta_sizes){
        .hidden_size = graft_args_int(args, "hidden_size", 0),
        .key_heads = graft_read_int(reader, D_MIXER_KEY_HEADS),
        .key_dim = graft_read_int(reader, D_MIXER_KEY_DIM),
        .value_heads = graft_read_int(reader, D_MIXER_HEADS),
        .value_dim = graft_read_int(reader, D_MIXER_HEAD_DIM),
        .gate_rank = graft_read_int(reader, D_MIXER_GATE_RANK),
        .decay_floor = graft_read_real(reader, D_MIXER_DECAY_FLOOR),
        .beta_scale = graft_read_real(reader, D_MIXER_BETA_SCALE),
        .layout = graft_read_word(reader, D_MIXER_LAYOUT),
        .rates = graft_read_word(reader, D_MIXER_RATES),
    };
    sizes->decays = by_key ? sizes->key_dim : 1;
    check(reader, sizes);
}

/* A projection of the hidden states. With `rank` > 0 it has low rank: `narrow` projects to `rank` numbers, and `name`
 * from there. */
struct projection {
    const char *name;
    const char *narrow; /* hidden_size -> rank */
    int64_t rank;
    int64_t size;
};

static void describe_projections(const struct graft_delta_sizes *sizes, const struct graft_sink *sink,
                                 struct graft_error *error) {
    const int64_t keys = graft_delta_keys(sizes), values = graft_delta_values(sizes), rank = sizes->gate_rank;
    const int32_t by_key = sizes->decays > 1;
    const struct projection layouts[][6] = {
        [D_MIXER_GROUPED] = {{"in_proj_qkvz", NULL, 0, 2 * keys + 2 * values},
                             {"in_proj_ba", NULL, 0, 2 * sizes->value_heads}},
        [D_MIXER_JOINED] = {{"in_proj_qkv", NULL, 0, 2 * keys + values},
                            {"in_proj_z", NULL, 0, values},
                            {"in_proj_b", NULL, 0, sizes->value_heads},
                            {"in_proj_a", NULL, 0, sizes->value_heads * sizes->decays}},
        [D_MIXER_SEPARATE] = {{"q_proj", NULL, 0, keys},
                              {"k_proj", NULL, 0, keys},
                              {"v_proj", NULL, 0, values},
                              {"b_proj", NULL, 0, sizes->value_heads},
                              {!by_key    ? "a_proj"
                               : rank > 0 ? "f_b_proj"
                                          : "f_proj",
                               "f_a_proj", rank, sizes->value_heads * sizes->decays},
                              {rank > 0 ? "g_b_proj" : "g_proj", "g_a_proj", rank, values}},
    };
    for (int32_t i = 0; i < 6 && layouts[sizes->layout][i].name != NULL; i++) {
        const struct projection *projection = &layouts[sizes->layout][i];
        if (projection->rank > 0) {
            graft_describe_linear(sink, projection->narrow, sizes->hidden_size, projection->rank, 0, error);
        }
        graft_describe_linear(sink, projection->name, projection->rank > 0 ? projection->rank : sizes->hidden_size,
                              projection->size, 0, error);
    }
}

static void describe_parameters(const struct graft_description *description, const struct graft_delta_sizes *sizes,
                                const struct graft_sink *sink, struct graft_error *error) {
    const int64_t shape[] = {sizes->value_heads, sizes->key_dim, sizes->value_dim};
    const int64_t block[] = {1, 1, sizes->value_heads, 1};
    const int is_block = sizes->rates != D_RATES_VECTOR;
    graft_describe_linear(sink, graft_description_name(description, D_MIXER_OUTPUT), graft_delta_values(sizes),
                          sizes->hidden_size, 0, error);
    graft_describe_vector(sink, "dt_bias", sizes->value_heads * sizes->decays, error);
    graft_describe_parameter(sink, "A_log", is_block ? 4 : 1, is_block ? block : shape, GRAFT_PARAMETER_CONTIGUOUS,
                             GRAFT_INIT_NONE, error);
    graft_describe_state(sink, "recurrent_states", 3, shape, GRAFT_DTYPE_F32, error);
}

int graft_delta_net_describe(const struct graft_class *self, const struct graft_config *config,
                             const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    struct graft_delta_sizes *sizes = sink->keep(sink->data, sizeof *sizes, error); /* for `create` */
    struct graft_reader reader;
    if (sizes == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    graft_reader_start(&reader, self->data, config, graft_args_int(args, "layer_idx", 0), error);
    read_sizes(&reader, args, sizes);
    if (reader.status != GRAFT_OK) {
        return reader.status;
    }
    describe_projections(sizes, sink, error);
    graft_mixer_describe_conv(&reader, graft_delta_conv_dim(sizes), sink, error);
    graft_mixer_describe_norm(&reader, sizes->value_dim, sizes->value_dim, sink, error);
    describe_parameters(self->data, sizes, sink, error);
    return error->code;
}

/* Finds the projections of the layout. */
static void find_projections(struct graft_delta_net *self, const struct graft_build *build, struct graft_error *error) {
    const int32_t by_key = self->sizes.decays > 1;
    if (self->sizes.layout == D_MIXER_GROUPED) {
        self->qkvz = graft_build_child(build, "in_proj_qkvz", error);
        self->ba = graft_build_child(build, "in_proj_ba", error);
    } else if (self->sizes.layout == D_MIXER_JOINED) {
        self->qkv = graft_build_child(build, "in_proj_qkv", error);
        self->z = graft_build_child(build, "in_proj_z", error);
        self->b = graft_build_child(build, "in_proj_b", error);
        self->a = graft_build_child(build, "in_proj_a", error);
    } else {
        self->q = graft_build_child(build, "q_proj", error);
        self->k = graft_build_child(build, "k_proj", error);
        self->v = graft_build_child(build, "v_proj", error);
        self->b = graft_build_child(build, "b_proj", error);
    }
    if (self->sizes.layout == D_MIXER_SEPARATE && self->sizes.gate_rank > 0) {
        self->narrow_a = graft_build_child(build, "f_a_proj", error);
        self->a = graft_build_child(build, "f_b_proj", error);
        self->narrow_z = graft_build_child(build, "g_a_proj", error);
        self->z = graft_build_child(build, "g_b_proj", error);
    } else if (self->sizes.layout == D_MIXER_SEPARATE) {
        self->a = graft_build_child(build, by_key ? "f_proj" : "a_proj", error);
        self->z = graft_build_child(build, "g_proj", error);
    }
}

int graft_delta_net_create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                           struct graft_error *error) {
    const struct graft_description *description = cls->data;
    struct graft_delta_net *self = graft_instance_new(build, sizeof *self, error);
    if (self == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    self->sizes = *(const struct graft_delta_sizes *)build->kept;
    self->loops = loops[graft_isa_choose(sizeof loops / sizeof loops[0])];
    find_projections(self, build, error);
    self->conv1d = graft_build_child(build, graft_description_name(description, D_MIXER_CONV), error);
    self->norm = graft_build_child(build, graft_description_name(description, D_MIXER_NORM), error);
    self->output = graft_build_child(build, graft_description_name(description, D_MIXER_OUTPUT), error);
    self->dt_bias = graft_build_weight(build, "dt_bias", error);
    self->A_log = graft_build_weight(build, "A_log", error);
    self->recurrent_states = graft_build_state(build, "recurrent_states", error);
    return graft_instance_finish(self, instance, error);
}
