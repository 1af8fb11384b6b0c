/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stacked experts and what adapters add to the projections of each, which they store one by one. The original computes
 * nothing itself: it hands its weights to the experts implementation of the call (graft/experts_implementation.h),
 * which is one of this class, a loop over experts with the pairs beside their products.
 */
#include <stdio.h>
#include <stdlib.h>

#include "adapters.h"
#include "graft/describe.h"
#include "graft/experts.h"
#include "graft/experts_implementation.h"
#include "graft/kernels.h"
#include "lora.h"
#include "rows.h"

enum { GATE, UP, DOWN, PROJECTIONS, BELOW = 32, MAX_PATH = 4096 };

struct lora_experts {
    const struct graft_module *original;
    int64_t num_experts;
    int64_t n_adapters;                 /* 0: nothing to add */
    const struct graft_module *pairs[]; /* [adapters, num_experts, PROJECTIONS]; NULL: none */
};

/* "3.up_proj", as adapters name it. */
static void name_projection(int64_t expert, int projection, char below[BELOW]) {
    static const char *const names[PROJECTIONS] = {"gate_proj", "up_proj", "down_proj"};
    (void)snprintf(below, BELOW, "%lld.%s", (long long)expert, names[projection]);
}

static int describe_pair(const struct graft_config *config, const struct graft_args *args,
                         const struct graft_sink *sink, int64_t i, int64_t expert, int projection,
                         struct graft_error *error) {
    int64_t hidden = graft_args_int(args, "hidden_size", 0), inner = graft_args_int(args, "intermediate_size", 0);
    struct lora_adapter adapter;
    char below[BELOW], path[MAX_PATH];
    const struct lora_place place = {below, path};
    name_projection(expert, projection, below);
    (void)snprintf(path, sizeof path, "%s.%s", sink->path, below);
    int status = lora_read(config, sink, i, &place, &adapter, error);
    const struct graft_arg pair[] = {
        graft_int_arg("in_features", projection == DOWN ? inner : hidden),
        graft_int_arg("out_features", projection == DOWN ? hidden : inner),
        graft_int_arg("bias", 0),
        graft_int_arg("rank", adapter.rank),
        graft_real_arg("factor", adapter.factor),
    };
    return status == GRAFT_OK && adapter.kind == LORA_PAIR
               ? graft_describe_child(sink, adapter.child, lora_pair_class.name, GRAFT_INTERFACE_LINEAR, pair, 5, error)
               : status;
}

/* Experts that are modules have adapters of their own, so there is nothing to do around them. */
static int describe(const struct graft_class *cls, const struct graft_config *config, const struct graft_args *args,
                    const struct graft_sink *sink, struct graft_error *error) {
    int64_t n = (sink->super_flags & GRAFT_CLASS_CALLS_EXPERTS) != 0 ? lora_count(config) : 0;
    int64_t num_experts = graft_args_int(args, "num_experts", 0);
    int status = GRAFT_OK;
    (void)cls;
    for (int64_t i = 0; i < n * num_experts * PROJECTIONS && status == GRAFT_OK; i++) {
        status = describe_pair(config, args, sink, i / PROJECTIONS / num_experts, i / PROJECTIONS % num_experts,
                               (int)(i % PROJECTIONS), error);
    }
    return status == GRAFT_OK && n > 0 ? lora_describe_by_row(sink, error) : status;
}

static int create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                  struct graft_error *error) {
    int64_t num_experts = graft_args_int(build->args, "num_experts", 0);
    int64_t n_adapters = lora_count(build->config), n = n_adapters * num_experts * PROJECTIONS;
    struct lora_experts *self = calloc(1, sizeof *self + (size_t)n * sizeof(void *));
    (void)cls;
    if (self == NULL) {
        return graft_fail_memory(error, build->path);
    }
    for (int64_t i = 0; i < n; i++) {
        char below[BELOW], name[LORA_CHILD_NAME];
        name_projection(i / PROJECTIONS % num_experts, (int)(i % PROJECTIONS), below);
        lora_child_name(build->config, i / PROJECTIONS / num_experts, below, name);
        self->pairs[i] = build->child(build->data, name);
        self->n_adapters = self->pairs[i] != NULL ? n_adapters : self->n_adapters;
    }
    self->original = build->super;
    self->num_experts = num_experts;
    *instance = self;
    return GRAFT_OK;
}

/* The tokens of one expert, and room for what becomes of them. */
struct share {
    int64_t n;
    int32_t *tokens; /* [n]: their numbers, ascending */
    float *weights;  /* [n] */
    float *x;        /* [n, hidden_size] */
    float *gate;     /* [n, intermediate_size] */
    float *up;       /* [n, intermediate_size] */
    float *y;        /* [n, hidden_size] */
};

static int share_init(struct share *share, const struct graft_call *call, const struct graft_experts_input *input,
                      struct graft_error *error) {
    int64_t tokens = input->tokens, hidden = input->hidden_size, inner = input->intermediate_size;
    *share = (struct share){
        .tokens = graft_scratch_ints(call, tokens * input->k, error),
        .weights = graft_scratch_floats(call, tokens, input->k, error),
        .x = graft_scratch_floats(call, tokens, hidden, error),
        .gate = graft_scratch_floats(call, tokens, inner, error),
        .up = graft_scratch_floats(call, tokens, inner, error),
        .y = graft_scratch_floats(call, tokens, hidden, error),
    };
    int has_all = share->tokens != NULL && share->weights != NULL && share->x != NULL && share->gate != NULL &&
                  share->up != NULL && share->y != NULL;
    return has_all ? GRAFT_OK : GRAFT_ERROR_INTERNAL;
}

