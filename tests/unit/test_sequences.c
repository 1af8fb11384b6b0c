/* SPDX-License-Identifier: Apache-2.0 */
/* Sequences that are added and end: which prompts share forwards; prompts with the same beginning are read once;
 * tokens, memory and positions; and calls that are refused. Their results are tested in test_sequences_alone.c. */
#include "sequences_fixture.h"

#include <math.h>

#include "graft/batch.h"
#include "graft/host/observe.h"
#include "graft/logits_processor.h"

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

/* The number of forwards for prompts of these lengths that are added at once. */
static int64_t forwards_of(struct graft_model *model, const size_t *counts, int n, int64_t step_tokens) {
    static struct request requests[GRAFT_SMALL_BATCH + 1];
    struct graft_sequences_counts all = {.struct_size = sizeof all};
    struct graft_sequences *sequences = create(model, 0, step_tokens);
    for (int i = 0; i < n; i++) {
        requests[i] = of(model, counts[i], i + 1);
        requests[i].generation.max_new_tokens = 1;
        add(sequences, &requests[i]);
    }
    finish(sequences, requests, n, graft_model_vocab_size(model));
    graft_sequences_get_counts(sequences, &all);
    for (int i = 0; i < n; i++) {
        assert_int_equal(requests[i].n_got, 1);
        free(requests[i].logits);
    }
    graft_sequences_free(sequences);
    return all.forwards;
}

/* Prompts share forwards up to a number of tokens and of sequences, also with the rest of longer ones; prompts of few
 * tokens do not share forwards with longer ones. */
static void test_read_together(void **state) {
    size_t many[GRAFT_SMALL_BATCH + 1];
    static const size_t with_rest[] = {PIECE + 20, 20, 17}, mixed[] = {3, 40, 9, 17}, wide[] = {PIECE, PIECE, PIECE};
    struct graft_library *library = new_library();
    char path[512];
    (void)state;
    struct graft_model *model = open_model(library, llama_directory(path), GRAFT_PRECISION_FLOAT32);
    for (int i = 0; i <= GRAFT_SMALL_BATCH; i++) {
        many[i] = 17 + (size_t)i % 9;
    }
    assert_int_equal(forwards_of(model, many, GRAFT_SMALL_BATCH, 512), 1);
    assert_int_equal(forwards_of(model, many, GRAFT_SMALL_BATCH + 1, 512), 2);
    assert_int_equal(forwards_of(model, with_rest, 3, 0), 2);
    assert_int_equal(forwards_of(model, mixed, 4, 0), 2);
    assert_int_equal(forwards_of(model, wide, 3, 0), 3);
    assert_int_equal(forwards_of(model, wide, 3, 2 * PIECE), 2);
    graft_model_free(model);
    graft_library_free(library);
}

/* Prompts with the same beginning are read once if they are added at once, or later, also when the first has ended. */
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
    struct graft_sequences *sequences = create(model, 0, 0);
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
    char path[512];
    (void)state;
    shared_by(library, llama_directory(path), 2 * PIECE);
    (void)snprintf(path, sizeof path, "%s/plain/mamba2", getenv("GRAFT_TEST_GOLDENS"));
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

