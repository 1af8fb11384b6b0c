/* SPDX-License-Identifier: Apache-2.0 */
/* The conversions of classes, as the lists of their names: their content, and lists that replace them. */
#include "graft/host/registry.h"
#include "library_fixture.h"

#include "base/alloc.h"

enum { TOKENS = 4, MAX_LOGITS = TOKENS * 4096 };

static struct graft_library *library;
static struct graft_error error;

static int set_up(void **state) {
    (void)state;
    library = new_library();
    error = graft_error_none();
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    graft_library_free(library);
    return 0;
}

static void check(int status) {
    if (status != GRAFT_OK) {
        fail_msg("%s: %s", error.source, error.message);
    }
}

static void load_experts(void) {
    static const char *const ids[] = {"sequential_experts"};
    const struct graft_library_options options = {.struct_size = sizeof options, .allow = ids, .n_allow = 1};
    const char *directory = getenv("GRAFT_PLUGINS");
    check(graft_library_load_plugins(library, &directory, 1, &options, &error));
}

/* The logits of a golden model; a status if it cannot be loaded. */
static int run(const char *name, const struct graft_load_patch *patch, float logits[MAX_LOGITS]) {
    static const int32_t ids[TOKENS] = {5, 7, 11, 13};
    const struct graft_prompt prompt = {.struct_size = sizeof prompt, .ids = ids, .count = TOKENS};
    const struct graft_model_options options = {
        .struct_size = sizeof options, .precision = GRAFT_PRECISION_FLOAT32, .patch = patch};
    struct graft_model *model = NULL;
    char path[512];
    (void)snprintf(path, sizeof path, "%s/%s", getenv("GRAFT_TEST_GOLDENS"), name);
    error = graft_error_none();
    check(graft_model_open(library, path, &options, &model, &error));
    int status = graft_model_load(model, &error);
    if (status == GRAFT_OK) {
        assert_true(graft_model_vocab_size(model) * TOKENS <= MAX_LOGITS);
        memset(logits, 0, MAX_LOGITS * sizeof *logits);
        check(graft_model_logits(model, &prompt, 1, logits, &error));
    }
    graft_model_free(model);
    return status;
}

static size_t count_of(const char *name) {
    struct graft_weight_transform *list = NULL;
    size_t n = 99;
    check(graft_library_conversions(library, name, &list, &n, &error));
    assert_int_equal(list == NULL, n == 0);
    graft_transforms_free(list);
    return n;
}

/* Registering a class's own conversions as its list gives the same model; registering an empty list does not; without a
 * list the class's own apply again. */
static void same_as_list(const char *model, const char *name) {
    static float own[MAX_LOGITS], listed[MAX_LOGITS];
    struct graft_weight_transform *list = NULL;
    size_t n = 0;
    check(run(model, NULL, own));
    check(graft_library_conversions(library, name, &list, &n, &error));
    if (n == 0) {
        fail_msg("%s: no conversions", name);
    }
    assert_int_equal(graft_library_register_conversions(library, name, list, n, 0, &error), GRAFT_ERROR_USAGE);
    assert_non_null(strstr(error.message, "conversions with that name exist already"));
    error = graft_error_none();
    check(graft_library_register_conversions(library, name, NULL, 0, 1, &error));
    assert_int_equal(run(model, NULL, listed), GRAFT_ERROR_MODEL);
    error = graft_error_none();
    check(graft_library_register_conversions(library, name, list, n, 1, &error));
    check(run(model, NULL, listed));
    assert_memory_equal(own, listed, sizeof own);
    assert_int_equal(count_of(name), n);
    check(graft_library_register_conversions(library, name, NULL, 0, 1, &error));
    check(graft_library_unregister_conversions(library, name, &error));
    check(run(model, NULL, listed));
    assert_memory_equal(own, listed, sizeof own);
    assert_int_equal(graft_library_unregister_conversions(library, name, &error), GRAFT_ERROR_USAGE);
    assert_string_equal(error.message, "no conversions are registered under it");
    error = graft_error_none();
    graft_transforms_free(list);
}

