/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stacked experts (experts.h) whose weights are packed, a row of codes for each output. A class of that kind
 * (plugins/mxfp4) says how rows are multiplied and widened; graft_packed_experts_forward does the rest. In a forward of
 * few tokens (graft_call_is_few) those of an expert read the packed bytes where they are; in one of many they are
 * multiplied as the format has it for many, or else with panels (packed_panels.h), however few of them an expert gets.
 */
#ifndef GRAFT_PACKED_EXPERTS_H
#define GRAFT_PACKED_EXPERTS_H

#include "activation.h"
#include "experts.h"
#include "experts_implementation.h"
#include "packed.h"
#include "packed_panels.h"
#include "swiglu.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    GRAFT_PACKED_STACK_GRAIN = 32, /* outputs that are worth waking a thread for */
    GRAFT_PACKED_ROUTED = 4096     /* tokens of experts that are computed together, which bounds the memory */
};

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
    int32_t *prepared;  /* [tokens, numbers] what `prepare` made of x; NULL: x itself is multiplied */
    int64_t numbers;    /* as the loops have it */
    int32_t is_few;     /* whether the forward has few tokens */
    uint32_t reserved;
};

/* One for each instruction set. */
struct graft_packed_stack_loops {
    const char *name; /* as GRAFT_ISA spells it */
    /* [any] y[t, r] = W[first + r] x[t]: the same to the bit, whichever rows and tokens are done in one call. */
    void (*multiply)(const struct graft_packed_stack_job *job);
    /* [any] out [rows, columns] = W[first + r], exact, F32 or BF16. */
    void (*widen)(const struct graft_packed_stack_job *job, graft_dtype dtype, void *out);
    /* [any] How many numbers `prepare` makes of each of the job's tokens; 0: none, and many tokens are multiplied with
     * panels. Both functions are for --dtype other than float32, and may be NULL. */
    int64_t (*numbers)(const struct graft_packed_stack_job *job);
    /* [any] Fills in `prepared`: x for `multiply`, rounded or in another order. */
    void (*prepare)(const struct graft_packed_stack_job *job);
    /* [any] Fills in a portion of the job's rows (turned.h); NULL: `widen` does it all. */
    void (*turn)(const struct graft_packed_stack_job *job, const struct graft_turned_portion *portion);
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
    struct graft_packed_stack gate_up; /* intermediate_size rows of gate, and so many of up */
    struct graft_packed_stack down;    /* hidden_size rows, intermediate_size columns */
    int32_t by_turns;                  /* rows of gate_up are 1: one of gate, one of up; 0: all of gate, then up */
    uint32_t reserved;
    const struct graft_module *act_fn; /* what stands between them; NULL: `swiglu` */
    struct graft_swiglu swiglu;        /* likewise */
};

/* An expert, and the rows of arrays that are those of its tokens. */
struct graft_packed_run {
    int64_t expert; /* its number */
    int64_t first;  /* row */
    int64_t tokens; /* rows */
};

/* The tokens of some experts, one expert behind the other. */
struct graft_packed_routed {
    struct graft_packed_run *runs; /* [n_runs] of experts with tokens, ascending */
    int64_t n_runs;
    int64_t n;      /* rows of all runs */
    int32_t *token; /* [n] */
    float *weight;  /* [n] */
};

/* What the bodies of parallel loops are given. */
struct graft_packed_stack_work {
    const struct graft_packed_stack *stack;    /* whose loops run */
    const struct graft_packed_stack_job *jobs; /* of as many rows each */
    int64_t unit;                              /* rows of an item */
};

GRAFT_ASSERT_SIZE(struct graft_packed_stack_job, 88);
GRAFT_ASSERT_SIZE(struct graft_packed_stack_loops, 48);
GRAFT_ASSERT_SIZE(struct graft_packed_stack, 40);
GRAFT_ASSERT_SIZE(struct graft_packed_experts, 112);
GRAFT_ASSERT_SIZE(struct graft_packed_run, 24);
GRAFT_ASSERT_SIZE(struct graft_packed_routed, 40);
GRAFT_ASSERT_SIZE(struct graft_packed_stack_work, 24);