/* Results equal those of graft_model_generate; a stop id ends a sequence. */
static void test_generate(void **state) {
    struct graft_library *library = new_library();
    char path[512];
    (void)state;
    struct graft_model *model = open_model(library, llama_directory(path), GRAFT_PRECISION_FLOAT32);
    int64_t vocab = graft_model_vocab_size(model);
    struct request request = of(model, 9, 30);
    const struct graft_prompt prompt = {.struct_size = sizeof prompt, .ids = request.ids, .count = request.count};
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
    struct graft_sequences *sequences = create(model, 0, 0);
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

/* Waiting for memory: all get it in the end, and never more is reserved than allowed. */
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
    const struct graft_prompt prompt = {.struct_size = sizeof prompt, .ids = requests[0].ids, .count = 10};
    int64_t number = -5;
    assert_int_equal(graft_sequences_add(sequences, &prompt, NULL, &number, &error), GRAFT_ERROR_USAGE);
    assert_non_null(strstr(error.message, "bytes of memory"));
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
    struct graft_sequences *sequences = create(model, 0, 0);
    struct request request = of(model, 30, 1);
    request.generation.max_new_tokens = 9;
    request.generation.speculate = 8;
    add(sequences, &request);
    finish(sequences, &request, 1, graft_model_vocab_size(model));
    assert_int_equal(request.n_got, 3);
    assert_int_equal(request.end, GRAFT_SEQUENCE_OUT_OF_POSITIONS);
    const struct graft_prompt prompt = {.struct_size = sizeof prompt, .ids = request.ids, .count = 33};
    int64_t number;
    assert_int_equal(graft_sequences_add(sequences, &prompt, NULL, &number, &error), GRAFT_ERROR_USAGE);
    assert_string_equal(error.message, "the prompt has 33 tokens, but the model has positions for 32");
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
    const struct graft_prompt empty = {.struct_size = sizeof empty, .ids = ids, .count = 0};
    const struct graft_prompt outside = {.struct_size = sizeof outside, .ids = ids, .count = 2};
    const struct graft_prompt adapter = {.struct_size = sizeof adapter, .ids = ids, .count = 1, .adapter = "other"};
    refused(sequences, &empty, NULL, GRAFT_ERROR_USAGE, "prompt");
    refused(sequences, &outside, NULL, GRAFT_ERROR_USAGE, "prompt");
    refused(sequences, &adapter, NULL, GRAFT_ERROR_USAGE, "adapter");
    refused(sequences, &adapter, &none, GRAFT_ERROR_USAGE, "max_new_tokens");
    const struct graft_prompt good = {.struct_size = sizeof good, .ids = ids, .count = 1};
    struct graft_generation ways = {.struct_size = sizeof ways};
    const struct graft_sequence_options several = {
        .struct_size = sizeof several, .gives_logits = 1, .generation = &ways};
    graft_model_generation(model, &ways);
    ways.num_beams = 65; /* 64 may run */
    const struct graft_sequence_options beams = {.struct_size = sizeof beams, .generation = &ways};
    refused(sequences, &good, &beams, GRAFT_ERROR_USAGE, "num_beams");
    ways.num_beams = 2;
    refused(sequences, &good, &several, GRAFT_ERROR_USAGE, "gives_logits");
    ways.num_return_sequences = 3;
    refused(sequences, &good, &beams, GRAFT_ERROR_USAGE, "num_return_sequences");
    ways.num_return_sequences = 2;
    refused(sequences, &good, &beams, GRAFT_ERROR_USAGE, "num_return_sequences");
    ways.num_return_sequences = 1;
    ways.guidance_scale = 2.0;
    refused(sequences, &good, &beams, GRAFT_ERROR_USAGE, "guidance_scale");
    ways.num_beams = 1;
    ways.guidance_scale = 1.0;
    ways.max_new_tokens = -1;
    refused(sequences, &good, &beams, GRAFT_ERROR_USAGE, "max_length");
    ways.max_length = 1;
    refused(sequences, &good, &beams, GRAFT_ERROR_USAGE, "prompt");
    assert_int_equal(graft_sequences_remove(sequences, 0, &error), GRAFT_ERROR_USAGE);
    assert_string_equal(error.message, "there is no sequence 0");
    error = graft_error_none();
    graft_sequences_free(sequences);
    graft_sequences_free(NULL);
    graft_model_free(model);
    graft_library_free(library);
}

/* --- Processors of one sequence --- */

enum { FAILS = -1 };

/* Records what one request's logits processor is called with: states created and freed, accepted tokens, flags. */
struct given {
    int made;
    int freed;
    int told;
    uint64_t flags;
};

struct allowed {
    struct given *given;
    int32_t id;
};

static int create_allowed(const struct graft_logits_sequence *sequence, void **state, struct graft_error *failure) {
    struct allowed *allowed = malloc(sizeof *allowed);
    (void)failure;
    assert_non_null(allowed);
    *allowed = (struct allowed){sequence->data, atoi(sequence->setting)};
    allowed->given->made++;
    *state = allowed;
    return GRAFT_OK;
}

static int allow(void *state, const struct graft_logits_args *args, struct graft_error *failure) {
    const struct allowed *allowed = state;
    allowed->given->flags = args->flags;
    if (allowed->id == FAILS) {
        return graft_error_set(failure, GRAFT_ERROR_INTERNAL, "", "fails as it was asked to");
    }
    for (int64_t i = 0; i < args->vocab_size; i++) {
        args->scores[i] = i == allowed->id ? args->scores[i] : -INFINITY;
    }
    return GRAFT_OK;
}

static int hear_allowed(void *state, int32_t id, struct graft_error *failure) {
    const struct allowed *allowed = state;
    (void)failure;
    assert_int_equal(id, allowed->id);
    allowed->given->told++;
    return GRAFT_OK;
}

static void free_allowed(void *state) {
    struct allowed *allowed = state;
    allowed->given->freed++;
    free(allowed);
}

static const struct graft_logits_processor allows = {.struct_size = sizeof allows,
                                                     .interface_id = GRAFT_INTERFACE_LOGITS_PROCESSOR,
                                                     .name = "allow",
                                                     .create = create_allowed,
                                                     .process = allow,
                                                     .accept = hear_allowed,
                                                     .destroy = free_allowed};

/* Sequences that run together, each with its own setting of a logits processor or without one. One without gets the
 * same as alone. A state is freed with its sequence, a setting is copied, and an error names the processor that
 * failed. */
