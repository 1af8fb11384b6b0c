/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stacked experts (experts.h) whose weights are packed, a row of codes for each output. A class of that kind
 * (plugins/mxfp4) says how rows are multiplied and widened; graft_packed_experts_forward does the rest, one expert
 * after the other. Few tokens of an expert read the packed bytes where they are, many are multiplied with panels of the
 * widened weight by the host's kernels.
 *
 * With --dtype float32 panels are f32. Otherwise packed weights count as bf16: so are panels, and the host rounds their
 * inputs; few tokens stay exact.
 */
#ifndef GRAFT_PACKED_EXPERTS_H
#define GRAFT_PACKED_EXPERTS_H

#include "experts.h"
#include "packed.h"
#include "swiglu.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { GRAFT_PACKED_STACK_GRAIN = 32 /* outputs that are worth waking a thread for */ };

/* Rows of W, and tokens to be multiplied with them. The plugin's own, as all here: it does not cross to the host. */
struct graft_packed_stack_job {
    const void *weight; /* as the format has it: rows of `columns` inputs */
    int64_t columns;    /* of W and x */
    int64_t first;      /* row of W */
    int64_t rows;       /* from there on */
    const float *x;     /* [tokens, columns] */
    int64_t tokens;     /* rows of x and y */
    float *y;           /* [tokens, rows] */
    int64_t y_stride;   /* floats */
};

/* One for each instruction set. */
struct graft_packed_stack_loops {
    const char *name; /* as GRAFT_ISA spells it */
    /* [any] y[t, r] = W[first + r] x[t]: the same to the bit, whichever rows and tokens are done in one call. */
    void (*multiply)(const struct graft_packed_stack_job *job);
    /* [any] out [rows, columns] = W[first + r], exact, F32 or BF16. */
    void (*widen)(const struct graft_packed_stack_job *job, graft_dtype dtype, void *out);
};

/* The weights of all experts, [num_experts * rows, columns]. */
struct graft_packed_stack {
    const struct graft_packed_stack_loops *loops; /* for this processor */
    const void *weight;                           /* for jobs */
    int64_t rows;                                 /* of one expert: outputs */
    int64_t columns;                              /* inputs */
    const struct graft_weight *bias;              /* [num_experts, rows]; NULL: none */
};

/* What an instance has. */
struct graft_packed_experts {
    int64_t num_experts;               /* of each stack */
    struct graft_packed_stack gate_up; /* rows: one of gate, one of up, by turns; intermediate_size of each */
    struct graft_packed_stack down;    /* hidden_size rows, intermediate_size columns */
    struct graft_swiglu swiglu;        /* what stands between them */
};

/* What the bodies of parallel loops are given. */
struct graft_packed_stack_work {
    const struct graft_packed_stack *stack; /* whose loops run */
    struct graft_packed_stack_job job;      /* of all items together */
    graft_dtype dtype;                      /* of a panel */
    char *panel;                            /* [job.rows, columns] */
};

GRAFT_ASSERT_SIZE(struct graft_packed_stack_job, 64);
GRAFT_ASSERT_SIZE(struct graft_packed_stack_loops, 24);
GRAFT_ASSERT_SIZE(struct graft_packed_stack, 40);
GRAFT_ASSERT_SIZE(struct graft_packed_experts, 96);
GRAFT_ASSERT_SIZE(struct graft_packed_stack_work, 88);

/* [any] Of `n` tables (scalar, avx2, avx512: as many as there are, in this order) the best that this processor runs
 * and GRAFT_ISA, if it is set, allows. */
GRAFT_INLINE const struct graft_packed_stack_loops *
graft_packed_stack_choose(const struct graft_packed_stack_loops *const *tables, int32_t n) {
    const char *wanted = getenv("GRAFT_ISA");
    int32_t runnable = graft_packed_runnable();
    runnable = runnable < n ? runnable : n;
    for (int32_t i = 0; wanted != NULL && i < runnable; i++) {
        if (strcmp(tables[i]->name, wanted) == 0) {
            return tables[i];
        }
    }
    return tables[runnable - 1];
}

/* [any] Rows [begin, end) of a job. */
GRAFT_INLINE struct graft_packed_stack_job graft_packed_stack_part(const struct graft_packed_stack_job *job,
                                                                   int64_t begin, int64_t end) {
    struct graft_packed_stack_job part = *job;
    part.first += begin;
    part.rows = end - begin;
    part.y += begin;
    return part;
}

/* [any] A body: rows [begin, end) times all tokens. */
GRAFT_INLINE void graft_packed_stack_multiply(void *data, int64_t begin, int64_t end) {
    const struct graft_packed_stack_work *work = (const struct graft_packed_stack_work *)data;
    const struct graft_packed_stack_job job = graft_packed_stack_part(&work->job, begin, end);
    work->stack->loops->multiply(&job);
}

