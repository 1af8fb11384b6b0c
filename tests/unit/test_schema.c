/* SPDX-License-Identifier: Apache-2.0 */
/* JSON schemas as grammars. The cases of tests/data/json_schema are those of JSON-Schema-Test-Suite: a schema, and
 * values that fit it or do not. A value is read byte by byte, written without spaces, with its members in the schema's
 * order. `refused` of a group: the schema is refused with this message; `except` of a test: our answer differs, for
 * this reason. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "grammar/json_rules.h"
#include "grammar/schema.h"

#include "failing.h"
#include "grammar_fixture.h"

static int open_schema(const graft_json *schema, const struct graft_trie *trie, struct graft_grammar_core **core,
                       struct graft_error *error) {
    struct graft_rules rules = {0};
    int status = graft_schema_read(schema, "s.json", &rules, error);
    if (status == GRAFT_OK) {
        status = graft_rules_finish(&rules, "s.json", error);
    }
    if (status == GRAFT_OK) {
        *core = graft_grammar_core_create(&rules, trie, &graft_machine_usual_limits);
        status = *core != NULL ? GRAFT_OK : graft_fail_memory(error, "test");
    }
    graft_rules_free(&rules);
    return status;
}

static int fits(struct graft_grammar_core *core, const char *text) {
    struct graft_matcher *matcher = graft_matcher_create(core, NULL);
    assert_int_equal(graft_matcher_take(matcher, text, strlen(text), NULL), GRAFT_OK);
    const int may_end = graft_matcher_may_end(matcher);
    graft_matcher_destroy(matcher);
    return may_end;
}

/* --- The test suite's cases --- */

static size_t place_of(const char *key, const char *schema) {
    graft_json *string = graft_json_new_string(key);
    char *quoted = graft_json_dump(string, 0), *name = graft_format("%s:", quoted);
    const char *found = strstr(schema, name);
    graft_json_free(string);
    graft_free(quoted);
    graft_free(name);
    return found != NULL ? (size_t)(found - schema) : strlen(schema);
}

/* The value with the members of its objects in the order in which the schema's text names them. */
static graft_json *in_order(const graft_json *value, const char *schema) {
    char *text = graft_json_dump(value, 0);
    graft_json *result = NULL;
    if (graft_json_type(value) == GRAFT_JSON_OBJECT) {
        const char *key = NULL;
        size_t at = 0;
        result = graft_json_new_object();
        while (at != SIZE_MAX) { /* members by their place in the schema's text, the first first */
            size_t next = SIZE_MAX;
            for (size_t i = 0; i < graft_json_size(value); i++) {
                const graft_json *member = graft_json_member(value, i, &key);
                const size_t place = place_of(key, schema);
                if (place == at) {
                    assert_int_equal(graft_json_set_take(result, key, in_order(member, schema)), 0);
                } else if (place > at && place < next) {
                    next = place;
                }
            }
            at = next;
        }
    } else if (graft_json_type(value) == GRAFT_JSON_ARRAY) {
        result = graft_json_new_array();
        for (size_t i = 0; i < graft_json_size(value); i++) {
            assert_int_equal(graft_json_append_take(result, in_order(graft_json_at(value, i), schema)), 0);
        }
    } else {
        assert_int_equal(graft_json_parse(text, strlen(text), "test", &result, NULL), GRAFT_OK);
    }
    graft_free(text);
    return result;
}

static void run_group(const graft_json *group, const struct graft_trie *trie, size_t number) {
    struct graft_grammar_core *core = NULL;
    struct graft_error error = graft_error_none();
    const graft_json *schema = graft_json_get(group, "schema"), *tests = graft_json_get(group, "tests");
    const char *refused = graft_json_string(graft_json_get(group, "refused"), NULL);
    const int status = open_schema(schema, trie, &core, &error);
    if ((status != GRAFT_OK) != (refused != NULL) || (refused != NULL && strstr(error.message, refused) == NULL)) {
        fail_msg("group %zu, %s: %s", number, graft_json_string(graft_json_get(group, "description"), NULL),
                 status == GRAFT_OK ? "it is not refused" : error.message);
    }
    char *text = graft_json_dump(schema, 0);
    for (size_t i = 0; i < graft_json_size(tests) && core != NULL; i++) {
        const graft_json *test = graft_json_at(tests, i);
        graft_json *ordered = in_order(graft_json_get(test, "data"), text);
        char *value = graft_json_tight(ordered);
        const int expected = graft_json_bool(graft_json_get(test, "valid")) != (graft_json_get(test, "except") != NULL);
        if (fits(core, value) != expected) {
            fail_msg("group %zu, %s, test %zu: %s", number,
                     graft_json_string(graft_json_get(group, "description"), NULL), i, value);
        }
        graft_free(value);
        graft_json_free(ordered);
    }
    graft_free(text);
    graft_grammar_core_destroy(core);
}

