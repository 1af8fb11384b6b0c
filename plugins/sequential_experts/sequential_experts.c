/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Experts as a list of small MLPs, each with Linear children of its own, instead of two stacked parameters: a layout
 * that quantizers can walk. Results are those of the original to the bit.
 *
 * ModuleListExperts replaces the experts of every family. Its children "0", "1", ... are of the class MoeMLP, which
 * only this plugin knows.
 */
#include <stdlib.h>
#include <string.h>

#include "graft/describe.h"
#include "graft/experts.h"
#include "graft/mlp.h"
#include "graft/plugin.h"

/* --- MoeMLP: down_proj(act_fn(gate_proj(x)) * up_proj(x)) --- */

struct moe_mlp {
    const struct graft_module *gate_proj; /* hidden_size -> intermediate_size */
    const struct graft_module *up_proj;   /* hidden_size -> intermediate_size */
    const struct graft_module *down_proj; /* intermediate_size -> hidden_size */
    const struct graft_module *act_fn;
    int64_t intermediate_size;
};

static int moe_mlp_describe(const struct graft_class *cls, const struct graft_config *config,
                            const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    int64_t hidden = graft_args_int(args, "hidden_size", 0);
    int64_t *intermediate = sink->keep(sink->data, sizeof *intermediate, error); /* for `create` */
    (void)cls;
    if (intermediate == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    *intermediate = graft_args_int(args, "intermediate_size", 0);
    int status = graft_describe_linear(sink, "gate_proj", hidden, *intermediate, 0, error);
    if (status == GRAFT_OK) {
        status = graft_describe_linear(sink, "up_proj", hidden, *intermediate, 0, error);
    }
    if (status == GRAFT_OK) {
        status = graft_describe_linear(sink, "down_proj", *intermediate, hidden, 0, error);
    }
    return status == GRAFT_OK ? graft_describe_activation(sink, "act_fn", config, args, "hidden_act", error) : status;
}

static int moe_mlp_create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                          struct graft_error *error) {
    const int64_t *intermediate = build->kept;
    int status = GRAFT_OK;
    struct moe_mlp *self = calloc(1, sizeof *self);
    (void)cls;
    if (self == NULL) {
        return graft_fail_memory(error, build->path);
    }
    self->intermediate_size = *intermediate;
    self->gate_proj = graft_build_child(build, "gate_proj", &status, error);
    self->up_proj = graft_build_child(build, "up_proj", &status, error);
    self->down_proj = graft_build_child(build, "down_proj", &status, error);
    self->act_fn = graft_build_child(build, "act_fn", &status, error);
    if (status != GRAFT_OK) {
        free(self);
        return status;
    }
    *instance = self;
    return GRAFT_OK;
}

static int moe_mlp_forward(void *instance, const struct graft_call *call, const struct graft_mlp_args *args,
                           struct graft_error *error) {
    const struct moe_mlp *self = instance;
    int64_t tokens = args->tokens;
    float *gate = graft_scratch_floats(call, tokens, self->intermediate_size, error); /* [tokens, intermediate_size] */
    float *up = graft_scratch_floats(call, tokens, self->intermediate_size, error);   /* [tokens, intermediate_size] */
    if (gate == NULL || up == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    const struct graft_module *projections[] = {self->gate_proj, self->up_proj};
    const struct graft_linear_args projection_args[] = {
        {sizeof(struct graft_linear_args), 0, tokens, args->hidden_states, gate},
        {sizeof(struct graft_linear_args), 0, tokens, args->hidden_states, up},
    };
    const struct graft_linear_args down_args = {sizeof down_args, 0, tokens, gate, args->output};
    int status = graft_linear_forward_all(projections, call, projection_args, 2, error);
    if (status == GRAFT_OK) {
        status = graft_activation_gate(self->act_fn, call, gate, up, tokens, self->intermediate_size, error);
    }
    return status == GRAFT_OK ? graft_linear_forward(self->down_proj, call, &down_args, error) : status;
}

static const struct graft_mlp moe_mlp_vtable = {.struct_size = sizeof moe_mlp_vtable, .forward = moe_mlp_forward};

/* --- ModuleListExperts: the experts one after the other, in ascending order --- */

struct sizes {
    int64_t num_experts;
    int64_t hidden_size;
    int64_t intermediate_size;
};

struct experts {
    struct sizes sizes;
    const struct graft_module *items[]; /* [num_experts] */
};

enum { MAX_EXPERTS = 4096, MAX_SIZE = 1 << 20, MAX_NAME = 24 };

static void expert_name(int64_t expert, char name[MAX_NAME]) {
    (void)snprintf(name, MAX_NAME, "%lld", (long long)expert);
}

static int read_sizes(const struct graft_args *args, const char *path, struct sizes *sizes, struct graft_error *error) {
    int status = graft_args_size(args, "num_experts", MAX_EXPERTS, path, &sizes->num_experts, error);
    if (status == GRAFT_OK) {
        status = graft_args_size(args, "hidden_size", MAX_SIZE, path, &sizes->hidden_size, error);
    }
    return status == GRAFT_OK
               ? graft_args_size(args, "intermediate_size", MAX_SIZE, path, &sizes->intermediate_size, error)
               : status;
}

static int experts_describe(const struct graft_class *cls, const struct graft_config *config,
                            const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    struct sizes *sizes = sink->keep(sink->data, sizeof *sizes, error); /* for `create` */
    (void)cls;
    (void)config;
    int status = sizes != NULL ? read_sizes(args, sink->path, sizes, error) : GRAFT_ERROR_INTERNAL;
    for (int64_t e = 0; status == GRAFT_OK && e < sizes->num_experts; e++) {
        const struct graft_arg mlp_args[] = {graft_int_arg("hidden_size", sizes->hidden_size),
                                             graft_int_arg("intermediate_size", sizes->intermediate_size),
                                             graft_int_arg("mlp_bias", 0)};
        char name[MAX_NAME];
        expert_name(e, name);
        status = graft_describe_child(sink, name, "MoeMLP", GRAFT_INTERFACE_MLP, mlp_args, 3, error);
    }
    return status;
}

static int experts_create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                          struct graft_error *error) {
    const struct sizes *sizes = build->kept;
    int status = GRAFT_OK;
    struct experts *self = calloc(1, sizeof *self + (size_t)sizes->num_experts * sizeof self->items[0]);
    (void)cls;
    if (self == NULL) {
        return graft_fail_memory(error, build->path);
    }
    self->sizes = *sizes;
    for (int64_t e = 0; e < sizes->num_experts; e++) {
        char name[MAX_NAME];
        expert_name(e, name);
        self->items[e] = graft_build_child(build, name, &status, error);
    }
    if (status != GRAFT_OK) {
        free(self);
        return status;
    }
    *instance = self;
    return GRAFT_OK;
}