/* [any] A body: rows [begin, end) of a panel. */
GRAFT_INLINE void graft_packed_stack_widen(void *data, int64_t begin, int64_t end) {
    const struct graft_packed_stack_work *work = (const struct graft_packed_stack_work *)data;
    const struct graft_packed_stack_job job = graft_packed_stack_part(&work->job, begin, end);
    const int64_t element = work->dtype == GRAFT_DTYPE_F32 ? 4 : 2;
    work->stack->loops->widen(&job, work->dtype, work->panel + begin * job.columns * element);
}

/* [forward] One panel: widened, then multiplied by the host's kernels. */
GRAFT_INLINE int graft_packed_stack_panel(struct graft_packed_stack_work *work, const struct graft_call *call,
                                          struct graft_error *error) {
    const struct graft_packed_stack_job *job = &work->job;
    struct graft_row_block block;
    struct graft_weight weight;
    struct graft_product product;
    memset(&weight, 0, sizeof weight);
    memset(&product, 0, sizeof product);
    block.struct_size = (uint32_t)sizeof block;
    block.dtype = work->dtype;
    block.data = work->panel;
    block.rows = job->rows;
    weight.struct_size = (uint32_t)sizeof weight;
    weight.rank = 2;
    for (int32_t i = 0; i < GRAFT_MAX_RANK; i++) {
        weight.shape[i] = i == 0 ? job->rows : i == 1 ? job->columns : 1;
    }
    weight.rows = job->rows;
    weight.columns = job->columns;
    weight.blocks = &block;
    weight.n_blocks = 1;
    weight.block_stride = (uint32_t)sizeof block;
    product.struct_size = (uint32_t)sizeof product;
    product.weight = &weight;
    product.rows = job->rows;
    product.x = job->x;
    product.x_stride = job->columns;
    product.tokens = job->tokens;
    product.y = job->y;
    product.y_stride = job->y_stride;
    call->threads->parallel_for(job->rows, GRAFT_PACKED_STACK_GRAIN, graft_packed_stack_widen, work);
    return call->kernels->linear(call, &product, 1, sizeof product, error);
}

/* [forward] y [tokens, rows] = x [tokens, columns] times the weight of an expert. */
GRAFT_INLINE int graft_packed_stack_product(const struct graft_packed_stack *stack, const struct graft_call *call,
                                            int64_t expert, int64_t tokens, const float *x, float *y,
                                            struct graft_error *error) {
    struct graft_packed_stack_work work;
    int64_t end = (expert + 1) * stack->rows;
    int64_t mark = call->scratch_mark(call->scratch);
    int status = GRAFT_OK;
    memset(&work, 0, sizeof work);
    work.stack = stack;
    work.job.weight = stack->weight;
    work.job.columns = stack->columns;
    work.job.first = expert * stack->rows;
    work.job.rows = stack->rows;
    work.job.x = x;
    work.job.tokens = tokens;
    work.job.y = y;
    work.job.y_stride = stack->rows;
    if (tokens <= GRAFT_PACKED_FEW_TOKENS) {
        call->threads->parallel_for(stack->rows, GRAFT_PACKED_STACK_GRAIN, graft_packed_stack_multiply, &work);
        return GRAFT_OK;
    }
    work.dtype = call->precision == GRAFT_PRECISION_FLOAT32 ? GRAFT_DTYPE_F32 : GRAFT_DTYPE_BF16;
    work.panel = (char *)graft_scratch_floats(call, graft_packed_left(stack->rows, 0, GRAFT_PACKED_PANEL_ROWS),
                                              stack->columns, error);
    status = work.panel != NULL ? GRAFT_OK : GRAFT_ERROR_INTERNAL;
    for (; work.job.first < end && status == GRAFT_OK; work.job.first += work.job.rows) {
        work.job.rows = graft_packed_left(end, work.job.first, GRAFT_PACKED_PANEL_ROWS);
        work.job.y = y + (work.job.first - expert * stack->rows);
        status = graft_packed_stack_panel(&work, call, error);
    }
    call->scratch_release(call->scratch, mark);
    return status;
}

