/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lightning attention (Qin et al. 2024): keys and values of a head add up to a matrix, of which each token takes what
 * its query matches, and which decays by a factor that goes by head and layer:
 *
 *     state = exp(-slope) * state + k v^T
 *     y     = state^T q
 *
 * That is the recurrence of Mamba 2 with steps of 1 and heads that share nothing, so its scan runs.
 */
#include <math.h>
#include <string.h>

#include "arch/decoder/choices.h"
#include "arch/mixers/mamba2_scan.h"
#include "arch/mixers/mixer.h"
#include "arch/role.h"
#include "graft/describe.h"
#include "graft/kernels.h"
#include "graft/mixer.h"
#include "graft/state.h"

static const struct graft_mamba2_scan_loops *const loops[] = GRAFT_ISA_TABLES(graft_mamba2_scan);

struct sizes {
    int64_t hidden_size;
    int64_t heads;
    int64_t head_dim;
    int64_t layer;
    int64_t layers; /* number of the model's layers */
};

struct lightning {
    struct graft_instance base;
    struct sizes sizes;
    const struct graft_mamba2_scan_loops *loops;
    const struct graft_module *qkv_proj;    /* hidden_size -> [heads, {q, k, v}, head_dim] */
    const struct graft_module *output_gate; /* hidden_size -> heads * head_dim */
    const struct graft_module *act_fn;
    const struct graft_module *norm;
    const struct graft_module *output;
    const struct graft_state *recurrent_states; /* [heads, head_dim, head_dim] f32 */
};

