/* SPDX-License-Identifier: Apache-2.0 */
/* Changes the scores of the next token before it is chosen, depending on the sequence so far: the reference's logits
 * processors, in its order. warpers.h has the warpers, which reduce the tokens to draw from. */
#ifndef GRAFT_GENERATE_PROCESSORS_H
#define GRAFT_GENERATE_PROCESSORS_H

#include <stddef.h>
#include <stdint.h>

#include "generate/named_processors.h"
#include "graft/host/generate.h"

/* A sequence whose next token is being chosen. */
struct graft_choice {
    const struct graft_generation *generation;
    const int32_t *ids;                         /* [count] ids so far */
    size_t count;                               /* number of tokens, including the prompt */
    size_t prompt;                              /* how many of them are the prompt */
    const int32_t *source;                      /* [n_source] the encoder's input */
    size_t n_source;                            /* 0: there is no encoder; the prompt counts as its input */
    size_t longest;                             /* the most tokens, including the prompt */
    struct graft_id_list eos;                   /* ids that end the sequence */
    const struct graft_processor_states *named; /* plugins' processors, which have been started; NULL: none */
};

/* Scratch memory for a vocabulary, all zeros between calls. */
struct graft_processor_room {
    unsigned char *seen; /* [vocab_size] */
    float *bias;         /* [vocab_size] */
};

/* [any] Whether any processor may change a score in some step of this sequence. */
int graft_processors_wanted(const struct graft_choice *choice);

/* [forward] Changes scores [vocab_size]. Ids outside of the vocabulary have no effect. */
int graft_processors_run(const struct graft_choice *choice, float *scores, int64_t vocab_size,
                         const struct graft_processor_room *room, struct graft_error *error);

/* [any] The logarithm of the sum of the exponentials of scores [n]. */
double graft_log_sum(const float *scores, int64_t n);

/* [any] scores [n] = log softmax(scores). */
void graft_log_softmax(float *scores, int64_t n);

#endif
