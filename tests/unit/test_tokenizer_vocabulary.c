/* SPDX-License-Identifier: Apache-2.0 */
/* Directories without tokenizer.json whose files have one fault each, and the exact messages. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/file.h"
#include "folder.h"
#include "tokenizer_fixture.h"

struct file {
    const char *name, *content;
};

/* `source` is the end of the file's name that the error gives; "" is the directory. */
static void assert_refused(const struct file *files, size_t n, const char *source, const char *expected) {
    char folder[64];
    struct graft_error error = graft_error_none();
    struct graft_tokenizer *tokenizer = NULL;
    folder_create(folder);
    for (size_t i = 0; i < n && files[i].name != NULL; i++) {
        folder_put(folder, files[i].name, files[i].content, strlen(files[i].content));
    }
    assert_int_equal(graft_tokenizer_load(folder, &tokenizer, &error), GRAFT_ERROR_MODEL);
    assert_string_equal(error.message, expected);
    char *place = source[0] != '\0' ? graft_format("%s/%s", folder, source) : graft_format("%s", folder);
    assert_string_equal(error.source, place);
    assert_null(tokenizer);
    graft_free(place);
    folder_remove(folder);
}

#define GPT2 \
    { "tokenizer_config.json", "{\"tokenizer_class\": \"GPT2Tokenizer\"}" }
#define BERT \
    { "config.json", "{\"model_type\": \"bert\"}" }
#define VOCAB \
    { "vocab.json", "{\"a\": 0, \"b\": 1, \"ab\": 2}" }

static void test_faults(void **state) {
    (void)state;
    static const struct {
        struct file files[4];
        const char *source, *expected;
    } faults[] = {
        {{{NULL, NULL}},
         "",
         "there is no tokenizer.json, and no tokenizer.model, which the tokenizer class TokenizersBackend is read "
         "from"},
        {{BERT},
         "",
         "there is no tokenizer.json, and no tokenizer.model or vocab.txt, which the tokenizer class BertTokenizer is "
         "read from"},
        {{{"config.json", "{\"model_type\": \"m2m_100\"}"}, {"tokenizer.model", "x"}},
         "",
         "there is no tokenizer.json, and no other files are read for the tokenizer class M2M100Tokenizer"},
        {{{"tokenizer_config.json", "{\"tokenizer_class\": \"OwnTokenizerFast\"}"}, {"tokenizer.model", "x"}},
         "",
         "there is no tokenizer.json, and no other files are read for the tokenizer class OwnTokenizerFast"},
        {{{"tekken.json", "{}"}}, "", "there is no tokenizer.json, and tekken.json is not read"},
        {{GPT2, VOCAB}, "merges.txt", "cannot be opened: No such file or directory"},
        {{GPT2, VOCAB, {"merges.txt", "#version: 0.2\na b\nab\n"}},
         "merges.txt",
         "line 3: expected two tokens with a space between them"},
        {{GPT2, VOCAB, {"merges.txt", "a b c\n"}},
         "merges.txt",
         "line 1: expected two tokens with a space between them"},
        {{GPT2, VOCAB, {"merges.txt", "a b\r\nb a\r\n"}}, "merges.txt", "line 2: \"ba\" is not in vocab.json"},
        {{GPT2, {"vocab.json", "[]"}, {"merges.txt", ""}},
         "vocab.json",
         "expected an object that gives each token its id"},
        {{GPT2, {"vocab.json", "{\"a\": 0, \"b\": 0}"}, {"merges.txt", ""}},
         "vocab.json",
         "\"a\" and \"b\" have the same id 0"},
        {{GPT2, {"vocab.json", "{\"\xff\": 0}"}, {"merges.txt", ""}}, "vocab.json", "not UTF-8 at byte 2"},
        {{BERT, {"vocab.txt", "[UNK]\n\xc3\n"}}, "vocab.txt", "not UTF-8 at byte 6"},
        {{BERT, {"vocab.txt", "[UNK]\n"}, {"tokenizer_config.json", "{\"cls_token\": null}"}},
         "tokenizer_config.json",
         "cls_token: expected a token: the tokenizer class BertTokenizer puts it around texts"},
        {{BERT, {"tokenizer.model", "\n\3\n\1a"}},
         "tokenizer.model",
         "the tokenizer class BertTokenizer makes a WordPiece model, for which this is not the right kind of file"},
        {{{"config.json", "{\"model_type\": \"t5\"}"},
          {"spiece.model", "\n\3\n\1a"},
          {"tokenizer_config.json", "{\"extra_ids\": -1}"}},
         "tokenizer_config.json",
         "the number of tokens <extra_id_...> (extra_ids): expected an integer from 0 to 100000"},
        {{{"config.json", "{\"model_type\": \"t5\"}"},
          {"spiece.model", "\n\3\n\1a"},
          {"tokenizer_config.json", "{\"extra_ids\": 0}"}},
         "spiece.model",
         "the unknown token's id is 2, and there are 1 pieces"},
        {{{"config.json", "[]"}, {"vocab.txt", ""}},
         "",
         "there is no tokenizer.json, and no tokenizer.model, which the tokenizer class TokenizersBackend is read "
         "from"},
    };
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        assert_refused(faults[i].files, 4, faults[i].source, faults[i].expected);
    }
}

