/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Attention with one projection for queries, keys and values. The rows of qkv_proj are those of q_proj, k_proj and
 * v_proj, in sizes of their own when heads share keys and values; joining them copies nothing. Results are those of the
 * original to the bit.
 */
#include <math.h>
#include <stdlib.h>

#include "graft/attention.h"
#include "graft/describe.h"
#include "graft/kernels.h"
#include "graft/plugin.h"

/* How the families differ. */
struct traits {
    const char *bias; /* config field: whether the projections have biases */
    int32_t bias_default;
    int32_t output_bias;  /* 1: the field holds for o_proj too */
    int32_t output_first; /* 1: o_proj is listed before qkv_proj */
};

static const struct traits qwen2_moe_traits = {"qkv_bias", 1, 0, 0};
static const struct traits llama_traits = {"attention_bias", 0, 1, 1};

struct sizes {
    int64_t hidden;
    int64_t heads;
    int64_t kv_heads;
    int64_t head_dim;
};

enum { MAX_SIZE = 1 << 20 };

static int read_sizes(const struct graft_config *config, struct sizes *sizes, struct graft_error *error) {
    int status = graft_config_need_int(config, "hidden_size", 1, MAX_SIZE, &sizes->hidden, error);
    if (status == GRAFT_OK) {
        status = graft_config_need_int(config, "num_attention_heads", 1, MAX_SIZE, &sizes->heads, error);
    }
    if (status == GRAFT_OK) {
        sizes->kv_heads = sizes->heads;
        status = graft_config_int(config, "num_key_value_heads", 1, MAX_SIZE, &sizes->kv_heads, error);
    }
    if (status == GRAFT_OK) {
        sizes->head_dim = sizes->hidden / sizes->heads;
        status = graft_config_int(config, "head_dim", 1, MAX_SIZE, &sizes->head_dim, error);
    }
    return status;
}

static int describe(const struct graft_class *cls, const struct graft_config *config, const struct graft_args *args,
                    const struct graft_sink *sink, struct graft_error *error) {
    const struct traits *traits = cls->data;
    struct sizes sizes;
    int32_t bias = traits->bias_default;
    (void)args;
    int status = read_sizes(config, &sizes, error);
    if (status == GRAFT_OK) {
        status = graft_config_bool(config, traits->bias, &bias, error);
    }
    for (int32_t i = 0; i < 2 && status == GRAFT_OK; i++) {
        int64_t q_size = sizes.heads * sizes.head_dim;
        if (i == traits->output_first) {
            int64_t qkv_size = q_size + 2 * sizes.kv_heads * sizes.head_dim;
            status = graft_describe_linear(sink, "qkv_proj", sizes.hidden, qkv_size, bias, error);
        } else {
            status = graft_describe_linear(sink, "o_proj", q_size, sizes.hidden, traits->output_bias && bias, error);
        }
    }
    return status;
}

struct fused_attention {
    const struct graft_module *qkv_proj; /* hidden -> (heads + 2 * kv_heads) * head_dim */
    const struct graft_module *o_proj;   /* heads * head_dim -> hidden */
    struct sizes sizes;
    int32_t layer;
};

static int create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                  struct graft_error *error) {
    int64_t layer = graft_arg(build->args, "layer_idx", -1);
    int status = GRAFT_OK;
    (void)cls;
    if (layer < 0 || layer > INT32_MAX) {
        return graft_error_set(error, GRAFT_ERROR_PLUGIN, build->path, "the parent gave no layer_idx");
    }
    struct fused_attention *self = calloc(1, sizeof *self);
    if (self == NULL) {
        return graft_error_set(error, GRAFT_ERROR_INTERNAL, build->path, "out of memory");
    }
    status = read_sizes(build->config, &self->sizes, error);
    self->layer = (int32_t)layer;
    self->qkv_proj = graft_build_child(build, "qkv_proj", &status, error);
    self->o_proj = graft_build_child(build, "o_proj", &status, error);
    if (status != GRAFT_OK) {
        free(self);
        return status;
    }
    *instance = self;
    return GRAFT_OK;
}

/* context [tokens, heads, head_dim] = attention of qkv [tokens, heads + 2 * kv_heads, head_dim], which is rotated. */
static int attend(const struct fused_attention *self, const struct graft_call *call,
                  const struct graft_self_attention_args *args, float *qkv, float *context, struct graft_error *error) {
    const struct sizes *sizes = &self->sizes;
    int64_t tokens = args->batch->tokens;
    int64_t q_size = sizes->heads * sizes->head_dim;
    int64_t kv_size = sizes->kv_heads * sizes->head_dim;
    int64_t stride = q_size + 2 * kv_size;
    const struct graft_attention_args attention_args = {
        .struct_size = sizeof attention_args,
        .layer = self->layer,
        .batch = args->batch,
        .mask = args->mask,
        .heads = sizes->heads,
        .kv_heads = sizes->kv_heads,
        .head_dim = sizes->head_dim,
        .scaling = (float)(1.0 / sqrt((double)sizes->head_dim)),
        .q = qkv,
        .q_stride = stride,
        .k = qkv + q_size,
        .k_stride = stride,
        .v = qkv + q_size + kv_size,
        .v_stride = stride,
        .output = context,
        .output_stride = q_size,
    };
    /* Keys follow queries: one call rotates the heads of both. */
    call->kernels->rope(call, qkv, stride, tokens, sizes->heads + sizes->kv_heads, sizes->head_dim, args->cos,
                        args->sin);
    return call->kernels->attention(call, &attention_args, error);
}

