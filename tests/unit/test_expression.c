/* SPDX-License-Identifier: Apache-2.0 */
/* Expressions over config.json: their values, their error messages, and the fields that they read. */
#include "arch/data/expression.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "asked_config.h"
#include "base/text.h"
#include "config/config.h"

static const char text[] =
    "{\"hidden_size\": 64, \"heads\": 4, \"odd\": 3, \"zero\": 0, \"minus\": -7, \"most\": 9223372036854775807,"
    " \"least\": -9223372036854775808, \"factor\": 2.5, \"whole\": 1e6, \"eps\": 1e-5, \"act\": \"silu\","
    " \"yes\": true, \"no\": false, \"none\": null, \"empty\": [], \"dense\": [0, 2, 2], \"mixed\": [0, \"a\", 1.5],"
    " \"types\": [\"full\", \"sliding\", null], \"nested\": [[1]], \"rope\": {\"theta\": 1e4, \"section\": [16, 24]},"
    " \"infinite\": Infinity, \"nan\": NaN, \"count\": 5, \"layers\": {\"0\": {\"dim\": 8}},"
    " \"by_layer\": {\"3\": {\"dim\": 32, \"name\": \"wide\"}}, \"objects\": [{}, {\"dim\": 5}]}";

static int set_up(void **state) {
    (void)state;
    return asked_config_open(text, sizeof text - 1, "config.json");
}

static void write_value(const struct graft_value *value, char *written, size_t size) {
    struct graft_expression *constant = graft_expression_constant(value, NULL);
    assert_non_null(constant);
    (void)snprintf(written, size, "%s", graft_expression_text(constant));
    graft_expression_destroy(constant);
}

static void assert_is(const char *expression, int64_t layer, const char *expected) {
    struct graft_error error = graft_error_none();
    struct graft_value value;
    char written[256];
    struct graft_expression *parsed = graft_expression_parse(expression, "family.json", &error);
    if (parsed == NULL) {
        fail_msg("%s: %s", expression, error.message);
    }
    assert_string_equal(graft_expression_text(parsed), expression);
    if (graft_expression_evaluate(parsed, &view, layer, &value, &error) != GRAFT_OK) {
        fail_msg("%s: %s", expression, error.message);
    }
    assert_int_equal(error.code, GRAFT_OK);
    write_value(&value, written, sizeof written);
    if (strcmp(written, expected) != 0) {
        fail_msg("%s is %s, not %s", expression, written, expected);
    }
    graft_expression_destroy(parsed);
}

static void assert_fails(const char *expression, int64_t layer, const char *message) {
    struct graft_error error = graft_error_none();
    struct graft_value value = {.kind = GRAFT_VALUE_INT};
    struct graft_expression *parsed = graft_expression_parse(expression, "family.json", &error);
    if (parsed == NULL) {
        fail_msg("%s: %s", expression, error.message);
    }
    if (graft_expression_evaluate(parsed, &view, layer, &value, &error) != GRAFT_ERROR_MODEL) {
        fail_msg("%s: no error", expression);
    }
    assert_string_equal(error.message, message);
    assert_string_equal(error.source, "config.json");
    assert_int_equal(value.kind, GRAFT_VALUE_NULL);
    graft_expression_destroy(parsed);
}

static void assert_refused(const char *expression, const char *message) {
    struct graft_error error = graft_error_none();
    if (graft_expression_parse(expression, "family.json", &error) != NULL) {
        fail_msg("%s was parsed", expression);
    }
    assert_int_equal(error.code, GRAFT_ERROR_PLUGIN);
    assert_string_equal(error.source, "family.json");
    assert_string_equal(error.message, message);
}