static void test_suite(void **state) {
    (void)state;
    char *path = graft_format("%s/data/json_schema/cases.json", getenv("GRAFT_TEST_DATA"));
    struct graft_trie *trie = fixture_trie();
    graft_json *groups = NULL;
    assert_int_equal(graft_json_read(path, 1 << 24, &groups, NULL), GRAFT_OK);
    assert_true(graft_json_size(groups) > 200);
    for (size_t i = 0; i < graft_json_size(groups); i++) {
        run_group(graft_json_at(groups, i), trie, i);
    }
    graft_json_free(groups);
    graft_trie_destroy(trie);
    graft_free(path);
}

/* --- Texts --- */

static struct graft_grammar_core *open_text(const char *text, const struct graft_trie *trie) {
    struct graft_error error = graft_error_none();
    struct graft_grammar_core *core = NULL;
    graft_json *schema = NULL;
    assert_int_equal(graft_json_parse(text, strlen(text), "test", &schema, NULL), GRAFT_OK);
    if (open_schema(schema, trie, &core, &error) != GRAFT_OK) {
        fail_msg("%s: %s", text, error.message);
    }
    graft_json_free(schema);
    return core;
}

static void assert_fits(const char *schema, const char *const *yes, const char *const *no) {
    struct graft_trie *trie = fixture_trie();
    struct graft_grammar_core *core = open_text(schema, trie);
    for (; *yes != NULL; yes++) {
        if (!fits(core, *yes)) {
            fail_msg("%s does not take: %s", schema, *yes);
        }
    }
    for (; *no != NULL; no++) {
        if (fits(core, *no)) {
            fail_msg("%s takes: %s", schema, *no);
        }
    }
    graft_grammar_core_destroy(core);
    graft_trie_destroy(trie);
}

#define TEXTS(...) ((const char *const[]){__VA_ARGS__, NULL})

/* Escapes, white space and spellings of numbers, which the suite's cases cannot contain, since their values are parsed
 * and written again. */
static void test_spelling(void **state) {
    (void)state;
    assert_fits("true", TEXTS("[1,-0.5e+3,\"\\ud83d\\ude00\\u00e4\\/\"]", "{\"a\":{}}", "1E5", "-0"),
                TEXTS("[1, 2]", " 1", "01", "1.", ".5", "+1", "\"\\ud83d\"", "\"\\ude00\"", "\"\n\"", "\"\x80\"",
                      "{\"a\": 1}", "[1,]"));
    assert_fits("{\"type\": \"integer\"}", TEXTS("0", "-12"), TEXTS("1.0", "1e2", "00"));
    assert_fits("{\"maxLength\": 2, \"type\": \"string\"}",
                TEXTS("\"\\n\\u00e4\"", "\"\xF0\x9F\x98\x80\"", "\"\\ud83d\\ude00a\""),
                TEXTS("\"abc\"", "\"\\n\\n\\n\""));
    assert_fits("{\"pattern\": \"^[a\\\"\\\\n]$\", \"type\": \"string\"}", TEXTS("\"a\"", "\"\\\"\"", "\"\\n\""),
                TEXTS("\"\\u0061\"", "\"\"\"", "\"aa\""));
    assert_fits("{\"const\": {\"a\": [1.0, \"\xC3\xA4 b\", 2.50]}}", TEXTS("{\"a\":[1,\"\xC3\xA4 b\",2.5]}"),
                TEXTS("{\"a\": [1,\"\xC3\xA4 b\",2.5]}"));
}

