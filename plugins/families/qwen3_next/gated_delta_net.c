/* SPDX-License-Identifier: Apache-2.0 */
/* A layer's mixer: projections, a short convolution, and the gated delta rule. */
#include <math.h>
#include <string.h>

#include "delta_rule.h"
#include "graft/causal_conv1d.h"
#include "graft/describe.h"
#include "graft/instance.h"
#include "graft/kernels.h"
#include "graft/linear.h"
#include "graft/state.h"
#include "qwen3_next.h"

enum { MAX_HEADS = 1 << 12, MAX_WIDTH = 1 << 12, MAX_KERNEL = 64, WORK_AT_ONCE = 1 << 14 /* worth a thread */ };

static const struct delta_rule_loops *const loops[] = GRAFT_ISA_TABLES(delta_rule);

/* What config.json says of the linear layers. */
struct sizes {
    int64_t hidden_size;
    int64_t key_heads;
    int64_t key_dim; /* of each head, as value_dim */
    int64_t value_heads;
    int64_t value_dim;
    int64_t kernel_size;
};

struct gated_delta_net {
    struct graft_instance base;
    struct sizes sizes;
    const struct delta_rule_loops *loops;
    const struct graft_module *in_proj_qkvz;
    const struct graft_module *in_proj_ba;
    const struct graft_module *conv1d;
    const struct graft_module *norm;
    const struct graft_module *out_proj;
    const struct graft_weight *dt_bias;         /* [value_heads] */
    const struct graft_weight *A_log;           /* [value_heads] */
    const struct graft_state *recurrent_states; /* [value_heads, key_dim, value_dim] f32 */
};

static int64_t keys_of(const struct sizes *sizes) {
    return sizes->key_heads * sizes->key_dim;
}

static int64_t values_of(const struct sizes *sizes) {
    return sizes->value_heads * sizes->value_dim;
}

/* What the convolution is over: queries, keys and values one behind the other. */
static int64_t conv_dim_of(const struct sizes *sizes) {
    return 2 * keys_of(sizes) + values_of(sizes);
}

/* --- From the config to an instance --- */

static int check(const struct graft_config *config, const struct sizes *sizes, struct graft_error *error) {
    const char *hidden_act = "silu";
    int status = graft_config_string(config, "hidden_act", &hidden_act, error);
    if (status == GRAFT_OK && strcmp(hidden_act, "silu") != 0) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, config->file,
                               "hidden_act: expected \"silu\" in a model with linear attention, got \"%s\"",
                               hidden_act);
    }
    if (status == GRAFT_OK && sizes->value_heads % sizes->key_heads != 0) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, config->file,
                               "linear_num_key_heads: %lld does not divide linear_num_value_heads (%lld)",
                               (long long)sizes->key_heads, (long long)sizes->value_heads);
    }
    return status;
}

static int read_sizes(const struct graft_config *config, const struct graft_args *args, struct sizes *sizes,
                      struct graft_error *error) {
    const struct {
        const char *name;
        int64_t minimum;
        int64_t maximum;
        int64_t *value;
    } fields[] = {
        {"linear_num_key_heads", 1, MAX_HEADS, &sizes->key_heads},
        {"linear_key_head_dim", 1, MAX_WIDTH, &sizes->key_dim},
        {"linear_num_value_heads", 1, MAX_HEADS, &sizes->value_heads},
        {"linear_value_head_dim", 1, MAX_WIDTH, &sizes->value_dim},
        {"linear_conv_kernel_dim", 2, MAX_KERNEL, &sizes->kernel_size},
    };
    int status = GRAFT_OK;
    sizes->hidden_size = graft_args_int(args, "hidden_size", 0);
    for (size_t i = 0; i < sizeof fields / sizeof fields[0] && status == GRAFT_OK; i++) {
        status =
            graft_config_need_int(config, fields[i].name, fields[i].minimum, fields[i].maximum, fields[i].value, error);
    }
    return status == GRAFT_OK ? check(config, sizes, error) : status;
}

