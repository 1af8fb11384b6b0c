/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scores of a Unigram vocabulary. Sums of scores are compared, so a score has to be the double that the reference makes
 * of its digits: as many of them as 64 bits hold, once multiplied or divided by a power of ten. That is not always the
 * nearest double.
 */
#ifndef GRAFT_TOKENIZER_SCORE_H
#define GRAFT_TOKENIZER_SCORE_H

#include "base/json_cursor.h"

enum { GRAFT_SCORE_MAX_POWER = 308 }; /* of ten, that a double holds */

/* The powers that scores have needed so far. Starts as {0}. */
struct graft_score_powers {
    double of_ten[GRAFT_SCORE_MAX_POWER + 1];
};

/* [any] The number that comes next. Returns 0, or -1 when none comes or a double does not hold it. */
int graft_score_read(struct graft_json_cursor *cursor, struct graft_score_powers *powers, double *score);

#endif
