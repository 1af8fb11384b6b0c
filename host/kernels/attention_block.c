/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <string.h>

#include "base/dtype.h"
#include "kernels/attention_block.h"
#include "kernels/cpu.h"

/* The maximum number of columns of an item, unless a group has more. With tiles there are more, since values are
 * transposed for each item. */
enum { COLUMNS = 64, TILES_COLUMNS = 128 };

static int64_t padded(int64_t columns) {
    return (columns + GRAFT_LANES - 1) / GRAFT_LANES * GRAFT_LANES;
}

int64_t graft_attention_block_queries(const struct graft_attention_input *input) {
    int64_t group = graft_attention_group(input);
    int64_t columns = graft_cpu_isa() == GRAFT_ISA_AMX ? TILES_COLUMNS : COLUMNS;
    return group < columns ? columns / group : 1;
}

int64_t graft_attention_block_scratch(const struct graft_loops *loops, const struct graft_attention_input *input) {
    int64_t columns = padded(graft_attention_block_queries(input) * graft_attention_group(input));
    int64_t floats = columns * (input->head_dim + input->v_head_dim + GRAFT_ATTENTION_KEYS + 3);
    return floats * (int64_t)sizeof(float) + graft_attention_stored_bytes(loops, input, columns);
}

static void start(struct graft_attention_block *block, float *scratch) {
    const struct graft_attention_input *input = block->input;
    int64_t head_dim = input->head_dim;
    int64_t columns = block->columns;
    block->q = scratch;
    block->out = block->q + head_dim * columns;
    block->scores = block->out + input->v_head_dim * columns;
    block->maximum = block->scores + GRAFT_ATTENTION_KEYS * columns;
    block->sum = block->maximum + columns;
    block->factor = block->sum + columns;
    block->stored = block->factor + columns;
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

/* Sets the scores of keys to -inf for queries that the mask hides them from. */
static void hide(const struct graft_attention_block *block, int64_t first_key, int64_t keys) {
    int64_t queries = block->item->queries;
    const struct graft_mask *mask = block->input->mask;
    int64_t before = graft_mask_before(mask);
    int64_t after = graft_mask_after(mask);
    for (int64_t j = 0; j < keys; j++) {
        float *scores = block->scores + j * block->columns;
        int64_t ahead = first_key + j - block->position;
        hide_columns(scores, 0, clamped(ahead - after, queries) * block->group);
        int64_t left = mask->kind == GRAFT_MASK_CHUNKED ? before - (first_key + j) % mask->window : before;
        hide_columns(scores, clamped(ahead + left + 1, queries) * block->group, queries * block->group);
    }
}

static void add_bias(const struct graft_attention_block *block, int64_t first_key, int64_t keys) {
    const struct graft_mask *mask = block->input->mask;
    for (int64_t i = 0; i < block->item->queries; i++) {
        int64_t token = block->item->sequence->first_token + block->item->first + i;
        for (int64_t g = 0; g < block->group; g++) {
            const float *bias = graft_mask_bias(mask, block->item->head + g, token) + first_key;
            for (int64_t j = 0; j < keys; j++) {
                block->scores[j * block->columns + i * block->group + g] += bias[j];
            }
        }
    }
}

static void add_alibi(const struct graft_attention_block *block, int64_t first_key, int64_t keys) {
    for (int64_t j = 0; j < keys; j++) {
        for (int64_t g = 0; g < block->group; g++) {
            const float bias = graft_attention_alibi(block->input, block->item->head + g, first_key + j);
            float *scores = block->scores + j * block->columns + g;
            for (int64_t i = 0; i < block->item->queries; i++) {
                scores[i * block->group] += bias;
            }
        }
    }
}

static void add_relative(const struct graft_attention_block *block, int64_t first_key, int64_t keys) {
    for (int64_t j = 0; j < keys; j++) {
        for (int64_t i = 0; i < block->item->queries; i++) {
            float *scores = block->scores + j * block->columns + i * block->group;
            for (int64_t g = 0; g < block->group; g++) {
                scores[g] +=
                    graft_attention_relative(block->input, block->item->head + g, block->position + i, first_key + j);
            }
        }
    }
}

/* One portion of keys: scores^T = k q^T, softmax, out^T += v^T scores^T. */
static void run_portion(const struct graft_attention_block *block, const struct graft_attention_products *products,
                        int64_t first_key, int64_t keys) {
    const struct graft_loops *loops = block->loops;
    const struct graft_attention_sequence *sequence = block->item->sequence;
    int64_t size = graft_dtype_size(sequence->dtype);
    int64_t k = block->item->kv_head * sequence->key_head_stride + first_key * sequence->key_row_stride;
    int64_t v = block->item->kv_head * sequence->value_head_stride + first_key * sequence->value_row_stride;
    const struct graft_attention_rows k_rows = {(const char *)(const void *)sequence->keys + k * size,
                                                sequence->key_row_stride};
    const struct graft_attention_rows v_rows = {(const char *)(const void *)sequence->values + v * size,
                                                sequence->value_row_stride};
    products->keys(block, &k_rows, keys);
    graft_attention_cap(loops, block->input, block->scores, keys * block->columns);
    if (block->input->alibi != NULL) {
        add_alibi(block, first_key, keys);
    }
    if ((block->input->required_features & GRAFT_ATTENTION_RELATIVE) != 0) {
        add_relative(block, first_key, keys);
    }
    if (graft_mask_bias(block->input->mask, 0, 0) != NULL) {
        add_bias(block, first_key, keys);
    } else {
        hide(block, first_key, keys);
    }
    products->softmax(block, keys);
    loops->columns_scale(block->out, block->input->v_head_dim, block->columns, block->factor);
    products->values(block, &v_rows, keys);
}

static void finish(const struct graft_attention_block *block) {
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
    struct graft_attention_block block = {.loops = loops,
                                          .input = input,
                                          .item = item,
                                          .group = item->heads,
                                          .position = item->sequence->past + item->first,
                                          .columns = padded(item->queries * item->heads)};
    int64_t last = block.position + item->queries - 1;
    int64_t end = graft_attention_end_key(input->mask, last, item->sequence->length);
    const struct graft_attention_products *products = graft_attention_products_of(input, item);
    start(&block, scratch);
    if (products->start != NULL) {
        products->start(&block);
    }
    /* Portions begin at the same keys for all items, so that results do not depend on how queries are divided into
     * items. */
    int64_t first = graft_attention_first_key(input->mask, block.position);
    for (int64_t j = first - first % GRAFT_ATTENTION_KEYS; j < end; j += GRAFT_ATTENTION_KEYS) {
        run_portion(&block, products, j, end - j < GRAFT_ATTENTION_KEYS ? end - j : GRAFT_ATTENTION_KEYS);
    }
    if (products->end != NULL) {
        products->end(&block);
    }
    finish(&block);
}
