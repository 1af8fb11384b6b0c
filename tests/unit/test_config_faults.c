/* SPDX-License-Identifier: Apache-2.0 */
/* Fields of config.json with invalid values, and the messages about them. */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/text.h"
#include "config/config.h"
#include "folder.h"
#include "library_fixture.h"

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

/* The config.json of a golden, with `old` replaced by `new`. */
static void write_config(const char *golden, const char *old, const char *new) {
    char *text = NULL;
    size_t length = 0;
    char *path = graft_format("%s/goldens/%s/config.json", getenv("GRAFT_TEST_DATA"), golden);
    assert_int_equal(graft_file_read(path, 1 << 20, GRAFT_ERROR_MODEL, &text, &length, NULL), GRAFT_OK);
    const char *at = strstr(text, old);
    if (at == NULL) {
        fail_msg("%s is not in %s", old, path);
    }
    char *changed = graft_format("%.*s%s%s", (int)(at - text), text, new, at + strlen(old));
    folder_put(folder, "config.json", changed, strlen(changed));
    graft_free(changed);
    graft_free(text);
    graft_free(path);
}

/* Opens the directory without weights. */
static int open_model(struct graft_error *error) {
    const struct graft_model_options options = {.struct_size = sizeof options, .without_weights = 1};
    struct graft_library *library = new_library();
    struct graft_model *model = NULL;
    int status = graft_model_open(library, folder, &options, &model, error);
    graft_model_free(model);
    graft_library_free(library);
    return status;
}

static void refused(const char *golden, const char *old, const char *new, const char *words) {
    struct graft_error error = graft_error_none();
    write_config(golden, old, old);
    if (open_model(&error) != GRAFT_OK) {
        fail_msg("%s, unchanged: %s: %s", golden, error.source, error.message);
    }
    write_config(golden, old, new);
    if (open_model(&error) != GRAFT_ERROR_MODEL) {
        fail_msg("%s with %s: not refused", golden, new);
    }
    assert_string_equal(error.message, words);
    assert_non_null(strstr(error.source, "/config.json"));
}

static void test_architectures(void **state) {
    static const char name[] = "\"LlamaForCausalLM\"";
    struct graft_error error = graft_error_none();
    (void)state;
    refused("plain/llama", name, "null", "architectures.0: expected a string, got null");
    refused("plain/llama", name, "\"LlamaForCausalLM\", null", "architectures.1: expected a string, got null");
    refused("plain/llama", name, "\"LlamaForCausalLM\", [1]", "architectures.1: expected a string, got an array");
    write_config("plain/llama", name, "");
    assert_int_equal(open_model(&error), GRAFT_OK); /* that of the model type */
}

static void test_null(void **state) {
    (void)state;
    refused("plain/llama", "\"hidden_act\": \"silu\"", "\"hidden_act\": null",
            "hidden_act: expected a string, got null");
    refused("plain/llama", "\"rms_norm_eps\": 1", "\"rms_norm_eps\": null, \"_\": 1",
            "rms_norm_eps: expected a number, got null");
    refused("encoders/bert_mlm", "\"hidden_act\": \"gelu\"", "\"hidden_act\": null",
            "hidden_act: expected a string, got null");
    refused("encoders/bert_mlm", "\"layer_norm_eps\": 1", "\"layer_norm_eps\": null, \"_\": 1",
            "layer_norm_eps: expected a number, got null");
    refused("vision/qwen2_vl_two_images", "\"hidden_act\": \"quick_gelu\"", "\"hidden_act\": null",
            "hidden_act: expected a string, got null");
}

