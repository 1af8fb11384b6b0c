/* SPDX-License-Identifier: Apache-2.0 */
/* The mixer of Mamba (Gu & Dao 2023). */
#include "arch/decoder/choices.h"
#include "arch/decoder/roles.h"
#include "arch/mixers/mamba_scan.h"
#include "arch/mixers/mixer.h"
#include "arch/role.h"
#include "graft/describe.h"
#include "graft/kernels.h"
#include "graft/mixer.h"
#include "graft/state.h"

static const struct graft_mamba_scan_loops *const loops[] = GRAFT_ISA_TABLES(graft_mamba_scan);

struct sizes {
    int64_t hidden_size;
    int64_t size;       /* channels */
    int64_t state_size; /* of each */
    int64_t step_rank;
};

struct mamba {
    struct graft_instance base;
    const struct graft_mamba_scan_loops *loops;
    struct sizes sizes;
    const struct graft_module *in_proj;
    const struct graft_module *conv1d;
    const struct graft_module *act;
    const struct graft_module *x_proj;
    const struct graft_module *dt_layernorm; /* may be NULL, like the next two */
    const struct graft_module *b_layernorm;
    const struct graft_module *c_layernorm;
    const struct graft_module *dt_proj;
    const struct graft_module *out_proj;
    const struct graft_weight *A_log;           /* [size, state_size] */
    const struct graft_weight *D;               /* [size] */
    const struct graft_state *recurrent_states; /* [state_size, size] f32 */
};

/* --- Creating an instance --- */

/* The width of x_proj's output: inputs of the steps, B and C. */
static int64_t selected_size(const struct sizes *sizes) {
    return sizes->step_rank + 2 * sizes->state_size;
}

static void describe_linears(struct graft_reader *reader, const struct sizes *sizes, const struct graft_sink *sink,
                             struct graft_error *error) {
    const int32_t bias = graft_read_bool(reader, D_MIXER_BIAS);
    const struct {
        const char *name;
        int64_t in_features;
        int64_t out_features;
        int32_t bias;
    } linears[] = {
        {"in_proj", sizes->hidden_size, 2 * sizes->size, bias},
        {"x_proj", sizes->size, selected_size(sizes), 0},
        {"dt_proj", sizes->step_rank, sizes->size, 1},
        {"out_proj", sizes->size, sizes->hidden_size, bias},
    };
    for (size_t i = 0; i < sizeof linears / sizeof linears[0]; i++) {
        graft_describe_linear(sink, linears[i].name, linears[i].in_features, linears[i].out_features, linears[i].bias,
                              error);
    }
}

/* Declares the norms of steps, B and C, if the family has them. */
static void describe_norms(struct graft_reader *reader, const struct sizes *sizes, const struct graft_sink *sink,
                           struct graft_error *error) {
    const char *const names[] = {"dt_layernorm", "b_layernorm", "c_layernorm"};
    const int32_t kind = graft_read_word(reader, D_MIXER_STEP_NORMS);
    const double eps = kind != D_STEP_NORMS_NONE ? graft_read_real(reader, D_MIXER_NORM_EPS) : 0.0;
    for (int i = 0; i < 3 && kind != D_STEP_NORMS_NONE; i++) {
        const struct graft_arg args[] = {
            graft_int_arg("hidden_size", i == 0 ? sizes->step_rank : sizes->state_size),
            graft_real_arg("eps", eps),
            graft_int_arg("weight", kind == D_STEP_NORMS_WEIGHTED),
        };
        graft_describe_child(sink, names[i], graft_decoder_class_name(reader->description, D_CLASS_STEP_NORM),
                             GRAFT_INTERFACE_NORM, args, 3, error);
    }
}

