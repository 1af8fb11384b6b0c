/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/json_cursor.h"

static struct graft_json_cursor cursor_of(const char *json) {
    return (struct graft_json_cursor){json, strlen(json), 0};
}

static void test_strings(void **state) {
    (void)state;
    static const struct {
        const char *json;
        const char *value; /* NULL for one that is malformed */
    } cases[] = {
        {" \"a\\n\\\"\\\\\\/\\u00e9\\ud83d\\ude42\u6728\"", "a\n\"\\/\u00E9\U0001F642\u6728"},
        {"\"\"", ""},
        {"\"a", NULL},
        {"a", NULL},
        {"\"a\nb\"", NULL},
        {"\"\\x\"", NULL},
        {"\"\\u12g4\"", NULL},
        {"\"\\ude42\"", NULL},
        {"\"\\ud83d\"", NULL},
        {"\"\\ud83d\\u0041\"", NULL},
        {"\"\\", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct graft_json_cursor cursor = {cases[i].json, strlen(cases[i].json), 0};
        struct graft_text value = {0};
        assert_int_equal(graft_json_cursor_string(&cursor, &value), cases[i].value != NULL ? 0 : -1);
        if (cases[i].value != NULL) {
            assert_string_equal(value.bytes, cases[i].value);
            assert_int_equal(cursor.at, cursor.length);
        }
        graft_text_free(&value);
    }
}

static void test_integers(void **state) {
    (void)state;
    static const struct {
        const char *json;
        int status;
        int64_t value;
    } cases[] = {{"0,", 0, 0},   {" -12 ", 0, -12}, {"99999999999999999999", 0, INT64_MAX},
                 {"1.0", -1, 0}, {"1e3", -1, 0},    {"01", -1, 0},
                 {"-", -1, 0},   {"\"1\"", -1, 0},  {"", -1, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct graft_json_cursor cursor = {cases[i].json, strlen(cases[i].json), 0};
        int64_t value;
        assert_int_equal(graft_json_cursor_integer(&cursor, &value), cases[i].status);
        if (cases[i].status == 0) {
            assert_true(value == cases[i].value);
        }
    }
}

/* A string without escapes is read in place; for another the cursor does not move. */
static void test_plain_strings(void **state) {
    struct graft_json_cursor cursor = cursor_of(" \"weight\" \"a\\u0062\"");
    const char *string;
    size_t length;
    (void)state;
    assert_int_equal(graft_json_cursor_plain(&cursor, &string, &length), 0);
    assert_int_equal(length, 6);
    assert_memory_equal(string, "weight", 6);
    assert_int_equal(graft_json_cursor_plain(&cursor, &string, &length), -1);
    assert_int_equal(graft_json_cursor_is(&cursor, "ab"), 1);
    assert_int_equal(cursor.at, cursor.length);
    cursor = cursor_of("\"ab\"");
    assert_int_equal(graft_json_cursor_is(&cursor, "a"), 0);
    cursor = cursor_of("\"ab");
    assert_int_equal(graft_json_cursor_plain(&cursor, &string, &length), -1);
    assert_int_equal(graft_json_cursor_is(&cursor, "ab"), -1);
    cursor = cursor_of("17");
    assert_int_equal(graft_json_cursor_is(&cursor, "17"), -1);
}

/* The number of elements of an array, or -1. */
static int count(const char *json) {
    struct graft_json_cursor cursor = cursor_of(json);
    int more = graft_json_cursor_take(&cursor, '[') ? 1 : -1;
    size_t n = 0;
    while (more > 0 && (more = graft_json_cursor_more(&cursor, ']', n)) > 0) {
        if (graft_json_cursor_skip(&cursor) != 0) {
            return -1;
        }
        n++;
    }
    return more == 0 ? (int)n : -1;
}

static void test_elements(void **state) {
    (void)state;
    assert_int_equal(count("[ ]"), 0);
    assert_int_equal(count("[1 , \"]\", {\"a\": [1, 2, \"}\"]},[[[]]] ,null]"), 5);
    assert_int_equal(count("[1 2]"), -1);
    assert_int_equal(count("[1"), -1);
    assert_int_equal(count("[1,[2]"), -1);
    assert_int_equal(count("{}"), -1);
}

/* A value ends with its last character, without the white space after it. */
static void test_ends(void **state) {
    static const char *const values[] = {"12", "true", "\"a\\\"b\"", "{\"a\": 1 }", "[ 1 ]"};
    (void)state;
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        char json[64];
        (void)snprintf(json, sizeof json, "%s \n}", values[i]);
        struct graft_json_cursor cursor = cursor_of(json);
        assert_int_equal(graft_json_cursor_skip(&cursor), 0);
        assert_int_equal(cursor.at, strlen(values[i]));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_strings),  cmocka_unit_test(test_integers), cmocka_unit_test(test_plain_strings),
        cmocka_unit_test(test_elements), cmocka_unit_test(test_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