static void test_values(void **state) {
    (void)state;
    assert_is("12", -1, "12");
    assert_is(" 0.5 ", -1, "0.5");
    assert_is("1e-6", -1, "1e-06");
    assert_is("2.0", -1, "2.0");
    assert_is("'it is \"text\"'", -1, "'it is \"text\"'");
    assert_is("''", -1, "''");
    assert_is("true", -1, "true");
    assert_is("false", -1, "false");
    assert_is("null", -1, "null");
    assert_is("hidden_size", -1, "64");
    assert_is("whole", -1, "1000000.0");
    assert_is("act", -1, "'silu'");
    assert_is("yes", -1, "true");
    assert_is("none", -1, "null");
    assert_is("absent", -1, "null");
    assert_is("rope.theta", -1, "10000.0");
    assert_is("rope.absent.too", -1, "null");
    assert_is("layers.#0.dim", -1, "8");
    assert_is("layers.0.dim", -1, "8");
    assert_is("layer", 3, "3");
    assert_is("layer", -1, "null");
    assert_is("count + count(dense, 2)", -1, "7");
}

static void test_elements(void **state) {
    (void)state;
    assert_is("dense[1]", -1, "2");
    assert_is("types[layer]", 1, "'sliding'");
    assert_is("types[layer]", 2, "null");
    assert_is("types[layer]", 3, "null");
    assert_is("rope.section[layer + 1]", 0, "24");
    assert_is("absent[layer]", 0, "null");
    assert_is("absent['a']", 0, "null");
    assert_is("dense[dense[1]]", -1, "2");
    assert_is("by_layer[layer].dim", 3, "32");
    assert_is("by_layer[layer].dim ?? hidden_size", 2, "64");
    assert_is("by_layer[layer + 1].absent", 2, "null");
    assert_is("objects[1].dim + 1", -1, "6");
    assert_fails("types[0].dim + 1", -1, "types.0.dim: missing, expected a number");
    assert_fails("by_layer[3].dim + 'a'", -1, "'a': expected a number, got a string (\"a\")");
    assert_fails("by_layer[3].name + 1", -1, "by_layer.3.name: expected a number, got a string (\"wide\")");
    assert_fails("hidden_size[0]", -1, "hidden_size: expected an array, got an integer (64)");
    assert_fails("rope[0]", -1, "rope: expected an array, got an object");
    assert_fails("dense[layer]", -1, "layer: expected an integer, got null");
    assert_fails("dense[layer - 2]", 1, "layer - 2: expected at least 0, got -1");
    assert_fails("types[0] + 1", 1, "types.0: expected a number, got a string (\"full\")");
    assert_fails("types[2] + 1", 1, "types.2: expected a number, got null");
    assert_fails("types[7] + 1", 1, "types.7: missing, expected a number");
    assert_fails("nested[0]", -1, "nested.0: expected a number, a string or a boolean, got an array");
}

static void test_strength(void **state) {
    (void)state;
    assert_is("1 + 2 * 3", -1, "7");
    assert_is("(1 + 2) * 3", -1, "9");
    assert_is("10 - 4 - 3", -1, "3");
    assert_is("64 / 4 / 2", -1, "8");
    assert_is("2 ** 3 ** 2", -1, "512");
    assert_is("2 * 3 ** 2", -1, "18");
    assert_is("-2 ** 2", -1, "4");
    assert_is("2 ** -1", -1, "0.5");
    assert_is("- -3", -1, "3");
    assert_is("1 - -heads", -1, "5");
    assert_is("not 1 == 2 and true", -1, "true");
    assert_is("not (true and false)", -1, "true");
    assert_is("true or false and false", -1, "true");
    assert_is("1 + 1 == 2", -1, "true");
    assert_is("none ?? 1 + 1", -1, "2");
    assert_is("none ?? absent ?? 7", -1, "7");
    assert_is("(heads ?? 1) + 1", -1, "5");
    assert_is("yes ? 1 : no ? 2 : 3", -1, "1");
    assert_is("no ? 1 : no ? 2 : 3", -1, "3");
    assert_is("none ?? no ? 1 : 2", -1, "2");
    assert_is("layer%2==0", 4, "true");
}

