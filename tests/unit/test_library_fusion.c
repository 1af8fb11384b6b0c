/* SPDX-License-Identifier: Apache-2.0 */
/* Fusion families by public calls: one that the program registers, requested by an option. */
#define _XOPEN_SOURCE 700 /* for mkdtemp */
#include "library_fixture.h"

#include <sys/stat.h>

#include "graft/fusion.h"
#include "graft/host/model.h"

/* Fuses the gate of the first layer; the fused class calls the Linear that it replaces. */
static int is_fusable(const struct graft_fusion_family *self, const struct graft_module_info *module,
                      const struct graft_config *options, struct graft_fusion_verdict *verdict,
                      struct graft_error *error) {
    (void)self, (void)options, (void)error;
    return graft_fusion_decide(verdict, strcmp(module->interface_id, GRAFT_INTERFACE_LINEAR) == 0, "it is a Linear");
}

static const struct graft_class *make_fused_class(const struct graft_fusion_family *self,
                                                  const struct graft_module_info *module,
                                                  const struct graft_config *options,
                                                  const struct graft_fusion_sink *sink, struct graft_error *error) {
    (void)self, (void)module, (void)options, (void)sink, (void)error;
    return &my_linear;
}

static int make_transforms(const struct graft_fusion_family *self, const struct graft_config *config,
                           const struct graft_module_info *module, const struct graft_config *options,
                           const struct graft_fusion_sink *sink, struct graft_error *error) {
    (void)self, (void)config, (void)module, (void)options, (void)sink, (void)error;
    return GRAFT_OK;
}

static const char *const patterns[] = {"\\.0\\..*gate_proj$", NULL};
static const struct graft_fusion_family family = {
    .struct_size = sizeof family,
    .name = "gates",
    .description = "The first layer's gate",
    .target_modules_patterns = patterns,
    .is_fusable = is_fusable,
    .make_fused_class = make_fused_class,
    .make_transforms = make_transforms,
};

static int open_with(struct graft_library *library, const char *fusion_config, struct graft_model **model,
                     struct graft_error *error) {
    char path[512];
    const struct graft_model_options options = {
        .struct_size = sizeof options, .precision = GRAFT_PRECISION_FLOAT32, .fusion_config = fusion_config};
    *error = graft_error_none();
    return graft_model_open(library, llama_directory(path), &options, model, error);
}

static void test_asked_for(void **state) {
    static const int32_t ids[] = {3, 14, 15};
    const struct graft_prompt prompt = {.struct_size = sizeof prompt, .ids = ids, .count = 3};
    struct graft_library *library = new_library();
    struct graft_error error = graft_error_none();
    struct graft_model *models[2] = {NULL, NULL};
    static float logits[2][3 * 4096];
    (void)state;
    assert_int_equal(graft_library_add_fusion(library, &family, &error), GRAFT_OK);
    assert_int_equal(graft_library_add_fusion(library, &family, &error), GRAFT_OK);
    assert_int_equal(open_with(library, "{\"gates\": true}", &models[0], &error), GRAFT_OK);
    assert_int_equal(open_with(library, NULL, &models[1], &error), GRAFT_OK);
    assert_string_equal(graft_model_class_at(models[0], "model.layers.0.mlp.gate_proj"), "MyLinear");
    assert_string_equal(graft_model_class_at(models[0], "model.layers.1.mlp.gate_proj"), "Linear");
    assert_string_equal(graft_model_class_at(models[1], "model.layers.0.mlp.gate_proj"), "Linear");
    assert_in_range(graft_model_vocab_size(models[0]), 1, 4096);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(graft_model_load(models[i], &error), GRAFT_OK);
        assert_int_equal(graft_model_logits(models[i], &prompt, 1, logits[i], &error), GRAFT_OK);
        graft_model_free(models[i]);
    }
    assert_memory_equal(logits[0], logits[1], sizeof logits[0]);
    graft_library_free(library);
}

