/* SPDX-License-Identifier: Apache-2.0 */
#include "generate/sampler.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "generate/warpers.h"
#include "kernels/loops.h"

struct graft_sampler {
    int64_t vocab_size;
    float *scores; /* [vocab_size]: processed scores, later the weights */
    struct graft_processor_room room;
    struct graft_candidate *candidates; /* [vocab_size] */
    struct graft_candidate *sorted;     /* [vocab_size]: scratch for sorting */
};

int graft_sampler_create(int64_t vocab_size, struct graft_sampler **sampler, struct graft_error *error) {
    struct graft_sampler *result = graft_alloc(1, sizeof *result);
    size_t n = (size_t)vocab_size;
    if (result != NULL) {
        result->vocab_size = vocab_size;
        result->scores = graft_alloc(n, sizeof *result->scores);
        result->room.seen = graft_alloc(n, 1);
        result->room.bias = graft_alloc(n, sizeof *result->room.bias);
        result->candidates = graft_alloc(n, sizeof *result->candidates);
        result->sorted = graft_alloc(n, sizeof *result->sorted);
    }
    if (result == NULL || result->scores == NULL || result->room.seen == NULL || result->room.bias == NULL ||
        result->candidates == NULL || result->sorted == NULL) {
        graft_sampler_free(result);
        return graft_fail_memory(error, "generation");
    }
    *sampler = result;
    return GRAFT_OK;
}

void graft_sampler_free(struct graft_sampler *sampler) {
    if (sampler != NULL) {
        graft_free(sampler->scores);
        graft_free(sampler->room.seen);
        graft_free(sampler->room.bias);
        graft_free(sampler->candidates);
        graft_free(sampler->sorted);
        graft_free(sampler);
    }
}

