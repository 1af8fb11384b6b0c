/* SPDX-License-Identifier: Apache-2.0 */
#include "base/sha256.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "folder.h"

/* Adds the text in pieces of `step` bytes. */
static void check_pieces(const char *text, size_t step, const char *expected) {
    char digits[GRAFT_SHA256_DIGITS + 1];
    struct graft_sha256 hash;
    size_t length = strlen(text);
    graft_sha256_start(&hash);
    for (size_t at = 0; at < length; at += step) {
        graft_sha256_add(&hash, text + at, length - at < step ? length - at : step);
    }
    graft_sha256_end(&hash, digits);
    assert_string_equal(digits, expected);
}

/* The examples that NIST publishes with the standard: of one block, of two, and of none. */
static void test_published(void **state) {
    static const struct {
        const char *text, *digits;
    } examples[] = {
        {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
        {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
         "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
        {"abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrst"
         "nopqrstu",
         "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof examples / sizeof examples[0]; i++) {
        for (size_t step = 1; step < 130; step += 7) {
            check_pieces(examples[i].text, step, examples[i].digits);
        }
    }
}

/* Longer than the pieces that a file is read in: a million times the letter a, another published example. */
static void test_file(void **state) {
    enum { MILLION = 1000000 };
    char digits[GRAFT_SHA256_DIGITS + 1], folder[64];
    (void)state;
    folder_create(folder);
    const char *path = folder_path(folder, "a");
    char *bytes = graft_alloc(MILLION, 1);
    FILE *file = fopen(path, "wb");
    memset(bytes, 'a', MILLION);
    assert_int_equal(fwrite(bytes, 1, MILLION, file), MILLION);
    assert_int_equal(fclose(file), 0);
    graft_free(bytes);
    assert_int_equal(graft_sha256_file(path, GRAFT_ERROR_PLUGIN, digits, NULL), GRAFT_OK);
    assert_string_equal(digits, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    assert_int_equal(graft_sha256_file(folder_path(folder, "b"), GRAFT_ERROR_PLUGIN, digits, NULL), GRAFT_ERROR_PLUGIN);
    assert_int_equal(graft_sha256_file(folder, GRAFT_ERROR_IO, digits, NULL), GRAFT_ERROR_IO);
    folder_remove(folder);
}

static void test_looks(void **state) {
    char text[] = "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0";
    (void)state;
    assert_true(graft_sha256_is(text));
    text[3] = 'A';
    assert_false(graft_sha256_is(text));
    text[3] = '\0';
    assert_false(graft_sha256_is(text));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_published),
        cmocka_unit_test(test_file),
        cmocka_unit_test(test_looks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