static void test_truth(void **state) {
    (void)state;
    assert_is("none ? 1 : 2", -1, "2");
    assert_is("none and yes", -1, "false");
    assert_is("none or yes", -1, "true");
    assert_is("not absent", -1, "true");
    assert_is("no and heads", -1, "false");
    assert_is("yes or heads", -1, "true");
    assert_fails("yes and heads", -1, "heads: expected a boolean, got an integer (4)");
    assert_fails("act ? 1 : 2", -1, "act: expected a boolean, got a string (\"silu\")");
    assert_fails("not (heads + 1)", -1, "(heads + 1): expected a boolean, got an integer (5)");
}

static void test_comparisons(void **state) {
    (void)state;
    assert_is("heads == 4", -1, "true");
    assert_is("heads == 4.0", -1, "true");
    assert_is("heads == '4'", -1, "false");
    assert_is("heads != '4'", -1, "true");
    assert_is("most == least", -1, "false");
    assert_is("none == absent", -1, "true");
    assert_is("none == false", -1, "false");
    assert_is("yes == 1", -1, "false");
    assert_is("rope == null", -1, "false");
    assert_is("rope == rope", -1, "false");
    assert_is("dense != null", -1, "true");
    assert_is("nan == nan", -1, "false");
    assert_is("nan <= nan or nan >= nan", -1, "false");
    assert_is("heads < 4.5", -1, "true");
    assert_is("heads <= 4 and heads >= 4", -1, "true");
    assert_is("heads > 4 or heads < 4", -1, "false");
    assert_is("9223372036854775807 > 9223372036854775806", -1, "true");
    assert_fails("absent < 3", -1, "absent: missing, expected a number");
    assert_fails("act < 'a'", -1, "act: expected a number, got a string (\"silu\")");
}

static void test_lists(void **state) {
    (void)state;
    assert_is("layer in dense", 0, "true");
    assert_is("layer in dense", 1, "false");
    assert_is("layer not in dense", 1, "true");
    assert_is("layer in dense", -1, "false");
    assert_is("3 in absent", -1, "false");
    assert_is("3 not in none", -1, "true");
    assert_is("3 in empty", -1, "false");
    assert_is("act in ['gelu', 'silu']", -1, "true");
    assert_is("act in []", -1, "false");
    assert_is("heads in [2, 2 + 2.0]", -1, "true");
    assert_is("1 in (absent ?? [1, 2])", -1, "true");
    assert_is("null in types", -1, "true");
    assert_is("rope.section[0] in [16]", -1, "true");
    assert_is("count(dense, 2)", -1, "2");
    assert_is("count(absent, 2)", -1, "0");
    assert_is("count([1, 1, 'a'], 1)", -1, "2");
    assert_is("is_array(dense)", -1, "true");
    assert_is("is_array(rope)", -1, "false");
    assert_is("is_array(absent)", -1, "false");
    assert_is("is_array(nested[0]) and 1 in nested[0]", -1, "true");
    assert_fails("0 in mixed", -1, "mixed.1: expected an integer, got a string (\"a\")");
    assert_fails("0.5 in mixed", -1, "mixed.1: expected a number, got a string (\"a\")");
    assert_fails("count(types, 'full')", -1, "types.2: expected a string, got null");
    assert_fails("1 in heads", -1, "heads: expected an array, got an integer (4)");
    assert_fails("1 in rope", -1, "rope: expected an array, got an object");
    assert_fails("[1, 2]", -1, "[1, 2]: expected a number, a string or a boolean, got a list");
    assert_fails("rope", -1, "rope: expected a number, a string or a boolean, got an object");
    assert_fails("dense", -1, "dense: expected a number, a string or a boolean, got an array");
}

