/* SPDX-License-Identifier: Apache-2.0 */
/* The mixer of Mamba (Gu & Dao 2023). */
#include "arch/decoder/choices.h"
#include "arch/decoder/roles.h"
#include "arch/mixers/mamba_scan.h"
#include "arch/mixers/mixer.h"
#include "arch/role.h"
#include "graft/kernels.h"

static const struct graft_mamba_scan_loops *const loops[] = GRAFT_ISA_TABLES(graft_mamba_scan);

struct mamba {
    struct graft_instance base;
    const struct graft_mamba_scan_loops *loops;
    int64_t size;       /* channels */
    int64_t state_size; /* of each */
    int64_t step_rank;
    const struct graft_module *in_proj;
    const struct graft_module *conv1d;
    const struct graft_module *act;
    const struct graft_module *x_proj;
    const struct graft_module *norms[3]; /* of steps, B and C; NULL: none */
    const struct graft_module *dt_proj;
    const struct graft_module *out_proj;
    const struct graft_weight *A_log;           /* [size, state_size] */
    const struct graft_weight *D;               /* [size] */
    const struct graft_state *recurrent_states; /* [state_size, size] f32 */
};

/* The width of x_proj's output: inputs of the steps, B and C. */
static int64_t selected_size(const struct mamba *self) {
    return self->step_rank + 2 * self->state_size;
}

/* Lays out the norms of steps, B and C, if the family has them. */
static void outline_norms(struct graft_outline *of, struct mamba *self) {
    static const char *const names[] = {"dt_layernorm", "b_layernorm", "c_layernorm"};
    const int32_t kind = graft_read_word(&of->reader, D_MIXER_STEP_NORMS);
    const double eps = kind != D_STEP_NORMS_NONE ? graft_read_real(&of->reader, D_MIXER_NORM_EPS) : 0.0;
    for (int i = 0; i < 3 && kind != D_STEP_NORMS_NONE; i++) {
        const struct graft_arg args[] = {
            graft_int_arg("hidden_size", i == 0 ? self->step_rank : self->state_size),
            graft_real_arg("eps", eps),
            graft_int_arg("weight", kind == D_STEP_NORMS_WEIGHTED),
        };
        graft_outline_child(of, &self->norms[i], names[i],
                            graft_decoder_class_name(of->reader.description, D_CLASS_STEP_NORM), GRAFT_INTERFACE_NORM,
                            args, 3);
    }
}

static void outline(struct graft_outline *of, struct mamba *self) {
    self->loops = loops[graft_isa_choose(sizeof loops / sizeof loops[0])];
    self->size = graft_read_int(&of->reader, D_MIXER_SIZE);
    self->state_size = graft_read_int(&of->reader, D_MIXER_STATE_SIZE);
    self->step_rank = graft_read_int(&of->reader, D_MIXER_STEP_RANK);
    const int64_t hidden_size = graft_outline_hidden_size(of);
    const int64_t A_log[] = {self->size, self->state_size}, recurrent_states[] = {self->state_size, self->size};
    const int32_t bias = graft_read_bool(&of->reader, D_MIXER_BIAS);
    graft_outline_linear(of, &self->in_proj, "in_proj", hidden_size, 2 * self->size, bias);
    graft_outline_linear(of, &self->x_proj, "x_proj", self->size, selected_size(self), 0);
    graft_outline_linear(of, &self->dt_proj, "dt_proj", self->step_rank, self->size, 1);
    graft_outline_linear(of, &self->out_proj, "out_proj", self->size, hidden_size, bias);
    outline_norms(of, self);
    graft_mixer_act(of, &self->act, "act");
    graft_mixer_conv(of, &self->conv1d, self->size);
    graft_outline_parameter(of, &self->A_log, "A_log", 2, A_log);
    graft_outline_vector(of, &self->D, "D", self->size);
    graft_outline_state(of, &self->recurrent_states, "recurrent_states", 2, recurrent_states);
}

GRAFT_OUTLINED(graft_mamba, struct mamba)

/* Arguments of the parallel loops: A of some channels, then blocks of channels of all sequences. */
struct work {
    const struct graft_mamba_scan_loops *loops;
    const float *A_log;             /* [size, state_size] */
    float *A;                       /* [state_size, size] */
    int64_t blocks;                 /* of channels */
    struct graft_mamba_scan *scans; /* [sequences] */
};

static void find_A(void *data, int64_t begin, int64_t end) {
    const struct work *work = data;
    work->loops->find_A(work->scans, work->A_log, work->A, begin, end);
}

