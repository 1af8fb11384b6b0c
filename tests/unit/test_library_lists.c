/* SPDX-License-Identifier: Apache-2.0 */
/* Model-wide lists of transforms by calls: registered lists, the models that they apply to, and saving in the original
 * layout. */
#include "graft/host/model.h"
#include "patched_llama.h"

static const char *const old_prefix[] = {"^transformer\\."}, *const new_prefix[] = {"model."};
static const char *const nowhere[] = {"elsewhere."}, *const nothing[] = {"^nothing"};

#define RENAME(sources, targets)                                                               \
    {                                                                                          \
        .struct_size = sizeof(struct graft_weight_transform), .kind = GRAFT_TRANSFORM_RENAME,  \
        .source_patterns = sources, .target_patterns = targets, .n_sources = 1, .n_targets = 1 \
    }

static const struct graft_weight_transform wanted = RENAME(old_prefix, new_prefix);
static const struct graft_weight_transform astray = RENAME(old_prefix, nowhere);
static const struct graft_weight_transform idle = RENAME(nothing, nowhere);

static void check(int status, const struct graft_error *error) {
    if (status != GRAFT_OK) {
        fail_msg("%s: %s", error->source, error->message);
    }
}

static struct graft_model *open_model(struct graft_library *library, const char *folder) {
    struct graft_error error = graft_error_none();
    struct graft_model *model = NULL;
    check(graft_model_open(library, folder, NULL, &model, &error), &error);
    return model;
}

static void test_register(void **state) {
    struct graft_library *library = new_library();
    struct graft_weight_transform *copy = NULL;
    struct graft_error error = graft_error_none();
    size_t n = 7;
    (void)state;
    check(graft_library_conversions(library, "llama", &copy, &n, &error), &error);
    assert_null(copy);
    assert_int_equal(n, 0);
    check(graft_library_register_conversions(library, "llama", &wanted, 1, 0, &error), &error);
    assert_int_equal(graft_library_register_conversions(library, "llama", &idle, 1, 0, &error), GRAFT_ERROR_USAGE);
    assert_non_null(strstr(error.message, "already"));
    error = graft_error_none();
    check(graft_library_conversions(library, "llama", &copy, &n, &error), &error);
    assert_int_equal(n, 1);
    assert_string_equal(copy[0].source_patterns[0], old_prefix[0]);
    assert_ptr_not_equal(copy[0].source_patterns, wanted.source_patterns);
    graft_transforms_free(copy);
    check(graft_library_register_conversions(library, "llama", NULL, 0, 1, &error), &error);
    check(graft_library_conversions(library, "llama", &copy, &n, &error), &error);
    assert_non_null(copy);
    assert_int_equal(n, 0);
    graft_transforms_free(copy);
    graft_library_free(library);
}

static void test_refused(void **state) {
    static const char *const group[] = {"(a|b)"}, *const other[] = {"(c|d)"}, *const open[] = {"("};
    static const char *const two[] = {"(a|b)", "(c|d)"};
    const struct graft_weight_transform bad[] = {
        {.struct_size = sizeof bad[0], .kind = GRAFT_TRANSFORM_PREFIX_CHANGE},
        {.struct_size = sizeof bad[0], .kind = 9},
        {.struct_size = 8, .kind = GRAFT_TRANSFORM_RENAME},
        RENAME(open, group),
        {.struct_size = sizeof bad[0], .kind = GRAFT_TRANSFORM_RENAME},
        {.struct_size = sizeof bad[0],
         .kind = GRAFT_TRANSFORM_CONVERTER,
         .source_patterns = group,
         .target_patterns = other,
         .n_sources = 1,
         .n_targets = 1},
        {.struct_size = sizeof bad[0],
         .kind = GRAFT_TRANSFORM_RENAME,
         .source_patterns = group,
         .target_patterns = two,
         .n_sources = 1,
         .n_targets = 2},
        {.struct_size = sizeof bad[0],
         .kind = GRAFT_TRANSFORM_GROUP_RENAME,
         .source_patterns = two,
         .target_patterns = group,
         .n_sources = 2,
         .n_targets = 1},
    };
    struct graft_library *library = new_library();
    struct graft_weight_transform *copy = NULL;
    size_t n;
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct graft_error error = graft_error_none();
        const struct graft_weight_transform both[] = {wanted, bad[i]};
        assert_int_equal(graft_library_register_conversions(library, "llama", both, 2, 0, &error), GRAFT_ERROR_USAGE);
        assert_int_equal(error.code, GRAFT_ERROR_USAGE);
        assert_string_equal(error.source,
                            bad[i].struct_size == sizeof wanted ? "llama[1]" : "struct graft_weight_transform");
    }
    assert_int_equal(graft_library_conversions(library, "llama", &copy, &n, NULL), GRAFT_OK);
    assert_null(copy);
    graft_library_free(library);
}

