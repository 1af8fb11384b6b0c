/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The experts of a mixture, divided among processes: each owns a run of them, computes what these make of the tokens
 * that are routed to them, and adds up with the others what all of them make. All else is in every process.
 */
#include <stdlib.h>
#include <string.h>

#include "graft/describe.h"
#include "graft/experts.h"
#include "graft/parallel.h"
#include "graft/plugin.h"

enum { MAX_EXPERTS = 4096, MAX_SIZE = 1 << 20 };

static const struct graft_host *host;

/* --- Which experts are whose --- */

struct run {
    int64_t begin; /* experts [begin, end) */
    int64_t end;
};

static int find_run(int64_t experts, struct run *run, struct graft_error *error) {
    const struct graft_parallel *parallel = host->get_extension(GRAFT_PARALLEL_ID);
    if (experts < parallel->size) {
        return graft_error_set(error, GRAFT_ERROR_USAGE, "expert_parallel",
                               "%lld experts cannot be divided among %ld processes", (long long)experts,
                               (long)parallel->size);
    }
    run->begin = experts * parallel->rank / parallel->size;
    run->end = experts * (parallel->rank + 1) / parallel->size;
    return GRAFT_OK;
}

/* --- All experts of a layer, those of others left out --- */

struct experts {
    const struct graft_parallel *parallel;
    const struct graft_module *super;
    int64_t hidden_size;
    struct run run;
    int64_t first; /* the number here of the first that super has: run.begin, or 0 where it has all */
};

/* What becomes of the tensors of experts: the part of a run, under the same name. */
static int declare_part(const struct graft_sink *sink, const char *name, int is_list, const struct run *run,
                        struct graft_error *error) {
    const struct graft_operation steps[] = {
        {.struct_size = sizeof steps[0], .kind = GRAFT_OP_MERGE_MODULELIST},
        {.struct_size = sizeof steps[0], .kind = GRAFT_OP_SLICE, .begin = run->begin, .length = run->end - run->begin},
        {.struct_size = sizeof steps[0], .kind = GRAFT_OP_SPLIT_MODULELIST},
    };
    const struct graft_conversion conversion = {
        .struct_size = sizeof conversion,
        .n_sources = 1,
        .sources = &name,
        .n_targets = 1,
        .targets = &name,
        .n_operations = is_list ? 3 : 1,
        .operations = is_list ? steps : &steps[1],
        .operation_stride = sizeof steps[0],
    };
    return sink->conversion(sink->data, &conversion, error);
}

/* The class inside gets the own experts, and is told that these are all. */
static int give_part(const struct graft_sink *sink, const struct run *run, struct graft_error *error) {
    static const char *const stacked[] = {"gate_up_proj", "gate_up_proj_bias", "down_proj", "down_proj_bias"};
    static const char *const listed[] = {"*.gate_proj.weight", "*.up_proj.weight", "*.down_proj.weight",
                                         "*.w1.weight",        "*.w2.weight",      "*.w3.weight"};
    const struct graft_arg own = graft_int_arg("num_experts", run->end - run->begin);
    const struct graft_args args = graft_args_of(&own, 1);
    int status = sink->super(sink->data, &args, error);
    for (size_t i = 0; i < sizeof stacked / sizeof stacked[0] && status == GRAFT_OK; i++) {
        status = declare_part(sink, stacked[i], 0, run, error);
    }
    for (size_t i = 0; i < sizeof listed / sizeof listed[0] && status == GRAFT_OK; i++) {
        status = declare_part(sink, listed[i], 1, run, error);
    }
    return status;
}

static int experts_describe(const struct graft_class *cls, const struct graft_config *config,
                            const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    struct experts *kept = sink->keep(sink->data, sizeof *kept, error); /* for `create` */
    int64_t experts = 0;
    (void)config;
    int status = kept != NULL ? graft_args_size(args, "num_experts", MAX_EXPERTS, sink->path, &experts, error)
                              : GRAFT_ERROR_INTERNAL;
    if (status == GRAFT_OK) {
        status = graft_args_size(args, "hidden_size", MAX_SIZE, sink->path, &kept->hidden_size, error);
    }
    if (status == GRAFT_OK) {
        status = find_run(experts, &kept->run, error);
    }
    if (status != GRAFT_OK || cls->data == NULL) {
        return status;
    }
    kept->first = kept->run.begin;
    return give_part(sink, &kept->run, error);
}

static int experts_create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                          struct graft_error *error) {
    struct experts *self = malloc(sizeof *self);
    (void)cls;
    if (self == NULL) {
        return graft_fail_memory(error, build->path);
    }
    *self = *(const struct experts *)build->kept;
    self->parallel = host->get_extension(GRAFT_PARALLEL_ID);
    self->super = build->super;
    *instance = self;
    return GRAFT_OK;
}

