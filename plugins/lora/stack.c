/* SPDX-License-Identifier: Apache-2.0 */
#include "stack.h"

#include <stdlib.h>

#include "columns.h"
#include "graft/describe.h"
#include "graft/experts_implementation.h"
#include "graft/kernels.h"
#include "lora.h"
#include "merge.h"
#include "stored.h"

const char *const lora_stacked_names[LORA_STACKED] = {"gate_up_proj", "down_proj"};

/* One of an expert's projections. */
struct projection {
    const struct graft_weight *a; /* [experts * rank, in]; NULL: nothing is added */
    struct lora_columns *columns; /* [experts] */
};

struct stack {
    struct projection projections[LORA_PROJECTIONS];
    int64_t num_experts;
    struct lora_columns columns[]; /* [LORA_PROJECTIONS * num_experts] */
};

static int64_t rank_of(const struct graft_args *args, int which) {
    return graft_args_int(args, which == LORA_DOWN ? "down_proj_rank" : "gate_up_proj_rank", 0);
}

/* --- Stored tensors --- */

/* Declares the stored tensors. If both parameters are adapted, PEFT wraps the module twice, and the tensors of the
 * inner wrapper, for gate_up_proj, are named "base_layer....". */
static int describe_stored(const struct graft_sink *sink, const struct graft_args *args, int which, const char *part,
                           struct graft_error *error) {
    const int is_inner = which == LORA_GATE_UP && rank_of(args, LORA_DOWN) > 0;
    char from[64], to[64];
    (void)snprintf(from, sizeof from, "%s%s.weight", is_inner ? "base_layer." : "", part);
    (void)snprintf(to, sizeof to, "%s_%s", lora_stacked_names[which], part);
    return lora_describe_stored(sink, from, to, 0, error);
}

static void describe_part(const struct graft_sink *sink, const struct graft_args *args, int which, const char *part,
                          const int64_t shape[2], struct graft_error *error) {
    char name[64];
    (void)snprintf(name, sizeof name, "%s_%s", lora_stacked_names[which], part);
    graft_describe_parameter(sink, name, 2, shape, 0, GRAFT_INIT_NONE, error);
    describe_stored(sink, args, which, part, error);
}

static int describe(const struct graft_class *cls, const struct graft_config *config, const struct graft_args *args,
                    const struct graft_sink *sink, struct graft_error *error) {
    const int64_t hidden = graft_args_int(args, "hidden_size", 0), inner = graft_args_int(args, "intermediate_size", 0);
    const int64_t experts = graft_args_int(args, "num_experts", 0);
    (void)cls;
    (void)config;
    for (int which = 0; which < LORA_STACKED; which++) {
        const int64_t all = experts * rank_of(args, which);
        const int64_t a[2] = {all, which == LORA_DOWN ? inner : hidden};
        const int64_t b[2] = {which == LORA_DOWN ? hidden : 2 * inner, all};
        if (all > 0) {
            describe_part(sink, args, which, "lora_A", a, error);
            describe_part(sink, args, which, "lora_B", b, error);
        }
    }
    return error->code;
}

/* --- Columns --- */

/* Finds which projection a row of lora_B is for, and which of its outputs: gate and up of gate_up_proj are
 * concatenated, or their rows alternate. */
static int find_output(const struct graft_args *args, int which, int64_t row, int64_t *output) {
    const int64_t inner = graft_args_int(args, "intermediate_size", 0);
    const int by_turns = graft_args_int(args, "by_turns", 0) != 0;
    if (which == LORA_DOWN) {
        *output = row;
        return LORA_OF_DOWN;
    }
    *output = by_turns ? row / 2 : row % inner;
    return (by_turns ? row % 2 : row / inner) != 0 ? LORA_OF_UP : LORA_OF_GATE;
}

/* Reads the rows of lora_B into columns. -1 if memory ran out. */
static int read_rows(struct stack *self, const struct graft_args *args, int which, const struct graft_weight *b) {
    float *row = malloc((size_t)b->columns * sizeof *row);
    for (int64_t i = 0; i < b->rows && row != NULL; i++) {
        int64_t output;
        struct lora_columns *columns = self->projections[find_output(args, which, i, &output)].columns;
        lora_read_row(b, i, row);
        for (int64_t e = 0; e < self->num_experts; e++) {
            lora_columns_set(&columns[e], output, row + e, self->num_experts);
        }
    }
    free(row);
    return row != NULL ? 0 : -1;
}