/* The message about a tokenizer.model of these bytes; "" if it loads. */
static void read_model(const char *bytes, size_t length, char *message, size_t size) {
    char folder[64];
    struct graft_error error = graft_error_none();
    struct graft_tokenizer *tokenizer = NULL;
    folder_create(folder);
    folder_put(folder, "tokenizer.model", bytes, length);
    int status = graft_tokenizer_load(folder, &tokenizer, &error);
    assert_true(status == GRAFT_OK || (status == GRAFT_ERROR_MODEL && tokenizer == NULL));
    (void)snprintf(message, size, "%s", error.message);
    graft_tokenizer_free(tokenizer);
    folder_remove(folder);
}

static void test_wire(void **state) {
    (void)state;
    static const struct {
        const char *bytes;
        size_t length;
        const char *expected;
    } faults[] = {
        {"", 0, "not a SentencePiece model: it has no pieces, 0 bytes in"},
        {"\x12\0", 2, "not a SentencePiece model: it has no pieces, 2 bytes in"},
        {"\n", 1, "not a SentencePiece model: a field makes no sense, 0 bytes in"},
        {"\n\5\n\1a", 5, "not a SentencePiece model: a field makes no sense, 0 bytes in"},
        {"\n\3\n\1a\3", 6, "not a SentencePiece model: a field makes no sense, 5 bytes in"},
        {"\x0d"
         "aaaa",
         5, "not a SentencePiece model: a field has another type than it should, 0 bytes in"},
        {"\n\3\n\2a", 5, "not a SentencePiece model: a piece makes no sense, 2 bytes in"},
        {"\n\3\n\1\xff", 5, "not a SentencePiece model: a text is not UTF-8 or has a NUL byte, 2 bytes in"},
        {"\n\3\n\1\0", 5, "not a SentencePiece model: a text is not UTF-8 or has a NUL byte, 2 bytes in"},
        {"\n\2\x10\1", 4, "not a SentencePiece model: a field has another type than it should, 2 bytes in"},
        {"\n\3\n\1a\x12\2\x1a\0", 9, "not a SentencePiece model: a field has another type than it should, 7 bytes in"},
        {"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 11,
         "not a SentencePiece model: a field makes no sense, 0 bytes in"},
    };
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        char message[256];
        read_model(faults[i].bytes, faults[i].length, message, sizeof message);
        assert_string_equal(message, faults[i].expected);
    }
}

/* Fields with unknown numbers are skipped, whatever their type. */
static void test_unknown_fields(void **state) {
    (void)state;
    static const char bytes[] = "\xa0\x06\x01\xa9\x06"
                                "12345678\xad\x06"
                                "1234\xa2\x06\x03"
                                "abc\n\7\n\5<unk>\n\3\n\1a";
    char message[256];
    read_model(bytes, sizeof bytes - 1, message, sizeof message);
    assert_string_equal(message, "");
}

/* A truncated model is refused or valid; nothing is read beyond its end. */
static void test_truncated(void **state) {
    (void)state;
    char *path = data_path("data/tokenizer/directories/mistral", "tokenizer.model");
    char *bytes;
    size_t length;
    int refused = 0;
    assert_int_equal(graft_file_read(path, 1 << 20, GRAFT_ERROR_MODEL, &bytes, &length, NULL), GRAFT_OK);
    for (size_t n = 0; n < length; n += n < 200 || length - n < 200 ? 1 : 13) {
        char *exact = graft_strndup(bytes, n); /* so that a sanitizer detects reads past the end */
        char message[256];
        read_model(exact, n, message, sizeof message);
        refused += message[0] != '\0';
        graft_free(exact);
    }
    assert_true(refused > 400);
    graft_free(bytes);
    graft_free(path);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_faults),
        cmocka_unit_test(test_wire),
        cmocka_unit_test(test_unknown_fields),
        cmocka_unit_test(test_truncated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
