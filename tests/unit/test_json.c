/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "folder.h"

static graft_json *parse(const char *text) {
    graft_json *document = NULL;
    struct graft_error error = graft_error_none();
    if (graft_json_parse(text, strlen(text), "text", &document, &error) != GRAFT_OK) {
        print_message("%s\n", error.message);
    }
    assert_non_null(document);
    return document;
}

static void assert_dump(const graft_json *document, int indent, const char *expected) {
    char *text = graft_json_dump(document, indent);
    assert_string_equal(text, expected);
    graft_free(text);
}

static void test_getters(void **state) {
    (void)state;
    graft_json *document = parse("{\"i\": -3, \"r\": 1e-06, \"s\": \"a\\u0000b\", \"t\": true, \"n\": null, "
                                 "\"a\": [1, {\"x\": 2}], \"o\": {}}");
    size_t length;
    assert_int_equal(graft_json_int(graft_json_get(document, "i")), -3);
    assert_true(graft_json_real(graft_json_get(document, "i")) == -3.0);
    assert_true(graft_json_real(graft_json_get(document, "r")) == 1e-6);
    assert_int_equal(graft_json_int(graft_json_get(document, "r")), 0);
    assert_memory_equal(graft_json_string(graft_json_get(document, "s"), &length), "a\0b", 4);
    assert_int_equal(length, 3);
    assert_true(graft_json_bool(graft_json_get(document, "t")));
    const graft_json *array = graft_json_get(document, "a");
    assert_int_equal(graft_json_size(array), 2);
    assert_int_equal(graft_json_int(graft_json_get(graft_json_at(array, 1), "x")), 2);
    assert_null(graft_json_at(array, 2));
    assert_null(graft_json_get(array, "x"));
    assert_null(graft_json_at(document, 0));
    assert_null(graft_json_get(NULL, "x"));
    assert_null(graft_json_string(NULL, NULL));
    assert_int_equal(graft_json_size(document), 7);
    assert_int_equal(graft_json_size(graft_json_get(document, "i")), 0);
    graft_json_free(document);
    graft_json_free(NULL);
}

