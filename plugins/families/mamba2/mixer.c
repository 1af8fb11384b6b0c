/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "graft/causal_conv1d.h"
#include "graft/describe.h"
#include "graft/kernels.h"
#include "mamba2.h"
#include "scan.h"

enum { WORK_AT_ONCE = 1 << 14 }; /* numbers of state times tokens that are worth a thread */

static const struct mamba2_scan_loops *const loops[] = GRAFT_ISA_TABLES(mamba2_scan);

struct mixer {
    const struct mamba2_sizes *sizes;
    const struct mamba2_scan_loops *loops;
    const struct graft_module *in_proj;
    const struct graft_module *conv1d;
    const struct graft_module *act;
    const struct graft_module *norm;
    const struct graft_module *out_proj;
    const struct graft_weight *dt_bias;         /* [num_heads] */
    const struct graft_weight *A_log;           /* [num_heads] */
    const struct graft_weight *D;               /* [num_heads] */
    const struct graft_state *recurrent_states; /* [num_heads, state_size, head_dim] f32 */
};

/* What in_proj gives of a token: gate, input of the convolution, a step for each head. */
static int64_t projected_size(const struct mamba2_sizes *sizes) {
    return sizes->intermediate_size + sizes->conv_dim + sizes->num_heads;
}

static int describe_parameters(const struct mamba2_sizes *sizes, const struct graft_sink *sink,
                               struct graft_error *error) {
    const int64_t shape[] = {sizes->num_heads, sizes->state_size, sizes->head_dim};
    int status = graft_describe_vector(sink, "dt_bias", sizes->num_heads, error);
    if (status == GRAFT_OK) {
        status = graft_describe_vector(sink, "A_log", sizes->num_heads, error);
    }
    if (status == GRAFT_OK) {
        status = graft_describe_vector(sink, "D", sizes->num_heads, error);
    }
    return status == GRAFT_OK ? graft_describe_state(sink, "recurrent_states", 3, shape, GRAFT_DTYPE_F32, error)
                              : status;
}

static int describe_norm(const struct mamba2_sizes *sizes, const struct graft_sink *sink, struct graft_error *error) {
    const struct graft_arg args[] = {graft_int_arg("hidden_size", sizes->intermediate_size),
                                     graft_int_arg("group_size", sizes->intermediate_size / sizes->n_groups),
                                     graft_real_arg("eps", sizes->layer_norm_epsilon)};
    return graft_describe_child(sink, "norm", "MambaRMSNormGated", MAMBA2_INTERFACE_GATED_NORM, args, 3, error);
}

int mamba2_mixer_describe(const struct graft_class *cls, const struct graft_config *config,
                          const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    const struct mamba2_sizes *sizes;
    (void)cls;
    (void)args;
    int status = mamba2_sizes_keep(config, sink, &sizes, error);
    if (status != GRAFT_OK) {
        return status;
    }
    const struct graft_arg conv_args[] = {graft_int_arg("channels", sizes->conv_dim),
                                          graft_int_arg("kernel_size", sizes->conv_kernel),
                                          graft_int_arg("bias", sizes->use_conv_bias)};
    status = describe_parameters(sizes, sink, error);
    if (status == GRAFT_OK) {
        status = graft_describe_activation(sink, "act", config, NULL, "hidden_act", error);
    }
    if (status == GRAFT_OK) {
        status = graft_describe_child(sink, "conv1d", "Conv1d", GRAFT_INTERFACE_CAUSAL_CONV1D, conv_args, 3, error);
    }
    if (status == GRAFT_OK) {
        status =
            graft_describe_linear(sink, "in_proj", sizes->hidden_size, projected_size(sizes), sizes->use_bias, error);
    }
    if (status == GRAFT_OK) {
        status = describe_norm(sizes, sink, error);
    }
    return status == GRAFT_OK ? graft_describe_linear(sink, "out_proj", sizes->intermediate_size, sizes->hidden_size,
                                                      sizes->use_bias, error)
                              : status;
}

