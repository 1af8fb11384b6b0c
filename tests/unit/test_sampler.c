/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses the next token with every instruction set. Greedy choice takes the first of the largest logits; sampling
 * draws from the whole vocabulary, as often as softmax says, or from what top_k and top_p leave. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "each_isa.h"
#include "generate/candidates.h"
#include "generate/sampler.h"
#include "numbers.h"

enum { MOST = 5000, FEWER = 1000 };

static const int64_t sizes[] = {1, 2, 15, 17, 1023, 1024, 1025, MOST};
enum { SIZES = sizeof sizes / sizeof sizes[0] };

static int32_t pick(const float *logits, int64_t n, double penalty, const int32_t *history, size_t seen) {
    const struct graft_generation generation = {
        .struct_size = sizeof generation, .temperature = 1.0, .top_p = 1.0, .repetition_penalty = penalty};
    struct graft_sampler_state state = {0};
    struct graft_sampler *sampler;
    assert_int_equal(graft_sampler_create(n, &sampler, NULL), GRAFT_OK);
    const struct graft_choice choice = {.generation = &generation, .ids = history, .count = seen, .longest = SIZE_MAX};
    int32_t id = -1;
    assert_int_equal(graft_sampler_pick(sampler, &choice, logits, &state, &id, NULL), GRAFT_OK);
    graft_sampler_free(sampler);
    return id;
}

static void fill(float *logits, int64_t n, float value) {
    for (int64_t i = 0; i < n; i++) {
        logits[i] = value;
    }
}

/* The largest logit is found among others that are smaller or NaN, at the ends of the vocabulary and next to each power
 * of two. */
static void check_alone(float others, float largest) {
    float logits[MOST];
    for (int i = 0; i < SIZES; i++) {
        int64_t n = sizes[i];
        for (int64_t at = 0; at < n; at = at < 3 ? at + 1 : at % 2 == 0 ? 2 * at - 1 : at + 1) {
            fill(logits, n, others);
            logits[at] = largest;
            assert_int_equal(pick(logits, n, 1.0, NULL, 0), at);
            logits[n - 1] = largest; /* the first of two */
            assert_int_equal(pick(logits, n, 1.0, NULL, 0), at);
        }
    }
}

static void test_alone(void **state) {
    (void)state;
    check_alone(-1.0f, 2.0f);
    check_alone(-INFINITY, -3.0f);
    check_alone(1.0f, INFINITY);
    check_alone(NAN, -2.0f);
    check_alone(NAN, -INFINITY);
}

/* Without any valid logit the first token is chosen. */
static void test_none(void **state) {
    float logits[MOST];
    (void)state;
    fill(logits, MOST, NAN);
    assert_int_equal(pick(logits, MOST, 1.0, NULL, 0), 0);
    fill(logits, MOST, -INFINITY);
    assert_int_equal(pick(logits, MOST, 1.0, NULL, 0), 0);
}

/* Tokens that occurred are divided or multiplied, once each; the logits stay unchanged. */
static void test_punished(void **state) {
    float logits[MOST];
    static const int32_t history[] = {4000, 3, 4000};
    (void)state;
    fill(logits, MOST, -4.0f);
    logits[4000] = 3.0f;
    logits[7] = 1.6f;
    assert_int_equal(pick(logits, MOST, 1.0, history, 3), 4000);
    assert_int_equal(pick(logits, MOST, 1.5, history, 3), 4000); /* 2; twice it would be 1.33 */
    assert_int_equal(pick(logits, MOST, 2.0, history, 3), 7);
    assert_true(logits[4000] == 3.0f);
    fill(logits, MOST, -4.0f);
    logits[3] = -3.0f;
    assert_int_equal(pick(logits, MOST, 1.0, history, 3), 3);
    assert_int_equal(pick(logits, MOST, 1.5, history, 3), 0);
}

/* Counts how often each of n tokens is drawn. */
static void count_draws(const struct graft_generation *generation, const float *logits, int64_t n, int draws,
                        int *counts) {
    struct graft_sampler_state state;
    struct graft_sampler *sampler;
    const struct graft_choice choice = {.generation = generation};
    graft_sampler_state_init(&state, 7, 0);
    memset(counts, 0, (size_t)n * sizeof *counts);
    assert_int_equal(graft_sampler_create(n, &sampler, NULL), GRAFT_OK);
    for (int i = 0; i < draws; i++) {
        int32_t id = -1;
        assert_int_equal(graft_sampler_pick(sampler, &choice, logits, &state, &id, NULL), GRAFT_OK);
        counts[id]++;
    }
    graft_sampler_free(sampler);
}

/* Logits that decrease by `fall` in all, along the tokens 7 i: 7 divides no size here. */
static void fill_falling(float *logits, int64_t n, float fall) {
    for (int64_t i = 0; i < n; i++) {
        logits[i * 7 % n] = -fall * (float)i / (float)n;
    }
}