/* The tokens that go to one expert, and what becomes of them. */
struct share {
    int32_t *tokens;  /* [tokens]: their numbers, ascending */
    float *weights;   /* [tokens] */
    float *gathered;  /* [tokens, hidden_size] */
    float *processed; /* [tokens, hidden_size] */
};

/* How many tokens go to `expert`; fills in which, and their weights. */
static int64_t find_tokens(const struct graft_experts_args *args, int64_t expert, struct share *share) {
    int64_t n = 0;
    for (int64_t i = 0; i < args->tokens * args->k; i++) {
        if (args->top_k_index[i] == expert) {
            share->tokens[n] = (int32_t)(i / args->k);
            share->weights[n] = args->top_k_weights[i];
            n++;
        }
    }
    return n;
}

/* output += what expert `e` makes of its `n` tokens. */
static int run_expert(const struct experts *self, const struct graft_call *call, const struct graft_experts_args *args,
                      int64_t e, int64_t n, const struct share *share, struct graft_error *error) {
    const struct graft_mlp_args mlp_args = {sizeof mlp_args, 0, n, share->gathered, share->processed};
    int64_t hidden = self->sizes.hidden_size;
    struct graft_gathered_call space;
    const struct graft_call *expert_call = graft_call_gather(call, share->tokens, n, &space, error);
    if (expert_call == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    int status =
        call->kernels->gather_rows(call, args->hidden_states, share->tokens, n, hidden, share->gathered, error);
    if (status == GRAFT_OK) {
        status = graft_mlp_forward(self->items[e], expert_call, &mlp_args, error);
    }
    return status == GRAFT_OK ? call->kernels->scatter_add_rows(call, share->processed, share->weights, share->tokens,
                                                                n, hidden, args->output, error)
                              : status;
}

static int experts_forward(void *instance, const struct graft_call *call, const struct graft_experts_args *args,
                           struct graft_error *error) {
    const struct experts *self = instance;
    int64_t hidden = self->sizes.hidden_size;
    int status = GRAFT_OK;
    struct share share = {
        graft_scratch_ints(call, args->tokens * args->k, error),
        graft_scratch_floats(call, args->tokens, args->k, error),
        graft_scratch_floats(call, args->tokens, hidden, error),
        graft_scratch_floats(call, args->tokens, hidden, error),
    };
    if (share.tokens == NULL || share.weights == NULL || share.gathered == NULL || share.processed == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    memset(args->output, 0, (size_t)(args->tokens * hidden) * sizeof(float));
    for (int64_t e = 0; e < self->sizes.num_experts && status == GRAFT_OK; e++) {
        int64_t n = find_tokens(args, e, &share);
        status = n > 0 ? run_expert(self, call, args, e, n, &share, error) : GRAFT_OK;
    }
    return status;
}

static const struct graft_experts experts_vtable = {.struct_size = sizeof experts_vtable, .forward = experts_forward};

/* --- Conversions of stacked experts. Checkpoints with experts one by one need none. --- */

static const char *const gate_up_sources[] = {"gate_up_proj"};
static const char *const gate_up_targets[] = {"*.gate_proj.weight", "*.up_proj.weight"};
static const char *const down_sources[] = {"down_proj"};
static const char *const down_targets[] = {"*.down_proj.weight"};

/* [num_experts, 2 * intermediate_size, hidden_size] is cut in two along dim 1, then into experts along dim 0. */
static const struct graft_operation cut_gate_up[] = {
    {.struct_size = sizeof(struct graft_operation), .kind = GRAFT_OP_CHUNK, .dim = 1},
    {.struct_size = sizeof(struct graft_operation), .kind = GRAFT_OP_SPLIT_MODULELIST, .dim = 0},
};
static const struct graft_operation cut_down[] = {
    {.struct_size = sizeof(struct graft_operation), .kind = GRAFT_OP_SPLIT_MODULELIST, .dim = 0},
};

/* Mixtral calls the gated one w1, the other w3, and w2 what goes back to the hidden size. Said of the list, for a class
 * around it that leaves some experts out, and below of each expert, for whatever else a quantized Linear has. */
static const char *const gate_sources[] = {"*.w1.weight"};
static const char *const up_sources[] = {"*.w3.weight"};
static const char *const w2_sources[] = {"*.w2.weight"};

static const struct graft_conversion conversions[] = {
    GRAFT_RENAMING(gate_sources, &gate_up_targets[0]),
    GRAFT_RENAMING(up_sources, &gate_up_targets[1]),
    GRAFT_RENAMING(w2_sources, down_targets),
    {
        .struct_size = sizeof(struct graft_conversion),
        .n_sources = 1,
        .sources = gate_up_sources,
        .n_targets = 2,
        .targets = gate_up_targets,
        .n_operations = 2,
        .operations = cut_gate_up,
        .operation_stride = sizeof cut_gate_up[0],
    },
    {
        .struct_size = sizeof(struct graft_conversion),
        .n_sources = 1,
        .sources = down_sources,
        .n_targets = 1,
        .targets = down_targets,
        .n_operations = 1,
        .operations = cut_down,
        .operation_stride = sizeof cut_down[0],
    },
};

static const char *const mixtral_names[] = {"w1", "w3", "w2"};
static const char *const projection_names[] = {"gate_proj", "up_proj", "down_proj"};

static const struct graft_conversion mixtral_renamings[] = {
    GRAFT_RENAMING(&mixtral_names[0], &projection_names[0]),
    GRAFT_RENAMING(&mixtral_names[1], &projection_names[1]),
    GRAFT_RENAMING(&mixtral_names[2], &projection_names[2]),
};

/* --- What the host is told --- */

static const struct graft_class moe_mlp = {
    .struct_size = sizeof(struct graft_class),
    .name = "MoeMLP",
    .interface_id = GRAFT_INTERFACE_MLP,
    .describe = moe_mlp_describe,
    .create = moe_mlp_create,
    .destroy = free,
    .forward = &moe_mlp_vtable,
    GRAFT_CLASS_CONVERSIONS(mixtral_renamings),
};

static const struct graft_class module_list_experts = {
    .struct_size = sizeof(struct graft_class),
    .name = "ModuleListExperts",
    .interface_id = GRAFT_INTERFACE_EXPERTS,
    .describe = experts_describe,
    .create = experts_create,
    .destroy = free,
    .forward = &experts_vtable,
    .conversions = conversions,
    .n_conversions = sizeof conversions / sizeof conversions[0],
    .conversion_stride = sizeof conversions[0],
};

/* Experts with biases lie otherwise in files (gpt_oss: inputs before outputs, gate and up in turns). */
static const char *const foreign[] = {"gate_up_proj_bias", NULL};
static const struct graft_condition is_known = {sizeof is_known, GRAFT_CONDITION_NO_TENSOR, NULL, foreign};

static const struct graft_replacement replacements[] = {
    {
        .struct_size = sizeof(struct graft_replacement),
        .key = GRAFT_KEY_PATTERN,
        .target = "Experts$", /* Qwen2MoeExperts, MixtralExperts, ...: what has the interface graft.experts/1 */
        .replacement = &module_list_experts,
        .conditions = &is_known,
        .n_conditions = 1,
        .condition_stride = sizeof is_known,
    },
};

static const struct graft_plugin plugin = {
    GRAFT_PLUGIN_HEADER,
    .id = "sequential_experts",
    .version = "1.0.0",
    .license = "Apache-2.0",
    .description = "Experts as a list of MLPs instead of stacked parameters",
    .replacements = replacements,
    .n_replacements = 1,
    .replacement_stride = sizeof replacements[0],
    .classes = &moe_mlp,
    .n_classes = 1,
    .class_stride = sizeof moe_mlp,
};

const struct graft_plugin *graft_plugin_entry(const struct graft_host *host, struct graft_error *error) {
    (void)host;
    (void)error;
    return &plugin;
}
