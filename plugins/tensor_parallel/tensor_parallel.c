/* SPDX-License-Identifier: Apache-2.0 */
/* Divides every layer among processes (Shoeybi et al. 2019): each has some heads of each attention and a part of each
 * MLP's width, and the processes sum their results twice per layer. */
#include "tensor_parallel.h"

#include <stdio.h>
#include <string.h>

#include "graft/config.h"
#include "graft/option.h"
#include "graft/plugin.h"

static const struct graft_plugin plugin;
static const struct graft_host *host;

const struct graft_parallel *tensor_parallel_ranks(void) {
    return host->get_extension(GRAFT_PARALLEL_ID);
}

/* --- The projections that are divided, as in transformers' configs (base_model_tp_plan) --- */

#define ATTENTION                                                          \
    "layers.*.self_attn.q_proj=colwise,layers.*.self_attn.k_proj=colwise," \
    "layers.*.self_attn.v_proj=colwise,layers.*.self_attn.o_proj=rowwise"
#define MLP "layers.*.mlp.gate_proj=colwise,layers.*.mlp.up_proj=colwise,layers.*.mlp.down_proj=rowwise"
#define SHARED(name)                                                                 \
    "layers.*.mlp." name ".gate_proj=colwise,layers.*.mlp." name ".up_proj=colwise," \
    "layers.*.mlp." name ".down_proj=rowwise"
#define HEAD "lm_head=colwise_gather_output"

struct family {
    const char *model_type;
    const char *plan;
};

static const struct family families[] = {
    {"llama", ATTENTION "," MLP "," HEAD},
    {"mistral", ATTENTION "," MLP "," HEAD},
    {"mixtral", ATTENTION "," HEAD},
    {"qwen2", ATTENTION "," MLP "," HEAD},
    {"qwen2_moe", ATTENTION "," MLP "," SHARED("shared_expert") "," HEAD},
    {"qwen3", ATTENTION "," MLP "," HEAD},
    {"qwen3_moe", ATTENTION "," MLP "," HEAD},
    {"gemma2", ATTENTION "," MLP "," HEAD},
    {"gemma3_text", ATTENTION "," MLP "," HEAD},
    /* a norm over all heads needs all of them */
    {"olmo2",
     "layers.*.self_attn.q_proj=colwise_gather_output,layers.*.self_attn.k_proj=colwise_gather_output,"
     "layers.*.self_attn.v_proj=colwise_gather_output,layers.*.self_attn.o_proj=rowwise_split_input," MLP "," HEAD},
    {"phi3", "layers.*.self_attn.qkv_proj=packed_colwise,layers.*.self_attn.o_proj=rowwise,"
             "layers.*.mlp.gate_up_proj=packed_colwise,layers.*.mlp.down_proj=rowwise," HEAD},
    {"gpt_neox", "layers.*.attention.query_key_value=colwise,layers.*.attention.dense=rowwise,"
                 "layers.*.mlp.dense_h_to_4h=colwise,layers.*.mlp.dense_4h_to_h=rowwise," HEAD},
    {"starcoder2", ATTENTION ",layers.*.mlp.c_fc=colwise,layers.*.mlp.c_proj=rowwise," HEAD},
    {"deepseek_v2", MLP "," SHARED("shared_experts") "," HEAD},
    {"deepseek_v3", MLP "," SHARED("shared_experts") "," HEAD},
};

int tensor_parallel_scheme(const struct graft_config *config, struct scheme *scheme, struct graft_error *error) {
    const char *model_type = "", *text = graft_args_string(host->options(&plugin), "plan", "");
    *scheme = (struct scheme){.text = text[0] != '\0' ? text : NULL, .config = config};
    if (scheme->text != NULL || graft_config_has(config, SCHEME_FIELD)) {
        return scheme_check(scheme, error);
    }
    graft_config_string(config, "model_type", &model_type, error);
    for (size_t i = 0; i < sizeof families / sizeof families[0]; i++) {
        if (strcmp(families[i].model_type, model_type) == 0) {
            scheme->text = families[i].plan;
            return GRAFT_OK;
        }
    }
    return graft_error_set(error, GRAFT_ERROR_USAGE, "tensor_parallel",
                           "there is no plan for models of the type \"%s\": the option plan gives one, "
                           "layers.*.mlp.up_proj=colwise,...",
                           model_type);
}

struct graft_operation tensor_parallel_share(void) {
    const struct graft_parallel *ranks = tensor_parallel_ranks();
    return (struct graft_operation){.struct_size = sizeof(struct graft_operation),
                                    .kind = GRAFT_OP_SLICE,
                                    .begin = ranks->rank,
                                    .length = 1,
                                    .of = ranks->size};
}

#define DIVIDED "expert_parallel.divided/1" /* NULL-terminated list of the ends of paths */

int tensor_parallel_leaves(const char *path) {
    const char *const *ending = host->get_plugin_extension(&plugin, DIVIDED);
    for (; ending != NULL && *ending != NULL; ending++) {
        const char *found = strstr(path, *ending);
        size_t length = strlen(*ending);
        if (found != NULL && (found[length] == '\0' || found[length] == '.')) {
            return 1;
        }
    }
    return 0;
}

/* --- The plugin --- */

static const struct graft_replacement replacements[] = {
    {
        .struct_size = sizeof replacements[0],
        .key = GRAFT_KEY_PATTERN,
        .target = "Attention$",
        .replacement = &tensor_parallel_attention,
        .flags = GRAFT_REPLACEMENT_WHERE_IT_FITS | GRAFT_REPLACEMENT_ON_REQUEST,
    },
    {
        .struct_size = sizeof replacements[0],
        .key = GRAFT_KEY_PATTERN,
        .target = "MLP$",
        .replacement = &tensor_parallel_mlp,
        .flags = GRAFT_REPLACEMENT_WHERE_IT_FITS | GRAFT_REPLACEMENT_ON_REQUEST,
    },
    {
        .struct_size = sizeof replacements[0],
        .key = GRAFT_KEY_NAME,
        .target = "Linear",
        .replacement = &tensor_parallel_linear,
        .flags = GRAFT_REPLACEMENT_ON_REQUEST,
    },
};

static const struct graft_option option = {
    .struct_size = sizeof option,
    .kind = GRAFT_OPTION_STRING,
    .name = "plan",
    .help = "How projections are divided: layers.*.mlp.up_proj=colwise,...; without it as the model's type is",
    .default_value = "",
};

static const char *const required[] = {GRAFT_PARALLEL_ID, NULL};
static const char *const used[] = {DIVIDED, NULL};

static const struct graft_plugin plugin = {
    GRAFT_PLUGIN_HEADER,
    .id = "tensor_parallel",
    .version = "1.0.0",
    .license = "Apache-2.0",
    .description = "Divides every layer's heads and width among the processes that run a model",
    .requires_extensions = required,
    .uses_extensions = used,
    .replacements = replacements,
    .n_replacements = sizeof replacements / sizeof replacements[0],
    .replacement_stride = sizeof replacements[0],
    .options = &option,
    .n_options = 1,
    .option_stride = sizeof option,
};

const struct graft_plugin *graft_plugin_entry(const struct graft_host *given, struct graft_error *error) {
    (void)error;
    host = given;
    return &plugin;
}
