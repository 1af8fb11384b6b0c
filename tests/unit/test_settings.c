/* SPDX-License-Identifier: Apache-2.0 */
/* generation_config.json, and fields of config.json for which it has none. */
#include "generate/generate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "config/model_file.h"
#include "folder.h"
#include "generate/fields.h"
#include "graft/host/generate.h"

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
    graft_generation_settings_finish(&settings);
    folder_remove(folder);
    return 0;
}

/* Reads with this generation_config.json (NULL: none) and this config.json. */
static int read_settings(const char *generation, const char *config) {
    struct graft_model_file *files[2] = {NULL, NULL};
    graft_generation_settings_finish(&settings);
    error = graft_error_none();
    if (generation != NULL) {
        folder_put(folder, "generation_config.json", generation, strlen(generation));
    }
    folder_put(folder, "config.json", config, strlen(config));
    int status = graft_model_file_read_if_there(folder, "generation_config.json", 1 << 20, NULL, &files[0], &error);
    assert_int_equal(graft_model_file_read(folder, "config.json", 1 << 20, NULL, &files[1], NULL), GRAFT_OK);
    if (status == GRAFT_OK) {
        status = graft_generation_settings_read(files[0] != NULL ? &files[0]->view : NULL, &files[1]->view, &settings,
                                                &error);
    }
    graft_model_file_free(files[0]);
    graft_model_file_free(files[1]);
    assert_int_equal(status, error.code);
    if (status != GRAFT_OK) {
        graft_generation_settings_finish(&settings);
    }
    return status;
}

static void test_defaults(void **state) {
    (void)state;
    assert_int_equal(read_settings(NULL, "{}"), GRAFT_OK);
    assert_int_equal((int)settings.eos.n, 0);
    assert_int_equal(settings.generation.max_new_tokens, 128);
    assert_int_equal(settings.generation.do_sample, 0);
}

static void test_end_of_sequence(void **state) {
    (void)state;
    assert_int_equal(read_settings(NULL, "{\"eos_token_id\": 7}"), GRAFT_OK);
    assert_int_equal((int)settings.eos.n, 1);
    assert_int_equal(settings.eos.ids[0], 7);
    assert_int_equal(read_settings("{\"eos_token_id\": [3, 5]}", "{\"eos_token_id\": 7}"), GRAFT_OK);
    assert_int_equal((int)settings.eos.n, 2);
    assert_int_equal(settings.eos.ids[0], 3);
    assert_int_equal(settings.eos.ids[1], 5);
    assert_int_equal(read_settings("{\"eos_token_id\": null}", "{\"eos_token_id\": [7]}"), GRAFT_OK);
    assert_int_equal((int)settings.eos.n, 1);
    assert_int_equal(settings.eos.ids[0], 7);
}

/* No token has a negative id: it means that nothing ends a text, whatever the other file or the other ids say. */
static void test_negative_ids(void **state) {
    (void)state;
    assert_int_equal(read_settings("{\"eos_token_id\": -1}", "{\"eos_token_id\": 7}"), GRAFT_OK);
    assert_int_equal((int)settings.eos.n, 0);
    assert_int_equal(read_settings("{\"eos_token_id\": [-1, 48]}", "{}"), GRAFT_OK);
    assert_int_equal((int)settings.eos.n, 1);
    assert_int_equal(settings.eos.ids[0], 48);
    assert_int_equal(read_settings("{}", "{\"eos_token_id\": -1, \"text_config\": {\"eos_token_id\": 7}}"), GRAFT_OK);
    assert_int_equal((int)settings.eos.n, 0);
    assert_int_equal(read_settings("{}", "{\"text_config\": {\"eos_token_id\": [7, -1]}}"), GRAFT_OK);
    assert_int_equal((int)settings.eos.n, 1);
    assert_int_equal(read_settings("{\"suppress_tokens\": [-1, 3]}", "{}"), GRAFT_OK);
    assert_int_equal((int)settings.generation.suppress_tokens.n, 1);
    assert_int_equal(settings.generation.suppress_tokens.ids[0], 3);
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

/* Fields that the reference ignores in this way of generating, and values that mean "off", are no errors. */
static void test_passed_over(void **state) {
    static const char *const good[] = {
        "{\"temperature\": 0.0, \"top_p\": -1, \"top_k\": -1, \"min_p\": 7, \"typical_p\": 0, \"top_h\": 0}",
        "{\"do_sample\": true, \"epsilon_cutoff\": 3, \"eta_cutoff\": -1, \"typical_p\": 1.5}",
        "{\"do_sample\": true, \"penalty_alpha\": 0.6}",
        "{\"num_beam_groups\": 2, \"low_memory\": true, \"diversity_penalty\": 1.5}",
        "{\"penalty_alpha\": null, \"watermarking_config\": null, \"max_time\": null, \"token_healing\": false}",
        "{\"min_length\": -1, \"min_new_tokens\": 0, \"no_repeat_ngram_size\": -2, \"num_beams\": 1}",
        "{\"cache_implementation\": \"static\", \"num_assistant_tokens\": 20, \"guidance_scale\": 1}",
    };
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        assert_int_equal(read_settings(good[i], "{}"), GRAFT_OK);
        assert_true(settings.generation.temperature == 1.0 && settings.generation.top_p == 1.0);
        assert_int_equal(settings.generation.top_k, 50);
        assert_true(settings.generation.min_p == 0.0 && settings.generation.typical_p == 0.0);
        assert_int_equal(settings.generation.min_length, 0);
        assert_int_equal(settings.generation.no_repeat_ngram_size, 0);
    }
}