int graft_lightning_describe(const struct graft_class *self, const struct graft_config *config,
                             const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    const struct graft_description *description = self->data;
    struct sizes *sizes = sink->keep(sink->data, sizeof *sizes, error); /* for `create` */
    struct graft_reader reader;
    if (sizes == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    graft_reader_start(&reader, description, config, graft_args_int(args, "layer_idx", 0), error);
    *sizes = (struct sizes){
        .hidden_size = graft_args_int(args, "hidden_size", 0),
        .heads = graft_read_int(&reader, D_MIXER_HEADS),
        .head_dim = graft_read_int(&reader, D_MIXER_HEAD_DIM),
        .layer = graft_args_int(args, "layer_idx", 0),
        .layers = graft_read_int(&reader, D_LAYERS),
    };
    const double eps = graft_read_real(&reader, D_MIXER_NORM_EPS);
    const int64_t width = sizes->heads * sizes->head_dim;
    const int64_t shape[] = {sizes->heads, sizes->head_dim, sizes->head_dim};
    graft_describe_linear(sink, "qkv_proj", sizes->hidden_size, 3 * width, 0, error);
    graft_describe_linear(sink, "output_gate", sizes->hidden_size, width, 0, error);
    graft_describe_linear(sink, graft_description_name(description, D_MIXER_OUTPUT), width, sizes->hidden_size, 0,
                          error);
    graft_mixer_describe_act(&reader, "act_fn", sink, error);
    graft_describe_norm(sink, graft_description_name(description, D_MIXER_NORM),
                        graft_description_name(description, D_CLASS_NORM), width, eps, error);
    graft_describe_state(sink, "recurrent_states", 3, shape, GRAFT_DTYPE_F32, error);
    return error->code;
}

int graft_lightning_create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                           struct graft_error *error) {
    const struct graft_description *description = cls->data;
    struct lightning *self = graft_instance_new(build, sizeof *self, error);
    if (self == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    self->sizes = *(const struct sizes *)build->kept;
    self->loops = loops[graft_isa_choose(sizeof loops / sizeof loops[0])];
    self->qkv_proj = graft_build_child(build, "qkv_proj", error);
    self->output_gate = graft_build_child(build, "output_gate", error);
    self->act_fn = graft_build_child(build, "act_fn", error);
    self->norm = graft_build_child(build, graft_description_name(description, D_MIXER_NORM), error);
    self->output = graft_build_child(build, graft_description_name(description, D_MIXER_OUTPUT), error);
    self->recurrent_states = graft_build_state(build, "recurrent_states", error);
    return graft_instance_finish(self, instance, error);
}

/* The arrays of one forward. */
struct run {
    float *qkv;  /* [tokens, heads, {q, k, v} [head_dim]] */
    float *xBC;  /* [tokens, {v, k, q} [heads, head_dim]], in the scan's layout */
    float *gate; /* [tokens, heads * head_dim]: the gate, later the input of the output projection */
    float *y;    /* [tokens, heads, head_dim] */
    float *normed;
};

static int run_init(struct run *run, const struct sizes *sizes, const struct graft_call *call, int64_t tokens,
                    struct graft_error *error) {
    const int64_t width = sizes->heads * sizes->head_dim;
    run->qkv = graft_scratch_floats(call, tokens, 3 * width, error);
    run->xBC = graft_scratch_floats(call, tokens, 3 * width, error);
    run->gate = graft_scratch_floats(call, tokens, width, error);
    run->y = graft_scratch_floats(call, tokens, width, error);
    run->normed = graft_scratch_floats(call, tokens, width, error);
    return run->qkv != NULL && run->xBC != NULL && run->gate != NULL && run->y != NULL && run->normed != NULL
               ? GRAFT_OK
               : GRAFT_ERROR_INTERNAL;
}

static int project(const struct lightning *self, const struct graft_call *call, const struct graft_mixer_args *args,
                   const struct run *run, struct graft_error *error) {
    const int64_t tokens = args->batch->tokens, heads = self->sizes.heads, dim = self->sizes.head_dim;
    const struct graft_module *projections[] = {self->qkv_proj, self->output_gate};
    const struct graft_linear_args projection_args[] = {
        {sizeof(struct graft_linear_args), 0, tokens, args->hidden_states, run->qkv},
        {sizeof(struct graft_linear_args), 0, tokens, args->hidden_states, run->gate},
    };
    const struct graft_activation_args act_args = {sizeof act_args, 0, tokens * heads * 3 * dim, run->qkv, run->qkv};
    int status = graft_linear_forward_all(projections, call, projection_args, 2, error);
    if (status == GRAFT_OK) {
        status = graft_activation_forward(self->act_fn, call, &act_args, error);
    }
    for (int64_t i = 0; i < tokens * heads * 3 && status == GRAFT_OK; i++) {
        const int64_t t = i / (heads * 3), head = i / 3 % heads, part = 2 - i % 3;
        memcpy(run->xBC + ((t * 3 + part) * heads + head) * dim, run->qkv + i * dim, (size_t)dim * sizeof(float));
    }
    return status;
}

/* How much the state of a head decays with each token. */
static float slope_of(const struct sizes *sizes, int64_t head) {
    const double rate = pow(2.0, -8.0 * (double)(head + 1) / (double)sizes->heads);
    return (float)(rate * (1.0 - (double)sizes->layer / ((double)(sizes->layers - 1) + 1e-5) + 1e-5));
}

static int scan(const struct lightning *self, const struct graft_call *call, const struct graft_batch *batch,
                const struct run *run, struct graft_error *error) {
    const struct sizes *sizes = &self->sizes;
    float *A = graft_scratch_floats(call, sizes->heads, 1, error);              /* [heads] */
    float *D = graft_scratch_floats(call, sizes->heads, 1, error);              /* [heads] */
    float *dt = graft_scratch_floats(call, batch->tokens, sizes->heads, error); /* [tokens, heads] */
    const struct graft_mamba2_scan whole = {
        .num_heads = sizes->heads,
        .head_dim = sizes->head_dim,
        .state_size = sizes->head_dim,
        .n_groups = sizes->heads,
        .A = A,
        .D = D,
        .dt = dt,
        .xBC = run->xBC,
        .y = run->y,
    };
    if (A == NULL || D == NULL || dt == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    for (int64_t h = 0; h < sizes->heads; h++) {
        A[h] = -slope_of(sizes, h);
        D[h] = 0.0f;
    }
    for (int64_t i = 0; i < batch->tokens * sizes->heads; i++) {
        dt[i] = 1.0f;
    }
    return graft_mamba2_scan_batch(self->loops, &whole, call, batch, self->recurrent_states, error);
}

static int forward(void *instance, const struct graft_call *call, const struct graft_mixer_args *args,
                   struct graft_error *error) {
    const struct lightning *self = instance;
    const int64_t tokens = args->batch->tokens, width = self->sizes.heads * self->sizes.head_dim;
    struct run run;
    int status = run_init(&run, &self->sizes, call, tokens, error);
    if (status == GRAFT_OK) {
        status = project(self, call, args, &run, error);
    }
    if (status == GRAFT_OK) {
        status = scan(self, call, args->batch, &run, error);
    }
    if (status == GRAFT_OK) {
        const struct graft_norm_args norm_args = {sizeof norm_args, 0, tokens, run.y, NULL, run.normed};
        status = graft_norm_forward(self->norm, call, &norm_args, error);
    }
    if (status == GRAFT_OK) {
        status = call->kernels->gated_activation(call, GRAFT_ACTIVATION_SIGMOID, run.gate, width, run.normed, width,
                                                 tokens, width, error);
    }
    const struct graft_linear_args output_args = {sizeof output_args, 0, tokens, run.gate, args->output};
    return status == GRAFT_OK ? graft_linear_forward(self->output, call, &output_args, error) : status;
}

const struct graft_mixer graft_lightning_vtable = {.struct_size = sizeof graft_lightning_vtable, .forward = forward};
