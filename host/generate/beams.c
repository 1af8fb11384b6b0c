/* SPDX-License-Identifier: Apache-2.0 */
#include "generate/beams.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "generate/candidates.h"

/* The score that the reference gives to a beam that does not count. */
static const float NONE = -1e9F;

struct graft_beams {
    size_t n;
    size_t n_candidates; /* candidates per step */
    int64_t vocab_size;
    size_t prompt;
    size_t longest; /* the most tokens of a sequence, including the prompt */
    double length_penalty;
    int32_t early_stopping;
    int32_t draws;
    int32_t may_improve;                 /* whether a running beam may become better than the finished ones */
    size_t count;                        /* tokens of each beam, including the prompt */
    float *scores;                       /* [n] scores of the running beams */
    struct graft_beam_candidate *next;   /* [n] */
    struct graft_beam_candidate *chosen; /* [n_candidates] */
    int32_t *ends;                       /* [n_candidates] */
    struct graft_beam_candidate *offers; /* [n_offers] */
    size_t n_offers;
    size_t capacity;
    double *ranks;                     /* [n_candidates] ranks of the chosen candidates, largest first */
    struct graft_beam_result *results; /* [n + n_candidates]: the first n are kept */
    struct graft_candidate *sorted;    /* [2, vocab_size]: scratch */
};

void graft_beams_free(struct graft_beams *beams) {
    if (beams == NULL) {
        return;
    }
    for (size_t i = 0; i < beams->n && beams->results != NULL; i++) {
        graft_free(beams->results[i].ids);
    }
    graft_free(beams->scores);
    graft_free(beams->next);
    graft_free(beams->chosen);
    graft_free(beams->ends);
    graft_free(beams->offers);
    graft_free(beams->ranks);
    graft_free(beams->results);
    graft_free(beams->sorted);
    graft_free(beams);
}

int graft_beams_create(const struct graft_sequence *lead, int64_t vocab_size, struct graft_beams **beams,
                       struct graft_error *error) {
    const struct graft_generation *generation = &lead->generation;
    const size_t n = (size_t)generation->num_beams;
    const size_t each = lead->n_stops > 0 ? lead->n_stops + 1 : 2;
    const size_t most = n * (size_t)vocab_size;
    struct graft_beams *made = graft_alloc(1, sizeof *made);
    if (made == NULL) {
        return graft_fail_memory(error, "generation");
    }
    *made = (struct graft_beams){
        .n = n,
        .n_candidates = each * n < most ? each * n : most,
        .vocab_size = vocab_size,
        .prompt = lead->prompt,
        .longest = lead->prompt + (size_t)generation->max_new_tokens,
        .length_penalty = generation->length_penalty,
        .early_stopping = generation->early_stopping,
        .draws = generation->do_sample,
        .may_improve = 1,
        .count = lead->prompt,
        .scores = graft_alloc(n, sizeof *made->scores),
        .next = graft_alloc(n, sizeof *made->next),
        .sorted = graft_alloc(2 * (size_t)vocab_size, sizeof *made->sorted),
    };
    made->chosen = graft_alloc(made->n_candidates, sizeof *made->chosen);
    made->ends = graft_alloc(made->n_candidates, sizeof *made->ends);
    made->ranks = graft_alloc(made->n_candidates, sizeof *made->ranks);
    made->results = graft_alloc(n + made->n_candidates, sizeof *made->results);
    if (made->scores == NULL || made->next == NULL || made->sorted == NULL || made->chosen == NULL ||
        made->ends == NULL || made->ranks == NULL || made->results == NULL) {
        graft_beams_free(made);
        return graft_fail_memory(error, "generation");
    }
    for (size_t i = 0; i < n; i++) {
        made->scores[i] = i > 0 ? NONE : 0.0F; /* all beams are equal at first, so only one of them counts */
        made->results[i].score = NONE;
    }
    *beams = made;
    return GRAFT_OK;
}

size_t graft_beams_candidates(const struct graft_beams *beams) {
    return beams->n_candidates;
}

struct graft_beam_candidate *graft_beams_chosen(struct graft_beams *beams) {
    return beams->chosen;
}

int32_t *graft_beams_ends(struct graft_beams *beams) {
    return beams->ends;
}