/* [forward] y [tokens, rows] += the bias of an expert, if there is one. */
GRAFT_INLINE int graft_packed_stack_add_bias(const struct graft_packed_stack *stack, const struct graft_call *call,
                                             int32_t expert, int64_t tokens, float *y, struct graft_error *error) {
    int64_t mark = call->scratch_mark(call->scratch);
    float *bias = stack->bias != NULL ? graft_scratch_floats(call, stack->rows, 1, error) : NULL;
    int status = stack->bias != NULL ? GRAFT_ERROR_INTERNAL : GRAFT_OK;
    if (bias != NULL) { /* a row of the table of biases */
        status = call->kernels->embedding(call, stack->bias, &expert, 1, bias, error);
    }
    for (int64_t t = 0; t < tokens && bias != NULL && status == GRAFT_OK; t++) {
        for (int64_t r = 0; r < stack->rows; r++) {
            y[t * stack->rows + r] += bias[r];
        }
    }
    call->scratch_release(call->scratch, mark);
    return status;
}

/* [forward] y [tokens, rows] = W x + bias of an expert. */
GRAFT_INLINE int graft_packed_stack_forward(const struct graft_packed_stack *stack, const struct graft_call *call,
                                            int32_t expert, int64_t tokens, const float *x, float *y,
                                            struct graft_error *error) {
    int status = graft_packed_stack_product(stack, call, expert, tokens, x, y, error);
    return status == GRAFT_OK ? graft_packed_stack_add_bias(stack, call, expert, tokens, y, error) : status;
}

/* [any] The tokens that go to `expert`: fills in which, and their weights, and returns how many there are. */
GRAFT_INLINE int64_t graft_packed_find_tokens(const struct graft_experts_args *args, int32_t expert, int32_t *tokens,
                                              float *weights) {
    int64_t n = 0;
    for (int64_t i = 0; i < args->tokens * args->k; i++) {
        if (args->top_k_index[i] == expert) {
            tokens[n] = (int32_t)(i / args->k);
            weights[n] = args->top_k_weights[i];
            n++;
        }
    }
    return n;
}

/* [forward] x [tokens, hidden_size] becomes what an expert makes of it. */
GRAFT_INLINE int graft_packed_expert(const struct graft_packed_experts *self, const struct graft_call *call,
                                     int32_t expert, int64_t tokens, float *x, struct graft_error *error) {
    struct graft_swiglu swiglu = self->swiglu;
    int64_t columns = self->down.columns;
    float *both = graft_scratch_floats(call, tokens, self->gate_up.rows, error); /* [tokens, 2 * intermediate_size] */
    float *gate = graft_scratch_floats(call, tokens, columns, error);            /* [tokens, intermediate_size] */
    float *up = graft_scratch_floats(call, tokens, columns, error);              /* [tokens, intermediate_size] */
    if (both == NULL || gate == NULL || up == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    int status = graft_packed_stack_forward(&self->gate_up, call, expert, tokens, x, both, error);
    for (int64_t i = 0; i < tokens * columns; i++) {
        gate[i] = both[2 * i];
        up[i] = both[2 * i + 1];
    }
    if (status == GRAFT_OK) {
        status = graft_swiglu_gate(&swiglu, call, gate, up, tokens, columns, error);
    }
    return status == GRAFT_OK ? graft_packed_stack_forward(&self->down, call, expert, tokens, gate, x, error) : status;
}

/* [forward] What graft_experts.forward of such a class does. */
GRAFT_INLINE int graft_packed_experts_forward(const struct graft_packed_experts *self, const struct graft_call *call,
                                              const struct graft_experts_args *args, struct graft_error *error) {
    int64_t hidden = self->down.rows;
    int32_t *tokens = graft_scratch_ints(call, args->tokens * args->k, error);
    float *weights = graft_scratch_floats(call, args->tokens, args->k, error);
    int status = tokens != NULL && weights != NULL ? GRAFT_OK : GRAFT_ERROR_INTERNAL;
    memset(args->output, 0, (size_t)(args->tokens * hidden) * sizeof(float));
    for (int32_t e = 0; e < self->num_experts && status == GRAFT_OK; e++) {
        int64_t n = graft_packed_find_tokens(args, e, tokens, weights);
        int64_t mark = call->scratch_mark(call->scratch);
        float *x = n > 0 ? graft_scratch_floats(call, n, hidden, error) : NULL; /* [n, hidden_size] */
        if (n > 0) {
            status = x != NULL ? call->kernels->gather_rows(call, args->hidden_states, tokens, n, hidden, x, error)
                               : GRAFT_ERROR_INTERNAL;
            if (status == GRAFT_OK) {
                status = graft_packed_expert(self, call, e, n, x, error);
            }
            if (status == GRAFT_OK) {
                status = call->kernels->scatter_add_rows(call, x, weights, tokens, n, hidden, args->output, error);
            }
        }
        call->scratch_release(call->scratch, mark);
    }
    return status;
}

#ifdef __cplusplus
}
#endif

#endif
