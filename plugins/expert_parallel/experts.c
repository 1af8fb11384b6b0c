/* SPDX-License-Identifier: Apache-2.0 */
/* The experts of a layer as one module: each rank computes its experts for the tokens that are routed to them or,
 * divided by width, its part of every expert. */
#include "graft/experts.h"

#include <stdlib.h>
#include <string.h>

#include "expert_parallel.h"
#include "graft/describe.h"

enum { MAX_EXPERTS = 4096, MAX_SIZE = 1 << 20 };

struct experts {
    const struct graft_module *super;
    int64_t hidden_size;
    int32_t is_whole; /* 1: nothing is divided */
    int32_t by_width; /* 1: super has a part of each expert */
    struct run run;   /* otherwise: this rank's experts */
    int64_t first;    /* index of the first expert that super holds: run.begin, or 0 if super holds all */
};

/* The tensors that experts may have, stacked or in a list, and the dimension along which each is cut if experts are
 * divided by width. */
static const struct slice tensors[] = {
    {"gate_up_proj", 1, 2, 0},     {"down_proj", 2, 1, 0},           {"*.gate_proj.weight", 1, 1, 1},
    {"*.up_proj.weight", 1, 1, 1}, {"*.down_proj.weight", 2, 1, 1},  {"*.w1.weight", 1, 1, 1},
    {"*.w3.weight", 1, 1, 1},      {"*.w2.weight", 2, 1, 1},         {"gate_up_proj_bias", 1, 2, 0},
    {"down_proj_bias", 0, 0, 0},   {"gate_up_proj_blocks", 0, 0, 0}, {"gate_up_proj_scales", 0, 0, 0},
    {"down_proj_blocks", 0, 0, 0}, {"down_proj_scales", 0, 0, 0},
};

/* Describes the wrapped class with this rank's experts only, as if there were no others. */
static int give_experts(const struct graft_sink *sink, const struct run *run, struct graft_error *error) {
    const struct graft_arg own = graft_int_arg("num_experts", run->end - run->begin);
    const struct graft_args args = graft_args_of(&own, 1);
    sink->super(sink->data, &args, error);
    for (size_t i = 0; i < sizeof tensors / sizeof tensors[0]; i++) {
        const struct slice slice = {tensors[i].name, 0, 1, tensors[i].is_list};
        expert_parallel_slice(sink, &slice, run, error);
    }
    return error->code;
}

/* Describes the wrapped class with all experts, each with this rank's part of the width. No bias, because every rank
 * would add it. */
static int give_width(const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    int64_t width = 0;
    struct run run;
    if (graft_experts_features(args) != 0) {
        return graft_error_set(error, GRAFT_ERROR_USAGE, "expert_parallel.divide",
                               "experts with biases or a gating of their own are not divided by width (%s)",
                               sink->path);
    }
    if (graft_args_size(args, "intermediate_size", MAX_SIZE, sink->path, &width, error) != GRAFT_OK ||
        expert_parallel_width(width, sink->path, &run, error) != GRAFT_OK) {
        return error->code;
    }
    const struct graft_arg own = graft_int_arg("intermediate_size", run.end - run.begin);
    const struct graft_args given = graft_args_of(&own, 1);
    sink->super(sink->data, &given, error);
    for (size_t i = 0; i < sizeof tensors / sizeof tensors[0]; i++) {
        if (tensors[i].parts > 0) {
            expert_parallel_slice(sink, &tensors[i], &run, error);
        }
    }
    return error->code;
}

