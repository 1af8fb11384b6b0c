/* SPDX-License-Identifier: Apache-2.0 */
/* The language of chat templates: single expressions as transformers evaluates them (tests/data/chat), which output is
 * marked as the input's, places of errors, and limits of a template. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/file.h"
#include "jinja/jinja.h"

#include "failing.h"

static const time_t now = 1735689600;

/* Renders a text with the members of an object as variables. */
static int render_with(const char *text, const graft_json *members, const struct graft_jinja_limits *limits,
                       struct graft_jinja_output *output, struct graft_error *error) {
    struct graft_jinja_template *parsed = NULL;
    struct graft_jinja_variable variables[32];
    size_t n = 0;
    void *iterator = NULL;
    const char *key = NULL;
    const graft_json *value = NULL;
    while (graft_json_next(members, &iterator, &key, &value)) {
        variables[n++] = (struct graft_jinja_variable){key, value, 1, "role"};
    }
    int status = graft_jinja_parse(text, strlen(text), "t.jinja", &parsed, error);
    if (status == GRAFT_OK) {
        status = graft_jinja_render(parsed, variables, n, now, limits, output, error);
    }
    graft_jinja_free(parsed);
    return status;
}

static int render(const char *text, const char *json, struct graft_jinja_output *output, struct graft_error *error) {
    graft_json *members = NULL;
    assert_int_equal(graft_json_parse(json, strlen(json), "json", &members, NULL), GRAFT_OK);
    int status = render_with(text, members, &graft_jinja_usual_limits, output, error);
    graft_json_free(members);
    return status;
}

static void assert_renders(const char *text, const char *json, const char *expected) {
    struct graft_error error = graft_error_none();
    struct graft_jinja_output output = {0};
    assert_int_equal(render(text, json, &output, &error), GRAFT_OK);
    assert_string_equal(output.text.bytes, expected);
    graft_jinja_output_free(&output);
}

/* The marks as a string: '.' for bytes of the template, '!' for those of the input. */
static void assert_marks(const char *text, const char *json, const char *expected_text, const char *expected_marks) {
    struct graft_error error = graft_error_none();
    struct graft_jinja_output output = {0};
    assert_int_equal(render(text, json, &output, &error), GRAFT_OK);
    assert_string_equal(output.text.bytes, expected_text);
    assert_int_equal(output.marks.length, output.text.length);
    for (size_t i = 0; i < output.marks.length; i++) {
        output.marks.bytes[i] = output.marks.bytes[i] ? '!' : '.';
    }
    assert_string_equal(output.marks.bytes, expected_marks);
    graft_jinja_output_free(&output);
}

static void assert_fails(const char *text, const char *json, int status, const char *message) {
    struct graft_error error = graft_error_none();
    struct graft_jinja_output output = {0};
    assert_int_equal(render(text, json, &output, &error), status);
    assert_string_equal(error.source, "t.jinja");
    assert_string_equal(error.message, message);
    assert_int_equal(error.code, status);
    assert_null(output.text.bytes);
}

static graft_json *read_expressions(void) {
    char *path = graft_format("%s/data/chat/expressions.json", getenv("GRAFT_TEST_DATA"));
    graft_json *document = NULL;
    assert_int_equal(graft_json_read(path, 1 << 20, &document, NULL), GRAFT_OK);
    graft_free(path);
    return document;
}

/* Evaluates one recorded expression, and prints differences. Returns whether there are any. */
static int differs(const graft_json *recorded, const graft_json *variables) {
    const char *expression = graft_json_string(graft_json_at(recorded, 0), NULL);
    const graft_json *expected = graft_json_at(recorded, 1);
    size_t length = 0;
    const char *text = graft_json_string(graft_json_get(expected, "text"), &length);
    const char *refused = graft_json_string(graft_json_get(expected, "refused"), NULL);
    struct graft_error error = graft_error_none();
    struct graft_jinja_output output = {0};
    char *wrapped = graft_format("{{ %s }}", expression);
    int status = render_with(wrapped, variables, &graft_jinja_usual_limits, &output, &error);
    int is_same = text != NULL ? status == GRAFT_OK && output.text.length == length &&
                                     memcmp(output.text.bytes, text, length) == 0
                  : refused != NULL ? status == GRAFT_ERROR_USAGE && strstr(error.message, refused) != NULL
                                    : status == GRAFT_ERROR_MODEL && strncmp(error.message, "line 1 column ", 14) == 0;
    if (!is_same) {
        print_error("%s: expected %s, got %s%s\n", expression, text != NULL ? text : "a failure",
                    status == GRAFT_OK ? output.text.bytes : "", error.message);
    }
    graft_free(wrapped);
    graft_jinja_output_free(&output);
    return !is_same;
}

static void test_expressions(void **state) {
    (void)state;
    graft_json *document = read_expressions();
    const graft_json *expressions = graft_json_get(document, "expressions");
    int n_different = 0;
    assert_true(graft_json_size(expressions) > 350);
    for (size_t i = 0; i < graft_json_size(expressions); i++) {
        n_different += differs(graft_json_at(expressions, i), graft_json_get(document, "variables"));
    }
    assert_int_equal(n_different, 0);
    graft_json_free(document);
}

