/* SPDX-License-Identifier: Apache-2.0 */
/* Files with one fault each: what is said about them, to the letter. */
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
    assert_true(for_each_entry("data/tokenizer/bad", check_fault) >= 60);
}

/* Every beginning of a file is refused; nothing is read beyond it. */
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_faults),
        cmocka_unit_test(test_truncated),
        cmocka_unit_test(test_deep),
        cmocka_unit_test(test_absent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
