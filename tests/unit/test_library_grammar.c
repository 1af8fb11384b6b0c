/* SPDX-License-Identifier: Apache-2.0 */
/* Structured output by library calls: vocabularies, grammars that are reused, and a model's text. */
#include <math.h>

#include "library_fixture.h"

#include "base/alloc.h"
#include "graft/logits_processor.h"

#include "failing.h"

static const char schema_text[] = "{\"type\": \"object\", \"properties\": {\"a\": {\"type\": \"string\", "
                                  "\"maxLength\": 3}, \"b\": {\"enum\": [1, null]}}, "
                                  "\"required\": [\"a\", \"b\"], \"additionalProperties\": false}";

static struct graft_grammar_text text_of(int32_t kind, const char *text) {
    return (struct graft_grammar_text){sizeof(struct graft_grammar_text), kind, text, strlen(text), "given"};
}

static struct graft_tokenizer *open_tokenizer(void) {
    struct graft_tokenizer *tokenizer = NULL;
    char path[512];
    assert_int_equal(graft_tokenizer_load(llama_directory(path), &tokenizer, NULL), GRAFT_OK);
    return tokenizer;
}

static struct graft_vocabulary *make_vocabulary(void) {
    struct graft_tokenizer *tokenizer = open_tokenizer();
    struct graft_vocabulary *vocabulary = NULL;
    assert_int_equal(graft_vocabulary_create(tokenizer, &vocabulary, NULL), GRAFT_OK);
    graft_tokenizer_free(tokenizer); /* not needed any more */
    return vocabulary;
}

static void test_found_again(void **state) {
    (void)state;
    struct graft_vocabulary *vocabulary = make_vocabulary();
    struct graft_grammar *first = NULL, *second = NULL, *other = NULL;
    const struct graft_grammar_text schema = text_of(GRAFT_GRAMMAR_JSON_SCHEMA, schema_text);
    const struct graft_grammar_text rules = text_of(GRAFT_GRAMMAR_GBNF, "root ::= \"a\"+");
    assert_int_equal(graft_grammar_open(vocabulary, &schema, &first, NULL), GRAFT_OK);
    assert_int_equal(graft_grammar_open(vocabulary, &schema, &second, NULL), GRAFT_OK);
    assert_int_equal(graft_grammar_open(vocabulary, &rules, &other, NULL), GRAFT_OK);
    assert_ptr_equal(first, second);
    assert_ptr_not_equal(first, other);
    graft_grammar_close(first);
    graft_grammar_close(second);
    assert_int_equal(graft_grammar_open(vocabulary, &schema, &second, NULL), GRAFT_OK);
    assert_ptr_equal(first, second);
    assert_int_equal(graft_grammar_fits(second, "{\"a\":\"xyz\",\"b\":null}", 20), 1);
    assert_int_equal(graft_grammar_fits(second, "{\"a\":\"wxyz\",\"b\":null}", 21), 0);
    assert_int_equal(graft_grammar_fits(other, "aaa", 3), 1);
    /* Grammars in use stay, however many others are made and dropped. */
    for (int i = 1; i < 100; i++) {
        char *text = graft_format("root ::= \"%d\"", i);
        const struct graft_grammar_text more = text_of(GRAFT_GRAMMAR_GBNF, text);
        struct graft_grammar *grammar = NULL;
        assert_int_equal(graft_grammar_open(vocabulary, &more, &grammar, NULL), GRAFT_OK);
        graft_grammar_close(grammar);
        graft_free(text);
    }
    assert_int_equal(graft_grammar_fits(other, "a", 1), 1);
    graft_grammar_close(second);
    graft_grammar_close(other);
    graft_grammar_close(NULL);
    graft_vocabulary_free(vocabulary);
    graft_vocabulary_free(NULL);
}

static void assert_refused(struct graft_vocabulary *vocabulary, struct graft_grammar_text text, const char *source,
                           const char *says) {
    struct graft_error error = graft_error_none();
    struct graft_grammar *grammar = NULL;
    assert_int_equal(graft_grammar_open(vocabulary, &text, &grammar, &error), GRAFT_ERROR_USAGE);
    assert_null(grammar);
    assert_string_equal(error.source, source);
    assert_non_null(strstr(error.message, says));
}