static void test_scopes(void **state) {
    (void)state;
    assert_renders("{% set x = 1 %}{% for i in [2] %}{% set x = i %}{{ x }}{% endfor %}{{ x }}", "{}", "21");
    assert_renders("{% if true %}{% set x = 1 %}{% endif %}{{ x }}", "{}", "1");
    assert_renders("{% set n = namespace(x=0) %}{% for i in [2, 3] %}{% set n.x = n.x + i %}{% endfor %}{{ n.x }}",
                   "{}", "5");
    assert_renders("{% macro m(a, b=a) %}{{ a }}{{ b }}{{ c }}{% endmacro %}{% set c = 3 %}{{ m(1) }}{{ m(b=2, a=1) }}",
                   "{}", "113123");
    assert_renders("{% set t %}a{% set x = 1 %}{% endset %}{{ t }}{{ x is defined }}", "{}", "aFalse");
    assert_renders("{% generation %}{% set x = 1 %}{{ x }}{% endgeneration %}{{ x is defined }}", "{}", "1False");
    assert_renders("{% set g = [1, 2] | map('string') %}{{ g | join }}{{ g | join }}{{ 1 if g }}", "{}", "121");
}

static void test_marks(void **state) {
    (void)state;
    static const char json[] = "{\"m\": {\"role\": \"user\", \"x\": \"a<b\"}, \"bad\": {\"role\": \"u|\"}, \"n\": 5}";
    assert_marks("<|{{ m.role }}|>{{ m.x }};", json, "<|user|>a<b;", "........!!!.");
    assert_marks("<|{{ bad.role }}|>", json, "<|u||>", "..!!..");
    assert_marks("{{ m.x[1:] ~ 'y' ~ n }}", json, "<by5", "!!..");
    assert_marks("{{ m.x | upper | replace('<', '<|') }}", json, "A<|B", "!..!");
    assert_marks("{{ (m.x + '-').split('<') | join('/') }}", json, "a/b-", "!.!.");
    assert_marks("{{ [m.x, 1] }}", json, "['a<b', 1]", "..!!!.....");
    assert_marks("{{ {'k': m.x} | tojson }}", json, "{\"k\": \"a<b\"}", ".......!!!..");
    assert_marks("{{ m | tojson }}", json, "{\"role\": \"user\", \"x\": \"a<b\"}", "..!!!!............!....!!!..");
    assert_marks("{% set s %}({{ m.x }}){% endset %}{{ s | trim('(') }}{{ s[::-1] }}", json, "a<b))b<a(", "!!!..!!!.");
    assert_marks("{% macro f(a) %}[{{ a }}]{% endmacro %}{{ f(m.x) }}{% filter lower %}X{{ m.x }}{% endfilter %}", json,
                 "[a<b]xa<b", ".!!!..!!!");
    assert_marks("{{ '%s!' | format(m.x) }}{{ '{}'.format(m.x) }}{{ m.x * 2 }}", json, "a<b!a<ba<ba<b",
                 "!!!.!!!!!!!!!");
    assert_marks("", json, "", "");
}

static void test_errors(void **state) {
    (void)state;
    assert_fails("a\n  {{ x.y }}", "{}", GRAFT_ERROR_MODEL, "line 2 column 8: 'x' is undefined");
    assert_fails("{{ m.x.y }}", "{\"m\": {}}", GRAFT_ERROR_MODEL,
                 "line 1 column 8: 'dict object' has no attribute 'x'");
    assert_fails("äö{% if x %}", "{}", GRAFT_ERROR_MODEL,
                 "line 1 column 13: expected \"endif\", found \"the end of the template\"");
    assert_fails("{{ 1 + }}", "{}", GRAFT_ERROR_MODEL, "line 1 column 8: expected an expression, found \"}}\"");
    assert_fails("{% include 'x' %}", "{}", GRAFT_ERROR_MODEL,
                 "line 1 column 4: expected a statement that chat templates use, found \"include\"");
    assert_fails("{{ 'a }}", "{}", GRAFT_ERROR_MODEL, "line 1 column 4: the string has no end");
    assert_fails("{# a", "{}", GRAFT_ERROR_MODEL, "line 1 column 1: the comment has no end, expected \"#}\"");
    assert_fails("{% break %}", "{}", GRAFT_ERROR_MODEL, "line 1 column 4: \"break\" outside of a loop");
    assert_fails("{{ (1] }}", "{}", GRAFT_ERROR_MODEL, "line 1 column 6: this bracket closes none");
    assert_fails("{{ 99999999999999999999 }}", "{}", GRAFT_ERROR_MODEL,
                 "line 1 column 4: expected an integer of 64 bits, found \"99999999999999999999\"");
    assert_fails("{{ 9223372036854775807 + 1 }}", "{}", GRAFT_ERROR_MODEL,
                 "line 1 column 24: the result of '+' does not fit into 64 bits");
    assert_fails("{{ raise_exception('No ' ~ n ~ '!') }}", "{\"n\": 2}", GRAFT_ERROR_USAGE,
                 "the chat template refuses these messages: No 2!");
}