static void scan_blocks(void *data, int64_t begin, int64_t end) {
    const struct work *work = data;
    for (int64_t i = begin; i < end; i++) {
        work->loops->run_block(&work->scans[i / work->blocks], i % work->blocks * GRAFT_MAMBA_SCAN_BLOCK);
    }
}

/* The recurrence's input for each token: steps before softplus [size], and B and C [state_size]. */
struct selected {
    const float *dt;
    const float *B;
    const float *C;
};

/* Computes it from x [tokens, size]. */
static struct selected select_inputs(const struct mamba *self, const struct graft_pass *pass, const float *x) {
    const int64_t width = selected_size(self), widths[] = {self->step_rank, self->state_size, self->state_size};
    const float *all = graft_pass_product(pass, self->x_proj, x, width);
    const float *parts[3];
    for (int64_t i = 0, first = 0; i < 3; first += widths[i++]) {
        float *part = graft_pass_columns(pass, all, width, first, widths[i]);
        parts[i] = graft_pass_normed(pass, self->norms[i], part, widths[i]);
    }
    return (struct selected){graft_pass_product(pass, self->dt_proj, parts[0], self->size), parts[1], parts[2]};
}

/* y [tokens, size] */
static float *scan(const struct mamba *self, const struct graft_pass *pass, const struct graft_batch *batch,
                   const float *x) {
    const struct selected selected = select_inputs(self, pass, x);
    const struct graft_pass of_states = {pass->call, self->state_size, pass->error};
    const int64_t width = self->size, sequences = batch->sequences;
    const float *D = graft_pass_widen(pass, self->D);
    float **states = graft_mixer_states(pass, batch, self->recurrent_states), *y = graft_pass_floats(pass, width);
    struct work work = {
        .loops = self->loops,
        .A_log = graft_pass_widen(pass, self->A_log),
        .A = graft_pass_floats(&of_states, width),
        .blocks = (width + GRAFT_MAMBA_SCAN_BLOCK - 1) / GRAFT_MAMBA_SCAN_BLOCK,
        .scans = graft_scratch_zeroed(pass->call, sequences * (int64_t)sizeof *work.scans, pass->error),
    };
    if (!graft_pass_ok(pass)) {
        return NULL;
    }
    for (int32_t s = 0; s < sequences; s++) {
        const int64_t first = batch->cu_seqlens[s];
        work.scans[s] = (struct graft_mamba_scan){.channels = width,
                                                  .state_size = self->state_size,
                                                  .A = work.A,
                                                  .D = D,
                                                  .tokens = batch->cu_seqlens[s + 1] - first,
                                                  .dt = selected.dt + first * width,
                                                  .x = x + first * width,
                                                  .B = selected.B + first * self->state_size,
                                                  .C = selected.C + first * self->state_size,
                                                  .y = y + first * width,
                                                  .state = states[s]};
    }
    const int64_t effort = batch->tokens / sequences * self->state_size * GRAFT_MAMBA_SCAN_BLOCK;
    pass->call->threads->parallel_for(width, 1 + GRAFT_MIXER_WORK / self->state_size, find_A, &work);
    pass->call->threads->parallel_for(sequences * work.blocks, 1 + GRAFT_MIXER_WORK / (1 + effort), scan_blocks, &work);
    return y;
}

static int forward(void *instance, const struct graft_call *call, const struct graft_mixer_args *args,
                   struct graft_error *error) {
    const struct mamba *self = instance;
    const struct graft_pass pass = {call, args->batch->tokens, error};
    const int64_t width = self->size;
    float *projected = graft_pass_product(&pass, self->in_proj, args->hidden_states, 2 * width); /* {x, gate} */
    float *unmixed = graft_pass_columns(&pass, projected, 2 * width, 0, width);
    float *gate = graft_pass_columns(&pass, projected, 2 * width, width, width); /* later the input of out_proj */
    float *x = graft_mixer_convolve(&pass, self->conv1d, args->batch, unmixed, width);
    graft_pass_activate(&pass, self->act, x, width);
    graft_pass_gate(&pass, GRAFT_ACTIVATION_SILU, gate, scan(self, &pass, args->batch, x), width);
    graft_pass_linear(&pass, self->out_proj, gate, args->output);
    return error->code;
}

const struct graft_mixer graft_mamba_vtable = {.struct_size = sizeof graft_mamba_vtable, .forward = forward};
