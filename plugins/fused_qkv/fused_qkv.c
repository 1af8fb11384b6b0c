/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Attention with one projection for queries, keys and values. The rows of qkv_proj are those of q_proj, k_proj and
 * v_proj, in sizes of their own when heads share keys and values; joining them copies nothing. Results are those of the
 * original to the bit.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "graft/attention.h"
#include "graft/describe.h"
#include "graft/kernels.h"
#include "graft/norm.h"
#include "graft/plugin.h"

/* How the families differ. */
struct traits {
    int32_t output_first; /* 1: o_proj is listed before qkv_proj */
    const char *norm;     /* the class of q_norm and k_norm, which norm each head by itself; NULL: there are none */
};

static const struct traits qwen2_moe_traits = {0, NULL};
static const struct traits plain_traits = {1, NULL};
static const struct traits qwen3_traits = {1, "Qwen3RMSNorm"};
static const struct traits qwen3_moe_traits = {1, "Qwen3MoeRMSNorm"};

/* What the parent gives as arguments (graft/attention.h). */
struct sizes {
    int64_t hidden;
    int64_t heads;
    int64_t kv_heads;
    int64_t head_dim;
    double scaling; /* of the scores */
    double softcap; /* likewise; 0: none */
    int64_t rotary_width;
};

enum { MAX_SIZE = 1 << 20 };

static int read_sizes(const struct graft_args *args, const char *path, struct sizes *sizes, struct graft_error *error) {
    const struct {
        const char *name;
        int64_t *value;
    } fields[] = {
        {"hidden_size", &sizes->hidden},
        {"num_attention_heads", &sizes->heads},
        {"num_key_value_heads", &sizes->kv_heads},
        {"head_dim", &sizes->head_dim},
    };
    int status = GRAFT_OK;
    for (size_t i = 0; i < sizeof fields / sizeof fields[0] && status == GRAFT_OK; i++) {
        status = graft_args_size(args, fields[i].name, MAX_SIZE, path, fields[i].value, error);
    }
    sizes->scaling = graft_args_real(args, "scaling", 1.0 / sqrt((double)sizes->head_dim));
    sizes->softcap = graft_args_real(args, "softcap", 0.0);
    sizes->rotary_width = graft_args_int(args, "rotary_width", sizes->head_dim);
    return status;
}

static int describe_projections(const struct traits *traits, const struct graft_args *args, const struct sizes *sizes,
                                const struct graft_sink *sink, struct graft_error *error) {
    int64_t q_size = sizes->heads * sizes->head_dim;
    int64_t qkv_size = q_size + 2 * sizes->kv_heads * sizes->head_dim;
    int32_t qkv_bias = graft_args_int(args, "qkv_bias", 0) != 0;
    int32_t o_proj_bias = graft_args_int(args, "o_proj_bias", 0) != 0;
    int status = GRAFT_OK;
    for (int32_t i = 0; i < 2 && status == GRAFT_OK; i++) {
        if (i == traits->output_first) {
            status = graft_describe_linear(sink, "qkv_proj", sizes->hidden, qkv_size, qkv_bias, error);
        } else {
            status = graft_describe_linear(sink, "o_proj", q_size, sizes->hidden, o_proj_bias, error);
        }
    }
    return status;
}

static int describe(const struct graft_class *cls, const struct graft_config *config, const struct graft_args *args,
                    const struct graft_sink *sink, struct graft_error *error) {
    const struct traits *traits = cls->data;
    const char *const norms[] = {"q_norm", "k_norm"};
    struct sizes *sizes = sink->keep(sink->data, sizeof *sizes, error); /* for `create` */
    (void)config;
    int status = sizes != NULL ? read_sizes(args, sink->path, sizes, error) : GRAFT_ERROR_INTERNAL;
    if (status == GRAFT_OK) {
        status = describe_projections(traits, args, sizes, sink, error);
    }
    for (int32_t i = 0; traits->norm != NULL && i < 2 && status == GRAFT_OK; i++) {
        const struct graft_arg norm_args[] = {graft_int_arg("hidden_size", sizes->head_dim)};
        status = graft_describe_child(sink, norms[i], traits->norm, GRAFT_INTERFACE_NORM, norm_args, 1, error);
    }
    return status;
}