/* One step of SplitMix64 (Steele, Lea, Flood 2014): each seed gives a different full sequence. */
static uint64_t next_random(struct graft_sampler_state *state) {
    uint64_t z = state->state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

void graft_sampler_state_init(struct graft_sampler_state *state, uint64_t seed, size_t sequence) {
    struct graft_sampler_state mixer = {seed};
    state->state = next_random(&mixer) ^ ((uint64_t)sequence * 0xd1342543de82ef95u);
}

/* In [0, 1). */
double graft_sampler_uniform(struct graft_sampler_state *state) {
    return (double)(next_random(state) >> 11) * 0x1p-53;
}

/* The index of the largest score, of equal ones the first; NaN counts as smallest. */
static int32_t argmax(const float *scores, int64_t n) {
    enum { BLOCK = 1024 };
    const struct graft_loops *loops = graft_loops_get();
    float largest = -INFINITY;
    int64_t first = 0; /* the block with the largest score so far */
    for (int64_t i = 0; i < n; i += BLOCK) {
        float here = loops->maximum(scores + i, n - i < BLOCK ? n - i : BLOCK);
        if (here > largest) {
            largest = here;
            first = i;
        }
    }
    for (int64_t i = first; i < n; i++) {
        if (scores[i] == largest) {
            return (int32_t)i;
        }
    }
    return 0;
}

/* Draws a candidate; one with probability 0 is never drawn. */
static int32_t draw(const struct graft_candidate *candidates, int64_t count, struct graft_sampler_state *state) {
    double total = 0.0;
    int64_t last = 0;
    for (int64_t i = 0; i < count; i++) {
        total += candidates[i].probability;
    }
    double left = graft_sampler_uniform(state) * total;
    for (int64_t i = 0; i < count && left >= 0.0; i++) {
        left -= candidates[i].probability;
        last = candidates[i].probability > 0.0 ? i : last;
    }
    return candidates[last].id;
}

/* --- Without top_k: drawing from a whole vocabulary, which takes long to sort --- */

/* weights [n] = exp((scores - largest) / temperature), 0 for NaN. */
static void weigh(const float *scores, int64_t n, float largest, double temperature, float *weights) {
    for (int64_t i = 0; i < n; i++) {
        weights[i] = isnan(scores[i]) ? -INFINITY : (scores[i] - largest) / (float)temperature;
    }
    (void)graft_loops_get()->exp_sum(weights, 0.0F, n);
}

static double sum_of(const float *weights, int64_t n) {
    double sum = 0.0;
    for (int64_t i = 0; i < n; i++) {
        sum += (double)weights[i];
    }
    return sum;
}

/* The bits of a weight from 0 to 1, which are in the same order as the weights. */
static uint32_t bits_of(float weight) {
    uint32_t bits;
    memcpy(&bits, &weight, sizeof bits);
    return bits;
}

/* The tokens that top_p keeps: the best one, all that weigh more than the threshold, and the first `n` of those that
 * weigh exactly that. */
struct nucleus {
    int64_t best;
    uint32_t threshold; /* as bits */
    int64_t n;
    double total; /* sum of their weights */
};

/* Drops the lightest tokens, as long as they weigh at most `left` together; of equal ones the later first. Finds the
 * bits of the threshold ten at a time, from the sums of weights that have the same bits so far. */
static void drop(struct nucleus *nucleus, const float *weights, int64_t n, double left) {
    enum { DIGIT = 10, VALUES = 1 << DIGIT };
    uint32_t known = 0;
    float equal;
    for (int shift = 2 * DIGIT; shift >= 0; shift -= DIGIT) {
        double masses[VALUES] = {0.0};
        uint32_t digit = 0;
        for (int64_t i = 0; i < n; i++) {
            const uint32_t bits = bits_of(weights[i]);
            if ((bits & known) == nucleus->threshold && i != nucleus->best) {
                masses[bits >> shift & (VALUES - 1)] += (double)weights[i];
            }
        }
        for (; digit < VALUES - 1 && masses[digit] <= left; digit++) {
            left -= masses[digit];
            nucleus->total -= masses[digit];
        }
        nucleus->threshold |= digit << shift;
        known |= (uint32_t)(VALUES - 1) << shift;
    }
    int64_t equals = 0;
    for (int64_t i = 0; i < n; i++) {
        equals += bits_of(weights[i]) == nucleus->threshold && i != nucleus->best;
    }
    memcpy(&equal, &nucleus->threshold, sizeof equal);
    const double most = equal > 0.0F ? floor(left / (double)equal) : 0.0;
    const double dropped = most < (double)equals ? most : (double)equals;
    nucleus->n = equals - (int64_t)dropped;
    nucleus->total -= dropped * (double)equal;
}

/* The token of the nucleus at which the sum of weights exceeds `left`. */
static int32_t find(const float *weights, int64_t n, struct nucleus nucleus, double left) {
    int64_t last = nucleus.best;
    for (int64_t i = 0; i < n && left >= 0.0; i++) {
        const uint32_t bits = bits_of(weights[i]);
        if (i == nucleus.best || bits > nucleus.threshold || (bits == nucleus.threshold && nucleus.n-- > 0)) {
            left -= (double)weights[i];
            last = weights[i] > 0.0F ? i : last;
        }
    }
    return (int32_t)last;
}

static int32_t draw_of_all(const float *weights, int64_t n, int64_t best, double top_p,
                           struct graft_sampler_state *state) {
    struct nucleus nucleus = {best, 0, n, sum_of(weights, n)};
    if (top_p < 1.0) {
        drop(&nucleus, weights, n, (1.0 - top_p) * nucleus.total);
    }
    return find(weights, n, nucleus, graft_sampler_uniform(state) * nucleus.total);
}

/* Sets `scores` to a copy of the logits that the processors have changed; without processors, to the logits. */
static int process(struct graft_sampler *sampler, const struct graft_choice *choice, const float *logits,
                   const float **scores, struct graft_error *error) {
    if (!graft_processors_wanted(choice)) {
        *scores = logits;
        return GRAFT_OK;
    }
    *scores = sampler->scores;
    memcpy(sampler->scores, logits, (size_t)sampler->vocab_size * sizeof *logits);
    return graft_processors_run(choice, sampler->scores, sampler->vocab_size, &sampler->room, error);
}

/* Draws a token from scores, of which `best` is the largest. */
static int32_t draw_one(struct graft_sampler *sampler, const struct graft_generation *generation, const float *scores,
                        int32_t best, struct graft_sampler_state *state) {
    const int64_t n = sampler->vocab_size;
    if (graft_warpers_are_few(generation, n)) {
        weigh(scores, n, scores[best], generation->temperature, sampler->scores);
        return draw_of_all(sampler->scores, n, best, generation->top_p, state);
    }
    int64_t count = graft_warpers_run(generation, scores, n, 1, sampler->candidates, sampler->sorted);
    graft_warpers_weigh(sampler->candidates, count);
    return draw(sampler->candidates, count, state);
}

int graft_sampler_pick(struct graft_sampler *sampler, const struct graft_choice *choice, const float *logits,
                       struct graft_sampler_state *state, int32_t *id, struct graft_error *error) {
    const float *scores = NULL;
    int status = process(sampler, choice, logits, &scores, error);
    if (status != GRAFT_OK) {
        return status;
    }
    *id = argmax(scores, sampler->vocab_size);
    if (choice->generation->do_sample && isfinite(scores[*id])) {
        *id = draw_one(sampler, choice->generation, scores, *id, state);
    }
    return GRAFT_OK;
}

/* Applies warpers: scores of tokens that are dropped become -INFINITY. */
static void warp(struct graft_sampler *sampler, const struct graft_generation *generation, int64_t least,
                 float *scores) {
    const int64_t n = sampler->vocab_size;
    const int64_t count = graft_warpers_run(generation, scores, n, least, sampler->candidates, sampler->sorted);
    for (int64_t i = 0; i < n; i++) {
        scores[i] = -INFINITY;
    }
    for (int64_t i = 0; i < count; i++) {
        scores[sampler->candidates[i].id] = sampler->candidates[i].logit;
    }
}

int graft_sampler_score(struct graft_sampler *sampler, const struct graft_choice *choice, int64_t least, float *scores,
                        struct graft_error *error) {
    int status = graft_processors_run(choice, scores, sampler->vocab_size, &sampler->room, error);
    if (status == GRAFT_OK && choice->generation->do_sample) {
        warp(sampler, choice->generation, least, scores);
    }
    if (status == GRAFT_OK && choice->generation->renormalize_logits) {
        graft_log_softmax(scores, sampler->vocab_size);
    }
    return status;
}
