/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/fail.h"

static void test_builds(void **state) {
    (void)state;
    struct graft_text text = {0};
    graft_text_add(&text, NULL, 0);
    assert_string_equal(text.bytes, "");
    for (int i = 0; i < 100; i++) {
        graft_text_printf(&text, "%d,", i);
    }
    graft_text_add(&text, "a\0b", 3);
    graft_text_add_string(&text, "!");
    assert_int_equal(text.failed, 0);
    assert_int_equal(text.length, 10 * 2 + 90 * 3 + 4);
    assert_memory_equal(text.bytes + text.length - 4, "a\0b!", 5);
    graft_text_free(&text);
    assert_null(text.bytes);
}

static void test_endings(void **state) {
    (void)state;
    assert_true(graft_ends_with("x.so", ".so"));
    assert_false(graft_ends_with(".so", ".so"));
    assert_false(graft_ends_with("so", ".so"));
    assert_false(graft_ends_with("x.so.1", ".so"));
}

static void test_failure_sticks(void **state) {
    (void)state;
    struct graft_text text = {0};
    graft_text_add_string(&text, "kept");
    graft_alloc_fail_at(1);
    for (int i = 0; i < 100; i++) {
        graft_text_printf(&text, "%d", i);
    }
    assert_int_equal(text.failed, 1);
    assert_memory_equal(text.bytes, "kept", 4);
    graft_text_free(&text);

    volatile size_t huge = SIZE_MAX;
    graft_text_add_string(&text, "x");
    graft_text_add(&text, "", huge);
    assert_int_equal(text.failed, 1);
    graft_text_free(&text);
}

static void test_valid_utf8(void **state) {
    (void)state;
    static const char *const valid[] = {"",
                                        "plain ascii, more than eight bytes",
                                        "\xC2\x80",
                                        "\xDF\xBF",
                                        "\xE0\xA0\x80",
                                        "\xED\x9F\xBF",
                                        "\xEE\x80\x80",
                                        "\xEF\xBF\xBF",
                                        "\xF0\x90\x80\x80",
                                        "\xF4\x8F\xBF\xBF",
                                        ("12345678\xE2\x82\xAC"
                                         "12345678")};
    for (size_t i = 0; i < sizeof valid / sizeof valid[0]; i++) {
        assert_int_equal(graft_utf8_valid_prefix(valid[i], strlen(valid[i])), strlen(valid[i]));
    }
    assert_int_equal(graft_utf8_valid_prefix("a\0b", 3), 3);
}

static void test_invalid_utf8(void **state) {
    (void)state;
    /* Stray continuation, overlong forms, surrogate, above U+10FFFF, invalid bytes, incomplete sequences. */
    static const char *const invalid[] = {"\x80",
                                          "\xC0\x80",
                                          "\xC1\xBF",
                                          "\xE0\x9F\xBF",
                                          "\xED\xA0\x80",
                                          "\xF0\x8F\xBF\xBF",
                                          "\xF4\x90\x80\x80",
                                          "\xF5\x80\x80\x80",
                                          "\xFF",
                                          "\xC2",
                                          "\xE2\x82",
                                          "\xF0\x9F\x98",
                                          "\xC2 ",
                                          "\xE2\x82 ",
                                          "\xF0\x9F\x98 "};
    for (size_t i = 0; i < sizeof invalid / sizeof invalid[0]; i++) {
        char text[32];
        (void)snprintf(text, sizeof text, "ten bytes:%s", invalid[i]);
        assert_int_equal(graft_utf8_valid_prefix(text, strlen(text)), 10);
    }
}

static void test_defang(void **state) {
    (void)state;
    char text[] = "ok \xC3\xA9\x1B[2J\n\r\t\x7F\xC2\x9B"
                  "1m\x9B\xE2\x82";
    graft_error_clean(text);
    assert_string_equal(text, "ok \xC3\xA9?[2J??????1m???");
}

