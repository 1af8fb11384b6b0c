/* SPDX-License-Identifier: Apache-2.0 */
/* Which members of tokenizer_config.json the tokenizer reads; ignored ones have no effect. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/json.h"
#include "config/rules.h"
#include "folder.h"
#include "tokenizer/config_fields.h"
#include "tokenizer_fixture.h"

static void test_reads(void **state) {
    static const struct {
        const char *name, *value;
        int reads;
    } cases[] = {
        {"added_tokens_decoder", "{}", 1}, {"eos_token", "\"x\"", 1},
        {"eos_token", "null", 1}, /* the class has another */
        {"image_token", "\"x\"", 1},       {"image_token", "{\"content\": \"x\"}", 1},
        {"image_token", "true", 0},        {"_token", "\"x\"", 0},
        {"model_max_length", "8", 0},      {"add_bos_tokens", "true", 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        graft_json *value = NULL;
        assert_int_equal(graft_json_parse(cases[i].value, strlen(cases[i].value), "", &value, NULL), GRAFT_OK);
        if (graft_tokenizer_reads(cases[i].name, value) != cases[i].reads) {
            fail_msg("%s: %s", cases[i].name, cases[i].value);
        }
        graft_json_free(value);
    }
}

/* Members that recipes look for and that the host adds, from the vocabulary, and one that is always false. */
static int is_own(const char *name) {
    static const char *const own[] = {"bos_piece",  "eos_piece",     "unk_piece", "unk_piece_named",
                                      "unk_at",     "unk_at_zero",   "unk_id",    "charsmap",
                                      "is_unigram", "byte_fallback", "never"};
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++) {
        if (strcmp(own[i], name) == 0) {
            return 1;
        }
    }
    return 0;
}

/* "NAME" or "NAME=DEFAULT"; a default may be another "$NAME". */
static void expect_read(const char *place) {
    const char *equals = strchr(place, '=');
    char *name = graft_strndup(place, equals != NULL ? (size_t)(equals - place) : strlen(place));
    if (!is_own(name) && !graft_tokenizer_reads(name, NULL)) {
        fail_msg("classes.json looks for %s, which is not among those that the tokenizer says it reads", name);
    }
    graft_free(name);
    if (equals != NULL && equals[1] == '$') {
        expect_read(equals + 2);
    }
}

static int look_for_places(const graft_json *part) {
    static const char *const words[] = {"if", "unless", "choose"};
    const char *text = graft_json_string(part, NULL), *key;
    const graft_json *value;
    int n = 0;
    if (text != NULL && text[0] == '$') {
        expect_read(text + 1);
        n++;
    }
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        const char *place = graft_json_string(graft_json_get(part, words[i]), NULL);
        if (place != NULL) {
            expect_read(place);
            n++;
        }
    }
    for (size_t i = 0; graft_json_type(part) == GRAFT_JSON_ARRAY && i < graft_json_size(part); i++) {
        n += look_for_places(graft_json_at(part, i));
    }
    for (size_t i = 0; (value = graft_json_member(part, i, &key)) != NULL; i++) {
        n += look_for_places(value);
    }
    return n;
}

/* Each field that a recorded class may look for is listed as read. */
static void test_classes(void **state) {
    char *path = data_path("../host/tokenizer", "classes.json");
    graft_json *document = NULL;
    (void)state;
    assert_int_equal(graft_json_read(path, 1 << 24, &document, NULL), GRAFT_OK);
    assert_true(look_for_places(graft_json_get(document, "classes")) > 50);
    graft_json_free(document);
    graft_free(path);
}

/* No field that is read is listed as having no effect. */
static void test_rules(void **state) {
    const struct graft_rules list = graft_usual_rules("tokenizer_config.json");
    (void)state;
    assert_true(list.n > 30);
    for (int32_t i = 0; i < list.n; i++) {
        if (graft_tokenizer_reads(graft_field_rule_at(list.rules, list.stride, i)->name, NULL)) {
            fail_msg("%s is read, and a rule says that it has no effect", list.rules[i].name);
        }
    }
}

