/* SPDX-License-Identifier: Apache-2.0 */
/* Attention: appends to the cache, cuts the work into items, and hands them to the threads. */
#include "kernels/attention.h"

#include "kernels/parallel.h"
#include "kernels/table.h"

/* Multiplications below which a second thread costs more than it brings. */
enum { SERIAL_WORK = 1 << 17 };

struct work {
    const struct graft_loops *loops;
    const struct graft_attention_args *args;
    struct graft_attention_sequence *sequences; /* [batch->sequences] */
    struct graft_attention_item *items;
    int64_t n_items;
    int64_t multiplications; /* about */
    char *scratch;           /* [workers, scratch_bytes] */
    int64_t scratch_bytes;
};

static int check(const struct graft_attention_args *args, struct graft_error *error) {
    const struct graft_mask *mask = args->mask;
    if (args->heads <= 0 || args->kv_heads <= 0 || args->heads % args->kv_heads != 0 || args->head_dim <= 0) {
        return graft_error_set(error, GRAFT_ERROR_INTERNAL, "",
                               "attention with %lld heads of %lld numbers on %lld key/value heads",
                               (long long)args->heads, (long long)args->head_dim, (long long)args->kv_heads);
    }
    if (mask->kind < GRAFT_MASK_NONE || mask->kind > GRAFT_MASK_DENSE ||
        (mask->kind == GRAFT_MASK_SLIDING && mask->window <= 0) ||
        (mask->kind == GRAFT_MASK_DENSE && mask->bias == NULL)) {
        return graft_error_set(error, GRAFT_ERROR_INTERNAL, "", "attention with a mask of kind %d and window %lld",
                               (int)mask->kind, (long long)mask->window);
    }
    return GRAFT_OK;
}

/* Finds the keys and values of one sequence: in the cache, where its new ones are appended, or in the arguments. */
static int find_keys(const struct graft_attention_args *args, int32_t index, struct graft_attention_sequence *sequence,
                     struct graft_error *error) {
    const struct graft_batch *batch = args->batch;
    int64_t first = batch->cu_seqlens[index];
    int64_t tokens = batch->cu_seqlens[index + 1] - first;
    const float *k = args->k + first * args->k_stride;
    const float *v = args->v + first * args->v_stride;
    sequence->first_token = first;
    sequence->tokens = tokens;
    if (batch->cache == NULL || tokens == 0) {
        sequence->view.keys = (struct graft_kv_rows){k, args->head_dim, args->k_stride};
        sequence->view.values = (struct graft_kv_rows){v, args->head_dim, args->v_stride};
        sequence->view.length = tokens;
        sequence->past = 0;
        return GRAFT_OK;
    }
    struct graft_kv_new added = {
        k, v, args->k_stride, args->v_stride, tokens, args->kv_heads, args->head_dim, batch->positions[first]};
    int status = graft_kv_cache_append(batch->cache, args->layer, batch->slots[index], &added, &sequence->view, error);
    sequence->past = sequence->view.length - tokens;
    return status;
}

/* Fills the items of one sequence, or only counts them if `items` is NULL. Later queries may have more keys to see;
 * they come first, so that the threads end together. */
static int64_t cut(const struct graft_attention_args *args, const struct graft_attention_sequence *sequence,
                   struct graft_attention_item *items) {
    int64_t most = graft_attention_block_queries(args);
    int64_t blocks = (sequence->tokens + most - 1) / most;
    if (items != NULL) {
        for (int64_t i = 0; i < blocks * args->kv_heads; i++) {
            int64_t first = (blocks - 1 - i / args->kv_heads) * most;
            int64_t left = sequence->tokens - first;
            items[i] = (struct graft_attention_item){sequence, i % args->kv_heads, first, left < most ? left : most};
        }
    }
    return blocks * args->kv_heads;
}

static int64_t larger(int64_t a, int64_t b) {
    return a > b ? a : b;
}

static int out_of_memory(struct graft_error *error) {
    return graft_error_set(error, GRAFT_ERROR_INTERNAL, "", "out of memory while preparing attention");
}

static int prepare(const struct graft_call *call, struct work *work, struct graft_error *error) {
    const struct graft_attention_args *args = work->args;
    int32_t n = args->batch->sequences;
    int64_t n_items = 0;
    work->sequences =
        (struct graft_attention_sequence *)call->scratch_alloc(call->scratch, n * (int64_t)sizeof *work->sequences);
    if (work->sequences == NULL) {
        return out_of_memory(error);
    }
    for (int32_t s = 0; s < n; s++) {
        struct graft_attention_sequence *sequence = &work->sequences[s];
        int status = find_keys(args, s, sequence, error);
        if (status != GRAFT_OK) {
            return status;
        }
        n_items += cut(args, sequence, NULL);
        work->multiplications += sequence->tokens * sequence->view.length * args->heads * args->head_dim;
    }
    int64_t floats = larger(graft_attention_block_scratch(args), graft_attention_direct_scratch(args));
    work->scratch_bytes = (floats * (int64_t)sizeof(float) + 63) / 64 * 64;
    work->items =
        (struct graft_attention_item *)call->scratch_alloc(call->scratch, n_items * (int64_t)sizeof *work->items);
    work->scratch = (char *)call->scratch_alloc(call->scratch, work->scratch_bytes * graft_parallel_workers());
    if (work->items == NULL || work->scratch == NULL) {
        return out_of_memory(error);
    }
    for (int32_t s = 0; s < n; s++) {
        work->n_items += cut(args, &work->sequences[s], work->items + work->n_items);
    }
    return GRAFT_OK;
}

static void run_items(void *data, int32_t worker, int64_t begin, int64_t end) {
    const struct work *work = (const struct work *)data;
    float *scratch = (float *)(void *)(work->scratch + worker * work->scratch_bytes);
    for (int64_t i = begin; i < end; i++) {
        if (work->items[i].sequence->tokens == 1) {
            graft_attention_direct_run(work->loops, work->args, &work->items[i], scratch);
        } else {
            graft_attention_block_run(work->loops, work->args, &work->items[i], scratch);
        }
    }
}

int graft_attention(const struct graft_call *call, const struct graft_attention_args *args, struct graft_error *error) {
    int status = check(args, error);
    if (status != GRAFT_OK) {
        return status;
    }
    struct work work = {.loops = graft_loops_get(), .args = args};
    int64_t mark = call->scratch_mark(call->scratch);
    status = prepare(call, &work, error);
    if (status == GRAFT_OK) {
        int64_t grain = work.multiplications < SERIAL_WORK ? work.n_items : 1;
        graft_parallel_for_workers(work.n_items, grain, run_items, &work);
    }
    call->scratch_release(call->scratch, mark);
    return status;
}
