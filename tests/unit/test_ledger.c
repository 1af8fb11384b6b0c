/* SPDX-License-Identifier: Apache-2.0 */
/* Which fields of a JSON document count as read, and what rules say about the others. */
#include "config/ledger.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "asked_config.h"
#include "config/config.h"
#include "config/path.h"
#include "config/rules.h"

static const char text[] =
    "{\"hidden_size\": 8, \"act\": \"silu\", \"none\": null, \"empty\": {}, \"list\": [1, 2],"
    " \"rope\": {\"theta\": 1e4, \"nested\": {\"factor\": 2.0}}, \"limit\": [0.0, {\"__float__\": \"Infinity\"}],"
    " \"groups\": [{\"bits\": 4, \"targets\": [\"a\", \"b\"]}, {\"bits\": 8}], \"layers.0\": {\"bits\": 2}}";

static int set_up(void **state) {
    (void)state;
    return asked_config_open(text, sizeof text - 1, "text");
}

static void assert_asked(const char *expected) {
    struct graft_text names = {0};
    graft_text_add_string(&names, "");
    for (size_t i = 0; graft_ledger_at(ledger, i) != NULL; i++) {
        graft_text_printf(&names, "%s%s", i > 0 ? " " : "", graft_ledger_at(ledger, i));
        assert_true(graft_ledger_has(ledger, graft_ledger_at(ledger, i)));
    }
    assert_string_equal(names.bytes != NULL ? names.bytes : "", expected);
    graft_text_free(&names);
}

static void test_values(void **state) {
    (void)state;
    assert_int_equal(view.integer(view.data, "hidden_size"), 8);
    assert_string_equal(view.string(view.data, "act"), "silu");
    assert_true(view.real(view.data, "rope.theta") == 1e4);
    assert_true(isinf(view.real(view.data, "limit.1")));
    assert_int_equal(view.kind(view.data, "none"), GRAFT_FIELD_NULL);
    assert_int_equal(view.kind(view.data, "lacking"), GRAFT_FIELD_ABSENT);
    assert_int_equal(view.kind(view.data, "rope.lacking"), GRAFT_FIELD_ABSENT);
    assert_int_equal(view.kind(view.data, "lacking.too"), GRAFT_FIELD_ABSENT);
    assert_int_equal(view.integer(view.data, "hidden_size"), 8);
    assert_asked("hidden_size act rope.theta limit none lacking rope.lacking lacking.too");
}

static void test_containers(void **state) {
    (void)state;
    assert_int_equal(view.kind(view.data, "rope"), GRAFT_FIELD_OBJECT);
    assert_int_equal(view.size(view.data, "rope"), 2);
    assert_string_equal(view.key(view.data, "rope", 0), "theta");
    assert_int_equal(view.kind(view.data, "list"), GRAFT_FIELD_ARRAY);
    assert_int_equal(view.kind(view.data, "groups"), GRAFT_FIELD_ARRAY);
    assert_int_equal(view.size(view.data, "groups"), 2);
    assert_int_equal(view.kind(view.data, "groups.0"), GRAFT_FIELD_OBJECT);
    assert_asked("");
    assert_int_equal(view.size(view.data, "list"), 2);
    assert_asked("list");
}

static void test_elements(void **state) {
    (void)state;
    assert_int_equal(view.integer(view.data, "list.1"), 2);
    assert_int_equal(view.integer(view.data, "groups.1.bits"), 8);
    assert_string_equal(view.string(view.data, "groups.0.targets.1"), "b");
    assert_int_equal(view.integer(view.data, "#8.bits"), 2); /* a name that paths cannot contain */
    assert_asked("list groups.1.bits groups.0.targets layers.0.bits");
}

static void test_closed(void **state) {
    (void)state;
    assert_int_equal(view.integer(view.data, "hidden_size"), 8);
    assert_int_equal(graft_ledger_close(ledger), 0);
    assert_string_equal(view.string(view.data, "act"), "silu");
    assert_asked("hidden_size");
}

static int add_field(void *data, const char *path, const graft_json *value) {
    struct graft_text *fields = data;
    graft_text_printf(fields, "%s ", path);
    graft_path_show(value, 12, fields);
    graft_text_add_string(fields, "\n");
    return 0;
}

static void test_fields(void **state) {
    struct graft_text fields = {0};
    (void)state;
    assert_int_equal(graft_path_walk(document, add_field, &fields), 0);
    assert_string_equal(fields.bytes, "hidden_size 8\nact \"silu\"\nnone null\nempty {}\nlist [1, 2]\n"
                                      "rope.theta 10000.0\nrope.nested.factor 2.0\nlimit [0.0, Infini...\n"
                                      "groups.0.bits 4\ngroups.0.targets [\"a\", \"b\"]\n"
                                      "groups.1.bits 8\nlayers.0.bits 2\n");
    graft_text_free(&fields);
}

