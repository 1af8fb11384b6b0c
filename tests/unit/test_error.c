/* SPDX-License-Identifier: Apache-2.0 */
/* The function that sets errors: its arguments may contain anything, and it records a single line that is safe for a
 * terminal. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <string.h>

#include "graft/module.h"

/* ESC, a newline, a C1 control (CSI), a byte that is no UTF-8, an overlong form, a surrogate, DEL; then valid text. */
#define HOSTILE           \
    "a\x1b[31m\n\xc2\x9b" \
    "b\xff\xc0\xaf\xed\xa0\x80\x7f\xc3\xa9 \xf0\x9f\x98\x80"
#define CLEAN   \
    "a?[31m???" \
    "b???????\xc3\xa9 \xf0\x9f\x98\x80"

static void test_setters_clean(void **state) {
    struct graft_error error = graft_error_none();
    (void)state;
    assert_int_equal(graft_error_set(&error, GRAFT_ERROR_MODEL, HOSTILE, "tensor %s", HOSTILE), GRAFT_ERROR_MODEL);
    graft_error_hint(&error, "rename %s", HOSTILE);
    assert_string_equal(error.source, CLEAN);
    assert_string_equal(error.message, "tensor " CLEAN);
    assert_string_equal(error.hint, "rename " CLEAN);
    graft_error_add(&error, "; %s", HOSTILE);
    assert_string_equal(error.message, "tensor " CLEAN "; " CLEAN);
}

/* A message is cut between characters, wherever the limit is. */
static void test_cut(void **state) {
    char text[3001];
    (void)state;
    for (size_t shift = 0; shift < 4; shift++) {
        struct graft_error error = graft_error_none();
        memset(text, 'x', shift);
        for (size_t at = shift; at + 4 < sizeof text; at += 4) {
            memcpy(text + at, "\xf0\x9f\x98\x80", 4);
            text[at + 4] = '\0';
        }
        (void)graft_error_set(&error, GRAFT_ERROR_IO, text, "%s", text);
        assert_null(strchr(error.message, '?'));
        assert_null(strchr(error.source, '?'));
        assert_true(strlen(error.message) <= sizeof error.message - 1 &&
                    strlen(error.message) > sizeof error.message - 5);
        assert_memory_equal(error.message, text, strlen(error.message));
    }
}

static struct graft_module module_of(const char *plugin) {
    return (struct graft_module){
        .struct_size = sizeof(struct graft_module), .path = "model.mlp", .class_name = "MyMLP", .plugin = plugin};
}

static void test_forward_without_an_error(void **state) {
    const struct graft_module module = module_of("mine");
    struct graft_error error = graft_error_none();
    (void)state;
    assert_int_equal(graft_module_status(&module, GRAFT_OK, &error), GRAFT_OK);
    assert_int_equal(error.code, GRAFT_OK);
    assert_int_equal(graft_module_status(&module, 42, &error), GRAFT_ERROR_PLUGIN);
    assert_int_equal(error.code, GRAFT_ERROR_PLUGIN);
    assert_string_equal(error.source, "model.mlp");
    assert_string_equal(error.message, "forward of MyMLP of plugin mine failed with status 42 and recorded no error");
    /* The parent passes it on. */
    assert_int_equal(graft_module_status(&module, GRAFT_ERROR_PLUGIN, &error), GRAFT_ERROR_PLUGIN);
    assert_int_equal(graft_module_status(&module, -1, NULL), GRAFT_ERROR_PLUGIN);
    assert_int_equal(graft_module_status(&module, GRAFT_ERROR_IO, NULL), GRAFT_ERROR_IO);
}

/* An error that a plugin filled in by hand: an unknown code, no source, no terminator, and terminal controls. */
static void test_forward_with_an_error_of_its_own(void **state) {
    const struct graft_module module = module_of(NULL);
    struct graft_error error = graft_error_none();
    (void)state;
    memset(error.message, '\n', sizeof error.message);
    error.code = 255;
    assert_int_equal(graft_module_status(&module, 255, &error), GRAFT_ERROR_PLUGIN);
    assert_int_equal(error.code, GRAFT_ERROR_PLUGIN);
    assert_string_equal(error.source, "model.mlp");
    assert_int_equal(strlen(error.message), sizeof error.message - 1);
    assert_null(strchr(error.message, '\n'));
}

static void test_memory(void **state) {
    struct graft_error error = graft_error_none();
    (void)state;
    assert_int_equal(graft_fail_memory(&error, "x\n"), GRAFT_ERROR_INTERNAL);
    assert_string_equal(error.source, "x?");
    assert_string_equal(error.message, "out of memory");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_setters_clean), cmocka_unit_test(test_cut),
                                       cmocka_unit_test(test_forward_without_an_error),
                                       cmocka_unit_test(test_forward_with_an_error_of_its_own),
                                       cmocka_unit_test(test_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