static struct graft_tokenizer *load_without(const char *path, const char *field) {
    const struct graft_tokenizer_options options = {sizeof options, 1, &field};
    struct graft_tokenizer *tokenizer = NULL;
    struct graft_error error = graft_error_none();
    if (graft_tokenizer_load_with(path, &options, &tokenizer, &error) != GRAFT_OK) {
        fail_msg("%s: %s", error.source, error.message);
    }
    return tokenizer;
}

/* Counts the token among the ids of a text. */
static int count(const struct graft_tokenizer *tokenizer, const char *token) {
    struct graft_ids ids = encode(tokenizer, "the hat", 7, 1);
    int n = 0;
    for (size_t i = 0; i < ids.n; i++) {
        n += strcmp(graft_tokenizer_token(tokenizer, ids.ids[i], NULL), token) == 0;
    }
    graft_ids_free(&ids);
    return n;
}

static void test_ignored(void **state) {
    static const struct {
        const char *field;
        int begins, ends;
    } cases[] = {{"nowhere", 1, 1}, {"add_bos_token", 0, 1}, {"add_eos_token", 1, 0}, {"add_eos_token.deeper", 1, 1}};
    char *path = data_path("data/tokenizer/directories", "llama_around");
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct graft_tokenizer *tokenizer = load_without(path, cases[i].field);
        assert_int_equal(count(tokenizer, "<s>"), cases[i].begins);
        assert_int_equal(count(tokenizer, "</s>"), cases[i].ends);
        graft_tokenizer_free(tokenizer);
    }
    graft_free(path);
}

/* Tests each file that may have it, also as a member of an object. */
static void test_ignored_elsewhere(void **state) {
    static const char document[] = "{\"model\": {\"type\": \"BPE\", \"vocab\": {\"a\": 0}, \"merges\": []}}";
    static const struct {
        const char *file, *content, *field;
    } cases[] = {
        {"tokenizer_config.json", "{\"eos_token\": \"x\"}", "eos_token"},
        {"special_tokens_map.json", "{\"eos_token\": \"x\"}", "eos_token"},
        {"tokenizer_config.json", "{\"extra_special_tokens\": {\"eos_token\": \"x\"}}",
         "extra_special_tokens.eos_token"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char folder[64];
        folder_create(folder);
        folder_put(folder, "tokenizer.json", document, sizeof document - 1);
        folder_put(folder, cases[i].file, cases[i].content, strlen(cases[i].content));
        struct graft_tokenizer *whole = load_without(folder, "nowhere"), *less = load_without(folder, cases[i].field);
        assert_true(graft_tokenizer_named_id(whole, "eos_token") >= 0);
        assert_int_equal(graft_tokenizer_named_id(less, "eos_token"), -1);
        graft_tokenizer_free(whole);
        graft_tokenizer_free(less);
        folder_remove(folder);
    }
}

static void test_options(void **state) {
    const struct graft_tokenizer_options none = {0};
    struct graft_tokenizer *tokenizer = NULL;
    struct graft_error error = graft_error_none();
    char *path = data_path("data/tokenizer/directories", "clean_up_words");
    (void)state;
    assert_int_equal(graft_tokenizer_load_with(path, &none, &tokenizer, &error), GRAFT_ERROR_USAGE);
    assert_null(tokenizer);
    assert_int_equal(graft_tokenizer_load_with(path, NULL, &tokenizer, NULL), GRAFT_OK);
    graft_tokenizer_free(tokenizer);
    graft_free(path);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reads),   cmocka_unit_test(test_rules),   cmocka_unit_test(test_classes),
        cmocka_unit_test(test_ignored), cmocka_unit_test(test_options), cmocka_unit_test(test_ignored_elsewhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
