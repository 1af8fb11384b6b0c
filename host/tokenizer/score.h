/* SPDX-License-Identifier: Apache-2.0 */
/* Scores of a Unigram vocabulary. Sums of scores are compared, so a score has to be the same double that the reference
 * computes from its digits: as many digits as 64 bits hold, multiplied or divided once by a power of ten. That is not
 * always the nearest double. */
#ifndef GRAFT_TOKENIZER_SCORE_H
#define GRAFT_TOKENIZER_SCORE_H

#include "base/json_cursor.h"

enum { GRAFT_SCORE_MAX_POWER = 308 }; /* largest power of ten that a double holds */

/* The powers of ten that scores have needed so far. Starts as {0}. */
struct graft_score_powers {
    double of_ten[GRAFT_SCORE_MAX_POWER + 1];
};

/* [any] Reads a number at the cursor. Returns 0, or -1 if there is none or a double cannot hold it. */
int graft_score_read(struct graft_json_cursor *cursor, struct graft_score_powers *powers, double *score);

#endif
