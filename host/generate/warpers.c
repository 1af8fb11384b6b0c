/* SPDX-License-Identifier: Apache-2.0 */
#include "generate/warpers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TOP_H_TOKENS = 100 };

/* The candidates that are left so far. */
struct pool {
    const struct graft_generation *generation;
    struct graft_candidate *candidates; /* [count] */
    int64_t count;
    int64_t least; /* the least number to keep */
    struct graft_candidate *room;
};

void graft_warpers_weigh(struct graft_candidate *candidates, int64_t count) {
    double total = 0.0;
    for (int64_t i = 0; i < count; i++) {
        candidates[i].probability = exp((double)candidates[i].logit - (double)candidates[0].logit);
        total += candidates[i].probability;
    }
    for (int64_t i = 0; i < count; i++) {
        candidates[i].probability /= total;
    }
}

static int64_t smaller(int64_t a, int64_t b) {
    return a < b ? a : b;
}

/* The sum of -p log p over the first `count`. */
static double entropy(const struct graft_candidate *candidates, int64_t count) {
    double sum = 0.0;
    for (int64_t i = 0; i < count; i++) {
        const double p = candidates[i].probability;
        sum -= p > 0.0 ? p * log(p) : 0.0;
    }
    return sum;
}

/* Keeps the first `k`, and those equal to the last of them. */
static void keep_first(struct pool *pool, int64_t k) {
    int64_t kept = smaller(k, pool->count);
    while (kept < pool->count && pool->candidates[kept].logit == pool->candidates[kept - 1].logit) {
        kept++;
    }
    pool->count = kept;
}

static void take_top_h(struct pool *pool) {
    double sum = 0.0;
    int64_t kept = 0;
    pool->count = smaller(pool->count, TOP_H_TOKENS);
    graft_warpers_weigh(pool->candidates, pool->count);
    const double most = entropy(pool->candidates, pool->count) * pool->generation->top_h;
    for (; kept < pool->count; kept++) {
        sum += entropy(&pool->candidates[kept], 1);
        if (!(pool->candidates[kept].probability > 0.0) || (sum > most && kept > 0)) {
            break;
        }
    }
    pool->count = kept > 0 ? kept : 1;
}

/* Drops the last candidates, as long as their sum is at most what top_p leaves out. */
static void take_top_p(struct pool *pool) {
    double cumulative = 0.0;
    graft_warpers_weigh(pool->candidates, pool->count);
    while (pool->count > pool->least) {
        cumulative += pool->candidates[pool->count - 1].probability;
        if (cumulative > 1.0 - pool->generation->top_p) {
            break;
        }
        pool->count--;
    }
}

static void drop_below(struct pool *pool, double probability) {
    while (pool->count > pool->least && pool->candidates[pool->count - 1].probability < probability) {
        pool->count--;
    }
}

/* Like drop_below, but keeps candidates equal to the last one kept. */
static void drop_below_with_equals(struct pool *pool, double probability) {
    const float last = pool->candidates[smaller(pool->least, pool->count) - 1].logit;
    while (pool->count > pool->least && pool->candidates[pool->count - 1].probability < probability &&
           pool->candidates[pool->count - 1].logit < last) {
        pool->count--;
    }
}

/* Orders candidates by distance: while they are sorted, `probability` has the distance of a candidate's surprise from
 * the expected one. */
static int by_distance(const void *a, const void *b) {
    const struct graft_candidate *left = a;
    const struct graft_candidate *right = b;
    if (left->probability != right->probability) {
        return left->probability < right->probability ? -1 : 1;
    }
    return left->id < right->id ? -1 : 1;
}

/* Replaces probabilities by distances, which are infinite for impossible tokens. */
static void measure(struct pool *pool) {
    const double expected = entropy(pool->candidates, pool->count);
    for (int64_t i = 0; i < pool->count; i++) {
        const double p = pool->candidates[i].probability;
        pool->candidates[i].probability = p > 0.0 ? fabs(-log(p) - expected) : (double)INFINITY;
    }
}

