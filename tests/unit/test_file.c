/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "folder.h"

static char folder[64];

static int set_up(void **state) {
    (void)state;
    folder_create(folder);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    folder_remove(folder);
    return 0;
}

static void assert_unreadable(const char *name, const char *words) {
    char *text = NULL;
    size_t length = 0;
    struct graft_error error = graft_error_none();
    const char *path = folder_path(folder, name);
    assert_int_equal(graft_file_read(path, 100, GRAFT_ERROR_IO, &text, &length, &error), GRAFT_ERROR_IO);
    assert_null(text);
    assert_string_equal(error.source, path);
    assert_string_equal(error.message, words);
}

static void test_read(void **state) {
    (void)state;
    char *text = NULL;
    size_t length = 0;
    folder_put(folder, "f", "a\0b", 3);
    const char *path = folder_path(folder, "f");
    assert_int_equal(graft_file_read(path, 3, GRAFT_ERROR_MODEL, &text, &length, NULL), GRAFT_OK);
    assert_int_equal(length, 3);
    assert_memory_equal(text, "a\0b", 4);
    graft_free(text);

    folder_put(folder, "f", "", 0);
    assert_int_equal(graft_file_read(path, 0, GRAFT_ERROR_MODEL, &text, &length, NULL), GRAFT_OK);
    assert_int_equal(length, 0);
    assert_string_equal(text, "");
    graft_free(text);
}

static void test_read_refuses(void **state) {
    (void)state;
    assert_unreadable("absent", "cannot be opened: No such file or directory");
    folder_make(folder, "d");
    assert_unreadable("d", "expected a regular file, found a directory");
    assert_int_equal(mkfifo(folder_path(folder, "p"), 0600), 0);
    assert_unreadable("p", "expected a regular file, found a FIFO");
    folder_link(folder, "null", "/dev/null");
    assert_unreadable("null", "expected a regular file, found a device");
    char large[101] = {0};
    folder_put(folder, "large", large, sizeof large);
    assert_unreadable("large", "has 101 bytes, expected at most 100");
}

static void test_exists(void **state) {
    (void)state;
    assert_false(graft_file_exists(folder_path(folder, "x")));
    folder_link(folder, "x", "nowhere");
    assert_true(graft_file_exists(folder_path(folder, "x")));
    assert_true(graft_file_exists(folder));
}

static void test_write(void **state) {
    (void)state;
    const struct graft_file_piece pieces[] = {{"one ", 4}, {NULL, 0}, {"two", 3}};
    const char *path = folder_path(folder, "out");
    char *text = NULL;
    size_t length = 0;
    mode_t mask = umask(027);
    for (int round = 0; round < 2; round++) {
        assert_int_equal(graft_file_write(path, pieces, 3, NULL), GRAFT_OK);
        assert_int_equal(graft_file_read(path, 100, GRAFT_ERROR_IO, &text, &length, NULL), GRAFT_OK);
        assert_string_equal(text, "one two");
        graft_free(text);
        assert_int_equal(folder_count(folder), 1);
    }
    umask(mask);
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0640);
}

static void test_write_refuses(void **state) {
    (void)state;
    const struct graft_file_piece piece = {"new", 3};
    struct graft_error error = graft_error_none();
    assert_int_equal(graft_file_write(folder_path(folder, "no/out"), &piece, 1, &error), GRAFT_ERROR_IO);
    assert_string_equal(error.message, "cannot be created: No such file or directory");

    error = graft_error_none();
    assert_int_equal(graft_file_write(folder, &piece, 1, &error), GRAFT_ERROR_IO);
    assert_string_equal(error.message, "expected a regular file or no file, found a directory");

    folder_link(folder, "null", "/dev/null");
    error = graft_error_none();
    assert_int_equal(graft_file_write(folder_path(folder, "null"), &piece, 1, &error), GRAFT_ERROR_IO);
    assert_string_equal(error.message, "expected a regular file or no file, found a device");
    assert_int_equal(folder_count(folder), 1);
}

/* A write that fails keeps the old content, and leaves nothing beside it. */
static void test_write_fails(void **state) {
    (void)state;
    const struct graft_file_piece old = {"old", 3};
    const struct graft_file_piece bad[] = {{"new", 3}, {(const void *)(uintptr_t)8, 4096}};
    struct graft_error error = graft_error_none();
    const char *path = folder_path(folder, "out");
    char *text = NULL;
    size_t length = 0;
    assert_int_equal(graft_file_write(path, &old, 1, NULL), GRAFT_OK);
    assert_int_equal(graft_file_write(path, bad, 2, &error), GRAFT_ERROR_IO);
    assert_string_equal(error.message, "cannot be written: Bad address");
    assert_int_equal(graft_file_read(path, 100, GRAFT_ERROR_IO, &text, &length, NULL), GRAFT_OK);
    assert_string_equal(text, "old");
    assert_int_equal(folder_count(folder), 1);
    graft_free(text);
}

static void test_out_of_memory(void **state) {
    (void)state;
    const struct graft_file_piece piece = {"text", 4};
    const char *path = folder_path(folder, "out");
    char *text = NULL;
    size_t length = 0;
    graft_alloc_fail_at(1);
    assert_int_equal(graft_file_write(path, &piece, 1, NULL), GRAFT_ERROR_INTERNAL);
    assert_int_equal(folder_count(folder), 0);
    graft_alloc_fail_at(2); /* only the sync of the folder is left out */
    assert_int_equal(graft_file_write(path, &piece, 1, NULL), GRAFT_OK);
    graft_alloc_fail_at(1);
    assert_int_equal(graft_file_read(path, 100, GRAFT_ERROR_IO, &text, &length, NULL), GRAFT_ERROR_INTERNAL);
}

static void test_join(void **state) {
    (void)state;
    static const char *const cases[][3] = {{"a", "b", "a/b"}, {"a/", "b", "a/b"}, {"", "b", "b"}, {"/", "b", "/b"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *path = graft_path_join(cases[i][0], cases[i][1]);
        assert_string_equal(path, cases[i][2]);
        graft_free(path);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_read, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_read_refuses, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_exists, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_write, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_write_refuses, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_write_fails, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_out_of_memory, set_up, tear_down),
        cmocka_unit_test(test_join),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
