/* SPDX-License-Identifier: Apache-2.0 */
/* Sampled continuations of beams: none twice, and in sequence as often as their probabilities say. Beams without
 * sampling are tested with goldens. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "generate/beams.h"

enum { VOCAB = 5, DRAWS = 40000 };

static const double probabilities[VOCAB] = {0.5, 0.25, 0.15, 0.1, 0.0};

/* The first step of two beams, which chooses four candidates. */
static struct graft_sequence *lead_of(int32_t do_sample) {
    static const int32_t id = 1;
    static const struct graft_ids_view prompt = {.ids = &id, .count = 1};
    struct graft_generation generation = graft_generation_default();
    generation.num_beams = 2;
    generation.do_sample = do_sample;
    struct graft_sequence *lead = graft_sequence_create(&prompt, &generation, NULL, 0, 0);
    assert_non_null(lead);
    return lead;
}

static void offer(struct graft_beams *beams) {
    float scores[VOCAB];
    for (int i = 0; i < VOCAB; i++) {
        scores[i] = (float)log(probabilities[i]);
    }
    assert_int_equal(graft_beams_offer(beams, 0, scores, NULL), GRAFT_OK);
}

static void test_drawn(void **state) {
    struct graft_sequence *lead = lead_of(1);
    struct graft_beams *beams = NULL;
    int pairs[VOCAB][VOCAB] = {{0}};
    (void)state;
    assert_int_equal(graft_beams_create(lead, VOCAB, &beams, NULL), GRAFT_OK);
    assert_int_equal(graft_beams_candidates(beams), 4);
    const struct graft_beam_candidate *chosen = graft_beams_chosen(beams);
    for (int i = 0; i < DRAWS; i++) {
        offer(beams);
        graft_beams_choose(beams, &lead->state);
        pairs[chosen[0].id][chosen[1].id]++;
        assert_true(chosen[3].id != chosen[2].id && chosen[3].id != 4);
    }
    for (int first = 0; first < VOCAB; first++) {
        for (int second = 0; second < VOCAB; second++) {
            const double p = probabilities[first];
            const double expected = first == second || p == 0.0 ? 0.0 : p * probabilities[second] / (1.0 - p);
            const double deviation = sqrt(expected * (1.0 - expected) * DRAWS);
            assert_true(fabs((double)pairs[first][second] - expected * DRAWS) <= 5.0 * deviation);
        }
    }
    graft_beams_free(beams);
    graft_sequence_free(lead);
}

static void test_best(void **state) {
    struct graft_sequence *lead = lead_of(0);
    struct graft_beams *beams = NULL;
    (void)state;
    assert_int_equal(graft_beams_create(lead, VOCAB, &beams, NULL), GRAFT_OK);
    offer(beams);
    graft_beams_choose(beams, &lead->state);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(graft_beams_chosen(beams)[i].id, i);
        assert_true(graft_beams_chosen(beams)[i].score == (float)log(probabilities[i]));
    }
    graft_beams_free(beams);
    graft_sequence_free(lead);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_drawn), cmocka_unit_test(test_best)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