int mamba2_mixer_create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                        struct graft_error *error) {
    struct mixer *self = calloc(1, sizeof *self);
    int status = GRAFT_OK;
    (void)cls;
    if (self == NULL) {
        return graft_fail_memory(error, build->path);
    }
    self->sizes = build->kept;
    self->loops = loops[graft_isa_choose(sizeof loops / sizeof loops[0])];
    self->in_proj = graft_build_child(build, "in_proj", &status, error);
    self->conv1d = graft_build_child(build, "conv1d", &status, error);
    self->act = graft_build_child(build, "act", &status, error);
    self->norm = graft_build_child(build, "norm", &status, error);
    self->out_proj = graft_build_child(build, "out_proj", &status, error);
    self->dt_bias = graft_build_weight(build, "dt_bias", &status, error);
    self->A_log = graft_build_weight(build, "A_log", &status, error);
    self->D = graft_build_weight(build, "D", &status, error);
    self->recurrent_states = graft_build_state(build, "recurrent_states", &status, error);
    if (status != GRAFT_OK) {
        free(self);
        return status;
    }
    *instance = self;
    return GRAFT_OK;
}

/* The arrays of one forward. */
struct run {
    float *projected; /* [tokens, projected_size] */
    float *unmixed;   /* [tokens, conv_dim] */
    float *xBC;       /* [tokens, conv_dim] */
    float *dt;        /* [tokens, num_heads] */
    float *y;         /* [tokens, intermediate_size] */
    float *normed;    /* [tokens, intermediate_size] */
};

static int run_init(struct run *run, const struct mixer *self, const struct graft_call *call, int64_t tokens,
                    struct graft_error *error) {
    const struct mamba2_sizes *sizes = self->sizes;
    run->projected = graft_scratch_floats(call, tokens, projected_size(sizes), error);
    run->unmixed = graft_scratch_floats(call, tokens, sizes->conv_dim, error);
    run->xBC = graft_scratch_floats(call, tokens, sizes->conv_dim, error);
    run->dt = graft_scratch_floats(call, tokens, sizes->num_heads, error);
    run->y = graft_scratch_floats(call, tokens, sizes->intermediate_size, error);
    run->normed = graft_scratch_floats(call, tokens, sizes->intermediate_size, error);
    return run->projected != NULL && run->unmixed != NULL && run->xBC != NULL && run->dt != NULL && run->y != NULL &&
                   run->normed != NULL
               ? GRAFT_OK
               : GRAFT_ERROR_INTERNAL;
}

/* in_proj, then the convolution with its activation. */
static int project(const struct mixer *self, const struct graft_call *call, const struct graft_mixer_args *args,
                   const struct run *run, struct graft_error *error) {
    const struct mamba2_sizes *sizes = self->sizes;
    int64_t tokens = args->batch->tokens;
    const struct graft_linear_args in_args = {sizeof in_args, 0, tokens, args->hidden_states, run->projected};
    const struct graft_causal_conv1d_args conv_args = {
        .struct_size = sizeof conv_args, .batch = args->batch, .x = run->unmixed, .y = run->xBC};
    const struct graft_activation_args act_args = {sizeof act_args, 0, tokens * sizes->conv_dim, run->xBC, run->xBC};
    int status = graft_linear_forward(self->in_proj, call, &in_args, error);
    for (int64_t t = 0; t < tokens && status == GRAFT_OK; t++) {
        memcpy(run->unmixed + t * sizes->conv_dim,
               run->projected + t * projected_size(sizes) + sizes->intermediate_size,
               (size_t)sizes->conv_dim * sizeof(float));
    }
    if (status == GRAFT_OK) {
        status = graft_causal_conv1d_forward(self->conv1d, call, &conv_args, error);
    }
    return status == GRAFT_OK ? graft_activation_forward(self->act, call, &act_args, error) : status;
}

static float softplus(float x) {
    return x > 20.0F ? x : log1pf(expf(x)); /* beyond, they are the same in f32 */
}

