/* SPDX-License-Identifier: Apache-2.0 */
/* Patches for one load: by a description and by a file, in several threads at once, without changing the library, and
 * with every allocation failing in turn. */
#include <pthread.h>

#include "base/alloc.h"
#include "graft/host/model.h"
#include "patched_llama.h"

static const char fused_qkv[] =
    "{\"conversions\": [{\"kind\": \"converter\", \"target_patterns\": \"self_attn.qkv_proj.weight\", "
    "\"source_patterns\": [\"self_attn.q_proj.weight\", \"self_attn.k_proj.weight\", \"self_attn.v_proj.weight\"], "
    "\"operations\": [{\"op\": \"Concatenate\", \"dim\": 0}]}]}";

static void check(int status, const struct graft_error *error) {
    if (status != GRAFT_OK) {
        fail_msg("%s: %s", error->source, error->message);
    }
}

static int save_to(struct graft_model *model, const char *output, int runtime, struct graft_error *error) {
    const struct graft_save_options options = {.struct_size = sizeof options, .runtime_layout = runtime};
    return graft_model_save(model, output, &options, error);
}

/* Saving in another layout, and back without a patch, gives the same file. */
static void test_layout(void **state) {
    struct graft_model_options options = {.struct_size = sizeof options};
    struct graft_error error = graft_error_none();
    struct graft_library *library = new_library();
    struct graft_model *model = NULL;
    char folder[64], path[512], patched[128], back[128], original[600];
    (void)state;
    folder_create(folder);
    (void)snprintf(patched, sizeof patched, "%s/patched", folder);
    (void)snprintf(back, sizeof back, "%s/back", folder);
    folder_put(folder, "patch.json", fused_qkv, sizeof fused_qkv - 1);
    options.patch_file = folder_path(folder, "patch.json");
    check(graft_model_open(library, llama_directory(path), &options, &model, &error), &error);
    check(save_to(model, patched, 1, &error), &error);
    graft_model_free(model);
    check(graft_model_open(library, patched, NULL, &model, &error), &error);
    assert_int_equal(graft_model_load(model, &error), GRAFT_ERROR_MODEL);
    assert_non_null(strstr(error.hint, "a patch"));
    error = graft_error_none();
    check(save_to(model, back, 0, &error), &error);
    graft_model_free(model);
    (void)snprintf(original, sizeof original, "%s/model.safetensors", path);
    assert_true(patched_llama_same(original, folder_path(back, "model.safetensors")));
    assert_false(patched_llama_same(original, folder_path(patched, "model.safetensors")));
    graft_library_free(library);
    folder_remove(folder);
}

enum { ROUNDS = 4, WORKERS = 3 };

struct job {
    pthread_t thread;
    struct graft_library *library;
    const struct graft_load_patch *patch;
    const char *expected;
    int failures;
};

static void *open_patched(void *data) {
    struct job *job = data;
    struct graft_model_options options = {.struct_size = sizeof options, .patch = job->patch};
    static const int32_t ids[] = {5, 7, 11};
    const struct graft_prompt prompt = {.struct_size = sizeof prompt, .ids = ids, .count = 3};
    float *logits = malloc(sizeof(float) * PATCHED_LLAMA_TOKENS * PATCHED_LLAMA_VOCABULARY);
    char path[512];
    for (int i = 0; i < ROUNDS && logits != NULL; i++) {
        struct graft_model *model = NULL;
        job->failures += graft_model_open(job->library, llama_directory(path), &options, &model, NULL) != GRAFT_OK;
        job->failures += model == NULL || graft_model_load(model, NULL) != GRAFT_OK;
        job->failures += model == NULL || graft_model_logits(model, &prompt, 1, logits, NULL) != GRAFT_OK;
        job->failures += model == NULL || strcmp(graft_model_class_at(model, "model.layers.1.mlp"), job->expected) != 0;
        graft_model_free(model);
    }
    free(logits);
    return NULL;
}

static void test_side_by_side(void **state) {
    static const struct graft_patch first = {.struct_size = sizeof first, .key = "LlamaMLP", .replacement = &first_mlp};
    static const struct graft_patch second = {
        .struct_size = sizeof second, .key = "^LlamaMLP$", .replacement = &second_mlp};
    static const struct graft_load_patch patches[] = {
        {.struct_size = sizeof patches[0], .classes = &first, .n_classes = 1},
        {.struct_size = sizeof patches[0], .classes = &second, .n_classes = 1},
    };
    struct graft_library *library = new_library();
    struct graft_patch *registered = NULL;
    size_t n = 1;
    struct job jobs[WORKERS] = {{.patch = &patches[0], .expected = "FirstMLP"},
                                {.patch = &patches[1], .expected = "SecondMLP"},
                                {.patch = NULL, .expected = "LlamaMLP"}};
    (void)state;
    for (int i = 0; i < WORKERS; i++) {
        jobs[i].library = library;
        assert_int_equal(pthread_create(&jobs[i].thread, NULL, open_patched, &jobs[i]), 0);
    }
    for (int i = 0; i < WORKERS; i++) {
        assert_int_equal(pthread_join(jobs[i].thread, NULL), 0);
        assert_int_equal(jobs[i].failures, 0);
    }
    assert_int_equal(graft_library_patches(library, &registered, &n, NULL), GRAFT_OK);
    assert_int_equal(n, 0);
    graft_patches_free(registered);
    graft_library_free(library);
}

