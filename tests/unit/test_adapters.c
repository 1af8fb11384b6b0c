/* SPDX-License-Identifier: Apache-2.0 */
/* Adapters as additional sources of tensors: names of their tensors, and their configs beside config.json. */
#include "weights/adapters.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "config/config.h"
#include "tensor_file.h"

#define A "model.layers.1.q_proj.lora_A.weight"
#define FILE_NAME "adapter_model.safetensors"

static char folder[64];

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

/* An adapter with one tensor [2, 1] U8 for each name. */
static void put(const char *first, const char *second) {
    char header[512];
    (void)snprintf(header, sizeof header,
                   "{\"%s\":{\"dtype\":\"U8\",\"shape\":[2,1],\"data_offsets\":[0,2]},"
                   "\"%s\":{\"dtype\":\"U8\",\"shape\":[2,1],\"data_offsets\":[2,4]}}",
                   first, second);
    tensor_file_put(folder, FILE_NAME, header, 4);
}

static void put_text(const char *name, const char *text) {
    folder_put(folder, name, text, strlen(text));
}

static void refused(struct graft_adapters *adapters, const char *name, int status, const char *words) {
    struct graft_error error = graft_error_none();
    assert_int_equal(graft_adapters_add(adapters, name, folder, 1.0, &error), status);
    if (strstr(error.message, words) == NULL) {
        fail_msg("%s: %s lacks %s", error.source, error.message, words);
    }
}

/* Two adapters with the same files: each has its own names, without PEFT's prefix. */
static void test_names(void **state) {
    struct graft_adapters adapters = {0};
    char spelled[GRAFT_ADAPTER_TENSOR_NAME];
    size_t number = 0;
    (void)state;
    put("base_model.model." A, "lm_head.weight");
    assert_int_equal(graft_adapters_add(&adapters, "one", folder, 1.0, NULL), GRAFT_OK);
    assert_int_equal(graft_adapters_add(&adapters, "two-2", folder, 0.5, NULL), GRAFT_OK);
    assert_int_equal(graft_adapters_count(&adapters), 4);
    assert_true(graft_adapters_spell(&adapters, "model.layers.1.q_proj.adapter.two-2.lora_A.weight", spelled));
    assert_string_equal(spelled, "adapter.two-2." A);
    const struct graft_tensor_view *tensor = graft_adapters_find(&adapters, spelled, &number);
    assert_non_null(tensor);
    assert_int_equal(number, 3);
    assert_string_equal(tensor->name, spelled);
    assert_int_equal(tensor->shape[0], 2);
    assert_null(graft_adapters_find(&adapters, A, NULL));
    assert_false(graft_adapters_spell(&adapters, "x.adapter.three.weight", spelled));
    assert_false(graft_adapters_spell(&adapters, "x.adapter.one", spelled));
    graft_adapters_finish(&adapters);
}

static void test_refused(void **state) {
    struct graft_adapters adapters = {0};
    (void)state;
    refused(&adapters, "a", GRAFT_ERROR_MODEL, "expected " FILE_NAME);
    graft_adapters_finish(&adapters);
    put("base_model.model." A, A);
    refused(&adapters, "a", GRAFT_ERROR_MODEL, "there twice");
    graft_adapters_finish(&adapters);
    put(A, "lm_head.weight");
    refused(&adapters, "", GRAFT_ERROR_USAGE, "not a valid name");
    refused(&adapters, "a.b", GRAFT_ERROR_USAGE, "not a valid name");
    refused(&adapters, "__base__", GRAFT_ERROR_USAGE, "not a valid name");
    assert_int_equal(graft_adapters_add(&adapters, "a", folder, 1.0, NULL), GRAFT_OK);
    refused(&adapters, "a", GRAFT_ERROR_USAGE, "two adapters");
    graft_adapters_finish(&adapters);
}

/* Each failed allocation is reported, and nothing leaks. */
static void test_memory(void **state) {
    (void)state;
    put(A, "lm_head.weight");
    for (long n = 1, left = 0; left == 0; n++) {
        struct graft_adapters adapters = {0};
        (void)graft_alloc_fail_at(n);
        int status = graft_adapters_add(&adapters, "a", folder, 1.0, NULL);
        left = graft_alloc_fail_at(0);
        assert_int_equal(status, left == 0 ? GRAFT_ERROR_INTERNAL : GRAFT_OK);
        graft_adapters_finish(&adapters);
    }
}

static struct graft_model_config *read_config(const char *text) {
    struct graft_model_config *config = NULL;
    put_text("config.json", text);
    assert_int_equal(graft_model_config_read(folder, NULL, &config, NULL), GRAFT_OK);
    return config;
}

static void test_config(void **state) {
    struct graft_model_config *config = read_config("{\"model_type\":\"x\"}");
    const struct graft_config *view = &config->view;
    (void)state;
    put_text("adapter_config.json", "{\"r\":8,\"alpha_pattern\":{\"layers\\\\.0\\\\..*\":3,\"b\":4}}");
    assert_int_equal(graft_model_config_add_adapter(config, "one", folder, 0.5, NULL, NULL), GRAFT_OK);
    assert_int_equal(graft_model_config_add_adapter(config, "two", folder, 2.0, NULL, NULL), GRAFT_OK);
    assert_int_equal(view->size(view->data, "adapters"), 2);
    assert_string_equal(view->string(view->data, "adapters.1.name"), "two");
    assert_true(view->real(view->data, "adapters.0.scale") == 0.5);
    assert_int_equal(view->integer(view->data, "adapter.two.r"), 8);
    assert_string_equal(view->key(view->data, "adapter.one.alpha_pattern", 0), "layers\\.0\\..*");
    assert_null(view->key(view->data, "adapter.one.alpha_pattern", 2));
    assert_null(view->key(view->data, "adapter.one.alpha_pattern", -1));
    assert_null(view->key(view->data, "adapters", 0));
    assert_int_equal(view->integer(view->data, "adapter.one.alpha_pattern.#1"), 4);
    assert_int_equal(view->kind(view->data, "adapter.one.alpha_pattern.#2"), GRAFT_FIELD_ABSENT);
    graft_model_config_free(config);
}

static void test_config_refused(void **state) {
    static const struct {
        const char *config;
        const char *adapter;
        const char *words;
    } cases[] = {
        {"{\"model_type\":\"x\"}", "[]", "expected an object"},
        {"{\"model_type\":\"x\"}", "{\"a\":\"\\u0000\"}", "NUL"},
        {"{\"model_type\":\"x\",\"adapters\":1}", "{}", "adapters: a field of this name"},
        {"{\"model_type\":\"x\",\"adapter\":1}", "{}", "adapter: a field of this name"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct graft_error error = graft_error_none();
        struct graft_model_config *config = read_config(cases[i].config);
        put_text("adapter_config.json", cases[i].adapter);
        assert_int_equal(graft_model_config_add_adapter(config, "a", folder, 1.0, NULL, &error), GRAFT_ERROR_MODEL);
        assert_non_null(strstr(error.message, cases[i].words));
        graft_model_config_free(config);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_names, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_memory, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_config, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_config_refused, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