static void test_numbers(void **state) {
    (void)state;
    assert_fits("{\"type\": \"integer\", \"minimum\": -12, \"maximum\": 105}",
                TEXTS("-12", "-9", "0", "-0", "99", "100", "105"), TEXTS("-13", "-20", "106", "110", "1000", "5.0"));
    assert_fits("{\"type\": \"number\", \"exclusiveMinimum\": 0.05, \"maximum\": 2}",
                TEXTS("0.051", "0.1", "1", "2", "2.000", "1.999"),
                TEXTS("0", "0.05", "0.0500", "0.0499", "2.001", "3", "-1"));
    assert_fits("{\"type\": \"number\", \"maximum\": -1.5}", TEXTS("-1.5", "-1.50", "-2", "-100"),
                TEXTS("-1.49", "1.5", "0"));
    assert_fits("{\"type\": \"number\", \"multipleOf\": 0.25, \"minimum\": 0}",
                TEXTS("0", "0.25", "1.5", "3", "3.000", "2.750"), TEXTS("0.1", "0.251", "-0.25"));
    assert_fits("{\"type\": \"integer\", \"multipleOf\": 7}", TEXTS("0", "7", "-14", "105"), TEXTS("1", "8", "107"));
    assert_fits("{\"type\": \"integer\", \"minimum\": 3, \"maximum\": 3}", TEXTS("3"), TEXTS("2", "4", "33"));
    assert_fits("{\"type\": \"integer\", \"minimum\": 1e3, \"exclusiveMaximum\": 12.5e2}", TEXTS("1000", "1249"),
                TEXTS("999", "1250"));
}

static void test_objects(void **state) {
    (void)state;
    assert_fits("{\"type\": \"object\", \"properties\": {\"a\": {\"type\": \"null\"}, \"b\": {\"type\": \"null\"}, "
                "\"c\": {\"type\": \"null\"}}, "
                "\"required\": [\"b\"], \"additionalProperties\": false}",
                TEXTS("{\"b\":null}", "{\"a\":null,\"b\":null}", "{\"a\":null,\"b\":null,\"c\":null}",
                      "{\"b\":null,\"c\":null}"),
                TEXTS("{}", "{\"a\":null}", "{\"b\":null,\"a\":null}", "{,\"b\":null}", "{\"b\":null,}",
                      "{\"b\":null,\"b\":null}", "{\"b\":null,\"d\":1}"));
    assert_fits("{\"type\": \"object\", \"properties\": {\"ab\": {\"type\": \"null\"}}, \"additionalProperties\": "
                "{\"type\": \"boolean\"}}",
                TEXTS("{}", "{\"ab\":null,\"a\":true}", "{\"abc\":true,\"b\":false}", "{\"\":true}"),
                TEXTS("{\"ab\":true}", "{\"a\":null}", "{\"a\":true,\"ab\":true}"));
    assert_fits("{\"type\": \"object\", \"properties\": {\"a\": {}}, \"additionalProperties\": {\"type\": \"null\"}, "
                "\"minProperties\": 2, \"maxProperties\": 3}",
                TEXTS("{\"a\":1,\"b\":null}", "{\"b\":null,\"c\":null,\"d\":null}"),
                TEXTS("{\"a\":1}", "{\"a\":1,\"b\":null,\"c\":null,\"d\":null}"));
    /* Recursion, and a required member without any valid value. */
    assert_fits("{\"$defs\": {\"tree\": {\"type\": \"object\", \"properties\": {\"left\": {\"$ref\": "
                "\"#/$defs/tree\"}, \"n\": {\"const\": 1}}, "
                "\"required\": [\"n\"], \"additionalProperties\": false}}, \"$ref\": \"#/$defs/tree\"}",
                TEXTS("{\"n\":1}", "{\"left\":{\"left\":{\"n\":1},\"n\":1},\"n\":1}"), TEXTS("{\"left\":{}}"));
    assert_fits("{\"anyOf\": [{\"type\": \"null\"}, {\"type\": \"object\", \"properties\": {\"a\": false}, "
                "\"required\": [\"a\"]}]}",
                TEXTS("null"), TEXTS("{", "{}", "{\"a\":1}"));
}

