/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sequences that come and go: what each gets is what it gets alone, to the bit of every logit, whoever joins and leaves
 * meanwhile; prompts that begin alike are read once; and what is refused.
 */
#include "library_fixture.h"

#include "graft/host/profile.h"

enum { PIECE = 64, SEQUENCES = 22, NEW_TOKENS = 12, LONGEST = 3 * PIECE + 40, SHARED = 2 * PIECE + 9 };

static struct graft_error error;

static void check(int status) {
    if (status != GRAFT_OK) {
        fail_msg("%s: %s", error.source, error.message);
    }
}

/* What a sequence is given, and what it got. */
struct request {
    int32_t ids[LONGEST];
    size_t count;
    struct graft_generation generation;
    int64_t number; /* -1: not there */
    int joins;      /* at this step, when all run together */
    int leaves;     /* at this step; 0: never */
    int32_t got[NEW_TOKENS];
    size_t n_got;
    float *logits; /* [NEW_TOKENS, vocab] */
    int32_t end;
};

static struct graft_model *open_model(struct graft_library *library, const char *path, int32_t precision) {
    const struct graft_model_options options = {.struct_size = sizeof options, .precision = precision};
    struct graft_model *model = NULL;
    check(graft_model_open(library, path, &options, &model, &error));
    check(graft_model_load(model, &error));
    return model;
}

/* Prompts of one token and of several pieces; every fourth begins as the first does. Some draw, some guess. */
static void make_request(struct request *request, const struct graft_model *model, int number) {
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
    request->logits = malloc((size_t)vocab * NEW_TOKENS * sizeof(float));
    assert_non_null(request->logits);
}

static struct graft_sequences *create(struct graft_model *model, int32_t running) {
    const struct graft_sequences_options options = {
        .struct_size = sizeof options, .max_running = running, .piece_tokens = PIECE};
    struct graft_sequences *sequences = NULL;
    check(graft_sequences_create(model, &options, &sequences, &error));
    return sequences;
}

static void add(struct graft_sequences *sequences, struct request *request) {
    const struct graft_prompt prompt = {.ids = request->ids, .count = request->count};
    const struct graft_sequence_options options = {
        .struct_size = sizeof options, .gives_logits = 1, .generation = &request->generation};
    check(graft_sequences_add(sequences, &prompt, &options, &request->number, &error));
}

/* One step, whose tokens go to the requests. */
static void step(struct graft_sequences *sequences, struct request *requests, int n, int64_t vocab) {
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
        assert_non_null(tokens[i].logits);
        memcpy(request->logits + (int64_t)request->n_got * vocab, tokens[i].logits, (size_t)vocab * sizeof(float));
        request->got[request->n_got++] = tokens[i].id;
        request->end = tokens[i].end;
    }
}

static void run_alone(struct graft_model *model, struct request *request) {
    struct graft_sequences *sequences = create(model, 0);
    add(sequences, request);
    while (graft_sequences_count(sequences) > 0) {
        step(sequences, request, 1, graft_model_vocab_size(model));
    }
    assert_int_equal(request->n_got, request->generation.max_new_tokens);
    assert_int_equal(request->end, GRAFT_SEQUENCE_COMPLETE);
    graft_sequences_free(sequences);
}

