/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "graft/causal_conv1d.h"
#include "graft/describe.h"
#include "graft/instance.h"
#include "graft/kernels.h"
#include "graft/linear.h"
#include "graft/state.h"
#include "mamba.h"
#include "scan.h"

enum { WORK_AT_ONCE = 1 << 14 /* numbers of state times tokens that are worth a thread */ };

static const struct mamba_scan_loops *const loops[] = GRAFT_ISA_TABLES(mamba_scan);

struct mixer {
    struct graft_instance base;
    const struct mamba_scan_loops *loops;
    struct mamba_sizes sizes;
    const struct graft_module *in_proj;
    const struct graft_module *conv1d;
    const struct graft_module *act;
    const struct graft_module *x_proj;
    const struct graft_module *dt_layernorm; /* this and the two below NULL: none */
    const struct graft_module *b_layernorm;
    const struct graft_module *c_layernorm;
    const struct graft_module *dt_proj;
    const struct graft_module *out_proj;
    const struct graft_weight *A_log;           /* [intermediate_size, state_size] */
    const struct graft_weight *D;               /* [intermediate_size] */
    const struct graft_state *recurrent_states; /* [state_size, intermediate_size] f32 */
};

/* --- From the config to an instance --- */

/* What x_proj gives of a token: what steps are made of, B and C. */
static int64_t selected_size(const struct mamba_sizes *sizes) {
    return sizes->time_step_rank + 2 * sizes->state_size;
}

static int describe_linears(const struct mamba_sizes *sizes, const struct graft_sink *sink, struct graft_error *error) {
    const struct {
        const char *name;
        int64_t in_features;
        int64_t out_features;
        int32_t bias;
    } linears[] = {
        {"in_proj", sizes->hidden_size, 2 * sizes->intermediate_size, sizes->use_bias},
        {"x_proj", sizes->intermediate_size, selected_size(sizes), 0},
        {"dt_proj", sizes->time_step_rank, sizes->intermediate_size, 1},
        {"out_proj", sizes->intermediate_size, sizes->hidden_size, sizes->use_bias},
    };
    int status = GRAFT_OK;
    for (size_t i = 0; i < sizeof linears / sizeof linears[0] && status == GRAFT_OK; i++) {
        status = graft_describe_linear(sink, linears[i].name, linears[i].in_features, linears[i].out_features,
                                       linears[i].bias, error);
    }
    return status;
}

static int describe_norms(const struct mamba_traits *traits, const struct mamba_sizes *sizes,
                          const struct graft_sink *sink, struct graft_error *error) {
    const char *norm = traits->weightless_norm;
    if (norm == NULL) {
        return GRAFT_OK;
    }
    int status = graft_describe_norm(sink, "dt_layernorm", norm, sizes->time_step_rank, sizes->mixer_rms_eps, error);
    if (status == GRAFT_OK) {
        status = graft_describe_norm(sink, "b_layernorm", norm, sizes->state_size, sizes->mixer_rms_eps, error);
    }
    return status == GRAFT_OK
               ? graft_describe_norm(sink, "c_layernorm", norm, sizes->state_size, sizes->mixer_rms_eps, error)
               : status;
}

int mamba_mixer_describe(const struct graft_class *cls, const struct graft_config *config,
                         const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    struct mamba_sizes *sizes = sink->keep(sink->data, sizeof *sizes, error); /* for `create` */
    (void)args;
    int status = sizes != NULL ? mamba_sizes_read(config, sizes, error) : GRAFT_ERROR_INTERNAL;
    if (status != GRAFT_OK) {
        return status;
    }
    const int64_t A_log[] = {sizes->intermediate_size, sizes->state_size};
    const int64_t recurrent_states[] = {sizes->state_size, sizes->intermediate_size};
    const struct graft_arg conv_args[] = {graft_int_arg("channels", sizes->intermediate_size),
                                          graft_int_arg("kernel_size", sizes->conv_kernel),
                                          graft_int_arg("bias", sizes->use_conv_bias)};
    status = describe_linears(sizes, sink, error);
    if (status == GRAFT_OK) {
        status = describe_norms(cls->data, sizes, sink, error);
    }
    if (status == GRAFT_OK) {
        status = graft_describe_activation(sink, "act", config, NULL, "hidden_act", error);
    }
    if (status == GRAFT_OK) {
        status = graft_describe_child(sink, "conv1d", "Conv1d", GRAFT_INTERFACE_CAUSAL_CONV1D, conv_args, 3, error);
    }
    if (status == GRAFT_OK) {
        status = graft_describe_parameter(sink, "A_log", 2, A_log, 0, GRAFT_INIT_NONE, error);
    }
    if (status == GRAFT_OK) {
        status = graft_describe_vector(sink, "D", sizes->intermediate_size, error);
    }
    return status == GRAFT_OK
               ? graft_describe_state(sink, "recurrent_states", 2, recurrent_states, GRAFT_DTYPE_F32, error)
               : status;
}