struct fused_attention {
    const struct graft_module *qkv_proj; /* hidden -> (heads + 2 * kv_heads) * head_dim */
    const struct graft_module *o_proj;   /* heads * head_dim -> hidden */
    const struct graft_module *q_norm;   /* over head_dim, or NULL */
    const struct graft_module *k_norm;
    struct sizes sizes;
    int32_t layer;
};

static int create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                  struct graft_error *error) {
    const struct traits *traits = cls->data;
    const struct sizes *sizes = build->kept;
    int64_t layer = graft_args_int(build->args, "layer_idx", -1);
    int status = GRAFT_OK;
    if (layer < 0 || layer > INT32_MAX) {
        return graft_error_set(error, GRAFT_ERROR_PLUGIN, build->path, "the parent gave no layer_idx");
    }
    struct fused_attention *self = calloc(1, sizeof *self);
    if (self == NULL) {
        return graft_fail_memory(error, build->path);
    }
    self->sizes = *sizes;
    self->layer = (int32_t)layer;
    self->qkv_proj = graft_build_child(build, "qkv_proj", &status, error);
    self->o_proj = graft_build_child(build, "o_proj", &status, error);
    if (traits->norm != NULL) {
        self->q_norm = graft_build_child(build, "q_norm", &status, error);
        self->k_norm = graft_build_child(build, "k_norm", &status, error);
    }
    if (status != GRAFT_OK) {
        free(self);
        return status;
    }
    *instance = self;
    return GRAFT_OK;
}

