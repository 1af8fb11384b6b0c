/* SPDX-License-Identifier: Apache-2.0 */
/* The mixer of Mamba 2 (Dao & Gu 2024). */
#include <math.h>

#include "arch/basic/activation.h"
#include "arch/decoder/choices.h"
#include "arch/mixers/mamba2_scan.h"
#include "arch/mixers/mixer.h"
#include "arch/role.h"
#include "graft/kernels.h"

static const struct graft_mamba2_scan_loops *const loops[] = GRAFT_ISA_TABLES(graft_mamba2_scan);

struct mamba2 {
    struct graft_instance base;
    const struct graft_mamba2_scan_loops *loops;
    int64_t hidden_size;
    int64_t heads;
    int64_t head_dim;
    int64_t size; /* heads * head_dim */
    int64_t state_size;
    int64_t groups;   /* divides heads: heads of a group share B and C */
    int64_t conv_dim; /* width of the convolution: x, B and C, concatenated */
    float step_min;
    float step_max; /* may be infinite */
    float input_scale;
    float output_scale;
    float gate_scale; /* factors for the parts of in_proj's output: this and the next four */
    float x_scale;
    float b_scale;
    float c_scale;
    float step_scale;
    const struct graft_module *in_proj;
    const struct graft_module *conv1d;
    const struct graft_module *act;
    const struct graft_module *norm; /* NULL: no norm, only silu(gate) */
    const struct graft_module *out_proj;
    const struct graft_weight *dt_bias;         /* [heads] */
    const struct graft_weight *A_log;           /* [heads] */
    const struct graft_weight *D;               /* [heads] */
    const struct graft_state *recurrent_states; /* [heads, state_size, head_dim] f32 */
};

/* The width of in_proj's output: gate, input of the convolution, and a step for each head. */
static int64_t projected_size(const struct mamba2 *self) {
    return self->size + self->conv_dim + self->heads;
}

static void read_sizes(struct graft_reader *reader, struct mamba2 *self) {
    const int64_t size = graft_read_int(reader, D_MIXER_SIZE);
    self->heads = graft_read_int(reader, D_MIXER_HEADS);
    self->head_dim = graft_read_int(reader, D_MIXER_HEAD_DIM);
    self->state_size = graft_read_int(reader, D_MIXER_STATE_SIZE);
    self->groups = graft_read_int(reader, D_MIXER_GROUPS);
    self->size = self->heads * self->head_dim;
    self->conv_dim = self->size + 2 * self->groups * self->state_size;
    self->step_min = (float)graft_read_real(reader, D_MIXER_STEP_MIN);
    self->step_max =
        graft_read_is_null(reader, D_MIXER_STEP_MAX) ? INFINITY : (float)graft_read_real(reader, D_MIXER_STEP_MAX);
    self->input_scale = (float)graft_read_real(reader, D_MIXER_INPUT_SCALE);
    self->output_scale = (float)graft_read_real(reader, D_MIXER_OUTPUT_SCALE);
    self->gate_scale = (float)graft_read_real(reader, D_MIXER_GATE_SCALE);
    self->x_scale = (float)graft_read_real(reader, D_MIXER_X_SCALE);
    self->b_scale = (float)graft_read_real(reader, D_MIXER_B_SCALE);
    self->c_scale = (float)graft_read_real(reader, D_MIXER_C_SCALE);
    self->step_scale = (float)graft_read_real(reader, D_MIXER_STEP_SCALE);
    if (reader->status == GRAFT_OK && size != self->size) {
        graft_reader_fail(reader, D_MIXER_SIZE, "expected heads times their width, %lld * %lld, got %lld",
                          (long long)self->heads, (long long)self->head_dim, (long long)size);
    } else if (reader->status == GRAFT_OK && self->heads % self->groups != 0) {
        graft_reader_fail(reader, D_MIXER_GROUPS, "%lld does not divide the number of heads (%lld)",
                          (long long)self->groups, (long long)self->heads);
    }
}

static void outline(struct graft_outline *of, struct mamba2 *self) {
    self->loops = loops[graft_isa_choose(sizeof loops / sizeof loops[0])];
    self->hidden_size = graft_outline_hidden_size(of);
    read_sizes(&of->reader, self);
    const int32_t bias = graft_read_bool(&of->reader, D_MIXER_BIAS);
    const int32_t output_bias = graft_read_bool(&of->reader, D_MIXER_OUTPUT_BIAS);
    const int64_t shape[] = {self->heads, self->state_size, self->head_dim};
    graft_outline_vector(of, &self->dt_bias, "dt_bias", self->heads);
    graft_outline_vector(of, &self->A_log, "A_log", self->heads);
    graft_outline_vector(of, &self->D, "D", self->heads);
    graft_outline_state(of, &self->recurrent_states, "recurrent_states", 3, shape);
    graft_mixer_act(of, &self->act, "act");
    graft_mixer_conv(of, &self->conv1d, self->conv_dim);
    graft_outline_linear(of, &self->in_proj, "in_proj", self->hidden_size, projected_size(self), bias);
    if (graft_read_bool(&of->reader, D_MIXER_NORMED)) {
        graft_mixer_norm(of, &self->norm, self->size, self->size / self->groups);
    }
    graft_mixer_output(of, &self->out_proj, self->size, output_bias);
}