static int describe_linears(const struct sizes *sizes, const struct graft_sink *sink, struct graft_error *error) {
    int64_t values = values_of(sizes);
    int status =
        graft_describe_linear(sink, "in_proj_qkvz", sizes->hidden_size, 2 * keys_of(sizes) + 2 * values, 0, error);
    if (status == GRAFT_OK) {
        status = graft_describe_linear(sink, "in_proj_ba", sizes->hidden_size, 2 * sizes->value_heads, 0, error);
    }
    return status == GRAFT_OK ? graft_describe_linear(sink, "out_proj", values, sizes->hidden_size, 0, error) : status;
}

int qwen3_next_gated_delta_net_describe(const struct graft_class *cls, const struct graft_config *config,
                                        const struct graft_args *args, const struct graft_sink *sink,
                                        struct graft_error *error) {
    struct sizes *sizes = sink->keep(sink->data, sizeof *sizes, error); /* for `create` */
    (void)cls;
    int status = sizes != NULL ? read_sizes(config, args, sizes, error) : GRAFT_ERROR_INTERNAL;
    if (status != GRAFT_OK) {
        return status;
    }
    const int64_t shape[] = {sizes->value_heads, sizes->key_dim, sizes->value_dim};
    const struct graft_arg conv_args[] = {graft_int_arg("channels", conv_dim_of(sizes)),
                                          graft_int_arg("kernel_size", sizes->kernel_size), graft_int_arg("bias", 0)};
    const struct graft_arg norm_args[] = {graft_int_arg("hidden_size", sizes->value_dim),
                                          graft_real_arg("eps", graft_args_real(args, "eps", 1e-6))};
    status = describe_linears(sizes, sink, error);
    if (status == GRAFT_OK) {
        status = graft_describe_child(sink, "conv1d", "Conv1d", GRAFT_INTERFACE_CAUSAL_CONV1D, conv_args, 3, error);
    }
    if (status == GRAFT_OK) {
        status = graft_describe_child(sink, "norm", "Qwen3NextRMSNormGated", QWEN3_NEXT_INTERFACE_GATED_NORM, norm_args,
                                      2, error);
    }
    if (status == GRAFT_OK) {
        status = graft_describe_vector(sink, "dt_bias", sizes->value_heads, error);
    }
    if (status == GRAFT_OK) {
        status = graft_describe_vector(sink, "A_log", sizes->value_heads, error);
    }
    return status == GRAFT_OK ? graft_describe_state(sink, "recurrent_states", 3, shape, GRAFT_DTYPE_F32, error)
                              : status;
}