/* Each token that is routed to an own expert, sorted by these: a row of its own, since no two tokens have as many. */
struct rows {
    int64_t *first;  /* [own experts + 1]: where each expert's rows begin */
    int32_t *token;  /* [n] */
    int32_t *expert; /* [n]: as super numbers them */
    float *weight;   /* [n] */
    float *one;      /* [n] of 1: the weight is applied where rows are added to their tokens */
    float *x;        /* [n, hidden_size] */
    float *y;        /* [n, hidden_size] */
    int64_t n;
};

static int is_own(const struct experts *self, int32_t expert) {
    return expert >= self->run.begin && expert < self->run.end;
}

/* Counts the rows: first[e + 1] is the end of those of own expert e. */
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

/* output += what own experts make of their tokens, in ascending order. */
static int run_own(const struct experts *self, const struct graft_call *call, const struct graft_experts_args *args,
                   struct rows *rows, struct graft_error *error) {
    struct graft_gathered_call space;
    int status = fill_rows(self, call, args, rows, error);
    if (status != GRAFT_OK) {
        return status;
    }
    const struct graft_call *own_call = graft_call_gather(call, rows->token, rows->n, &space, error);
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

static int experts_forward(void *instance, const struct graft_call *call, const struct graft_experts_args *args,
                           struct graft_error *error) {
    const struct experts *self = instance;
    struct rows rows = {0};
    int status = count_rows(self, call, args, &rows, error);
    memset(args->output, 0, (size_t)(args->tokens * self->hidden_size) * sizeof(float));
    if (status == GRAFT_OK && rows.n > 0) {
        status = run_own(self, call, args, &rows, error);
    }
    return status == GRAFT_OK ? self->parallel->allreduce(args->output, args->tokens * self->hidden_size, error)
                              : status;
}

static const struct graft_experts experts_vtable = {
    .struct_size = sizeof experts_vtable,
    .features = GRAFT_EXPERTS_FEATURES,
    .forward = experts_forward,
};

#define EXPERTS_CLASS(class_name, is_part)                                                                 \
    {                                                                                                      \
        .struct_size = sizeof(struct graft_class), .flags = GRAFT_CLASS_CALLS_SUPER, .name = (class_name), \
        .interface_id = GRAFT_INTERFACE_EXPERTS, .describe = experts_describe, .create = experts_create,   \
        .destroy = free, .forward = &experts_vtable, .data = (is_part)                                     \
    }

/* With `data` super has a part of the experts. */
static const struct graft_class part_class = EXPERTS_CLASS("ExpertParallelExperts", "");
static const struct graft_class whole_class = EXPERTS_CLASS("ExpertParallelWholeExperts", NULL);

/* --- What the host is told --- */

/* Experts whose tensors are known, and nothing beside them that counts experts from 0 as well. */
static const char *const known[] = {"gate_up_proj", "0.gate_proj.weight", "0.w1.weight", NULL};
static const struct graft_condition conditions[] = {
    {sizeof conditions[0], GRAFT_CONDITION_TENSOR, NULL, known},
    {sizeof conditions[0], GRAFT_CONDITION_NO_CONFIG, "quantization_config", NULL},
    {sizeof conditions[0], GRAFT_CONDITION_NO_CONFIG, "adapters", NULL},
};

static const struct graft_replacement replacements[] = {
    {
        .struct_size = sizeof(struct graft_replacement),
        .key = GRAFT_KEY_PATTERN,
        .target = ".",
        .replacement = &part_class,
        .flags = GRAFT_REPLACEMENT_WHERE_IT_FITS | GRAFT_REPLACEMENT_ON_REQUEST,
        .conditions = conditions,
        .n_conditions = sizeof conditions / sizeof conditions[0],
        .condition_stride = sizeof conditions[0],
    },
    {
        .struct_size = sizeof(struct graft_replacement),
        .key = GRAFT_KEY_PATTERN,
        .target = ".",
        .replacement = &whole_class,
        .flags = GRAFT_REPLACEMENT_WHERE_IT_FITS | GRAFT_REPLACEMENT_ON_REQUEST,
    },
};

static const char *const required[] = {GRAFT_PARALLEL_ID, NULL};

static const struct graft_plugin plugin = {
    GRAFT_PLUGIN_HEADER,
    .id = "expert_parallel",
    .version = "1.0.0",
    .license = "Apache-2.0",
    .description = "Divides the experts of a mixture among the processes that run it",
    .requires_extensions = required,
    .replacements = replacements,
    .n_replacements = sizeof replacements / sizeof replacements[0],
    .replacement_stride = sizeof replacements[0],
};

const struct graft_plugin *graft_plugin_entry(const struct graft_host *given, struct graft_error *error) {
    (void)error;
    host = given;
    return &plugin;
}
