/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What changes the scores of the next token before one is chosen, by what the sequence says so far: the logits
 * processors of the reference, in its order. Warpers, which leave fewer tokens to draw from, are in warpers.h.
 */
#ifndef GRAFT_GENERATE_PROCESSORS_H
#define GRAFT_GENERATE_PROCESSORS_H

#include <stddef.h>
#include <stdint.h>

#include "generate/named_processors.h"
#include "graft/host/generate.h"

/* A sequence whose next token is to be chosen. */
struct graft_choice {
    const struct graft_generation *generation;
    const int32_t *ids;                         /* [count] so far */
    size_t count;                               /* tokens, prompt included */
    size_t prompt;                              /* how many of them are the prompt */
    const int32_t *source;                      /* [n_source] the encoder's input */
    size_t n_source;                            /* 0: there is no encoder; the prompt counts as its input */
    size_t longest;                             /* how many it may become, prompt included */
    struct graft_id_list eos;                   /* ids that end it */
    const struct graft_processor_states *named; /* of plugins, started; NULL: there are none */
};

/* Working memory for one vocabulary, all 0 between calls. */
struct graft_processor_room {
    unsigned char *seen; /* [vocab_size] */
    float *bias;         /* [vocab_size] */
};

/* [any] Whether any processor has something to do in some step of this sequence. */
int graft_processors_wanted(const struct graft_choice *choice);

/* [forward] Changes scores [vocab_size]. Ids outside of the vocabulary have no effect. */
int graft_processors_run(const struct graft_choice *choice, float *scores, int64_t vocab_size,
                         const struct graft_processor_room *room, struct graft_error *error);

/* [any] The logarithm of the sum of the exponentials of scores [n]. */
double graft_log_sum(const float *scores, int64_t n);

/* [any] scores [n] = log softmax(scores). */
void graft_log_softmax(float *scores, int64_t n);

#endif