static int forward(void *instance, const struct graft_call *call, const struct graft_self_attention_args *args,
                   struct graft_error *error) {
    const struct fused_attention *self = instance;
    const struct sizes *sizes = &self->sizes;
    int64_t tokens = args->batch->tokens;
    float *qkv = graft_scratch_floats(call, tokens, (sizes->heads + 2 * sizes->kv_heads) * sizes->head_dim, error);
    float *context = graft_scratch_floats(call, tokens, sizes->heads * sizes->head_dim, error);
    const struct graft_linear_args qkv_args = {sizeof qkv_args, 0, tokens, args->hidden_states, qkv};
    const struct graft_linear_args output_args = {sizeof output_args, 0, tokens, context, args->output};
    if (qkv == NULL || context == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    int status = graft_linear_forward(self->qkv_proj, call, &qkv_args, error);
    if (status == GRAFT_OK) {
        status = attend(self, call, args, qkv, context, error);
    }
    return status == GRAFT_OK ? graft_linear_forward(self->o_proj, call, &output_args, error) : status;
}

static const struct graft_self_attention vtable = {.struct_size = sizeof vtable, .forward = forward};

/* --- Conversions: the second one is left out where there are no biases --- */

static const char *const weight_sources[] = {"q_proj.weight", "k_proj.weight", "v_proj.weight"};
static const char *const weight_targets[] = {"qkv_proj.weight"};
static const char *const bias_sources[] = {"q_proj.bias", "k_proj.bias", "v_proj.bias"};
static const char *const bias_targets[] = {"qkv_proj.bias"};

static const struct graft_operation join[] = {{sizeof(struct graft_operation), GRAFT_OP_CONCATENATE, 0}};

static const struct graft_conversion conversions[] = {
    {
        .struct_size = sizeof(struct graft_conversion),
        .n_sources = 3,
        .sources = weight_sources,
        .n_targets = 1,
        .targets = weight_targets,
        .n_operations = 1,
        .operations = join,
        .operation_stride = sizeof join[0],
    },
    {
        .struct_size = sizeof(struct graft_conversion),
        .n_sources = 3,
        .sources = bias_sources,
        .n_targets = 1,
        .targets = bias_targets,
        .n_operations = 1,
        .operations = join,
        .operation_stride = sizeof join[0],
    },
};

/* --- What the host is told --- */

static const struct graft_class fused_qkv_attention = {
    .struct_size = sizeof(struct graft_class),
    .name = "FusedQKVAttention",
    .interface_id = GRAFT_INTERFACE_SELF_ATTENTION,
    .describe = describe,
    .create = create,
    .destroy = free,
    .forward = &vtable,
    .conversions = conversions,
    .n_conversions = 2,
    .conversion_stride = sizeof conversions[0],
    .data = &qwen2_moe_traits,
};

static const struct graft_class llama_fused_attention = {
    .struct_size = sizeof(struct graft_class),
    .name = "LlamaFusedAttention",
    .interface_id = GRAFT_INTERFACE_SELF_ATTENTION,
    .describe = describe,
    .create = create,
    .destroy = free,
    .forward = &vtable,
    .conversions = conversions,
    .n_conversions = 2,
    .conversion_stride = sizeof conversions[0],
    .data = &llama_traits,
};

static const struct graft_replacement replacements[] = {
    {
        .struct_size = sizeof(struct graft_replacement),
        .key = GRAFT_KEY_NAME,
        .target = "Qwen2MoeAttention",
        .replacement = &fused_qkv_attention,
    },
    {
        .struct_size = sizeof(struct graft_replacement),
        .key = GRAFT_KEY_NAME,
        .target = "LlamaAttention",
        .replacement = &llama_fused_attention,
    },
};

static const struct graft_plugin plugin = {
    GRAFT_PLUGIN_HEADER,
    .id = "fused_qkv",
    .version = "1.0.0",
    .license = "Apache-2.0",
    .description = "Attention with one projection for queries, keys and values",
    .replacements = replacements,
    .n_replacements = 2,
    .replacement_stride = sizeof replacements[0],
};

const struct graft_plugin *graft_plugin_entry(const struct graft_host *host, struct graft_error *error) {
    (void)host;
    (void)error;
    return &plugin;
}