const struct graft_beam_result *graft_beams_result(const struct graft_beams *beams, size_t i) {
    return &beams->results[i];
}

static int add_offer(struct graft_beams *beams, int32_t beam, int64_t id, float score, struct graft_error *error) {
    if (graft_grow(&beams->offers, &beams->capacity, beams->n_offers, sizeof *beams->offers) != 0) {
        return graft_fail_memory(error, "generation");
    }
    beams->offers[beams->n_offers++] = (struct graft_beam_candidate){score + beams->scores[beam], beam, (int32_t)id};
    return GRAFT_OK;
}

/* Offers every token with a probability above 0, so that it can be drawn. */
static int offer_all(struct graft_beams *beams, int32_t beam, const float *scores, struct graft_error *error) {
    int status = GRAFT_OK;
    for (int64_t i = 0; i < beams->vocab_size && status == GRAFT_OK; i++) {
        status = scores[i] > -INFINITY ? add_offer(beams, beam, i, scores[i], error) : GRAFT_OK;
    }
    return status;
}

int graft_beams_offer(struct graft_beams *beams, int32_t beam, const float *scores, struct graft_error *error) {
    const int64_t n = beams->vocab_size;
    const int64_t k = (int64_t)beams->n_candidates < n ? (int64_t)beams->n_candidates : n;
    int status = GRAFT_OK;
    if (beams->draws) {
        return offer_all(beams, beam, scores, error);
    }
    const int64_t found = graft_candidates_take(scores, n, k, beams->sorted, beams->sorted + n);
    for (int64_t i = 0; i < found && i < k && status == GRAFT_OK; i++) {
        status = add_offer(beams, beam, beams->sorted[i].id, beams->sorted[i].logit, error);
    }
    return status;
}

/* Inserts a candidate by its rank among the `count` best so far. */
static size_t insert(struct graft_beams *beams, size_t count, const struct graft_beam_candidate *candidate,
                     double rank) {
    size_t at = count < beams->n_candidates ? count : count - 1;
    if (count == beams->n_candidates && !(rank > beams->ranks[at])) {
        return count;
    }
    for (; at > 0 && rank > beams->ranks[at - 1]; at--) {
        beams->ranks[at] = beams->ranks[at - 1];
        beams->chosen[at] = beams->chosen[at - 1];
    }
    beams->ranks[at] = rank;
    beams->chosen[at] = *candidate;
    return count < beams->n_candidates ? count + 1 : count;
}

/* Chooses the candidates with the largest scores. With sampling, Gumbel noise is added to each score: this draws
 * candidates one after another without replacement, with probabilities given by the scores. */
void graft_beams_choose(struct graft_beams *beams, struct graft_sampler_state *state) {
    size_t count = 0;
    for (size_t i = 0; i < beams->n_offers; i++) {
        const double noise = beams->draws ? -log(-log(graft_sampler_uniform(state))) : 0.0;
        count = insert(beams, count, &beams->offers[i], (double)beams->offers[i].score + noise);
    }
    for (; count < beams->n_candidates; count++) {
        beams->chosen[count] = (struct graft_beam_candidate){-INFINITY, 0, 0};
    }
    beams->n_offers = 0;
}

static int all_are_ended(const struct graft_beams *beams) {
    for (size_t i = 0; i < beams->n; i++) {
        if (!beams->results[i].is_ended) {
            return 0;
        }
    }
    return 1;
}

/* Divides a sum of log probabilities by a power of the length (length_penalty). */
static float by_length(const struct graft_beams *beams, float score, size_t length) {
    return score / (float)pow((double)length, beams->length_penalty);
}

/* Makes a result from the candidate, after those that are kept. If it does not end, its score is lowered by so much, as
 * in the reference, that it is not kept. */