int graft_mamba_describe(const struct graft_class *self, const struct graft_config *config,
                         const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    struct sizes *sizes = sink->keep(sink->data, sizeof *sizes, error); /* for `create` */
    struct graft_reader reader;
    if (sizes == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    graft_reader_start(&reader, self->data, config, graft_args_int(args, "layer_idx", 0), error);
    *sizes = (struct sizes){
        .hidden_size = graft_args_int(args, "hidden_size", 0),
        .size = graft_read_int(&reader, D_MIXER_SIZE),
        .state_size = graft_read_int(&reader, D_MIXER_STATE_SIZE),
        .step_rank = graft_read_int(&reader, D_MIXER_STEP_RANK),
    };
    const int64_t A_log[] = {sizes->size, sizes->state_size};
    const int64_t recurrent_states[] = {sizes->state_size, sizes->size};
    describe_linears(&reader, sizes, sink, error);
    describe_norms(&reader, sizes, sink, error);
    graft_mixer_describe_act(&reader, "act", sink, error);
    graft_mixer_describe_conv(&reader, sizes->size, sink, error);
    graft_describe_parameter(sink, "A_log", 2, A_log, 0, GRAFT_INIT_NONE, error);
    graft_describe_vector(sink, "D", sizes->size, error);
    graft_describe_state(sink, "recurrent_states", 2, recurrent_states, GRAFT_DTYPE_F32, error);
    return error->code;
}

int graft_mamba_create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                       struct graft_error *error) {
    struct mamba *self = graft_instance_new(build, sizeof *self, error);
    if (self == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    self->sizes = *(const struct sizes *)build->kept;
    self->loops = loops[graft_isa_choose(sizeof loops / sizeof loops[0])];
    self->in_proj = graft_build_child(build, "in_proj", error);
    self->conv1d = graft_build_child(build, graft_description_name(cls->data, D_MIXER_CONV), error);
    self->act = graft_build_child(build, "act", error);
    self->x_proj = graft_build_child(build, "x_proj", error);
    self->dt_proj = graft_build_child(build, "dt_proj", error);
    self->out_proj = graft_build_child(build, "out_proj", error);
    self->dt_layernorm = build->child(build->data, "dt_layernorm");
    self->b_layernorm = build->child(build->data, "b_layernorm");
    self->c_layernorm = build->child(build->data, "c_layernorm");
    self->A_log = graft_build_weight(build, "A_log", error);
    self->D = graft_build_weight(build, "D", error);
    self->recurrent_states = graft_build_state(build, "recurrent_states", error);
    return graft_instance_finish(self, instance, error);
}

/* --- Forward --- */

/* The arrays of one forward. */
struct run {
    float *projected; /* [tokens, {x, gate} [size]] */
    float *unmixed;   /* [tokens, size] */
    float *gate;      /* [tokens, size]: the gate, later the input of out_proj */
    float *x;         /* [tokens, size] */
    float *selected;  /* [tokens, selected_size] */
    float *dt;        /* [tokens, size] */
    float *B;         /* [tokens, state_size] */
    float *C;         /* [tokens, state_size] */
    float *y;         /* [tokens, size] */
};

static int run_init(struct run *run, const struct sizes *sizes, const struct graft_call *call, int64_t tokens,
                    struct graft_error *error) {
    run->projected = graft_scratch_floats(call, tokens, 2 * sizes->size, error);
    run->unmixed = graft_scratch_floats(call, tokens, sizes->size, error);
    run->gate = graft_scratch_floats(call, tokens, sizes->size, error);
    run->x = graft_scratch_floats(call, tokens, sizes->size, error);
    run->selected = graft_scratch_floats(call, tokens, selected_size(sizes), error);
    run->dt = graft_scratch_floats(call, tokens, sizes->size, error);
    run->B = graft_scratch_floats(call, tokens, sizes->state_size, error);
    run->C = graft_scratch_floats(call, tokens, sizes->state_size, error);
    run->y = graft_scratch_floats(call, tokens, sizes->size, error);
    return run->projected != NULL && run->unmixed != NULL && run->gate != NULL && run->x != NULL &&
                   run->selected != NULL && run->dt != NULL && run->B != NULL && run->C != NULL && run->y != NULL
               ? GRAFT_OK
               : GRAFT_ERROR_INTERNAL;
}

/* Runs in_proj, then the convolution with its activation. */
static int project(const struct mamba *self, const struct graft_call *call, const struct graft_mixer_args *args,
                   const struct run *run, struct graft_error *error) {
    int64_t tokens = args->batch->tokens;
    int64_t width = self->sizes.size;
    const struct graft_linear_args in_args = {sizeof in_args, 0, tokens, args->hidden_states, run->projected};
    const struct graft_causal_conv1d_args conv_args = {sizeof conv_args, 0, args->batch, run->unmixed, run->x};
    const struct graft_activation_args act_args = {sizeof act_args, 0, tokens * width, run->x, run->x};
    int status = graft_linear_forward(self->in_proj, call, &in_args, error);
    if (status == GRAFT_OK) {
        graft_take_columns(run->projected, 2 * width, 0, tokens, width, run->unmixed);
        graft_take_columns(run->projected, 2 * width, width, tokens, width, run->gate);
        status = graft_causal_conv1d_forward(self->conv1d, call, &conv_args, error);
    }
    return status == GRAFT_OK ? graft_activation_forward(self->act, call, &act_args, error) : status;
}

/* y [tokens, columns] = some columns of x_proj's output, normalised if there is a norm. */
static int select_columns(const struct mamba *self, const struct graft_module *norm, const struct graft_call *call,
                          int64_t tokens, const struct run *run, int64_t first, int64_t columns, float *y,
                          struct graft_error *error) {
    float *raw = norm != NULL ? graft_scratch_floats(call, tokens, columns, error) : y; /* [tokens, columns] */
    const struct graft_norm_args args = {sizeof args, 0, tokens, raw, NULL, y};
    if (raw == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    graft_take_columns(run->selected, selected_size(&self->sizes), first, tokens, columns, raw);
    return norm != NULL ? graft_norm_forward(norm, call, &args, error) : GRAFT_OK;
}

/* Computes the inputs of the recurrence for each token: B, C, and the lengths of the steps. */
static int select_inputs(const struct mamba *self, const struct graft_call *call, int64_t tokens, const struct run *run,
                         struct graft_error *error) {
    const struct sizes *sizes = &self->sizes;
    int64_t rank = sizes->step_rank;
    float *steps = graft_scratch_floats(call, tokens, rank, error); /* [tokens, step_rank] */
    const struct graft_linear_args x_args = {sizeof x_args, 0, tokens, run->x, run->selected};
    const struct graft_linear_args dt_args = {sizeof dt_args, 0, tokens, steps, run->dt};
    int status = steps != NULL ? graft_linear_forward(self->x_proj, call, &x_args, error) : GRAFT_ERROR_INTERNAL;
    if (status == GRAFT_OK) {
        status = select_columns(self, self->dt_layernorm, call, tokens, run, 0, rank, steps, error);
    }
    if (status == GRAFT_OK) {
        status = select_columns(self, self->b_layernorm, call, tokens, run, rank, sizes->state_size, run->B, error);
    }
    if (status == GRAFT_OK) {
        status = select_columns(self, self->c_layernorm, call, tokens, run, rank + sizes->state_size, sizes->state_size,
                                run->C, error);
    }
    return status == GRAFT_OK ? graft_linear_forward(self->dt_proj, call, &dt_args, error) : status;
}

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

static int scan(const struct mamba *self, const struct graft_call *call, const struct graft_batch *batch,
                const struct run *run, struct graft_error *error) {
    const struct sizes *sizes = &self->sizes;
    int64_t width = sizes->size;
    struct work work = {
        .loops = self->loops,
        .A_log = graft_scratch_widened(call, self->A_log, error),
        .A = graft_scratch_floats(call, sizes->state_size, width, error),
        .blocks = (width + GRAFT_MAMBA_SCAN_BLOCK - 1) / GRAFT_MAMBA_SCAN_BLOCK,
        .scans = call->scratch_alloc(call->scratch, batch->sequences * (int64_t)sizeof *work.scans),
    };
    const float *D = graft_scratch_widened(call, self->D, error);
    if (work.scans == NULL) {
        return graft_fail_memory(error, self->base.path);
    }
    if (work.A_log == NULL || work.A == NULL || D == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    for (int32_t s = 0; s < batch->sequences; s++) {
        int64_t first = batch->cu_seqlens[s];
        work.scans[s] =
            (struct graft_mamba_scan){.channels = width,
                                      .state_size = sizes->state_size,
                                      .A = work.A,
                                      .D = D,
                                      .tokens = batch->cu_seqlens[s + 1] - first,
                                      .dt = run->dt + first * width,
                                      .x = run->x + first * width,
                                      .B = run->B + first * sizes->state_size,
                                      .C = run->C + first * sizes->state_size,
                                      .y = run->y + first * width,
                                      .state = graft_state_get(call, batch, self->recurrent_states, s, error)};
        if (work.scans[s].state == NULL) {
            return GRAFT_ERROR_INTERNAL;
        }
    }
    int64_t effort = batch->tokens / batch->sequences * sizes->state_size * GRAFT_MAMBA_SCAN_BLOCK;
    call->threads->parallel_for(width, 1 + GRAFT_MIXER_WORK / sizes->state_size, find_A, &work);
    call->threads->parallel_for(batch->sequences * work.blocks, 1 + GRAFT_MIXER_WORK / (1 + effort), scan_blocks,
                                &work);
    return GRAFT_OK;
}

static int forward(void *instance, const struct graft_call *call, const struct graft_mixer_args *args,
                   struct graft_error *error) {
    const struct mamba *self = instance;
    int64_t tokens = args->batch->tokens;
    int64_t width = self->sizes.size;
    struct run run;
    int status = run_init(&run, &self->sizes, call, tokens, error);
    if (status == GRAFT_OK) {
        status = project(self, call, args, &run, error);
    }
    if (status == GRAFT_OK) {
        status = select_inputs(self, call, tokens, &run, error);
    }
    if (status == GRAFT_OK) {
        status = scan(self, call, args->batch, &run, error);
    }
    if (status == GRAFT_OK) {
        status = call->kernels->gated_activation(call, GRAFT_ACTIVATION_SILU, run.gate, width, run.y, width, tokens,
                                                 width, error);
    }
    const struct graft_linear_args out_args = {sizeof out_args, 0, tokens, run.gate, args->output};
    return status == GRAFT_OK ? graft_linear_forward(self->out_proj, call, &out_args, error) : status;
}

const struct graft_mixer graft_mamba_vtable = {.struct_size = sizeof graft_mamba_vtable, .forward = forward};
