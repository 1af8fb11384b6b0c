/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of sequences, for the files that implement graft/host/sequences.h. */
#ifndef GRAFT_LIBRARY_SEQUENCES_H
#define GRAFT_LIBRARY_SEQUENCES_H

#include "graft/host/sequences.h"
#include "library/library.h"

struct graft_sequences {
    struct graft_model *model;
    struct graft_session *session;
    struct graft_run *run;
    struct graft_sequence_token *tokens; /* [n] of the last step */
    size_t n;
    size_t capacity;
    float *logits; /* [n_logits, vocab_size]: what some of them were chosen from */
    size_t n_logits;
    size_t logits_capacity;
};

#endif