/* The class's list comes before the type's; each leads from other names to the same model, and saving restores these
 * names. */
static void test_names(void **state) {
    static float golden[PATCHED_LLAMA_TOKENS * PATCHED_LLAMA_VOCABULARY],
        logits[PATCHED_LLAMA_TOKENS * PATCHED_LLAMA_VOCABULARY];
    static const struct graft_save_options saving = {.struct_size = sizeof saving};
    static const char *const names[] = {"llama", "LlamaForCausalLM"};
    struct graft_error error = graft_error_none();
    char folder[64], saved[128], path[512];
    (void)state;
    folder_create(folder);
    patched_llama_write(folder, "model.", "transformer.");
    for (int i = 0; i < 2; i++) {
        struct graft_library *library = new_library();
        struct graft_model *model = open_model(library, llama_directory(path));
        patched_llama_run(model, golden);
        graft_model_free(model);
        model = open_model(library, folder);
        assert_int_equal(graft_model_load(model, &error), GRAFT_ERROR_MODEL);
        error = graft_error_none();
        graft_model_free(model);
        check(graft_library_register_conversions(library, names[i], &wanted, 1, 0, &error), &error);
        if (i == 1) {
            check(graft_library_register_conversions(library, "llama", &astray, 1, 0, &error), &error);
        }
        model = open_model(library, folder);
        check(graft_library_register_conversions(library, names[i], &idle, 1, 1, &error), &error);
        patched_llama_run(model, logits);
        assert_memory_equal(logits, golden, sizeof golden);
        (void)snprintf(saved, sizeof saved, "%s/saved%d", folder, i);
        check(graft_model_save(model, saved, &saving, &error), &error);
        assert_true(
            patched_llama_same(folder_path(folder, "model.safetensors"), folder_path(saved, "model.safetensors")));
        graft_model_free(model);
        graft_library_free(library);
    }
    folder_remove(folder);
}

/* A list of a module's class applies below the module only. */
static void test_scope(void **state) {
    static const char *const q[] = {"^query\\."}, *const q_proj[] = {"q_proj."};
    const struct graft_weight_transform rename = RENAME(q, q_proj);
    static float golden[PATCHED_LLAMA_TOKENS * PATCHED_LLAMA_VOCABULARY],
        logits[PATCHED_LLAMA_TOKENS * PATCHED_LLAMA_VOCABULARY];
    struct graft_error error = graft_error_none();
    struct graft_library *library = new_library();
    char folder[64], path[512];
    (void)state;
    folder_create(folder);
    patched_llama_write(folder, "model.layers.0.self_attn.q_proj.", "model.layers.0.self_attn.query.");
    struct graft_model *model = open_model(library, llama_directory(path));
    patched_llama_run(model, golden);
    graft_model_free(model);
    check(graft_library_register_conversions(library, "LlamaMLP", &rename, 1, 0, &error), &error);
    model = open_model(library, folder);
    assert_int_equal(graft_model_load(model, &error), GRAFT_ERROR_MODEL);
    error = graft_error_none();
    graft_model_free(model);
    check(graft_library_register_conversions(library, "LlamaAttention", &rename, 1, 0, &error), &error);
    model = open_model(library, folder);
    patched_llama_run(model, logits);
    assert_memory_equal(logits, golden, sizeof golden);
    graft_model_free(model);
    graft_library_free(library);
    folder_remove(folder);
}

