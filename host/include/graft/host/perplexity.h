/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How well a model predicts a text: perplexity, exp of the mean negative log likelihood.
 *
 * The text's ids are cut into windows that do not overlap. Within a window each token but the first is predicted from
 * those before it. The last window may be shorter; a single token left over is not predicted. The mean is over all
 * predicted tokens, so a short window counts by its tokens (transformers' recipe with a stride of one window).
 */
#ifndef GRAFT_HOST_PERPLEXITY_H
#define GRAFT_HOST_PERPLEXITY_H

#include <stddef.h>
#include <stdint.h>

#include "graft/error.h"

#ifdef __cplusplus
extern "C" {
#endif

struct graft_model;

#define GRAFT_PERPLEXITY_WINDOW 512

struct graft_perplexity_options {
    uint32_t struct_size;
    uint32_t reserved;
    int64_t window; /* tokens, 2 or more; 0: GRAFT_PERPLEXITY_WINDOW, or all positions of a model with fewer */
    /* [any] Called on the calling thread with the number of tokens read and of all tokens; may be NULL. Any status but
     * GRAFT_OK stops. */
    int (*on_progress)(void *data, int64_t done, int64_t total, struct graft_error *error);
    void *data; /* the caller's own, for on_progress */
};

#define GRAFT_PERPLEXITY_OPTIONS_SIZE_1_0 GRAFT_END_OF(struct graft_perplexity_options, data)

struct graft_perplexity {
    uint32_t struct_size;
    uint32_t reserved;
    int64_t window;    /* tokens of each but the last */
    int64_t windows;   /* that predicted something */
    int64_t predicted; /* tokens */
    double mean;       /* negative log likelihood of a predicted token, in nats */
    double perplexity; /* exp(mean) */
};

#define GRAFT_PERPLEXITY_SIZE_1_0 GRAFT_END_OF(struct graft_perplexity, perplexity)

/* [any, one thread per model] `ids` [n] are used unchanged: no token is added. Fewer than two are an error.
 * Fills `result`, whose struct_size is set. Memory holds the logits of one window at a time (or of several small ones).
 * `options` may be NULL. */
int graft_model_perplexity(struct graft_model *model, const int32_t *ids, size_t n,
                           const struct graft_perplexity_options *options, struct graft_perplexity *result,
                           struct graft_error *error);

#ifdef __cplusplus
}
#endif

#endif