static void assert_bounded(const char *text, const struct graft_jinja_limits *limits, const char *message) {
    struct graft_error error = graft_error_none();
    struct graft_jinja_output output = {0};
    assert_int_equal(render_with(text, NULL, limits, &output, &error), GRAFT_ERROR_MODEL);
    if (strstr(error.message, message) == NULL) {
        fail_msg("%s: %s", text, error.message);
    }
}

static void test_bounds(void **state) {
    (void)state;
    const struct graft_jinja_limits limits = {.steps = 100000, .memory = 1 << 28, .output = 10000, .depth = 100};
    assert_bounded("{% set r = range(1000) %}{% for a in r %}{% for b in r if false %}{% endfor %}{% endfor %}",
                   &limits, "steps");
    assert_bounded("{{ 'x' * 100000 }}", &limits, "a text has more than 10000 bytes");
    assert_bounded("{% for a in range(9999) %}xx{% endfor %}", &limits, "a text has more than 10000 bytes");
    const struct graft_jinja_limits small = {.steps = 10000000, .memory = 1 << 20, .output = 10000, .depth = 100};
    assert_bounded("{{ [1] * 1000000 }}", &small, "1048576 bytes");
    assert_bounded("{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}", &limits, "nested deeper than 100 levels");
    assert_bounded("{% set n = namespace(l=[]) %}{% for i in range(500) %}{% set n.l = [n.l] %}{% endfor %}{{ n.l }}",
                   &limits, "nested deeper than 100 levels");
    char deep[512] = "{{ ";
    memset(deep + 3, '(', 180);
    memset(deep + 183, '1', 1);
    memset(deep + 184, ')', 180);
    assert_bounded(strcat(deep, " }}"), &limits, "nested deeper than 150 levels");
}

/* Comparisons and searches of long values count as many steps, so that the limit bounds the time as well. */
static void test_bounded_work(void **state) {
    static const char *const dear[] = {
        ("{% set n = namespace(a=[1], b=[1]) %}{% for i in range(60) %}{% set n.a = [n.a, n.a] %}"
         "{% set n.b = [n.b, n.b] %}{% endfor %}{{ n.a == n.b }}"),
        "{% set a = 'a' * 9000 %}{% set l = [a] * 9000 %}{{ ('a' * 8999 ~ 'b') in l }}",
        "{% set a = {'a' * 9000: 1} %}{% for i in range(9000) %}{% set b = a['a' * 8999 ~ 'b'] %}{% endfor %}",
        "{{ ('a' * 9000).rsplit('a' * 4000 ~ 'b') }}{{ ('a' * 9000).rfind('a' * 4000) }}",
        "{{ ('a' * 9000).rsplit('ab' ~ 'a' * 4000) }}",
    };
    const struct graft_jinja_limits limits = {.steps = 100000, .memory = 1 << 28, .output = 10000, .depth = 100};
    (void)state;
    for (size_t i = 0; i < sizeof dear / sizeof dear[0]; i++) {
        assert_bounded(dear[i], &limits, "the template takes more than 100000 steps");
    }
}

static void test_allocations(void **state) {
    (void)state;
    static const char text[] = "{% macro m(a) %}{{ a | upper }}{% endmacro %}{% for i in l %}{{ m(i) ~ loop.index }}"
                               "{% set x %}{{ {'a': i} | tojson }}{% endset %}{{ x }}{% endfor %}"
                               "{{ l | map('upper') | join(', ') }}{{ 'a,b'.split(',') | sort }}{{ zz.y }}";
    static const char json[] = "{\"l\": [\"a\", \"b\"], \"zz\": {}}";
    int finished = 0;
    graft_json *members = NULL;
    assert_int_equal(graft_json_parse(json, strlen(json), "json", &members, NULL), GRAFT_OK);
    for (long n = 1; !finished; n = next_failing(n)) {
        struct graft_error error = graft_error_none();
        struct graft_jinja_output output = {0};
        (void)graft_alloc_fail_at(n);
        int status = render_with(text, members, &graft_jinja_usual_limits, &output, &error);
        finished = graft_alloc_fail_at(0) != 0;
        assert_int_equal(status, finished ? GRAFT_OK : GRAFT_ERROR_INTERNAL);
        graft_jinja_output_free(&output);
    }
    graft_json_free(members);
}

int main(void) {
    (void)setenv("TZ", "UTC", 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_expressions), cmocka_unit_test(test_scopes), cmocka_unit_test(test_marks),
        cmocka_unit_test(test_errors),      cmocka_unit_test(test_bounds), cmocka_unit_test(test_bounded_work),
        cmocka_unit_test(test_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