static void test_refused(void **state) {
    (void)state;
    struct graft_vocabulary *vocabulary = make_vocabulary();
    assert_refused(vocabulary, text_of(GRAFT_GRAMMAR_JSON_SCHEMA, "{\"not\": {}}"), "given",
                   "the keyword not is not supported");
    assert_refused(vocabulary, text_of(GRAFT_GRAMMAR_JSON_SCHEMA, "{"), "given", "not valid JSON");
    assert_refused(vocabulary, text_of(GRAFT_GRAMMAR_JSON_SCHEMA, "{\"a\": 1, \"a\": 2}"), "given", "not valid JSON");
    assert_refused(vocabulary, text_of(GRAFT_GRAMMAR_GBNF, "root ::= a"), "given", "no rule of the name a");
    assert_refused(vocabulary, text_of(7, ""), "kind", "out of range");
    struct graft_grammar_text large = text_of(GRAFT_GRAMMAR_GBNF, "");
    large.length = 5 << 20;
    assert_refused(vocabulary, large, "given", "more than");
    graft_vocabulary_free(vocabulary);
}

/* --- A model --- */

static struct graft_model *open_llama(struct graft_library *library) {
    struct graft_model *model = NULL;
    struct graft_error error = graft_error_none();
    char path[512];
    if (graft_model_open(library, llama_directory(path), NULL, &model, &error) != GRAFT_OK ||
        graft_model_load(model, &error) != GRAFT_OK) {
        fail_msg("%s: %s", error.source, error.message);
    }
    return model;
}

static int on_token(void *data, size_t sequence, int32_t id, int last, struct graft_error *error) {
    (void)sequence, (void)last, (void)error;
    graft_ids_add(data, id);
    return GRAFT_OK;
}

static void generate(struct graft_model *model, const struct graft_tokenizer *tokenizer,
                     struct graft_generation *generation, const struct graft_grammar_text *text,
                     struct graft_text *said) {
    static const int32_t ids[] = {5, 6, 7};
    const struct graft_prompt prompt = {.struct_size = sizeof prompt, .ids = ids, .count = 3};
    struct graft_vocabulary *vocabulary = make_vocabulary();
    struct graft_grammar *grammar = NULL;
    struct graft_processor_choice choice;
    struct graft_ids new_ids = {0};
    struct graft_error error = graft_error_none();
    assert_int_equal(graft_model_choose_grammar(model, vocabulary, text, &grammar, &choice, NULL), GRAFT_OK);
    generation->processors = &choice;
    generation->n_processors = 1;
    if (graft_model_generate(model, &prompt, 1, generation, on_token, &new_ids, &error) != GRAFT_OK) {
        fail_msg("%s: %s", error.source, error.message);
    }
    assert_int_equal(graft_tokenizer_decode(tokenizer, new_ids.ids, new_ids.n, 1, said, NULL), GRAFT_OK);
    assert_int_equal(graft_grammar_fits(grammar, said->bytes, said->length), 1);
    graft_ids_free(&new_ids);
    graft_grammar_close(grammar);
    graft_vocabulary_free(vocabulary);
}

/* A model of random weights generates text that fits the grammar: greedily, sampled, with beams and with guesses. */
static void test_model(void **state) {
    (void)state;
    struct graft_library *library = new_library();
    struct graft_tokenizer *tokenizer = open_tokenizer();
    struct graft_model *model = open_llama(library);
    const struct graft_grammar_text schema = text_of(GRAFT_GRAMMAR_JSON_SCHEMA, schema_text);
    const struct graft_grammar_text rules =
        text_of(GRAFT_GRAMMAR_GBNF, "root ::= [a-c]{4} (\"\xC3\xA4\" | \"12\" | \"1\")");
    for (int way = 0; way < 5; way++) {
        struct graft_generation generation = {.struct_size = sizeof generation};
        struct graft_text said = {0};
        graft_model_generation(model, &generation);
        generation.max_new_tokens = 60;
        generation.do_sample = way == 1 || way == 2;
        generation.top_k = way == 2 ? 20 : 0;
        generation.num_beams = way == 3 ? 3 : 0;
        generation.speculate = way == 4 ? 3 : 0;
        generate(model, tokenizer, &generation, way == 1 ? &rules : &schema, &said);
        graft_text_free(&said);
    }
    graft_model_free(model);
    graft_tokenizer_free(tokenizer);
    graft_library_free(library);
}

