/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stacked experts (experts.h) whose weights are codes in rows (packed_rows.h), those of all experts one behind the
 * other. A class of that kind (plugins/mxfp4) says where they lie; graft_packed_experts_forward does the rest. In a
 * forward of few tokens (graft_call_is_few) those of an expert read the packed bytes where they are; in one of many
 * they are multiplied as packed_rows.h does many, however few of them an expert gets.
 */
#ifndef GRAFT_PACKED_EXPERTS_H
#define GRAFT_PACKED_EXPERTS_H

#include "activation.h"
#include "experts.h"
#include "experts_implementation.h"
#include "packed_rows.h"
#include "swiglu.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    GRAFT_PACKED_STACK_GRAIN = 32, /* outputs that are worth waking a thread for */
    GRAFT_PACKED_ROUTED = 4096,    /* tokens of experts that are computed together, which bounds the memory */
    GRAFT_PACKED_STACK_NAME = 64   /* of a parameter, at most */
};

/* The weights of all experts. The plugin's own, as all here: it does not cross to the host. */
struct graft_packed_stack {
    struct graft_packed_rows rows;   /* `out_features` are those of one expert; no bias */
    const struct graft_weight *bias; /* [num_experts, out_features]; NULL: none */
};

/* An expert's weight, and the tokens that are multiplied with it. */
struct graft_packed_stack_job {
    const struct graft_packed_rows *rows;    /* of the stack */
    const struct graft_packed_prepared *how; /* by which loops; NULL: x itself is multiplied */
    int64_t first;                           /* row of the stack: the expert's first */
    const float *x;                          /* [tokens, in_features] */
    int64_t tokens;                          /* rows of x and y */
    float *y;                                /* [tokens, out_features] */
    char *inputs;                            /* [tokens, size] as prepared */
    int64_t size;                            /* of a token's, in bytes */
};

/* What an instance has. */
struct graft_packed_experts {
    int64_t num_experts;               /* of each stack */
    struct graft_packed_stack gate_up; /* intermediate_size outputs of gate, and so many of up */
    struct graft_packed_stack down;    /* hidden_size outputs, intermediate_size inputs */
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
    struct graft_packed_stack_job *jobs; /* of one stack */
    int64_t unit;                        /* rows of an item */
};

GRAFT_ASSERT_SIZE(struct graft_packed_stack, 128);
GRAFT_ASSERT_SIZE(struct graft_packed_stack_job, 64);
GRAFT_ASSERT_SIZE(struct graft_packed_experts, 288);
GRAFT_ASSERT_SIZE(struct graft_packed_run, 24);
GRAFT_ASSERT_SIZE(struct graft_packed_routed, 40);
GRAFT_ASSERT_SIZE(struct graft_packed_stack_work, 16);

/* [load] In `create`: points to parameters as they were described, NAME_CODES, NAME_scales and, if there is one,
 * NAME_bias. */
GRAFT_INLINE int graft_packed_stack_bind(const struct graft_build *build, const char *name, const char *codes,
                                         struct graft_packed_stack *stack, struct graft_error *error) {
    char parameter[GRAFT_PACKED_STACK_NAME];
    int status = GRAFT_OK;
    (void)snprintf(parameter, sizeof parameter, "%s_%s", name, codes);
    stack->rows.codes = graft_build_weight(build, parameter, &status, error);
    (void)snprintf(parameter, sizeof parameter, "%s_scales", name);
    stack->rows.scales = graft_build_weight(build, parameter, &status, error);
    (void)snprintf(parameter, sizeof parameter, "%s_bias", name);
    stack->bias = build->weight(build->data, parameter); /* or NULL */
    return status;
}

/* [any] Items of a job, the last of which may lack rows. */
GRAFT_INLINE int64_t graft_packed_stack_items(const struct graft_packed_stack_work *work) {
    return graft_packed_rows_blocks(work->jobs->rows->out_features, work->unit);
}

