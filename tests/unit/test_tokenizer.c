/* SPDX-License-Identifier: Apache-2.0 */
/* Cases that goldens cannot contain: invalid bytes, large inputs, slow expressions, failing allocations. */
#include "graft/host/tokenizer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <time.h>

#include <cmocka.h>

#include "folder.h"
#include "tokenizer/document.h"
#include "tokenizer/token_class.h"
#include "tokenizer_fixture.h"

static struct graft_tokenizer *qwen2(void) {
    return load_tokenizer("goldens/tokenizers", "qwen2");
}

static void test_tokens(void **state) {
    (void)state;
    struct graft_tokenizer *tokenizer = qwen2();
    size_t length;
    assert_int_equal(graft_tokenizer_size(tokenizer), 567);
    assert_int_equal(graft_tokenizer_max_id(tokenizer), 566);
    assert_int_equal(graft_tokenizer_id(tokenizer, "<|im_end|>"), 562);
    assert_int_equal(graft_tokenizer_id(tokenizer, "!"), 0);
    assert_int_equal(graft_tokenizer_id(tokenizer, "<|im_end"), -1);
    assert_string_equal(graft_tokenizer_token(tokenizer, 562, &length), "<|im_end|>");
    assert_int_equal(length, 10);
    assert_string_equal(graft_tokenizer_token(tokenizer, 0, NULL), "!");
    assert_null(graft_tokenizer_token(tokenizer, 567, NULL));
    assert_null(graft_tokenizer_token(tokenizer, -1, NULL));
    assert_true(graft_tokenizer_is_special(tokenizer, 562));
    assert_false(graft_tokenizer_is_special(tokenizer, 0));
    assert_false(graft_tokenizer_is_special(tokenizer, -1));
    graft_tokenizer_free(tokenizer);
    graft_tokenizer_free(NULL);
}

/* Invalid bytes become U+FFFD, one for each maximal part, as in the Unicode standard's examples. */
static void test_invalid_bytes(void **state) {
    (void)state;
    static const struct {
        const char *bytes;
        const char *read_as;
    } cases[] = {
        {"a\xFF"
         "b",
         "a\uFFFDb"},
        {"\xC0\x80", "\uFFFD\uFFFD"},
        {"\xE6\x9C", "\uFFFD"},
        {"\xE6\x9C"
         "a\xE6",
         "\uFFFDa\uFFFD"},
        {"\xF0\x9F\x99x\xF4\x90\x80\x80", "\uFFFDx\uFFFD\uFFFD\uFFFD\uFFFD"},
        {"\xED\xA0\x80", "\uFFFD\uFFFD\uFFFD"},
        {"\x61\xF1\x80\x80\xE1\x80\xC2\x62\x80\x63\x80\xBF\x64", "a\uFFFD\uFFFD\uFFFDb\uFFFDc\uFFFD\uFFFDd"},
    };
    struct graft_tokenizer *tokenizer = qwen2();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct graft_ids ids = encode(tokenizer, cases[i].bytes, strlen(cases[i].bytes), 1);
        struct graft_text text = decode(tokenizer, ids.ids, ids.n, 0);
        assert_string_equal(text.bytes, cases[i].read_as);
        graft_text_free(&text);
        graft_ids_free(&ids);
    }
    graft_tokenizer_free(tokenizer);
}

