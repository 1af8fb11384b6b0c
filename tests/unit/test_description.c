/* SPDX-License-Identifier: Apache-2.0 */
/* Values that a family file may set choices to, the values read from a config, and the messages of graft/config.h. */
#include "arch/data/description.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "config/config.h"

enum { NAME, WORD, TEXT, SIZE, EPS, FLAG, BY_LAYER, WINDOW, SCALE, ACT_BY_LAYER, NEEDED, COUNT };

static const struct graft_choice_info infos[COUNT] = {
    [NAME] = {.name = "class.mlp", .kind = GRAFT_CHOICE_NAME, .flags = GRAFT_CHOICE_NULLABLE, .fallback = "MLP"},
    [WORD] = {.name = "norm.kind", .kind = GRAFT_CHOICE_WORD, .words = "rms layer none", .fallback = "layer"},
    [TEXT] = {.name = "mlp.act", .kind = GRAFT_CHOICE_TEXT, .fallback = "hidden_act"},
    [SIZE] =
        {.name = "hidden_size", .kind = GRAFT_CHOICE_INT, .minimum = 1, .maximum = 1048576, .fallback = "hidden_size"},
    [EPS] = {.name = "norm.eps", .kind = GRAFT_CHOICE_REAL, .least = 0.0, .fallback = "rms_norm_eps"},
    [FLAG] = {.name = "mlp.bias", .kind = GRAFT_CHOICE_BOOL, .fallback = "mlp_bias"},
    [BY_LAYER] = {.name = "mlp.size",
                  .kind = GRAFT_CHOICE_INT,
                  .flags = GRAFT_CHOICE_BY_LAYER,
                  .minimum = 1,
                  .maximum = 100,
                  .fallback = "sizes[layer]"},
    [WINDOW] = {.name = "attention.window",
                .kind = GRAFT_CHOICE_INT,
                .flags = GRAFT_CHOICE_NULLABLE,
                .minimum = 1,
                .maximum = 100,
                .fallback = "null"},
    [SCALE] = {.name = "attention.softcap",
               .kind = GRAFT_CHOICE_REAL,
               .flags = GRAFT_CHOICE_NULLABLE | GRAFT_CHOICE_ABOVE,
               .least = 0.0,
               .fallback = "softcap"},
    [ACT_BY_LAYER] = {.name = "layer.type",
                      .kind = GRAFT_CHOICE_TEXT,
                      .flags = GRAFT_CHOICE_NULLABLE | GRAFT_CHOICE_BY_LAYER,
                      .fallback = "layer_types[layer]"},
    [NEEDED] = {.name = "rows", .kind = GRAFT_CHOICE_INT, .minimum = 1, .maximum = 10},
};

static const struct graft_choices choices = {infos, COUNT};

static struct graft_description *description;
static graft_json *document;
static struct graft_config view;
static struct graft_error error;
static struct graft_reader reader;

static int set_up(void **state) {
    (void)state;
    error = graft_error_none();
    description = graft_description_create(&choices, &error);
    assert_non_null(description);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    graft_description_destroy(description);
    graft_json_free(document);
    document = NULL;
    return 0;
}

static void start(const char *config, int64_t layer) {
    graft_json_free(document);
    document = NULL;
    assert_int_equal(graft_json_parse(config, strlen(config), "config.json", &document, NULL), GRAFT_OK);
    view = graft_config_view(document, "config.json");
    error = graft_error_none();
    graft_reader_start(&reader, description, &view, layer, &error);
}

static int set_value(int32_t choice, struct graft_value value) {
    error = graft_error_none();
    return graft_description_set(description, choice, &value, "acme.family.json", &error);
}

static void set_text(int32_t choice, const char *text) {
    if (set_value(choice, (struct graft_value){.kind = GRAFT_VALUE_TEXT, .text = text}) != GRAFT_OK) {
        fail_msg("%s", error.message);
    }
}

static void assert_set_fails(int32_t choice, struct graft_value value, const char *message) {
    assert_int_equal(set_value(choice, value), GRAFT_ERROR_PLUGIN);
    assert_string_equal(error.message, message);
    assert_string_equal(error.source, "acme.family.json");
}

static void assert_text_fails(int32_t choice, const char *text, const char *message) {
    assert_set_fails(choice, (struct graft_value){.kind = GRAFT_VALUE_TEXT, .text = text}, message);
}