/* A logits processor that a program registers as "json_schema" replaces the host's own, and gets the schema as its
 * setting, unchecked: here it is invalid. */
static int create_told(const struct graft_logits_sequence *sequence, void **state, struct graft_error *error) {
    *state = NULL;
    return strcmp(sequence->setting, "{\"words\": \"no draft has\"}") == 0
               ? GRAFT_OK
               : graft_error_set(error, GRAFT_ERROR_USAGE, "told", "%s", sequence->setting);
}

static int process_told(void *state, const struct graft_logits_args *args, struct graft_error *error) {
    (void)state, (void)error;
    for (int64_t i = 0; i < args->vocab_size; i++) {
        args->scores[i] = i == 9 ? 0.0F : -INFINITY;
    }
    return GRAFT_OK;
}

static void destroy_told(void *state) {
    (void)state;
}

static void test_replaced(void **state) {
    (void)state;
    static const struct graft_logits_processor told = {.struct_size = sizeof told,
                                                       .interface_id = GRAFT_INTERFACE_LOGITS_PROCESSOR,
                                                       .name = "json_schema",
                                                       .create = create_told,
                                                       .process = process_told,
                                                       .destroy = destroy_told};
    static const int32_t ids[] = {5};
    const struct graft_prompt prompt = {.struct_size = sizeof prompt, .ids = ids, .count = 1};
    const struct graft_grammar_text text = text_of(GRAFT_GRAMMAR_JSON_SCHEMA, "{\"words\": \"no draft has\"}");
    struct graft_library *library = new_library();
    struct graft_error error = graft_error_none();
    struct graft_grammar *grammar = NULL;
    struct graft_processor_choice choice;
    struct graft_ids said = {0};
    assert_int_equal(graft_library_add_logits_processor(library, &told, NULL), GRAFT_OK);
    struct graft_model *model = open_llama(library);
    struct graft_vocabulary *vocabulary = make_vocabulary();
    assert_int_equal(graft_model_choose_grammar(model, vocabulary, &text, &grammar, &choice, NULL), GRAFT_OK);
    assert_null(grammar);
    struct graft_generation generation = {.struct_size = sizeof generation};
    graft_model_generation(model, &generation);
    generation.max_new_tokens = 2;
    generation.processors = &choice;
    generation.n_processors = 1;
    if (graft_model_generate(model, &prompt, 1, &generation, on_token, &said, &error) != GRAFT_OK) {
        fail_msg("%s: %s", error.source, error.message);
    }
    assert_true(said.n == 2 && said.ids[0] == 9 && said.ids[1] == 9);
    graft_ids_free(&said);
    graft_vocabulary_free(vocabulary);
    graft_model_free(model);
    graft_library_free(library);
}

static int use_all(const struct graft_tokenizer *tokenizer) {
    struct graft_error error = graft_error_none();
    struct graft_vocabulary *vocabulary = NULL;
    struct graft_grammar *grammar = NULL;
    const struct graft_grammar_text schema = text_of(GRAFT_GRAMMAR_JSON_SCHEMA, "{\"enum\": [\"a\"]}");
    int status = graft_vocabulary_create(tokenizer, &vocabulary, &error);
    if (status == GRAFT_OK) {
        status = graft_grammar_open(vocabulary, &schema, &grammar, &error);
    }
    if (status == GRAFT_OK && graft_grammar_fits(grammar, "\"a\"", 3) < 0) {
        status = graft_error_set(&error, GRAFT_ERROR_INTERNAL, "test", "out of memory");
    }
    assert_int_equal(status, error.code);
    graft_grammar_close(grammar);
    graft_vocabulary_free(vocabulary);
    return status;
}

static void test_memory(void **state) {
    (void)state;
    struct graft_tokenizer *tokenizer = open_tokenizer();
    for (long n = 1;; n = next_failing(n)) {
        (void)graft_alloc_fail_at(n);
        const int status = use_all(tokenizer);
        if (graft_alloc_fail_at(0) != 0) {
            assert_int_equal(status, GRAFT_OK);
            break;
        }
        assert_int_equal(status, GRAFT_ERROR_INTERNAL);
    }
    graft_tokenizer_free(tokenizer);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_found_again), cmocka_unit_test(test_refused), cmocka_unit_test(test_model),
        cmocka_unit_test(test_replaced),    cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
