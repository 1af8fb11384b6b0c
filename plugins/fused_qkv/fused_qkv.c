/* SPDX-License-Identifier: Apache-2.0 */
/* Attention with one projection for queries, keys and values. The rows of qkv_proj are those of q_proj, k_proj and
 * v_proj, whose sizes differ if heads share keys and values; joining them copies nothing. Results have the same bits as
 * the original's. The host's attentions support such a projection (qkv_joined in graft/attention.h), so this plugin
 * only asks for it and declares how weights are converted; everything else about the attention is the family's. */
#include "graft/attention.h"
#include "graft/describe.h"
#include "graft/plugin.h"

static int describe(const struct graft_class *cls, const struct graft_config *config, const struct graft_args *args,
                    const struct graft_sink *sink, struct graft_error *error) {
    const struct graft_arg item = graft_int_arg("qkv_joined", 1);
    const struct graft_args more = graft_args_of(&item, 1);
    (void)cls;
    (void)config;
    (void)args;
    return sink->base(sink->data, &more, error);
}

/* --- Conversions; those whose tensors do not exist are skipped --- */

static const char *const weight_targets[] = {"qkv_proj.weight"};
static const char *const bias_targets[] = {"qkv_proj.bias"};

static const struct graft_operation join[] = {
    {.struct_size = sizeof(struct graft_operation), .kind = GRAFT_OP_CONCATENATE, .dim = 0}};

#define JOIN(of, to)                                                                                     \
    {                                                                                                    \
        .struct_size = sizeof(struct graft_conversion), .n_sources = 3, .sources = (of), .n_targets = 1, \
        .targets = (to), .n_operations = 1, .operations = join, .operation_stride = sizeof join[0]       \
    }
/* The conversions for one set of a family's names for projections (graft/attention.h). */
#define JOIN_NAMES(q, k, v)                                                               \
    JOIN(((const char *const[]){q ".weight", k ".weight", v ".weight"}), weight_targets), \
        JOIN(((const char *const[]){q ".bias", k ".bias", v ".bias"}), bias_targets)

static const struct graft_conversion conversions[] = {
    JOIN_NAMES("q_proj", "k_proj", "v_proj"), JOIN_NAMES("self.query", "self.key", "self.value"),
    JOIN_NAMES("query", "key", "value"),      JOIN_NAMES("q_lin", "k_lin", "v_lin"),
    JOIN_NAMES("attn.q", "attn.k", "attn.v"),
};

/* --- Descriptor --- */

#define FUSED_CLASS(class_name)                                                                                 \
    {                                                                                                           \
        .struct_size = sizeof(struct graft_class), .flags = GRAFT_CLASS_JOINS_QKV, .name = class_name,          \
        .interface_id = GRAFT_INTERFACE_SELF_ATTENTION, .describe = describe, .conversions = conversions,       \
        .n_conversions = sizeof conversions / sizeof conversions[0], .conversion_stride = sizeof conversions[0] \
    }

static const struct graft_class fused = FUSED_CLASS("FusedQKVAttention");
static const struct graft_class llama =
    FUSED_CLASS("LlamaFusedAttention"); /* the name in transformers' documentation */

static const char *const llama_types[] = {"llama", NULL};

/* BitNet's mode "online" rounds a weight with one scale for the whole weight. A joined weight would have one scale
 * instead of three, so projections stay apart. */
static const char *const online[] = {"online", NULL};
static const struct graft_condition conditions_of_use[] = {
    {sizeof(struct graft_condition), GRAFT_CONDITION_NO_CONFIG, "quantization_config.quantization_mode", online}};

static const struct graft_replacement replacements[] = {
    {.struct_size = sizeof(struct graft_replacement),
     .key = GRAFT_KEY_PATTERN,
     .target = "Attention$",
     .replacement = &fused,
     .conditions = conditions_of_use,
     .n_conditions = 1,
     .condition_stride = sizeof conditions_of_use[0],
     .flags = GRAFT_REPLACEMENT_WHERE_IT_FITS},
    {.struct_size = sizeof(struct graft_replacement),
     .key = GRAFT_KEY_NAME,
     .target = "LlamaAttention",
     .replacement = &llama,
     .model_types = llama_types},
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
