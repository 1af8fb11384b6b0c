/* SPDX-License-Identifier: Apache-2.0 */
/* Attention among the patches of a frame: one projection for queries, keys and values, rotated by row and column. */
#include <math.h>

#include "arch/role.h"
#include "arch/vision/choices.h"
#include "graft/describe.h"
#include "graft/kernels.h"

struct attention {
    struct graft_instance base;
    const struct graft_module *qkv;  /* hidden_size -> 3 * hidden_size */
    const struct graft_module *proj; /* hidden_size -> hidden_size */
    int64_t hidden_size;
    int64_t heads;
};

/* What the parent gives. */
struct sizes {
    int64_t hidden_size;
    int64_t num_attention_heads;
};

int graft_vision_attention_describe(const struct graft_class *self, const struct graft_config *config,
                                    const struct graft_args *args, const struct graft_sink *sink,
                                    struct graft_error *error) {
    int64_t hidden = graft_args_int(args, "hidden_size", 0);
    int64_t heads = graft_args_int(args, "num_attention_heads", 0);
    struct sizes *sizes = sink->keep(sink->data, sizeof *sizes, error);
    struct graft_vision_reader reader;
    if (sizes == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    graft_vision_reader_start(&reader, self->data, config, error);
    if (hidden < 1 || heads < 1 || hidden % heads != 0) {
        return graft_error_set(error, GRAFT_ERROR_PLUGIN, sink->path,
                               "argument num_attention_heads: expected a divisor of hidden_size (%lld), got %lld",
                               (long long)hidden, (long long)heads);
    }
    *sizes = (struct sizes){hidden, heads};
    const int32_t qkv_bias = graft_read_bool(&reader.of, V_ATTENTION_QKV_BIAS);
    const int32_t output_bias = graft_read_bool(&reader.of, V_ATTENTION_OUTPUT_BIAS);
    if (reader.of.status == GRAFT_OK) {
        graft_describe_linear(sink, "qkv", hidden, 3 * hidden, qkv_bias, error);
        graft_describe_linear(sink, "proj", hidden, hidden, output_bias, error);
    }
    return error->code;
}

int graft_vision_attention_create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                                  struct graft_error *error) {
    const struct sizes *sizes = build->kept;
    (void)cls;
    struct attention *self = graft_instance_new(build, sizeof *self, error);
    if (self == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    self->hidden_size = sizes->hidden_size;
    self->heads = sizes->num_attention_heads;
    self->qkv = graft_build_child(build, "qkv", error);
    self->proj = graft_build_child(build, "proj", error);
    return graft_instance_finish(self, instance, error);
}

/* context [patches, heads, head_dim] = attention over qkv [patches, 3, heads, head_dim]. */
static int attend(const struct attention *self, const struct graft_call *call,
                  const struct graft_vision_attention_args *args, float *qkv, float *context,
                  struct graft_error *error) {
    const struct graft_mask mask = {.struct_size = sizeof mask, .kind = GRAFT_MASK_NONE};
    int64_t hidden = self->hidden_size;
    int64_t stride = 3 * hidden;
    int64_t head_dim = hidden / self->heads;
    int64_t patches = args->batch->tokens;
    const struct graft_attention_args attention_args = {
        .struct_size = sizeof attention_args,
        .batch = args->batch,
        .mask = &mask,
        .heads = self->heads,
        .kv_heads = self->heads,
        .head_dim = head_dim,
        .scaling = (float)(1.0 / sqrt((double)head_dim)),
        .q = qkv,
        .q_stride = stride,
        .k = qkv + hidden,
        .k_stride = stride,
        .v = qkv + 2 * hidden,
        .v_stride = stride,
        .output = context,
        .output_stride = hidden,
    };
    /* Keys follow queries: one call rotates the heads of both. */
    const struct graft_rope_args rope_args = {sizeof rope_args, GRAFT_ROPE_HALVES, qkv,      stride,    head_dim,
                                              patches,          2 * self->heads,   head_dim, args->cos, args->sin};
    int status = call->kernels->rope(call, &rope_args, error);
    return status == GRAFT_OK ? call->kernels->attention(call, &attention_args, error) : status;
}

static int forward(void *instance, const struct graft_call *call, const struct graft_vision_attention_args *args,
                   struct graft_error *error) {
    const struct attention *self = instance;
    int64_t patches = args->batch->tokens;
    float *qkv = graft_scratch_floats(call, patches, 3 * self->hidden_size, error);
    float *context = graft_scratch_floats(call, patches, self->hidden_size, error);
    const struct graft_linear_args qkv_args = {sizeof qkv_args, 0, patches, args->hidden_states, qkv};
    const struct graft_linear_args proj_args = {sizeof proj_args, 0, patches, context, args->output};
    if (qkv == NULL || context == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    int status = graft_linear_forward(self->qkv, call, &qkv_args, error);
    if (status == GRAFT_OK) {
        status = attend(self, call, args, qkv, context, error);
    }
    return status == GRAFT_OK ? graft_linear_forward(self->proj, call, &proj_args, error) : status;
}

const struct graft_vision_attention graft_vision_attention_vtable = {
    .struct_size = sizeof graft_vision_attention_vtable,
    .forward = forward,
};