/* Allocates the columns of a projection for all experts. -1 if memory ran out. */
static int make_columns(struct stack *self, const struct graft_args *args, int which, const struct graft_weight *b) {
    const int first = which == LORA_DOWN ? LORA_OF_DOWN : LORA_OF_GATE;
    const int end = which == LORA_DOWN ? LORA_PROJECTIONS : LORA_OF_DOWN;
    const int64_t outputs = b->rows / (end - first), n = (end - first) * self->num_experts;
    struct lora_columns *columns = self->projections[first].columns;
    const char *name = which == LORA_DOWN ? "down_proj_factor" : "gate_up_proj_factor";
    const float factor = (float)graft_args_real(args, name, 1.0);
    int status = 0;
    for (int64_t i = 0; i < n && status == 0; i++) {
        status = lora_columns_init(&columns[i], b, rank_of(args, which), outputs, factor);
    }
    return status == 0 ? read_rows(self, args, which, b) : status;
}

static void bind(struct stack *self, const struct graft_build *build, int which, struct graft_error *error) {
    char name[64];
    (void)snprintf(name, sizeof name, "%s_lora_A", lora_stacked_names[which]);
    const struct graft_weight *a = graft_build_weight(build, name, error);
    (void)snprintf(name, sizeof name, "%s_lora_B", lora_stacked_names[which]);
    const struct graft_weight *b = graft_build_weight(build, name, error);
    if (error->code == GRAFT_OK && !lora_are_floats(b)) {
        graft_error_set(error, GRAFT_ERROR_MODEL, build->path, "%s_lora_B: expected F32, F16 or BF16",
                        lora_stacked_names[which]);
    }
    if (error->code != GRAFT_OK) {
        return;
    }
    for (int i = 0; i < LORA_PROJECTIONS; i++) {
        if ((i == LORA_OF_DOWN) == (which == LORA_DOWN)) {
            self->projections[i].a = a;
        }
    }
    if (make_columns(self, build->args, which, b) != 0) {
        (void)graft_fail_memory(error, build->path);
    }
}

static void destroy(void *instance) {
    struct stack *self = instance;
    for (int64_t i = 0; i < LORA_PROJECTIONS * self->num_experts; i++) {
        lora_columns_finish(&self->columns[i]);
    }
    free(self);
}

static int create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                  struct graft_error *error) {
    const int64_t experts = graft_args_int(build->args, "num_experts", 0);
    struct stack *self = calloc(1, sizeof *self + (size_t)(LORA_PROJECTIONS * experts) * sizeof self->columns[0]);
    (void)cls;
    if (self == NULL) {
        return graft_fail_memory(error, build->path);
    }
    self->num_experts = experts;
    for (int i = 0; i < LORA_PROJECTIONS; i++) {
        self->projections[i].columns = self->columns + i * experts;
    }
    for (int which = 0; which < LORA_STACKED; which++) {
        if (rank_of(build->args, which) > 0) {
            bind(self, build, which, error);
        }
    }
    if (error->code != GRAFT_OK) {
        destroy(self);
        return error->code;
    }
    *instance = self;
    return GRAFT_OK;
}

/* --- Forward --- */

int lora_stack_has(const struct graft_module *stack, int projection) {
    const struct stack *self = stack->instance;
    return self->projections[projection].a != NULL;
}

static int forward(void *instance, const struct graft_call *call, const void *given, struct graft_error *error) {
    const struct stack *self = instance;
    const struct lora_stack_args *args = given;
    const struct graft_weight *a = self->projections[args->projection].a;
    const struct lora_columns *columns = &self->projections[args->projection].columns[args->expert];
    float *narrow = graft_scratch_floats(call, args->tokens, columns->rank, error); /* [tokens, rank] */
    if (narrow == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    const struct graft_product product =
        graft_product_of(a, NULL, args->expert * columns->rank, columns->rank, args->tokens, args->x, narrow);
    const struct lora_addition addition = {columns, narrow, *args->rows, 0, NULL};
    int status = call->kernels->linear(call, &product, 1, sizeof product, error);
    if (status == GRAFT_OK) {
        lora_add(call, &(struct lora_additions){&addition, 1, args->y, columns->out_features});
    }
    return status;
}

static const struct graft_vtable vtable = {.struct_size = sizeof vtable, .forward = forward};

const struct graft_class lora_experts_pairs_class = {
    .struct_size = sizeof lora_experts_pairs_class,
    .name = "LoraExpertsPairs",
    .interface_id = LORA_INTERFACE_EXPERTS_PAIRS,
    .describe = describe,
    .create = create,
    .destroy = destroy,
    .forward = &vtable,
};