/* [any] A body: items [begin, end) of all jobs, one behind the other, times the tokens of each. */
GRAFT_INLINE void graft_packed_stack_multiply(void *data, int64_t begin, int64_t end) {
    const struct graft_packed_stack_work *work = (const struct graft_packed_stack_work *)data;
    const int64_t items = graft_packed_stack_items(work);
    while (begin < end) {
        const struct graft_packed_stack_job *job = &work->jobs[begin / items];
        const struct graft_packed_rows *rows = job->rows;
        const int64_t at = begin % items, n_items = graft_packed_left(items, at, end - begin);
        const int64_t row = at * work->unit, n = graft_packed_left(rows->out_features, row, n_items * work->unit);
        if (job->how != NULL) {
            job->how->multiply(rows, job->first + row, n, job->inputs, job->tokens, job->y + row);
        } else {
            rows->loops->multiply(rows, job->first + row, n, job->x, job->tokens, job->y + row);
        }
        begin += n_items;
    }
}

/* [any] As graft_panels has it: rows of a job. */
GRAFT_INLINE void graft_packed_stack_widen(const void *data, int64_t first, int64_t n, graft_dtype dtype, void *out) {
    const struct graft_packed_stack_job *job = (const struct graft_packed_stack_job *)data;
    job->rows->loops->widen(job->rows, job->first + first, n, dtype, out);
}

/* [any] Likewise. */
GRAFT_INLINE void graft_packed_stack_turn(const void *data, const struct graft_turned_portion *portion) {
    const struct graft_packed_stack_job *job = (const struct graft_packed_stack_job *)data;
    struct graft_turned_portion shifted = *portion;
    shifted.row += job->first;
    job->rows->loops->turn(job->rows, &shifted);
}

/* [forward] Many tokens of an expert, with portions or panels of the weight. */
GRAFT_INLINE int graft_packed_stack_many(const struct graft_call *call, const struct graft_packed_stack_job *job,
                                         struct graft_error *error) {
    const int64_t mark = call->scratch_mark(call->scratch);
    struct graft_panels panels;
    panels.weight = job;
    panels.rows = job->rows->out_features;
    panels.columns = job->rows->in_features;
    panels.unit = 1;
    panels.widen = graft_packed_stack_widen;
    panels.turn = graft_packed_rows_turns(job->rows) ? graft_packed_stack_turn : NULL;
    int status = graft_panels_multiply(&panels, call, job->x, job->tokens, job->y, error);
    call->scratch_release(call->scratch, mark);
    return status;
}

/* [forward] y [tokens, rows] += bias of the run's expert, if there is one. `bias` is room for `rows` floats. */
GRAFT_INLINE int graft_packed_stack_add_bias(const struct graft_packed_stack *stack, const struct graft_call *call,
                                             const struct graft_packed_run *run, float *bias, float *y,
                                             struct graft_error *error) {
    const int32_t expert = (int32_t)run->expert;
    const int64_t rows = stack->rows.out_features;
    int status = GRAFT_OK;
    if (stack->bias == NULL) {
        return GRAFT_OK;
    }
    status = call->kernels->embedding(call, stack->bias, &expert, 1, bias, error); /* a row of a table */
    for (int64_t t = 0; t < run->tokens && status == GRAFT_OK; t++) {
        for (int64_t r = 0; r < rows; r++) {
            y[(run->first + t) * rows + r] += bias[r];
        }
    }
    return status;
}

/* [any] A body: the inputs of jobs [begin, end). */
GRAFT_INLINE void graft_packed_stack_prepare(void *data, int64_t begin, int64_t end) {
    const struct graft_packed_stack_work *work = (const struct graft_packed_stack_work *)data;
    for (int64_t i = begin; i < end; i++) {
        const struct graft_packed_stack_job *job = &work->jobs[i];
        for (int64_t t = 0; t < job->tokens; t++) {
            job->how->prepare(job->rows, job->x + t * job->rows->in_features, job->inputs + t * job->size);
        }
    }
}