static struct graft_sequences_counts run_together(struct graft_model *model, struct request *requests, int n,
                                                  int32_t running) {
    struct graft_sequences_counts counts = {.struct_size = sizeof counts};
    struct graft_sequences *sequences = create(model, running);
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

static void assert_same(const struct request *together, const struct request *alone, int64_t vocab) {
    assert_true(together->leaves > 0 || together->n_got == alone->n_got);
    assert_memory_equal(together->got, alone->got, together->n_got * sizeof together->got[0]);
    assert_memory_equal(together->logits, alone->logits, together->n_got * (size_t)vocab * sizeof(float));
}

/* `takes_over`: whether prompts that begin alike are known to be shared. */
static void same_alone(struct graft_library *library, const char *path, int32_t precision, int takes_over) {
    static struct request alone[SEQUENCES], together[SEQUENCES];
    struct graft_model *model = open_model(library, path, precision);
    int64_t vocab = graft_model_vocab_size(model);
    for (int32_t running = 0; running <= 5; running += 5) {
        for (int i = 0; i < SEQUENCES; i++) {
            make_request(&alone[i], model, i);
            make_request(&together[i], model, i);
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
        print_message("%s: %lld forwards, %lld tokens read and %lld taken over\n", strrchr(path, '/') + 1,
                      (long long)counts.forwards, (long long)counts.prompt_tokens, (long long)counts.shared_tokens);
    }
    graft_model_free(model);
}

static void same_alone_of(const char *golden, int32_t precision) {
    struct graft_library *library = new_library();
    char path[512];
    (void)snprintf(path, sizeof path, "%s/plain/%s", getenv("GRAFT_TEST_GOLDENS"), golden);
    same_alone(library, path, precision, 1);
    graft_library_free(library);
}

static void test_llama(void **state) {
    (void)state;
    same_alone_of("llama", GRAFT_PRECISION_FLOAT32);
    same_alone_of("llama_bf16", GRAFT_PRECISION_AUTO);
}

static void test_experts(void **state) {
    (void)state;
    same_alone_of("qwen2_moe_bf16", GRAFT_PRECISION_AUTO);
}

static void test_sliding(void **state) {
    (void)state;
    same_alone_of("mistral_sliding", GRAFT_PRECISION_FLOAT32);
}

static void with_plugin(const char *family, const char *golden, int takes_over) {
    struct graft_library *library = new_library();
    char plugins[512], path[600];
    const char *directories[] = {plugins};
    (void)snprintf(plugins, sizeof plugins, "%s/families/%s", getenv("GRAFT_PLUGINS"), family);
    (void)snprintf(path, sizeof path, "%s/goldens/%s", plugins, golden);
    check(graft_library_load_plugins(library, directories, 1, NULL, &error));
    same_alone(library, path, GRAFT_PRECISION_FLOAT32, takes_over);
    graft_library_free(library);
}

/* States can be taken over only where they are. */
static void test_states(void **state) {
    (void)state;
    with_plugin("mamba2", "mamba2", 0);
}

static struct request of(const struct graft_model *model, size_t count, int32_t first) {
    struct request request = {.count = count, .number = -1, .generation = {.struct_size = sizeof request.generation}};
    graft_model_generation(model, &request.generation);
    request.generation.max_new_tokens = 4;
    request.generation.ignore_eos = 1;
    for (size_t i = 0; i < count; i++) {
        request.ids[i] = first + (int32_t)i;
    }
    request.logits = malloc((size_t)graft_model_vocab_size(model) * NEW_TOKENS * sizeof(float));
    return request;
}

static void finish(struct graft_sequences *sequences, struct request *requests, int n, int64_t vocab) {
    while (graft_sequences_count(sequences) > 0) {
        step(sequences, requests, n, vocab);
    }
}

/* Prompts added at once are read once; so are those added later, and when the first is gone. */
static void shared_by(struct graft_library *library, const char *path, int64_t later) {
    struct graft_model *model = open_model(library, path, GRAFT_PRECISION_FLOAT32);
    int64_t vocab = graft_model_vocab_size(model);
    struct graft_sequences_counts counts = {.struct_size = sizeof counts};
    struct request requests[3];
    for (int i = 0; i < 3; i++) {
        requests[i] = of(model, 2 * PIECE + 20, 1);
        requests[i].ids[2 * PIECE + 5 + i] = 40;
        for (size_t j = 0; j < requests[i].count; j++) {
            requests[i].ids[j] %= (int32_t)vocab;
        }
    }
    struct graft_sequences *sequences = create(model, 0);
    add(sequences, &requests[0]);
    add(sequences, &requests[1]);
    finish(sequences, requests, 2, vocab);
    graft_sequences_get_counts(sequences, &counts);
    assert_int_equal(counts.shared_tokens, 2 * PIECE);
    assert_int_equal(counts.prompt_tokens, 2 * PIECE + 40);
    add(sequences, &requests[2]);
    finish(sequences, requests, 3, vocab);
    graft_sequences_get_counts(sequences, &counts);
    assert_int_equal(counts.shared_tokens, 2 * PIECE + later);
    graft_sequences_free(sequences);
    for (int i = 0; i < 3; i++) {
        free(requests[i].logits);
    }
    graft_model_free(model);
}

static void test_shared(void **state) {
    struct graft_library *library = new_library();
    char path[600], plugins[512];
    const char *directories[] = {plugins};
    (void)state;
    (void)snprintf(plugins, sizeof plugins, "%s/families/mamba2", getenv("GRAFT_PLUGINS"));
    check(graft_library_load_plugins(library, directories, 1, NULL, &error));
    shared_by(library, llama_directory(path), 2 * PIECE);
    (void)snprintf(path, sizeof path, "%s/goldens/mamba2", plugins);
    shared_by(library, path, 0);
    graft_library_free(library);
}

struct heard {
    int32_t ids[NEW_TOKENS];
    size_t n;
};

static int hear(void *data, size_t sequence, int32_t id, int last, struct graft_error *failure) {
    struct heard *heard = data;
    (void)sequence, (void)last, (void)failure;
    heard->ids[heard->n++] = id;
    return GRAFT_OK;
}

/* The same as graft_model_generate gives; and a stop id ends it. */
static void test_generate(void **state) {
    struct graft_library *library = new_library();
    char path[512];
    (void)state;
    struct graft_model *model = open_model(library, llama_directory(path), GRAFT_PRECISION_FLOAT32);
    int64_t vocab = graft_model_vocab_size(model);
    struct request request = of(model, 9, 30);
    const struct graft_prompt prompt = {.ids = request.ids, .count = request.count};
    struct heard heard = {.n = 0};
    request.generation.max_new_tokens = NEW_TOKENS;
    check(graft_model_generate(model, &prompt, 1, &request.generation, hear, &heard, &error));
    run_alone(model, &request);
    assert_int_equal(heard.n, request.n_got);
    assert_memory_equal(heard.ids, request.got, heard.n * sizeof heard.ids[0]);

    const int32_t stop = heard.ids[2];
    const struct graft_sequence_options options = {.struct_size = sizeof options,
                                                   .gives_logits = 1,
                                                   .generation = &request.generation,
                                                   .stop_ids = &stop,
                                                   .n_stop_ids = 1};
    struct graft_sequences *sequences = create(model, 0);
    request.n_got = 0;
    check(graft_sequences_add(sequences, &prompt, &options, &request.number, &error));
    finish(sequences, &request, 1, vocab);
    assert_true(request.n_got <= 3);
    assert_int_equal(request.got[request.n_got - 1], stop);
    assert_int_equal(request.end, GRAFT_SEQUENCE_STOPPED);
    graft_sequences_free(sequences);
    free(request.logits);
    graft_model_free(model);
    graft_library_free(library);
}

/* Waiting for memory: all get theirs in the end, and never more is reserved than there may be. */
static void test_budget(void **state) {
    struct graft_library *library = new_library();
    struct request requests[4];
    char path[512];
    (void)state;
    struct graft_model *model = open_model(library, llama_directory(path), GRAFT_PRECISION_FLOAT32);
    int64_t vocab = graft_model_vocab_size(model);
    struct graft_sequences_options options = {.struct_size = sizeof options, .max_cache_bytes = 1};
    struct graft_sequences *sequences = NULL;
    check(graft_sequences_create(model, &options, &sequences, &error));
    requests[0] = of(model, 10, 5);
    const struct graft_prompt prompt = {.ids = requests[0].ids, .count = 10};
    int64_t number = -5;
    assert_int_equal(graft_sequences_add(sequences, &prompt, NULL, &number, &error), GRAFT_ERROR_IO);
    assert_non_null(strstr(error.message, "bytes behind"));
    assert_int_equal(graft_sequences_count(sequences), 0);
    error = graft_error_none();
    graft_sequences_free(sequences);
    free(requests[0].logits);

    struct graft_weight_use use = {.struct_size = sizeof use};
    check(graft_model_weight_use(model, &use, &error));
    options.max_cache_bytes = 2 * 14 * use.cache_bytes_per_token + 3; /* of two, with ten tokens and four more */
    check(graft_sequences_create(model, &options, &sequences, &error));
    for (int i = 0; i < 4; i++) {
        requests[i] = of(model, 10, 5 + i);
        add(sequences, &requests[i]);
    }
    while (graft_sequences_count(sequences) > 0) {
        struct graft_sequences_counts counts = {.struct_size = sizeof counts};
        step(sequences, requests, 4, vocab);
        graft_sequences_get_counts(sequences, &counts);
        assert_true(counts.cache_bytes <= options.max_cache_bytes);
        assert_true(requests[2].n_got == 0 || requests[0].n_got == 4);
    }
    for (int i = 0; i < 4; i++) {
        assert_int_equal(requests[i].n_got, 4);
        free(requests[i].logits);
    }
    graft_sequences_free(sequences);
    graft_model_free(model);
    graft_library_free(library);
}

/* gpt2's golden has positions for 32. */
static void test_positions(void **state) {
    struct graft_library *library = new_library();
    char plugins[512], path[600];
    const char *directories[] = {plugins};
    (void)state;
    (void)snprintf(plugins, sizeof plugins, "%s/families/gpt2", getenv("GRAFT_PLUGINS"));
    (void)snprintf(path, sizeof path, "%s/goldens/gpt2", plugins);
    check(graft_library_load_plugins(library, directories, 1, NULL, &error));
    struct graft_model *model = open_model(library, path, GRAFT_PRECISION_FLOAT32);
    struct graft_sequences *sequences = create(model, 0);
    struct request request = of(model, 30, 1);
    request.generation.max_new_tokens = 9;
    request.generation.speculate = 8;
    add(sequences, &request);
    finish(sequences, &request, 1, graft_model_vocab_size(model));
    assert_int_equal(request.n_got, 3);
    assert_int_equal(request.end, GRAFT_SEQUENCE_OUT_OF_POSITIONS);
    const struct graft_prompt prompt = {.ids = request.ids, .count = 33};
    int64_t number;
    assert_int_equal(graft_sequences_add(sequences, &prompt, NULL, &number, &error), GRAFT_ERROR_IO);
    assert_string_equal(error.message, "33 tokens, the model has positions for 32");
    error = graft_error_none();
    graft_sequences_free(sequences);
    free(request.logits);
    graft_model_free(model);
    graft_library_free(library);
}

static void refused(struct graft_sequences *sequences, const struct graft_prompt *prompt,
                    const struct graft_sequence_options *options, int code, const char *source) {
    int64_t number = -5;
    error = graft_error_none();
    assert_int_equal(graft_sequences_add(sequences, prompt, options, &number, &error), code);
    assert_string_equal(error.source, source);
    assert_int_equal(number, -5);
    assert_int_equal(graft_sequences_count(sequences), 0);
    error = graft_error_none();
}

static void test_refused(void **state) {
    static const int32_t ids[] = {5, 583};
    static const struct graft_sequences_options bad[] = {
        {.struct_size = 8},
        {.struct_size = sizeof bad[0], .max_running = -1},
        {.struct_size = sizeof bad[0], .piece_tokens = 63},
        {.struct_size = sizeof bad[0], .step_tokens = -1},
        {.struct_size = sizeof bad[0], .max_cache_bytes = -1},
    };
    struct graft_library *library = new_library();
    struct graft_sequences *sequences = NULL;
    char path[512];
    (void)state;
    struct graft_model *model = open_model(library, llama_directory(path), GRAFT_PRECISION_FLOAT32);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(graft_sequences_create(model, &bad[i], &sequences, &error), GRAFT_ERROR_USAGE);
        error = graft_error_none();
    }
    check(graft_sequences_create(model, NULL, &sequences, &error));
    struct graft_generation generation = {.struct_size = sizeof generation};
    graft_model_generation(model, &generation);
    generation.max_new_tokens = 0;
    const struct graft_sequence_options none = {.struct_size = sizeof none, .generation = &generation};
    const struct graft_prompt empty = {.ids = ids, .count = 0}, outside = {.ids = ids, .count = 2};
    const struct graft_prompt adapter = {.ids = ids, .count = 1, .adapter = "other"};
    refused(sequences, &empty, NULL, GRAFT_ERROR_IO, "prompt");
    refused(sequences, &outside, NULL, GRAFT_ERROR_IO, "prompt");
    refused(sequences, &adapter, NULL, GRAFT_ERROR_USAGE, "adapter");
    refused(sequences, &adapter, &none, GRAFT_ERROR_USAGE, "max_new_tokens");
    assert_int_equal(graft_sequences_remove(sequences, 0, &error), GRAFT_ERROR_USAGE);
    assert_string_equal(error.message, "there is no sequence 0");
    error = graft_error_none();
    graft_sequences_free(sequences);
    graft_sequences_free(NULL);
    graft_model_free(model);
    graft_library_free(library);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_llama),  cmocka_unit_test(test_experts),   cmocka_unit_test(test_sliding),
        cmocka_unit_test(test_states), cmocka_unit_test(test_shared),    cmocka_unit_test(test_generate),
        cmocka_unit_test(test_budget), cmocka_unit_test(test_positions), cmocka_unit_test(test_refused),
    };
    error = graft_error_none();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