/* More names than the first table has room for, and one longer than the limit. */
static void test_many(void **state) {
    char path[2 * GRAFT_MAX_FIELD];
    (void)state;
    for (int i = 0; i < 5000; i++) {
        (void)snprintf(path, sizeof path, "field_%d", i);
        (void)view.kind(view.data, path);
    }
    assert_true(graft_ledger_has(ledger, "field_0") && graft_ledger_has(ledger, "field_4999"));
    assert_false(graft_ledger_has(ledger, "field_5000"));
    memset(path, 'x', sizeof path);
    path[100] = path[200] = path[300] = '.';
    path[sizeof path - 1] = '\0';
    (void)view.kind(view.data, path);
    assert_null(graft_ledger_at(ledger, 5000));
}

static void test_rules(void **state) {
    static const struct graft_field_rule rules[] = {
        {.name = "any"},
        {.name = "clip", .values = "[null, 0.0]", .flags = GRAFT_FIELD_ONLY},
        {.name = "factor", .values = "[1.0, \"off\", [], {\"__float__\": \"Infinity\"}]"},
        {.name = "object"},
        {.name = "adapter.*.mode"},
        {.name = "quantization_config.damp"},
    };
    static const struct graft_rules list = {rules, sizeof rules / sizeof rules[0], sizeof rules[0], "test"};
    static const struct {
        const char *field, *value;
        enum graft_ruling ruling;
    } cases[] = {
        {"any", "3", GRAFT_RULING_WITHOUT_EFFECT},
        {"anything", "3", GRAFT_RULING_NONE},
        {"clip", "null", GRAFT_RULING_NEUTRAL},
        {"clip", "0", GRAFT_RULING_NEUTRAL},
        {"clip", "-0.0", GRAFT_RULING_NEUTRAL},
        {"clip", "false", GRAFT_RULING_REFUSED},
        {"clip", "NaN", GRAFT_RULING_REFUSED},
        {"clip.of", "1", GRAFT_RULING_REFUSED},
        {"factor.of", "1", GRAFT_RULING_NONE},
        {"factor", "1", GRAFT_RULING_NEUTRAL},
        {"factor", "\"off\"", GRAFT_RULING_NEUTRAL},
        {"factor", "[]", GRAFT_RULING_NEUTRAL},
        {"factor", "Infinity", GRAFT_RULING_NEUTRAL},
        {"factor", "true", GRAFT_RULING_NONE},
        {"factor", "2", GRAFT_RULING_NONE},
        {"object.with.fields", "2", GRAFT_RULING_WITHOUT_EFFECT},
        {"an.object", "2", GRAFT_RULING_NONE},
        {"text_config.any", "2", GRAFT_RULING_WITHOUT_EFFECT},
        {"text_config.decoder_config.any", "2", GRAFT_RULING_WITHOUT_EFFECT},
        {"text_config.quantization_config.damp", "2", GRAFT_RULING_WITHOUT_EFFECT},
        {"quantization_config.any", "2", GRAFT_RULING_NONE},
        {"rope.any", "2", GRAFT_RULING_NONE},
        {"adapter.my.mode", "2", GRAFT_RULING_WITHOUT_EFFECT},
        {"adapter.mode", "2", GRAFT_RULING_NONE},
        {"adapter.my.own.mode", "2", GRAFT_RULING_NONE},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct graft_field_rule *rule = NULL;
        graft_json *value = NULL;
        assert_int_equal(graft_json_parse(cases[i].value, strlen(cases[i].value), "value", &value, NULL), GRAFT_OK);
        if (graft_rules_judge(&list, cases[i].field, value, &rule) != cases[i].ruling) {
            fail_msg("%s %s", cases[i].field, cases[i].value);
        }
        graft_json_free(value);
    }
}

/* A rule with unreadable values would accept everything. */
static void test_usual_rules(void **state) {
    static const char *const files[] = {"config.json", "generation_config.json", "preprocessor_config.json",
                                        "tokenizer_config.json", "config.json beside generation_config.json"};
    (void)state;
    for (size_t k = 0; k < sizeof files / sizeof files[0]; k++) {
        const struct graft_rules list = graft_usual_rules(files[k]);
        assert_true(list.n > 0);
        for (int32_t i = 0; i < list.n; i++) {
            graft_json *values = NULL;
            if (list.rules[i].values != NULL) {
                assert_int_equal(graft_json_parse(list.rules[i].values, strlen(list.rules[i].values),
                                                  list.rules[i].name, &values, NULL),
                                 GRAFT_OK);
                assert_true(graft_json_type(values) == GRAFT_JSON_ARRAY && graft_json_size(values) > 0);
            }
            for (int32_t j = 0; j < i; j++) {
                assert_string_not_equal(list.rules[i].name, list.rules[j].name);
            }
            graft_json_free(values);
        }
    }
    assert_int_equal(graft_usual_rules("other.json").n, 0);
}

#define WITH_LEDGER(test) cmocka_unit_test_setup_teardown(test, set_up, asked_config_close)

int main(void) {
    const struct CMUnitTest tests[] = {
        WITH_LEDGER(test_values),     WITH_LEDGER(test_containers),       WITH_LEDGER(test_elements),
        WITH_LEDGER(test_closed),     WITH_LEDGER(test_fields),           WITH_LEDGER(test_many),
        cmocka_unit_test(test_rules), cmocka_unit_test(test_usual_rules),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