/* Reads a choice as the type that it has. */
static void read_any(int32_t choice) {
    switch (infos[choice].kind) {
    case GRAFT_CHOICE_WORD:
        assert_int_equal(graft_read_word(&reader, choice), -1);
        return;
    case GRAFT_CHOICE_TEXT:
        assert_null(graft_read_text(&reader, choice));
        return;
    case GRAFT_CHOICE_INT:
        assert_int_equal(graft_read_int(&reader, choice), 0);
        return;
    case GRAFT_CHOICE_REAL:
        assert_true(graft_read_real(&reader, choice) == 0.0);
        return;
    default:
        assert_int_equal(graft_read_bool(&reader, choice), 0);
    }
}

static void assert_read_fails(int32_t choice, const char *config, const char *message) {
    start(config, (infos[choice].flags & GRAFT_CHOICE_BY_LAYER) != 0 ? 1 : -1);
    read_any(choice);
    assert_int_equal(reader.status, GRAFT_ERROR_MODEL);
    assert_string_equal(error.message, message);
    assert_string_equal(error.source, "config.json");
}

static void test_find(void **state) {
    (void)state;
    assert_int_equal(graft_choice_find(&choices, "class.mlp"), NAME);
    assert_int_equal(graft_choice_find(&choices, "rows"), NEEDED);
    assert_int_equal(graft_choice_find(&choices, "class"), -1);
}

static void test_names(void **state) {
    (void)state;
    assert_string_equal(graft_description_name(description, NAME), "MLP");
    assert_false(graft_description_never(description, NAME));
    set_text(NAME, "a + ("); /* not read as an expression */
    assert_string_equal(graft_description_name(description, NAME), "a + (");
    assert_text_fails(NAME, "", "class.mlp: expected a name, got \"\"");
    assert_set_fails(NAME, (struct graft_value){.kind = GRAFT_VALUE_INT, .integer = 3},
                     "class.mlp: expected a name, got an integer (3)");
    assert_string_equal(graft_description_name(description, NAME), "a + (");
    start("{}", -1);
    assert_false(graft_read_is_null(&reader, NAME));
    assert_int_equal(set_value(NAME, (struct graft_value){.kind = GRAFT_VALUE_NULL}), GRAFT_OK);
    assert_null(graft_description_name(description, NAME));
    assert_true(graft_description_never(description, NAME));
    assert_true(graft_read_is_null(&reader, NAME));
}

static void test_words(void **state) {
    (void)state;
    start("{\"kind\": \"rms\", \"other\": \"x\", \"size\": 3, \"no\": null}", -1);
    assert_int_equal(graft_read_word(&reader, WORD), 1);
    set_text(WORD, "none");
    assert_int_equal(graft_read_word(&reader, WORD), 2);
    set_text(WORD, "'rms'");
    assert_int_equal(graft_read_word(&reader, WORD), 0);
    set_text(WORD, "size == 3 ? 'layer' : 'rms'");
    assert_int_equal(graft_read_word(&reader, WORD), 1);
    set_text(WORD, "kind");
    assert_int_equal(graft_read_word(&reader, WORD), 0);
    assert_int_equal(reader.status, GRAFT_OK);
    assert_read_fails(WORD, "{\"kind\": \"x\"}", "kind: expected \"rms\", \"layer\" or \"none\", got \"x\"");
    assert_read_fails(WORD, "{\"kind\": \"rm\"}", "kind: expected \"rms\", \"layer\" or \"none\", got \"rm\"");
    assert_read_fails(WORD, "{\"kind\": \"\"}", "kind: expected \"rms\", \"layer\" or \"none\", got \"\"");
    assert_read_fails(WORD, "{\"kind\": 3}", "kind: expected \"rms\", \"layer\" or \"none\", got an integer (3)");
    assert_read_fails(WORD, "{\"kind\": null}", "kind: expected \"rms\", \"layer\" or \"none\", got null");
    assert_read_fails(WORD, "{}", "kind: missing, expected \"rms\", \"layer\" or \"none\"");
    assert_text_fails(WORD, "'x'", "norm.kind: expected \"rms\", \"layer\" or \"none\", got \"x\"");
    assert_text_fails(WORD, "rms layer", "norm.kind: column 5: expected an operator or the end, got \"layer\"");
    assert_set_fails(WORD, (struct graft_value){.kind = GRAFT_VALUE_BOOL, .integer = 1},
                     "norm.kind: expected \"rms\", \"layer\" or \"none\", got a boolean (true)");
}