int qwen3_next_gated_delta_net_create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                                      struct graft_error *error) {
    const struct sizes *sizes = build->kept;
    int status = GRAFT_OK;
    struct gated_delta_net *self = graft_instance_new(build, sizeof *self, error);
    (void)cls;
    if (self == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    self->sizes = *sizes;
    self->loops = loops[graft_isa_choose(sizeof loops / sizeof loops[0])];
    self->in_proj_qkvz = graft_build_child(build, "in_proj_qkvz", &status, error);
    self->in_proj_ba = graft_build_child(build, "in_proj_ba", &status, error);
    self->conv1d = graft_build_child(build, "conv1d", &status, error);
    self->norm = graft_build_child(build, "norm", &status, error);
    self->out_proj = graft_build_child(build, "out_proj", &status, error);
    self->dt_bias = graft_build_weight(build, "dt_bias", &status, error);
    self->A_log = graft_build_weight(build, "A_log", &status, error);
    self->recurrent_states = graft_build_state(build, "recurrent_states", &status, error);
    return graft_instance_finish(self, status, instance);
}

/* --- Forward --- */

/* The arrays of one forward. */
struct run {
    float *qkvz;    /* [tokens, key_heads, {q, k} [key_dim], {v, z} [value_heads / key_heads, value_dim]] */
    float *ba;      /* [tokens, key_heads, {b, a} [value_heads / key_heads]] */
    float *unmixed; /* [tokens, conv_dim]: q, k, v */
    float *qkv;     /* [tokens, conv_dim] */
    float *z;       /* [tokens, value_heads, value_dim], and what leaves the norm */
    float *g;       /* [tokens, value_heads] */
    float *beta;    /* [tokens, value_heads] */
    float *y;       /* [tokens, value_heads, value_dim] */
};

static int run_init(struct run *run, const struct sizes *sizes, const struct graft_call *call, int64_t tokens,
                    struct graft_error *error) {
    run->qkvz = graft_scratch_floats(call, tokens, conv_dim_of(sizes) + values_of(sizes), error);
    run->ba = graft_scratch_floats(call, tokens, 2 * sizes->value_heads, error);
    run->unmixed = graft_scratch_floats(call, tokens, conv_dim_of(sizes), error);
    run->qkv = graft_scratch_floats(call, tokens, conv_dim_of(sizes), error);
    run->z = graft_scratch_floats(call, tokens, values_of(sizes), error);
    run->g = graft_scratch_floats(call, tokens, sizes->value_heads, error);
    run->beta = graft_scratch_floats(call, tokens, sizes->value_heads, error);
    run->y = graft_scratch_floats(call, tokens, values_of(sizes), error);
    return run->qkvz != NULL && run->ba != NULL && run->unmixed != NULL && run->qkv != NULL && run->z != NULL &&
                   run->g != NULL && run->beta != NULL && run->y != NULL
               ? GRAFT_OK
               : GRAFT_ERROR_INTERNAL;
}

/* One token's q, k, v and z, which are grouped by heads of keys, each behind its own kind. */
static void ungroup(const struct sizes *sizes, const float *qkvz, float *qkv, float *z) {
    int64_t shared = values_of(sizes) / sizes->key_heads; /* numbers of the values that share a key */
    for (int64_t h = 0; h < sizes->key_heads; h++, qkvz += 2 * (sizes->key_dim + shared)) {
        const float *v = qkvz + 2 * sizes->key_dim;
        memcpy(qkv + h * sizes->key_dim, qkvz, (size_t)sizes->key_dim * sizeof *qkv);
        memcpy(qkv + keys_of(sizes) + h * sizes->key_dim, qkvz + sizes->key_dim, (size_t)sizes->key_dim * sizeof *qkv);
        memcpy(qkv + 2 * keys_of(sizes) + h * shared, v, (size_t)shared * sizeof *qkv);
        memcpy(z + h * shared, v + shared, (size_t)shared * sizeof *z);
    }
}

static int project(const struct gated_delta_net *self, const struct graft_call *call,
                   const struct graft_mixer_args *args, const struct run *run, struct graft_error *error) {
    const struct sizes *sizes = &self->sizes;
    int64_t tokens = args->batch->tokens;
    int64_t conv_dim = conv_dim_of(sizes);
    const struct graft_module *projections[] = {self->in_proj_qkvz, self->in_proj_ba};
    const struct graft_linear_args projection_args[] = {
        {sizeof(struct graft_linear_args), 0, tokens, args->hidden_states, run->qkvz},
        {sizeof(struct graft_linear_args), 0, tokens, args->hidden_states, run->ba},
    };
    const struct graft_causal_conv1d_args conv_args = {sizeof conv_args, 0, args->batch, run->unmixed, run->qkv};
    int status = graft_linear_forward_all(projections, call, projection_args, 2, error);
    for (int64_t t = 0; t < tokens && status == GRAFT_OK; t++) {
        ungroup(sizes, run->qkvz + t * (conv_dim + values_of(sizes)), run->unmixed + t * conv_dim,
                run->z + t * values_of(sizes));
    }
    if (status == GRAFT_OK) {
        status = graft_causal_conv1d_forward(self->conv1d, call, &conv_args, error);
    }
    return status == GRAFT_OK
               ? call->kernels->activation(call, GRAFT_ACTIVATION_SILU, run->qkv, tokens * conv_dim, run->qkv, error)
               : status;
}

static float softplus(float x) {
    return x > 20.0F ? x : log1pf(expf(x)); /* beyond, they are the same in f32 */
}

/* How far each head's state decays with each token, and how much of it the token may change. */
static int find_gates(const struct gated_delta_net *self, const struct graft_call *call, int64_t tokens,
                      const struct run *run, struct graft_error *error) {
    int64_t heads = self->sizes.value_heads;
    int64_t shared = heads / self->sizes.key_heads;
    const float *A_log = graft_scratch_widened(call, self->A_log, error);
    const float *dt_bias = graft_scratch_widened(call, self->dt_bias, error);
    if (A_log == NULL || dt_bias == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    for (int64_t i = 0; i < tokens * heads; i++) {
        int64_t head = i % heads;
        const float *b = run->ba + 2 * (i - head % shared) + head % shared;
        run->beta[i] = 1.0F / (1.0F + expf(-b[0]));
        run->g[i] = -expf(A_log[head]) * softplus(b[shared] + dt_bias[head]);
    }
    return GRAFT_OK;
}

/* What runs in parallel. */
struct work {
    const struct delta_rule_loops *loops;
    struct delta_rule whole;  /* the tokens of all sequences */
    struct delta_rule *rules; /* [sequences] */
};

/* Items are tokens. */
static void normalise(void *data, int64_t begin, int64_t end) {
    const struct work *work = data;
    for (int64_t t = begin; t < end; t++) {
        work->loops->normalise(&work->whole, t);
    }
}

/* Items are the heads of all sequences. */
static void run_heads(void *data, int64_t begin, int64_t end) {
    const struct work *work = data;
    int64_t heads = work->whole.value_heads;
    for (int64_t i = begin; i < end; i++) {
        work->loops->run_head(&work->rules[i / heads], i % heads);
    }
}

static int recur(const struct gated_delta_net *self, const struct graft_call *call, const struct graft_batch *batch,
                 const struct run *run, struct graft_error *error) {
    const struct sizes *sizes = &self->sizes;
    struct work work = {.loops = self->loops,
                        .whole = {.key_heads = sizes->key_heads,
                                  .key_dim = sizes->key_dim,
                                  .value_heads = sizes->value_heads,
                                  .value_dim = sizes->value_dim,
                                  .tokens = batch->tokens,
                                  .qkv = run->qkv},
                        .rules = call->scratch_alloc(call->scratch, batch->sequences * (int64_t)sizeof *work.rules)};
    if (work.rules == NULL) {
        return graft_fail_memory(error, self->base.path);
    }
    for (int32_t s = 0; s < batch->sequences; s++) {
        int64_t first = batch->cu_seqlens[s];
        struct delta_rule *rule = &work.rules[s];
        *rule = work.whole;
        rule->tokens = batch->cu_seqlens[s + 1] - first;
        rule->g = run->g + first * sizes->value_heads;
        rule->beta = run->beta + first * sizes->value_heads;
        rule->qkv = run->qkv + first * conv_dim_of(sizes);
        rule->y = run->y + first * values_of(sizes);
        rule->state = graft_state_get(call, batch, self->recurrent_states, s, error);
        if (rule->state == NULL) {
            return GRAFT_ERROR_INTERNAL;
        }
    }
    int64_t effort = batch->tokens / batch->sequences * sizes->key_dim * sizes->value_dim;
    call->threads->parallel_for(batch->tokens, 1 + WORK_AT_ONCE / keys_of(sizes), normalise, &work);
    call->threads->parallel_for(batch->sequences * sizes->value_heads, 1 + WORK_AT_ONCE / (1 + effort), run_heads,
                                &work);
    return GRAFT_OK;
}

static int forward(void *instance, const struct graft_call *call, const struct graft_mixer_args *args,
                   struct graft_error *error) {
    const struct gated_delta_net *self = instance;
    int64_t tokens = args->batch->tokens;
    struct run run;
    int status = run_init(&run, &self->sizes, call, tokens, error);
    if (status == GRAFT_OK) {
        status = project(self, call, args, &run, error);
    }
    if (status == GRAFT_OK) {
        status = find_gates(self, call, tokens, &run, error);
    }
    if (status == GRAFT_OK) {
        status = recur(self, call, args->batch, &run, error);
    }
    if (status == GRAFT_OK) {
        const struct qwen3_next_gated_norm_args norm_args = {sizeof norm_args, 0, tokens * self->sizes.value_heads,
                                                             run.y, run.z};
        status = graft_module_forward(self->norm, call, &norm_args, error);
    }
    const struct graft_linear_args out_args = {sizeof out_args, 0, tokens, run.z, args->output};
    return status == GRAFT_OK ? graft_linear_forward(self->out_proj, call, &out_args, error) : status;
}

const struct graft_mixer qwen3_next_gated_delta_net_vtable = {
    .struct_size = sizeof qwen3_next_gated_delta_net_vtable,
    .forward = forward,
};