static void test_arithmetic(void **state) {
    (void)state;
    assert_is("hidden_size / heads", -1, "16");
    assert_is("hidden_size / 4.0", -1, "16.0");
    assert_is("7 // 2", -1, "3");
    assert_is("minus // 2", -1, "-4");
    assert_is("minus % 2", -1, "1");
    assert_is("7 // -2", -1, "-4");
    assert_is("7 % -2", -1, "-1");
    assert_is("7.5 // 2", -1, "3.0");
    assert_is("-7.5 % 2", -1, "0.5");
    assert_is("7.5 % -2", -1, "-0.5");
    assert_is("least % -1", -1, "0");
    assert_is("least // 1 == least", -1, "true");
    assert_is("factor * 2", -1, "5.0");
    assert_is("heads + 0.5", -1, "4.5");
    assert_is("2 ** 62", -1, "4611686018427387904");
    assert_is("(-2) ** 63 == least", -1, "true");
    assert_is("1 ** most", -1, "1");
    assert_is("(-1) ** most", -1, "-1");
    assert_is("0 ** 0", -1, "1");
    assert_is("2.0 ** 0.5 == sqrt(2)", -1, "true");
    assert_is("hidden_size ** -0.5", -1, "0.125");
    assert_is("sqrt(hidden_size)", -1, "8.0");
    assert_is("log(1)", -1, "0.0");
    assert_is("log(2.0 ** 10) == 10 * log(2)", -1, "true");
    assert_is("bf16(sqrt(32))", -1, "5.65625");
    assert_is("bf16(3) == 3", -1, "true");
    assert_is("size(dense)", -1, "3");
    assert_is("size(empty)", -1, "0");
    assert_is("size(act)", -1, "4");
    assert_is("size(absent)", -1, "null");
    assert_is("act[0]", -1, "'s'");
    assert_is("act[layer] == 'l'", 2, "true");
    assert_is("act[4]", -1, "null");
    assert_fails("size(heads)", -1, "heads: expected an array or a string, got an integer (4)");
    assert_is("min(heads, odd)", -1, "3");
    assert_is("max(heads, 4.5)", -1, "4.5");
    assert_is("int(factor * 3)", -1, "7");
    assert_is("int(-factor)", -1, "-2");
    assert_is("int(heads)", -1, "4");
    assert_is("-factor", -1, "-2.5");
    assert_is("infinite > most", -1, "true");
}

static void test_bad_arithmetic(void **state) {
    (void)state;
    assert_fails("hidden_size / odd", -1, "odd: 3 does not divide hidden_size (64)");
    assert_fails("odd / 2", -1, "odd: 2 does not divide 3");
    assert_fails("hidden_size / (heads - 1)", -1, "(heads - 1): 3 does not divide hidden_size (64)");
    assert_fails("(hidden_size + 1) / heads", -1, "heads: 4 does not divide (hidden_size + 1) (65)");
    assert_fails("hidden_size / (odd ?? 5)", -1, "odd: 3 does not divide hidden_size (64)");
    assert_fails("hidden_size / (absent ?? 5)", -1, "absent: 5 does not divide hidden_size (64)");
    assert_fails("hidden_size / zero", -1, "zero: division by zero in \"hidden_size / zero\"");
    assert_fails("hidden_size // (heads - 4)", -1, "hidden_size // (heads - 4): division by zero");
    assert_fails("hidden_size % zero", -1, "zero: division by zero in \"hidden_size % zero\"");
    assert_fails("factor / 0.0", -1, "factor / 0.0: division by zero");
    assert_fails("zero ** -1", -1, "zero ** -1: division by zero");
    assert_fails("1 + most * 2", -1, "most * 2: the result is not within 64 bits");
    assert_fails("most + 1", -1, "most + 1: the result is not within 64 bits");
    assert_fails("least - 1", -1, "least - 1: the result is not within 64 bits");
    assert_fails("least / -1", -1, "least / -1: the result is not within 64 bits");
    assert_fails("least // -1", -1, "least // -1: the result is not within 64 bits");
    assert_fails("-least", -1, "-least: the result is not within 64 bits");
    assert_fails("2 ** 63", -1, "2 ** 63: the result is not within 64 bits");
    assert_fails("odd ** most", -1, "odd ** most: the result is not within 64 bits");
    assert_fails("int(1e300)", -1, "int(1e300): the result is not within 64 bits");
    assert_fails("int(nan)", -1, "int(nan): the result is not within 64 bits");
    assert_fails("sqrt(minus)", -1, "minus: expected at least 0, got -7");
    assert_fails("log(minus)", -1, "minus: expected more than 0, got -7");
    assert_fails("log(minus + 7)", -1, "minus + 7: expected more than 0, got 0");
    assert_fails("absent * 2", -1, "absent: missing, expected a number");
    assert_fails("none * 2", -1, "none: expected a number, got null");
    assert_fails("(absent ?? none) * 2", -1, "none: expected a number, got null");
    assert_fails("act * 2", -1, "act: expected a number, got a string (\"silu\")");
    assert_fails("-yes", -1, "yes: expected a number, got a boolean (true)");
    assert_fails("(1 == 1) + 1", -1, "(1 == 1): expected a number, got a boolean (true)");
    assert_fails("rope + 1", -1, "rope: expected a number, got an object");
    assert_fails("min(heads, act)", -1, "act: expected a number, got a string (\"silu\")");
}

