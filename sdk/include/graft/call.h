/* SPDX-License-Identifier: Apache-2.0 */
/* What every forward gets besides its arguments: the requested arithmetic, kernels, threads, and scratch memory. */
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

/* How products with weights are computed (`--dtype`). Sums and everything else are always f32. */
enum {
    GRAFT_PRECISION_AUTO = 0,    /* with bf16 weights both factors are bf16; with other weights both are f32 */
    GRAFT_PRECISION_FLOAT32 = 1, /* weights are widened to f32 inside the product */
    GRAFT_PRECISION_BFLOAT16 = 2 /* both factors are rounded to bf16, whatever the weight's type */
};

/* Valid during the forward that it is passed to. */
struct graft_call {
    uint32_t struct_size;
    int32_t precision;                   /* GRAFT_PRECISION_... */
    const struct graft_kernels *kernels; /* graft.kernels/1 */
    const struct graft_threads *threads; /* graft.threads/1 */
    /* The attention that was chosen by name (attention_implementation.h), which kernels->attention runs; NULL: none. */
    const struct graft_attention_implementation *attention;
    /* The same as `attention` if the user chose it by name or asked for its weights; else NULL. A class may pass its
     * children a copy of the call with another `attention`, but if this is not NULL, kernels->attention refuses that.
     */
    const struct graft_attention_implementation *asked_attention;
    /* The experts that were chosen by name (experts_implementation.h), which kernels->experts runs; NULL: none. */
    const struct graft_experts_implementation *experts;
    /* If this module is given only some of the tokens' rows, as an expert is: the number of all tokens; else 0. Modules
     * that compute many tokens differently from few use graft_call_is_small_batch, which counts these, so that a
     * token's result does not depend on how many others are routed to the same expert. Set by graft_call_route. */
    int64_t among;
    /* The adapter of each row that this module is given; NULL: all adapters for all rows. A class that passes its
     * children other rows than its own, as heads and experts do, passes the call that graft_call_gather or
     * graft_call_route makes. */
    const struct graft_row_adapters *row_adapters;
    /* [forward] Called by graft_state_get (state.h). */
    void *(*state)(const struct graft_call *call, const struct graft_batch *batch, const struct graft_state *state,
                   int32_t sequence, struct graft_error *error);
    struct graft_scratch *scratch; /* the host's; passed back to the functions below */
    /* [forward] `bytes` of uninitialised memory on a 64-byte boundary, valid until the forward that asked for it
     * returns; NULL if memory ran out. Must not be called in the body of a parallel_for. */
    void *(*scratch_alloc)(struct graft_scratch *scratch, int64_t bytes);
    /* [forward] The current position in the scratch memory. */
    int64_t (*scratch_mark)(const struct graft_scratch *scratch);
    /* [forward] Frees the scratch memory taken since that position. The forward helpers of the interface headers do
     * this around each call of a child. */
    void (*scratch_release)(struct graft_scratch *scratch, int64_t mark);
    /* The module whose forward runs on this thread, where the host looks if the process crashes; NULL: not tracked.
     * Written by graft_module_enter and graft_module_leave (module.h). */
    const struct graft_module **running;
};

GRAFT_ASSERT_SIZE(struct graft_call, 112);

/* [any] Whether a module that is given `tokens` rows has to compute them as a small batch: they are at most
 * GRAFT_SMALL_BATCH (batch.h), and so are the tokens that they were taken from. */
GRAFT_INLINE int graft_call_is_small_batch(const struct graft_call *call, int64_t tokens) {
    return tokens <= GRAFT_SMALL_BATCH && call->among <= GRAFT_SMALL_BATCH;
}

/* [forward] Returns a call for products with only some of `tokens` rows: `call` itself if its `among` is set, otherwise
 * `space`, filled in as a copy of `call` with `among` set. */
GRAFT_INLINE const struct graft_call *graft_call_among(const struct graft_call *call, int64_t tokens,
                                                       struct graft_call *space) {
    if (call->among > 0) {
        return call;
    }
    graft_struct_copy(space, sizeof *space, call);
    space->among = tokens;
    return space;
}

/* [forward] Scratch memory for rows * columns floats; on failure NULL, with an error recorded. */
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

/* [forward] Scratch memory for `count` 32-bit integers; on failure NULL, with an error recorded. */
GRAFT_INLINE int32_t *graft_scratch_ints(const struct graft_call *call, int64_t count, struct graft_error *error) {
    return (int32_t *)(void *)graft_scratch_floats(call, count, 1, error);
}

/* [forward] `bytes` of scratch memory, zeroed; on failure NULL, with an error recorded. */
GRAFT_INLINE void *graft_scratch_zeroed(const struct graft_call *call, int64_t bytes, struct graft_error *error) {
    void *memory = call->scratch_alloc(call->scratch, bytes);
    if (memory == NULL) {
        (void)graft_fail_memory(error, "");
        return NULL;
    }
    memset(memory, 0, (size_t)bytes);
    return memory;
}

/* Memory for the call that graft_call_gather makes. The plugin allocates it, so it holds structs by value. */
struct graft_gathered_call {
    struct graft_call call;                 /* a copy of the original call, but for row_adapters and `among` */
    struct graft_row_adapters row_adapters; /* of the selected rows */
};

GRAFT_ASSERT_SIZE(struct graft_gathered_call, 136);

/* [forward] The call for children that are given `n` of this module's rows, rows[0] to rows[n - 1]: `call` itself if
 * all rows have the same adapter, else `space`, filled in. NULL on failure, with an error recorded. */
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

/* [forward] The same for children such as experts, which compute each row by itself, of the `tokens` rows that this
 * module was given. Their products are computed as a small batch if this module's are, however few rows each child is
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
