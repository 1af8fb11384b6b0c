/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <string.h>

#include "kernels/attention.h"

enum { KEYS = 128, COLUMNS = 64 }; /* in one portion; in one item, if the group is not larger */

struct block {
    const struct graft_loops *loops;
    const struct graft_attention_input *input;
    const struct graft_attention_item *item;
    int64_t group;
    int64_t position; /* of the first query */
    int64_t columns;  /* queries * group, rounded up to GRAFT_LANES; column i * group + g is head g of query i */
    float *q;         /* [head_dim, columns], scaled */
    float *scores;    /* [KEYS, columns] */
    float *out;       /* [v_head_dim, columns], not yet divided by the sum */
    float *maximum;   /* [columns] */
    float *sum;       /* [columns] */
    float *factor;    /* [columns] */
};

static int64_t padded(int64_t columns) {
    return (columns + GRAFT_LANES - 1) / GRAFT_LANES * GRAFT_LANES;
}

int64_t graft_attention_block_queries(const struct graft_attention_input *input) {
    int64_t group = graft_attention_group(input);
    return group < COLUMNS ? COLUMNS / group : 1;
}

int64_t graft_attention_block_scratch(const struct graft_attention_input *input) {
    int64_t columns = padded(graft_attention_block_queries(input) * graft_attention_group(input));
    return columns * (input->head_dim + input->v_head_dim + KEYS + 3);
}

static void start(struct block *block, float *scratch) {
    const struct graft_attention_input *input = block->input;
    int64_t head_dim = input->head_dim;
    int64_t columns = block->columns;
    block->q = scratch;
    block->out = block->q + head_dim * columns;
    block->scores = block->out + input->v_head_dim * columns;
    block->maximum = block->scores + KEYS * columns;
    block->sum = block->maximum + columns;
    block->factor = block->sum + columns;
    memset(block->q, 0, (size_t)(head_dim * columns) * sizeof(float));
    memset(block->out, 0, (size_t)(input->v_head_dim * columns) * sizeof(float));
    memset(block->sum, 0, (size_t)columns * sizeof(float));
    for (int64_t c = 0; c < columns; c++) {
        block->maximum[c] = -INFINITY;
    }
    for (int64_t i = 0; i < block->item->queries; i++) {
        int64_t token = block->item->sequence->first_token + block->item->first + i;
        const float *q = input->q + token * input->q_stride + block->item->head * input->q_head_stride;
        for (int64_t g = 0; g < block->group; g++) {
            for (int64_t d = 0; d < head_dim; d++) {
                block->q[d * columns + i * block->group + g] = q[g * input->q_head_stride + d] * input->scaling;
            }
        }
    }
}

static void hide_columns(float *scores, int64_t begin, int64_t end) {
    for (int64_t c = begin; c < end; c++) {
        scores[c] = -INFINITY;
    }
}

static int64_t clamped(int64_t query, int64_t queries) {
    return query < 0 ? 0 : query > queries ? queries : query;
}

/* Hides a key from the queries that do not reach it yet, and from those that have moved past it. */
static void hide(const struct block *block, int64_t first_key, int64_t keys) {
    int64_t queries = block->item->queries;
    int64_t before = graft_mask_before(block->input->mask);
    int64_t behind = graft_mask_behind(block->input->mask);
    for (int64_t j = 0; j < keys; j++) {
        float *scores = block->scores + j * block->columns;
        int64_t ahead = first_key + j - block->position;
        hide_columns(scores, 0, clamped(ahead - behind, queries) * block->group);
        hide_columns(scores, clamped(ahead + before + 1, queries) * block->group, queries * block->group);
    }
}

static void add_bias(const struct block *block, int64_t first_key, int64_t keys) {
    const struct graft_mask *mask = block->input->mask;
    for (int64_t i = 0; i < block->item->queries; i++) {
        int64_t token = block->item->sequence->first_token + block->item->first + i;
        const float *bias = mask->bias + token * mask->bias_stride + first_key;
        for (int64_t j = 0; j < keys; j++) {
            for (int64_t g = 0; g < block->group; g++) {
                block->scores[j * block->columns + i * block->group + g] += bias[j];
            }
        }
    }
}

/* One portion of keys: scores^T = k q^T, softmax, out^T += v^T scores^T. */
static void run_portion(struct block *block, int64_t first_key, int64_t keys) {
    const struct graft_loops *loops = block->loops;
    const struct graft_attention_sequence *sequence = block->item->sequence;
    int64_t columns = block->columns;
    int64_t head_dim = block->input->head_dim;
    int64_t v_head_dim = block->input->v_head_dim;
    const float *k =
        sequence->keys + block->item->kv_head * sequence->key_head_stride + first_key * sequence->key_row_stride;
    const float *v =
        sequence->values + block->item->kv_head * sequence->value_head_stride + first_key * sequence->value_row_stride;
    memset(block->scores, 0, (size_t)(keys * columns) * sizeof(float));
    loops->multiply(k, sequence->key_row_stride, 1, keys, block->q, columns, head_dim, columns, block->scores, columns);
    graft_attention_cap(loops, block->input, block->scores, keys * columns);
    if (block->input->mask->kind == GRAFT_MASK_DENSE) {
        add_bias(block, first_key, keys);
    } else {
        hide(block, first_key, keys);
    }
    loops->columns_softmax(block->scores, keys, columns, block->maximum, block->sum, block->factor);
    loops->columns_scale(block->out, v_head_dim, columns, block->factor);
    loops->multiply(v, 1, sequence->value_row_stride, v_head_dim, block->scores, columns, keys, columns, block->out,
                    columns);
}

static void finish(const struct block *block) {
    const struct graft_attention_input *input = block->input;
    int64_t width = input->v_head_dim;
    int64_t head = block->item->head;
    for (int64_t i = 0; i < block->item->queries; i++) {
        int64_t token = block->item->sequence->first_token + block->item->first + i;
        float *output = input->output + token * input->output_stride + head * width;
        for (int64_t g = 0; g < block->group; g++) {
            int64_t column = i * block->group + g;
            float factor = graft_attention_factor(input, head + g, block->maximum[column], block->sum[column]);
            for (int64_t d = 0; d < width; d++) {
                output[g * width + d] = block->out[d * block->columns + column] * factor;
            }
        }
    }
}

void graft_attention_block_run(const struct graft_loops *loops, const struct graft_attention_input *input,
                               const struct graft_attention_item *item, float *scratch) {
    struct block block = {.loops = loops,
                          .input = input,
                          .item = item,
                          .group = item->heads,
                          .position = item->sequence->past + item->first,
                          .columns = padded(item->queries * item->heads)};
    int64_t last = block.position + item->queries - 1;
    int64_t end = graft_attention_end_key(input->mask, last, item->sequence->length);
    start(&block, scratch);
    for (int64_t j = graft_attention_first_key(input->mask, block.position); j < end; j += KEYS) {
        run_portion(&block, j, end - j < KEYS ? end - j : KEYS);
    }
    finish(&block);
}
