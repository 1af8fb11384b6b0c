/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Experts (experts.h) as Linears, `0.gate_proj` and so on, for checkpoints that have them one by one in a packed form:
 * stacked parameters cannot hold that, but the method's Linears can. A plugin that brings those (plugins/fp8) has a
 * class of these functions as well, which gives way (GRAFT_REPLACEMENT_GIVES_WAY) to plugins that take experts apart
 * anyway.
 */
#ifndef GRAFT_EXPERT_LINEARS_H
#define GRAFT_EXPERT_LINEARS_H

#include <stdio.h>
#include <stdlib.h>

#include "describe.h"
#include "experts.h"
#include "kernels.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { GRAFT_EXPERT_LINEARS_MOST = 4096, GRAFT_EXPERT_LINEARS_NAME = 32 };

/* What `describe` keeps. The plugin's own, as all here. */
struct graft_expert_sizes {
    int64_t num_experts;       /* what the parent gives */
    int64_t hidden_size;       /* of inputs and outputs */
    int64_t intermediate_size; /* of one expert */
};

/* Likewise: one expert. */
struct graft_expert {
    const struct graft_module *gate_proj; /* hidden_size -> intermediate_size */
    const struct graft_module *up_proj;   /* hidden_size -> intermediate_size */
    const struct graft_module *down_proj; /* intermediate_size -> hidden_size */
};

/* An instance. */
struct graft_expert_linears {
    struct graft_expert_sizes sizes;   /* of all experts */
    const struct graft_module *act_fn; /* between the products */
    struct graft_expert *experts;      /* [num_experts] */
};

/* The tokens that go to one expert. */
struct graft_expert_share {
    int32_t *tokens; /* [tokens] their numbers, ascending */
    float *weights;  /* [tokens] */
    float *x;        /* [tokens, hidden_size], and what becomes of them */
    float *gate;     /* [tokens, intermediate_size] */
    float *up;       /* [tokens, intermediate_size] */
};

GRAFT_ASSERT_SIZE(struct graft_expert_sizes, 24);
GRAFT_ASSERT_SIZE(struct graft_expert, 24);
GRAFT_ASSERT_SIZE(struct graft_expert_linears, 40);
GRAFT_ASSERT_SIZE(struct graft_expert_share, 40);

/* [load] The three Linears of an expert. */
GRAFT_INLINE int graft_expert_describe(const struct graft_sink *sink, const struct graft_expert_sizes *sizes,
                                       int64_t expert, struct graft_error *error) {
    static const char *const names[] = {"gate_proj", "up_proj", "down_proj"};
    int status = GRAFT_OK;
    for (int32_t i = 0; i < 3 && status == GRAFT_OK; i++) {
        char name[GRAFT_EXPERT_LINEARS_NAME];
        (void)snprintf(name, sizeof name, "%d.%s", (int)expert, names[i]);
        status = graft_describe_linear(sink, name, i < 2 ? sizes->hidden_size : sizes->intermediate_size,
                                       i < 2 ? sizes->intermediate_size : sizes->hidden_size, 0, error);
    }
    return status;
}

/* [load] The class's `describe`. */
GRAFT_INLINE int graft_expert_linears_describe(const struct graft_class *cls, const struct graft_config *config,
                                               const struct graft_args *args, const struct graft_sink *sink,
                                               struct graft_error *error) {
    struct graft_expert_sizes *sizes = (struct graft_expert_sizes *)sink->keep(sink->data, sizeof *sizes, error);
    int status = sizes != NULL ? GRAFT_OK : GRAFT_ERROR_INTERNAL;
    (void)cls;
    if (status == GRAFT_OK) {
        status =
            graft_args_size(args, "num_experts", GRAFT_EXPERT_LINEARS_MOST, sink->path, &sizes->num_experts, error);
    }
    if (status == GRAFT_OK) {
        status = graft_args_size(args, "hidden_size", INT32_MAX, sink->path, &sizes->hidden_size, error);
    }
    if (status == GRAFT_OK) {
        status = graft_args_size(args, "intermediate_size", INT32_MAX, sink->path, &sizes->intermediate_size, error);
    }
    for (int64_t e = 0; status == GRAFT_OK && e < sizes->num_experts; e++) {
        status = graft_expert_describe(sink, sizes, e, error);
    }
    return status == GRAFT_OK ? graft_describe_activation(sink, "act_fn", config, args, "hidden_act", error) : status;
}

/* [load] A Linear of an expert. */
GRAFT_INLINE const struct graft_module *graft_expert_child(const struct graft_build *build, int64_t expert,
                                                           const char *projection, int *status,
                                                           struct graft_error *error) {
    char name[GRAFT_EXPERT_LINEARS_NAME];
    (void)snprintf(name, sizeof name, "%d.%s", (int)expert, projection);
    return graft_build_child(build, name, status, error);
}

