/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mamba (Gu & Dao 2023) and Falcon Mamba, which norms what a token selects: layers without attention, positions or an
 * MLP. All that a sequence leaves behind is two states a layer, whose size does not grow.
 */
#include "mamba.h"

#include "graft/family.h"
#include "graft/parts.h"
#include "graft/plugin.h"

static int causal_lm_describe(const struct graft_class *cls, const struct graft_config *config,
                              const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    struct mamba_sizes read;
    (void)args;
    int status = mamba_sizes_read(config, &read, error);
    const struct graft_parts_causal_lm_sizes sizes = {
        .vocab_size = read.vocab_size,
        .hidden_size = read.hidden_size,
        .tie_word_embeddings = read.tie_word_embeddings,
    };
    return status == GRAFT_OK ? graft_parts_causal_lm_declare(cls->data, &sizes, sink, error) : status;
}

static int model_describe(const struct graft_class *cls, const struct graft_config *config,
                          const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    struct mamba_sizes read;
    (void)args;
    int status = mamba_sizes_read(config, &read, error);
    const struct graft_arg items[] = {graft_int_arg("hidden_size", read.hidden_size),
                                      graft_real_arg("eps", read.layer_norm_epsilon)};
    const struct graft_args layer_args = graft_args_of(items, 2);
    const struct graft_parts_model_sizes sizes = {
        .vocab_size = read.vocab_size,
        .hidden_size = read.hidden_size,
        .num_hidden_layers = read.num_hidden_layers,
        .eps = read.layer_norm_epsilon,
        .layer_args = &layer_args,
    };
    return status == GRAFT_OK ? graft_parts_model_declare(cls->data, &sizes, sink, error) : status;
}

/* It has no parameters. */
static int weightless_norm_describe(const struct graft_class *cls, const struct graft_config *config,
                                    const struct graft_args *args, const struct graft_sink *sink,
                                    struct graft_error *error) {
    (void)cls;
    (void)config;
    (void)args;
    (void)sink;
    (void)error;
    return GRAFT_OK;
}

/* A class of which only the instances are a part's. */
#define OWN_CLASS(class_name, interface, describing)                                              \
    .struct_size = sizeof(struct graft_class), .name = (class_name), .interface_id = (interface), \
    .describe = (describing)

/* --- Mamba --- */

static const struct graft_parts_causal_lm causal_lm = {
    .model = "backbone",
    .model_class = "MambaModel",
    .tied_weight = "backbone.embeddings.weight",
};
static const struct graft_parts_model model = {
    .embeddings = "embeddings",
    .layers = "layers",
    .layer_class = "MambaBlock",
    .norm = "norm_f",
    .norm_class = "MambaRMSNorm",
};
static const struct graft_parts_layer block = {
    .mixer = "mixer",
    .mixer_class = "MambaMixer",
    .norm_class = "MambaRMSNorm",
    .attention_norm = "norm",
};
static const struct mamba_traits traits = {.weightless_norm = NULL};

static const struct graft_class classes[] = {
    {OWN_CLASS("MambaForCausalLM", GRAFT_INTERFACE_CAUSAL_LM, causal_lm_describe),
     GRAFT_PARTS_INSTANCE(graft_parts_causal_lm), .data = &causal_lm},
    {OWN_CLASS("MambaModel", GRAFT_INTERFACE_BASE_MODEL, model_describe), GRAFT_PARTS_INSTANCE(graft_parts_model),
     .data = &model},
    {GRAFT_PARTS_CLASS("MambaBlock", GRAFT_INTERFACE_DECODER_LAYER, graft_parts_layer), .data = &block},
    {GRAFT_PARTS_CLASS("MambaMixer", GRAFT_INTERFACE_MIXER, mamba_mixer), .data = &traits},
    {GRAFT_DERIVED_CLASS("MambaRMSNorm", "LlamaRMSNorm", GRAFT_INTERFACE_NORM)},
};

static const struct graft_architecture architectures[] = {{"MambaForCausalLM", NULL}, {"MambaModel", NULL}};

/* --- Falcon Mamba --- */

static const struct graft_parts_causal_lm falcon_causal_lm = {
    .model = "backbone",
    .model_class = "FalconMambaModel",
    .tied_weight = "backbone.embeddings.weight",
};
static const struct graft_parts_model falcon_model = {
    .embeddings = "embeddings",
    .layers = "layers",
    .layer_class = "FalconMambaBlock",
    .norm = "norm_f",
    .norm_class = "FalconMambaRMSNorm",
};
static const struct graft_parts_layer falcon_block = {
    .mixer = "mixer",
    .mixer_class = "FalconMambaMixer",
    .norm_class = "FalconMambaRMSNorm",
    .attention_norm = "norm",
};
static const struct mamba_traits falcon_traits = {.weightless_norm = "FalconMambaWeightlessRMSNorm"};