static int make_result(const struct graft_beams *beams, const struct graft_team *team,
                       const struct graft_beam_candidate *candidate, int32_t end, struct graft_beam_result *result,
                       struct graft_error *error) {
    const size_t count = beams->count - beams->prompt;
    const int is_full = all_are_ended(beams) && beams->early_stopping == GRAFT_EARLY_STOPPING_TRUE;
    *result = (struct graft_beam_result){.score = by_length(beams, candidate->score, count + 1), .end = end};
    result->score += is_full ? NONE : 0.0F;
    result->score += beams->may_improve ? 0.0F : NONE;
    result->score += end != 0 ? 0.0F : NONE;
    result->is_ended = end != 0;
    if (end == 0) {
        return GRAFT_OK;
    }
    result->count = count + 1;
    result->ids = graft_alloc(count + 1, sizeof *result->ids);
    if (result->ids == NULL) {
        return graft_fail_memory(error, "generation");
    }
    memcpy(result->ids, graft_team_origin(team, (size_t)candidate->beam)->ids + beams->prompt,
           count * sizeof *result->ids);
    result->ids[count] = candidate->id;
    return GRAFT_OK;
}

/* Whether a result is better than another. At the last step a result that has ended is better than one that has not. */
static int is_better(const struct graft_beam_result *a, const struct graft_beam_result *b, int is_last) {
    return is_last && a->is_ended != b->is_ended ? a->is_ended : a->score > b->score;
}

/* Keeps the best of all results, and frees the others. */
static void keep_best(struct graft_beams *beams, int is_last) {
    const size_t all = beams->n + beams->n_candidates;
    struct graft_beam_result *results = beams->results;
    for (size_t i = 0; i < beams->n; i++) {
        size_t best = i;
        for (size_t j = i + 1; j < all; j++) {
            best = is_better(&results[j], &results[best], is_last) ? j : best;
        }
        const struct graft_beam_result moved = results[best];
        memmove(&results[i + 1], &results[i], (best - i) * sizeof *results);
        results[i] = moved;
    }
    for (size_t i = beams->n; i < all; i++) {
        graft_free(results[i].ids);
        results[i].ids = NULL;
    }
}

/* Chooses the candidates that continue, best first; one that ended only if there are not enough others. */
static void choose_next(struct graft_beams *beams) {
    for (size_t i = 0, count = 0; i < beams->n_candidates; i++) {
        const float score = beams->chosen[i].score + (beams->ends[i] != 0 ? NONE : 0.0F);
        if (count == beams->n && !(score > beams->scores[count - 1])) {
            continue;
        }
        size_t at = count < beams->n ? count++ : count - 1;
        for (; at > 0 && score > beams->scores[at - 1]; at--) {
            beams->scores[at] = beams->scores[at - 1];
            beams->next[at] = beams->next[at - 1];
        }
        beams->scores[at] = score;
        beams->next[at] = beams->chosen[i];
    }
}

/* Whether the best running beam, at its most favourable length, is better than the worst result. */
static int may_improve(const struct graft_beams *beams) {
    const int looks_ahead = beams->early_stopping == GRAFT_EARLY_STOPPING_NEVER && beams->length_penalty > 0.0;
    const size_t length = (looks_ahead ? beams->longest : beams->count) - beams->prompt;
    const float best = by_length(beams, beams->scores[0], length);
    const float worst = beams->results[beams->n - 1].score;
    int may = 0;
    for (size_t i = 0; i < beams->n; i++) {
        may |= best > (beams->results[i].is_ended ? worst : NONE);
    }
    return may;
}

int graft_beams_step(struct graft_beams *beams, const struct graft_team *team, const struct graft_beam_candidate **next,
                     int *is_over, struct graft_error *error) {
    int all_end = 1, status = GRAFT_OK;
    size_t made = 0;
    for (; made < beams->n_candidates && status == GRAFT_OK; made++) {
        const int32_t end =
            made < beams->n ? beams->ends[made] : 0; /* the other candidates are only there to continue */
        all_end &= beams->ends[made] != 0;
        status = make_result(beams, team, &beams->chosen[made], end, &beams->results[beams->n + made], error);
    }
    for (size_t i = 0; status != GRAFT_OK && i < made; i++) {
        graft_free(beams->results[beams->n + i].ids);
    }
    if (status != GRAFT_OK) {
        return status;
    }
    choose_next(beams);
    keep_best(beams, all_end);
    beams->count++;
    beams->may_improve = beams->may_improve && may_improve(beams);
    *next = beams->next;
    *is_over =
        all_end || !beams->may_improve || (beams->early_stopping == GRAFT_EARLY_STOPPING_TRUE && all_are_ended(beams));
    return GRAFT_OK;
}