static void test_bad_files(void **state) {
    static const char *const cases[][2] = {
        {"[]", "expected an object"},
        {"{\"conversion\": []}", "conversion: unknown field"},
        {"{\"conversions\": {}}", "conversions: expected an array"},
        {"{\"conversions\": [1]}", "conversions[0]: expected an object"},
        {"{\"conversions\": [{\"kind\": \"move\"}]}", "conversions[0].kind: expected \"rename\""},
        {"{\"conversions\": [{\"kind\": \"rename\", \"source_patterns\": []}]}",
         "conversions[0].source_patterns: expected a string or an array"},
        {"{\"conversions\": [{\"kind\": \"rename\", \"source_patterns\": \"(\", \"target_patterns\": \"a\"}]}",
         "invalid regular expression"},
        {"{\"conversions\": [{\"kind\": \"rename\", \"source_patterns\": \"a\", \"target_patterns\": \"b\", "
         "\"operations\": []}]}",
         "conversions[0].operations: unknown field"},
        {"{\"conversions\": [{\"kind\": \"converter\", \"source_patterns\": \"a\", \"target_patterns\": \"b\", "
         "\"operations\": [{\"op\": \"Twist\"}]}]}",
         "conversions[0].operations[0].op: \"Twist\" is not an operation"},
        {"{\"conversions\": [{\"kind\": \"converter\", \"source_patterns\": \"a\", \"target_patterns\": \"b\", "
         "\"operations\": [{\"op\": \"Chunk\", \"dim\": \"0\"}]}]}",
         "conversions[0].operations[0].dim: expected an integer, got a string"},
        {"{\"conversions\": [{\"kind\": \"prefix_change\"}]}", "expected exactly one of prefix_to_add"},
        {"{\"without\": [\"[\"]}", "invalid regular expression"},
        {"{\"without\": 3}", "without: expected a string or an array"},
        {"{\"classes\": {\"LlamaMLP\": \"NoSuchMLP\"}}", "classes.LlamaMLP: there is no class \"NoSuchMLP\""},
        {"{\"classes\": {\"LlamaMLP\": {\"module_path\": \"a\"}}}",
         "classes.LlamaMLP.class: missing, expected a string"},
        {"{\"classes\": {\"LlamaMLP\": {\"class\": \"LlamaMLP\", \"module_path\": \"(\"}}}", "invalid regular"},
        {"{", "not valid JSON"},
    };
    struct graft_library *library = new_library();
    char folder[64], path[512];
    (void)state;
    folder_create(folder);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct graft_model_options options = {.struct_size = sizeof options};
        struct graft_error error = graft_error_none();
        struct graft_model *model = NULL;
        folder_put(folder, "patch.json", cases[i][0], strlen(cases[i][0]));
        options.patch_file = folder_path(folder, "patch.json");
        assert_int_equal(graft_model_open(library, llama_directory(path), &options, &model, &error), GRAFT_ERROR_MODEL);
        if (strstr(error.message, cases[i][1]) == NULL || strstr(error.source, "patch.json") == NULL) {
            fail_msg("%s: \"%s: %s\" does not say \"%s\"", cases[i][0], error.source, error.message, cases[i][1]);
        }
        assert_null(model);
    }
    graft_library_free(library);
    folder_remove(folder);
}

/* Uses the library once, and frees everything, also after failures. */
typedef int (*use_function)(void *data, struct graft_error *error);

static void fail_each(use_function use, void *data) {
    long left = 0;
    for (long n = 1; left == 0; n++) {
        struct graft_error error = graft_error_none();
        (void)graft_alloc_fail_at(n);
        int status = use(data, &error);
        left = graft_alloc_fail_at(0);
        if (status != error.code || (status != GRAFT_OK && status != GRAFT_ERROR_INTERNAL)) {
            fail_msg("allocation %ld: status %d, %s: %s", n, status, error.source, error.message);
        }
    }
}

struct memory {
    struct graft_library *library;
    struct graft_model *model;
    char folder[64];
    char patch[128];
    char output[128];
};

static int open_once(void *data, struct graft_error *error) {
    const struct memory *memory = data;
    const struct graft_model_options options = {.struct_size = sizeof options, .patch_file = memory->patch};
    struct graft_model *model = NULL;
    char path[512];
    int status = graft_model_open(memory->library, llama_directory(path), &options, &model, error);
    graft_model_free(model);
    return status;
}

static int save_once(void *data, struct graft_error *error) {
    struct memory *memory = data;
    int status = save_to(memory->model, memory->output, 1, error);
    folder_remove(memory->output);
    assert_int_equal(folder_count(memory->folder), 1);
    return status;
}

static void test_memory(void **state) {
    struct memory memory = {.library = new_library()};
    struct graft_model_options options = {.struct_size = sizeof options, .patch_file = memory.patch};
    char path[512];
    (void)state;
    folder_create(memory.folder);
    folder_put(memory.folder, "patch.json", fused_qkv, sizeof fused_qkv - 1);
    (void)snprintf(memory.patch, sizeof memory.patch, "%s/patch.json", memory.folder);
    (void)snprintf(memory.output, sizeof memory.output, "%s/output", memory.folder);
    fail_each(open_once, &memory);
    assert_int_equal(graft_model_open(memory.library, llama_directory(path), &options, &memory.model, NULL), GRAFT_OK);
    fail_each(save_once, &memory);
    graft_model_free(memory.model);
    graft_library_free(memory.library);
    folder_remove(memory.folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_layout),
        cmocka_unit_test(test_side_by_side),
        cmocka_unit_test(test_bad_files),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