static void test_together(void **state) {
    (void)state;
    assert_fits("{\"allOf\": [{\"properties\": {\"a\": {\"type\": \"integer\"}}}, {\"properties\": {\"a\": "
                "{\"minimum\": 5}}}], \"type\": \"object\", \"required\": [\"a\"]}",
                TEXTS("{\"a\":5}", "{\"a\":12,\"b\":1}"), TEXTS("{\"a\":4}", "{\"a\":5.5}", "{\"b\":1}"));
    assert_fits("{\"anyOf\": [{\"type\": \"string\"}, {\"type\": \"integer\"}], \"maximum\": 3, \"maxLength\": 1}",
                TEXTS("3", "\"a\""), TEXTS("4", "\"ab\"", "null"));
    assert_fits("{\"oneOf\": [{\"$ref\": \"#/$defs/a\"}, {\"$ref\": \"#/$defs/b\"}], \"$defs\": {\"a\": {\"type\": "
                "\"object\", \"properties\": {\"kind\": {\"const\": \"a\"}, "
                "\"x\": {\"type\": \"integer\"}}, \"required\": [\"kind\", \"x\"], \"additionalProperties\": false}, "
                "\"b\": {\"type\": \"object\", \"properties\": {\"kind\": {\"enum\": [\"b\", \"c\"]}}, "
                "\"required\": [\"kind\"], \"additionalProperties\": false}}}",
                TEXTS("{\"kind\":\"a\",\"x\":1}", "{\"kind\":\"b\"}", "{\"kind\":\"c\"}"),
                TEXTS("{\"kind\":\"a\"}", "{\"kind\":\"b\",\"x\":1}", "{\"kind\":\"d\"}"));
    assert_fits("{\"type\": [\"string\", \"null\"], \"enum\": [\"a\", null, 5, \"ab\", \"b\"]}",
                TEXTS("\"a\"", "\"ab\"", "\"b\"", "null"), TEXTS("5", "\"abc\""));
}

static void assert_refused(const char *text, const char *says) {
    struct graft_trie *trie = fixture_trie();
    struct graft_error error = graft_error_none();
    struct graft_grammar_core *core = NULL;
    graft_json *schema = NULL;
    assert_int_equal(graft_json_parse(text, strlen(text), "test", &schema, NULL), GRAFT_OK);
    assert_int_equal(open_schema(schema, trie, &core, &error), GRAFT_ERROR_USAGE);
    assert_string_equal(error.source, "s.json");
    if (strstr(error.message, says) == NULL) {
        fail_msg("%s: \"%s\" does not say \"%s\"", text, error.message, says);
    }
    graft_json_free(schema);
    graft_trie_destroy(trie);
}

static void test_refused(void **state) {
    (void)state;
    assert_refused("[]", "the schema: expected an object or a boolean");
    assert_refused("{\"properties\": {\"a/b\": {\"items\": {\"uniqueItems\": true}}}}",
                   "/properties/a~1b/items: the keyword uniqueItems is not supported");
    assert_refused("{\"properties\": {\"a\": 5}}", "/properties/a: expected a schema");
    assert_refused("{\"anyOf\": [{}, {\"not\": {}}]}", "/anyOf/1: the keyword not");
    assert_refused("{\"anyOf\": []}", "anyOf: expected at least one schema");
    assert_refused("{\"type\": \"text\"}", "type: expected the name of a type of JSON, found text");
    assert_refused("{\"minLength\": -1}", "minLength: expected a number from 0");
    assert_refused("{\"minimum\": \"a\"}", "minimum: expected a number, found a string");
    assert_refused("{\"$ref\": \"#/$defs/a\"}", "$ref: there is no schema at #/$defs/a");
    assert_refused("{\"$ref\": \"#\"}", "it stands for itself");
    assert_refused(
        "{\"$defs\": {\"a\": {\"anyOf\": [{\"$ref\": \"#/$defs/a\"}, {\"type\": \"null\"}]}}, \"$ref\": \"#/$defs/a\"}",
        "can begin with itself");
    assert_refused("{\"pattern\": \"a(?=b)\"}", "pattern: (?= and the like");
    assert_refused("{\"pattern\": \"(a\"}", "a group does not end");
    assert_refused("{\"format\": \"email\"}", "format: email is not supported");
    assert_refused("{\"multipleOf\": 0}", "multipleOf: expected a number greater than 0");
    assert_refused("{\"enum\": [1], \"minimum\": 3}", "minimum beside enum or const is not supported");
    assert_refused("{\"type\": \"string\", \"minLength\": 3, \"maxLength\": 2}", "nothing fits it");
    assert_refused("{\"type\": \"object\", \"properties\": {\"a\": {\"$ref\": \"#\"}}, \"required\": [\"a\"]}",
                   "nothing fits it");
    assert_refused("{\"pattern\": \"(((((((((a{99}){99}){99}){99}){99}){99}){99}){99}){99})\"}",
                   "pattern: it is too large");
    assert_refused("{\"type\": \"array\", \"minItems\": 4000000, \"items\": {\"type\": \"null\"}}", "too large");
}

/* Generates random values from tokens that cross the borders of JSON's parts: each is valid JSON, and generation never
 * gets stuck. */
