/* SPDX-License-Identifier: Apache-2.0 */
/* Runs sequences alone and together, and compares their tokens and logits. */
#ifndef GRAFT_TEST_SEQUENCES_FIXTURE_H
#define GRAFT_TEST_SEQUENCES_FIXTURE_H

#include "library_fixture.h"

enum { PIECE = 64, SEQUENCES = 22, NEW_TOKENS = 12, LONGEST = 3 * PIECE + 40, SHARED = 2 * PIECE + 9 };

static struct graft_error error;

static inline void check(int status) {
    if (status != GRAFT_OK) {
        fail_msg("%s: %s", error.source, error.message);
    }
}

/* A sequence's request, and its results. */
struct request {
    int32_t ids[LONGEST];
    size_t count;
    const char *adapter; /* or NULL */
    struct graft_generation generation;
    int64_t number; /* its id; -1: not running */
    int joins;      /* step at which it is added, when all run together */
    int leaves;     /* step at which it is cancelled; 0: never */
    int32_t got[NEW_TOKENS];
    size_t n_got;
    float *logits; /* [NEW_TOKENS, vocab] */
    int32_t end;
};

static inline struct graft_model *open_with(struct graft_library *library, const char *path,
                                            const struct graft_model_options *options) {
    struct graft_model *model = NULL;
    check(graft_model_open(library, path, options, &model, &error));
    check(graft_model_load(model, &error));
    return model;
}

static inline struct graft_model *open_model(struct graft_library *library, const char *path, int32_t precision) {
    const struct graft_model_options options = {.struct_size = sizeof options, .precision = precision};
    return open_with(library, path, &options);
}

/* Prompts of one token and of several pieces; every fourth begins like the first. Some are sampled, some guess tokens,
 * some have beams or guidance, and some avoid repetitions. */
static inline void make_request(struct request *request, const struct graft_model *model, int number) {
    static const size_t counts[] = {1, 5, 16, 17, 40, PIECE, PIECE + 1, 2 * PIECE + 30, LONGEST};
    int64_t vocab = graft_model_vocab_size(model);
    *request =
        (struct request){.number = -1, .joins = number / 4, .generation = {.struct_size = sizeof request->generation}};
    request->count = number % 4 == 0 ? (size_t)SHARED + (size_t)number : counts[(size_t)number % 9];
    for (size_t i = 0; i < request->count; i++) {
        int64_t seed = number % 4 == 0 && i < SHARED ? 7 : 31 * number + 3;
        request->ids[i] = (int32_t)((seed + (int64_t)(i % 11 * i)) % vocab);
    }
    graft_model_generation(model, &request->generation);
    request->generation.max_new_tokens = NEW_TOKENS - number % 3;
    request->generation.ignore_eos = 1;
    request->generation.do_sample = number % 5 == 1;
    request->generation.temperature = 1.0;
    request->generation.top_p = 1.0;
    request->generation.seed = (uint64_t)number;
    request->generation.speculate = number % 3 == 2 ? 4 : 0;
    request->generation.repetition_penalty = number % 3 == 2 ? 0.7 : 1.0;
    request->generation.no_repeat_ngram_size = number % 6 == 5 ? 2 : 0;
    request->generation.num_beams = number % 11 == 3 ? 3 : 1;
    request->generation.guidance_scale = number % 11 == 4 ? 1.5 : 1.0;
    request->logits = calloc((size_t)vocab * NEW_TOKENS, sizeof(float));
    assert_non_null(request->logits);
}

static inline struct graft_sequences *create(struct graft_model *model, int32_t running, int64_t step_tokens) {
    const struct graft_sequences_options options = {
        .struct_size = sizeof options, .max_running = running, .piece_tokens = PIECE, .step_tokens = step_tokens};
    struct graft_sequences *sequences = NULL;
    check(graft_sequences_create(model, &options, &sequences, &error));
    return sequences;
}

static inline void add(struct graft_sequences *sequences, struct request *request) {
    const struct graft_prompt prompt = {
        .struct_size = sizeof prompt, .ids = request->ids, .count = request->count, .adapter = request->adapter};
    const struct graft_sequence_options options = {.struct_size = sizeof options,
                                                   .gives_logits = request->generation.num_beams <= 1,
                                                   .generation = &request->generation};
    check(graft_sequences_add(sequences, &prompt, &options, &request->number, &error));
}

