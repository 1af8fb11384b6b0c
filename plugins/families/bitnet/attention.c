/* SPDX-License-Identifier: Apache-2.0 */
/* Llama's attention, but that what it has found is normed before the output projection. */
#include "graft/describe.h"
#include "graft/kernels.h"
#include "graft/linear.h"
#include "graft/parts.h"

#include "bitnet.h"

struct attention {
    struct graft_instance base;
    struct graft_parts_attention_sizes sizes;
    const struct graft_module *q_proj;        /* hidden_size -> heads * head_dim */
    const struct graft_module *k_proj;        /* hidden_size -> kv_heads * head_dim */
    const struct graft_module *v_proj;        /* hidden_size -> kv_heads * head_dim */
    const struct graft_module *o_proj;        /* heads * head_dim -> hidden_size */
    const struct graft_module *attn_sub_norm; /* of all heads of a token */
};

static int describe_children(const struct graft_parts_attention_sizes *sizes, double eps, const struct graft_sink *sink,
                             struct graft_error *error) {
    const int64_t q_size = sizes->heads * sizes->head_dim;
    const int64_t kv_size = sizes->kv_heads * sizes->head_dim;
    int status = graft_describe_linear(sink, "q_proj", sizes->hidden_size, q_size, sizes->qkv_bias, error);
    if (status == GRAFT_OK) {
        status = graft_describe_linear(sink, "k_proj", sizes->hidden_size, kv_size, sizes->qkv_bias, error);
    }
    if (status == GRAFT_OK) {
        status = graft_describe_linear(sink, "v_proj", sizes->hidden_size, kv_size, sizes->qkv_bias, error);
    }
    if (status == GRAFT_OK) {
        status = graft_describe_linear(sink, "o_proj", q_size, sizes->hidden_size, sizes->o_proj_bias, error);
    }
    return status == GRAFT_OK ? graft_describe_norm(sink, "attn_sub_norm", "BitNetRMSNorm", q_size, eps, error)
                              : status;
}

/* The norm is said to be as wide as the hidden states, so heads have to be, too. */
static int check_width(const struct graft_config *config, const struct graft_parts_attention_sizes *sizes,
                       struct graft_error *error) {
    if (sizes->heads * sizes->head_dim == sizes->hidden_size) {
        return GRAFT_OK;
    }
    return graft_error_set(error, GRAFT_ERROR_MODEL, config->file,
                           "%s: expected num_attention_heads times head_dim (%lld), got %lld",
                           graft_config_spelling(config, "hidden_size"), (long long)(sizes->heads * sizes->head_dim),
                           (long long)sizes->hidden_size);
}

int bitnet_attention_describe(const struct graft_class *cls, const struct graft_config *config,
                              const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    struct graft_parts_attention_sizes *sizes = sink->keep(sink->data, sizeof *sizes, error); /* for `create` */
    (void)cls;
    int status =
        sizes != NULL ? graft_parts_read_attention_sizes(args, sink->path, sizes, error) : GRAFT_ERROR_INTERNAL;
    if (status == GRAFT_OK) {
        status = check_width(config, sizes, error);
    }
    return status == GRAFT_OK ? describe_children(sizes, graft_args_real(args, "eps", 1e-5), sink, error) : status;
}

int bitnet_attention_create(const struct graft_class *cls, const struct graft_build *build, void **instance,
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
    self->attn_sub_norm = graft_build_child(build, "attn_sub_norm", &status, error);
    return graft_instance_finish(self, status, instance);
}

/* The arrays of one forward. */
struct run {
    float *q;       /* [tokens, heads, head_dim]; once they have been used, what is normed */
    float *k;       /* [tokens, kv_heads, head_dim] */
    float *v;       /* [tokens, kv_heads, head_dim] */
    float *context; /* [tokens, heads, head_dim] */
};

static int run_init(struct run *run, const struct graft_parts_attention_sizes *sizes, const struct graft_call *call,
                    int64_t tokens, struct graft_error *error) {
    const int64_t q_size = sizes->heads * sizes->head_dim;
    const int64_t kv_size = sizes->kv_heads * sizes->head_dim;
    run->q = graft_scratch_floats(call, tokens, q_size, error);
    run->k = graft_scratch_floats(call, tokens, kv_size, error);
    run->v = graft_scratch_floats(call, tokens, kv_size, error);
    run->context = graft_scratch_floats(call, tokens, q_size, error);
    return run->q != NULL && run->k != NULL && run->v != NULL && run->context != NULL ? GRAFT_OK : GRAFT_ERROR_INTERNAL;
}

static int project(const struct attention *self, const struct graft_call *call,
                   const struct graft_self_attention_args *args, const struct run *run, struct graft_error *error) {
    const int64_t tokens = args->batch->tokens;
    const struct graft_module *projections[] = {self->q_proj, self->k_proj, self->v_proj};
    const struct graft_linear_args projection_args[] = {
        {sizeof(struct graft_linear_args), 0, tokens, args->hidden_states, run->q},
        {sizeof(struct graft_linear_args), 0, tokens, args->hidden_states, run->k},
        {sizeof(struct graft_linear_args), 0, tokens, args->hidden_states, run->v},
    };
    return graft_linear_forward_all(projections, call, projection_args, 3, error);
}

/* context = attention of the rotated queries and keys. */
static int attend(const struct graft_parts_attention_sizes *sizes, const struct graft_call *call,
                  const struct graft_self_attention_args *args, const struct run *run, struct graft_error *error) {
    const int64_t q_size = sizes->heads * sizes->head_dim;
    const int64_t kv_size = sizes->kv_heads * sizes->head_dim;
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
    const struct graft_rope_args rope_args[] = {
        {sizeof rope_args[0], GRAFT_ROPE_HALVES, run->q, q_size, sizes->head_dim, args->batch->tokens, sizes->heads,
         sizes->rotary_width, args->cos, args->sin},
        {sizeof rope_args[0], GRAFT_ROPE_HALVES, run->k, kv_size, sizes->head_dim, args->batch->tokens, sizes->kv_heads,
         sizes->rotary_width, args->cos, args->sin},
    };
    int status = call->kernels->rope(call, &rope_args[0], error);
    if (status == GRAFT_OK) {
        status = call->kernels->rope(call, &rope_args[1], error);
    }
    return status == GRAFT_OK ? call->kernels->attention(call, &attention_args, error) : status;
}

static int forward(void *instance, const struct graft_call *call, const struct graft_self_attention_args *args,
                   struct graft_error *error) {
    const struct attention *self = instance;
    const int64_t tokens = args->batch->tokens;
    struct run run;
    int status = run_init(&run, &self->sizes, call, tokens, error);
    if (status == GRAFT_OK) {
        status = project(self, call, args, &run, error);
    }
    if (status == GRAFT_OK) {
        status = attend(&self->sizes, call, args, &run, error);
    }
    const struct graft_norm_args norm_args = {sizeof norm_args, 0, tokens, run.context, NULL, run.q};
    const struct graft_linear_args output_args = {sizeof output_args, 0, tokens, run.q, args->output};
    if (status == GRAFT_OK) {
        status = graft_norm_forward(self->attn_sub_norm, call, &norm_args, error);
    }
    return status == GRAFT_OK ? graft_linear_forward(self->o_proj, call, &output_args, error) : status;
}

const struct graft_self_attention bitnet_attention_vtable = {
    .struct_size = sizeof bitnet_attention_vtable,
    .features = GRAFT_SELF_ATTENTION_SCORES | GRAFT_SELF_ATTENTION_ROTARY_WIDTH,
    .forward = forward,
};