static void test_refused(void **state) {
    (void)state;
    assert_refused("", "column 1: expected a value, got the end");
    assert_refused("hidden_size / )", "column 15: expected a value, got \")\"");
    assert_refused("a +", "column 4: expected a value, got the end");
    assert_refused("a b", "column 3: expected an operator or the end, got \"b\"");
    assert_refused("a = b", "column 3: expected an operator or the end, got \"=\"");
    assert_refused("1 < 2 < 3", "column 7: expected an operator or the end, got \"<\"");
    assert_refused("a not b", "column 7: expected \"in\", got \"b\"");
    assert_refused("(a", "column 3: expected \")\", got the end");
    assert_refused("a[1", "column 4: expected \"]\", got the end");
    assert_refused("a in [1 2]", "column 9: expected \",\" or \"]\", got \"2\"");
    assert_refused("a in [1,]", "column 9: expected a value, got \"]\"");
    assert_refused("a ? 1", "column 6: expected \":\", got the end");
    assert_refused("a ? : 1", "column 5: expected a value, got \":\"");
    assert_refused("min(1)", "column 6: expected \",\", got \")\"");
    assert_refused("sqrt(1, 2)", "column 7: expected \")\", got \",\"");
    assert_refused("sqrt()", "column 6: expected a value, got \")\"");
    assert_refused("1 + exp(2)",
                   "column 5: expected sqrt, log, int, bf16, min, max, count, size or is_array, got \"exp\"");
    assert_refused("objects[0].", "column 12: expected a name, got the end");
    assert_refused("objects[0].dim[1]", "column 15: expected an operator or the end, got \"[\"");
    assert_refused("'open", "column 1: expected a second \"'\", got \"'open\"");
    assert_refused("9223372036854775808", "column 1: expected a number that 64 bits hold, got \"9223372036854775808\"");
    assert_refused("1e999", "column 1: expected a number that 64 bits hold, got \"1e999\"");
    assert_refused("12abc", "column 3: expected an operator or the end, got \"abc\"");
    assert_refused("a.", "column 2: expected an operator or the end, got \".\"");
    assert_refused(".5", "column 1: expected a value, got \".\"");
    assert_refused("and", "column 1: expected a value, got \"and\"");
    assert_refused("a + \xc3\xa9", "column 5: expected a value, got \"\xc3\xa9\"");
    assert_refused("a + \xff", "column 5: expected a value, got \"?\"");
}

/* `n` times `open`, a one, and `n` times `close`. */
static void repeat(char *expression, int n, const char *open, const char *close) {
    expression[0] = '\0';
    for (int i = 0; i < n; i++) {
        strcat(expression, open);
    }
    strcat(expression, "1");
    for (int i = 0; i < n; i++) {
        strcat(expression, close);
    }
}