static void test_lists(void **state) {
    (void)state;
    assert_int_equal(read_settings("{\"suppress_tokens\": [4, 5], \"forced_eos_token_id\": 7, \"bad_words_ids\": [[1], "
                                   "[2, 3]], \"sequence_bias\": [[[8, 9], -2]], \"stop_strings\": \"x\", "
                                   "\"exponential_decay_length_penalty\": [3, 1.5]}",
                                   "{}"),
                     GRAFT_OK);
    const struct graft_generation *generation = &settings.generation;
    assert_int_equal(generation->suppress_tokens.n, 2);
    assert_int_equal(generation->suppress_tokens.ids[1], 5);
    assert_int_equal(generation->forced_eos_token_id.ids[0], 7);
    assert_int_equal(generation->n_bad_words_ids, 2);
    assert_int_equal(generation->bad_words_ids[1].ids[1], 3);
    assert_int_equal(generation->n_sequence_bias, 1);
    assert_true(generation->sequence_bias[0].n == 2 && generation->sequence_bias[0].bias == -2.0);
    assert_string_equal(generation->stop_strings[0], "x");
    assert_int_equal(generation->exponential_decay_start, 3);
    assert_true(generation->exponential_decay_factor == 1.5);
}

/* Of two fields for a length, the one that counts new tokens is used. */
static void test_lengths(void **state) {
    (void)state;
    assert_int_equal(read_settings("{\"max_length\": 30, \"min_length\": 4}", "{}"), GRAFT_OK);
    assert_int_equal(settings.generation.max_new_tokens, -1);
    assert_int_equal(settings.generation.max_length, 30);
    assert_int_equal(settings.generation.min_length, 4);
    assert_int_equal(
        read_settings("{\"max_length\": 30, \"max_new_tokens\": 5, \"min_length\": 4, \"min_new_tokens\": 0}", "{}"),
        GRAFT_OK);
    assert_int_equal(settings.generation.max_new_tokens, 5);
    assert_int_equal(settings.generation.min_length, 0);
}

/* Without a generation_config.json the fields of config.json and its text_config are used. */
static void test_old_place(void **state) {
    static const char config[] =
        "{\"no_repeat_ngram_size\": 3, \"text_config\": {\"no_repeat_ngram_size\": 2, \"min_length\": 7}}";
    (void)state;
    assert_int_equal(read_settings(NULL, config), GRAFT_OK);
    assert_int_equal(settings.generation.no_repeat_ngram_size, 3);
    assert_int_equal(settings.generation.min_length, 7);
    assert_int_equal(read_settings("{}", config), GRAFT_OK);
    assert_int_equal(settings.generation.no_repeat_ngram_size, 0);
}