/* A generator with a fixed seed, so that a failure can be repeated. */
static uint32_t next_random(uint32_t *seed) {
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

static void check_random(const char *folder, const char *name) {
    struct graft_tokenizer *tokenizer = load_tokenizer(folder, name);
    uint32_t seed = 7;
    for (int round = 0; round < 300; round++) {
        char bytes[64];
        int32_t random_ids[24];
        size_t n = next_random(&seed) % sizeof bytes;
        for (size_t i = 0; i < n; i++) {
            bytes[i] = (char)next_random(&seed);
        }
        for (size_t i = 0; i < 24; i++) {
            random_ids[i] = (int32_t)(next_random(&seed) % 700) - 20;
        }
        struct graft_ids ids = encode(tokenizer, bytes, n, 1);
        for (size_t i = 0; i < ids.n; i++) {
            assert_non_null(graft_tokenizer_token(tokenizer, ids.ids[i], NULL));
        }
        struct graft_text whole = decode(tokenizer, random_ids, 24, round % 2);
        struct graft_text streamed = decode_streaming(tokenizer, random_ids, 24, round % 2);
        assert_int_equal(graft_utf8_valid_prefix(whole.bytes, whole.length), whole.length);
        assert_int_equal(whole.length, streamed.length);
        assert_memory_equal(whole.bytes, streamed.bytes, whole.length);
        graft_text_free(&whole);
        graft_text_free(&streamed);
        graft_ids_free(&ids);
    }
    graft_tokenizer_free(tokenizer);
}

static void test_random_bytes(void **state) {
    (void)state;
    (void)for_each_entry("goldens/tokenizers", check_random);
    (void)for_each_entry("data/tokenizer/variants", check_random);
}

/* Complete text is returned at once: a stream that keeps everything until the end would pass the other tests. */
static void test_stream_is_prompt(void **state) {
    (void)state;
    struct graft_tokenizer *tokenizer = qwen2();
    struct graft_ids ids = encode(tokenizer, "a\xE6\x9C\xA8", 4, 1);
    struct graft_decode_stream *stream;
    const char *bytes;
    size_t length, held = 0;
    assert_int_equal(graft_decode_stream_create(tokenizer, 0, &stream, NULL), GRAFT_OK);
    for (int again = 0; again < 2; again++) {
        for (size_t i = 0; i < ids.n; i++) {
            assert_int_equal(graft_decode_stream_push(stream, ids.ids[i], &bytes, &length, NULL), GRAFT_OK);
            held += length == 0;
        }
        assert_int_equal(length, 3);
        assert_memory_equal(bytes, "\xE6\x9C\xA8", 3);
        assert_int_equal(graft_decode_stream_end(stream, &bytes, &length, NULL), GRAFT_OK);
        assert_int_equal(length, 0);
    }
    assert_true(held > 0);
    graft_decode_stream_destroy(stream);
    graft_decode_stream_destroy(NULL);
    graft_ids_free(&ids);
    graft_tokenizer_free(tokenizer);
}

/* Two hundred thousand bytes of each kind: words without an end, marks without a letter, spaces, almost an added token.
 * Algorithms of quadratic time would take minutes. */
static void test_large_texts(void **state) {
    (void)state;
    static const char *const units[] = {"a", "he",       " ",  "\n ",         "\xCC\x81\xCC\xA3",
                                        "!", "<|im_end", "12", "\xE6\x9C\xA8"};
    static const char *const names[] = {"goldens/tokenizers/qwen2",
                                        "goldens/tokenizers/llama2",
                                        "goldens/tokenizers/bert",
                                        "data/tokenizer/variants/words_unbounded",
                                        "data/tokenizer/variants/unigram_unknown_last",
                                        "data/tokenizer/variants/normalizer_precompiled",
                                        "data/tokenizer/variants/bpe_affixes_bytes",
                                        "data/tokenizer/variants/whole_words"};
    enum { BYTES = 200000 };
    for (size_t k = 0; k < sizeof names / sizeof names[0]; k++) {
        struct graft_tokenizer *tokenizer = load_tokenizer(".", names[k]);
        for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
            struct graft_text text = {0};
            clock_t start = clock();
            while (text.length < BYTES) {
                graft_text_add_string(&text, units[i]);
            }
            struct graft_ids ids = encode(tokenizer, text.bytes, text.length, 0);
            struct graft_text back = decode(tokenizer, ids.ids, ids.n, 0);
            if (k == 0 && i != 4) {
                assert_int_equal(back.length, text.length);
                assert_memory_equal(back.bytes, text.bytes, text.length);
            }
            assert_true((double)(clock() - start) / CLOCKS_PER_SEC < 30.0); /* a sanitizer's build has time as well */
            graft_text_free(&back);
            graft_ids_free(&ids);
            graft_text_free(&text);
        }
        graft_tokenizer_free(tokenizer);
    }
}

