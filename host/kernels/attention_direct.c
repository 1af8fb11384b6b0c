/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <string.h>

#include "base/dtype.h"
#include "kernels/attention_block.h"
#include "kernels/kernels.h"

/* Keys in a portion: few enough that prefetched keys and values are still in the cache when they are read. */
enum { KEYS = 128 };

/* One query, with heads that share a key/value head. */
struct direct {
    const struct graft_loops *loops;
    const struct graft_attention_input *input;
    const struct graft_attention_item *item;
    int64_t token; /* the query's row in the batch */
    int64_t position;
    int64_t first_key; /* the query sees keys [first_key, end_key) */
    int64_t end_key;
    float *q;       /* [heads, head_dim], scaled */
    float *scores;  /* [heads, KEYS] */
    float *out;     /* [heads, v_head_dim], not yet divided by the sum */
    float *maximum; /* [heads] */
    float *sum;     /* [heads] */
};

/* The scratch memory of one query, in floats. */
static int64_t scratch_floats(const struct graft_attention_input *input) {
    return graft_attention_group(input) * (input->head_dim + input->v_head_dim + KEYS + 2);
}

int64_t graft_attention_direct_scratch(const struct graft_attention_input *input) {
    return GRAFT_SMALL_BATCH * scratch_floats(input) * (int64_t)sizeof(float);
}

static void start(struct direct *direct, int64_t query, float *scratch) {
    const struct graft_attention_input *input = direct->input;
    int64_t head_dim = input->head_dim;
    const struct graft_attention_sequence *sequence = direct->item->sequence;
    int64_t position = sequence->past + query;
    direct->token = sequence->first_token + query;
    direct->position = position;
    direct->first_key = graft_attention_first_key(input->mask, position);
    direct->end_key = graft_attention_end_key(input->mask, position, sequence->length);
    const float *q = input->q + direct->token * input->q_stride + direct->item->head * input->q_head_stride;
    direct->q = scratch;
    direct->out = direct->q + direct->item->heads * head_dim;
    direct->scores = direct->out + direct->item->heads * input->v_head_dim;
    direct->maximum = direct->scores + direct->item->heads * KEYS;
    direct->sum = direct->maximum + direct->item->heads;
    memset(direct->out, 0, (size_t)(direct->item->heads * input->v_head_dim) * sizeof(float));
    for (int64_t g = 0; g < direct->item->heads; g++) {
        for (int64_t d = 0; d < head_dim; d++) {
            direct->q[g * head_dim + d] = q[g * input->q_head_stride + d] * input->scaling;
        }
        direct->maximum[g] = -INFINITY;
        direct->sum[g] = 0.0f;
    }
}

/* Turns scores into exp(score - maximum) and rescales earlier sums to a new maximum. As long as all scores were -inf
 * nothing is subtracted, since -inf - -inf is NaN. */
static void weigh(struct direct *direct, int64_t g, const float *bias, int64_t first_key, int64_t keys) {
    const struct graft_loops *loops = direct->loops;
    float *scores = direct->scores + g * KEYS;
    graft_attention_cap(loops, direct->input, scores, keys);
    graft_attention_add_alibi(direct->input, direct->item->head + g, first_key, keys, scores);
    graft_attention_add_relative(loops, direct->input, direct->item->head + g, direct->position, first_key, keys,
                                 scores);
    if (bias != NULL) {
        loops->add_scaled(scores, 1.0f, bias, keys);
    }
    float before = direct->maximum[g];
    float now = loops->maximum(scores, keys);
    now = now > before ? now : before;
    float shift = now == -INFINITY ? 0.0f : now;
    float factor = expf(before - shift);
    direct->maximum[g] = now;
    direct->sum[g] = direct->sum[g] * factor + loops->exp_sum(scores, shift, keys);
    if (factor != 1.0f) {
        loops->scale(direct->out + g * direct->input->v_head_dim, factor, direct->input->v_head_dim);
    }
}

