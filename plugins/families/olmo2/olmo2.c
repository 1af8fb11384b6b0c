/* SPDX-License-Identifier: Apache-2.0 */
/*
 * OLMo 2 (OLMo et al. 2025): Llama with the norms behind attention and MLP instead of before them, and with a norm over
 * all queries of a token and one over all its keys.
 */
#include <stdlib.h>

#include "graft/attention.h"
#include "graft/base_model.h"
#include "graft/causal_lm.h"
#include "graft/decoder_layer.h"
#include "graft/describe.h"
#include "graft/family.h"
#include "graft/mlp.h"
#include "graft/plugin.h"
#include "graft/rotary.h"

/* --- Attention: Llama's, which norms queries and keys where it finds norms for them --- */

static int attention_describe(const struct graft_class *self, const struct graft_config *config,
                              const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    double eps = graft_args_real(args, "eps", 1e-5);
    int64_t head_dim = graft_args_int(args, "head_dim", 0);
    (void)self;
    (void)config;
    int status = sink->base(sink->data, NULL, error); /* which checks the sizes */
    if (status == GRAFT_OK) {
        int64_t queries = graft_args_int(args, "num_attention_heads", 0) * head_dim;
        status = graft_describe_norm(sink, "q_norm", "Olmo2RMSNorm", queries, eps, error);
    }
    if (status == GRAFT_OK) {
        int64_t keys = graft_args_int(args, "num_key_value_heads", 0) * head_dim;
        status = graft_describe_norm(sink, "k_norm", "Olmo2RMSNorm", keys, eps, error);
    }
    return status;
}

/* --- Layer --- */

struct layer {
    const struct graft_module *self_attn;
    const struct graft_module *mlp;
    const struct graft_module *post_attention_layernorm;
    const struct graft_module *post_feedforward_layernorm;
    int64_t hidden_size;
};

static int layer_describe(const struct graft_class *self, const struct graft_config *config,
                          const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    const char *const children[][3] = {{"self_attn", "Olmo2Attention", GRAFT_INTERFACE_SELF_ATTENTION},
                                       {"mlp", "Olmo2MLP", GRAFT_INTERFACE_MLP},
                                       {"post_attention_layernorm", "Olmo2RMSNorm", GRAFT_INTERFACE_NORM},
                                       {"post_feedforward_layernorm", "Olmo2RMSNorm", GRAFT_INTERFACE_NORM}};
    int status = GRAFT_OK;
    (void)self;
    (void)config;
    for (size_t i = 0; i < sizeof children / sizeof children[0] && status == GRAFT_OK; i++) {
        status = graft_describe_given(sink, children[i][0], children[i][1], children[i][2], args, error);
    }
    return status;
}

static int layer_create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                        struct graft_error *error) {
    struct layer *self = calloc(1, sizeof *self);
    int status = GRAFT_OK;
    (void)cls;
    if (self == NULL) {
        return graft_fail_memory(error, build->path);
    }
    self->hidden_size = graft_args_int(build->args, "hidden_size", 0);
    self->self_attn = graft_build_child(build, "self_attn", &status, error);
    self->mlp = graft_build_child(build, "mlp", &status, error);
    self->post_attention_layernorm = graft_build_child(build, "post_attention_layernorm", &status, error);
    self->post_feedforward_layernorm = graft_build_child(build, "post_feedforward_layernorm", &status, error);
    if (status != GRAFT_OK) {
        free(self);
        return status;
    }
    *instance = self;
    return GRAFT_OK;
}

/* hidden_states += norm(output); `normed` is scratch memory. All are [tokens, hidden_size]. */
static int add_normed(const struct layer *self, const struct graft_call *call, const struct graft_module *norm,
                      const struct graft_decoder_layer_args *args, float *output, float *normed,
                      struct graft_error *error) {
    int64_t tokens = args->batch->tokens;
    const struct graft_norm_args norm_args = {sizeof norm_args, 0, tokens, output, NULL, normed};
    int status = graft_norm_forward(norm, call, &norm_args, error);
    return status == GRAFT_OK ? call->kernels->add(call, args->hidden_states, normed, tokens * self->hidden_size, error)
                              : status;
}

