/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Guessing what comes next from what was there before: texts that repeat their prompt (summaries, code, answers that
 * quote) go on as they did the last time. A forward over the next token and the guesses costs little more than one over
 * the token alone, as it reads the weights once.
 */
#ifndef GRAFT_GENERATE_DRAFT_H
#define GRAFT_GENERATE_DRAFT_H

#include <stddef.h>
#include <stdint.h>

/* How well guessing has gone in one sequence; zeros at first. Guesses are made only as far as a text of 16 tokens or
 * more takes at most 3 % longer than without, even if they are wrong. */
struct graft_draft {
    size_t reach;   /* how many ids are guessed at once; 0: not known yet */
    size_t pause;   /* steps before the next guess */
    size_t penalty; /* what `pause` was after the last guess that was all wrong */
    int64_t credit; /* hundredths of a token's time that guessing has saved, and that tokens allow for it */
};

/* Writes up to `most` guesses behind the `count` ids of a sequence; `ids` has room for them. Returns how many. */
size_t graft_draft_guess(struct graft_draft *draft, int32_t *ids, size_t count, size_t most);

/* A step gave one token and `right` more: the first ones of `guessed`, which may be 0. */
void graft_draft_learn(struct graft_draft *draft, size_t guessed, size_t right);

#endif
