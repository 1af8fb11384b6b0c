/* SPDX-License-Identifier: Apache-2.0 */
/* Guessed tokens: the guesses, unchanged results to the id, with and without states, and fewer forwards for texts that
 * repeat themselves. This requires that few tokens give the same numbers together as one by one. */
#include "../../sdk/examples/short_conv/short_conv.c"
#include "library_fixture.h"

#include "generate/draft.h"
#include "kernels/kernels.h"
#include "library/library.h"

enum { VOCAB = 583, NEW_TOKENS = 60, PROMPTS = 3, RICH = 10000 };

static struct graft_error error;
static int64_t forwards; /* of layer 0 */

static int counting_forward(void *self, const struct graft_call *call, const struct graft_mlp_args *args,
                            struct graft_error *failure) {
    const struct graft_module *super = self;
    forwards += strcmp(super->path, "model.layers.0.mlp") == 0;
    return graft_mlp_forward(super, call, args, failure);
}

static const struct graft_mlp counting_vtable = {.struct_size = sizeof counting_vtable, .forward = counting_forward};
static const struct graft_class counting_mlp = SUPER_CLASS("CountingMLP", GRAFT_INTERFACE_MLP, &counting_vtable);

static void check(int status) {
    if (status != GRAFT_OK) {
        fail_msg("%s: %s", error.source, error.message);
    }
}

static struct graft_model *load(struct graft_library *library, int32_t precision) {
    const struct graft_model_options options = {.struct_size = sizeof options, .precision = precision};
    struct graft_model *model = NULL;
    char path[512];
    check(graft_model_open(library, llama_directory(path), &options, &model, &error));
    check(graft_model_load(model, &error));
    return model;
}

static void test_guesses(void **state) {
    static const struct {
        int32_t ids[16];
        size_t count;
        size_t most;
        int32_t wanted[4]; /* up to -1 */
    } cases[] = {
        {{1, 2, 3, 4, 1, 2}, 6, 8, {3, 4, 1, -1}},           /* as it continued before, three ids at first */
        {{1, 2, 3, 4, 1, 2}, 6, 2, {3, 4, -1}},              /* no more than asked for */
        {{1, 2, 3, 4, 5, 2}, 6, 8, {-1}},                    /* a single equal id may be chance */
        {{1, 2, 7, 1, 2, 8, 1, 2}, 8, 8, {8, 1, 2, -1}},     /* the later place */
        {{3, 1, 2, 7, 4, 1, 2, 8, 3, 1, 2}, 11, 1, {7, -1}}, /* a longer match before a later one */
        {{5, 5, 5}, 3, 8, {5, 5, 5, -1}},                    /* the guess itself repeats */
        {{1, 2}, 2, 8, {-1}},
        {{1, 2, 3, 1, 2}, 5, 0, {-1}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct graft_draft draft = {.credit = RICH};
        int32_t ids[16];
        memcpy(ids, cases[i].ids, sizeof ids);
        size_t n = graft_draft_guess(&draft, ids, cases[i].count, cases[i].most);
        for (size_t j = 0; j < n; j++) {
            assert_int_equal(ids[cases[i].count + j], cases[i].wanted[j]);
        }
        assert_int_equal(cases[i].wanted[n], -1);
    }
}

/* After wrong guesses it waits, longer each time; a right one ends the wait, and right ones make guesses longer. */
static void test_pauses(void **state) {
    static const size_t pauses[] = {1, 3, 7, 15, 31, 63, 63};
    struct graft_draft draft = {.credit = RICH};
    int32_t ids[64] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2};
    (void)state;
    for (size_t i = 0; i < sizeof pauses / sizeof pauses[0]; i++) {
        assert_true(graft_draft_guess(&draft, ids, 11, 8) > 0);
        graft_draft_learn(&draft, 2, 0);
        for (size_t j = 0; j < pauses[i]; j++) {
            assert_int_equal(graft_draft_guess(&draft, ids, 11, 8), 0);
        }
    }
    assert_int_equal(graft_draft_guess(&draft, ids, 11, 8), 1);
    graft_draft_learn(&draft, 1, 1);
    assert_int_equal(graft_draft_guess(&draft, ids, 11, 8), 2);
    graft_draft_learn(&draft, 2, 2);
    assert_int_equal(graft_draft_guess(&draft, ids, 11, 8), 4);
    graft_draft_learn(&draft, 4, 0);
    assert_int_equal(graft_draft_guess(&draft, ids, 11, 8), 0);
}

struct effort {
    size_t forwards;
    size_t guesses;
    size_t forwards_with_guesses;
};

/* Generates `count` ids after a prompt: if guesses can be right, the prompt again except for one id of every 25;
 * otherwise ids for which there always is a guess, all of which count as wrong. */
