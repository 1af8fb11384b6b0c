/* SPDX-License-Identifier: Apache-2.0 */
/* Sets one member, and leaves every other byte unchanged. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/json_edit.h"

static void assert_edited(const char *text, const char *value, const char *expected) {
    struct graft_text edited = {0};
    graft_json_edit_member(text, strlen(text), "f", value, &edited);
    assert_int_equal(edited.failed, 0);
    assert_string_equal(edited.bytes, expected);
    graft_text_free(&edited);
}

static void test_replaced(void **state) {
    (void)state;
    assert_edited("{\"f\": 1}", "{}", "{\"f\": {}}");
    assert_edited("{ \"a\" : [1, {\"f\": 2}] , \"f\" :\tnull , \"b\":1e-06}", "true",
                  "{ \"a\" : [1, {\"f\": 2}] , \"f\" :\ttrue , \"b\":1e-06}");
    assert_edited("{\"f\": {\"x\": [\"}\", \"\\\"]\"]}, \"z\": \"f\"}", "1", "{\"f\": 1, \"z\": \"f\"}");
    assert_edited("{\"\\u0066\": 1}\n", "2", "{\"\\u0066\": 2}\n");
    assert_edited("{\"f\": \"a b\"  }", "2", "{\"f\": 2  }");
}

static void test_added(void **state) {
    (void)state;
    assert_edited("{}", "{}", "{\"f\": {}}");
    assert_edited(" { } ", "1", " {\"f\": 1 } ");
    assert_edited("{\"a\":1}", "2", "{\"a\":1,\"f\": 2}");
    assert_edited("{\n  \"a\": {\"f\": 1},\n  \"b\": [1, 2]\n}\n", "true",
                  "{\n  \"a\": {\"f\": 1},\n  \"b\": [1, 2],\n  \"f\": true\n}\n");
    assert_edited("{\n\t\"ff\": \"f\"\n}", "1", "{\n\t\"ff\": \"f\",\n\t\"f\": 1\n}");
}

static void assert_removed(const char *text, const char *expected) {
    struct graft_text edited = {0};
    graft_json_edit_remove(text, strlen(text), "f", &edited);
    assert_int_equal(edited.failed, 0);
    assert_string_equal(edited.bytes, expected);
    graft_text_free(&edited);
}

static void test_removed(void **state) {
    (void)state;
    assert_removed("{\"f\": 1}", "{}");
    assert_removed("{\"f\": [1, 2], \"g\": 3}", "{ \"g\": 3}");
    assert_removed("{\"a\": {\"f\": 0}, \"f\": {\"x\": \"}\"}, \"g\": 3}", "{\"a\": {\"f\": 0}, \"g\": 3}");
    assert_removed("{\n  \"a\": 1,\n  \"f\": {\n    \"b\": 2\n  }\n}\n", "{\n  \"a\": 1\n}\n");
    assert_removed("{\n  \"f\": 1 ,\n  \"a\": 2\n}\n", "{\n  \"a\": 2\n}\n");
    assert_removed("{\"a\": {\"f\": 1}}", "{\"a\": {\"f\": 1}}");
    assert_removed("{}", "{}");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_replaced),
        cmocka_unit_test(test_added),
        cmocka_unit_test(test_removed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
