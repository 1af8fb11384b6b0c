/* SPDX-License-Identifier: Apache-2.0 */
/* Tool calls in the text of models, in the forms of the large families; incomplete calls stay text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "serve/answer.h"
#include "serve/server.h"

static const char tools[] = "[{\"type\": \"function\", \"function\": {\"name\": \"get\"}},"
                            " {\"type\": \"function\", \"function\": {\"name\": \"put\"}}]";

/* Parses a text and writes the result as "CONTENT:NAME ARGUMENTS|NAME ARGUMENTS": the text before the calls, then the
 * calls. "none": there is no call. The caller frees it. */
static char *calls_in(const char *text, int may_be_many) {
    struct graft_server server = {0};
    struct graft_text found = {0};
    graft_json *known = NULL;
    size_t content = 0;
    assert_int_equal(graft_json_parse(tools, strlen(tools), "tools", &known, NULL), GRAFT_OK);
    int ran_out = 1;
    graft_json *calls = graft_calls_parse(&server, text, strlen(text), known, may_be_many, &content, &ran_out);
    assert_false(ran_out);
    if (calls == NULL) {
        assert_int_equal(content, strlen(text));
        graft_text_add_string(&found, "none");
    } else {
        graft_text_add(&found, text, content);
        graft_text_add_string(&found, ":");
    }
    for (size_t i = 0; i < graft_json_size(calls); i++) {
        const graft_json *call = graft_json_at(calls, i);
        const graft_json *function = graft_json_get(call, "function");
        assert_int_equal(strlen(graft_json_string(graft_json_get(call, "id"), NULL)), 9);
        graft_text_printf(&found, "%s%s %s", i > 0 ? "|" : "",
                          graft_json_string(graft_json_get(function, "name"), NULL),
                          graft_json_string(graft_json_get(function, "arguments"), NULL));
    }
    graft_json_free(calls);
    graft_json_free(known);
    assert_false(found.failed);
    return found.bytes;
}

static void says(const char *text, const char *wanted) {
    char *found = calls_in(text, 1);
    assert_string_equal(found, wanted);
    graft_free(found);
}

static void test_forms(void **state) {
    (void)state;
    says("<tool_call>\n{\"name\": \"get\", \"arguments\": {\"x\": 1}}\n</tool_call>", ":get {\"x\": 1}");
    says("Well.\n\n<tool_call>{\"name\": \"get\", \"arguments\": {}}</tool_call>\n<tool_call>"
         "{\"name\": \"put\", \"arguments\": {\"x\": \"</tool_call>}\"}}</tool_call>",
         "Well.:get {}|put {\"x\": \"</tool_call>}\"}");
    says("[TOOL_CALLS] [{\"name\": \"get\", \"arguments\": {\"x\": [1, 2]}}, {\"name\": \"put\", \"arguments\": {}}]",
         ":get {\"x\": [1, 2]}|put {}");
    says("[TOOL_CALLS]get[ARGS]{\"x\": 1}[TOOL_CALLS]put{}", ":get {\"x\": 1}|put {}");
    says("{\"name\": \"get\", \"parameters\": {\"x\": 1}}", ":get {\"x\": 1}");
    says("<|python_tag|>{\"name\": \"get\", \"parameters\": {}}; {\"name\": \"put\", \"parameters\": {}}",
         ":get {}|put {}");
}

static void test_text(void **state) {
    static const char *const texts[] = {
        "",
        "Hello",
        "{\"x\": 1}",                                                       /* an answer in JSON */
        "{\"name\": \"other\", \"parameters\": {}}",                        /* no tool of the request */
        "{\"name\": \"get\", \"parameters\": [1]}",                         /* no object */
        "{\"name\": \"get\", \"parameters\": {}} and more",                 /* text after it */
        "<tool_call>{\"name\": \"get\", \"arguments\": {\"x\": 1}",         /* cut off */
        "<tool_call>{\"name\": \"get\", \"arguments\": {}}</tool_call> so", /* text after it */
        "[TOOL_CALLS]",
        "[TOOL_CALLS]get",
        "[TOOL_CALLS][{\"name\": 5}]",
    };
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        says(texts[i], "none");
    }
    char *found = calls_in("[TOOL_CALLS]get{}[TOOL_CALLS]put{}", 0);
    assert_string_equal(found, "none"); /* more than may be */
    graft_free(found);
}

/* How many bytes of an unfinished text may be sent to the client because they cannot be the start of a call. */
static void test_begin(void **state) {
    static const struct {
        const char *text;
        size_t known;
    } cases[] = {
        {"Hello", 5},          {"Hello <", 6}, {"Hello <b", 8},      {"Hello <tool_ca", 6}, {" ", 0},
        {"{\"a\"", 0},         {"a {", 3},     {"Hello [TOOL_C", 6}, {"Hello [x]", 9},      {"a<|python_ta", 1},
        {"x <tool_call>{", 2},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const size_t length = strlen(cases[i].text);
        size_t known = 0;
        assert_int_equal(graft_calls_begin(cases[i].text, length, 0), cases[i].known);
        for (size_t n = 1; n <= length; n++) { /* byte by byte, as it grows */
            known = graft_calls_begin(cases[i].text, n, known);
        }
        assert_int_equal(known, cases[i].known);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forms),
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