static void test_bounds(void **state) {
    char expression[GRAFT_EXPRESSION_MAX + 2];
    (void)state;
    repeat(expression, 63, "(", ")");
    assert_is(expression, -1, "1");
    repeat(expression, 64, "(", ")");
    assert_refused(expression, "column 65: expected at most 64 brackets and operators inside each other, got \"1\"");
    repeat(expression, 63, "", " + 1");
    assert_is(expression, -1, "64");
    repeat(expression, 64, "", " + 1");
    assert_refused(expression, "column 258: expected at most 64 brackets and operators inside each other, got the end");
    repeat(expression, 500, "-", "");
    assert_refused(expression, "column 65: expected at most 64 brackets and operators inside each other, got \"-\"");
    repeat(expression, 250, "not ", "");
    assert_refused(expression, "column 257: expected at most 64 brackets and operators inside each other, got \"not\"");
    repeat(expression, 200, "1 ** ", "");
    assert_refused(expression, "column 321: expected at most 64 brackets and operators inside each other, got \"1\"");
    repeat(expression, 200, "[", "]");
    assert_refused(expression, "column 65: expected at most 64 brackets and operators inside each other, got \"[\"");
    memset(expression, ' ', sizeof expression);
    expression[0] = '7';
    expression[GRAFT_EXPRESSION_MAX] = '\0';
    assert_is(expression, -1, "7");
    expression[GRAFT_EXPRESSION_MAX] = ' ';
    expression[GRAFT_EXPRESSION_MAX + 1] = '\0';
    assert_refused(expression, "expected an expression of at most 1024 bytes, got 1025");
}

static void assert_decides(const char *expression, int64_t layer, const char *field) {
    struct graft_expression *parsed = graft_expression_parse(expression, "family.json", NULL);
    assert_non_null(parsed);
    const char *found = graft_expression_field(parsed, &view, layer);
    if (field == NULL ? found != NULL : found == NULL || strcmp(found, field) != 0) {
        fail_msg("%s is decided by %s, not by %s", expression, found != NULL ? found : "none",
                 field != NULL ? field : "none");
    }
    graft_expression_destroy(parsed);
}

static void test_fields(void **state) {
    (void)state;
    assert_decides("heads", -1, "heads");
    assert_decides("absent", -1, "absent");
    assert_decides("rope.theta", -1, "rope.theta");
    assert_decides("odd ?? heads", -1, "odd");
    assert_decides("absent ?? heads", -1, "heads");
    assert_decides("absent ?? 5", -1, "absent");
    assert_decides("absent ?? heads + 1", -1, NULL);
    assert_decides("yes ? heads : odd", -1, "heads");
    assert_decides("no ? heads : odd", -1, "odd");
    assert_decides("types[layer]", 0, "types");
    assert_decides("min(heads, odd)", 0, "odd");
    assert_decides("heads + 1", -1, NULL);
    assert_decides("5", -1, NULL);
    assert_decides("act / 2", -1, NULL);
}

static void assert_asks(const char *expression, int64_t layer, const char *expected) {
    struct graft_text names = {0};
    (void)asked_config_close(NULL);
    (void)set_up(NULL);
    struct graft_expression *parsed = graft_expression_parse(expression, "family.json", NULL);
    struct graft_value value;
    assert_non_null(parsed);
    (void)graft_expression_evaluate(parsed, &view, layer, &value, NULL);
    graft_expression_destroy(parsed);
    graft_text_add_string(&names, "");
    for (size_t i = 0; graft_ledger_at(ledger, i) != NULL; i++) {
        graft_text_printf(&names, "%s%s", i > 0 ? " " : "", graft_ledger_at(ledger, i));
    }
    assert_string_equal(names.bytes, expected);
    graft_text_free(&names);
}