static void test_windows(void **state) {
    static const char model[] = "plain/qwen2_layer_types";
    static const char types[] = "\"layer_types\": [", window[] = "\"sliding_window\": 8";
    (void)state;
    refused(model, types, "\"layer_types\": 3, \"_\": [", "layer_types: expected an array, got an integer (3)");
    refused(model, types, "\"layer_types\": [\"full_attention\"], \"_\": [",
            "layer_types: expected num_hidden_layers (3) entries, got 1");
    refused(model, types, "\"layer_types\": [\"full_attention\", null, \"full_attention\"], \"_\": [",
            "layer_types.1: expected a string, got null");
    refused(model, types, "\"layer_types\": [\"full_attention\", \"full_attention\", \"\"], \"_\": [",
            "layer_types.2: expected \"full_attention\" or \"sliding_attention\", got \"\"");
    refused(model, "\"use_sliding_window\": true", "\"use_sliding_window\": false",
            "layer_types.0: \"sliding_attention\" needs a window, but sliding_window is null or not used");
    refused(model, window, "\"sliding_window\": null",
            "layer_types.0: \"sliding_attention\" needs a window, but sliding_window is null or not used");
    refused(model, window, "\"sliding_window\": 0", "sliding_window: expected 1 to 1073741824, got 0");
    refused("plain/mistral_sliding", window, "\"sliding_window\": 0",
            "sliding_window: expected 1 to 1073741824, got 0");
}

/* The message is the same for any weights, wherever the field is. */
static void test_quantization(void **state) {
    static const char first[] = "\"attention_bias\":";
    struct graft_error error = graft_error_none();
    (void)state;
    refused("plain/llama", first,
            "\"quantization_config\": {\"quant_method\": \"gptq\", \"bits\": 4}, \"attention_bias\":",
            "quantization_config: no plugin here reads weights of quant_method \"gptq\"");
    refused("plain/llama", first, "\"quantization_config\": {\"bits\": 4}, \"attention_bias\":",
            "quantization_config.quant_method: missing, expected a string");
    refused("plain/llama", first, "\"quantization_config\": {\"quant_method\": 4}, \"attention_bias\":",
            "quantization_config.quant_method: expected a string, got an integer (4)");
    refused("plain/llama", first, "\"quantization_config\": \"gptq\", \"attention_bias\":",
            "quantization_config: expected an object, got a string (\"gptq\")");
    refused("plain/llama", first, "\"quantization_config\": {\"quant_method\": \"a\\nb\"}, \"attention_bias\":",
            "quantization_config: no plugin here reads weights of quant_method \"a?b\"");
    refused("vision/qwen2_vl_v5_tied", "\"text_config\": {",
            "\"text_config\": {\"quantization_config\": {\"quant_method\": \"fp8\"},",
            "text_config.quantization_config: no plugin here reads weights of quant_method \"fp8\"");
    refused("vision/qwen2_vl_v5_tied", "\"vision_config\": {",
            "\"vision_config\": {\"quantization_config\": {\"quant_method\": \"fp8\"},",
            "vision_config.quantization_config: no plugin here reads weights of quant_method \"fp8\"");
    write_config("plain/llama", first, "\"quantization_config\": null, \"attention_bias\":");
    assert_int_equal(open_model(&error), GRAFT_OK);
}

static int32_t kind_of(const void *data, const char *path) {
    (void)path;
    return *(const int32_t *)data;
}

static const char *same_of(const void *data, const char *path) {
    (void)data;
    return path;
}

/* A host may know kinds for which a plugin's headers have no name. */
static void test_unknown_kinds(void **state) {
    static const struct {
        int32_t kind;
        const char *message;
    } cases[] = {{GRAFT_FIELD_NULL, "size: expected an integer, got null"},
                 {GRAFT_FIELD_NULL + 1, "size: expected an integer, got another kind"},
                 {INT32_MAX, "size: expected an integer, got another kind"},
                 {-1, "size: expected an integer, got another kind"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct graft_config config = {.struct_size = sizeof config,
                                            .file = "config.json",
                                            .data = &cases[i].kind,
                                            .kind = kind_of,
                                            .spelling = same_of};
        struct graft_error error = graft_error_none();
        assert_int_equal(graft_config_expected(&config, "size", "an integer", &error), GRAFT_ERROR_MODEL);
        assert_string_equal(error.message, cases[i].message);
    }
}

#define WITH_FOLDER(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        WITH_FOLDER(test_architectures),
        WITH_FOLDER(test_null),
        WITH_FOLDER(test_windows),
        WITH_FOLDER(test_quantization),
        cmocka_unit_test(test_unknown_kinds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
