/* SPDX-License-Identifier: Apache-2.0 */
/* Log probabilities of generated tokens, computed from the model's logits. */
#ifndef GRAFT_CLI_REPORT_LOGPROBS_H
#define GRAFT_CLI_REPORT_LOGPROBS_H

#include <stddef.h>
#include <stdint.h>

#include "graft/error.h"

struct graft_logprob {
    int32_t id;
    double logprob; /* the natural logarithm of its probability */
};

/* The log probabilities of a sequence: for each token first that of the chosen one, then those of the `n_top` most
 * probable ones. Starts as {.n_top = ...}. */
struct graft_logprobs {
    struct graft_logprob *items; /* [tokens, 1 + n_top] */
    size_t n;                    /* number of items */
    size_t capacity;
    size_t n_top;
};

/* Adds the log probabilities for a token that was chosen from `logits` [vocab_size]: log softmax, in f64. Of equally
 * probable tokens, the one with the smaller id comes first. */
int graft_logprobs_add(struct graft_logprobs *logprobs, const float *logits, int64_t vocab_size, int32_t id,
                       struct graft_error *error);
void graft_logprobs_free(struct graft_logprobs *logprobs);

#endif