/* Keeps candidates in the order of their distances until they reach typical_p, then restores the usual order. */
static void take_typical(struct pool *pool) {
    const size_t size = sizeof *pool->room;
    struct graft_candidate *sorted = pool->room;
    double total = 0.0, cumulative = 0.0;
    graft_warpers_weigh(pool->candidates, pool->count);
    measure(pool);
    memcpy(sorted, pool->candidates, (size_t)pool->count * size);
    qsort(sorted, (size_t)pool->count, size, by_distance);
    const double largest = (double)pool->candidates[0].logit;
    for (int64_t i = 0; i < pool->count; i++) {
        total += exp((double)sorted[i].logit - largest);
    }
    int64_t last = 0;
    while (last < pool->count - 1) {
        cumulative += exp((double)sorted[last].logit - largest) / total;
        if (cumulative >= pool->generation->typical_p) {
            break;
        }
        last++;
    }
    double farthest = sorted[last].probability;
    if (pool->least > 1) {
        const double least = sorted[smaller(pool->least, pool->count) - 1].probability;
        farthest = farthest > least ? farthest : least;
    }
    int64_t kept = 0;
    for (int64_t i = 0; i < pool->count; i++) {
        if (pool->candidates[i].probability <= farthest) {
            pool->candidates[kept++] = pool->candidates[i];
        }
    }
    pool->count = kept;
}

static void take_eta(struct pool *pool) {
    const double epsilon = pool->generation->eta_cutoff;
    graft_warpers_weigh(pool->candidates, pool->count);
    const double eta = sqrt(epsilon) * exp(-entropy(pool->candidates, pool->count));
    drop_below_with_equals(pool, epsilon < eta ? epsilon : eta);
}

static int is_cut(double part) {
    return part > 0.0 && part < 1.0;
}

int graft_warpers_are_few(const struct graft_generation *generation, int64_t n) {
    return (generation->top_k <= 0 || generation->top_k >= n) && generation->top_h == 0.0 && generation->min_p == 0.0 &&
           !is_cut(generation->typical_p) && !is_cut(generation->epsilon_cutoff) && !is_cut(generation->eta_cutoff);
}

/* An upper bound of how many scores min_p keeps; others need not be sorted. */
static int64_t most_of_min_p(const struct graft_generation *generation, const float *scores, int64_t n) {
    static const double margin = 0.01; /* margin for rounding, in log probability; what is left is compared exactly */
    float largest = -INFINITY;
    int64_t count = 0;
    for (int64_t i = 0; i < n; i++) {
        largest = scores[i] > largest ? scores[i] : largest;
    }
    const double lowest = (double)largest + generation->temperature * (log(generation->min_p) - margin);
    for (int64_t i = 0; i < n; i++) {
        count += (double)scores[i] >= lowest;
    }
    return count;
}

/* How many of the largest scores are considered. */
static int64_t most_wanted(const struct graft_generation *generation, const float *scores, int64_t n, int64_t least) {
    int64_t k = n;
    if (generation->top_h > 0.0) {
        return smaller(n, TOP_H_TOKENS);
    }
    if (generation->top_k > 0) {
        k = generation->top_k;
    } else if (generation->min_p > 0.0 && generation->top_p >= 1.0) {
        k = most_of_min_p(generation, scores, n);
    }
    return smaller(k > least ? k : least, n);
}

int64_t graft_warpers_run(const struct graft_generation *generation, const float *scores, int64_t n, int64_t least,
                          struct graft_candidate *candidates, struct graft_candidate *room) {
    const int64_t k = most_wanted(generation, scores, n, least);
    struct pool pool = {generation, candidates, graft_candidates_take(scores, n, k, candidates, room), least, room};
    for (int64_t i = 0; i < pool.count; i++) {
        candidates[i].logit /= (float)generation->temperature;
    }
    if (generation->top_h > 0.0) {
        take_top_h(&pool);
    }
    if (generation->top_k > 0) {
        keep_first(&pool, generation->top_k > least ? generation->top_k : least);
    }
    if (generation->top_p < 1.0) {
        take_top_p(&pool);
    }
    if (generation->min_p > 0.0) {
        graft_warpers_weigh(candidates, pool.count);
        drop_below(&pool, generation->min_p * candidates[0].probability);
    }
    if (is_cut(generation->typical_p)) {
        take_typical(&pool);
    }
    if (is_cut(generation->epsilon_cutoff)) {
        graft_warpers_weigh(candidates, pool.count);
        drop_below_with_equals(&pool, generation->epsilon_cutoff);
    }
    if (is_cut(generation->eta_cutoff)) {
        take_eta(&pool);
    }
    return pool.count;
}