static void test_integers(void **state) {
    (void)state;
    start("{\"hidden_size\": 64}", -1);
    assert_int_equal(graft_read_int(&reader, SIZE), 64);
    assert_read_fails(SIZE, "{}", "hidden_size: missing, expected an integer");
    assert_read_fails(SIZE, "{\"hidden_size\": null}", "hidden_size: expected an integer, got null");
    assert_read_fails(SIZE, "{\"hidden_size\": 1.5}",
                      "hidden_size: expected an integer, got a fractional number (1.5)");
    assert_read_fails(SIZE, "{\"hidden_size\": 1e6}",
                      "hidden_size: expected an integer, got a fractional number (1e+06)");
    assert_read_fails(SIZE, "{\"hidden_size\": \"x\"}", "hidden_size: expected an integer, got a string (\"x\")");
    assert_read_fails(SIZE, "{\"hidden_size\": true}", "hidden_size: expected an integer, got a boolean (true)");
    assert_read_fails(SIZE, "{\"hidden_size\": [1]}", "hidden_size: expected an integer, got an array");
    assert_read_fails(SIZE, "{\"hidden_size\": {}}", "hidden_size: expected an integer, got an object");
    assert_read_fails(SIZE, "{\"hidden_size\": 0}", "hidden_size: expected 1 to 1048576, got 0");
    assert_read_fails(SIZE, "{\"hidden_size\": 1048577}", "hidden_size: expected 1 to 1048576, got 1048577");
    set_text(SIZE, "dim ?? 4 * n");
    assert_read_fails(SIZE, "{\"dim\": 0, \"n\": 1}", "dim: expected 1 to 1048576, got 0");
    assert_read_fails(SIZE, "{\"n\": 0}", "dim ?? 4 * n: expected 1 to 1048576, got 0");
    assert_read_fails(SIZE, "{}", "n: missing, expected a number");
    set_text(SIZE, "dim ?? n");
    assert_read_fails(SIZE, "{\"n\": 0}", "n: expected 1 to 1048576, got 0");
    assert_read_fails(SIZE, "{\"dim\": null, \"n\": 1.5}", "n: expected an integer, got a fractional number (1.5)");
    assert_read_fails(SIZE, "{}", "n: missing, expected an integer");
    set_text(SIZE, "dim ?? 7");
    start("{\"dim\": null}", -1);
    assert_int_equal(graft_read_int(&reader, SIZE), 7);
    set_text(SIZE, "dim * 2.5");
    start("{\"dim\": 4}", -1);
    assert_int_equal(graft_read_int(&reader, SIZE), 10);
    assert_read_fails(SIZE, "{\"dim\": 3}", "dim * 2.5: expected an integer, got a fractional number (7.5)");
    assert_read_fails(SIZE, "{\"dim\": 1e300}", "dim * 2.5: expected an integer, got a fractional number (2.5e+300)");
    set_text(SIZE, "int(dim * 2.5)");
    start("{\"dim\": 3}", -1);
    assert_int_equal(graft_read_int(&reader, SIZE), 7);
    assert_int_equal(reader.status, GRAFT_OK);
}

static void test_set_integers(void **state) {
    const struct graft_value seven = {.kind = GRAFT_VALUE_INT, .integer = 7};
    (void)state;
    start("{}", -1);
    assert_int_equal(set_value(SIZE, seven), GRAFT_OK);
    assert_int_equal(graft_read_int(&reader, SIZE), 7);
    set_text(SIZE, "8");
    assert_int_equal(graft_read_int(&reader, SIZE), 8);
    assert_set_fails(SIZE, (struct graft_value){.kind = GRAFT_VALUE_INT}, "hidden_size: expected 1 to 1048576, got 0");
    assert_text_fails(SIZE, "0", "hidden_size: expected 1 to 1048576, got 0");
    assert_text_fails(SIZE, "-1", "hidden_size: expected 1 to 1048576, got -1");
    assert_text_fails(SIZE, "null", "hidden_size: expected an integer, got null");
    assert_set_fails(SIZE, (struct graft_value){.kind = GRAFT_VALUE_NULL},
                     "hidden_size: expected an integer, got null");
    assert_set_fails(SIZE, (struct graft_value){.kind = GRAFT_VALUE_REAL, .real = 1.5},
                     "hidden_size: expected an integer, got a fractional number (1.5)");
    assert_set_fails(SIZE, (struct graft_value){.kind = GRAFT_VALUE_BOOL},
                     "hidden_size: expected an integer, got a boolean (false)");
    assert_text_fails(SIZE, "a + )", "hidden_size: column 5: expected a value, got \")\"");
    assert_text_fails(SIZE, "", "hidden_size: column 1: expected a value, got the end");
    assert_int_equal(graft_read_int(&reader, SIZE), 8); /* it stays what it was */
}

