/* SPDX-License-Identifier: Apache-2.0 */
/* Files with one fault each, and the exact messages. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/file.h"
#include "folder.h"
#include "tokenizer_fixture.h"

static void assert_refused(const char *path, const char *expected) {
    struct graft_error error = graft_error_none();
    struct graft_tokenizer *tokenizer;
    int status = graft_tokenizer_load(path, &tokenizer, &error);
    if (status != GRAFT_ERROR_MODEL || strcmp(error.message, expected) != 0) {
        fail_msg("%s: expected \"%s\", got %d \"%s\"", path, expected, status, error.message);
    }
    assert_null(tokenizer);
    assert_non_null(strstr(error.source, "/tokenizer.json"));
}

static void check_fault(const char *folder, const char *name) {
    char *path = data_path(folder, name);
    char *file = graft_format("%s/error.txt", path);
    char *expected;
    size_t length;
    assert_int_equal(graft_file_read(file, 1 << 16, GRAFT_ERROR_MODEL, &expected, &length, NULL), GRAFT_OK);
    assert_true(length > 0);
    assert_refused(path, expected);
    graft_free(expected);
    graft_free(file);
    graft_free(path);
}

static void test_faults(void **state) {
    (void)state;
    assert_true(for_each_entry("data/tokenizer/bad", check_fault) >= 92);
}

/* A file that is truncated anywhere is refused; nothing is read beyond its end. */
static void test_truncated(void **state) {
    (void)state;
    char folder[64];
    char *path = data_path("data/tokenizer/bad/id_twice", "tokenizer.json");
    char *text;
    size_t length;
    folder_create(folder);
    assert_int_equal(graft_file_read(path, 1 << 16, GRAFT_ERROR_MODEL, &text, &length, NULL), GRAFT_OK);
    for (size_t n = 0; n < length; n++) {
        struct graft_tokenizer *tokenizer;
        struct graft_error error = graft_error_none();
        folder_put(folder, "tokenizer.json", text, n);
        assert_int_equal(graft_tokenizer_load(folder, &tokenizer, &error), GRAFT_ERROR_MODEL);
    }
    graft_free(text);
    graft_free(path);
    folder_remove(folder);
}

static void test_deep(void **state) {
    (void)state;
    char folder[64];
    struct graft_text text = {0};
    struct graft_tokenizer *tokenizer;
    folder_create(folder);
    graft_text_add_string(&text, "{\"model\": {\"type\": \"BPE\", \"vocab\": ");
    for (int i = 0; i < 100000; i++) {
        graft_text_add_string(&text, "{\"a\":[");
    }
    folder_put(folder, "tokenizer.json", text.bytes, text.length);
    assert_int_equal(graft_tokenizer_load(folder, &tokenizer, NULL), GRAFT_ERROR_MODEL);
    graft_text_free(&text);
    folder_remove(folder);
}

static void test_absent(void **state) {
    (void)state;
    struct graft_error error = graft_error_none();
    struct graft_tokenizer *tokenizer;
    assert_int_equal(graft_tokenizer_load("/nonexistent", &tokenizer, &error), GRAFT_ERROR_MODEL);
    assert_string_equal(error.source, "/nonexistent/tokenizer.json");
}