static void test_types(void **state) {
    (void)state;
    static const struct {
        const char *text;
        enum graft_json_type type;
        const char *name;
    } cases[] = {
        {"null", GRAFT_JSON_NULL, "null"},          {"false", GRAFT_JSON_BOOL, "true or false"},
        {"1", GRAFT_JSON_INT, "an integer"},        {"1.0", GRAFT_JSON_REAL, "a real number"},
        {"\"\"", GRAFT_JSON_STRING, "a string"},    {"[]", GRAFT_JSON_ARRAY, "an array"},
        {" {} \n", GRAFT_JSON_OBJECT, "an object"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        graft_json *document = parse(cases[i].text);
        assert_int_equal(graft_json_type(document), cases[i].type);
        assert_string_equal(graft_json_type_name(document), cases[i].name);
        graft_json_free(document);
    }
    assert_int_equal(graft_json_type(NULL), GRAFT_JSON_ABSENT);
    assert_string_equal(graft_json_type_name(NULL), "nothing");
}

static void test_order(void **state) {
    (void)state;
    graft_json *document = parse("{\"z\": 0, \"a\": 1, \"m\": 2}");
    void *iterator = NULL;
    const char *key;
    const graft_json *value;
    char keys[4] = "";
    for (int64_t i = 0; graft_json_next(document, &iterator, &key, &value); i++) {
        keys[i] = key[0];
        assert_int_equal(graft_json_int(value), i);
    }
    assert_string_equal(keys, "zam");
    graft_json_free(document);
}

static void assert_members(const graft_json *object, const char *keys) {
    static const size_t order[] = {0, 1, 1, 2, 0, 2, 3, 1, 2, 0};
    const size_t n = strlen(keys);
    for (size_t i = 0; i < sizeof order / sizeof order[0]; i++) {
        const char *key = NULL;
        const graft_json *value = graft_json_member(object, order[i], &key);
        assert_int_equal(value != NULL, order[i] < n);
        assert_true(value == NULL || key[0] == keys[order[i]]);
        assert_true(value == graft_json_get(object, key != NULL ? key : ""));
    }
}

/* Members are found in any order, whatever was read before: from another object, a growing one, or a document that was
 * freed. */
static void test_members(void **state) {
    graft_json *first = parse("{\"z\": 0, \"a\": 1}"), *second = parse("{\"m\": 0, \"k\": 1, \"b\": 2}");
    const char *key;
    (void)state;
    assert_members(first, "za");
    assert_members(second, "mkb");
    assert_non_null(graft_json_member(first, 1, &key));
    assert_non_null(graft_json_member(second, 1, &key));
    assert_null(graft_json_member(first, 2, &key));
    assert_int_equal(graft_json_set_take(first, "c", graft_json_new_int(2)), 0);
    assert_members(first, "zac");
    assert_non_null(graft_json_member(second, 2, &key));
    for (int i = 0; i < 3; i++) {
        graft_json_free(second);
        second = parse(i % 2 == 0 ? "{\"b\": 0, \"m\": 1, \"k\": 2}" : "{\"m\": 0}");
        assert_members(second, i % 2 == 0 ? "bmk" : "m");
        assert_int_equal(graft_json_member(second, 1, &key) != NULL, i % 2 == 0);
    }
    assert_members(NULL, "");
    graft_json_free(first);
    graft_json_free(second);
}

/* Numbers at the limits of int64 and beyond. */
static void test_wide_integers(void **state) {
    (void)state;
    graft_json *document = parse("[9223372036854775807, -9223372036854775808, 9223372036854775808, "
                                 "-9223372036854775809, 1000000000000000019884624838656, "
                                 "\"9999999999999999999 \\\" 9999999999999999999\", 1.5e3, 99999999999999999999.5]");
    static const enum graft_json_type types[] = {GRAFT_JSON_INT,  GRAFT_JSON_INT,    GRAFT_JSON_REAL, GRAFT_JSON_REAL,
                                                 GRAFT_JSON_REAL, GRAFT_JSON_STRING, GRAFT_JSON_REAL, GRAFT_JSON_REAL};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        assert_int_equal(graft_json_type(graft_json_at(document, i)), types[i]);
    }
    assert_true(graft_json_int(graft_json_at(document, 0)) == INT64_MAX);
    assert_true(graft_json_int(graft_json_at(document, 1)) == INT64_MIN);
    assert_true(graft_json_real(graft_json_at(document, 4)) == 1e30);
    assert_string_equal(graft_json_string(graft_json_at(document, 5), NULL),
                        "9999999999999999999 \" 9999999999999999999");
    graft_json_free(document);
}

