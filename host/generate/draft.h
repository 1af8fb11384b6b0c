/* SPDX-License-Identifier: Apache-2.0 */
/* Guesses the next tokens from earlier text: texts that repeat their prompt (summaries, code, answers that quote) tend
 * to continue as before. A forward over the next token and the guesses takes little longer than one over the token
 * alone, because the weights are read once. */
#ifndef GRAFT_GENERATE_DRAFT_H
#define GRAFT_GENERATE_DRAFT_H

#include <stddef.h>
#include <stdint.h>

/* How well guessing has worked in a sequence; starts as zeros. The number of guesses is limited so that a text of 16
 * tokens or more takes at most 3 % longer than without guessing, even if all are wrong. */
struct graft_draft {
    size_t reach;   /* how many ids are guessed at once; 0: not known yet */
    size_t pause;   /* steps before the next guess */
    size_t penalty; /* value of `pause` after the last guess that was all wrong */
    int64_t credit; /* in hundredths of a token's time: what guessing saved, and an allowance for each token */
};

/* Appends up to `most` guesses to the `count` ids of a sequence; `ids` has room for them. Returns their number. */
size_t graft_draft_guess(struct graft_draft *draft, int32_t *ids, size_t count, size_t most);

/* Records the result of a step: one token and `right` further ones, the first of the `guessed`, which may be 0. */
void graft_draft_learn(struct graft_draft *draft, size_t guessed, size_t right);

#endif