static int layer_forward(void *instance, const struct graft_call *call, const struct graft_decoder_layer_args *args,
                         struct graft_error *error) {
    const struct layer *self = instance;
    int64_t tokens = args->batch->tokens;
    float *output = graft_scratch_floats(call, tokens, self->hidden_size, error); /* [tokens, hidden_size] */
    float *normed = graft_scratch_floats(call, tokens, self->hidden_size, error); /* [tokens, hidden_size] */
    const struct graft_mlp_args mlp_args = {sizeof mlp_args, 0, tokens, args->hidden_states, output};
    const struct graft_self_attention_args attention_args = {
        .struct_size = sizeof attention_args,
        .batch = args->batch,
        .hidden_states = args->hidden_states,
        .cos = args->cos,
        .sin = args->sin,
        .mask = args->mask,
        .output = output,
    };
    if (output == NULL || normed == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    int status = graft_self_attention_forward(self->self_attn, call, &attention_args, error);
    if (status == GRAFT_OK) {
        status = add_normed(self, call, self->post_attention_layernorm, args, output, normed, error);
    }
    if (status == GRAFT_OK) {
        status = graft_mlp_forward(self->mlp, call, &mlp_args, error);
    }
    return status == GRAFT_OK ? add_normed(self, call, self->post_feedforward_layernorm, args, output, normed, error)
                              : status;
}

static const struct graft_decoder_layer layer_vtable = {.struct_size = sizeof layer_vtable, .forward = layer_forward};

/* --- What the host is told --- */

static const struct graft_class classes[] = {
    {GRAFT_DERIVED_CLASS("Olmo2ForCausalLM", "LlamaForCausalLM", GRAFT_INTERFACE_CAUSAL_LM)},
    {GRAFT_DERIVED_CLASS("Olmo2Model", "LlamaModel", GRAFT_INTERFACE_BASE_MODEL)},
    {GRAFT_DERIVED_CLASS("Olmo2DecoderLayer", "LlamaDecoderLayer", GRAFT_INTERFACE_DECODER_LAYER),
     .describe = layer_describe, .create = layer_create, .destroy = free, .forward = &layer_vtable},
    {GRAFT_DERIVED_CLASS("Olmo2Attention", "LlamaAttention", GRAFT_INTERFACE_SELF_ATTENTION),
     .describe = attention_describe},
    {GRAFT_DERIVED_CLASS("Olmo2MLP", "LlamaMLP", GRAFT_INTERFACE_MLP)},
    {GRAFT_DERIVED_CLASS("Olmo2RMSNorm", "LlamaRMSNorm", GRAFT_INTERFACE_NORM)},
    {GRAFT_DERIVED_CLASS("Olmo2RotaryEmbedding", "LlamaRotaryEmbedding", GRAFT_INTERFACE_ROTARY)},
};

static const struct graft_architecture architectures[] = {{"Olmo2ForCausalLM", NULL}, {"Olmo2Model", NULL}};

/* The defaults that are not Llama's. */
static const struct graft_config_field fields[] = {
    {.name = "vocab_size", .kind = GRAFT_FIELD_INT, .integer = 50304},
    {.name = "rms_norm_eps", .kind = GRAFT_FIELD_REAL, .real = 1e-5},
};

static const struct graft_family family = {
    .struct_size = sizeof family,
    .model_type = "olmo2",
    .base_model_prefix = "model",
    .architectures = architectures,
    .n_architectures = sizeof architectures / sizeof architectures[0],
    .architecture_stride = sizeof architectures[0],
    .classes = classes,
    .n_classes = sizeof classes / sizeof classes[0],
    .class_stride = sizeof classes[0],
    .fields = fields,
    .n_fields = sizeof fields / sizeof fields[0],
    .field_stride = sizeof fields[0],
};

static const struct graft_plugin plugin = {
    GRAFT_PLUGIN_HEADER,
    .id = "olmo2",
    .version = "1.0.0",
    .license = "Apache-2.0",
    .description = "The model type olmo2",
    .families = &family,
    .n_families = 1,
    .family_stride = sizeof family,
};

const struct graft_plugin *graft_plugin_entry(const struct graft_host *host, struct graft_error *error) {
    (void)host;
    (void)error;
    return &plugin;
}
