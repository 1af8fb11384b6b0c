/* SPDX-License-Identifier: Apache-2.0 */
/* Attention of every fourth layer: q_proj gives a gate beside each query, and sigmoid(gate) scales what the query
 * finds. */
#include <string.h>

#include "graft/describe.h"
#include "graft/kernels.h"
#include "graft/linear.h"
#include "graft/norm.h"
#include "graft/parts.h"
#include "qwen3_next.h"

struct attention {
    struct graft_instance base;
    struct graft_parts_attention_sizes sizes;
    const struct graft_module *q_proj; /* hidden_size -> heads * {query, gate} [head_dim] */
    const struct graft_module *k_proj; /* hidden_size -> kv_heads * head_dim */
    const struct graft_module *v_proj; /* hidden_size -> kv_heads * head_dim */
    const struct graft_module *o_proj; /* heads * head_dim -> hidden_size */
    const struct graft_module *q_norm;
    const struct graft_module *k_norm;
};

/* attention_bias is that of all four. */
static int describe_children(const struct graft_parts_attention_sizes *sizes, double eps, const struct graft_sink *sink,
                             struct graft_error *error) {
    int64_t q_size = sizes->heads * sizes->head_dim;
    int64_t kv_size = sizes->kv_heads * sizes->head_dim;
    int status = graft_describe_linear(sink, "q_proj", sizes->hidden_size, 2 * q_size, sizes->qkv_bias, error);
    if (status == GRAFT_OK) {
        status = graft_describe_linear(sink, "k_proj", sizes->hidden_size, kv_size, sizes->qkv_bias, error);
    }
    if (status == GRAFT_OK) {
        status = graft_describe_linear(sink, "v_proj", sizes->hidden_size, kv_size, sizes->qkv_bias, error);
    }
    if (status == GRAFT_OK) {
        status = graft_describe_linear(sink, "o_proj", q_size, sizes->hidden_size, sizes->qkv_bias, error);
    }
    if (status == GRAFT_OK) {
        status = graft_describe_norm(sink, "q_norm", "Qwen3NextRMSNorm", sizes->head_dim, eps, error);
    }
    return status == GRAFT_OK ? graft_describe_norm(sink, "k_norm", "Qwen3NextRMSNorm", sizes->head_dim, eps, error)
                              : status;
}

int qwen3_next_attention_describe(const struct graft_class *cls, const struct graft_config *config,
                                  const struct graft_args *args, const struct graft_sink *sink,
                                  struct graft_error *error) {
    struct graft_parts_attention_sizes *sizes = sink->keep(sink->data, sizeof *sizes, error); /* for `create` */
    (void)cls;
    (void)config;
    int status =
        sizes != NULL ? graft_parts_read_attention_sizes(args, sink->path, sizes, error) : GRAFT_ERROR_INTERNAL;
    return status == GRAFT_OK ? describe_children(sizes, graft_args_real(args, "eps", 1e-6), sink, error) : status;
}

