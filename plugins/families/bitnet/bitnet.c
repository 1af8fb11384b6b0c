/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BitNet b1.58 (Ma et al. 2025): Llama with norms before the output projection of attention and before the last one of
 * the MLP, whose activation is relu squared. How its Linears are quantized is not the family's business.
 */
#include "bitnet.h"

#include <stdlib.h>

#include "graft/describe.h"
#include "graft/family.h"
#include "graft/parts.h"
#include "graft/plugin.h"

static const struct graft_class classes[] = {
    {GRAFT_DERIVED_CLASS("BitNetForCausalLM", "LlamaForCausalLM", GRAFT_INTERFACE_CAUSAL_LM)},
    {GRAFT_DERIVED_CLASS("BitNetModel", "LlamaModel", GRAFT_INTERFACE_BASE_MODEL)},
    {GRAFT_DERIVED_CLASS("BitNetDecoderLayer", "LlamaDecoderLayer", GRAFT_INTERFACE_DECODER_LAYER)},
    {GRAFT_DERIVED_CLASS("BitNetAttention", "LlamaAttention", GRAFT_INTERFACE_SELF_ATTENTION),
     .describe = bitnet_attention_describe, .create = bitnet_attention_create, .destroy = free,
     .forward = &bitnet_attention_vtable},
    {GRAFT_DERIVED_CLASS("BitNetMLP", "LlamaMLP", GRAFT_INTERFACE_MLP), .describe = bitnet_mlp_describe,
     .create = bitnet_mlp_create, .destroy = free, .forward = &bitnet_mlp_vtable},
    {GRAFT_DERIVED_CLASS("BitNetRMSNorm", "LlamaRMSNorm", GRAFT_INTERFACE_NORM)},
    {GRAFT_DERIVED_CLASS("BitNetRotaryEmbedding", "LlamaRotaryEmbedding", GRAFT_INTERFACE_ROTARY)},
    {.struct_size = sizeof(struct graft_class),
     .name = "ReLUSquaredActivation",
     .interface_id = GRAFT_INTERFACE_ACTIVATION,
     .describe = bitnet_relu2_describe,
     .create = graft_create_stateless,
     .forward = &bitnet_relu2_vtable},
};

static const struct graft_architecture architectures[] = {{"BitNetForCausalLM", NULL}, {"BitNetModel", NULL}};

/* The defaults that are not Llama's. */
static const struct graft_config_field fields[] = {
    {.name = "vocab_size", .kind = GRAFT_FIELD_INT, .integer = 128256},
    {.name = "hidden_size", .kind = GRAFT_FIELD_INT, .integer = 2560},
    {.name = "intermediate_size", .kind = GRAFT_FIELD_INT, .integer = 6912},
    {.name = "num_hidden_layers", .kind = GRAFT_FIELD_INT, .integer = 30},
    {.name = "num_attention_heads", .kind = GRAFT_FIELD_INT, .integer = 20},
    {.name = "num_key_value_heads", .kind = GRAFT_FIELD_INT, .integer = 5},
    {.name = "hidden_act", .kind = GRAFT_FIELD_STRING, .string = "relu2"},
    {.name = "rms_norm_eps", .kind = GRAFT_FIELD_REAL, .real = 1e-5},
    {.name = "rope_theta", .kind = GRAFT_FIELD_REAL, .real = 500000.0},
};

static const struct graft_family family = {
    .struct_size = sizeof family,
    .model_type = "bitnet",
    .base_model_prefix = "model",
    GRAFT_FAMILY_ARCHITECTURES(architectures),
    GRAFT_FAMILY_CLASSES(classes),
    GRAFT_FAMILY_FIELDS(fields),
};

static const struct graft_plugin plugin = {
    GRAFT_PLUGIN_HEADER,
    .id = "bitnet",
    .version = "1.0.0",
    .license = "Apache-2.0",
    .description = "The model type bitnet",
    .families = &family,
    .n_families = 1,
    .family_stride = sizeof family,
};

const struct graft_plugin *graft_plugin_entry(const struct graft_host *host, struct graft_error *error) {
    (void)host;
    (void)error;
    return &plugin;
}