/* If the class has `data`, the wrapped class's tensors are known and are sliced; without it they stay whole. */
static int experts_describe(const struct graft_class *cls, const struct graft_config *config,
                            const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    struct experts *kept = sink->keep(sink->data, sizeof *kept, error); /* for `create` */
    int64_t experts = 0;
    int divides = 0;
    if (kept == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    expert_parallel_keep_whole(NULL, NULL);
    graft_args_size(args, "num_experts", MAX_EXPERTS, sink->path, &experts, error);
    graft_args_size(args, "hidden_size", MAX_SIZE, sink->path, &kept->hidden_size, error);
    expert_parallel_divides(config, sink->path, &divides, error);
    if (error->code != GRAFT_OK || !divides) {
        kept->is_whole = 1;
        return error->code;
    }
    if (expert_parallel_by_width()) {
        kept->by_width = 1;
        return cls->data != NULL
                   ? give_width(args, sink, error)
                   : graft_error_set(error, GRAFT_ERROR_USAGE, "expert_parallel.divide",
                                     "quantized experts, and those with adapters, are not divided by width (%s)",
                                     sink->path);
    }
    if (expert_parallel_experts(experts, &kept->run, error) != GRAFT_OK) {
        return error->code;
    }
    if (cls->data == NULL) {
        expert_parallel_keep_whole(sink->path, &kept->run);
        return GRAFT_OK;
    }
    kept->first = kept->run.begin;
    return give_experts(sink, &kept->run, error);
}

static int experts_create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                          struct graft_error *error) {
    struct experts *self = malloc(sizeof *self);
    (void)cls;
    if (self == NULL) {
        return graft_fail_memory(error, build->path);
    }
    *self = *(const struct experts *)build->kept;
    self->super = build->super;
    *instance = self;
    return GRAFT_OK;
}

/* A row for each pair of a token and one of this rank's experts, sorted by expert, since tokens differ in how many of
 * their experts are here. */
struct rows {
    int64_t *first;  /* [number of this rank's experts + 1]: where each expert's rows begin */
    int32_t *token;  /* [n] */
    int32_t *expert; /* [n]: the expert of each row, in super's numbers */
    float *weight;   /* [n] */
    float *one;      /* [n] ones: weights are applied when rows are added to their tokens */
    float *x;        /* [n, hidden_size] */
    float *y;        /* [n, hidden_size] */
    int64_t n;
};

static int is_own(const struct experts *self, int32_t expert) {
    return expert >= self->run.begin && expert < self->run.end;
}

/* Counts the rows: first[e + 1] becomes the end of the rows of this rank's expert e. */
static int count_rows(const struct experts *self, const struct graft_call *call, const struct graft_experts_args *args,
                      struct rows *rows, struct graft_error *error) {
    int64_t own = self->run.end - self->run.begin;
    rows->first = call->scratch_alloc(call->scratch, (own + 1) * (int64_t)sizeof *rows->first);
    if (rows->first == NULL) {
        return graft_fail_memory(error, self->super->path);
    }
    memset(rows->first, 0, (size_t)(own + 1) * sizeof *rows->first);
    for (int64_t i = 0; i < args->tokens * args->k; i++) {
        if (is_own(self, args->top_k_index[i])) {
            rows->first[args->top_k_index[i] - self->run.begin + 1]++;
        }
    }
    for (int64_t e = 0; e < own; e++) {
        rows->first[e + 1] += rows->first[e];
    }
    rows->n = rows->first[own];
    return GRAFT_OK;
}

static int fill_rows(const struct experts *self, const struct graft_call *call, const struct graft_experts_args *args,
                     struct rows *rows, struct graft_error *error) {
    int64_t own = self->run.end - self->run.begin;
    int64_t *next = call->scratch_alloc(call->scratch, own * (int64_t)sizeof *next);
    rows->token = graft_scratch_ints(call, rows->n, error);
    rows->expert = graft_scratch_ints(call, rows->n, error);
    rows->weight = graft_scratch_floats(call, rows->n, 1, error);
    rows->one = graft_scratch_floats(call, rows->n, 1, error);
    rows->x = graft_scratch_floats(call, rows->n, self->hidden_size, error);
    rows->y = graft_scratch_floats(call, rows->n, self->hidden_size, error);
    if (next == NULL || rows->token == NULL || rows->expert == NULL || rows->weight == NULL || rows->one == NULL ||
        rows->x == NULL || rows->y == NULL) {
        return graft_fail_memory(error, self->super->path);
    }
    memcpy(next, rows->first, (size_t)own * sizeof *next);
    for (int64_t i = 0; i < args->tokens * args->k; i++) {
        if (is_own(self, args->top_k_index[i])) {
            int64_t row = next[args->top_k_index[i] - self->run.begin]++;
            rows->token[row] = (int32_t)(i / args->k);
            rows->expert[row] = (int32_t)(args->top_k_index[i] - self->first);
            rows->weight[row] = args->top_k_weights[i];
            rows->one[row] = 1.0f;
        }
    }
    return call->kernels->gather_rows(call, args->hidden_states, rows->token, rows->n, self->hidden_size, rows->x,
                                      error);
}

