/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of sequences, for the files that implement graft/host/sequences.h. */
#ifndef GRAFT_LIBRARY_SEQUENCES_H
#define GRAFT_LIBRARY_SEQUENCES_H

#include "base/sha256.h"
#include "graft/host/sequences.h"
#include "library/library.h"

struct graft_sequences {
    struct graft_model *model;
    struct graft_session *session;
    struct graft_run *run;
    struct graft_sequence_token *tokens; /* [n] new tokens of the last step */
    size_t n;
    size_t capacity;
    float *logits; /* [n_logits, vocab_size]: logits of those tokens that have any */
    size_t n_logits;
    size_t logits_capacity;
    char identity[GRAFT_SHA256_DIGITS +
                  1]; /* identity of the model, for files of prefixes (prefix_file.h); "" until it is needed */
};

/* [load] Computes `identity`, once. An error if prefixes of this model cannot be kept in files. */
int graft_sequences_identify(struct graft_sequences *sequences, struct graft_error *error);

/* [load] Loads an open file into a slot, so that sequences can share its prefix. `*tokens` becomes its length; it is
 * unchanged if no slot is free. */
struct graft_prefix_file;
int graft_sequences_put(struct graft_sequences *sequences, const struct graft_prefix_file *file, int64_t *tokens,
                        struct graft_error *error);

#endif