static const struct graft_class falcon_classes[] = {
    {OWN_CLASS("FalconMambaForCausalLM", GRAFT_INTERFACE_CAUSAL_LM, causal_lm_describe),
     GRAFT_PARTS_INSTANCE(graft_parts_causal_lm), .data = &falcon_causal_lm},
    {OWN_CLASS("FalconMambaModel", GRAFT_INTERFACE_BASE_MODEL, model_describe), GRAFT_PARTS_INSTANCE(graft_parts_model),
     .data = &falcon_model},
    {GRAFT_PARTS_CLASS("FalconMambaBlock", GRAFT_INTERFACE_DECODER_LAYER, graft_parts_layer), .data = &falcon_block},
    {GRAFT_PARTS_CLASS("FalconMambaMixer", GRAFT_INTERFACE_MIXER, mamba_mixer), .data = &falcon_traits},
    {GRAFT_DERIVED_CLASS("FalconMambaRMSNorm", "LlamaRMSNorm", GRAFT_INTERFACE_NORM)},
    {OWN_CLASS("FalconMambaWeightlessRMSNorm", GRAFT_INTERFACE_NORM, weightless_norm_describe),
     GRAFT_PARTS_INSTANCE(mamba_weightless_norm)},
};

static const struct graft_architecture falcon_architectures[] = {{"FalconMambaForCausalLM", NULL},
                                                                 {"FalconMambaModel", NULL}};

/* --- What the host is told --- */

static const struct graft_config_field fields[] = {
    {.name = "vocab_size", .kind = GRAFT_FIELD_INT, .integer = 50280},
    {.name = "hidden_size", .kind = GRAFT_FIELD_INT, .integer = 768},
    {.name = "num_hidden_layers", .kind = GRAFT_FIELD_INT, .integer = 32},
    {.name = "state_size", .kind = GRAFT_FIELD_INT, .integer = 16},
    {.name = "conv_kernel", .kind = GRAFT_FIELD_INT, .integer = 4},
    {.name = "expand", .kind = GRAFT_FIELD_INT, .integer = 2},
};

static const struct graft_field_rule field_rules[] = {
    /* How the reference computes, and what parameters began with. */
    {.name = "rescale_prenorm_residual"},
    {.name = "residual_in_fp32"},
    {.name = "time_step_floor"},
    {.name = "time_step_init_scheme"},
    {.name = "time_step_max"},
    {.name = "time_step_min"},
    {.name = "time_step_scale"},
    {.name = "use_associative_scan"},
    {.name = "use_falcon_mambapy"},
    {.name = "use_mambapy"},
    /* It says intermediate_size where that is not given. */
    {.name = "expand"},
    /* Left behind by conversions of the first checkpoints. */
    {.name = "d_inner"},
    {.name = "d_model"},
    {.name = "fused_add_norm"},
    {.name = "n_layer"},
    {.name = "pad_vocab_size_multiple"},
    {.name = "rms_norm", .values = "[true]"},
    {.name = "ssm_cfg"},
};

static const struct graft_family families[] = {
    {
        .struct_size = sizeof families[0],
        .model_type = "mamba",
        .base_model_prefix = "backbone",
        GRAFT_FAMILY_ARCHITECTURES(architectures),
        GRAFT_FAMILY_CLASSES(classes),
        GRAFT_FAMILY_FIELDS(fields),
        GRAFT_FIELD_RULES(field_rules),
    },
    {
        .struct_size = sizeof families[0],
        .model_type = "falcon_mamba",
        .base_model_prefix = "backbone",
        GRAFT_FAMILY_ARCHITECTURES(falcon_architectures),
        GRAFT_FAMILY_CLASSES(falcon_classes),
        GRAFT_FAMILY_FIELDS(fields),
        GRAFT_FIELD_RULES(field_rules),
    },
};

static const struct graft_plugin plugin = {
    GRAFT_PLUGIN_HEADER,
    .id = "mamba",
    .version = "1.0.0",
    .license = "Apache-2.0",
    .description = "The model types mamba and falcon_mamba",
    .families = families,
    .n_families = sizeof families / sizeof families[0],
    .family_stride = sizeof families[0],
};

const struct graft_plugin *graft_plugin_entry(const struct graft_host *host, struct graft_error *error) {
    (void)host;
    (void)error;
    return &plugin;
}