static void test_reals(void **state) {
    (void)state;
    start("{\"rms_norm_eps\": 1}", -1);
    assert_true(graft_read_real(&reader, EPS) == 1.0);
    start("{\"rms_norm_eps\": 0.0}", -1);
    assert_true(graft_read_real(&reader, EPS) == 0.0);
    assert_int_equal(reader.status, GRAFT_OK);
    assert_read_fails(EPS, "{\"rms_norm_eps\": null}", "rms_norm_eps: expected a number, got null");
    assert_read_fails(EPS, "{}", "rms_norm_eps: missing, expected a number");
    assert_read_fails(EPS, "{\"rms_norm_eps\": -1}", "rms_norm_eps: expected at least 0, got -1");
    assert_read_fails(EPS, "{\"rms_norm_eps\": Infinity}", "rms_norm_eps: expected a finite number, got Infinity");
    assert_read_fails(EPS, "{\"rms_norm_eps\": -Infinity}", "rms_norm_eps: expected a finite number, got -Infinity");
    assert_read_fails(EPS, "{\"rms_norm_eps\": NaN}", "rms_norm_eps: expected a finite number, got NaN");
    assert_read_fails(EPS, "{\"rms_norm_eps\": \"a\"}", "rms_norm_eps: expected a number, got a string (\"a\")");
    assert_read_fails(SCALE, "{\"softcap\": 0}", "softcap: expected more than 0, got 0");
    start("{\"softcap\": null}", -1);
    assert_true(graft_read_is_null(&reader, SCALE));
    assert_true(graft_read_real(&reader, SCALE) == 0.0);
    start("{}", -1);
    assert_true(graft_read_is_null(&reader, SCALE));
    start("{\"softcap\": 30}", -1);
    assert_false(graft_read_is_null(&reader, SCALE));
    assert_true(graft_read_real(&reader, SCALE) == 30.0);
    assert_int_equal(reader.status, GRAFT_OK);
    assert_set_fails(SCALE, (struct graft_value){.kind = GRAFT_VALUE_REAL},
                     "attention.softcap: expected more than 0, got 0");
    set_text(EPS, "10 ** n");
    assert_read_fails(EPS, "{\"n\": 400.0}", "10 ** n: expected a finite number, got Infinity");
}

static void test_booleans(void **state) {
    (void)state;
    start("{\"mlp_bias\": true}", -1);
    assert_int_equal(graft_read_bool(&reader, FLAG), 1);
    assert_read_fails(FLAG, "{\"mlp_bias\": 1}", "mlp_bias: expected a boolean, got an integer (1)");
    assert_read_fails(FLAG, "{}", "mlp_bias: missing, expected a boolean");
    set_text(FLAG, "mlp_bias ?? true");
    start("{}", -1);
    assert_int_equal(graft_read_bool(&reader, FLAG), 1);
    assert_read_fails(FLAG, "{\"mlp_bias\": \"no\"}", "mlp_bias: expected a boolean, got a string (\"no\")");
    assert_set_fails(FLAG, (struct graft_value){.kind = GRAFT_VALUE_INT, .integer = 1},
                     "mlp.bias: expected a boolean, got an integer (1)");
    assert_int_equal(set_value(FLAG, (struct graft_value){.kind = GRAFT_VALUE_BOOL}), GRAFT_OK);
    start("{}", -1);
    assert_int_equal(graft_read_bool(&reader, FLAG), 0);
    assert_int_equal(reader.status, GRAFT_OK);
}

