/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mamba 2 (Dao & Gu 2024): layers without attention, positions or an MLP. All that a sequence leaves behind is two
 * states a layer, whose size does not grow.
 */
#include "mamba2.h"

#include <stdlib.h>

#include "graft/family.h"
#include "graft/parts.h"
#include "graft/plugin.h"

/* The functions of one file; mamba2.h declares them. */
#define MADE_BY(file)                                                                        \
    .describe = mamba2_##file##_describe, .create = mamba2_##file##_create, .destroy = free, \
    .forward = &mamba2_##file##_vtable

#define OWN_CLASS(class_name, interface, file) \
    .struct_size = sizeof(struct graft_class), .name = (class_name), .interface_id = (interface), MADE_BY(file)

static const struct graft_parts_causal_lm causal_lm = {
    .model = "backbone",
    .model_class = "Mamba2Model",
    .tied_weight = "backbone.embeddings.weight",
};
static const struct graft_parts_model model = {
    .embeddings = "embeddings",
    .layers = "layers",
    .layer_class = "Mamba2Block",
    .norm = "norm_f",
    .norm_class = "Mamba2RMSNorm",
};
static const struct graft_parts_layer block = {
    .mixer = "mixer",
    .mixer_class = "Mamba2Mixer",
    .norm_class = "Mamba2RMSNorm",
    .attention_norm = "norm",
};

static const struct graft_class classes[] = {
    {.struct_size = sizeof(struct graft_class),
     .name = "Mamba2ForCausalLM",
     .interface_id = GRAFT_INTERFACE_CAUSAL_LM,
     .describe = mamba2_causal_lm_describe,
     GRAFT_PARTS_INSTANCE(graft_parts_causal_lm),
     .data = &causal_lm},
    {.struct_size = sizeof(struct graft_class),
     .name = "Mamba2Model",
     .interface_id = GRAFT_INTERFACE_BASE_MODEL,
     .describe = mamba2_model_describe,
     GRAFT_PARTS_INSTANCE(graft_parts_model),
     .data = &model},
    {GRAFT_PARTS_CLASS("Mamba2Block", GRAFT_INTERFACE_DECODER_LAYER, graft_parts_layer), .data = &block},
    {OWN_CLASS("Mamba2Mixer", GRAFT_INTERFACE_MIXER, mixer)},
    {OWN_CLASS("MambaRMSNormGated", MAMBA2_INTERFACE_GATED_NORM, gated_norm)},
    {GRAFT_DERIVED_CLASS("Mamba2RMSNorm", "LlamaRMSNorm", GRAFT_INTERFACE_NORM)},
};

static const struct graft_architecture architectures[] = {{"Mamba2ForCausalLM", NULL}, {"Mamba2Model", NULL}};

static const struct graft_config_field fields[] = {
    {.name = "vocab_size", .kind = GRAFT_FIELD_INT, .integer = 32768},
    {.name = "hidden_size", .kind = GRAFT_FIELD_INT, .integer = 4096},
    {.name = "num_hidden_layers", .kind = GRAFT_FIELD_INT, .integer = 64},
    {.name = "num_heads", .kind = GRAFT_FIELD_INT, .integer = 128},
    {.name = "head_dim", .kind = GRAFT_FIELD_INT, .integer = 64},
    {.name = "state_size", .kind = GRAFT_FIELD_INT, .integer = 128},
    {.name = "n_groups", .kind = GRAFT_FIELD_INT, .integer = 8},
    {.name = "conv_kernel", .kind = GRAFT_FIELD_INT, .integer = 4},
    {.name = "expand", .kind = GRAFT_FIELD_INT, .integer = 2},
};

static const struct graft_field_rule field_rules[] = {
    /* How the reference computes, and what parameters began with. */
    {.name = "chunk_size"},
    {.name = "rescale_prenorm_residual"},
    {.name = "residual_in_fp32"},
    {.name = "time_step_floor"},
    {.name = "time_step_init_scheme"},
    {.name = "time_step_max"},
    {.name = "time_step_min"},
    {.name = "time_step_rank"},
    {.name = "time_step_scale"},
    /* Left behind by conversions; the reference has the gate before the norm, which is of the root mean square. */
    {.name = "norm_before_gate", .values = "[true]"},
    {.name = "rms_norm", .values = "[true]"},
};

static const struct graft_family family = {
    .struct_size = sizeof family,
    .model_type = "mamba2",
    .base_model_prefix = "backbone",
    GRAFT_FAMILY_ARCHITECTURES(architectures),
    GRAFT_FAMILY_CLASSES(classes),
    GRAFT_FAMILY_FIELDS(fields),
    GRAFT_FIELD_RULES(field_rules),
};

static const struct graft_plugin plugin = {
    GRAFT_PLUGIN_HEADER,
    .id = "mamba2",
    .version = "1.0.0",
    .license = "Apache-2.0",
    .description = "The model type mamba2",
    .families = &family,
    .n_families = 1,
    .family_stride = sizeof family,
};

const struct graft_plugin *graft_plugin_entry(const struct graft_host *host, struct graft_error *error) {
    (void)host;
    (void)error;
    return &plugin;
}