/* --- With a plugin whose conditions ask for tensors, so names are transformed before the model is planned --- */

static const char *const absent[] = {"qweight", NULL};
static const struct graft_condition asks = {sizeof asks, GRAFT_CONDITION_TENSOR, NULL, absent};
static const struct graft_replacement asking[] = {{.struct_size = sizeof asking[0],
                                                   .key = GRAFT_KEY_NAME,
                                                   .target = "LlamaMLP",
                                                   .replacement = &first_mlp,
                                                   .conditions = &asks,
                                                   .n_conditions = 1,
                                                   .condition_stride = sizeof asks}};
static const struct graft_plugin asker = {GRAFT_PLUGIN_HEADER,
                                          .id = "asker",
                                          .version = "1.0.0",
                                          .license = "Apache-2.0",
                                          .description = "A plugin of the tests",
                                          .replacements = asking,
                                          .n_replacements = 1,
                                          .replacement_stride = sizeof asking[0]};

/* The only tensor that no parameter takes. */
static const char *unexpected(const struct graft_model *model) {
    const struct graft_plan_info *plan = graft_model_plan(model);
    assert_int_equal(plan->n_unexpected, 1);
    return plan->unexpected[0];
}

/* If nothing is registered, names of old checkpoints are renamed. */
static void test_old_names(void **state) {
    char folder[64];
    (void)state;
    folder_create(folder);
    patched_llama_write(folder, "lm_head.weight", "lm_head.weight_g");
    for (int i = 0; i < 2; i++) {
        struct graft_library *library = new_library();
        struct graft_error error = graft_error_none();
        if (i == 1) {
            check(graft_library_register_plugin(library, &asker, &error), &error);
        }
        struct graft_model *model = open_model(library, folder);
        assert_string_equal(unexpected(model), "lm_head.parametrizations.weight.original0");
        graft_model_free(model);
        graft_library_free(library);
    }
    folder_remove(folder);
}

/* Lists and a load's patch, some for the checkpoint's names and some not. */
static void test_asked(void **state) {
    static float golden[PATCHED_LLAMA_TOKENS * PATCHED_LLAMA_VOCABULARY],
        logits[PATCHED_LLAMA_TOKENS * PATCHED_LLAMA_VOCABULARY];
    const struct graft_load_patch patch = {.struct_size = sizeof patch, .conversions = &wanted, .n_conversions = 1};
    struct graft_model_options options = {.struct_size = sizeof options, .patch = &patch};
    struct graft_error error = graft_error_none();
    struct graft_library *library = new_library();
    struct graft_model *model = NULL;
    char folder[64], path[512];
    (void)state;
    folder_create(folder);
    patched_llama_write(folder, "model.", "transformer.");
    check(graft_library_register_plugin(library, &asker, &error), &error);
    check(graft_library_register_conversions(library, "llama", &idle, 1, 0, &error), &error);
    model = open_model(library, llama_directory(path));
    patched_llama_run(model, golden);
    graft_model_free(model);
    check(graft_model_open(library, folder, &options, &model, &error), &error);
    patched_llama_run(model, logits);
    assert_memory_equal(logits, golden, sizeof golden);
    graft_model_free(model);
    check(graft_library_register_conversions(library, "llama", &wanted, 1, 1, &error), &error);
    model = open_model(library, folder);
    patched_llama_run(model, logits);
    assert_memory_equal(logits, golden, sizeof golden);
    graft_model_free(model);
    graft_library_free(library);
    folder_remove(folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_old_names), cmocka_unit_test(test_asked), cmocka_unit_test(test_register),
        cmocka_unit_test(test_refused),   cmocka_unit_test(test_names), cmocka_unit_test(test_scope),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