static void test_refusals(void **state) {
    static const char *const bad[][2] = {
        {"{\"eos_token_id\": \"</s>\"}", "eos_token_id"},
        {"{\"eos_token_id\": [1, 2.5]}", "eos_token_id"},
        {"{\"eos_token_id\": 4294967296}", "eos_token_id"},
        {"{\"max_new_tokens\": -1}", "max_new_tokens"},
        {"{\"max_new_tokens\": \"9\"}", "max_new_tokens"},
        {"{\"do_sample\": 1}", "do_sample"},
        {"{\"do_sample\": true, \"top_k\": -1}", "top_k"},
        {"{\"do_sample\": true, \"temperature\": 0.0}", "temperature"},
        {"{\"do_sample\": true, \"min_p\": 1.5}", "min_p"},
        {"{\"do_sample\": true, \"typical_p\": 0}", "typical_p"},
        {"{\"do_sample\": true, \"top_h\": 0}", "top_h"},
        {"{\"max_length\": 0}", "max_length"},
        {"{\"min_length\": \"9\"}", "min_length"},
        {"{\"suppress_tokens\": 5}", "suppress_tokens"},
        {"{\"suppress_tokens\": [5, \"a\"]}", "suppress_tokens.1"},
        {"{\"bad_words_ids\": [5]}", "bad_words_ids.0"},
        {"{\"bad_words_ids\": [[1], []]}", "bad_words_ids.1"},
        {"{\"sequence_bias\": [[[5]]]}", "sequence_bias.0"},
        {"{\"sequence_bias\": [[[5], null]]}", "sequence_bias.0.1"},
        {"{\"sequence_bias\": {\"5\": 1.0}}", "sequence_bias"},
        {"{\"forced_bos_token_id\": [5]}", "forced_bos_token_id"},
        {"{\"exponential_decay_length_penalty\": [5]}", "exponential_decay_length_penalty"},
        {"{\"encoder_repetition_penalty\": 0}", "encoder_repetition_penalty"},
        {"{\"stop_strings\": [\"\"]}", "stop_strings.0"},
        {"{\"stop_strings\": 5}", "stop_strings"},
        {"{\"num_beams\": 0}", "num_beams"},
        {"{\"early_stopping\": \"always\"}", "early_stopping"},
        {"{\"guidance_scale\": 0}", "guidance_scale"},
        {"{\"guidance_scale\": 2.0, \"num_beams\": 2}", "guidance_scale"},
        {"{\"watermarking_config\": {}}", "watermarking_config"},
        {"{\"penalty_alpha\": 0.6}", "penalty_alpha"},
        {"{\"num_beams\": 4, \"num_beam_groups\": 2}", "num_beam_groups"},
        {"{\"dola_layers\": \"high\"}", "dola_layers"},
        {"{\"force_words_ids\": [[1]]}", "force_words_ids"},
        {"{\"constraints\": []}", "constraints"},
        {"{\"token_healing\": true}", "token_healing"},
        {"{\"max_time\": 2.5}", "max_time"},
        {"{\"custom_generate\": \"x/y\"}", "custom_generate"},
        {"{\"assistant_early_exit\": 3}", "assistant_early_exit"},
        {"{\"cache_implementation\": \"quantized\"}", "cache_implementation"},
        {"[]", "object"},
        {"{", ""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(read_settings(bad[i][0], "{}"), GRAFT_ERROR_MODEL);
        assert_non_null(strstr(error.source, "generation_config.json"));
        assert_non_null(strstr(error.message, bad[i][1]));
    }
    assert_int_equal(read_settings("{}", "{\"eos_token_id\": true}"), GRAFT_ERROR_MODEL);
    assert_string_equal(error.source, folder_path(folder, "config.json"));
    assert_string_equal(error.message, "eos_token_id: expected the id of a token, an integer, got a boolean (true)");
}

/* The public function reads the same fields from a text, and also refuses those that nothing reads. */
static void test_text(void **state) {
    static const char *const bad[][2] = {
        {"{\"temperature\": \"hot\", \"do_sample\": true}", "temperature: "},
        {"{\"num_beams\": 0}", "num_beams: "},
        {"{\"no_such_field\": 1}", "no_such_field: is no field that is read here"},
        {"{\"cache_implementation\": \"quantized\"}", "cache_implementation: "},
        {"[]", "object"},
        {"{", ""},
        {"", ""},
    };
    static const char good[] = "{\"top_k\": 7, \"no_such_field\": null, \"_from_model_config\": true}";
    struct graft_generation generation = graft_generation_default();
    struct graft_generation_fields *fields = NULL;
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        error = graft_error_none();
        fields = (struct graft_generation_fields *)&generation; /* not NULL before */
        assert_int_equal(graft_generation_read(bad[i][0], strlen(bad[i][0]), "a text", &generation, &fields, &error),
                         GRAFT_ERROR_USAGE);
        assert_int_equal(error.code, GRAFT_ERROR_USAGE);
        assert_string_equal(error.source, "a text");
        assert_non_null(strstr(error.message, bad[i][1]));
        assert_null(fields);
    }
    error = graft_error_none();
    assert_int_equal(graft_generation_read(good, sizeof good - 1, "a text", &generation, &fields, &error), GRAFT_OK);
    assert_int_equal(generation.top_k, 7);
    graft_generation_fields_free(fields);
    generation.struct_size = 4;
    assert_int_equal(graft_generation_read("{}", 2, "a text", &generation, &fields, &error), GRAFT_ERROR_USAGE);
    assert_null(fields);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_defaults, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_end_of_sequence, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_negative_ids, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_fields, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_passed_over, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_lists, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_lengths, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_old_place, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_refusals, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_text, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