static void test_texts(void **state) {
    (void)state;
    start("{\"hidden_act\": \"silu\"}", -1);
    assert_string_equal(graft_read_text(&reader, TEXT), "silu");
    assert_read_fails(TEXT, "{\"hidden_act\": null}", "hidden_act: expected a string, got null");
    assert_read_fails(TEXT, "{\"hidden_act\": 5}", "hidden_act: expected a string, got an integer (5)");
    set_text(TEXT, "'gelu'");
    start("{}", -1);
    assert_string_equal(graft_read_text(&reader, TEXT), "gelu");
    assert_set_fails(TEXT, (struct graft_value){.kind = GRAFT_VALUE_INT, .integer = 1},
                     "mlp.act: expected a string, got an integer (1)");
}

static void test_layers(void **state) {
    static const char config[] = "{\"sizes\": [4, 0], \"layer_types\": [\"a\", null]}";
    (void)state;
    start(config, 0);
    assert_int_equal(graft_read_int(&reader, BY_LAYER), 4);
    assert_string_equal(graft_read_text(&reader, ACT_BY_LAYER), "a");
    reader.layer = 1;
    assert_null(graft_read_text(&reader, ACT_BY_LAYER));
    assert_int_equal(reader.status, GRAFT_OK);
    assert_read_fails(BY_LAYER, config, "sizes.1: expected 1 to 100, got 0");
    assert_read_fails(BY_LAYER, "{\"sizes\": [1]}", "sizes.1: missing, expected an integer");
    assert_read_fails(BY_LAYER, "{\"sizes\": 3}", "sizes: expected an array, got an integer (3)");
    assert_read_fails(BY_LAYER, "{}", "sizes: missing, expected an integer");
    assert_read_fails(ACT_BY_LAYER, "{\"layer_types\": [0, 1]}",
                      "layer_types.1: expected a string, got an integer (1)");
    assert_text_fails(SIZE, "8 + layer",
                      "hidden_size: \"layer\" has no value here: the choice is the same for all layers");
    set_text(BY_LAYER, "layer + 1");
    start("{}", 6);
    assert_int_equal(graft_read_int(&reader, BY_LAYER), 7);
}

static void test_null(void **state) {
    (void)state;
    assert_true(graft_description_never(description, WINDOW));
    start("{}", -1);
    assert_true(graft_read_is_null(&reader, WINDOW));
    assert_int_equal(graft_read_int(&reader, WINDOW), 0);
    assert_int_equal(reader.status, GRAFT_OK);
    set_text(WINDOW, "use ? window : null");
    assert_false(graft_description_never(description, WINDOW));
    start("{\"use\": true, \"window\": 8}", -1);
    assert_int_equal(graft_read_int(&reader, WINDOW), 8);
    start("{\"use\": false, \"window\": 0}", -1);
    assert_true(graft_read_is_null(&reader, WINDOW));
    assert_read_fails(WINDOW, "{\"use\": true, \"window\": 0}", "window: expected 1 to 100, got 0");
    assert_int_equal(set_value(WINDOW, (struct graft_value){.kind = GRAFT_VALUE_NULL}), GRAFT_OK);
    assert_true(graft_description_never(description, WINDOW));
    assert_read_fails(NEEDED, "{}", "rows: expected an integer, got null"); /* a family must say it */
}

/* After an error nothing is read, and the first error is kept. */
static void test_first_error(void **state) {
    (void)state;
    start("{\"hidden_size\": 0, \"rms_norm_eps\": 1, \"mlp_bias\": true, \"hidden_act\": \"a\"}", -1);
    read_any(SIZE);
    read_any(EPS);
    read_any(FLAG);
    read_any(TEXT);
    read_any(WORD);
    assert_false(graft_read_is_null(&reader, WINDOW));
    graft_reader_fail(&reader, EPS, "is wrong");
    assert_int_equal(reader.status, GRAFT_ERROR_MODEL);
    assert_string_equal(error.message, "hidden_size: expected 1 to 1048576, got 0");
}

static void assert_says(int32_t choice, const char *config, const char *message) {
    start(config, 1);
    graft_reader_fail(&reader, choice, "%d does not divide %s", 3, "x");
    assert_int_equal(reader.status, GRAFT_ERROR_MODEL);
    assert_string_equal(error.message, message);
}

