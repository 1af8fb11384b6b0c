/* SPDX-License-Identifier: Apache-2.0 */
/* Attention with a joined projection for queries, keys and values. */
#include "graft/describe.h"
#include "graft/kernels.h"
#include "graft/parts.h"

struct kept {
    struct graft_parts_fused_attention part;
    struct graft_parts_attention_sizes sizes;
};

struct attention {
    struct graft_instance base;
    struct graft_parts_attention_sizes sizes;
    const struct graft_module *qkv;    /* hidden_size -> (heads + 2 * kv_heads) * head_dim */
    const struct graft_module *output; /* heads * head_dim -> hidden_size */
    int32_t by_head;
};

int graft_parts_fused_attention_declare(const struct graft_parts_fused_attention *part,
                                        const struct graft_parts_attention_sizes *sizes, const struct graft_sink *sink,
                                        struct graft_error *error) {
    struct kept *kept = sink->keep(sink->data, sizeof *kept, error); /* for `create` */
    if (kept == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    *kept = (struct kept){*part, *sizes};
    if (part->by_head && sizes->kv_heads != sizes->heads) {
        return graft_error_set(error, GRAFT_ERROR_PLUGIN, sink->path,
                               "argument num_key_value_heads: expected num_attention_heads (%lld), got %lld",
                               (long long)sizes->heads, (long long)sizes->kv_heads);
    }
    int status = graft_describe_linear(sink, part->qkv, sizes->hidden_size,
                                       (sizes->heads + 2 * sizes->kv_heads) * sizes->head_dim, sizes->qkv_bias, error);
    return status == GRAFT_OK ? graft_describe_linear(sink, part->output, sizes->heads * sizes->head_dim,
                                                      sizes->hidden_size, sizes->o_proj_bias, error)
                              : status;
}

int graft_parts_fused_attention_describe(const struct graft_class *self, const struct graft_config *config,
                                         const struct graft_args *args, const struct graft_sink *sink,
                                         struct graft_error *error) {
    struct graft_parts_attention_sizes sizes;
    (void)config;
    int status = graft_parts_read_attention_sizes(args, sink->path, &sizes, error);
    return status == GRAFT_OK ? graft_parts_fused_attention_declare(self->data, &sizes, sink, error) : status;
}

int graft_parts_fused_attention_create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                                       struct graft_error *error) {
    const struct kept *kept = build->kept;
    (void)cls;
    struct attention *self = graft_instance_new(build, sizeof *self, error);
    if (self == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    self->sizes = kept->sizes;
    self->by_head = kept->part.by_head;
    self->qkv = graft_build_child(build, kept->part.qkv, error);
    self->output = graft_build_child(build, kept->part.output, error);
    return graft_instance_finish(self, instance, error);
}

/* context [tokens, heads, head_dim] = attention for qkv [tokens, (heads + 2 * kv_heads) * head_dim], after rotation. */
static int attend(const struct attention *self, const struct graft_call *call,
                  const struct graft_self_attention_args *args, float *qkv, float *context, struct graft_error *error) {
    const struct graft_parts_attention_sizes *sizes = &self->sizes;
    int64_t dim = sizes->head_dim;
    int64_t stride = (sizes->heads + 2 * sizes->kv_heads) * dim;
    int64_t head_stride = self->by_head ? 3 * dim : dim;
    float *k = qkv + (self->by_head ? dim : sizes->heads * dim);
    float *v = qkv + (self->by_head ? 2 * dim : (sizes->heads + sizes->kv_heads) * dim);
    const struct graft_attention_args attention_args = {
        .struct_size = sizeof attention_args,
        .layer = sizes->layer,
        .batch = args->batch,
        .mask = args->mask,
        .heads = sizes->heads,
        .kv_heads = sizes->kv_heads,
        .head_dim = dim,
        .scaling = (float)sizes->scaling,
        .softcap = (float)sizes->softcap,
        .q = qkv,
        .q_stride = stride,
        .q_head_stride = head_stride,
        .k = k,
        .k_stride = stride,
        .k_head_stride = head_stride,
        .v = v,
        .v_stride = stride,
        .v_head_stride = head_stride,
        .output = context,
        .output_stride = sizes->heads * dim,
    };
    const struct graft_rope_args rope_args[] = {
        {sizeof rope_args[0], sizes->rope_layout, qkv, stride, head_stride, args->batch->tokens, sizes->heads,
         sizes->rotary_width, args->cos, args->sin},
        {sizeof rope_args[0], sizes->rope_layout, k, stride, head_stride, args->batch->tokens, sizes->kv_heads,
         sizes->rotary_width, args->cos, args->sin},
    };
    int status = GRAFT_OK;
    for (int i = 0; i < 2 && args->cos != NULL && status == GRAFT_OK; i++) {
        status = call->kernels->rope(call, &rope_args[i], error);
    }
    return status == GRAFT_OK ? call->kernels->attention(call, &attention_args, error) : status;
}

static int forward(void *instance, const struct graft_call *call, const struct graft_self_attention_args *args,
                   struct graft_error *error) {
    const struct attention *self = instance;
    const struct graft_parts_attention_sizes *sizes = &self->sizes;
    int64_t tokens = args->batch->tokens;
    float *qkv = graft_scratch_floats(call, tokens, (sizes->heads + 2 * sizes->kv_heads) * sizes->head_dim, error);
    float *context = graft_scratch_floats(call, tokens, sizes->heads * sizes->head_dim, error);
    const struct graft_linear_args in_args = {sizeof in_args, 0, tokens, args->hidden_states, qkv};
    const struct graft_linear_args out_args = {sizeof out_args, 0, tokens, context, args->output};
    if (qkv == NULL || context == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    int status = graft_linear_forward(self->qkv, call, &in_args, error);
    if (status == GRAFT_OK) {
        status = attend(self, call, args, qkv, context, error);
    }
    return status == GRAFT_OK ? graft_linear_forward(self->output, call, &out_args, error) : status;
}

const struct graft_self_attention graft_parts_fused_attention_vtable = {
    .struct_size = sizeof graft_parts_fused_attention_vtable,
    .features = GRAFT_SELF_ATTENTION_SCORES | GRAFT_SELF_ATTENTION_ROTARY_WIDTH | GRAFT_SELF_ATTENTION_ROPE_INTERLEAVE,
    .forward = forward,
};