/* [load] The class's `destroy`. */
GRAFT_INLINE void graft_expert_linears_destroy(void *instance) {
    struct graft_expert_linears *self = (struct graft_expert_linears *)instance;
    free(self->experts);
    free(self);
}

/* [load] The class's `create`. */
GRAFT_INLINE int graft_expert_linears_create(const struct graft_class *cls, const struct graft_build *build,
                                             void **instance, struct graft_error *error) {
    const struct graft_expert_sizes *sizes = (const struct graft_expert_sizes *)build->kept;
    struct graft_expert_linears *self = (struct graft_expert_linears *)calloc(1, sizeof *self);
    int status = GRAFT_OK;
    (void)cls;
    if (self == NULL) {
        return graft_fail_memory(error, build->path);
    }
    self->sizes = *sizes;
    self->experts = (struct graft_expert *)calloc((size_t)sizes->num_experts, sizeof *self->experts);
    self->act_fn = graft_build_child(build, "act_fn", &status, error);
    if (self->experts == NULL) {
        status = graft_fail_memory(error, build->path);
    }
    for (int64_t e = 0; e < sizes->num_experts && status == GRAFT_OK; e++) {
        self->experts[e].gate_proj = graft_expert_child(build, e, "gate_proj", &status, error);
        self->experts[e].up_proj = graft_expert_child(build, e, "up_proj", &status, error);
        self->experts[e].down_proj = graft_expert_child(build, e, "down_proj", &status, error);
    }
    if (status != GRAFT_OK) {
        graft_expert_linears_destroy(self);
        return status;
    }
    *instance = self;
    return GRAFT_OK;
}

/* [any] Fills in which tokens go to `expert`, and their weights; how many there are. */
GRAFT_INLINE int64_t graft_expert_find_tokens(const struct graft_experts_args *args, int64_t expert,
                                              struct graft_expert_share *share) {
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

/* [forward] down_proj(act_fn(gate_proj(x)) * up_proj(x)) of n tokens, in place. */
GRAFT_INLINE int graft_expert_forward(const struct graft_expert_linears *self, const struct graft_expert *expert,
                                      const struct graft_call *call, const struct graft_expert_share *share, int64_t n,
                                      struct graft_error *error) {
    const struct graft_module *const projections[] = {expert->gate_proj, expert->up_proj};
    struct graft_linear_args args[3];
    int status;
    for (int i = 0; i < 3; i++) {
        args[i].struct_size = (uint32_t)sizeof args[i];
        args[i].required_features = 0;
        args[i].tokens = n;
        args[i].x = i < 2 ? share->x : share->gate;
        args[i].y = i == 0 ? share->gate : i == 1 ? share->up : share->x;
    }
    status = graft_linear_forward_all(projections, call, args, 2, error);
    if (status == GRAFT_OK) {
        status =
            graft_activation_gate(self->act_fn, call, share->gate, share->up, n, self->sizes.intermediate_size, error);
    }
    return status == GRAFT_OK ? graft_linear_forward(expert->down_proj, call, &args[2], error) : status;
}

/* [forward] What graft_experts.forward of the class does: one expert after the other, in ascending order. */
GRAFT_INLINE int graft_expert_linears_forward(void *instance, const struct graft_call *call,
                                              const struct graft_experts_args *args, struct graft_error *error) {
    const struct graft_expert_linears *self = (const struct graft_expert_linears *)instance;
    const int64_t hidden = self->sizes.hidden_size;
    struct graft_expert_share share;
    int status = GRAFT_OK;
    share.tokens = graft_scratch_ints(call, args->tokens * args->k, error);
    share.weights = graft_scratch_floats(call, args->tokens, args->k, error);
    share.x = graft_scratch_floats(call, args->tokens, hidden, error);
    share.gate = graft_scratch_floats(call, args->tokens, self->sizes.intermediate_size, error);
    share.up = graft_scratch_floats(call, args->tokens, self->sizes.intermediate_size, error);
    if (share.tokens == NULL || share.weights == NULL || share.x == NULL || share.gate == NULL || share.up == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    memset(args->output, 0, (size_t)(args->tokens * hidden) * sizeof(float));
    for (int64_t e = 0; e < self->sizes.num_experts && status == GRAFT_OK; e++) {
        const int64_t n = graft_expert_find_tokens(args, e, &share);
        if (n == 0) {
            continue;
        }
        status = call->kernels->gather_rows(call, args->hidden_states, share.tokens, n, hidden, share.x, error);
        if (status == GRAFT_OK) {
            status = graft_expert_forward(self, &self->experts[e], call, &share, n, error);
        }
        if (status == GRAFT_OK) {
            status = call->kernels->scatter_add_rows(call, share.x, share.weights, share.tokens, n, hidden,
                                                     args->output, error);
        }
    }
    return status;
}

#ifdef __cplusplus
}
#endif

#endif