static void finish(const struct direct *direct) {
    const struct graft_attention_input *input = direct->input;
    int64_t width = input->v_head_dim;
    int64_t head = direct->item->head;
    float *output = input->output + direct->token * input->output_stride + head * width;
    for (int64_t g = 0; g < direct->item->heads; g++) {
        float factor = graft_attention_factor(input, head + g, direct->maximum[g], direct->sum[g]);
        for (int64_t i = 0; i < width; i++) {
            output[g * width + i] = direct->out[g * width + i] * factor;
        }
    }
}

static const char *keys_at(const struct direct *direct, int64_t kv_head, int64_t j) {
    const struct graft_attention_sequence *sequence = direct->item->sequence;
    int64_t number = kv_head * sequence->key_head_stride + j * sequence->key_row_stride;
    return (const char *)(const void *)sequence->keys + number * graft_dtype_size(sequence->dtype);
}

static const char *values_at(const struct direct *direct, int64_t j) {
    const struct graft_attention_sequence *sequence = direct->item->sequence;
    int64_t number = direct->item->kv_head * sequence->value_head_stride + j * sequence->value_row_stride;
    return (const char *)(const void *)sequence->values + number * graft_dtype_size(sequence->dtype);
}

/* The address of the keys after key j of the item's head, or of the next head's keys, which this thread mostly reads
 * next; NULL after the last head. */
static const char *keys_after(const struct direct *direct, int64_t j) {
    int64_t kv_head = direct->item->kv_head;
    if (j + 1 < direct->end_key) {
        return keys_at(direct, kv_head, j + 1);
    }
    return kv_head + 1 < direct->input->kv_heads ? keys_at(direct, kv_head + 1, direct->first_key) : NULL;
}

/* Processes portion `index` of the keys that the query sees. The data needed next are prefetched: the values while keys
 * are multiplied, then the keys of the next portion. */
static void run_portion(struct direct *direct, int64_t index) {
    const struct graft_loops *loops = direct->loops;
    const struct graft_attention_input *input = direct->input;
    const struct graft_attention_sequence *sequence = direct->item->sequence;
    int64_t j = direct->first_key + index * KEYS;
    int64_t n = direct->end_key - j < KEYS ? direct->end_key - j : KEYS;
    if (n <= 0) {
        return;
    }
    const char *values = values_at(direct, j);
    int32_t reading = graft_reading_of(sequence->dtype);
    loops->dot(reading, keys_at(direct, direct->item->kv_head, j), sequence->key_row_stride, n, input->head_dim,
               direct->q, input->head_dim, direct->item->heads, direct->scores, KEYS, values);
    for (int64_t g = 0; g < direct->item->heads; g++) {
        const float *bias = graft_mask_bias(input->mask, direct->item->head + g, direct->token);
        weigh(direct, g, bias != NULL ? bias + j : NULL, j, n);
    }
    loops->multiply(direct->scores, KEYS, 1, direct->item->heads, reading, values, sequence->value_row_stride, n,
                    input->v_head_dim, direct->out, input->v_head_dim, keys_after(direct, j + n - 1));
}

/* Each portion is read once for all queries, while it is in the cache. */
void graft_attention_direct_run(const struct graft_loops *loops, const struct graft_attention_input *input,
                                const struct graft_attention_item *item, float *scratch) {
    struct direct queries[GRAFT_SMALL_BATCH];
    int64_t longest = 0;
    for (int64_t i = 0; i < item->queries; i++) {
        struct direct *direct = &queries[i];
        *direct = (struct direct){.loops = loops, .input = input, .item = item};
        start(direct, item->first + i, scratch + i * scratch_floats(input));
        int64_t keys = direct->end_key - direct->first_key;
        longest = keys > longest ? keys : longest;
    }
    for (int64_t index = 0; index * KEYS < longest; index++) {
        for (int64_t i = 0; i < item->queries; i++) {
            run_portion(&queries[i], index);
        }
    }
    for (int64_t i = 0; i < item->queries; i++) {
        finish(&queries[i]);
    }
}