static void test_processors(void **state) {
    static const struct graft_logits_processor broken = {.struct_size = sizeof broken, .create = create_allowed};
    struct given given[4] = {{0}};
    char settings[4][8] = {"17", "3", "5", "-1"};
    char name[] = "allow";
    struct request requests[5], alone;
    struct graft_sequences_counts counts = {.struct_size = sizeof counts};
    struct graft_library *library = new_library();
    char path[512];
    (void)state;
    struct graft_model *model = open_model(library, llama_directory(path), GRAFT_PRECISION_FLOAT32);
    const int64_t vocab = graft_model_vocab_size(model);
    struct graft_sequences *sequences = create(model, 0, 0);
    for (int i = 0; i < 5; i++) {
        struct graft_processor_choice choice = {.processor = &allows};
        requests[i] = of(model, 20, 1);
        if (i < 4) {
            choice.name = i == 3 ? name : NULL;
            choice.setting = settings[i];
            choice.data = &given[i];
            requests[i].generation.processors = &choice;
            requests[i].generation.n_processors = 1;
        }
        requests[i].generation.do_sample = i == 1;
        requests[i].generation.num_beams = i == 2 ? 2 : 1;
        add(sequences, &requests[i]);
        memset(settings[i < 4 ? i : 0], '9', 2); /* the setting was copied */
    }
    memset(name, '9', 2); /* so was this */
    const struct graft_sequence_token *tokens = NULL;
    size_t n = 0;
    int status = GRAFT_OK;
    while (status == GRAFT_OK) {
        status = graft_sequences_step(sequences, &tokens, &n, &error);
        for (size_t i = 0; i < n; i++) {
            struct request *request = &requests[tokens[i].sequence];
            if (tokens[i].logits != NULL) {
                memcpy(request->logits + (int64_t)request->n_got * vocab, tokens[i].logits,
                       (size_t)vocab * sizeof(float));
            }
            request->got[request->n_got++] = tokens[i].id;
        }
    }
    assert_int_equal(status, GRAFT_ERROR_INTERNAL);
    assert_non_null(strstr(error.message, "logits processor allow: fails as it was asked to"));
    error = graft_error_none();
    graft_sequences_get_counts(sequences, &counts);
    assert_int_equal(counts.failed, requests[3].number);
    check(graft_sequences_remove(sequences, requests[3].number, &error));
    assert_int_equal(given[3].freed, given[3].made);
    finish(sequences, requests, 5, vocab);
    graft_sequences_get_counts(sequences, &counts);
    assert_int_equal(counts.failed, -1);
    for (int i = 0; i < 3; i++) {
        static const int32_t wanted[] = {17, 3, 5};
        assert_int_equal(requests[i].n_got, 4);
        for (int j = 0; j < 4; j++) {
            assert_int_equal(requests[i].got[j], wanted[i]);
        }
        assert_true(given[i].made > 0 && given[i].freed == given[i].made && given[i].told >= 3);
        assert_int_equal(given[i].flags, i == 0 ? GRAFT_LOGITS_ONLY_LARGEST : 0);
    }
    alone = of(model, 20, 1);
    run_alone(model, &alone);
    assert_same(&requests[4], &alone, vocab);
    requests[0].generation.processors = &(struct graft_processor_choice){.processor = &broken};
    requests[0].generation.n_processors = 1;
    const struct graft_prompt prompt = {.struct_size = sizeof prompt, .ids = requests[0].ids, .count = 20};
    const struct graft_sequence_options options = {.struct_size = sizeof options,
                                                   .generation = &requests[0].generation};
    assert_int_equal(graft_sequences_add(sequences, &prompt, &options, &requests[0].number, &error), GRAFT_ERROR_USAGE);
    assert_string_equal(error.source, "processors");
    error = graft_error_none();
    graft_sequences_free(sequences);
    for (int i = 0; i < 5; i++) {
        free(requests[i].logits);
    }
    free(alone.logits);
    graft_model_free(model);
    graft_library_free(library);
}

/* The step in which a sequence fails says so, although a piece of a longer prompt follows in the same forward. */
static void test_failure_beside_a_piece(void **state) {
    struct given given = {0};
    const struct graft_processor_choice fails = {.processor = &allows, .setting = "-1", .data = &given};
    struct graft_sequences_counts counts = {.struct_size = sizeof counts};
    struct graft_library *library = new_library();
    const struct graft_sequence_token *tokens = NULL;
    size_t n = 0;
    char path[512];
    (void)state;
    struct graft_model *model = open_model(library, llama_directory(path), GRAFT_PRECISION_FLOAT32);
    struct graft_sequences *sequences = create(model, 0, 4 * PIECE);
    struct request failing = of(model, 20, 1), longer = of(model, LONGEST, 1);
    failing.generation.processors = &fails;
    failing.generation.n_processors = 1;
    add(sequences, &failing);
    add(sequences, &longer);
    assert_int_equal(graft_sequences_step(sequences, &tokens, &n, &error), GRAFT_ERROR_INTERNAL);
    graft_sequences_get_counts(sequences, &counts);
    assert_int_equal(counts.failed, failing.number);
    error = graft_error_none();
    graft_sequences_free(sequences);
    free(failing.logits);
    free(longer.logits);
    graft_model_free(model);
    graft_library_free(library);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_read_together), cmocka_unit_test(test_shared),
        cmocka_unit_test(test_generate),      cmocka_unit_test(test_budget),
        cmocka_unit_test(test_positions),     cmocka_unit_test(test_refused),
        cmocka_unit_test(test_processors),    cmocka_unit_test(test_failure_beside_a_piece),
    };
    error = graft_error_none();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