static struct effort generate_ids(size_t count, int is_right) {
    enum { PROMPT = 100, MOST = 15, CHANGED = 25 };
    struct effort effort = {0};
    struct graft_draft draft = {0};
    int32_t ids[PROMPT + 256 + MOST];
    size_t got = 0;
    for (int32_t i = 0; i < PROMPT; i++) {
        ids[i] = is_right ? i : i % 3;
    }
    while (got < count) {
        size_t most = count - got - 1 < MOST ? count - got - 1 : MOST;
        size_t guesses = graft_draft_guess(&draft, ids, PROMPT + got, most);
        size_t right = 0;
        for (int more = 1; more; got++) {
            int32_t next = (int32_t)(got % PROMPT);
            next = got % CHANGED == CHANGED - 1 ? 1000 : next;
            more = is_right && right < guesses && ids[PROMPT + got] == next;
            right += (size_t)more;
            ids[PROMPT + got] = is_right ? next : (int32_t)((PROMPT + got) % 3);
        }
        graft_draft_learn(&draft, guesses, right);
        effort.forwards++;
        effort.guesses += guesses;
        effort.forwards_with_guesses += guesses > 0;
    }
    return effort;
}

/* If a forward takes 0.15 longer with guesses and 0.1 for each of them, texts lose at most 3 % if every guess is wrong,
 * and texts that quote take less than two thirds of the time. */
static void test_effort(void **state) {
    static const size_t counts[] = {16, 17, 24, 32, 48, 64, 100, 128, 200, 256};
    (void)state;
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        struct effort wrong = generate_ids(counts[i], 0);
        struct effort right = generate_ids(counts[i], 1);
        assert_int_equal(wrong.forwards, counts[i]);
        assert_true(wrong.guesses > 0);
        assert_true(15 * wrong.forwards_with_guesses + 10 * wrong.guesses <= 3 * counts[i]);
        assert_true(3 * (100 * right.forwards + 15 * right.forwards_with_guesses + 10 * right.guesses) <=
                    2 * 100 * counts[i]);
    }
}

struct heard {
    int32_t ids[PROMPTS][NEW_TOKENS];
    size_t count[PROMPTS];
};

static int hear(void *data, size_t sequence, int32_t id, int last, struct graft_error *failure) {
    struct heard *heard = data;
    (void)failure;
    assert_true(heard->count[sequence] < NEW_TOKENS);
    heard->ids[sequence][heard->count[sequence]++] = id;
    assert_true(!last || heard->count[sequence] == NEW_TOKENS);
    return GRAFT_OK;
}

static const int32_t repeating[] = {5, 6, 7, 8, 9, 5, 6, 7, 8, 9, 5};
static const int32_t plain[] = {100, 30, 512, 77};
static const int32_t single[] = {42};
static const struct graft_prompt prompts[PROMPTS] = {{.struct_size = sizeof prompts[0], .ids = repeating, .count = 11},
                                                     {.struct_size = sizeof prompts[0], .ids = plain, .count = 4},
                                                     {.struct_size = sizeof prompts[0], .ids = single, .count = 1}};

static double repetition_penalty = 1.0;

static struct heard generate(struct graft_model *model, size_t first, size_t n, double temperature, int32_t speculate) {
    struct graft_generation generation = {.struct_size = sizeof generation};
    struct heard heard = {0};
    graft_model_generation(model, &generation);
    generation.max_new_tokens = NEW_TOKENS;
    generation.ignore_eos = 1;
    generation.do_sample = temperature > 0.0;
    generation.temperature = temperature > 0.0 ? temperature : 1.0;
    generation.seed = 7;
    generation.repetition_penalty = repetition_penalty;
    generation.speculate = speculate;
    forwards = 0;
    check(graft_model_generate(model, prompts + first, n, &generation, hear, &heard, &error));
    return heard;
}

/* The ids of every prompt, alone and together, greedy and sampled, do not depend on the number of guesses. */
static void same_text(struct graft_library *library, int32_t precision) {
    static const struct {
        size_t first;
        size_t n;
    } batches[] = {{0, 1}, {1, 1}, {2, 1}, {0, 2}, {0, 3}};
    static const double temperatures[] = {0.0, 0.05, 1.5};
    static const int32_t guesses[] = {1, 3, 11, 1000};
    struct graft_model *model = load(library, precision);
    for (size_t i = 0; i < sizeof batches / sizeof batches[0]; i++) {
        for (size_t j = 0; j < sizeof temperatures / sizeof temperatures[0]; j++) {
            struct heard wanted = generate(model, batches[i].first, batches[i].n, temperatures[j], 0);
            assert_int_equal(forwards, NEW_TOKENS);
            for (size_t k = 0; k < sizeof guesses / sizeof guesses[0]; k++) {
                struct heard heard = generate(model, batches[i].first, batches[i].n, temperatures[j], guesses[k]);
                assert_memory_equal(&heard, &wanted, sizeof heard);
            }
        }
    }
    graft_model_free(model);
}