static void test_fail(void **state) {
    (void)state;
    struct graft_error error = graft_error_none();
    assert_int_equal(graft_error_set(&error, GRAFT_ERROR_MODEL, "a\nb", "tensor \"%s\"", "x\x1By"), GRAFT_ERROR_MODEL);
    assert_string_equal(error.source, "a?b");
    assert_string_equal(error.message, "tensor \"x?y\"");
    assert_int_equal(graft_fail_memory(&error, "late"), GRAFT_ERROR_INTERNAL);
    assert_string_equal(error.message, "tensor \"x?y\"");
    assert_int_equal(graft_error_set(NULL, GRAFT_ERROR_IO, NULL, "x"), GRAFT_ERROR_IO);

    struct graft_error system = graft_error_none();
    (void)graft_fail_errno(&system, GRAFT_ERROR_IO, "f", "cannot be read", 2);
    assert_string_equal(system.message, "cannot be read: No such file or directory");
}

/* If the process lacks memory, the file is not blamed. */
static void test_whose_fault(void **state) {
    static const struct {
        int number, code;
    } cases[] = {{ENOENT, GRAFT_ERROR_MODEL},
                 {EACCES, GRAFT_ERROR_MODEL},
                 {ENOMEM, GRAFT_ERROR_INTERNAL},
                 {EMFILE, GRAFT_ERROR_IO},
                 {ENFILE, GRAFT_ERROR_IO}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct graft_error error = graft_error_none();
        assert_int_equal(graft_fail_errno(&error, GRAFT_ERROR_MODEL, "f", "cannot be mapped", cases[i].number),
                         cases[i].code);
        assert_int_equal(error.code, cases[i].code);
        assert_non_null(strstr(error.message, "cannot be mapped: "));
    }
}

/* A text is cut between characters. */
static void test_fail_cuts(void **state) {
    (void)state;
    char text[2001];
    for (size_t i = 0; i < 2000; i += 2) {
        memcpy(text + i, "\xC3\xA9", 2);
    }
    text[2000] = '\0';
    struct graft_error error = graft_error_none();
    (void)graft_error_set(&error, GRAFT_ERROR_MODEL, text, "%s", text);
    assert_int_equal(strlen(error.message), sizeof error.message - 2);
    assert_int_equal(graft_utf8_valid_prefix(error.message, strlen(error.message)), strlen(error.message));
    assert_int_equal(graft_utf8_valid_prefix(error.source, strlen(error.source)), strlen(error.source));
}

/* Line breaks and characters that reverse the direction of text are removed, from errors as well; their neighbours
 * stay. */
static void test_directions(void **state) {
    static const struct {
        unsigned first, last; /* of the characters tried */
        unsigned gone_first, gone_last;
    } ranges[] = {
        {0x61B, 0x61D, 0x61C, 0x61C},     {0x200C, 0x2012, 0x200E, 0x200F}, {0x2026, 0x2029, 0x2028, 0x2029},
        {0x202A, 0x2030, 0x202A, 0x202E}, {0x2064, 0x206B, 0x2066, 0x2069}, {0x80, 0xA1, 0x80, 0x9F},
    };
    (void)state;
    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++) {
        for (unsigned code = ranges[i].first; code <= ranges[i].last; code++) {
            struct graft_text text = {0};
            const int gone = code >= ranges[i].gone_first && code <= ranges[i].gone_last;
            graft_text_add_string(&text, "a");
            graft_utf8_add(&text, code);
            graft_text_add_string(&text, "b");
            char *before = strdup(text.bytes);
            graft_error_clean(text.bytes);
            assert_string_equal(text.bytes, !gone ? before : code < 0x800 ? "a??b" : "a???b");
            struct graft_error error = graft_error_none();
            (void)graft_error_set(&error, GRAFT_ERROR_MODEL, before, "%s", before);
            graft_error_hint(&error, "%s", before);
            assert_string_equal(error.source, text.bytes);
            assert_string_equal(error.message, text.bytes);
            assert_string_equal(error.hint, text.bytes);
            free(before);
            graft_text_free(&text);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_directions), cmocka_unit_test(test_builds),     cmocka_unit_test(test_failure_sticks),
        cmocka_unit_test(test_endings),    cmocka_unit_test(test_valid_utf8), cmocka_unit_test(test_invalid_utf8),
        cmocka_unit_test(test_defang),     cmocka_unit_test(test_fail),       cmocka_unit_test(test_whose_fault),
        cmocka_unit_test(test_fail_cuts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
