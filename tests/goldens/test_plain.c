/* SPDX-License-Identifier: Apache-2.0 */
/* test_plain CASE-DIRECTORY [PLUGINS-DIRECTORY]: compares an unpatched model, of a family of the host or of a plugin,
 * with the reference, and with itself when it is called in other ways. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "compare.h"
#include "kernels/cpu.h"
#include "kernels/threads.h"

enum { PREFIXES = 3 };

/* The prompt's prefixes in one batch give the same as each alone. */
static void check_ragged(const struct golden *golden, const struct runner *runner) {
    const size_t lengths[PREFIXES] = {1, golden->n_ids / 2, golden->n_ids};
    struct graft_prompt prompts[PREFIXES];
    struct graft_error error = graft_error_none();
    size_t tokens = 0;
    for (size_t i = 0; i < PREFIXES; i++) {
        prompts[i] =
            (struct graft_prompt){.struct_size = sizeof(struct graft_prompt), .ids = golden->ids, .count = lengths[i]};
        tokens += lengths[i];
    }
    float *together = need_memory(tokens * runner->vocab_size, sizeof *together);
    need(graft_model_logits(runner->model, prompts, PREFIXES, together, &error), &error);
    const float *at = together;
    for (size_t i = 0; i < PREFIXES; i++) {
        float *alone = runner_logits(runner, golden->ids, lengths[i]);
        double difference = max_difference(at, alone, lengths[i] * runner->vocab_size);
        (void)printf("ragged, %zu tokens: %g from alone\n", lengths[i], difference);
        check(difference <= compare_tolerance(golden), "ragged, %zu tokens: %g from alone", lengths[i], difference);
        at += lengths[i] * runner->vocab_size;
        free(alone);
    }
    free(together);
}

/* The prompt in two pieces gives the same as in one, wherever it is cut. */
static void check_pieces(const struct golden *golden, const struct runner *runner) {
    size_t vocab_size = runner->vocab_size;
    float *whole = runner_logits(runner, golden->ids, golden->n_ids);
    const size_t cuts[] = {1, golden->n_ids / 2, golden->n_ids - 1};
    for (size_t i = 0; i < sizeof cuts / sizeof cuts[0]; i++) {
        struct graft_session *session = runner_session(runner, 1);
        size_t rest = golden->n_ids - cuts[i];
        const float *first = runner_step(session, golden->ids, cuts[i], GRAFT_LOGITS_ALL);
        double before = max_difference(first, whole, cuts[i] * vocab_size);
        const float *second = runner_step(session, golden->ids + cuts[i], rest, GRAFT_LOGITS_ALL);
        double after = max_difference(second, whole + cuts[i] * vocab_size, rest * vocab_size);
        check(before <= compare_tolerance(golden) && after <= compare_tolerance(golden),
              "cut after %zu tokens: %g and %g from whole", cuts[i], before, after);
        graft_session_free(session);
    }
    free(whole);
}

/* Feeds `count` ids to a slot; returns whether the logits equal the given ones. */
static void check_step(struct graft_session *session, int32_t slot, const int32_t *ids, size_t count,
                       const float *expected, size_t vocab_size, const char *what) {
    const struct graft_ids_view news = {.ids = ids, .count = count};
    struct graft_error error = graft_error_none();
    const float *logits = NULL;
    need(graft_session_step(session, &slot, &news, 1, GRAFT_LOGITS_ALL, &logits, &error), &error);
    check(memcmp(logits, expected, count * vocab_size * sizeof *logits) == 0, "%s: other logits than without", what);
}

/* A rewound sequence and a forked one continue like one that was only fed. */
static void check_forks(const struct golden *golden, const struct runner *runner) {
    size_t cut = golden->n_ids / 2;
    size_t rest = golden->n_ids - cut;
    size_t bytes = rest * runner->vocab_size * sizeof(float);
    struct graft_error error = graft_error_none();
    int64_t reached = -1;
    struct graft_session *session = runner_session(runner, 2);
    (void)runner_step(session, golden->ids, cut, GRAFT_LOGITS_ALL);
    need(graft_session_fork(session, 0, 1, &error), &error);
    float *expected = need_memory(bytes, 1);
    memcpy(expected, runner_step(session, golden->ids + cut, rest, GRAFT_LOGITS_ALL), bytes);
    need(graft_session_rewind(session, 0, (int64_t)cut, &reached, &error), &error);
    check(reached == (int64_t)cut, "rewound to %lld, expected %zu", (long long)reached, cut);
    check_step(session, 0, golden->ids + cut, rest, expected, runner->vocab_size, "rewound");
    check_step(session, 1, golden->ids + cut, rest, expected, runner->vocab_size, "forked");
    graft_session_free(session);
    free(expected);
}

/* Runs every build of the kernels that this machine supports. */
static void check_isas(const struct golden *golden, const struct runner *runner) {
    int used = graft_cpu_isa();
    for (int isa = GRAFT_ISA_SCALAR; isa <= graft_cpu_best_isa(); isa++) {
        graft_cpu_set_isa(isa);
        compare_logits(golden, runner, graft_cpu_isa_name(isa));
    }
    graft_cpu_set_isa(used);
}

/* In f32 the number of threads changes no bit. */
static void check_threads(const struct golden *golden, const struct runner *runner) {
    size_t bytes = golden->n_ids * runner->vocab_size * sizeof(float);
    graft_threads_set_count(1);
    float *one = runner_logits(runner, golden->ids, golden->n_ids);
    for (int32_t count = 2; count <= 3; count++) {
        graft_threads_set_count(count);
        float *several = runner_logits(runner, golden->ids, golden->n_ids);
        check(memcmp(one, several, bytes) == 0, "%d threads: other logits than with one", (int)count);
        free(several);
    }
    graft_threads_set_count(0);
    free(one);
}

int main(int argc, char **argv) {
    struct golden golden;
    struct runner runner;
    if (argc < 2 || argc > 3) {
        (void)fputs("usage: test_plain CASE-DIRECTORY [PLUGINS-DIRECTORY]\n", stderr);
        return 2;
    }
    golden_open(&golden, argv[1]);
    runner_open(&runner, argv[1], argv[2], GRAFT_PRECISION_FLOAT32);
    compare_structure(&golden, &runner);
    compare_logits(&golden, &runner, "float32");
    compare_greedy(&golden, &runner);
    compare_states(&golden, &runner);
    compare_spread(&golden, argv[2]);
    check_ragged(&golden, &runner);
    if (golden_cache_difference(&golden) <= F32_TOLERANCE) {
        check_pieces(&golden, &runner);
        check_forks(&golden, &runner);
    }
    check_isas(&golden, &runner);
    check_threads(&golden, &runner);
    runner_close(&runner);
    golden_close(&golden);
    return check_failures() != 0;
}