GRAFT_OUTLINED(graft_mamba2, struct mamba2)

/* x [tokens, hidden_size] times the input's scale; x itself if that is 1. */
static const float *scaled_input(const struct mamba2 *self, const struct graft_pass *pass, const float *x) {
    if (self->input_scale == 1.0f) {
        return x;
    }
    float *scaled = graft_pass_columns(pass, x, self->hidden_size, 0, self->hidden_size);
    graft_pass_scale(pass, scaled, self->hidden_size, self->input_scale);
    return scaled;
}

/* Scales the parts of what goes through the convolution, [tokens, {x, B, C}]. */
static void scale_parts(const struct mamba2 *self, const struct graft_pass *pass, float *xBC) {
    const int64_t shared = self->groups * self->state_size;
    const struct graft_pass one = {pass->call, 1, pass->error};
    for (int64_t t = 0; graft_pass_ok(pass) && t < pass->rows; t++, xBC += self->conv_dim) {
        graft_pass_scale(&one, xBC, self->size, self->x_scale);
        graft_pass_scale(&one, xBC + self->size, shared, self->b_scale);
        graft_pass_scale(&one, xBC + self->size + shared, shared, self->c_scale);
    }
}

/* dt [tokens, heads]: the length of each head's step, of what in_proj gives. */
static float *find_steps(const struct mamba2 *self, const struct graft_pass *pass, const float *projected) {
    const float *bias = graft_pass_widen(pass, self->dt_bias);
    float *dt = graft_pass_floats(pass, self->heads);
    for (int64_t t = 0; graft_pass_ok(pass) && t < pass->rows; t++) {
        const float *raw = projected + (t + 1) * projected_size(self) - self->heads;
        for (int64_t h = 0; h < self->heads; h++) {
            const float step = fmaxf(graft_softplus(self->step_scale * raw[h] + bias[h]), self->step_min);
            dt[t * self->heads + h] = fminf(step, self->step_max);
        }
    }
    return dt;
}

/* y [tokens, size] */
static float *scan(const struct mamba2 *self, const struct graft_pass *pass, const struct graft_batch *batch,
                   const float *dt, const float *xBC) {
    float *A = graft_pass_widen(pass, self->A_log);
    const struct graft_mamba2_scan whole = {
        .num_heads = self->heads,
        .head_dim = self->head_dim,
        .state_size = self->state_size,
        .n_groups = self->groups,
        .A = A,
        .D = graft_pass_widen(pass, self->D),
        .dt = dt,
        .xBC = xBC,
        .y = graft_pass_floats(pass, self->size),
    };
    for (int64_t h = 0; graft_pass_ok(pass) && h < self->heads; h++) {
        A[h] = -expf(A[h]);
    }
    graft_mamba2_scan_batch(self->loops, &whole, pass, batch, self->recurrent_states);
    return whole.y;
}

static int forward(void *instance, const struct graft_call *call, const struct graft_mixer_args *args,
                   struct graft_error *error) {
    const struct mamba2 *self = instance;
    const struct graft_pass pass = {call, args->batch->tokens, error};
    const int64_t width = projected_size(self);
    const float *x = scaled_input(self, &pass, args->hidden_states);
    float *projected = graft_pass_product(&pass, self->in_proj, x, width);
    float *gate = graft_pass_columns(&pass, projected, width, 0, self->size); /* later the input of out_proj */
    float *unmixed = graft_pass_columns(&pass, projected, width, self->size, self->conv_dim);
    graft_pass_scale(&pass, gate, self->size, self->gate_scale);
    scale_parts(self, &pass, unmixed);
    float *xBC = graft_mixer_convolve(&pass, self->conv1d, args->batch, unmixed, self->conv_dim);
    graft_pass_activate(&pass, self->act, xBC, self->conv_dim);
    float *y = scan(self, &pass, args->batch, find_steps(self, &pass, projected), xBC);
    if (self->norm != NULL) {
        graft_mixer_gated_norm(&pass, self->norm, 1, y, gate);
    } else {
        graft_pass_gate(&pass, GRAFT_ACTIVATION_SILU, gate, y, self->size);
    }
    graft_pass_linear(&pass, self->out_proj, gate, args->output);
    graft_pass_scale(&pass, args->output, self->hidden_size, self->output_scale);
    return error->code;
}

const struct graft_mixer graft_mamba2_vtable = {.struct_size = sizeof graft_mamba2_vtable, .forward = forward};