/* [forward] Jobs of few tokens, or of many whose inputs are prepared: these, if they are to be, then all rows. */
GRAFT_INLINE int graft_packed_stack_jobs(const struct graft_call *call, struct graft_packed_stack_job *jobs, int64_t n,
                                         int is_few, struct graft_error *error) {
    struct graft_packed_stack_work work;
    work.jobs = jobs;
    work.unit = is_few ? 1 : GRAFT_PACKED_PANEL;
    for (int64_t i = 0; i < n && jobs->how != NULL; i++) {
        const int64_t floats = jobs[i].size / (int64_t)sizeof(float);
        jobs[i].inputs = (char *)graft_scratch_floats(call, jobs[i].tokens, floats, error);
        if (jobs[i].inputs == NULL) {
            return GRAFT_ERROR_INTERNAL;
        }
    }
    if (jobs->how != NULL) {
        call->threads->parallel_for(n, is_few ? 4 : 1, graft_packed_stack_prepare, &work);
    }
    call->threads->parallel_for(n * graft_packed_stack_items(&work), is_few ? GRAFT_PACKED_STACK_GRAIN : 1,
                                graft_packed_stack_multiply, &work);
    return GRAFT_OK;
}

/* [forward] The job of a run: y [tokens, rows] = W x, where x and y are those of all runs. */
GRAFT_INLINE struct graft_packed_stack_job graft_packed_stack_job_of(const struct graft_packed_stack *stack,
                                                                     const struct graft_call *call,
                                                                     const struct graft_packed_run *run, const float *x,
                                                                     float *y) {
    const struct graft_packed_rows *rows = &stack->rows;
    struct graft_packed_stack_job job;
    job.rows = rows;
    job.how = graft_packed_rows_how(rows, call, run->tokens);
    job.first = run->expert * rows->out_features;
    job.x = x + run->first * rows->in_features;
    job.tokens = run->tokens;
    job.y = y + run->first * rows->out_features;
    job.inputs = NULL;
    job.size = job.how != NULL ? job.how->size(rows) : 0;
    return job;
}

/* [forward] y [n, rows] = W x + bias, x [n, columns], with the expert of each run. */
GRAFT_INLINE int graft_packed_stack_forward(const struct graft_packed_stack *stack, const struct graft_call *call,
                                            const struct graft_packed_routed *routed, const float *x, float *y,
                                            struct graft_error *error) {
    const int64_t mark = call->scratch_mark(call->scratch);
    struct graft_packed_stack_job *jobs =
        (struct graft_packed_stack_job *)call->scratch_alloc(call->scratch, routed->n_runs * (int64_t)sizeof *jobs);
    float *bias = graft_scratch_floats(call, stack->rows.out_features, 1, error);
    const int is_few = graft_call_is_few(call, routed->runs->tokens); /* as all runs of a forward */
    int64_t n = 0;
    int status = jobs != NULL && bias != NULL ? GRAFT_OK : graft_fail_memory(error, "experts");
    for (int64_t i = 0; i < routed->n_runs && status == GRAFT_OK; i++) {
        jobs[n] = graft_packed_stack_job_of(stack, call, &routed->runs[i], x, y);
        if (is_few || jobs[n].how != NULL) {
            n++;
        } else {
            status = graft_packed_stack_many(call, &jobs[n], error);
        }
    }
    if (status == GRAFT_OK && n > 0) {
        status = graft_packed_stack_jobs(call, jobs, n, is_few, error);
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
    const int64_t columns = self->down.rows.in_features;
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
    return self->act_fn != NULL
               ? graft_activation_gate(self->act_fn, call, gate, up, n, self->down.rows.in_features, error)
               : graft_swiglu_gate(&swiglu, call, gate, up, n, self->down.rows.in_features, error);
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
    const int64_t hidden = self->down.rows.out_features, columns = self->down.rows.in_features, n = routed->n;
    const int64_t mark = call->scratch_mark(call->scratch);
    float *both =
        graft_scratch_floats(call, n, self->gate_up.rows.out_features, error); /* [n, 2 * intermediate_size] */
    float *up = graft_scratch_floats(call, n, columns, error);                 /* [n, intermediate_size] */
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
    const int64_t hidden = self->down.rows.out_features, columns = self->down.rows.in_features, n = routed->n;
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
    memset(args->output, 0, (size_t)(args->tokens * self->down.rows.out_features) * sizeof(float));
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