/* Only fields that are evaluated are read. */
static void test_asked(void **state) {
    (void)state;
    assert_asks("heads ?? odd", -1, "heads");
    assert_asks("absent ?? odd", -1, "absent odd");
    assert_asks("yes ? heads : odd", -1, "yes heads");
    assert_asks("no and heads == 4", -1, "no");
    assert_asks("yes or heads == 4", -1, "yes");
    assert_asks("types[layer]", 1, "types");
    assert_asks("layer in dense", 1, "dense");
    assert_asks("rope != null", 1, "");
    assert_asks("is_array(dense)", 1, "");
    assert_asks("rope.theta", 1, "rope.theta");
}

static int add_path(void *data, const char *path) {
    graft_text_printf(data, "%s ", path);
    return strcmp(path, "stop") == 0 ? 7 : 0;
}

static void test_uses(void **state) {
    struct graft_text paths = {0};
    (void)state;
    struct graft_expression *parsed =
        graft_expression_parse("b ?? a[layer + c.d] in [e, b] ? sqrt(a) : 'text'", "family.json", NULL);
    assert_int_equal(graft_expression_uses(parsed, add_path, &paths), 0);
    assert_string_equal(paths.bytes, "b a c.d e ");
    graft_expression_destroy(parsed);
    parsed = graft_expression_parse("stop + more", "family.json", NULL);
    assert_int_equal(graft_expression_uses(parsed, add_path, &paths), 7);
    assert_string_equal(paths.bytes, "b a c.d e stop ");
    graft_expression_destroy(parsed);
    graft_text_free(&paths);
}

static void test_constants(void **state) {
    static const struct {
        struct graft_value value;
        const char *text;
    } cases[] = {
        {{.kind = GRAFT_VALUE_NULL}, "null"},
        {{.kind = GRAFT_VALUE_BOOL, .integer = 1}, "true"},
        {{.kind = GRAFT_VALUE_INT, .integer = INT64_MIN}, "-9223372036854775808"},
        {{.kind = GRAFT_VALUE_REAL, .real = 0.1}, "0.1"},
        {{.kind = GRAFT_VALUE_REAL, .real = 3.0}, "3.0"},
        {{.kind = GRAFT_VALUE_REAL, .real = 1.0 / 3.0}, "0.3333333333333333"},
        {{.kind = GRAFT_VALUE_TEXT, .text = "it's"}, "'it's'"},
        {{.kind = GRAFT_VALUE_TEXT, .text = ""}, "''"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct graft_value value;
        struct graft_expression *constant = graft_expression_constant(&cases[i].value, NULL);
        assert_non_null(constant);
        assert_string_equal(graft_expression_text(constant), cases[i].text);
        assert_int_equal(graft_expression_evaluate(constant, &view, -1, &value, NULL), GRAFT_OK);
        assert_int_equal(value.kind, cases[i].value.kind);
        assert_int_equal(value.integer, cases[i].value.integer);
        if (value.kind == GRAFT_VALUE_INT) {
            assert_true(value.real == (double)value.integer);
        }
        if (value.kind == GRAFT_VALUE_TEXT) {
            assert_string_equal(value.text, cases[i].value.text);
        }
        graft_expression_destroy(constant);
    }
    graft_expression_destroy(NULL);
}

#define WITH_CONFIG(test) cmocka_unit_test_setup_teardown(test, set_up, asked_config_close)

int main(void) {
    const struct CMUnitTest tests[] = {
        WITH_CONFIG(test_values),     WITH_CONFIG(test_elements),  WITH_CONFIG(test_strength),
        WITH_CONFIG(test_truth),      WITH_CONFIG(test_lists),     WITH_CONFIG(test_comparisons),
        WITH_CONFIG(test_arithmetic), WITH_CONFIG(test_refused),   WITH_CONFIG(test_bad_arithmetic),
        WITH_CONFIG(test_bounds),     WITH_CONFIG(test_fields),    WITH_CONFIG(test_asked),
        cmocka_unit_test(test_uses),  WITH_CONFIG(test_constants),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