static void test_by_chance(void **state) {
    (void)state;
    static const char schema[] =
        "{\"type\": \"object\", \"properties\": {\"name\": {\"type\": \"string\", \"maxLength\": 6}, \"n\": {\"type\": "
        "\"number\", \"minimum\": -3, \"maximum\": 3}, "
        "\"day\": {\"format\": \"date\", \"type\": \"string\"}, \"list\": {\"type\": \"array\", \"items\": {\"type\": "
        "[\"boolean\", \"null\"]}, \"maxItems\": 3}, "
        "\"more\": {\"$ref\": \"#\"}}, \"required\": [\"n\", \"list\"], \"additionalProperties\": false}";
    static const int32_t end = FIXTURE_END;
    const struct graft_matcher_ends ends = {&end, 1};
    struct graft_trie *trie = fixture_trie();
    struct graft_grammar_core *core = open_text(schema, trie);
    uint32_t seed = 7;
    int ended = 0;
    for (int text = 0; text < 60; text++) {
        struct graft_matcher *matcher = graft_matcher_create(core, NULL);
        struct graft_text said = {0};
        int32_t best = 0;
        for (int step = 0; step < 400 && best != FIXTURE_END; step++) {
            float scores[FIXTURE_SIZE];
            int left = 0;
            for (int i = 0; i < FIXTURE_SIZE; i++) {
                seed = seed * 1664525u + 1013904223u;
                scores[i] = (float)(seed >> 8);
            }
            assert_int_equal(graft_matcher_mask(matcher, &ends, step % 2, scores, FIXTURE_SIZE, &left, NULL), GRAFT_OK);
            assert_true(left);
            best = 0;
            for (int i = 1; i < FIXTURE_SIZE; i++) {
                best = scores[i] > scores[best] ? i : best;
            }
            if (best != FIXTURE_END) {
                assert_int_equal(graft_matcher_take_token(matcher, best, NULL), GRAFT_OK);
                graft_text_add(&said, trie->bytes + trie->places[best], trie->places[best + 1] - trie->places[best]);
            }
        }
        if (best == FIXTURE_END) {
            graft_json *value = NULL;
            ended++;
            assert_int_equal(graft_json_parse(said.bytes, said.length, "said", &value, NULL), GRAFT_OK);
            assert_true(graft_json_real(graft_json_get(value, "n")) >= -3 &&
                        graft_json_size(graft_json_get(value, "list")) <= 3);
            graft_json_free(value);
        }
        graft_text_free(&said);
        graft_matcher_destroy(matcher);
    }
    assert_true(ended > 20);
    graft_grammar_core_destroy(core);
    graft_trie_destroy(trie);
}

static int compile(const graft_json *schema) {
    struct graft_error error = graft_error_none();
    struct graft_rules rules = {0};
    int status = graft_schema_read(schema, "s.json", &rules, &error);
    status = status == GRAFT_OK ? graft_rules_finish(&rules, "s.json", &error) : status;
    graft_rules_free(&rules);
    assert_int_equal(status, error.code);
    return status;
}

static void test_memory(void **state) {
    (void)state;
    static const char text[] =
        "{\"type\": \"object\", \"properties\": {\"a\": {\"$ref\": \"#/$defs/b\"}, \"c\": {\"enum\": [1, \"x\", "
        "null]}}, \"patternProperties\": {\"^x+[0-9]$\": {\"minimum\": 5}}, "
        "\"additionalProperties\": {\"anyOf\": [{\"type\": \"string\", \"maxLength\": 3, \"pattern\": \"a|b\"}, "
        "{\"type\": \"array\", \"prefixItems\": [{}], \"items\": false}]}, "
        "\"$defs\": {\"b\": {\"allOf\": [{\"type\": [\"integer\", \"string\"]}, {\"multipleOf\": 5, \"format\": "
        "\"uuid\"}]}}, \"propertyNames\": {\"maxLength\": 9}}";
    graft_json *schema = NULL;
    assert_int_equal(graft_json_parse(text, strlen(text), "test", &schema, NULL), GRAFT_OK);
    for (long n = 1;; n = next_failing(n)) {
        (void)graft_alloc_fail_at(n);
        const int status = compile(schema);
        if (graft_alloc_fail_at(0) != 0) {
            assert_int_equal(status, GRAFT_OK);
            break;
        }
        assert_int_equal(status, GRAFT_ERROR_INTERNAL);
    }
    graft_json_free(schema);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_suite),     cmocka_unit_test(test_spelling), cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_objects),   cmocka_unit_test(test_together), cmocka_unit_test(test_refused),
        cmocka_unit_test(test_by_chance), cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
