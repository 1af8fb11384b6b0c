/* SPDX-License-Identifier: Apache-2.0 */
/* Experts as a list of modules, which run one after another. */
#include <stdio.h>
#include <string.h>

#include "graft/describe.h"
#include "graft/expert_parts.h"
#include "graft/kernels.h"

enum { MAX_NAME = 24 };

const struct graft_parts_mlp graft_parts_expert = {
    .gate = "gate_proj", .up = "up_proj", .down = "down_proj", .act = "act_fn"};

static const char *const mixtral_names[] = {"w1", "w3", "w2"};
static const char *const names[] = {"gate_proj", "up_proj", "down_proj"};

const struct graft_conversion graft_parts_expert_renamings[GRAFT_PARTS_EXPERT_RENAMINGS] = {
    GRAFT_RENAMING(&mixtral_names[0], &names[0]),
    GRAFT_RENAMING(&mixtral_names[1], &names[1]),
    GRAFT_RENAMING(&mixtral_names[2], &names[2]),
};

struct experts {
    struct graft_instance base;
    struct graft_expert_sizes sizes;
    const struct graft_module *items[]; /* [num_experts] */
};

static void expert_name(int64_t expert, char name[MAX_NAME]) {
    (void)snprintf(name, MAX_NAME, "%lld", (long long)expert);
}

int graft_parts_expert_list_describe(const struct graft_class *self, const struct graft_config *config,
                                     const struct graft_args *args, const struct graft_sink *sink,
                                     struct graft_error *error) {
    const struct graft_parts_expert_list *part = self->data;
    struct graft_expert_sizes *sizes = sink->keep(sink->data, sizeof *sizes, error); /* for `create` */
    const char *act = graft_args_string(args, "hidden_act", NULL);
    (void)config;
    if (sizes == NULL || graft_args_expert_sizes(args, sink->path, sizes, error) != GRAFT_OK) {
        return error->code;
    }
    for (int64_t e = 0; e < sizes->num_experts; e++) {
        const struct graft_arg mlp_args[] = {graft_int_arg("hidden_size", sizes->hidden_size),
                                             graft_int_arg("intermediate_size", sizes->intermediate_size),
                                             graft_int_arg("mlp_bias", 0), graft_string_arg("hidden_act", act)};
        char name[MAX_NAME];
        expert_name(e, name);
        graft_describe_child(sink, name, part->expert_class, GRAFT_INTERFACE_MLP, mlp_args, act != NULL ? 4 : 3, error);
    }
    return error->code;
}

int graft_parts_expert_list_create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                                   struct graft_error *error) {
    const struct graft_expert_sizes *sizes = build->kept;
    (void)cls;
    struct experts *self =
        graft_instance_new(build, sizeof *self + (size_t)sizes->num_experts * sizeof self->items[0], error);
    if (self == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    self->sizes = *sizes;
    for (int64_t e = 0; e < sizes->num_experts; e++) {
        char name[MAX_NAME];
        expert_name(e, name);
        self->items[e] = graft_build_child(build, name, error);
    }
    return graft_instance_finish(self, instance, error);
}

/* The tokens of one expert, and room for their inputs and outputs. */
struct share {
    int32_t *tokens;  /* [tokens]: indices of the tokens, ascending */
    float *weights;   /* [tokens] */
    float *gathered;  /* [tokens, hidden_size] */
    float *processed; /* [tokens, hidden_size] */
};

/* Finds the tokens routed to `expert`, and their weights; returns their number. */
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

/* output += the results of expert `e` for its `n` tokens. */
static int run_expert(const struct experts *self, const struct graft_call *call, const struct graft_experts_args *args,
                      int64_t e, int64_t n, const struct share *share, struct graft_error *error) {
    const struct graft_mlp_args mlp_args = {sizeof mlp_args, 0, n, share->gathered, share->processed};
    int64_t hidden = self->sizes.hidden_size;
    struct graft_gathered_call space;
    const struct graft_call *expert_call = graft_call_route(call, args->tokens, share->tokens, n, &space, error);
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

static int forward(void *instance, const struct graft_call *call, const struct graft_experts_args *args,
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

const struct graft_experts graft_parts_expert_list_vtable = {.struct_size = sizeof graft_parts_expert_list_vtable,
                                                             .forward = forward};