/* Writes a tokenizer that splits by `expression`, and loads it. */
static struct graft_tokenizer *load_split(const char *folder, const char *expression, int32_t id) {
    struct graft_tokenizer *tokenizer;
    char *text =
        graft_format("{\"model\": {\"type\": \"BPE\", \"vocab\": {\"a\": %d}, \"merges\": []}, \"pre_tokenizer\": "
                     "{\"type\": \"Split\", \"pattern\": {\"Regex\": \"%s\"}, \"behavior\": \"Isolated\"}}",
                     (int)id, expression);
    folder_put(folder, "tokenizer.json", text, strlen(text));
    graft_free(text);
    assert_int_equal(graft_tokenizer_load(folder, &tokenizer, NULL), GRAFT_OK);
    return tokenizer;
}

static void test_costly_expression(void **state) {
    (void)state;
    char folder[64];
    char text[4096];
    struct graft_ids ids = {0};
    struct graft_error error = graft_error_none();
    folder_create(folder);
    memset(text, 'a', sizeof text);
    struct graft_tokenizer *tokenizer = load_split(folder, "(a|aa)+[bc]", 0);
    assert_int_equal(graft_tokenizer_encode(tokenizer, text, sizeof text, 1, &ids, &error), GRAFT_ERROR_MODEL);
    assert_string_equal(error.message, "pre_tokenizer.pattern: the expression takes too many steps on this text");
    assert_string_equal(error.source, folder_path(folder, "tokenizer.json"));
    graft_ids_free(&ids);
    graft_tokenizer_free(tokenizer);
    folder_remove(folder);
}

/* Memory is proportional to the number of tokens: otherwise this would need gigabytes, and time to clear them. */
static void test_largest_id(void **state) {
    (void)state;
    char folder[64];
    folder_create(folder);
    clock_t start = clock();
    struct graft_tokenizer *tokenizer = load_split(folder, "b", INT32_MAX);
    struct graft_ids ids = encode(tokenizer, "aba", 3, 1);
    assert_int_equal(ids.n, 2);
    assert_int_equal(ids.ids[1], INT32_MAX);
    assert_int_equal(graft_tokenizer_max_id(tokenizer), INT32_MAX);
    assert_true((double)(clock() - start) / CLOCKS_PER_SEC < 1.0);
    graft_ids_free(&ids);
    graft_tokenizer_free(tokenizer);
    folder_remove(folder);
}

/* Which end of a text is cut off: tokenizer_config.json comes before tokenizer.json. */
static void test_truncation_side(void **state) {
    (void)state;
    static const struct {
        const char *direction;
        const char *side;
        int32_t kept[2];
    } cases[] = {
        {"Right", NULL, {0, 1}},
        {"Left", NULL, {1, 2}},
        {"Left", "right", {0, 1}},
        {"Right", "left", {1, 2}},
    };
    char folder[64];
    folder_create(folder);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct graft_tokenizer *tokenizer;
        struct graft_ids ids = {0};
        int cut = 0;
        char *text =
            graft_format("{\"truncation\": {\"direction\": \"%s\", \"max_length\": 1}, \"model\": {\"type\": \"BPE\", "
                         "\"vocab\": {\"a\": 0, \"b\": 1, \"c\": 2}, \"merges\": []}}",
                         cases[i].direction);
        char *config = graft_format("{\"truncation_side\": \"%s\"}", cases[i].side);
        folder_put(folder, "tokenizer.json", text, strlen(text));
        if (cases[i].side != NULL) {
            folder_put(folder, "tokenizer_config.json", config, strlen(config));
        }
        assert_int_equal(graft_tokenizer_load(folder, &tokenizer, NULL), GRAFT_OK);
        assert_int_equal(graft_tokenizer_encode_within(tokenizer, "abc", 3, 2, &ids, &cut, NULL), GRAFT_OK);
        assert_true(cut);
        assert_int_equal(ids.n, 2);
        assert_memory_equal(ids.ids, cases[i].kept, sizeof cases[i].kept);
        assert_int_equal(graft_tokenizer_encode_within(tokenizer, "abc", 3, 3, &ids, &cut, NULL), GRAFT_OK);
        assert_false(cut);
        assert_int_equal(ids.n, 2 + 3); /* the file's max_length is ignored */
        graft_ids_free(&ids);
        graft_tokenizer_free(tokenizer);
        graft_free(config);
        graft_free(text);
    }
    folder_remove(folder);
}