/* Each value is what Python's json.loads returns; a number that JSON lacks becomes an object with that one member. */
static void test_python(void **state) {
    static const char *const cases[][2] = {
        {"[0.0, Infinity, \"Infinity\"]", "[0.0, {\"__float__\": \"Infinity\"}, \"Infinity\"]"},
        {"{\"a\":NaN,\"b\":-Infinity}", "{\"a\": {\"__float__\": \"NaN\"}, \"b\": {\"__float__\": \"-Infinity\"}}"},
        {"[1e999, -1.5E+400, 1.5e308]", "[{\"__float__\": \"Infinity\"}, {\"__float__\": \"-Infinity\"}, 1.5e+308]"},
        {"NaN", "{\"__float__\": \"NaN\"}"},
        {"{\"a\": 1, \"b\": 2, \"a\": [3]}", "{\"a\": [3], \"b\": 2}"},
        {"{\"x\": {\"a\": 1, \"a\": NaN}}", "{\"x\": {\"a\": {\"__float__\": \"NaN\"}}}"},
        /* Half a surrogate pair, a whole one, two halves in the wrong order, one at the end, and one without a
           backslash. */
        {"[\"a\\ud800b\", \"\\uD83d\\ude00\", \"\\udc00\\ud800\", \"\\ud800\\n\", \"\\\\ud800\"]",
         "[\"a\xEF\xBF\xBD"
         "b\", \"\xF0\x9F\x98\x80\", \"\xEF\xBF\xBD\xEF\xBF\xBD\", \"\xEF\xBF\xBD\\n\", "
         "\"\\\\ud800\"]"},
        {"{\"\\udfff\": \"NaN, -Infinity\"}", "{\"\xEF\xBF\xBD\": \"NaN, -Infinity\"}"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        graft_json *document = parse(cases[i][0]);
        assert_dump(document, 0, cases[i][1]);
        graft_json_free(document);
    }
}

/* Files that people write for this program may have each member only once. */
static void test_strict(void **state) {
    static const char text[] = "{\"a\": 1,\n \"a\": 2}";
    graft_json *document = NULL;
    struct graft_error error = graft_error_none();
    (void)state;
    assert_int_equal(graft_json_parse_strict(text, strlen(text), "text", &document, &error), GRAFT_ERROR_MODEL);
    assert_null(document);
    assert_string_equal(error.message, "not valid JSON, line 2 column 4: duplicate object key near '\"a\"'");
    assert_int_equal(graft_json_parse_strict("[\"\\ud800\", 99999999999999999999]", 32, "text", &document, NULL),
                     GRAFT_ERROR_MODEL);
    assert_int_equal(graft_json_parse_strict("{\"a\": 1}", 8, "text", &document, NULL), GRAFT_OK);
    graft_json_free(document);
}

static void test_refuses(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"", "not valid JSON, line 1 column 0: "},
        {"\xEF\xBB\xBF{}", "starts with a byte order mark, expected JSON without one"},
        {"[\"\xFF\"]", "not valid JSON, line 1 column 2: unable to decode byte 0xff"},
        {"{} x", "not valid JSON, line 1 column 4: end of file expected"},
        {"[1,]", "not valid JSON, line 1 column 4: unexpected token"},
        {"[-Infinit]", "not valid JSON, line 1 column "},
        {"[-NaN]", "not valid JSON, line 1 column "},
        {"[nan]", "not valid JSON, line 1 column "},
        {"[NaNNaN]", "not valid JSON, line 1 column "},
        {"[\"\\ud80\"]", "not valid JSON, line 1 column "},
        {"[Infinit]", "not valid JSON, line 1 column 8: invalid token"},
        {"{\"a\\u0000\": 1}", "not valid JSON, line 1 column 10: NUL byte in object key"},
        {"[\"\x1B[31m\"]", "not valid JSON, line 1 column 2: control character 0x1b"},
        {"[\"", "not valid JSON, line 1 column 2: premature end of input"},
        {"[\"\\", "not valid JSON, line 1 column 3: invalid escape"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        graft_json *document = NULL;
        struct graft_error error = graft_error_none();
        assert_int_equal(graft_json_parse(cases[i][0], strlen(cases[i][0]), "text", &document, &error),
                         GRAFT_ERROR_MODEL);
        assert_null(document);
        if (strncmp(error.message, cases[i][1], strlen(cases[i][1])) != 0) {
            fail_msg("%zu: %s", i, error.message);
        }
        assert_string_equal(error.source, "text");
    }
}

static void test_depth(void **state) {
    (void)state;
    char text[600];
    for (size_t depth = 128; depth <= 129; depth++) {
        memset(text, '[', depth);
        memset(text + depth, ']', depth);
        graft_json *document = NULL;
        struct graft_error error = graft_error_none();
        int status = graft_json_parse(text, 2 * depth, "text", &document, &error);
        assert_int_equal(status, depth == 128 ? GRAFT_OK : GRAFT_ERROR_MODEL);
        if (depth > 128) {
            assert_string_equal(error.message, "the JSON is nested deeper than 128 levels");
        }
        graft_json_free(document);
    }
    /* Brackets inside a string do not count. */
    memset(text, '[', sizeof text);
    memcpy(text, "\"\\\"", 3);
    memcpy(text + sizeof text - 2, "\"", 2);
    graft_json_free(parse(text));
}

