/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "kernels/attention.h"

enum { KEYS = 256 }; /* in one portion */

struct direct {
    const struct graft_loops *loops;
    const struct graft_attention_args *args;
    const struct graft_attention_item *item;
    int64_t group;
    float *q;       /* [group, head_dim], scaled */
    float *scores;  /* [group, KEYS] */
    float *out;     /* [group, head_dim], not yet divided by the sum */
    float *maximum; /* [group] */
    float *sum;     /* [group] */
};

int64_t graft_attention_direct_scratch(const struct graft_attention_args *args) {
    return graft_attention_group(args) * (2 * args->head_dim + KEYS + 2);
}

static void start(struct direct *direct, float *scratch) {
    const struct graft_attention_args *args = direct->args;
    int64_t numbers = direct->group * args->head_dim;
    int64_t token = direct->item->sequence->first_token + direct->item->first;
    const float *q = args->q + token * args->q_stride + direct->item->kv_head * numbers;
    direct->q = scratch;
    direct->out = direct->q + numbers;
    direct->scores = direct->out + numbers;
    direct->maximum = direct->scores + direct->group * KEYS;
    direct->sum = direct->maximum + direct->group;
    for (int64_t i = 0; i < numbers; i++) {
        direct->q[i] = q[i] * args->scaling;
        direct->out[i] = 0.0f;
    }
    for (int64_t g = 0; g < direct->group; g++) {
        direct->maximum[g] = -INFINITY;
        direct->sum[g] = 0.0f;
    }
}

/* Scores become exp(score - maximum), and what was summed with a smaller maximum is scaled to the new one. While only
 * -inf has been seen nothing is subtracted, since -inf - -inf is NaN. */
static void weigh(struct direct *direct, int64_t g, const float *bias, int64_t keys) {
    const struct graft_loops *loops = direct->loops;
    float *scores = direct->scores + g * KEYS;
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
        loops->scale(direct->out + g * direct->args->head_dim, factor, direct->args->head_dim);
    }
}

static void finish(const struct direct *direct) {
    const struct graft_attention_args *args = direct->args;
    int64_t head_dim = args->head_dim;
    int64_t token = direct->item->sequence->first_token + direct->item->first;
    float *output = args->output + token * args->output_stride + direct->item->kv_head * direct->group * head_dim;
    for (int64_t g = 0; g < direct->group; g++) {
        float factor = direct->sum[g] == 0.0f ? 0.0f : 1.0f / direct->sum[g];
        for (int64_t i = 0; i < head_dim; i++) {
            output[g * head_dim + i] = direct->out[g * head_dim + i] * factor;
        }
    }
}

void graft_attention_direct_run(const struct graft_loops *loops, const struct graft_attention_args *args,
                                const struct graft_attention_item *item, float *scratch) {
    const struct graft_attention_sequence *sequence = item->sequence;
    const struct graft_kv_view *view = &sequence->view;
    struct direct direct = {.loops = loops, .args = args, .item = item, .group = graft_attention_group(args)};
    int64_t position = sequence->past + item->first;
    int64_t high = graft_attention_high(args->mask, position, view->length);
    const float *keys = view->keys.data + item->kv_head * view->keys.head_stride;
    const float *values = view->values.data + item->kv_head * view->values.head_stride;
    const float *bias = NULL;
    if (args->mask->kind == GRAFT_MASK_DENSE) {
        bias = args->mask->bias + (sequence->first_token + item->first) * args->mask->bias_stride;
    }
    start(&direct, scratch);
    for (int64_t j = graft_attention_low(args->mask, position); j < high; j += KEYS) {
        int64_t n = high - j < KEYS ? high - j : KEYS;
        loops->dot(GRAFT_READ_F32, keys + j * view->keys.row_stride, view->keys.row_stride, n, args->head_dim, direct.q,
                   args->head_dim, direct.group, direct.scores, KEYS);
        for (int64_t g = 0; g < direct.group; g++) {
            weigh(&direct, g, bias != NULL ? bias + j : NULL, n);
        }
        loops->multiply(direct.scores, KEYS, 1, direct.group, values + j * view->values.row_stride,
                        view->values.row_stride, n, args->head_dim, direct.out, args->head_dim);
    }
    finish(&direct);
}