static void test_refused(void **state) {
    static const char *const cases[][2] = {
        {"{\"gates\": ", "fusion_config: not valid JSON"},
        {"true", "fusion_config: expected an object of fusion families, got true or false"},
        {"{\"gate\": true}", "fusion_config: there is no fusion family \"gate\"; known: gates"},
        {"{\"gates\": 0}", "fusion_config.gates: expected true, false or an object of options, got an integer"},
        {"{\"gates\": true, \"gates\": false}", "duplicate"},
    };
    struct graft_fusion_family broken = family;
    struct graft_library *library = new_library();
    struct graft_model *model = NULL;
    struct graft_error error = graft_error_none();
    (void)state;
    assert_int_equal(graft_library_add_fusion(library, &family, &error), GRAFT_OK);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(open_with(library, cases[i][0], &model, &error), GRAFT_ERROR_USAGE);
        assert_null(model);
        if (strstr(error.message, cases[i][1]) == NULL) {
            fail_msg("expected \"%s\", got \"%s\"", cases[i][1], error.message);
        }
    }
    error = graft_error_none();
    assert_int_equal(graft_library_add_fusion(library, NULL, &error), GRAFT_ERROR_USAGE);
    broken.is_fusable = NULL;
    error = graft_error_none();
    assert_int_equal(graft_library_add_fusion(library, &broken, &error), GRAFT_ERROR_USAGE);
    assert_non_null(strstr(error.message, "is_fusable: expected a function, got NULL"));
    graft_library_free(library);
}

static long size_of(const char *path) {
    struct stat status;
    return stat(path, &status) == 0 ? (long)status.st_size : -1;
}

/* A fusion registered for a model type: models are fused without a request, by the list and by the class, and saving
 * gives the convolution. */
static void test_registered(void **state) {
    char model_path[512], plugins[512], output[600], folder[] = "/tmp/graft-fusion-XXXXXX";
    const char *directories[] = {plugins};
    struct graft_library *library = new_library();
    struct graft_error error = graft_error_none();
    struct graft_model *model = NULL;
    (void)state;
    (void)snprintf(model_path, sizeof model_path, "%s/vision/qwen2_vl_two_images", getenv("GRAFT_TEST_GOLDENS"));
    (void)snprintf(plugins, sizeof plugins, "%s/patch_embed_linear", getenv("GRAFT_PLUGINS"));
    assert_non_null(mkdtemp(folder));
    (void)snprintf(output, sizeof output, "%s/saved", folder);
    assert_int_equal(graft_library_load_plugins(library, directories, 1, NULL, &error), GRAFT_OK);
    for (int i = 0; i < 2; i++) { /* twice is once */
        assert_int_equal(graft_library_register_fusion(library, model_path, "{\"patch_embeddings\": true}", &error),
                         GRAFT_OK);
    }
    assert_int_equal(graft_library_register_fusion(library, model_path, "{\"other\": true}", &error),
                     GRAFT_ERROR_USAGE);
    error = graft_error_none();
    assert_int_equal(graft_model_open(library, model_path, NULL, &model, &error), GRAFT_OK);
    assert_string_equal(graft_model_class_at(model, "model.visual.patch_embed"), "FusedPatchEmbed");
    assert_int_equal(graft_model_load(model, &error), GRAFT_OK);
    assert_int_equal(graft_model_save(model, output, NULL, &error), GRAFT_OK);
    char *paths[] = {model_path, output};
    for (int i = 0; i < 2; i++) {
        (void)strcat(paths[i], "/model.safetensors");
    }
    assert_int_equal(size_of(model_path), size_of(output));
    FILE *files[] = {fopen(model_path, "rb"), fopen(output, "rb")};
    for (int c = 0; c != EOF;) {
        c = fgetc(files[0]);
        assert_int_equal(c, fgetc(files[1]));
    }
    (void)fclose(files[0]);
    (void)fclose(files[1]);
    graft_model_free(model);
    graft_library_free(library);
    (void)snprintf(plugins, sizeof plugins, "rm -r %s", folder);
    assert_int_equal(system(plugins), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_asked_for),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_registered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