static void find_tokens(struct share *share, const struct graft_experts_input *input, int64_t expert) {
    share->n = 0;
    for (int64_t i = 0; i < input->tokens * input->k; i++) {
        if (input->top_k_index[i] == expert) {
            share->tokens[share->n] = (int32_t)(i / input->k);
            share->weights[share->n++] = input->top_k_weights[i];
        }
    }
}

/* y += the pairs of the projection */
static int add_pairs(const struct lora_experts *self, const struct graft_call *call, int64_t expert, int projection,
                     const struct graft_linear_args *args, const struct lora_sizes *sizes, struct graft_error *error) {
    int status = GRAFT_OK;
    for (int64_t i = 0; i < self->n_adapters && status == GRAFT_OK; i++) {
        const struct graft_module *pair = self->pairs[(i * self->num_experts + expert) * PROJECTIONS + projection];
        struct lora_rows rows = {0};
        status = pair != NULL ? lora_rows_of(call, args->tokens, (int32_t)i, &rows, error) : GRAFT_OK;
        if (status == GRAFT_OK && rows.n > 0) {
            status = lora_rows_run(&rows, call, pair, args, sizes, 1, error);
        }
    }
    return status;
}

/* y = the expert's rows of a stacked weight times x, and what the pairs add */
static int project(const struct lora_experts *self, const struct graft_call *call,
                   const struct graft_experts_input *input, int64_t expert, int projection,
                   const struct graft_linear_args *args, struct graft_error *error) {
    int64_t hidden = input->hidden_size, inner = input->intermediate_size;
    const int64_t out = projection == DOWN ? hidden : inner;
    const struct lora_sizes sizes = {projection == DOWN ? inner : hidden, out, out};
    const struct graft_product product = {
        .struct_size = sizeof product,
        .weight = projection == DOWN ? input->down_proj : input->gate_up_proj,
        .bias = projection == DOWN ? input->down_bias : input->gate_up_bias,
        .first_row = projection == DOWN ? expert * hidden : (2 * expert + (projection == UP)) * inner,
        .rows = out,
        .x = args->x,
        .x_stride = sizes.in,
        .tokens = args->tokens,
        .y = args->y,
        .y_stride = out,
    };
    int status = call->kernels->linear(call, &product, 1, sizeof product, error);
    return status == GRAFT_OK ? add_pairs(self, call, expert, projection, args, &sizes, error) : status;
}

/* output += what the expert makes of its tokens */
static int run_expert(const struct lora_experts *self, const struct graft_call *call,
                      const struct graft_experts_input *input, int64_t expert, const struct share *share,
                      struct graft_error *error) {
    struct graft_gathered_call space;
    const struct graft_linear_args gate = {sizeof gate, 0, share->n, share->x, share->gate};
    const struct graft_linear_args up = {sizeof up, 0, share->n, share->x, share->up};
    const struct graft_linear_args down = {sizeof down, 0, share->n, share->gate, share->y};
    const struct graft_call *own = graft_call_route(call, input->tokens, share->tokens, share->n, &space, error);
    int status = own != NULL ? call->kernels->gather_rows(call, input->hidden_states, share->tokens, share->n,
                                                          input->hidden_size, share->x, error)
                             : GRAFT_ERROR_INTERNAL;
    if (status == GRAFT_OK) {
        status = project(self, own, input, expert, GATE, &gate, error);
    }
    if (status == GRAFT_OK) {
        status = project(self, own, input, expert, UP, &up, error);
    }
    if (status == GRAFT_OK) {
        status = graft_experts_gate(input, call, share->gate, share->up, share->n, error);
    }
    if (status == GRAFT_OK) {
        status = project(self, own, input, expert, DOWN, &down, error);
    }
    return status == GRAFT_OK ? call->kernels->scatter_add_rows(call, share->y, share->weights, share->tokens, share->n,
                                                                input->hidden_size, input->output, error)
                              : status;
}

static int run(const struct graft_experts_implementation *implementation, const struct graft_call *call,
               const struct graft_experts_input *input, struct graft_error *error) {
    const struct lora_experts *self = implementation->data;
    struct share share;
    int status = share_init(&share, call, input, error);
    memset(input->output, 0, (size_t)(input->tokens * input->hidden_size) * sizeof(float));
    for (int64_t e = 0; e < self->num_experts && status == GRAFT_OK; e++) {
        int64_t mark = call->scratch_mark(call->scratch);
        find_tokens(&share, input, e);
        status = share.n > 0 ? run_expert(self, call, input, e, &share, error) : GRAFT_OK;
        call->scratch_release(call->scratch, mark);
    }
    return status;
}

static int forward(void *instance, const struct graft_call *call, const struct graft_experts_args *args,
                   struct graft_error *error) {
    const struct lora_experts *self = instance;
    const struct graft_experts_implementation implementation = {
        .struct_size = sizeof implementation,
        .features = GRAFT_EXPERTS_BIASES | GRAFT_EXPERTS_GATING,
        .name = "lora",
        .forward = run,
        .data = self,
    };
    struct graft_call own;
    graft_struct_copy(&own, sizeof own, call);
    own.experts = self->n_adapters > 0 ? &implementation : call->experts;
    return graft_experts_forward(self->original, &own, args, error);
}

static const struct graft_experts vtable = {.struct_size = sizeof vtable, .forward = forward};

const struct graft_class lora_experts_class = {
    .struct_size = sizeof lora_experts_class,
    .flags = GRAFT_CLASS_CALLS_SUPER,
    .name = "LoraExperts",
    .interface_id = GRAFT_INTERFACE_EXPERTS,
    .describe = describe,
    .create = create,
    .destroy = free,
    .forward = &vtable,
};