int qwen3_next_attention_create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                                struct graft_error *error) {
    const struct graft_parts_attention_sizes *sizes = build->kept;
    int status = GRAFT_OK;
    struct attention *self = graft_instance_new(build, sizeof *self, error);
    (void)cls;
    if (self == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    self->sizes = *sizes;
    self->q_proj = graft_build_child(build, "q_proj", &status, error);
    self->k_proj = graft_build_child(build, "k_proj", &status, error);
    self->v_proj = graft_build_child(build, "v_proj", &status, error);
    self->o_proj = graft_build_child(build, "o_proj", &status, error);
    self->q_norm = graft_build_child(build, "q_norm", &status, error);
    self->k_norm = graft_build_child(build, "k_norm", &status, error);
    return graft_instance_finish(self, status, instance);
}

/* The arrays of one forward. */
struct run {
    float *q_gate;  /* [tokens, heads, {q, gate} [head_dim]] */
    float *q;       /* [tokens, heads, head_dim]; before it is normed in `context` */
    float *gate;    /* [tokens, heads, head_dim], and what goes to o_proj */
    float *k;       /* [tokens, kv_heads, head_dim] */
    float *k_raw;   /* the same before it is normed */
    float *v;       /* [tokens, kv_heads, head_dim] */
    float *context; /* [tokens, heads, head_dim] */
};

static int run_init(struct run *run, const struct graft_parts_attention_sizes *sizes, const struct graft_call *call,
                    int64_t tokens, struct graft_error *error) {
    int64_t q_size = sizes->heads * sizes->head_dim;
    int64_t kv_size = sizes->kv_heads * sizes->head_dim;
    run->q_gate = graft_scratch_floats(call, tokens, 2 * q_size, error);
    run->q = graft_scratch_floats(call, tokens, q_size, error);
    run->gate = graft_scratch_floats(call, tokens, q_size, error);
    run->k = graft_scratch_floats(call, tokens, kv_size, error);
    run->k_raw = graft_scratch_floats(call, tokens, kv_size, error);
    run->v = graft_scratch_floats(call, tokens, kv_size, error);
    run->context = graft_scratch_floats(call, tokens, q_size, error);
    return run->q_gate != NULL && run->q != NULL && run->gate != NULL && run->k != NULL && run->k_raw != NULL &&
                   run->v != NULL && run->context != NULL
               ? GRAFT_OK
               : GRAFT_ERROR_INTERNAL;
}

static int project(const struct attention *self, const struct graft_call *call,
                   const struct graft_self_attention_args *args, const struct run *run, struct graft_error *error) {
    int64_t tokens = args->batch->tokens;
    int64_t head_dim = self->sizes.head_dim;
    const struct graft_module *projections[] = {self->q_proj, self->k_proj, self->v_proj};
    const struct graft_linear_args projection_args[] = {
        {sizeof(struct graft_linear_args), 0, tokens, args->hidden_states, run->q_gate},
        {sizeof(struct graft_linear_args), 0, tokens, args->hidden_states, run->k_raw},
        {sizeof(struct graft_linear_args), 0, tokens, args->hidden_states, run->v},
    };
    const struct graft_norm_args q_args = {sizeof q_args, 0, tokens * self->sizes.heads, run->context, NULL, run->q};
    const struct graft_norm_args k_args = {sizeof k_args, 0, tokens * self->sizes.kv_heads, run->k_raw, NULL, run->k};
    int status = graft_linear_forward_all(projections, call, projection_args, 3, error);
    for (int64_t i = 0; i < tokens * self->sizes.heads && status == GRAFT_OK; i++) {
        const float *pair = run->q_gate + i * 2 * head_dim;
        memcpy(run->context + i * head_dim, pair, (size_t)head_dim * sizeof *pair);
        memcpy(run->gate + i * head_dim, pair + head_dim, (size_t)head_dim * sizeof *pair);
    }
    if (status == GRAFT_OK) {
        status = graft_norm_forward(self->q_norm, call, &q_args, error);
    }
    return status == GRAFT_OK ? graft_norm_forward(self->k_norm, call, &k_args, error) : status;
}

/* context = attention of the rotated queries and keys. */
static int attend(const struct attention *self, const struct graft_call *call,
                  const struct graft_self_attention_args *args, const struct run *run, struct graft_error *error) {
    const struct graft_parts_attention_sizes *sizes = &self->sizes;
    int64_t tokens = args->batch->tokens;
    int64_t q_size = sizes->heads * sizes->head_dim;
    int64_t kv_size = sizes->kv_heads * sizes->head_dim;
    const struct graft_attention_args attention_args = {
        .struct_size = sizeof attention_args,
        .layer = sizes->layer,
        .batch = args->batch,
        .mask = args->mask,
        .heads = sizes->heads,
        .kv_heads = sizes->kv_heads,
        .head_dim = sizes->head_dim,
        .scaling = (float)sizes->scaling,
        .softcap = (float)sizes->softcap,
        .q = run->q,
        .q_stride = q_size,
        .k = run->k,
        .k_stride = kv_size,
        .v = run->v,
        .v_stride = kv_size,
        .output = run->context,
        .output_stride = q_size,
    };
    const struct graft_rope_args q_args = {.struct_size = sizeof q_args,
                                           .layout = GRAFT_ROPE_HALVES,
                                           .x = run->q,
                                           .stride = q_size,
                                           .head_stride = sizes->head_dim,
                                           .tokens = tokens,
                                           .heads = sizes->heads,
                                           .width = sizes->rotary_width,
                                           .cos = args->cos,
                                           .sin = args->sin};
    struct graft_rope_args k_args = q_args;
    k_args.x = run->k;
    k_args.stride = kv_size;
    k_args.heads = sizes->kv_heads;
    int status = call->kernels->rope(call, &q_args, error);
    if (status == GRAFT_OK) {
        status = call->kernels->rope(call, &k_args, error);
    }
    return status == GRAFT_OK ? call->kernels->attention(call, &attention_args, error) : status;
}

static int forward(void *instance, const struct graft_call *call, const struct graft_self_attention_args *args,
                   struct graft_error *error) {
    const struct attention *self = instance;
    int64_t tokens = args->batch->tokens;
    int64_t q_size = self->sizes.heads * self->sizes.head_dim;
    struct run run;
    int status = run_init(&run, &self->sizes, call, tokens, error);
    if (status == GRAFT_OK) {
        status = project(self, call, args, &run, error);
    }
    if (status == GRAFT_OK) {
        status = attend(self, call, args, &run, error);
    }
    if (status == GRAFT_OK) {
        status = call->kernels->gated_activation(call, GRAFT_ACTIVATION_SIGMOID, run.gate, q_size, run.context, q_size,
                                                 tokens, q_size, error);
    }
    const struct graft_linear_args output_args = {sizeof output_args, 0, tokens, run.gate, args->output};
    return status == GRAFT_OK ? graft_linear_forward(self->o_proj, call, &output_args, error) : status;
}

const struct graft_self_attention qwen3_next_attention_vtable = {
    .struct_size = sizeof qwen3_next_attention_vtable,
    .features = GRAFT_SELF_ATTENTION_SCORES | GRAFT_SELF_ATTENTION_ROTARY_WIDTH,
    .forward = forward,
};
