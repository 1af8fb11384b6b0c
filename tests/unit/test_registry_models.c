/* SPDX-License-Identifier: Apache-2.0 */
/* The effect of library calls on models, with the golden llama. */
#include "library_fixture.h"

#include <unistd.h>

#include "library/library.h"

static struct graft_library *library;
static struct graft_model *model;
static struct graft_error error;

static int set_up(void **state) {
    (void)state;
    library = new_library();
    model = NULL;
    error = graft_error_none();
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    graft_model_free(model);
    graft_library_free(library);
    return 0;
}

static int open_llama(void) {
    char path[512];
    graft_model_free(model);
    model = NULL;
    error = graft_error_none();
    return graft_model_open(library, llama_directory(path), NULL, &model, &error);
}

static const char *class_at(const char *path) {
    return graft_model_class_at(model, path);
}

static int has_note(const char *part) {
    for (size_t i = 0; graft_model_note(model, i) != NULL; i++) {
        if (strstr(graft_model_note(model, i), part) != NULL) {
            return 1;
        }
    }
    return 0;
}

static void test_snapshot(void **state) {
    (void)state;
    put(library, "MLP$", &first_mlp);
    assert_int_equal(open_llama(), GRAFT_OK);
    assert_int_equal(graft_library_clear(library, NULL), GRAFT_OK);
    assert_string_equal(class_at("model.layers.1.mlp"), "FirstMLP");
    assert_int_equal(graft_model_load(model, NULL), GRAFT_OK);
    assert_null(graft_model_note(model, 0));
    assert_int_equal(open_llama(), GRAFT_OK);
    assert_string_equal(class_at("model.layers.1.mlp"), "LlamaMLP");
}

static void test_exact_first(void **state) {
    (void)state;
    put(library, "MLP$", &first_mlp);
    put(library, "LlamaMLP", &second_mlp);
    assert_int_equal(open_llama(), GRAFT_OK);
    assert_string_equal(class_at("model.layers.0.mlp"), "SecondMLP");
    assert_true(has_note("key \"MLP$\" has no effect: earlier replacements of the same plugin take these modules"));
}

static void test_paths_and_types(void **state) {
    static const char *const others[] = {"qwen2_moe", NULL};
    const struct graft_patch patches[] = {
        {.struct_size = sizeof patches[0],
         .key = "LlamaMLP",
         .replacement = &first_mlp,
         .module_path = "layers\\.1\\."},
        {.struct_size = sizeof patches[0], .key = "Llama.*MLP", .replacement = &second_mlp, .model_types = others},
        {.struct_size = sizeof patches[0], .key = "Linear", .replacement = &my_linear, .module_path = "lm_head"},
    };
    (void)state;
    assert_int_equal(graft_library_register(library, patches, 3, 0, &error), GRAFT_OK);
    assert_int_equal(open_llama(), GRAFT_OK);
    assert_string_equal(class_at("model.layers.0.mlp"), "LlamaMLP");
    assert_string_equal(class_at("model.layers.1.mlp"), "FirstMLP");
    assert_string_equal(class_at("lm_head"), "MyLinear");
    assert_string_equal(class_at("model.layers.1.mlp.up_proj"), "Linear");
    assert_null(graft_model_note(model, 0));
}

static void test_interface_rule(void **state) {
    (void)state;
    put(library, "Llama", &first_mlp);
    assert_int_equal(open_llama(), GRAFT_ERROR_PLUGIN);
    assert_non_null(strstr(error.message, "pattern \"Llama\" for FirstMLP"));
    assert_string_equal(error.hint, "use the pattern \"^(LlamaMLP)$\"");
    /* An exact name wins over the pattern. */
    assert_int_equal(graft_library_clear(library, NULL), GRAFT_OK);
    put(library, "(MLP|^Linear)$", &first_mlp);
    put(library, "Linear", &my_linear);
    assert_int_equal(open_llama(), GRAFT_OK);
}

static void test_notes(void **state) {
    (void)state;
    put(library, "LlamaMPL", &first_mlp);
    put(library, "^Falcon", &first_mlp);
    put(library, "Llama(", &first_mlp);
    assert_int_equal(open_llama(), GRAFT_OK);
    assert_true(has_note("key \"LlamaMPL\" matches nothing in this model, and there is no class of that name; "
                         "did you mean LlamaMLP?"));
    assert_true(has_note("key \"^Falcon\" matches nothing in this model"));
    assert_true(has_note("key \"Llama(\" is treated as a plain name: invalid regular expression"));
}

