/* SPDX-License-Identifier: Apache-2.0 */
#include "generate/draft.h"

/* An earlier place counts as a match if at least LEAST_ALIKE ids are equal; a match with more equal ids, up to
 * MOST_ALIKE, precedes later ones with fewer. */
enum { LEAST_ALIKE = 2, MOST_ALIKE = 4 };
enum { FIRST_REACH = 3, MOST_PENALTY = 63 };

/* In hundredths of the time that a token takes alone: how much longer a forward takes with guesses, and with each of
 * them; how much time a sequence may lose by guessing, and for each further token. From 16 tokens on that is at most 3
 * %. */
enum { TOKEN = 100, FORWARD_LONGER = 15, GUESS_LONGER = 10, ALLOWANCE = 18, TOKEN_ALLOWANCE = 2 };

/* How many ids before `end` equal those at the end of the sequence, up to MOST_ALIKE. */
static size_t alike(const int32_t *ids, size_t count, size_t end) {
    size_t n = 0;
    while (n < MOST_ALIKE && n < end && ids[end - 1 - n] == ids[count - 1 - n]) {
        n++;
    }
    return n;
}

/* The position after the latest earlier occurrence of the tokens that the sequence ends with; 0 if there is none. */
static size_t earlier(const int32_t *ids, size_t count) {
    size_t found = 0;
    size_t best = LEAST_ALIKE - 1;
    for (size_t end = count - 1; end >= LEAST_ALIKE && best < MOST_ALIKE; end--) {
        size_t n = alike(ids, count, end);
        if (n > best) {
            best = n;
            found = end;
        }
    }
    return found;
}

/* How many of `n` guesses are affordable, even if all of them are wrong. */
static size_t affordable(const struct graft_draft *draft, size_t n) {
    int64_t most = (ALLOWANCE + draft->credit - FORWARD_LONGER) / GUESS_LONGER;
    return most <= 0 ? 0 : (int64_t)n < most ? n : (size_t)most;
}

size_t graft_draft_guess(struct graft_draft *draft, int32_t *ids, size_t count, size_t most) {
    size_t reach = draft->reach > 0 ? draft->reach : FIRST_REACH;
    if (draft->pause > 0) {
        draft->pause--;
        return 0;
    }
    size_t n = affordable(draft, reach < most ? reach : most);
    size_t from = n > 0 && count > LEAST_ALIKE ? earlier(ids, count) : 0;
    if (from == 0) {
        return 0;
    }
    /* One id at a time, because guessed ids may themselves be repeated. */
    for (size_t i = 0; i < n; i++) {
        ids[count + i] = ids[from + i];
    }
    return n;
}

void graft_draft_learn(struct graft_draft *draft, size_t guessed, size_t right) {
    draft->credit += TOKEN_ALLOWANCE * (int64_t)(1 + right);
    if (guessed == 0) {
        return;
    }
    draft->credit += TOKEN * (int64_t)right - FORWARD_LONGER - GUESS_LONGER * (int64_t)guessed;
    draft->reach = right == guessed ? 2 * guessed : right > 0 ? right : 1;
    draft->penalty = right > 0 ? 0 : 2 * draft->penalty + 1;
    draft->penalty = draft->penalty < MOST_PENALTY ? draft->penalty : MOST_PENALTY;
    draft->pause = draft->penalty;
}