/* A file without an unknown token loads; only a text that needs it fails. */
static void test_unknown_token_missing(void **state) {
    (void)state;
    static const struct {
        const char *model;
        const char *message;
    } models[] = {
        {"\"type\":\"BPE\",\"vocab\":{\"a\":0},\"merges\":[],\"unk_token\":\"u\"",
         "model.unk_token: not in the vocabulary"},
        {"\"type\":\"WordLevel\",\"vocab\":{\"a\":0},\"unk_token\":\"u\"", "model.unk_token: not in the vocabulary"},
        {"\"type\":\"WordPiece\",\"vocab\":{\"a\":0},\"unk_token\":\"u\",\"continuing_subword_prefix\":\"\","
         "\"max_input_chars_per_word\":9",
         "model.unk_token: not in the vocabulary"},
        {"\"type\":\"Unigram\",\"vocab\":[[\"a\",-1]],\"unk_id\":null", "model.unk_id: missing"},
    };
    char folder[64];
    folder_create(folder);
    for (size_t i = 0; i < sizeof models / sizeof models[0]; i++) {
        struct graft_error error = graft_error_none();
        struct graft_tokenizer *tokenizer;
        char *text = graft_format("{\"model\": {%s}}", models[i].model);
        char *expected = graft_format("%s, but needed for this text", models[i].message);
        folder_put(folder, "tokenizer.json", text, strlen(text));
        assert_int_equal(graft_tokenizer_load(folder, &tokenizer, NULL), GRAFT_OK);
        struct graft_ids ids = encode(tokenizer, "a", 1, 1);
        assert_int_equal(ids.n, 1);
        assert_int_equal(graft_tokenizer_encode(tokenizer, "ab", 2, 1, &ids, &error), GRAFT_ERROR_MODEL);
        assert_string_equal(error.message, expected);
        assert_string_equal(error.source, folder_path(folder, "tokenizer.json"));
        graft_ids_free(&ids);
        graft_tokenizer_free(tokenizer);
        graft_free(expected);
        graft_free(text);
    }
    folder_remove(folder);
}

/* Loads, encodes, and adds the ids and the decoded text to `result`. Returns the first status that is not GRAFT_OK. */
static int use_once(const char *path, struct graft_text *result) {
    static const char text[] = "the \xC3\xA9 hat's 12\xCC\x81<s>\xE6\x9C\xA8";
    struct graft_tokenizer *tokenizer;
    struct graft_ids ids = {0};
    int status = graft_tokenizer_load(path, &tokenizer, NULL);
    if (status == GRAFT_OK) {
        status = graft_tokenizer_encode(tokenizer, text, sizeof text - 1, 1, &ids, NULL);
    }
    if (status == GRAFT_OK) {
        graft_text_add(result, (const char *)ids.ids, ids.n * sizeof *ids.ids);
        status = graft_tokenizer_decode(tokenizer, ids.ids, ids.n, 0, result, NULL);
    }
    graft_tokenizer_free(tokenizer);
    graft_ids_free(&ids);
    return status;
}

