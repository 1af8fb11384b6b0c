/* SPDX-License-Identifier: Apache-2.0 */
/* Attention step by step, as in its definition: all scores, softmax, the weighted sum of the values. */
#include <math.h>
#include <string.h>

#include "kernels/attention.h"
#include "kernels/threads.h"

/* Queries of one head that are computed together. */
enum { QUERIES = 32 };

struct item {
    const struct graft_attention_sequence *sequence;
    int64_t head;
    int64_t first; /* first query, counted within the sequence */
    int64_t queries;
};

struct work {
    const struct graft_loops *loops;
    const struct graft_attention_input *input;
    struct item *items;
    int64_t n_items;
    float *scores; /* [workers, QUERIES, longest] */
    int64_t longest;
};

/* Adds the mask, with `bias` [length] unless that is NULL, to scores [length] of the query at `position`. */
static void add_mask(const struct graft_mask *mask, const float *bias, int64_t position, int64_t length,
                     float *scores) {
    int64_t first = graft_attention_first_key(mask, position);
    int64_t end = graft_attention_end_key(mask, position, length);
    for (int64_t j = 0; j < length; j++) {
        if (j < first || j >= end) {
            scores[j] = -INFINITY;
        } else if (bias != NULL) {
            scores[j] += bias[j];
        }
    }
}

/* A row in which all scores are -inf has no distribution; its probabilities become 0. */
static void softmax(const struct work *work, int64_t head, float *scores, int64_t length) {
    float largest = work->loops->maximum(scores, length);
    float sum = work->loops->exp_sum(scores, largest == -INFINITY ? 0.0f : largest, length);
    work->loops->scale(scores, graft_attention_factor(work->input, head, largest, sum), length);
}

static void run_item(const struct work *work, const struct item *item, float *scores) {
    const struct graft_loops *loops = work->loops;
    const struct graft_attention_input *input = work->input;
    const struct graft_attention_sequence *sequence = item->sequence;
    int64_t kv_head = item->head / graft_attention_group(input);
    int64_t length = sequence->length;
    int64_t token = sequence->first_token + item->first;
    const float *q = input->q + token * input->q_stride + item->head * input->q_head_stride;
    const float *keys = sequence->keys + kv_head * sequence->key_head_stride;
    const float *values = sequence->values + kv_head * sequence->value_head_stride;
    float *output = input->output + token * input->output_stride + item->head * input->v_head_dim;
    if (sequence->weights != NULL) {
        scores = sequence->weights + (item->head * sequence->tokens + item->first) * length;
    }
    loops->dot(GRAFT_READ_F32, keys, sequence->key_row_stride, length, input->head_dim, q, input->q_stride,
               item->queries, scores, length, NULL);
    for (int64_t i = 0; i < item->queries; i++) {
        float *row = scores + i * length;
        loops->scale(row, input->scaling, length);
        graft_attention_cap(loops, input, row, length);
        graft_attention_add_alibi(input, item->head, 0, length, row);
        graft_attention_add_relative(loops, input, item->head, sequence->past + item->first + i, 0, length, row);
        add_mask(input->mask, graft_mask_bias(input->mask, item->head, token + i), sequence->past + item->first + i,
                 length, row);
        softmax(work, item->head, row, length);
        memset(output + i * input->output_stride, 0, (size_t)input->v_head_dim * sizeof *output);
    }
    loops->multiply(scores, length, 1, item->queries, GRAFT_READ_F32, values, sequence->value_row_stride, length,
                    input->v_head_dim, output, input->output_stride, NULL);
}

static void run_items(void *data, int32_t worker, int64_t begin, int64_t end) {
    const struct work *work = (const struct work *)data;
    for (int64_t i = begin; i < end; i++) {
        run_item(work, &work->items[i], work->scores + worker * QUERIES * work->longest);
    }
}

/* Fills the items of one sequence, or only counts them if `items` is NULL. */
static int64_t cut(const struct graft_attention_input *input, const struct graft_attention_sequence *sequence,
                   struct item *items) {
    int64_t blocks = (sequence->tokens + QUERIES - 1) / QUERIES;
    for (int64_t i = 0; items != NULL && i < blocks * input->heads; i++) {
        int64_t first = i / input->heads * QUERIES;
        int64_t left = sequence->tokens - first;
        items[i] = (struct item){sequence, i % input->heads, first, left < QUERIES ? left : QUERIES};
    }
    return blocks * input->heads;
}

static int prepare(const struct graft_call *call, struct work *work, struct graft_error *error) {
    const struct graft_attention_input *input = work->input;
    int64_t n_items = 0;
    for (int32_t s = 0; s < input->n_sequences; s++) {
        const struct graft_attention_sequence *sequence = graft_attention_sequence_at(input, s);
        n_items += cut(input, sequence, NULL);
        work->longest = sequence->length > work->longest ? sequence->length : work->longest;
    }
    work->items = (struct item *)call->scratch_alloc(call->scratch, n_items * (int64_t)sizeof *work->items);
    work->scores = graft_scratch_floats(call, graft_threads_workers() * (int64_t)QUERIES, work->longest, error);
    if (work->items == NULL || work->scores == NULL) {
        return graft_fail_memory(error, "");
    }
    for (int32_t s = 0; s < input->n_sequences; s++) {
        work->n_items += cut(input, graft_attention_sequence_at(input, s), work->items + work->n_items);
    }
    return GRAFT_OK;
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

const struct graft_attention_implementation graft_attention_eager = {
    .struct_size = sizeof graft_attention_eager,
    .flags = GRAFT_ATTENTION_GIVES_WEIGHTS,
    .name = "eager",
    .masks = GRAFT_ATTENTION_ALL_MASKS,
    .features = GRAFT_ATTENTION_ALL_FEATURES,
    .forward = forward,
};
