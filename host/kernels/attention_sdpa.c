/* SPDX-License-Identifier: Apache-2.0 */
/* graft_attention_sdpa: divides the work into items and runs them on the threads. */
#include "kernels/attention.h"
#include "kernels/kernels.h"
#include "kernels/threads.h"

/* The maximum number of heads of one query in an item, all of which share a key/value head: with that many, multiplying
 * keys takes longer than reading them, so that further heads are better left to another thread. */
enum { DIRECT_HEADS = 8 };

struct work {
    const struct graft_loops *loops;
    const struct graft_attention_input *input;
    struct graft_attention_item *items;
    int64_t n_items;
    char *scratch; /* [workers, scratch_bytes] */
    int64_t scratch_bytes;
};

static int is_direct(const struct graft_attention_sequence *sequence) {
    return sequence->tokens > 0 && sequence->tokens <= GRAFT_SMALL_BATCH;
}

static int64_t smaller(int64_t a, int64_t b) {
    return a < b ? a : b;
}

/* Fills the items of one sequence, or only counts them if `items` is NULL. Later queries see more keys and come first,
 * so that threads finish at the same time. */
static int64_t cut(const struct graft_attention_input *input, const struct graft_attention_sequence *sequence,
                   struct graft_attention_item *items) {
    int64_t most = is_direct(sequence) ? sequence->tokens : graft_attention_block_queries(input);
    int64_t blocks = (sequence->tokens + most - 1) / most;
    int64_t group = graft_attention_group(input);
    int64_t heads = is_direct(sequence) ? smaller(group, DIRECT_HEADS) : group;
    int64_t parts = (group + heads - 1) / heads; /* items for each group */
    int64_t row = input->kv_heads * parts;       /* items of one block */
    for (int64_t i = 0; items != NULL && i < blocks * row; i++) {
        int64_t first = (blocks - 1 - i / row) * most;
        int64_t kv_head = i % row / parts;
        int64_t begin = i % parts * heads;
        items[i] = (struct graft_attention_item){
            .sequence = sequence,
            .kv_head = kv_head,
            .head = kv_head * group + begin,
            .heads = smaller(group - begin, heads),
            .first = first,
            .queries = smaller(sequence->tokens - first, most),
        };
    }
    return blocks * row;
}

static int64_t larger(int64_t a, int64_t b) {
    return a > b ? a : b;
}

static int prepare(const struct graft_call *call, struct work *work, struct graft_error *error) {
    const struct graft_attention_input *input = work->input;
    int64_t n_items = 0;
    for (int32_t s = 0; s < input->n_sequences; s++) {
        n_items += cut(input, graft_attention_sequence_at(input, s), NULL);
    }
    int64_t bytes = larger(graft_attention_block_scratch(work->loops, input), graft_attention_direct_scratch(input));
    work->scratch_bytes = (bytes + 63) / 64 * 64;
    work->items =
        (struct graft_attention_item *)call->scratch_alloc(call->scratch, n_items * (int64_t)sizeof *work->items);
    work->scratch = (char *)call->scratch_alloc(call->scratch, work->scratch_bytes * graft_threads_workers());
    if (work->items == NULL || work->scratch == NULL) {
        return graft_fail_memory(error, "");
    }
    for (int32_t s = 0; s < input->n_sequences; s++) {
        work->n_items += cut(input, graft_attention_sequence_at(input, s), work->items + work->n_items);
    }
    return GRAFT_OK;
}

static void run_items(void *data, int32_t worker, int64_t begin, int64_t end) {
    const struct work *work = (const struct work *)data;
    float *scratch = (float *)(void *)(work->scratch + worker * work->scratch_bytes);
    for (int64_t i = begin; i < end; i++) {
        if (is_direct(work->items[i].sequence)) {
            graft_attention_direct_run(work->loops, work->input, &work->items[i], scratch);
        } else {
            graft_attention_block_run(work->loops, work->input, &work->items[i], scratch);
        }
    }
}

static int forward(const struct graft_attention_implementation *self, const struct graft_call *call,
                   const struct graft_attention_input *input, struct graft_error *error) {
    struct work work = {.loops = graft_loops_get(), .input = input};
    (void)self;
    int status = prepare(call, &work, error);
    if (status == GRAFT_OK) {
        int64_t grain = graft_attention_work(input) < GRAFT_ATTENTION_SERIAL_WORK ? work.n_items : 1;
        graft_threads_for_workers(work.n_items, grain, run_items, &work);
    }
    return status;
}

const struct graft_attention_implementation graft_attention_sdpa = {
    .struct_size = sizeof graft_attention_sdpa,
    .flags = GRAFT_ATTENTION_READS_BF16,
    .name = "sdpa",
    .masks = GRAFT_ATTENTION_ALL_MASKS,
    .features = GRAFT_ATTENTION_ALL_FEATURES,
    .forward = forward,
};