static void test_dump(void **state) {
    (void)state;
    graft_json *document = parse("{\"b\":[1,[],{},true,false,null],\"a\":{\"s\":\"\\u00e9\\n\\\"\\\\\\u001b\\u007f"
                                 "\\u009b\\u202e\\u061c\\u202f\\ud83d\\ude00\\u0000/\"}}");
    assert_dump(document, 0,
                "{\"b\": [1, [], {}, true, false, null], \"a\": {\"s\": \"\xC3\xA9\\n\\\"\\\\\\u001b\\u007f"
                "\\u009b\\u202e\\u061c\xE2\x80\xAF\xF0\x9F\x98\x80\\u0000/\"}}");
    graft_json_free(document);
    document = parse("{\"b\":[1,{\"x\":2}],\"a\":[]}");
    assert_dump(document, 2, "{\n  \"b\": [\n    1,\n    {\n      \"x\": 2\n    }\n  ],\n  \"a\": []\n}");
    graft_json_free(document);
    assert_dump(NULL, 0, "null");
}

static void test_dump_reals(void **state) {
    (void)state;
    static const struct {
        double number;
        const char *text;
    } cases[] = {{0.1, "0.1"},
                 {1e-6, "1e-06"},
                 {10000.0, "10000.0"},
                 {-0.0, "-0.0"},
                 {1.0 / 3.0, "0.3333333333333333"},
                 {0.1 + 0.2, "0.30000000000000004"},
                 {5e-324, "4.94065645841247e-324"},
                 {1e22, "1e+22"},
                 {(double)INFINITY, "null"},
                 {(double)NAN, "null"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        graft_json *value = graft_json_new_real(cases[i].number);
        assert_dump(value, 0, cases[i].text);
        graft_json_free(value);
    }
}

static void test_build(void **state) {
    (void)state;
    graft_json *object = graft_json_new_object();
    graft_json *array = graft_json_new_array();
    assert_int_equal(graft_json_append_take(array, graft_json_new_int(INT64_MIN)), 0);
    assert_int_equal(graft_json_append_take(array, graft_json_new_bool(1)), 0);
    assert_int_equal(graft_json_append_take(array, graft_json_new_string(NULL)), 0);
    assert_int_equal(graft_json_append_take(array, graft_json_new_string("a\xFF\xC3z")), 0);
    assert_int_equal(graft_json_append_take(array, graft_json_new_string_n("a\0b", 3)), 0);
    assert_int_equal(graft_json_set_take(object, "k\xFF", array), 0);
    assert_int_equal(graft_json_set_take(object, "i", graft_json_new_int(1)), 0);
    assert_int_equal(graft_json_set_take(object, "i", NULL), -1);
    assert_int_equal(graft_json_append_take(array, NULL), -1);
    assert_int_equal(graft_json_set_take(NULL, "i", graft_json_new_int(1)), -1);
    assert_dump(object, 0,
                "{\"k\xEF\xBF\xBD\": [-9223372036854775808, true, null, \"a\xEF\xBF\xBD\xEF\xBF\xBDz\", "
                "\"a\\u0000b\"], \"i\": 1}");
    graft_json_free(object);
}

static void test_read(void **state) {
    (void)state;
    char folder[64];
    graft_json *document = NULL;
    struct graft_error error = graft_error_none();
    folder_create(folder);
    folder_put(folder, "f.json", "[1]", 3);
    const char *path = folder_path(folder, "f.json");
    assert_int_equal(graft_json_read(path, 3, &document, &error), GRAFT_OK);
    graft_json_free(document);
    document = NULL;
    assert_int_equal(graft_json_read(path, 2, &document, &error), GRAFT_ERROR_MODEL);
    assert_string_equal(error.source, path);
    assert_null(document);
    folder_remove(folder);
}

static int parse_and_dump(void) {
    /* The long key fills jansson's first buffer to the last byte. */
    static const char text[] =
        "{\"max_seq_length\": null, \"a\": [1, 2.5, \"s\", 99999999999999999999], \"b\": {\"c\": null}}";
    graft_json *document = NULL;
    struct graft_error error = graft_error_none();
    int status = graft_json_parse(text, sizeof text - 1, "text", &document, &error);
    if (status != GRAFT_OK) {
        assert_int_equal(status, GRAFT_ERROR_INTERNAL);
        assert_string_equal(error.message, "out of memory");
    } else {
        graft_free(graft_json_dump(document, 1));
    }
    graft_json_free(document);
    return status;
}

static int build(void) {
    graft_json *object = graft_json_new_object();
    graft_json *array = graft_json_new_array();
    int failed = graft_json_append_take(array, graft_json_new_string("\xFF")) != 0;
    failed |= graft_json_append_take(array, graft_json_new_real(0.5)) != 0;
    failed |= graft_json_set_take(object, "k\xFF", array) != 0;
    failed |= graft_json_set_take(object, "i", graft_json_new_int(5)) != 0;
    graft_json_free(object);
    return failed;
}

static void test_out_of_memory(void **state) {
    (void)state;
    int failures = 0;
    for (long n = 1;; n++) {
        graft_alloc_fail_at(n);
        failures += parse_and_dump() != GRAFT_OK;
        if (graft_alloc_fail_at(0) > 0) {
            break;
        }
    }
    assert_true(failures > 10);
    for (long n = 1;; n++) {
        graft_alloc_fail_at(n);
        int failed = build();
        if (graft_alloc_fail_at(0) > 0) {
            break;
        }
        assert_true(failed);
    }
}

static void test_copy(void **state) {
    (void)state;
    graft_json *document = parse("{\"a\": [1, 2.5, \"x\\u0000y\", null, true], \"b\": {\"c\": {}}}");
    graft_json *copy = NULL;
    for (long n = 1;; n++) {
        graft_alloc_fail_at(n);
        copy = graft_json_copy(document);
        if (graft_alloc_fail_at(0) > 0) {
            break;
        }
        assert_null(copy); /* nothing is left out if memory runs out */
    }
    assert_true(graft_json_equal(document, copy));
    graft_json_free(graft_json_detach_path(document, "a"));
    assert_int_equal(graft_json_size(graft_json_get(copy, "a")), 5); /* nothing is shared */
    graft_json_free(document);
    graft_json_free(copy);
}

/* Finds members by their paths; a path through something else than an object changes nothing. */
static void test_detach_path(void **state) {
    static const char text[] = "{\"a\": 1, \"b\": {\"c\": [0, {\"d\": 2, \"e\": 3}]}}";
    static const char *const nowhere[] = {"x", "a.b", "b.c.0", "b.c.5.d", "b.c.d", "", ".", "b."};
    graft_json *document = NULL;
    (void)state;
    assert_int_equal(graft_json_parse(text, sizeof text - 1, "text", &document, NULL), GRAFT_OK);
    for (size_t i = 0; i < sizeof nowhere / sizeof nowhere[0]; i++) {
        assert_null(graft_json_detach_path(document, nowhere[i]));
    }
    assert_null(graft_json_detach_path(NULL, "a"));
    graft_json *taken = graft_json_detach_path(document, "b.c.1.d");
    assert_int_equal(graft_json_int(taken), 2);
    graft_json_free(taken);
    graft_json_free(graft_json_detach_path(document, "a"));
    char *left = graft_json_dump(document, 0);
    assert_string_equal(left, "{\"b\": {\"c\": [0, {\"e\": 3}]}}");
    graft_free(left);
    graft_json_free(document);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_getters), cmocka_unit_test(test_types),         cmocka_unit_test(test_order),
        cmocka_unit_test(test_members), cmocka_unit_test(test_wide_integers), cmocka_unit_test(test_python),
        cmocka_unit_test(test_strict),  cmocka_unit_test(test_refuses),       cmocka_unit_test(test_depth),
        cmocka_unit_test(test_dump),    cmocka_unit_test(test_dump_reals),    cmocka_unit_test(test_build),
        cmocka_unit_test(test_read),    cmocka_unit_test(test_out_of_memory), cmocka_unit_test(test_detach_path),
        cmocka_unit_test(test_copy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