/* Checks that each eighth of the tokens that top_p leaves is drawn as often as its probability says, within five
 * standard deviations, and that none after them is, except for one at the border, where f32 may decide otherwise. */
static void check_frequencies(double temperature, float fall, double top_p) {
    enum { DRAWS = 2000, EIGHTHS = 8 };
    static float logits[FEWER];
    static int counts[FEWER];
    const struct graft_generation generation = {.struct_size = sizeof generation,
                                                .do_sample = 1,
                                                .temperature = temperature,
                                                .top_p = top_p,
                                                .repetition_penalty = 1.0};
    double weights[EIGHTHS] = {0}, total = 0.0, kept = 0.0;
    int drawn[EIGHTHS] = {0}, all = 0;
    fill_falling(logits, FEWER, fall);
    count_draws(&generation, logits, FEWER, DRAWS, counts);
    for (int64_t i = 0; i < FEWER; i++) {
        total += exp(-(double)fall * (double)i / FEWER / temperature);
    }
    int64_t n = 0;
    for (; n < FEWER && (n == 0 || kept < top_p * total); n++) {
        kept += exp(-(double)fall * (double)n / FEWER / temperature);
    }
    for (int64_t i = 0; i < n; i++) {
        weights[i * EIGHTHS / n] += exp(-(double)fall * (double)i / FEWER / temperature);
        drawn[i * EIGHTHS / n] += counts[i * 7 % FEWER];
        all += counts[i * 7 % FEWER];
    }
    assert_true(all + (n < FEWER ? counts[n * 7 % FEWER] : 0) == DRAWS);
    for (int e = 0; e < EIGHTHS; e++) {
        const double share = weights[e] / kept, wanted = DRAWS * share;
        assert_true(fabs(drawn[e] - wanted) <= 5.0 * sqrt(wanted * (1.0 - share)) + 1.0);
    }
}

static void test_frequencies(void **state) {
    static const double shares[] = {1.0, 0.999, 0.9, 0.5, 0.01, 0.0};
    (void)state;
    for (size_t i = 0; i < sizeof shares / sizeof shares[0]; i++) {
        check_frequencies(1.0, 3.0F, shares[i]);
        check_frequencies(0.5, 10.0F, shares[i]);
        check_frequencies(2.0, 100.0F, shares[i]);
        check_frequencies(1.0, 90000.0F, shares[i]);
    }
}

/* Of tokens with equal probability the first ones stay; NaN is never drawn. */
static void test_equal(void **state) {
    enum { DRAWS = 1000, N = 16 };
    float logits[N];
    int counts[N];
    struct graft_generation generation = {
        .struct_size = sizeof generation, .do_sample = 1, .temperature = 0.7, .top_p = 0.5, .repetition_penalty = 1.0};
    (void)state;
    fill(logits, N, 1.5F);
    count_draws(&generation, logits, N, DRAWS, counts);
    for (int i = 0; i < N; i++) {
        assert_int_equal(counts[i] > 0, i < N / 2);
    }
    generation.top_p = 1.0;
    logits[3] = NAN;
    count_draws(&generation, logits, N, DRAWS, counts);
    for (int i = 0; i < N; i++) {
        assert_int_equal(counts[i] > 0, i != 3);
    }
}

/* top_p leaves the fewest tokens whose probabilities reach it; the last one may exceed it. */
static void test_top_p(void **state) {
    enum { DRAWS = 500 };
    static float logits[MOST];
    static int counts[MOST];
    struct graft_generation generation = {
        .struct_size = sizeof generation, .do_sample = 1, .temperature = 1.0, .repetition_penalty = 1.0};
    (void)state;
    fill(logits, MOST, -INFINITY);
    logits[4000] = logf(0.5F);
    logits[3] = logf(0.3F);
    logits[4999] = logf(0.15F);
    logits[0] = logf(0.05F);
    static const struct {
        double top_p;
        int32_t left[4]; /* of tokens 4000, 3, 4999, 0 */
    } cases[] = {
        {0.4, {1, 0, 0, 0}}, {0.7, {1, 1, 0, 0}}, {0.9, {1, 1, 1, 0}}, {0.96, {1, 1, 1, 1}}, {1.0, {1, 1, 1, 1}}};
    static const int32_t ids[] = {4000, 3, 4999, 0};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int others = DRAWS;
        generation.top_p = cases[i].top_p;
        count_draws(&generation, logits, MOST, DRAWS, counts);
        for (int t = 0; t < 4; t++) {
            assert_int_equal(counts[ids[t]] > 0, cases[i].left[t]);
            others -= counts[ids[t]];
        }
        assert_int_equal(others, 0);
    }
}

/* --- top_k by simple code that sorts --- */

