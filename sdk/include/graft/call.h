/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What every forward is given beside its arguments: the arithmetic asked for, kernels, threads, and scratch memory.
 */
#ifndef GRAFT_CALL_H
#define GRAFT_CALL_H

#include "abi.h"
#include "batch.h"
#include "error.h"
#include "threads.h"

#ifdef __cplusplus
extern "C" {
#endif

struct graft_attention_implementation;
struct graft_batch;
struct graft_experts_implementation;
struct graft_kernels;
struct graft_module;
struct graft_scratch;
struct graft_state;

/* How products with weights are computed (`--dtype`). Sums and everything else are f32 throughout. */
enum {
    GRAFT_PRECISION_AUTO = 0,    /* with bf16 weights both factors are bf16; with others both are f32 */
    GRAFT_PRECISION_FLOAT32 = 1, /* weights are widened to f32 inside the product */
    GRAFT_PRECISION_BFLOAT16 = 2 /* both factors are rounded to bf16, whatever the weight's type */
};

/* Lives as long as the forward it was given to. */
struct graft_call {
    uint32_t struct_size;
    int32_t precision;                   /* GRAFT_PRECISION_... */
    const struct graft_kernels *kernels; /* graft.kernels/1 */
    const struct graft_threads *threads; /* graft.threads/1 */
    /* What was chosen by name (attention_implementation.h), and is run by kernels->attention; NULL: nothing. */
    const struct graft_attention_implementation *attention;
    /* `attention` where the user asked for it by its name, or for its weights; else NULL. A class may hand its children
     * a copy of the call with another `attention`, but where this is not NULL kernels->attention refuses that. */
    const struct graft_attention_implementation *asked_attention;
    /* The same for kernels->experts (experts_implementation.h). */
    const struct graft_experts_implementation *experts;
    /* How many tokens this module's rows are taken from, where it is given some of them, as an expert is; 0: its rows
     * are all there are. What computes many tokens in another way than few asks graft_call_is_small_batch, which counts
     * these: so a token's results do not depend on how many others go the same way. graft_call_route sets it. */
    int64_t among;
    /* Which adapter takes effect on each row that this module is given; NULL: all of them on all rows. A class that
     * hands its children other rows than its own, as heads and experts do, hands them the call of graft_call_gather or
     * graft_call_route. */
    const struct graft_row_adapters *row_adapters;
    /* [forward] What graft_state_get calls (state.h). */
    void *(*state)(const struct graft_call *call, const struct graft_batch *batch, const struct graft_state *state,
                   int32_t sequence, struct graft_error *error);
    struct graft_scratch *scratch; /* the host's; to be handed back to the functions below */
    /* [forward] `bytes` of uninitialised memory on a 64-byte boundary, valid until the forward that asked returns;
     * NULL when memory ran out. Not to be called inside a parallel_for body. */
    void *(*scratch_alloc)(struct graft_scratch *scratch, int64_t bytes);
    /* [forward] A position in the scratch memory. */
    int64_t (*scratch_mark)(const struct graft_scratch *scratch);
    /* [forward] Goes back to it: what was taken since is free. The forward helpers of the interface headers do this
     * around each call of a child. */
    void (*scratch_release)(struct graft_scratch *scratch, int64_t mark);
    /* Where the host looks for the module whose forward runs on this thread, should the process crash; NULL: nowhere.
     * graft_module_enter and graft_module_leave (module.h) write it. */
    const struct graft_module **running;
};

GRAFT_ASSERT_SIZE(struct graft_call, 112);

/* [any] Whether `tokens` rows that a module is given are to be computed as a few are: there are no more than
 * GRAFT_SMALL_BATCH (batch.h), nor are they taken from more. */
GRAFT_INLINE int graft_call_is_small_batch(const struct graft_call *call, int64_t tokens) {
    return tokens <= GRAFT_SMALL_BATCH && call->among <= GRAFT_SMALL_BATCH;
}

/* [forward] The call for products with some of `tokens` rows: `call` itself where it says what rows are taken from,
 * else `space` filled in. */
GRAFT_INLINE const struct graft_call *graft_call_among(const struct graft_call *call, int64_t tokens,
                                                       struct graft_call *space) {
    if (call->among > 0) {
        return call;
    }
    graft_struct_copy(space, sizeof *space, call);
    space->among = tokens;
    return space;
}

/* [forward] Scratch for rows * columns floats; on failure NULL, with an error recorded. */
GRAFT_INLINE float *graft_scratch_floats(const struct graft_call *call, int64_t rows, int64_t columns,
                                         struct graft_error *error) {
    float *floats = NULL;
    if (rows >= 0 && columns >= 0 && (columns == 0 || rows <= INT64_MAX / 4 / columns)) {
        floats = (float *)call->scratch_alloc(call->scratch, rows * columns * 4);
    }
    if (floats == NULL) {
        (void)graft_error_set(error, GRAFT_ERROR_INTERNAL, "", "out of memory: %lld x %lld floats of scratch",
                              (long long)rows, (long long)columns);
    }
    return floats;
}

/* [forward] Scratch for `count` 32-bit integers; on failure NULL, with an error recorded. */
GRAFT_INLINE int32_t *graft_scratch_ints(const struct graft_call *call, int64_t count, struct graft_error *error) {
    return (int32_t *)(void *)graft_scratch_floats(call, count, 1, error);
}

/* [forward] Scratch of `bytes` zeros; on failure NULL, with an error recorded. */
GRAFT_INLINE void *graft_scratch_zeroed(const struct graft_call *call, int64_t bytes, struct graft_error *error) {
    void *memory = call->scratch_alloc(call->scratch, bytes);
    if (memory == NULL) {
        (void)graft_fail_memory(error, "");
        return NULL;
    }
    memset(memory, 0, (size_t)bytes);
    return memory;
}

/* Space for a call that graft_call_gather makes; of the plugin's own, so that it holds structs by value. */
struct graft_gathered_call {
    struct graft_call call;                 /* the other one, but for its row_adapters and `among` */
    struct graft_row_adapters row_adapters; /* of the rows taken out */
};

GRAFT_ASSERT_SIZE(struct graft_gathered_call, 136);

/* [forward] The call for children that are given `n` rows, those numbered `rows` [n] of what this module was given:
 * `call` itself where rows do not differ, else `space` filled in. NULL on failure, with an error recorded. */
GRAFT_INLINE const struct graft_call *graft_call_gather(const struct graft_call *call, const int32_t *rows, int64_t n,
                                                        struct graft_gathered_call *space, struct graft_error *error) {
    const struct graft_row_adapters *own = call->row_adapters;
    if (own == NULL || own->adapters == NULL) {
        return call;
    }
    int32_t *adapters = graft_scratch_ints(call, n, error);
    if (adapters == NULL) {
        return NULL;
    }
    for (int64_t i = 0; i < n; i++) {
        adapters[i] = own->adapters[rows[i]];
    }
    memset(&space->row_adapters, 0, sizeof space->row_adapters);
    space->row_adapters.struct_size = (uint32_t)sizeof space->row_adapters;
    space->row_adapters.rows = n;
    space->row_adapters.adapters = adapters;
    graft_struct_copy(&space->call, sizeof space->call, call);
    space->call.row_adapters = &space->row_adapters;
    return &space->call;
}

/* [forward] The same for children that compute each row by itself, of `tokens` rows that this module was given:
 * experts. Their products are those of few tokens or of many as this module's would be, however many rows they are
 * given. */
GRAFT_INLINE const struct graft_call *graft_call_route(const struct graft_call *call, int64_t tokens,
                                                       const int32_t *rows, int64_t n,
                                                       struct graft_gathered_call *space, struct graft_error *error) {
    const struct graft_call *gathered = graft_call_gather(call, rows, n, space, error);
    if (gathered != &space->call) {
        return gathered != NULL ? graft_call_among(call, tokens, &space->call) : NULL;
    }
    if (gathered->among == 0) {
        space->call.among = tokens;
    }
    return gathered;
}

#ifdef __cplusplus
}
#endif

#endif