static void test_same_text(void **state) {
    struct graft_library *library = new_library();
    (void)state;
    put(library, "LlamaMLP", &counting_mlp);
    same_text(library, GRAFT_PRECISION_FLOAT32);
    same_text(library, GRAFT_PRECISION_BFLOAT16);
    graft_library_free(library);
}

static void test_same_text_with_states(void **state) {
    struct graft_library *library = new_library();
    (void)state;
    put(library, "LlamaMLP", &counting_mlp);
    put(library, "LlamaDecoderLayer", &short_conv);
    same_text(library, GRAFT_PRECISION_FLOAT32);
    graft_library_free(library);
}

/* If tokens that occurred are favoured, a model of random weights repeats itself, which is guessed. */
static void test_forwards_are_saved(void **state) {
    struct graft_library *library = new_library();
    (void)state;
    put(library, "LlamaMLP", &counting_mlp);
    struct graft_model *model = load(library, GRAFT_PRECISION_FLOAT32);
    repetition_penalty = 0.5;
    struct heard wanted = generate(model, 0, 1, 0.0, 0);
    struct heard heard = generate(model, 0, 1, 0.0, 8);
    repetition_penalty = 1.0;
    assert_memory_equal(&heard, &wanted, sizeof heard);
    print_message("%lld forwards for %d tokens\n", (long long)forwards, NEW_TOKENS);
    assert_true(forwards < NEW_TOKENS * 2 / 3);
    graft_model_free(model);
    graft_library_free(library);
}

static void test_refused(void **state) {
    struct graft_library *library = new_library();
    struct graft_generation generation = {.struct_size = sizeof generation};
    (void)state;
    struct graft_model *model = load(library, GRAFT_PRECISION_FLOAT32);
    graft_model_generation(model, &generation);
    generation.speculate = -1;
    assert_int_equal(graft_model_generate(model, prompts, 1, &generation, hear, NULL, &error), GRAFT_ERROR_USAGE);
    assert_string_equal(error.source, "speculate");
    graft_model_free(model);
    graft_library_free(library);
}

/* The logits of a few tokens after others, fed together and one by one. */
static void test_few_tokens_together(void **state) {
    static const int32_t precisions[] = {GRAFT_PRECISION_FLOAT32, GRAFT_PRECISION_BFLOAT16};
    enum { PAST = 300 };
    struct graft_library *library = new_library();
    int32_t ids[PAST + GRAFT_SMALL_BATCH];
    float *wanted = malloc(sizeof *wanted * GRAFT_SMALL_BATCH * VOCAB);
    const int32_t slots[] = {0, 1};
    (void)state;
    assert_non_null(wanted);
    for (int32_t i = 0; i < PAST + GRAFT_SMALL_BATCH; i++) {
        ids[i] = i * i % VOCAB;
    }
    const struct graft_ids_view before = {.ids = ids, .count = PAST};
    const struct graft_ids_view few = {.ids = ids + PAST, .count = GRAFT_SMALL_BATCH};
    const struct graft_ids_view both[] = {before, before};
    for (size_t p = 0; p < sizeof precisions / sizeof precisions[0]; p++) {
        struct graft_model *model = load(library, precisions[p]);
        struct graft_session *session = NULL;
        const float *logits = NULL;
        check(graft_model_session(model, 2, &session, &error));
        check(graft_session_step(session, slots, both, 2, GRAFT_LOGITS_LAST, &logits, &error));
        for (size_t i = 0; i < GRAFT_SMALL_BATCH; i++) {
            const struct graft_ids_view one = {.ids = ids + PAST + i, .count = 1};
            check(graft_session_step(session, &slots[0], &one, 1, GRAFT_LOGITS_LAST, &logits, &error));
            memcpy(wanted + i * VOCAB, logits, VOCAB * sizeof *wanted);
        }
        check(graft_session_step(session, &slots[1], &few, 1, GRAFT_LOGITS_ALL, &logits, &error));
        assert_memory_equal(logits, wanted, sizeof *wanted * GRAFT_SMALL_BATCH * VOCAB);
        graft_session_free(session);
        graft_model_free(model);
    }
    free(wanted);
    graft_library_free(library);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_guesses),
        cmocka_unit_test(test_pauses),
        cmocka_unit_test(test_effort),
        cmocka_unit_test(test_same_text),
        cmocka_unit_test(test_same_text_with_states),
        cmocka_unit_test(test_forwards_are_saved),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_few_tokens_together),
    };
    error = graft_error_none();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