/* The number of allocations up to the end of parsing. Jansson 2.14 ends the process if one of its lexer's fails. */
static long allocations_of_parsing(const char *path) {
    enum { MANY = 1000000 };
    struct graft_document document = {0};
    struct graft_token_class token_class = {0};
    char *file = graft_format("%s/tokenizer.json", path);
    (void)graft_alloc_fail_at(MANY);
    assert_int_equal(graft_token_class_choose(&token_class, NULL, NULL, NULL), GRAFT_OK);
    assert_int_equal(graft_document_read(&document, file, NULL), GRAFT_OK);
    long used = MANY - graft_alloc_fail_at(0);
    graft_token_class_finish(&token_class);
    graft_document_finish(&document);
    graft_free(file);
    return used + 6; /* the tokenizer and five paths are allocated before */
}

/* Each allocation after the parser's fails in turn: an error, or the same result if the memory was optional (PCRE2
 * compiles to machine code if it can). A sanitizer detects leaks. */
static void test_no_memory(void **state) {
    (void)state;
    static const char *const names[] = {"added_flags",
                                        "added_prepended",
                                        "added_lowercased",
                                        "split_empty_matches",
                                        "metaspace_first",
                                        "unigram_bytes",
                                        "words",
                                        "whole_words",
                                        "bpe_affixes_bytes",
                                        "normalizer_precompiled",
                                        "decode_fallback_ctc",
                                        "decode_ctc_words",
                                        "post_template_bert"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char *path = data_path("data/tokenizer/variants", names[i]);
        struct graft_text expected = {0};
        long left = 0, failures = 0;
        assert_int_equal(use_once(path, &expected), GRAFT_OK); /* memory that is kept for good exists now */
        for (long n = allocations_of_parsing(path) + 1; left == 0; n++) {
            struct graft_text result = {0};
            (void)graft_alloc_fail_at(n);
            int status = use_once(path, &result);
            left = graft_alloc_fail_at(0);
            failures += status != GRAFT_OK;
            if (status == GRAFT_OK) {
                assert_int_equal(result.length, expected.length);
                assert_memory_equal(result.bytes, expected.bytes, expected.length);
            }
            graft_text_free(&result);
        }
        assert_true(failures > 20);
        graft_text_free(&expected);
        graft_free(path);
    }
}

/* Special tokens by their roles: of tokenizer_config.json, of special_tokens_map.json, and of the class. */
static void test_named(void **state) {
    (void)state;
    static const struct {
        const char *directory, *name, *token;
    } cases[] = {
        {"added_named", "mask_token", "[M]"},       {"added_named", "image_token", "[T]"},
        {"added_named", "cls_token", "<c>"},        {"added_named", "unk_token", NULL},
        {"added_named", "sep_token", NULL},         {"added_older_files", "eos_token", "[T]"},
        {"added_older_files", "mask_token", "[M]"}, {"roberta", "bos_token", "<s>"},
        {"mistral", "eos_token", "</s>"},           {"added_names", "other", "[U]"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct graft_tokenizer *tokenizer = load_tokenizer("data/tokenizer/directories", cases[i].directory);
        int32_t id = graft_tokenizer_named_id(tokenizer, cases[i].name);
        if (cases[i].token == NULL) {
            assert_int_equal(id, -1);
        } else {
            assert_true(id >= 0);
            assert_string_equal(graft_tokenizer_token(tokenizer, id, NULL), cases[i].token);
        }
        graft_tokenizer_free(tokenizer);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tokens),          cmocka_unit_test(test_invalid_bytes),
        cmocka_unit_test(test_random_bytes),    cmocka_unit_test(test_stream_is_prompt),
        cmocka_unit_test(test_large_texts),     cmocka_unit_test(test_costly_expression),
        cmocka_unit_test(test_largest_id),      cmocka_unit_test(test_unknown_token_missing),
        cmocka_unit_test(test_no_memory),       cmocka_unit_test(test_named),
        cmocka_unit_test(test_truncation_side),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