/* Runs one step, and hands its tokens to the requests. */
static inline void step(struct graft_sequences *sequences, struct request *requests, int n, int64_t vocab) {
    const struct graft_sequence_token *tokens = NULL;
    size_t n_tokens = 0;
    check(graft_sequences_step(sequences, &tokens, &n_tokens, &error));
    for (size_t i = 0; i < n_tokens; i++) {
        struct request *request = NULL;
        for (int j = 0; j < n; j++) {
            request = requests[j].number == tokens[i].sequence ? &requests[j] : request;
        }
        assert_non_null(request);
        assert_true(request->n_got < NEW_TOKENS);
        assert_int_equal(tokens[i].logits != NULL, request->generation.num_beams <= 1);
        if (tokens[i].logits != NULL) {
            memcpy(request->logits + (int64_t)request->n_got * vocab, tokens[i].logits, (size_t)vocab * sizeof(float));
        }
        request->got[request->n_got++] = tokens[i].id;
        request->end = tokens[i].end;
    }
}

static inline void run_alone(struct graft_model *model, struct request *request) {
    struct graft_sequences *sequences = create(model, 0, 0);
    add(sequences, request);
    while (graft_sequences_count(sequences) > 0) {
        step(sequences, request, 1, graft_model_vocab_size(model));
    }
    assert_int_equal(request->n_got, request->generation.max_new_tokens);
    assert_int_equal(request->end, GRAFT_SEQUENCE_COMPLETE);
    graft_sequences_free(sequences);
}

static inline struct graft_sequences_counts run_together(struct graft_model *model, struct request *requests, int n,
                                                         int32_t running) {
    struct graft_sequences_counts counts = {.struct_size = sizeof counts};
    struct graft_sequences *sequences = create(model, running, running == 0 ? 8 * PIECE : 0);
    int added = 0;
    for (int now = 0; added < n || graft_sequences_count(sequences) > 0; now++) {
        for (int i = 0; i < n; i++) {
            if (requests[i].joins == now) {
                add(sequences, &requests[i]);
                added++;
            }
            if (requests[i].leaves > 0 && requests[i].leaves == now) {
                check(graft_sequences_remove(sequences, requests[i].number, &error));
            }
        }
        step(sequences, requests, n, graft_model_vocab_size(model));
    }
    graft_sequences_get_counts(sequences, &counts);
    graft_sequences_free(sequences);
    return counts;
}

static inline void assert_same(const struct request *together, const struct request *alone, int64_t vocab) {
    assert_true(together->leaves > 0 || together->n_got == alone->n_got);
    assert_memory_equal(together->got, alone->got, together->n_got * sizeof together->got[0]);
    assert_memory_equal(together->logits, alone->logits, together->n_got * (size_t)vocab * sizeof(float));
}

/* Runs all requests at once, with as many prompts in a forward as allowed, and then five at a time, piece by piece.
 * `takes_over`: whether prompts that begin alike are shared. The `adapters` [n_adapters] are chosen in turn. */
static inline void same_alone(struct graft_model *model, const char *const *adapters, int n_adapters, int takes_over) {
    static struct request alone[SEQUENCES], together[SEQUENCES];
    int64_t vocab = graft_model_vocab_size(model);
    for (int32_t running = 0; running <= 5; running += 5) {
        for (int i = 0; i < SEQUENCES; i++) {
            make_request(&alone[i], model, i);
            make_request(&together[i], model, i);
            alone[i].adapter = together[i].adapter = n_adapters > 0 ? adapters[i % n_adapters] : NULL;
            together[i].leaves = running == 0 && i % 7 == 3 ? together[i].joins + 4 : 0;
            run_alone(model, &alone[i]);
        }
        struct graft_sequences_counts counts = run_together(model, together, SEQUENCES, running);
        for (int i = 0; i < SEQUENCES; i++) {
            assert_same(&together[i], &alone[i], vocab);
            free(alone[i].logits);
            free(together[i].logits);
        }
        assert_true(!takes_over || running > 0 || counts.shared_tokens >= 5 * 2 * PIECE);
        print_message("%lld forwards, %lld tokens read and %lld reused\n", (long long)counts.forwards,
                      (long long)counts.prompt_tokens, (long long)counts.shared_tokens);
    }
}

#endif