/* How long each head's step is for each token. */
static int find_steps(const struct mixer *self, const struct graft_call *call, int64_t tokens, const struct run *run,
                      struct graft_error *error) {
    const struct mamba2_sizes *sizes = self->sizes;
    const float *bias = graft_scratch_widened(call, self->dt_bias, error);
    if (bias == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    for (int64_t t = 0; t < tokens; t++) {
        const float *raw = run->projected + (t + 1) * projected_size(sizes) - sizes->num_heads;
        for (int64_t h = 0; h < sizes->num_heads; h++) {
            float step = fmaxf(softplus(raw[h] + bias[h]), (float)sizes->time_step_limit[0]);
            run->dt[t * sizes->num_heads + h] = fminf(step, (float)sizes->time_step_limit[1]);
        }
    }
    return GRAFT_OK;
}

struct work {
    const struct mamba2_scan_loops *loops;
    int64_t num_heads;
    struct mamba2_scan *scans; /* [sequences] */
};

/* Items are the heads of all sequences. */
static void scan_heads(void *data, int64_t begin, int64_t end) {
    const struct work *work = data;
    for (int64_t i = begin; i < end; i++) {
        work->loops->run_head(&work->scans[i / work->num_heads], i % work->num_heads);
    }
}

static int scan(const struct mixer *self, const struct graft_call *call, const struct graft_batch *batch,
                const struct run *run, struct graft_error *error) {
    const struct mamba2_sizes *sizes = self->sizes;
    struct work work = {
        .loops = self->loops,
        .num_heads = sizes->num_heads,
        .scans = call->scratch_alloc(call->scratch, batch->sequences * (int64_t)sizeof *work.scans),
    };
    float *A = graft_scratch_widened(call, self->A_log, error);
    const float *D = graft_scratch_widened(call, self->D, error);
    if (work.scans == NULL) {
        return graft_fail_memory(error, "");
    }
    if (A == NULL || D == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    for (int64_t h = 0; h < sizes->num_heads; h++) {
        A[h] = -expf(A[h]);
    }
    for (int32_t s = 0; s < batch->sequences; s++) {
        int64_t first = batch->cu_seqlens[s];
        work.scans[s] = (struct mamba2_scan){.num_heads = sizes->num_heads,
                                             .head_dim = sizes->head_dim,
                                             .state_size = sizes->state_size,
                                             .n_groups = sizes->n_groups,
                                             .A = A,
                                             .D = D,
                                             .tokens = batch->cu_seqlens[s + 1] - first,
                                             .dt = run->dt + first * sizes->num_heads,
                                             .xBC = run->xBC + first * sizes->conv_dim,
                                             .y = run->y + first * sizes->intermediate_size,
                                             .state = graft_state_get(call, batch, self->recurrent_states, s, error)};
        if (work.scans[s].state == NULL) {
            return GRAFT_ERROR_INTERNAL;
        }
    }
    int64_t effort = batch->tokens / batch->sequences * sizes->state_size * sizes->head_dim;
    call->threads->parallel_for(batch->sequences * sizes->num_heads, 1 + WORK_AT_ONCE / (1 + effort), scan_heads,
                                &work);
    return GRAFT_OK;
}

static int forward(void *instance, const struct graft_call *call, const struct graft_mixer_args *args,
                   struct graft_error *error) {
    const struct mixer *self = instance;
    int64_t tokens = args->batch->tokens;
    struct run run;
    int status = run_init(&run, self, call, tokens, error);
    if (status == GRAFT_OK) {
        status = project(self, call, args, &run, error);
    }
    if (status == GRAFT_OK) {
        status = find_steps(self, call, tokens, &run, error);
    }
    if (status == GRAFT_OK) {
        status = scan(self, call, args->batch, &run, error);
    }
    if (status == GRAFT_OK) {
        const struct mamba2_gated_norm_args norm_args = {.struct_size = sizeof norm_args,
                                                         .tokens = tokens,
                                                         .hidden_states = run.y,
                                                         .gate = run.projected,
                                                         .gate_stride = projected_size(self->sizes),
                                                         .output = run.normed};
        status = graft_module_forward(self->norm, call, &norm_args, error);
    }
    const struct graft_linear_args out_args = {sizeof out_args, 0, tokens, run.normed, args->output};
    return status == GRAFT_OK ? graft_linear_forward(self->out_proj, call, &out_args, error) : status;
}

const struct graft_mixer mamba2_mixer_vtable = {.struct_size = sizeof mamba2_mixer_vtable, .forward = forward};