static void test_group(void **state) {
    const struct graft_patch patches[] = {
        {.struct_size = sizeof patches[0], .key = "LlamaMLP", .replacement = &first_mlp, .group = "pair"},
        {.struct_size = sizeof patches[0],
         .key = "Linear",
         .replacement = &my_linear,
         .module_path = "nowhere",
         .group = "pair"},
    };
    (void)state;
    assert_int_equal(graft_library_register(library, patches, 2, 0, &error), GRAFT_OK);
    assert_int_equal(open_llama(), GRAFT_OK);
    assert_string_equal(class_at("model.layers.0.mlp"), "LlamaMLP");
    assert_true(has_note("group pair is left out: \"Linear\" matches nothing in this model"));
}

/* A model directory with config.json only. */
static void make_directory(char folder[64]) {
    char path[512], from[600], to[128], bytes[4096];
    (void)snprintf(folder, 64, "/tmp/graft_test_XXXXXX");
    assert_non_null(mkdtemp(folder));
    (void)snprintf(from, sizeof from, "%s/config.json", llama_directory(path));
    (void)snprintf(to, sizeof to, "%s/config.json", folder);
    FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
    assert_true(in != NULL && out != NULL);
    size_t length = fread(bytes, 1, sizeof bytes, in);
    assert_int_equal(fwrite(bytes, 1, length, out), length);
    (void)fclose(in);
    (void)fclose(out);
}

static void remove_directory(const char *folder) {
    char path[128];
    (void)snprintf(path, sizeof path, "%s/config.json", folder);
    (void)unlink(path);
    (void)rmdir(folder);
}

static void test_without_weights(void **state) {
    struct graft_model_options options = {.struct_size = sizeof options, .without_weights = 1};
    static const int32_t ids[] = {1, 2};
    const struct graft_prompt prompt = {.struct_size = sizeof prompt, .ids = ids, .count = 2};
    static float logits[2 * 583];
    char folder[64];
    (void)state;
    make_directory(folder);
    assert_int_equal(graft_model_open(library, folder, NULL, &model, &error), GRAFT_ERROR_MODEL);
    error = graft_error_none();
    assert_int_equal(graft_model_open(library, folder, &options, &model, &error), GRAFT_OK);
    assert_string_equal(class_at("model.layers.1.mlp"), "LlamaMLP");
    assert_int_equal(graft_model_load(model, &error), GRAFT_OK);
    assert_int_equal(graft_model_load(model, NULL), GRAFT_ERROR_USAGE);
    assert_int_equal(graft_model_logits(model, &prompt, 1, logits, &error), GRAFT_ERROR_USAGE);
    assert_string_equal(error.source, "model.embed_tokens.weight");
    assert_non_null(strstr(error.message, "has no value: the model is built from its config alone"));
    remove_directory(folder);
}

/* Classes with initial values, as large as the golden llama's. */
static int describe_initial(const struct graft_class *cls, const struct graft_config *config,
                            const struct graft_args *args, const struct graft_sink *sink, struct graft_error *failure) {
    struct graft_parameter_info info = {
        .struct_size = sizeof info, .name = "weight", .rank = 1, .init = GRAFT_INIT_ONES};
    (void)cls, (void)config, (void)args;
    for (int32_t i = 0; i < GRAFT_MAX_RANK; i++) {
        info.shape[i] = i == 0 ? 64 : 1;
    }
    return sink->parameter(sink->data, &info, failure);
}

static void test_initial_values(void **state) {
    struct graft_model_options options = {.struct_size = sizeof options, .without_weights = 1};
    const struct graft_class norm = {.struct_size = sizeof norm,
                                     .name = "InitialNorm",
                                     .interface_id = "graft.norm/1",
                                     .describe = describe_initial};
    char path[512];
    (void)state;
    put(library, "LlamaRMSNorm", &norm);
    assert_int_equal(graft_model_open(library, llama_directory(path), &options, &model, &error), GRAFT_OK);
    assert_int_equal(graft_model_load(model, &error), GRAFT_OK);
    const struct graft_node *node = graft_node_find(model->tree->root, "model.norm");
    const struct graft_weight *weight = graft_node_parameter(node, "weight")->weight;
    assert_int_equal(weight->rows, 64);
    assert_true(((const float *)weight->blocks[0].data)[63] == 1.0F);
    assert_int_equal(graft_checkpoint_count(model->checkpoint), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_snapshot, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_exact_first, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_paths_and_types, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_interface_rule, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_notes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_group, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_without_weights, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_initial_values, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