/* A valid tokenizer.json with one faulty file beside it. */
static void test_files_beside(void **state) {
    (void)state;
    static const struct {
        const char *file, *content, *expected;
    } faults[] = {
        {"tokenizer_config.json", "[]", "expected an object, got an array"},
        {"tokenizer_config.json", "{\"eos_token\": 5}",
         "eos_token: expected a token, a string or an object with its content, got an integer"},
        {"tokenizer_config.json", "{\"eos_token\": {\"lstrip\": true}}",
         "eos_token.content: missing, expected a string"},
        {"tokenizer_config.json", "{\"eos_token\": {\"content\": \"x\", \"strip\": true}}",
         "eos_token.strip: unknown field"},
        {"tokenizer_config.json", "{\"extra_special_tokens\": [\"x\", 1]}",
         "extra_special_tokens[1]: expected a token, a string or an object with its content, got an integer"},
        {"tokenizer_config.json", "{\"extra_special_tokens\": {\"x\": 1}}",
         "extra_special_tokens.x: expected a token, a string or an object with its content, got an integer"},
        {"tokenizer_config.json", "{\"additional_special_tokens\": \"x\"}",
         "additional_special_tokens: expected an array, got a string"},
        {"tokenizer_config.json", "{\"added_tokens_decoder\": []}",
         "added_tokens_decoder: expected an object, got an array"},
        {"tokenizer_config.json", "{\"added_tokens_decoder\": {\"x\": {\"content\": \"x\"}}}",
         "added_tokens_decoder.x: expected an id from 0 to 2147483647 as the name of the field"},
        {"tokenizer_config.json", "{\"added_tokens_decoder\": {\"2147483648\": {\"content\": \"x\"}}}",
         "added_tokens_decoder.2147483648: expected an id from 0 to 2147483647 as the name of the field"},
        {"tokenizer_config.json", "{\"added_tokens_decoder\": {\"7\": \"x\"}}",
         "added_tokens_decoder.7: expected an object, got a string"},
        {"tokenizer_config.json", "{\"split_special_tokens\": 1}",
         "split_special_tokens: expected true or false, got an integer"},
        {"tokenizer_config.json", "{\"clean_up_tokenization_spaces\": \"no\"}",
         "clean_up_tokenization_spaces: expected true or false, got a string"},
        {"special_tokens_map.json", "1", "expected an object, got an integer"},
        {"special_tokens_map.json", "{\"pad_token\": []}",
         "pad_token: expected a token, a string or an object with its content, got an array"},
        {"added_tokens.json", "{\"x\": -1}", "x: expected an integer from 0 to 2147483647, got -1"},
        {"added_tokens.json", "{\"x\": \"1\"}", "x: expected an integer, got a string"},
    };
    char *sound = data_path("data/tokenizer/variants/bytes", "tokenizer.json");
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        char folder[64];
        struct graft_error error = graft_error_none();
        struct graft_tokenizer *tokenizer = NULL;
        folder_create(folder);
        folder_link(folder, "tokenizer.json", sound);
        folder_put(folder, faults[i].file, faults[i].content, strlen(faults[i].content));
        assert_int_equal(graft_tokenizer_load(folder, &tokenizer, &error), GRAFT_ERROR_MODEL);
        assert_string_equal(error.message, faults[i].expected);
        assert_non_null(strstr(error.source, faults[i].file));
        assert_null(tokenizer);
        folder_remove(folder);
    }
    graft_free(sound);
}

/* A token whose id belongs to another: the vocabulary has 5 tokens and leaves out ids before the last. */
static void test_id_taken(void **state) {
    (void)state;
    static const char document[] = "{\"model\": {\"type\": \"BPE\", \"vocab\": {\"a\": 0, \"b\": 1, \"c\": 2, \"d\": "
                                   "3, \"e\": 5}, \"merges\": []}}";
    static const char config[] = "{\"eos_token\": \"x\"}";
    char folder[64];
    struct graft_error error = graft_error_none();
    struct graft_tokenizer *tokenizer = NULL;
    folder_create(folder);
    folder_put(folder, "tokenizer.json", document, sizeof document - 1);
    folder_put(folder, "tokenizer_config.json", config, sizeof config - 1);
    assert_int_equal(graft_tokenizer_load(folder, &tokenizer, &error), GRAFT_ERROR_MODEL);
    assert_string_equal(error.message,
                        "the token \"x\" would get the id 5, the number of tokens, which is that of \"e\": "
                        "model.vocab of tokenizer.json leaves out ids");
    folder_remove(folder);
}

/* Ids that are not used get a note. */
static void test_notes(void **state) {
    (void)state;
    struct graft_tokenizer *tokenizer = load_tokenizer("data/tokenizer/directories", "added_decoder");
    const char *note = graft_tokenizer_note(tokenizer, 0);
    assert_non_null(note);
    assert_non_null(strstr(note, "tokenizer_config.json: the token \"hat\" gets the id 26, not 3; 3 more tokens get "
                                 "other ids, too (as in transformers, new tokens are numbered without gaps)"));
    assert_null(graft_tokenizer_note(tokenizer, 1));
    graft_tokenizer_free(tokenizer);
}

