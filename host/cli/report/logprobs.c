/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/report/logprobs.h"

#include <math.h>

#include "base/alloc.h"

/* log(sum of exp(logits)), with the largest taken out so that nothing overflows. NaN counts as impossible. */
static double log_sum(const float *logits, int64_t n) {
    double largest = -INFINITY, sum = 0.0;
    for (int64_t i = 0; i < n; i++) {
        largest = (double)logits[i] > largest ? (double)logits[i] : largest;
    }
    for (int64_t i = 0; i < n; i++) {
        sum += isnan(logits[i]) ? 0.0 : exp((double)logits[i] - largest);
    }
    return largest + log(sum);
}

/* Puts the largest logits, in order, into top [n]; there are at least as many. */
static void take_top(const float *logits, int64_t vocab_size, struct graft_logprob *top, size_t n) {
    size_t count = 0;
    for (int64_t i = 0; i < vocab_size && n > 0; i++) {
        double logit = isnan(logits[i]) ? -INFINITY : (double)logits[i];
        if (count == n && !(logit > top[n - 1].logprob)) {
            continue;
        }
        size_t at = count < n ? count++ : n - 1;
        for (; at > 0 && top[at - 1].logprob < logit; at--) {
            top[at] = top[at - 1];
        }
        top[at] = (struct graft_logprob){(int32_t)i, logit};
    }
}

int graft_logprobs_add(struct graft_logprobs *logprobs, const float *logits, int64_t vocab_size, int32_t id,
                       struct graft_error *error) {
    size_t n_top = logprobs->n_top < (size_t)vocab_size ? logprobs->n_top : (size_t)vocab_size;
    logprobs->n_top = n_top;
    for (size_t i = 0; i < 1 + n_top; i++) {
        if (graft_grow(&logprobs->items, &logprobs->capacity, logprobs->n + i, sizeof *logprobs->items) != 0) {
            return graft_fail_memory(error, "--logprobs");
        }
    }
    struct graft_logprob *items = logprobs->items + logprobs->n;
    double total = log_sum(logits, vocab_size);
    items[0] = (struct graft_logprob){id, (double)logits[id]};
    take_top(logits, vocab_size, items + 1, n_top);
    for (size_t i = 0; i < 1 + n_top; i++) {
        items[i].logprob -= total;
    }
    logprobs->n += 1 + n_top;
    return GRAFT_OK;
}

void graft_logprobs_free(struct graft_logprobs *logprobs) {
    graft_free(logprobs->items);
    logprobs->items = NULL;
    logprobs->n = logprobs->capacity = 0;
}
