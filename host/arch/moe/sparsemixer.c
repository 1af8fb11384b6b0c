/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/moe/sparsemixer.h"

#include <math.h>

/* The expert with the largest logit apart from `without` (-1: none); of equal ones the first. */
static int32_t best_of(const float *logits, int64_t experts, int32_t without) {
    int32_t best = without == 0 ? 1 : 0;
    for (int32_t e = best + 1; e < experts; e++) {
        best = e != without && logits[e] > logits[best] ? e : best;
    }
    return best;
}

/* The expert's share in a softmax over the logits near its own. */
static float weight_of(const float *logits, int64_t experts, int32_t best, int32_t without, float jitter) {
    const float largest = logits[best];
    float sum = 0.0f;
    for (int32_t e = 0; e < experts; e++) {
        const float size = fabsf(logits[e]) > largest ? fabsf(logits[e]) : largest;
        const int is_far = (largest - logits[e]) / size > 2.0f * jitter;
        sum += e == without || is_far ? 0.0f : expf(logits[e] - largest);
    }
    return 1.0f / sum;
}

void graft_sparsemixer(const struct graft_router_args *args, float jitter) {
    for (int64_t t = 0; t < args->tokens; t++) {
        const float *logits = args->logits + t * args->experts;
        int32_t *index = args->top_k_index + 2 * t;
        float *weights = args->top_k_weights + 2 * t;
        index[0] = best_of(logits, args->experts, -1);
        index[1] = best_of(logits, args->experts, index[0]);
        weights[0] = weight_of(logits, args->experts, index[0], -1, jitter);
        weights[1] = weight_of(logits, args->experts, index[1], index[0], jitter);
    }
}