struct plain {
    float logit;
    int32_t id;
};

static int by_logit(const void *a, const void *b) {
    const struct plain *left = a, *right = b;
    if (left->logit != right->logit) {
        return left->logit < right->logit ? 1 : -1;
    }
    return (left->id > right->id) - (left->id < right->id);
}

/* The first of the sampler's random numbers. */
static double uniform_of(const struct graft_sampler_state *state) {
    uint64_t z = state->state + 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

/* Sorts the tokens [n] without NaN; returns how many top_k leaves: those equal to the last stay. */
static int64_t plain_top_k(const float *logits, int64_t n, int64_t k, struct plain *tokens) {
    int64_t numbers = 0;
    for (int64_t i = 0; i < n; i++) {
        if (!isnan(logits[i])) {
            tokens[numbers++] = (struct plain){logits[i], (int32_t)i};
        }
    }
    qsort(tokens, (size_t)numbers, sizeof *tokens, by_logit);
    while (k < numbers && tokens[k].logit == tokens[k - 1].logit) {
        k++;
    }
    return k < numbers ? k : numbers;
}

static int32_t plain_draw(const struct graft_generation *generation, const struct plain *tokens, int64_t count,
                          double uniform) {
    static double weights[MOST];
    double total = 0.0, dropped = 0.0, kept = 0.0;
    for (int64_t i = 0; i < count; i++) {
        weights[i] = exp(((double)tokens[i].logit - (double)tokens[0].logit) / generation->temperature);
        total += weights[i];
    }
    for (int64_t i = 0; i < count; i++) {
        weights[i] /= total;
    }
    while (generation->top_p < 1.0 && count > 1 && (dropped += weights[count - 1]) <= 1.0 - generation->top_p) {
        count--;
    }
    for (int64_t i = 0; i < count; i++) {
        kept += weights[i];
    }
    double left = uniform * kept;
    int64_t at = 0;
    while (at + 1 < count && (left -= weights[at]) >= 0.0) {
        at++;
    }
    return tokens[at].id;
}

/* The same seed gives the same tokens for every k: a few or most of the vocabulary, many equal logits, some NaN. */
static void check_sorted(const float *logits, int64_t k, double top_p) {
    enum { DRAWS = 20 };
    static struct plain tokens[MOST];
    static struct graft_candidate candidates[MOST], room[MOST];
    const struct graft_generation generation = {.struct_size = sizeof generation,
                                                .do_sample = 1,
                                                .temperature = 1.3,
                                                .top_k = k,
                                                .top_p = top_p,
                                                .repetition_penalty = 1.0};
    const int64_t count = plain_top_k(logits, MOST, k, tokens);
    struct graft_sampler_state state;
    struct graft_sampler *sampler;
    assert_int_equal(graft_candidates_take(logits, MOST, k, candidates, room), count);
    for (int64_t i = 0; i < count; i++) {
        assert_int_equal(candidates[i].id, tokens[i].id);
    }
    const struct graft_choice choice = {.generation = &generation};
    graft_sampler_state_init(&state, 11, 0);
    assert_int_equal(graft_sampler_create(MOST, &sampler, NULL), GRAFT_OK);
    for (int i = 0; i < DRAWS; i++) {
        int32_t wanted = plain_draw(&generation, tokens, count, uniform_of(&state));
        int32_t id = -1;
        assert_int_equal(graft_sampler_pick(sampler, &choice, logits, &state, &id, NULL), GRAFT_OK);
        assert_int_equal(id, wanted);
    }
    graft_sampler_free(sampler);
}

static void test_top_k(void **state) {
    static const int64_t counts[] = {1, 2, 50, 1023, 1024, 1025, 4000, MOST - 1};
    static float logits[MOST];
    (void)state;
    for (int64_t steps = 3; steps <= 3000000; steps *= 1000) { /* as many different logits, or fewer */
        struct graft_sampler_state random = {5};
        for (int64_t i = 0; i < MOST; i++) {
            double uniform = uniform_of(&random);
            random.state += 0x9e3779b97f4a7c15u;
            logits[i] = (float)(floor(uniform * (double)steps) / (double)steps - 0.5) * 6.0F;
        }
        logits[7] = logits[4000] = -0.0F;
        logits[8] = 0.0F;
        logits[0] = logits[300] = NAN;
        logits[1] = -INFINITY;
        for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
            check_sorted(logits, counts[i], 1.0);
            check_sorted(logits, counts[i], 0.7);
        }
    }
}

static int run_all(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_alone),       cmocka_unit_test(test_none),  cmocka_unit_test(test_punished),
        cmocka_unit_test(test_frequencies), cmocka_unit_test(test_equal), cmocka_unit_test(test_top_p),
        cmocka_unit_test(test_top_k),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(void) {
    return each_isa(run_all);
}
