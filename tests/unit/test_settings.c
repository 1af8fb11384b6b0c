/* SPDX-License-Identifier: Apache-2.0 */
/* generation_config.json, and what config.json says where that is silent. */
#include "generate/generate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "folder.h"

static char folder[64];
static struct graft_generation_settings settings;
static struct graft_error error;

static int set_up(void **state) {
    (void)state;
    folder_create(folder);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    folder_remove(folder);
    return 0;
}

/* Reads with this generation_config.json (NULL: none) and this config.json. */
static int read_settings(const char *generation, const char *config) {
    graft_json *document = NULL;
    error = graft_error_none();
    if (generation != NULL) {
        folder_put(folder, "generation_config.json", generation, strlen(generation));
    }
    assert_int_equal(graft_json_parse(config, strlen(config), "config.json", &document, &error), GRAFT_OK);
    int status = graft_generation_settings_read(folder, document, &settings, &error);
    graft_json_free(document);
    assert_int_equal(status, error.code);
    return status;
}

static void test_defaults(void **state) {
    (void)state;
    assert_int_equal(read_settings(NULL, "{}"), GRAFT_OK);
    assert_int_equal(settings.n_eos, 0);
    assert_int_equal(settings.generation.max_new_tokens, 128);
    assert_int_equal(settings.generation.do_sample, 0);
}

static void test_end_of_sequence(void **state) {
    (void)state;
    assert_int_equal(read_settings(NULL, "{\"eos_token_id\": 7}"), GRAFT_OK);
    assert_int_equal(settings.n_eos, 1);
    assert_int_equal(settings.eos[0], 7);
    assert_int_equal(read_settings("{\"eos_token_id\": [3, 5]}", "{\"eos_token_id\": 7}"), GRAFT_OK);
    assert_int_equal(settings.n_eos, 2);
    assert_int_equal(settings.eos[0], 3);
    assert_int_equal(settings.eos[1], 5);
    assert_int_equal(read_settings("{\"eos_token_id\": null}", "{\"eos_token_id\": [7]}"), GRAFT_OK);
    assert_int_equal(settings.n_eos, 1);
    assert_int_equal(settings.eos[0], 7);
}

static void test_fields(void **state) {
    (void)state;
    assert_int_equal(read_settings("{\"max_new_tokens\": 9, \"do_sample\": true, \"temperature\": 0.5, \"top_k\": 0, "
                                   "\"top_p\": 0.9, \"repetition_penalty\": 1.1, \"unknown\": {}}",
                                   "{}"),
                     GRAFT_OK);
    assert_int_equal(settings.generation.max_new_tokens, 9);
    assert_int_equal(settings.generation.do_sample, 1);
    assert_true(settings.generation.temperature == 0.5 && settings.generation.top_p == 0.9);
    assert_int_equal(settings.generation.top_k, 0);
    assert_true(settings.generation.repetition_penalty == 1.1);
}

static void test_refusals(void **state) {
    static const char *const bad[][2] = {
        {"{\"eos_token_id\": -1}", "eos_token_id"},
        {"{\"eos_token_id\": \"</s>\"}", "eos_token_id"},
        {"{\"eos_token_id\": [1, 2.5]}", "eos_token_id"},
        {"{\"eos_token_id\": 4294967296}", "eos_token_id"},
        {"{\"max_new_tokens\": -1}", "max_new_tokens"},
        {"{\"max_new_tokens\": \"9\"}", "max_new_tokens"},
        {"{\"do_sample\": 1}", "do_sample"},
        {"{\"top_k\": -1}", "top_k"},
        {"[]", "object"},
        {"{", ""},
    };
    char many[400] = "{\"eos_token_id\": [0";
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(read_settings(bad[i][0], "{}"), GRAFT_ERROR_MODEL);
        assert_non_null(strstr(error.source, "generation_config.json"));
        assert_non_null(strstr(error.message, bad[i][1]));
    }
    for (int i = 0; i < 40; i++) {
        (void)strcat(many, ", 1");
    }
    assert_int_equal(read_settings(strcat(many, "]}"), "{}"), GRAFT_ERROR_MODEL);
    assert_int_equal(read_settings("{}", "{\"eos_token_id\": true}"), GRAFT_ERROR_MODEL);
    assert_non_null(strstr(error.source, "config.json"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_defaults, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_end_of_sequence, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_fields, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_refusals, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