static void test_fail(void **state) {
    (void)state;
    assert_says(SIZE, "{\"hidden_size\": 4}", "hidden_size: 3 does not divide x");
    assert_says(NAME, "{}", "class.mlp: 3 does not divide x");
    assert_says(WINDOW, "{}", "attention.window: 3 does not divide x");
    assert_says(BY_LAYER, "{\"sizes\": [1, 2]}", "sizes.1: 3 does not divide x");
    set_text(SIZE, "a ?? b");
    assert_says(SIZE, "{\"b\": 4}", "b: 3 does not divide x");
    set_text(SIZE, "a ?? 5");
    assert_says(SIZE, "{}", "a: 3 does not divide x");
    set_text(SIZE, "a + b");
    assert_says(SIZE, "{\"a\": 4, \"b\": 5}", "a + b: 3 does not divide x");
    assert_says(SIZE, "{}", "a + b: 3 does not divide x");
}

static void test_section(void **state) {
    (void)state;
    assert_int_equal(graft_description_set_section(description, "text_config", &error), GRAFT_OK);
    start("{\"text_config\": {\"hidden_size\": 8}, \"hidden_size\": 4}", -1);
    assert_int_equal(graft_read_int(&reader, SIZE), 8);
    assert_ptr_equal(reader.whole, &view);
    start("{\"hidden_size\": 4}", -1);
    assert_int_equal(graft_read_int(&reader, SIZE), 4);
    start("{\"text_config\": {\"hidden_size\": 0}}", -1);
    assert_int_equal(graft_read_int(&reader, SIZE), 0);
    assert_string_equal(error.message, "hidden_size: expected 1 to 1048576, got 0");
    assert_string_equal(error.source, "config.json: text_config");
    start("{\"text_config\": 3, \"hidden_size\": 4}", -1);
    assert_int_equal(graft_read_int(&reader, SIZE), 0);
    assert_int_equal(reader.status, GRAFT_ERROR_MODEL);
    assert_string_equal(error.message, "text_config: expected an object, got an integer (3)");
    assert_int_equal(graft_description_set_section(description, NULL, &error), GRAFT_OK);
    start("{\"text_config\": 3, \"hidden_size\": 4}", -1);
    assert_int_equal(graft_read_int(&reader, SIZE), 4);
}

/* A copy is a description of its own. */
static void test_copy(void **state) {
    (void)state;
    set_text(SIZE, "n_embd ?? 5");
    assert_int_equal(graft_description_set_section(description, "text_config", &error), GRAFT_OK);
    struct graft_description *like = graft_description_copy(description, &error);
    assert_non_null(like);
    set_text(SIZE, "6");
    set_text(NAME, "Other");
    graft_description_destroy(description);
    description = like;
    assert_string_equal(graft_description_name(description, NAME), "MLP");
    start("{\"text_config\": {\"n_embd\": 9}}", -1);
    assert_int_equal(graft_read_int(&reader, SIZE), 9);
    start("{}", -1);
    assert_int_equal(graft_read_int(&reader, SIZE), 5);
    graft_description_destroy(NULL);
}

static const char *spelling_of(const void *data, const char *path) {
    (void)data;
    return strcmp(path, "hidden_size") == 0 ? "n_embd" : path;
}

/* Messages use the file's name of a field. */
static void test_spelling(void **state) {
    (void)state;
    start("{\"hidden_size\": 0}", -1);
    view.spelling = spelling_of;
    assert_int_equal(graft_read_int(&reader, SIZE), 0);
    assert_string_equal(error.message, "n_embd: expected 1 to 1048576, got 0");
}

#define WITH_DESCRIPTION(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        WITH_DESCRIPTION(test_find),     WITH_DESCRIPTION(test_names),        WITH_DESCRIPTION(test_words),
        WITH_DESCRIPTION(test_integers), WITH_DESCRIPTION(test_set_integers), WITH_DESCRIPTION(test_reals),
        WITH_DESCRIPTION(test_booleans), WITH_DESCRIPTION(test_texts),        WITH_DESCRIPTION(test_layers),
        WITH_DESCRIPTION(test_null),     WITH_DESCRIPTION(test_first_error),  WITH_DESCRIPTION(test_fail),
        WITH_DESCRIPTION(test_section),  WITH_DESCRIPTION(test_copy),         WITH_DESCRIPTION(test_spelling),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