static void test_built_in(void **state) {
    (void)state;
    same_as_list("plain/mixtral", "mixtral");
    same_as_list("plain/mixtral", "MixtralExperts");
    same_as_list("plain/qwen2_moe", "Qwen2MoeExperts");
    same_as_list("plain/mixtral", "MixtralDecoderLayer");
    same_as_list("plain/qwen2_moe", "qwen2_moe");
    same_as_list("plain/qwen3_moe", "qwen3_moe");
    same_as_list("vision/qwen2_vl_two_images", "qwen2_vl");
    assert_int_equal(count_of("llama"), 0);
    assert_int_equal(count_of("LlamaAttention"), 0);
    assert_int_equal(count_of("nothing"), 0);
    struct graft_weight_transform *list = NULL;
    size_t n;
    assert_int_equal(graft_library_conversions(library, NULL, &list, &n, &error), GRAFT_ERROR_USAGE);
    assert_int_equal(graft_library_unregister_conversions(library, NULL, NULL), GRAFT_ERROR_USAGE);
}

/* A plugin's class has a list by its own name, and contributes to the types whose experts it replaces. Renamings of
 * private classes stay private: Mixtral's w1 to w3. */
static void test_plugin(void **state) {
    (void)state;
    size_t own = count_of("mixtral");
    load_experts();
    assert_int_equal(count_of("ModuleListExperts"), 5);
    same_as_list("plain/qwen2_moe_stacked", "ModuleListExperts");
    same_as_list("plain/mixtral", "mixtral");
    same_as_list("plain/qwen2_moe_stacked", "qwen2_moe");
    check(graft_library_clear(library, &error));
    assert_int_equal(count_of("mixtral"), own);
}

/* A class of a load's patch uses its own conversions. */
static void test_patch(void **state) {
    static float own[MAX_LOGITS], patched[MAX_LOGITS];
    struct graft_patch *patches = NULL;
    size_t n = 0;
    (void)state;
    load_experts();
    check(run("plain/qwen2_moe_stacked", NULL, own));
    check(graft_library_patches(library, &patches, &n, &error));
    const struct graft_load_patch patch = {.struct_size = sizeof patch, .classes = patches, .n_classes = n};
    check(graft_library_register_conversions(library, "qwen2_moe", NULL, 0, 1, &error));
    assert_int_equal(run("plain/qwen2_moe_stacked", NULL, patched), GRAFT_ERROR_MODEL);
    check(run("plain/qwen2_moe_stacked", &patch, patched));
    assert_memory_equal(own, patched, sizeof own);
    check(graft_library_clear_conversions(library, &error));
    check(run("plain/qwen2_moe_stacked", NULL, patched));
    graft_patches_free(patches);
}

/* Modules are searched below the one that a registered list is for; a patch has none. */
static void test_scope_class(void **state) {
    struct graft_weight_transform *list = NULL;
    size_t n = 0;
    (void)state;
    check(graft_library_conversions(library, "mixtral", &list, &n, &error));
    assert_string_equal(list[0].scope_class, "MixtralDecoderLayer");
    const struct graft_load_patch patch = {.struct_size = sizeof patch, .conversions = list, .n_conversions = n};
    const struct graft_model_options options = {.struct_size = sizeof options, .patch = &patch};
    struct graft_model *model = NULL;
    char path[512];
    (void)snprintf(path, sizeof path, "%s/plain/mixtral", getenv("GRAFT_TEST_GOLDENS"));
    assert_int_equal(graft_model_open(library, path, &options, &model, &error), GRAFT_ERROR_USAGE);
    assert_string_equal(error.message, "conversions[0].scope_class: expected NULL: only registered lists have it");
    graft_transforms_free(list);
}

/* Every allocation fails in turn. */
static void test_out_of_memory(void **state) {
    struct graft_weight_transform *list = NULL;
    size_t n;
    (void)state;
    load_experts();
    for (long i = 1, failed = 1; failed; i++) {
        (void)graft_alloc_fail_at(i);
        failed = graft_library_conversions(library, "mixtral", &list, &n, NULL) != GRAFT_OK;
        (void)graft_alloc_fail_at(0);
        assert_int_equal(failed, list == NULL);
    }
    graft_transforms_free(list);
    check(graft_library_register_conversions(library, "mixtral", NULL, 0, 1, &error));
    for (long i = 1, failed = 1; failed; i++) {
        (void)graft_alloc_fail_at(i);
        failed = graft_library_unregister_conversions(library, "mixtral", NULL) != GRAFT_OK;
        (void)graft_alloc_fail_at(0);
    }
    assert_true(count_of("mixtral") > 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_built_in, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_plugin, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_patch, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_scope_class, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_out_of_memory, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