/* [any] Of `n` tables (scalar, avx2, avx512: as many as there are, in this order) the best that this processor runs
 * and GRAFT_ISA, if it is set, allows. */
GRAFT_INLINE const struct graft_packed_stack_loops *
graft_packed_stack_choose(const struct graft_packed_stack_loops *const *tables, int32_t n) {
    return tables[graft_isa_choose(n)];
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

/* [any] Items of a job, the last of which may lack rows. */
GRAFT_INLINE int64_t graft_packed_stack_items(const struct graft_packed_stack_work *work) {
    return (work->stack->rows + work->unit - 1) / work->unit;
}

/* [any] A body: items [begin, end) of all jobs, one behind the other, times the tokens of each. */
GRAFT_INLINE void graft_packed_stack_multiply(void *data, int64_t begin, int64_t end) {
    const struct graft_packed_stack_work *work = (const struct graft_packed_stack_work *)data;
    const int64_t items = graft_packed_stack_items(work), rows = work->stack->rows;
    while (begin < end) {
        const int64_t at = begin % items, n = graft_packed_left(items, at, end - begin);
        const struct graft_packed_stack_job job = graft_packed_stack_part(
            &work->jobs[begin / items], at * work->unit, graft_packed_left(rows, 0, (at + n) * work->unit));
        work->stack->loops->multiply(&job);
        begin += n;
    }
}

/* [any] As graft_panels has it: rows of the first job. */
GRAFT_INLINE void graft_packed_stack_widen(const void *data, int64_t first, int64_t n, graft_dtype dtype, void *out) {
    const struct graft_packed_stack_work *work = (const struct graft_packed_stack_work *)data;
    const struct graft_packed_stack_job job = graft_packed_stack_part(work->jobs, first, first + n);
    work->stack->loops->widen(&job, dtype, out);
}

/* [any] Likewise. */
GRAFT_INLINE void graft_packed_stack_turn(const void *data, const struct graft_turned_portion *portion) {
    const struct graft_packed_stack_work *work = (const struct graft_packed_stack_work *)data;
    work->stack->loops->turn(work->jobs, portion);
}

/* [forward] Many tokens of an expert, with portions or panels of the weight. */
GRAFT_INLINE int graft_packed_stack_many(const struct graft_packed_stack *stack, const struct graft_call *call,
                                         const struct graft_packed_stack_job *job, struct graft_error *error) {
    const int64_t mark = call->scratch_mark(call->scratch);
    struct graft_packed_stack_work work;
    struct graft_panels panels;
    work.stack = stack;
    work.jobs = job;
    work.unit = 1;
    panels.weight = &work;
    panels.rows = stack->rows;
    panels.columns = stack->columns;
    panels.unit = 1;
    panels.widen = graft_packed_stack_widen;
    panels.turn = stack->loops->turn != NULL ? graft_packed_stack_turn : NULL;
    int status = graft_panels_multiply(&panels, call, job->x, job->tokens, job->y, error);
    call->scratch_release(call->scratch, mark);
    return status;
}

/* [forward] y [tokens, rows] += bias of the run's expert, if there is one. `bias` is room for `rows` floats. */
GRAFT_INLINE int graft_packed_stack_add_bias(const struct graft_packed_stack *stack, const struct graft_call *call,
                                             const struct graft_packed_run *run, float *bias, float *y,
                                             struct graft_error *error) {
    const int32_t expert = (int32_t)run->expert;
    int status = GRAFT_OK;
    if (stack->bias == NULL) {
        return GRAFT_OK;
    }
    status = call->kernels->embedding(call, stack->bias, &expert, 1, bias, error); /* a row of a table */
    for (int64_t t = 0; t < run->tokens && status == GRAFT_OK; t++) {
        for (int64_t r = 0; r < stack->rows; r++) {
            y[(run->first + t) * stack->rows + r] += bias[r];
        }
    }
    return status;
}

/* [any] A body: the inputs of jobs [begin, end). */
GRAFT_INLINE void graft_packed_stack_prepare(void *data, int64_t begin, int64_t end) {
    const struct graft_packed_stack_work *work = (const struct graft_packed_stack_work *)data;
    for (int64_t i = begin; i < end; i++) {
        work->stack->loops->prepare(&work->jobs[i]);
    }
}

/* [forward] Jobs of few tokens, or of many whose inputs are prepared: these, if they are to be, then all rows. */
GRAFT_INLINE int graft_packed_stack_jobs(const struct graft_packed_stack *stack, const struct graft_call *call,
                                         struct graft_packed_stack_job *jobs, int64_t n, struct graft_error *error) {
    struct graft_packed_stack_work work;
    work.stack = stack;
    work.jobs = jobs;
    work.unit = jobs->is_few ? 1 : GRAFT_PACKED_PANEL;
    for (int64_t i = 0; i < n && jobs->numbers > 0; i++) {
        jobs[i].prepared = graft_scratch_ints(call, jobs[i].tokens * jobs[i].numbers, error);
        if (jobs[i].prepared == NULL) {
            return GRAFT_ERROR_INTERNAL;
        }
    }
    if (jobs->numbers > 0) {
        call->threads->parallel_for(n, jobs->is_few ? 4 : 1, graft_packed_stack_prepare, &work);
    }
    call->threads->parallel_for(n * graft_packed_stack_items(&work), jobs->is_few ? GRAFT_PACKED_STACK_GRAIN : 1,
                                graft_packed_stack_multiply, &work);
    return GRAFT_OK;
}

/* [forward] The job of a run: y [tokens, rows] = W x, where x and y are those of all runs. */
GRAFT_INLINE struct graft_packed_stack_job graft_packed_stack_job_of(const struct graft_packed_stack *stack,
                                                                     const struct graft_call *call,
                                                                     const struct graft_packed_run *run, const float *x,
                                                                     float *y) {
    const int is_exact = call->precision == GRAFT_PRECISION_FLOAT32 || stack->loops->prepare == NULL;
    struct graft_packed_stack_job job;
    job.weight = stack->weight;
    job.columns = stack->columns;
    job.first = run->expert * stack->rows;
    job.rows = stack->rows;
    job.x = x + run->first * stack->columns;
    job.tokens = run->tokens;
    job.y = y + run->first * stack->rows;
    job.y_stride = stack->rows;
    job.prepared = NULL;
    job.is_few = graft_call_is_few(call, run->tokens);
    job.reserved = 0;
    job.numbers = is_exact ? 0 : stack->loops->numbers(&job);
    return job;
}

/* [forward] y [n, rows] = W x + bias, x [n, columns], with the expert of each run. */
GRAFT_INLINE int graft_packed_stack_forward(const struct graft_packed_stack *stack, const struct graft_call *call,
                                            const struct graft_packed_routed *routed, const float *x, float *y,
                                            struct graft_error *error) {
    const int64_t mark = call->scratch_mark(call->scratch);
    struct graft_packed_stack_job *jobs =
        (struct graft_packed_stack_job *)call->scratch_alloc(call->scratch, routed->n_runs * (int64_t)sizeof *jobs);
    float *bias = graft_scratch_floats(call, stack->rows, 1, error);
    int64_t n = 0;
    int status = jobs != NULL && bias != NULL ? GRAFT_OK : graft_fail_memory(error, "experts");
    for (int64_t i = 0; i < routed->n_runs && status == GRAFT_OK; i++) {
        jobs[n] = graft_packed_stack_job_of(stack, call, &routed->runs[i], x, y);
        if (jobs[n].is_few || jobs[n].numbers > 0) {
            n++;
        } else {
            status = graft_packed_stack_many(stack, call, &jobs[n], error);
        }
    }
    if (status == GRAFT_OK && n > 0) {
        status = graft_packed_stack_jobs(stack, call, jobs, n, error);
    }
    for (int64_t i = 0; i < routed->n_runs && status == GRAFT_OK; i++) {
        status = graft_packed_stack_add_bias(stack, call, &routed->runs[i], bias, y, error);
    }
    call->scratch_release(call->scratch, mark);
    return status;
}

/* [any] Adds the tokens that go to `expert`, unless these would be more than `most` and there are some. */
GRAFT_INLINE int graft_packed_routed_add(struct graft_packed_routed *routed, const struct graft_experts_args *args,
                                         int64_t expert, int64_t most) {
    int64_t n = routed->n;
    for (int64_t i = 0; i < args->tokens * args->k; i++) {
        if (args->top_k_index[i] == expert) {
            routed->token[n] = (int32_t)(i / args->k);
            routed->weight[n] = args->top_k_weights[i];
            n++;
        }
    }
    if (n > most && routed->n > 0) {
        return 0;
    }
    if (n > routed->n) {
        struct graft_packed_run *run = &routed->runs[routed->n_runs++];
        run->expert = expert;
        run->first = routed->n;
        run->tokens = n - routed->n;
        routed->n = n;
    }
    return 1;
}

/* [any] Parts what gate_up makes of n tokens: gate and up [n, intermediate_size]. */
GRAFT_INLINE void graft_packed_experts_part(const struct graft_packed_experts *self, const float *both, int64_t n,
                                            float *gate, float *up) {
    const int64_t columns = self->down.columns;
    for (int64_t i = 0; i < n * columns && self->by_turns; i++) {
        gate[i] = both[2 * i];
        up[i] = both[2 * i + 1];
    }
    for (int64_t t = 0; t < n && !self->by_turns; t++) {
        memcpy(gate + t * columns, both + 2 * t * columns, (size_t)columns * sizeof *gate);
        memcpy(up + t * columns, both + (2 * t + 1) * columns, (size_t)columns * sizeof *up);
    }
}

/* [forward] gate [n, intermediate_size] = what comes out between the products. */
GRAFT_INLINE int graft_packed_experts_gate(const struct graft_packed_experts *self, const struct graft_call *call,
                                           float *gate, float *up, int64_t n, struct graft_error *error) {
    struct graft_swiglu swiglu = self->swiglu;
    return self->act_fn != NULL ? graft_activation_gate(self->act_fn, call, gate, up, n, self->down.columns, error)
                                : graft_swiglu_gate(&swiglu, call, gate, up, n, self->down.columns, error);
}

/* [forward] y [n, rows] += what the call asks for beside one of the products of x [n, columns]. */
GRAFT_INLINE int graft_packed_routed_add_to(const struct graft_packed_routed *routed, const struct graft_call *call,
                                            int32_t projection, const float *x, int64_t columns, float *y, int64_t rows,
                                            struct graft_error *error) {
    struct graft_experts_product product;
    int status = GRAFT_OK;
    product.struct_size = (uint32_t)sizeof product;
    product.projection = projection;
    for (int64_t i = 0; i < routed->n_runs && status == GRAFT_OK; i++) {
        const struct graft_packed_run *run = &routed->runs[i];
        product.expert = run->expert;
        product.rows = run->tokens;
        product.tokens = routed->token + run->first;
        product.x = x + run->first * columns;
        product.y = y + run->first * rows;
        status = graft_experts_add(call, &product, error);
    }
    return status;
}

/* [forward] gate [n, intermediate_size] = what comes out between the products of x [n, hidden_size]. */
GRAFT_INLINE int graft_packed_routed_gate(const struct graft_packed_experts *self, const struct graft_call *call,
                                          const struct graft_packed_routed *routed, const float *x, float *gate,
                                          struct graft_error *error) {
    const int64_t hidden = self->down.rows, columns = self->down.columns, n = routed->n;
    const int64_t mark = call->scratch_mark(call->scratch);
    float *both = graft_scratch_floats(call, n, self->gate_up.rows, error); /* [n, 2 * intermediate_size] */
    float *up = graft_scratch_floats(call, n, columns, error);              /* [n, intermediate_size] */
    if (both == NULL || up == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    int status = graft_packed_stack_forward(&self->gate_up, call, routed, x, both, error);
    if (status == GRAFT_OK) {
        graft_packed_experts_part(self, both, n, gate, up);
        status = graft_packed_routed_add_to(routed, call, GRAFT_EXPERTS_GATE, x, hidden, gate, columns, error);
    }
    if (status == GRAFT_OK) {
        status = graft_packed_routed_add_to(routed, call, GRAFT_EXPERTS_UP, x, hidden, up, columns, error);
    }
    if (status == GRAFT_OK) {
        status = graft_packed_experts_gate(self, call, gate, up, n, error);
    }
    call->scratch_release(call->scratch, mark);
    return status;
}

/* [forward] output += what these experts make of their tokens, in their order. */
GRAFT_INLINE int graft_packed_routed_forward(const struct graft_packed_experts *self, const struct graft_call *call,
                                             const struct graft_packed_routed *routed,
                                             const struct graft_experts_args *args, struct graft_error *error) {
    const struct graft_kernels *kernels = call->kernels;
    const int64_t hidden = self->down.rows, columns = self->down.columns, n = routed->n;
    float *x = graft_scratch_floats(call, n, hidden, error);     /* [n, hidden_size] */
    float *y = graft_scratch_floats(call, n, hidden, error);     /* [n, hidden_size] */
    float *gate = graft_scratch_floats(call, n, columns, error); /* [n, intermediate_size] */
    if (x == NULL || y == NULL || gate == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    int status = kernels->gather_rows(call, args->hidden_states, routed->token, n, hidden, x, error);
    if (status == GRAFT_OK) {
        status = graft_packed_routed_gate(self, call, routed, x, gate, error);
    }
    if (status == GRAFT_OK) {
        status = graft_packed_stack_forward(&self->down, call, routed, gate, y, error);
    }
    if (status == GRAFT_OK) {
        status = graft_packed_routed_add_to(routed, call, GRAFT_EXPERTS_DOWN, gate, columns, y, hidden, error);
    }
    for (int64_t i = 0; i < routed->n_runs && status == GRAFT_OK; i++) {
        const struct graft_packed_run *run = &routed->runs[i];
        status = kernels->scatter_add_rows(call, y + run->first * hidden, routed->weight + run->first,
                                           routed->token + run->first, run->tokens, hidden, args->output, error);
    }
    return status;
}

/* [forward] What graft_experts.forward of such a class does. */
GRAFT_INLINE int graft_packed_experts_forward(const struct graft_packed_experts *self, const struct graft_call *call,
                                              const struct graft_experts_args *args, struct graft_error *error) {
    struct graft_packed_routed routed;
    struct graft_call space;
    const struct graft_call *own = graft_call_among(call, args->tokens, &space);
    int64_t bytes = self->num_experts * (int64_t)sizeof *routed.runs;
    int64_t expert = 0;
    routed.runs = (struct graft_packed_run *)call->scratch_alloc(call->scratch, bytes);
    routed.token = graft_scratch_ints(call, args->tokens * args->k, error);
    routed.weight = graft_scratch_floats(call, args->tokens, args->k, error);
    int status = routed.runs != NULL && routed.token != NULL && routed.weight != NULL
                     ? GRAFT_OK
                     : graft_fail_memory(error, "experts");
    memset(args->output, 0, (size_t)(args->tokens * self->down.rows) * sizeof(float));
    while (expert < self->num_experts && status == GRAFT_OK) {
        int64_t mark = call->scratch_mark(call->scratch);
        routed.n = 0;
        routed.n_runs = 0;
        while (expert < self->num_experts && graft_packed_routed_add(&routed, args, expert, GRAFT_PACKED_ROUTED)) {
            expert++;
        }
        status = routed.n > 0 ? graft_packed_routed_forward(self, own, &routed, args, error) : GRAFT_OK;
        call->scratch_release(call->scratch, mark);
    }
    return status;
}

#ifdef __cplusplus
}
#endif

#endif