/* Deviations of transformers for a class get a note, and nothing else does. */
static void test_class_notes(void **state) {
    (void)state;
    static const struct {
        const char *folder, *name, *config, *expected; /* a config goes beside the folder's tokenizer.json */
    } cases[] = {
        {"goldens/tokenizers", "bert", NULL, NULL},
        {"goldens/tokenizers", "qwen2", NULL, NULL},
        {"goldens/tokenizers", "llama3", NULL, NULL},
        {"goldens/tokenizers", "llama2", NULL,
         "tokenizer.json: normalizer, pre_tokenizer: as the file says, not as LlamaTokenizer has it in transformers, "
         "which "
         "takes only the vocabulary of the file"},
        {"goldens/tokenizers", "llama2", "{\"tokenizer_class\": \"PreTrainedTokenizerFast\"}", NULL},
        {"goldens/tokenizers", "qwen2", "{\"tokenizer_class\": \"LlamaTokenizer\"}", NULL},
        {"goldens/tokenizers", "bert",
         "{\"tokenizer_class\": \"BertTokenizerFast\", \"do_lower_case\": false, \"cls_token\": \"[MASK]\"}",
         "tokenizer.json: normalizer, post_processor: as the file says, not as BertTokenizerFast has it in "
         "transformers, "
         "which takes only the vocabulary of the file"},
        {"goldens/tokenizers", "llama3", "{\"tokenizer_class\": \"GPT2Tokenizer\"}",
         "tokenizer.json: pre_tokenizer, model.ignore_merges: as the file says, not as GPT2Tokenizer has it in "
         "transformers, which takes only the vocabulary of the file"},
        {"goldens/tokenizers", "llama3", "{\"dropout\": 0.5}", NULL}, /* left to the ledger of fields */
        {"goldens/tokenizers", "bert",
         "{\"tokenizer_class\": \"BertTokenizer\", \"added_tokens_decoder\": {\"0\": {\"content\": \"[PAD]\"}}}", NULL},
        {"goldens/tokenizers", "qwen2",
         "{\"tokenizer_class\": \"Qwen2Tokenizer\", \"added_tokens_decoder\": {}, \"eos_token\": \"<|im_end|>\"}",
         "tokenizer.json: added_tokens: as the file says, not as Qwen2Tokenizer has it in transformers, which takes "
         "only "
         "the vocabulary of the file"},
        {"goldens/tokenizers", "llama2", "{\"tokenizer_class\": \"NllbTokenizer\"}",
         "tokenizer.json is read as it is: what NllbTokenizer of transformers does otherwise is not known"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char folder[64];
        struct graft_tokenizer *tokenizer = NULL;
        char *path = data_path(cases[i].folder, cases[i].name), *file = graft_format("%s/tokenizer.json", path);
        folder_create(folder);
        folder_link(folder, "tokenizer.json", file);
        if (cases[i].config != NULL) {
            folder_put(folder, "tokenizer_config.json", cases[i].config, strlen(cases[i].config));
        }
        assert_int_equal(graft_tokenizer_load(cases[i].config != NULL ? folder : path, &tokenizer, NULL), GRAFT_OK);
        if (cases[i].expected == NULL) {
            assert_null(graft_tokenizer_note(tokenizer, 0));
        } else {
            assert_non_null(graft_tokenizer_note(tokenizer, 0));
            assert_string_equal(graft_tokenizer_note(tokenizer, 0), cases[i].expected);
        }
        graft_tokenizer_free(tokenizer);
        graft_free(file);
        graft_free(path);
        folder_remove(folder);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_faults), cmocka_unit_test(test_truncated),    cmocka_unit_test(test_deep),
        cmocka_unit_test(test_absent), cmocka_unit_test(test_files_beside), cmocka_unit_test(test_id_taken),
        cmocka_unit_test(test_notes),  cmocka_unit_test(test_class_notes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