int mamba_mixer_create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                       struct graft_error *error) {
    const struct mamba_traits *traits = cls->data;
    const struct mamba_sizes *sizes = build->kept;
    int status = GRAFT_OK;
    struct mixer *self = graft_instance_new(build, sizeof *self, error);
    if (self == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    self->sizes = *sizes;
    self->loops = loops[graft_isa_choose(sizeof loops / sizeof loops[0])];
    self->in_proj = graft_build_child(build, "in_proj", &status, error);
    self->conv1d = graft_build_child(build, "conv1d", &status, error);
    self->act = graft_build_child(build, "act", &status, error);
    self->x_proj = graft_build_child(build, "x_proj", &status, error);
    self->dt_proj = graft_build_child(build, "dt_proj", &status, error);
    self->out_proj = graft_build_child(build, "out_proj", &status, error);
    if (traits->weightless_norm != NULL) {
        self->dt_layernorm = graft_build_child(build, "dt_layernorm", &status, error);
        self->b_layernorm = graft_build_child(build, "b_layernorm", &status, error);
        self->c_layernorm = graft_build_child(build, "c_layernorm", &status, error);
    }
    self->A_log = graft_build_weight(build, "A_log", &status, error);
    self->D = graft_build_weight(build, "D", &status, error);
    self->recurrent_states = graft_build_state(build, "recurrent_states", &status, error);
    return graft_instance_finish(self, status, instance);
}

/* --- Forward --- */

/* The arrays of one forward. */
struct run {
    float *projected; /* [tokens, {x, gate} [intermediate_size]] */
    float *unmixed;   /* [tokens, intermediate_size] */
    float *gate;      /* [tokens, intermediate_size], and what goes to out_proj */
    float *x;         /* [tokens, intermediate_size] */
    float *selected;  /* [tokens, selected_size] */
    float *dt;        /* [tokens, intermediate_size] */
    float *B;         /* [tokens, state_size] */
    float *C;         /* [tokens, state_size] */
    float *y;         /* [tokens, intermediate_size] */
};

static int run_init(struct run *run, const struct mamba_sizes *sizes, const struct graft_call *call, int64_t tokens,
                    struct graft_error *error) {
    run->projected = graft_scratch_floats(call, tokens, 2 * sizes->intermediate_size, error);
    run->unmixed = graft_scratch_floats(call, tokens, sizes->intermediate_size, error);
    run->gate = graft_scratch_floats(call, tokens, sizes->intermediate_size, error);
    run->x = graft_scratch_floats(call, tokens, sizes->intermediate_size, error);
    run->selected = graft_scratch_floats(call, tokens, selected_size(sizes), error);
    run->dt = graft_scratch_floats(call, tokens, sizes->intermediate_size, error);
    run->B = graft_scratch_floats(call, tokens, sizes->state_size, error);
    run->C = graft_scratch_floats(call, tokens, sizes->state_size, error);
    run->y = graft_scratch_floats(call, tokens, sizes->intermediate_size, error);
    return run->projected != NULL && run->unmixed != NULL && run->gate != NULL && run->x != NULL &&
                   run->selected != NULL && run->dt != NULL && run->B != NULL && run->C != NULL && run->y != NULL
               ? GRAFT_OK
               : GRAFT_ERROR_INTERNAL;
}

/* y [tokens, columns] = columns of x from `first` on, whose rows are `x_stride` long. */
static void copy_columns(const float *x, int64_t x_stride, int64_t first, int64_t tokens, int64_t columns, float *y) {
    for (int64_t t = 0; t < tokens; t++) {
        memcpy(y + t * columns, x + t * x_stride + first, (size_t)columns * sizeof *y);
    }
}

/* in_proj, then the convolution with its activation. */
static int project(const struct mixer *self, const struct graft_call *call, const struct graft_mixer_args *args,
                   const struct run *run, struct graft_error *error) {
    int64_t tokens = args->batch->tokens;
    int64_t width = self->sizes.intermediate_size;
    const struct graft_linear_args in_args = {sizeof in_args, 0, tokens, args->hidden_states, run->projected};
    const struct graft_causal_conv1d_args conv_args = {sizeof conv_args, 0, args->batch, run->unmixed, run->x};
    const struct graft_activation_args act_args = {sizeof act_args, 0, tokens * width, run->x, run->x};
    int status = graft_linear_forward(self->in_proj, call, &in_args, error);
    if (status == GRAFT_OK) {
        copy_columns(run->projected, 2 * width, 0, tokens, width, run->unmixed);
        copy_columns(run->projected, 2 * width, width, tokens, width, run->gate);
        status = graft_causal_conv1d_forward(self->conv1d, call, &conv_args, error);
    }
    return status == GRAFT_OK ? graft_activation_forward(self->act, call, &act_args, error) : status;
}

/* y [tokens, columns] = some columns of what was selected, normed if there is a norm. */
static int select_columns(const struct mixer *self, const struct graft_module *norm, const struct graft_call *call,
                          int64_t tokens, const struct run *run, int64_t first, int64_t columns, float *y,
                          struct graft_error *error) {
    float *raw = norm != NULL ? graft_scratch_floats(call, tokens, columns, error) : y; /* [tokens, columns] */
    const struct graft_norm_args args = {sizeof args, 0, tokens, raw, NULL, y};
    if (raw == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    copy_columns(run->selected, selected_size(&self->sizes), first, tokens, columns, raw);
    return norm != NULL ? graft_norm_forward(norm, call, &args, error) : GRAFT_OK;
}

/* What the recurrence takes of each token: B, C, and how long its steps are. */
static int select_inputs(const struct mixer *self, const struct graft_call *call, int64_t tokens, const struct run *run,
                         struct graft_error *error) {
    const struct mamba_sizes *sizes = &self->sizes;
    int64_t rank = sizes->time_step_rank;
    float *steps = graft_scratch_floats(call, tokens, rank, error); /* [tokens, time_step_rank] */
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

/* What runs in parallel: A of some channels, then blocks of channels of all sequences. */
struct work {
    const struct mamba_scan_loops *loops;
    const float *A_log;       /* [intermediate_size, state_size] */
    float *A;                 /* [state_size, intermediate_size] */
    int64_t blocks;           /* of channels */
    struct mamba_scan *scans; /* [sequences] */
};

static void find_A(void *data, int64_t begin, int64_t end) {
    const struct work *work = data;
    work->loops->find_A(work->scans, work->A_log, work->A, begin, end);
}

static void scan_blocks(void *data, int64_t begin, int64_t end) {
    const struct work *work = data;
    for (int64_t i = begin; i < end; i++) {
        work->loops->run_block(&work->scans[i / work->blocks], i % work->blocks * MAMBA_SCAN_BLOCK);
    }
}

static int scan(const struct mixer *self, const struct graft_call *call, const struct graft_batch *batch,
                const struct run *run, struct graft_error *error) {
    const struct mamba_sizes *sizes = &self->sizes;
    int64_t width = sizes->intermediate_size;
    struct work work = {
        .loops = self->loops,
        .A_log = graft_scratch_widened(call, self->A_log, error),
        .A = graft_scratch_floats(call, sizes->state_size, width, error),
        .blocks = (width + MAMBA_SCAN_BLOCK - 1) / MAMBA_SCAN_BLOCK,
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
        work.scans[s] = (struct mamba_scan){.channels = width,
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
    int64_t effort = batch->tokens / batch->sequences * sizes->state_size * MAMBA_SCAN_BLOCK;
    call->threads->parallel_for(width, 1 + WORK_AT_ONCE / sizes->state_size, find_A, &work);
    call->threads->parallel_for(batch->sequences * work.blocks, 1 + WORK_AT_ONCE / (1 + effort), scan_blocks, &work);
    return GRAFT_OK;
}

static int forward(void *instance, const struct graft_call *call, const struct graft_mixer_args *args,
                   struct graft_error *error) {
    const struct mixer *self = instance;
    int64_t tokens = args->batch->tokens;
    int64_t width = self->sizes.intermediate_size;
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

const struct graft_mixer mamba_mixer_vtable = {.struct_size = sizeof mamba_mixer_vtable, .forward = forward};