/* output += the results of this rank's experts for their tokens, in ascending order. */
static int run_own(const struct experts *self, const struct graft_call *call, const struct graft_experts_args *args,
                   struct rows *rows, struct graft_error *error) {
    struct graft_gathered_call space;
    int status = fill_rows(self, call, args, rows, error);
    if (status != GRAFT_OK) {
        return status;
    }
    const struct graft_call *own_call = graft_call_route(call, args->tokens, rows->token, rows->n, &space, error);
    const struct graft_experts_args own_args = {
        .struct_size = sizeof own_args,
        .required_features = args->required_features,
        .tokens = rows->n,
        .k = 1,
        .hidden_states = rows->x,
        .top_k_index = rows->expert,
        .top_k_weights = rows->one,
        .output = rows->y,
    };
    status = own_call != NULL ? graft_experts_forward(self->super, own_call, &own_args, error) : GRAFT_ERROR_INTERNAL;
    for (int64_t e = 0; e < self->run.end - self->run.begin && status == GRAFT_OK; e++) {
        int64_t at = rows->first[e];
        int64_t n = rows->first[e + 1] - at;
        if (n > 0) {
            status = call->kernels->scatter_add_rows(call, rows->y + at * self->hidden_size, rows->weight + at,
                                                     rows->token + at, n, self->hidden_size, args->output, error);
        }
    }
    return status;
}

static int run_number(const struct experts *self, const struct graft_call *call, const struct graft_experts_args *args,
                      struct graft_error *error) {
    struct rows rows = {0};
    int status = count_rows(self, call, args, &rows, error);
    memset(args->output, 0, (size_t)(args->tokens * self->hidden_size) * sizeof(float));
    return status == GRAFT_OK && rows.n > 0 ? run_own(self, call, args, &rows, error) : status;
}

static int experts_forward(void *instance, const struct graft_call *call, const struct graft_experts_args *args,
                           struct graft_error *error) {
    const struct experts *self = instance;
    if (self->is_whole) {
        return graft_experts_forward(self->super, call, args, error);
    }
    int status =
        self->by_width ? graft_experts_forward(self->super, call, args, error) : run_number(self, call, args, error);
    return status == GRAFT_OK ? expert_parallel_sum(args->output, args->tokens * self->hidden_size, error) : status;
}

static const struct graft_experts experts_vtable = {
    .struct_size = sizeof experts_vtable,
    .features = GRAFT_EXPERTS_BIASES | GRAFT_EXPERTS_GATING,
    .forward = experts_forward,
};

#define EXPERTS_CLASS(class_name, is_part)                                                                 \
    {                                                                                                      \
        .struct_size = sizeof(struct graft_class), .flags = GRAFT_CLASS_CALLS_SUPER, .name = (class_name), \
        .interface_id = GRAFT_INTERFACE_EXPERTS, .describe = experts_describe, .create = experts_create,   \
        .destroy = free, .forward = &experts_vtable, .data = (is_part)                                     \
    }

const struct graft_class expert_parallel_part = EXPERTS_CLASS("ExpertParallelExperts", "");
const struct graft_class expert_parallel_whole = EXPERTS_CLASS("ExpertParallelWholeExperts", NULL);