/* Norms each head by itself. heads [tokens, n, head_dim] lie `stride` floats apart from one token to the next. */
static int norm_heads(const struct fused_attention *self, const struct graft_module *norm,
                      const struct graft_call *call, float *heads, int64_t stride, int64_t n, int64_t tokens,
                      struct graft_error *error) {
    int64_t size = n * self->sizes.head_dim;
    float *before = graft_scratch_floats(call, tokens, size, error); /* [tokens, n, head_dim] */
    float *after = graft_scratch_floats(call, tokens, size, error);  /* [tokens, n, head_dim] */
    const struct graft_norm_args args = {sizeof args, 0, tokens * n, before, NULL, after};
    if (before == NULL || after == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    for (int64_t t = 0; t < tokens; t++) {
        memcpy(before + t * size, heads + t * stride, (size_t)size * sizeof *heads);
    }
    int status = graft_norm_forward(norm, call, &args, error);
    for (int64_t t = 0; t < tokens && status == GRAFT_OK; t++) {
        memcpy(heads + t * stride, after + t * size, (size_t)size * sizeof *heads);
    }
    return status;
}

/* The same for queries and keys of qkv [tokens, heads + 2 * kv_heads, head_dim]. */
static int norm_queries_keys(const struct fused_attention *self, const struct graft_call *call, float *qkv,
                             int64_t tokens, struct graft_error *error) {
    const struct sizes *sizes = &self->sizes;
    int64_t stride = (sizes->heads + 2 * sizes->kv_heads) * sizes->head_dim;
    int64_t mark = call->scratch_mark(call->scratch);
    int status = norm_heads(self, self->q_norm, call, qkv, stride, sizes->heads, tokens, error);
    if (status == GRAFT_OK) {
        float *keys = qkv + sizes->heads * sizes->head_dim;
        status = norm_heads(self, self->k_norm, call, keys, stride, sizes->kv_heads, tokens, error);
    }
    call->scratch_release(call->scratch, mark);
    return status;
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
        .scaling = (float)sizes->scaling,
        .softcap = (float)sizes->softcap,
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
    const struct graft_rope_args rope_args = {
        .struct_size = sizeof rope_args,
        .layout = GRAFT_ROPE_HALVES,
        .x = qkv,
        .stride = stride,
        .head_stride = sizes->head_dim,
        .tokens = tokens,
        .heads = sizes->heads + sizes->kv_heads,
        .width = sizes->rotary_width,
        .cos = args->cos,
        .sin = args->sin,
    };
    int status = call->kernels->rope(call, &rope_args, error);
    return status == GRAFT_OK ? call->kernels->attention(call, &attention_args, error) : status;
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
    if (status == GRAFT_OK && self->q_norm != NULL) {
        status = norm_queries_keys(self, call, qkv, tokens, error);
    }
    if (status == GRAFT_OK) {
        status = attend(self, call, args, qkv, context, error);
    }
    return status == GRAFT_OK ? graft_linear_forward(self->o_proj, call, &output_args, error) : status;
}

static const struct graft_self_attention vtable = {
    .struct_size = sizeof vtable,
    .features = GRAFT_SELF_ATTENTION_SCORES | GRAFT_SELF_ATTENTION_ROTARY_WIDTH,
    .forward = forward,
};

/* --- Conversions: the second one is left out where there are no biases --- */

static const char *const weight_sources[] = {"q_proj.weight", "k_proj.weight", "v_proj.weight"};
static const char *const weight_targets[] = {"qkv_proj.weight"};
static const char *const bias_sources[] = {"q_proj.bias", "k_proj.bias", "v_proj.bias"};
static const char *const bias_targets[] = {"qkv_proj.bias"};

static const struct graft_operation join[] = {
    {.struct_size = sizeof(struct graft_operation), .kind = GRAFT_OP_CONCATENATE, .dim = 0}};

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

/* A class of this plugin: a name, and how its family differs. */
#define FUSED_CLASS(class_name, traits)                                                                                \
    {                                                                                                                  \
        .struct_size = sizeof(struct graft_class), .name = class_name, .interface_id = GRAFT_INTERFACE_SELF_ATTENTION, \
        .describe = describe, .create = create, .destroy = free, .forward = &vtable, .conversions = conversions,       \
        .n_conversions = sizeof conversions / sizeof conversions[0], .conversion_stride = sizeof conversions[0],       \
        .data = &(traits)                                                                                              \
    }

static const struct graft_class qwen2_moe = FUSED_CLASS("FusedQKVAttention", qwen2_moe_traits);
static const struct graft_class llama = FUSED_CLASS("LlamaFusedAttention", plain_traits);
static const struct graft_class mistral = FUSED_CLASS("MistralFusedAttention", plain_traits);
static const struct graft_class mixtral = FUSED_CLASS("MixtralFusedAttention", plain_traits);
static const struct graft_class qwen2 = FUSED_CLASS("Qwen2FusedAttention", plain_traits);
static const struct graft_class qwen2_vl = FUSED_CLASS("Qwen2VLFusedAttention", plain_traits);
static const struct graft_class qwen3 = FUSED_CLASS("Qwen3FusedAttention", qwen3_traits);
static const struct graft_class qwen3_moe = FUSED_CLASS("Qwen3MoeFusedAttention", qwen3_moe_traits);

/* With the model type given, the host does not note in other models that this one matched nothing. */
static const char *const model_types[][2] = {
    {"qwen2_moe", NULL}, {"llama", NULL},     {"mistral", NULL},  {"mixtral", NULL},
    {"qwen3", NULL},     {"qwen3_moe", NULL}, {"qwen2_vl", NULL}, {"qwen2", NULL},
};

#define REPLACEMENT(class_name, by, types)                                                            \
    {                                                                                                 \
        .struct_size = sizeof(struct graft_replacement), .key = GRAFT_KEY_NAME, .target = class_name, \
        .replacement = &(by), .model_types = (types)                                                  \
    }

static const struct graft_replacement replacements[] = {
    REPLACEMENT("Qwen2MoeAttention", qwen2_moe, model_types[0]),
    REPLACEMENT("LlamaAttention", llama, model_types[1]),
    REPLACEMENT("MistralAttention", mistral, model_types[2]),
    REPLACEMENT("MixtralAttention", mixtral, model_types[3]),
    REPLACEMENT("Qwen3Attention", qwen3, model_types[4]),
    REPLACEMENT("Qwen3MoeAttention", qwen3_moe, model_types[5]),
    REPLACEMENT("Qwen2VLAttention", qwen2_vl, model_types[6]),
    REPLACEMENT("Qwen2Attention", qwen2, model_types[7]),
};

static const struct graft_plugin plugin = {
    GRAFT_PLUGIN_HEADER,
    .id = "fused_qkv",
    .version = "1.0.0",
    .license = "Apache-2.0",
    .description = "Attention with one projection for queries, keys and values",
    .replacements = replacements,
    .n_replacements = sizeof replacements / sizeof replacements[0],
    .replacement_stride = sizeof replacements[0],
};

const struct graft_plugin *graft_plugin_entry(const struct graft_host *host, struct graft_error *error) {
    (void)host;
    (void)error;
    return &plugin;
}
