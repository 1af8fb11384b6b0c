/* SPDX-License-Identifier: Apache-2.0 */
/* How probable tokens were, by the model's own logits. */
#ifndef GRAFT_CLI_REPORT_LOGPROBS_H
#define GRAFT_CLI_REPORT_LOGPROBS_H

#include <stddef.h>
#include <stdint.h>

#include "graft/error.h"

struct graft_logprob {
    int32_t id;
    double logprob; /* the natural logarithm of its probability */
};

/* Those of one sequence's tokens, one after another: of each the token that was chosen, then the `n_top` most probable
 * ones. Starts as {.n_top = ...}. */
struct graft_logprobs {
    struct graft_logprob *items; /* [tokens, 1 + n_top] */
    size_t n;                    /* items */
    size_t capacity;
    size_t n_top;
};

/* Adds those of a token that was chosen from `logits` [vocab_size]: log softmax, in f64. Of equally probable tokens the
 * one with the smaller id comes first. */
int graft_logprobs_add(struct graft_logprobs *logprobs, const float *logits, int64_t vocab_size, int32_t id,
                       struct graft_error *error);
void graft_logprobs_free(struct graft_logprobs *logprobs);

#endif
