/* SPDX-License-Identifier: Apache-2.0 */
/* OLMo 2 (OLMo et al. 2025): Llama with norms after attention and MLP instead of before them, and with a norm over all
 * queries of a token and one over all its keys. */
#include "graft/attention.h"
#include "graft/base_model.h"
#include "graft/causal_lm.h"
#include "graft/decoder_layer.h"
#include "graft/describe.h"
#include "graft/family.h"
#include "graft/mlp.h"
#include "graft/norm.h"
#include "graft/plugin.h"
#include "graft/rotary.h"
#include "graft/sequence_classifier.h"

/* Llama's attention normalises queries and keys if it has norms for them. */
static int attention_describe(const struct graft_class *self, const struct graft_config *config,
                              const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    double eps = graft_args_real(args, "eps", 1e-5);
    int64_t head_dim = graft_args_int(args, "head_dim", 0);
    (void)self;
    (void)config;
    sink->base(sink->data, NULL, error); /* also checks the sizes */
    if (error->code == GRAFT_OK) {
        int64_t queries = graft_args_int(args, "num_attention_heads", 0) * head_dim;
        int64_t keys = graft_args_int(args, "num_key_value_heads", 0) * head_dim;
        graft_describe_norm(sink, "q_norm", "Olmo2RMSNorm", queries, eps, error);
        graft_describe_norm(sink, "k_norm", "Olmo2RMSNorm", keys, eps, error);
    }
    return error->code;
}

/* Llama's layer has the norms that its arguments name; "" is none. */
static int layer_describe(const struct graft_class *self, const struct graft_config *config,
                          const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    const struct graft_arg norms[] = {
        graft_string_arg("attention_norm", ""), graft_string_arg("attention_output_norm", "post_attention_layernorm"),
        graft_string_arg("mlp_norm", ""), graft_string_arg("mlp_output_norm", "post_feedforward_layernorm")};
    const struct graft_args more = graft_args_of(norms, 4);
    (void)self;
    (void)config;
    (void)args;
    return sink->base(sink->data, &more, error);
}

static const struct graft_class classes[] = {
    {GRAFT_DERIVED_CLASS("Olmo2ForCausalLM", "LlamaForCausalLM", GRAFT_INTERFACE_CAUSAL_LM)},
    {GRAFT_DERIVED_CLASS("Olmo2ForSequenceClassification", "LlamaForSequenceClassification",
                         GRAFT_INTERFACE_SEQUENCE_CLASSIFIER)},
    {GRAFT_DERIVED_CLASS("Olmo2Model", "LlamaModel", GRAFT_INTERFACE_BASE_MODEL)},
    {GRAFT_DERIVED_CLASS("Olmo2DecoderLayer", "LlamaDecoderLayer", GRAFT_INTERFACE_DECODER_LAYER),
     .describe = layer_describe},
    {GRAFT_DERIVED_CLASS("Olmo2Attention", "LlamaAttention", GRAFT_INTERFACE_SELF_ATTENTION),
     .describe = attention_describe},
    {GRAFT_DERIVED_CLASS("Olmo2MLP", "LlamaMLP", GRAFT_INTERFACE_MLP)},
    {GRAFT_DERIVED_CLASS("Olmo2RMSNorm", "LlamaRMSNorm", GRAFT_INTERFACE_NORM)},
    {GRAFT_DERIVED_CLASS("Olmo2RotaryEmbedding", "LlamaRotaryEmbedding", GRAFT_INTERFACE_ROTARY)},
};

static const struct graft_architecture architectures[] = {
    {"Olmo2ForCausalLM", NULL}, {"Olmo2Model", NULL}, {"Olmo2ForSequenceClassification", NULL}};

/* Defaults that differ from Llama's. */
static const struct graft_config_field fields[] = {
    {.name = "vocab_size", .kind = GRAFT_FIELD_INT, .integer = 50304},
    {.name = "rms_norm_eps", .kind = GRAFT_FIELD_REAL, .real = 1e-5},
};

static const struct graft_family family = {
    .struct_size = sizeof family,
    .model_type = "olmo2",
    .base_model_prefix = "model",
    GRAFT_FAMILY_ARCHITECTURES(architectures),
    GRAFT_FAMILY_CLASSES(classes),
    GRAFT_FAMILY_FIELDS(fields),
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
