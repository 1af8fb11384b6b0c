/* SPDX-License-Identifier: Apache-2.0 */
/* Members of an object are read by a table, and errors name file and field. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/json_field.h"
#include "base/text.h"

struct options {
    const char *name;
    struct graft_text_view view;
    struct graft_text copy, character;
    int flag, choice;
    int64_t count, most;
    double real;
    const graft_json *array, *object, *any;
};

#define MEMBER(key, kind, ...) \
    { #key, GRAFT_MEMBER_##kind, .offset = offsetof(struct options, key), .is_optional = 1, __VA_ARGS__ }

static const char *const choices[] = {"left", "right", NULL};
static const struct graft_member table[] = {
    MEMBER(name, TEXT, .is_filled = 1),
    MEMBER(view, VIEW, 0),
    MEMBER(copy, COPY, 0),
    MEMBER(character, CHARACTER, 0),
    MEMBER(flag, FLAG, 0),
    MEMBER(choice, CHOICE, .names = choices),
    MEMBER(count, INT, .least = -3, .most = INT32_MAX),
    MEMBER(most, INT, .least = 1, .most = INFINITY),
    MEMBER(real, REAL, .least = 0, .most = 1),
    MEMBER(array, ARRAY, 0),
    MEMBER(object, OBJECT, 0),
    MEMBER(any, ANY, 0),
    {"skipped", .kind = GRAFT_MEMBER_SKIPPED},
    {0},
};

static void free_options(struct options *options) {
    graft_text_free(&options->copy);
    graft_text_free(&options->character);
}

static int read_text(const char *text, struct options *options, struct graft_error *error) {
    graft_json *document = NULL;
    *options = (struct options){.flag = 7};
    assert_int_equal(graft_json_parse(text, strlen(text), "x.json", &document, error), GRAFT_OK);
    const struct graft_field root = graft_field_root(document, "x.json");
    int status = graft_field_read(&root, table, options, error);
    graft_json_free(document);
    return status;
}

static void assert_refused(const char *text, const char *message) {
    struct options options;
    struct graft_error error = graft_error_none();
    assert_int_equal(read_text(text, &options, &error), GRAFT_ERROR_MODEL);
    assert_string_equal(error.source, "x.json");
    assert_string_equal(error.message, message);
    free_options(&options);
}

static void test_read(void **state) {
    static const char text[] =
        "{\"name\": \"n\", \"view\": \"a\\u0000b\", \"copy\": \"\", \"character\": \"\\u00e9\", \"flag\": true,"
        " \"choice\": \"right\", \"count\": -3, \"most\": 9223372036854775807, \"real\": 1, \"array\": [1],"
        " \"object\": {}, \"any\": 5, \"skipped\": [[]]}";
    struct graft_error error = graft_error_none();
    struct options options = {0};
    graft_json *document = NULL;
    (void)state;
    assert_int_equal(graft_json_parse(text, strlen(text), "x.json", &document, &error), GRAFT_OK);
    const struct graft_field root = graft_field_root(document, "x.json");
    assert_int_equal(graft_field_read(&root, table, &options, &error), GRAFT_OK);
    assert_string_equal(options.name, "n");
    assert_int_equal(options.view.length, 3);
    assert_int_equal(options.copy.length, 0);
    assert_int_equal(options.character.length, 2);
    assert_int_equal(options.flag, 1);
    assert_int_equal(options.choice, 1);
    assert_int_equal(options.count, -3);
    assert_true(options.most == INT64_MAX);
    assert_true(options.real == 1.0);
    assert_int_equal(graft_json_size(options.array), 1);
    assert_int_equal(graft_json_type(options.object), GRAFT_JSON_OBJECT);
    assert_int_equal(graft_json_int(options.any), 5);
    free_options(&options);
    graft_json_free(document);
}

static void test_defaults(void **state) {
    struct graft_error error = graft_error_none();
    struct options options;
    (void)state;
    assert_int_equal(read_text("{\"flag\": null}", &options, &error), GRAFT_OK);
    assert_int_equal(options.flag, 7);
    assert_null(options.name);
    free_options(&options);
}

static void test_refused(void **state) {
    (void)state;
    assert_refused("[]", "expected an object, got an array");
    assert_refused("{\"nam\": 1}", "nam: unknown field");
    assert_refused("{\"name\": 1}", "name: expected a string, got an integer");
    assert_refused("{\"name\": \"\"}", "name: expected a string that is not empty");
    assert_refused("{\"name\": \"a\\u0000b\"}", "name: the string contains a NUL byte");
    assert_refused("{\"character\": \"ab\"}", "character: expected one character");
    assert_refused("{\"flag\": 1}", "flag: expected true or false, got an integer");
    assert_refused("{\"choice\": \"up\"}", "choice: expected \"left\" or \"right\", got \"up\"");
    assert_refused("{\"choice\": 1}", "choice: expected \"left\" or \"right\", got an integer");
    assert_refused("{\"count\": -4}", "count: expected an integer from -3 to 2147483647, got -4");
    assert_refused("{\"count\": 1.5}", "count: expected an integer, got a real number");
    assert_refused("{\"most\": 0}", "most: expected an integer of at least 1, got 0");
    assert_refused("{\"real\": 1.5}", "real: expected a number from 0 to 1, got 1.5");
    assert_refused("{\"array\": {}}", "array: expected an array, got an object");
    assert_refused("{\"object\": []}", "object: expected an object, got an array");
}

static void test_required(void **state) {
    static const struct graft_member rows[] = {{"n", .kind = GRAFT_MEMBER_INT, .most = 3}, {0}};
    static const char text[] = "{\"list\": [{\"n\": 3, \"other\": 1}, {}]}";
    struct graft_error error = graft_error_none();
    graft_json *document = NULL;
    int64_t n = 0;
    (void)state;
    assert_int_equal(graft_json_parse(text, strlen(text), "x.json", &document, &error), GRAFT_OK);
    const struct graft_field root = graft_field_root(document, "x.json"), list = graft_field_get(&root, "list");
    struct graft_field item = graft_field_at(&list, 0);
    assert_int_equal(graft_field_read_some(&item, rows, &n, &error), GRAFT_OK);
    assert_int_equal(n, 3);
    item = graft_field_at(&list, 1);
    assert_int_equal(graft_field_read_some(&item, rows, &n, &error), GRAFT_ERROR_MODEL);
    assert_string_equal(error.message, "list[1].n: missing, expected an integer");
    graft_json_free(document);
}

static void test_strings(void **state) {
    static const char text[] = "{\"one\": \"a\", \"two\": [\"a\", \"b\"], \"none\": [], \"bad\": [\"a\", 1]}";
    struct graft_error error = graft_error_none();
    graft_json *document = NULL;
    const char **strings = NULL;
    size_t n = 0;
    (void)state;
    assert_int_equal(graft_json_parse(text, strlen(text), "x.json", &document, &error), GRAFT_OK);
    const struct graft_field root = graft_field_root(document, "x.json");
    assert_int_equal(graft_field_strings(&root, "one", &strings, &n, &error), GRAFT_OK);
    assert_int_equal(n, 1);
    graft_free(strings);
    assert_int_equal(graft_field_strings(&root, "two", &strings, &n, &error), GRAFT_OK);
    assert_int_equal(n, 2);
    assert_string_equal(strings[1], "b");
    assert_null(strings[2]);
    graft_free(strings);
    assert_int_equal(graft_field_strings(&root, "none", &strings, &n, &error), GRAFT_ERROR_MODEL);
    error = graft_error_none();
    assert_int_equal(graft_field_strings(&root, "bad", &strings, &n, &error), GRAFT_ERROR_MODEL);
    assert_string_equal(error.message,
                        "bad[1]: expected a string or an array of strings, at least one, got an integer");
    graft_json_free(document);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_read),     cmocka_unit_test(test_defaults), cmocka_unit_test(test_refused),
        cmocka_unit_test(test_required), cmocka_unit_test(test_strings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
