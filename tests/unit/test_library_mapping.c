/* SPDX-License-Identifier: Apache-2.0 */
/* Elements of plugins are in the mapping together with those of calls: listed, removed, overwritten, and in one
 * order. */
#include "graft/experts.h"
#include "library_fixture.h"

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

/* The class at a path of a golden model, which is opened again. */
static const char *class_in(const char *name, const struct graft_load_patch *patch, const char *path) {
    const struct graft_model_options options = {.struct_size = sizeof options, .patch = patch};
    char directory[512];
    (void)snprintf(directory, sizeof directory, "%s/plain/%s", getenv("GRAFT_TEST_GOLDENS"), name);
    graft_model_free(model);
    model = NULL;
    check(graft_model_open(library, directory, &options, &model, &error));
    return graft_model_class_at(model, path);
}

static const char *experts_class(void) {
    return class_in("mixtral", NULL, "model.layers.0.mlp.experts");
}

static const char *mlp_class(const struct graft_load_patch *patch) {
    return class_in("llama", patch, "model.layers.0.mlp");
}

static int has_note(const char *part) {
    for (size_t i = 0; graft_model_note(model, i) != NULL; i++) {
        if (strstr(graft_model_note(model, i), part) != NULL) {
            return 1;
        }
    }
    return 0;
}

static int unregister(const char *key) {
    error = graft_error_none();
    return graft_library_unregister(library, &key, 1, &error);
}

static void test_listed(void **state) {
    struct graft_patch *patches = NULL;
    size_t n = 0;
    (void)state;
    load_experts();
    put(library, "LlamaMLP", &first_mlp);
    check(graft_library_patches(library, &patches, &n, &error));
    assert_int_equal(n, 2);
    assert_string_equal(patches[0].key, "Experts$");
    assert_int_equal(patches[0].key_kind, GRAFT_KEY_PATTERN);
    assert_string_equal(patches[0].replacement->name, "ModuleListExperts");
    assert_string_equal(patches[0].plugin, "sequential_experts");
    assert_non_null(strstr(patches[0].file, "sequential_experts.so"));
    assert_string_equal(patches[1].key, "LlamaMLP");
    assert_int_equal(patches[1].key_kind, 0);
    assert_null(patches[1].plugin);
    assert_null(patches[1].file);
    graft_patches_free(patches);
}

/* Removed by its key and put back: the class still belongs to its plugin, so its private children are found. */
static void test_unregistered(void **state) {
    struct graft_patch *patches = NULL;
    size_t n = 0;
    (void)state;
    load_experts();
    assert_string_equal(experts_class(), "ModuleListExperts");
    check(graft_library_patches(library, &patches, &n, &error));
    check(unregister("Experts$"));
    assert_string_equal(experts_class(), "MixtralExperts");
    assert_int_equal(unregister("Experts$"), GRAFT_ERROR_USAGE);
    assert_string_equal(error.message, "the key is not registered");
    error = graft_error_none();
    check(graft_library_register(library, patches, n, 0, &error));
    assert_string_equal(experts_class(), "ModuleListExperts");
    assert_string_equal(graft_model_class_at(model, "model.layers.0.mlp.experts.0"), "MoeMLP");
    graft_patches_free(patches);
}

static void test_cleared(void **state) {
    struct graft_patch *patches = NULL;
    size_t n = 1;
    (void)state;
    load_experts();
    check(graft_library_clear(library, &error));
    check(graft_library_patches(library, &patches, &n, &error));
    assert_int_equal(n, 0);
    graft_patches_free(patches);
    assert_string_equal(experts_class(), "MixtralExperts");
}

static int experts_to_super(void *self, const struct graft_call *call, const struct graft_experts_args *args,
                            struct graft_error *failure) {
    return graft_experts_forward((const struct graft_module *)self, call, args, failure);
}

static const struct graft_experts experts_vtable = {.struct_size = sizeof experts_vtable, .forward = experts_to_super};
static const struct graft_class my_experts = SUPER_CLASS("MyExperts", GRAFT_INTERFACE_EXPERTS, &experts_vtable);

static void test_overwritten(void **state) {
    const struct graft_patch mine = {.struct_size = sizeof mine, .key = "Experts$", .replacement = &my_experts};
    struct graft_patch *patches = NULL;
    size_t n = 0;
    (void)state;
    load_experts();
    assert_int_equal(graft_library_register(library, &mine, 1, 0, &error), GRAFT_ERROR_USAGE);
    assert_string_equal(error.message,
                        "the key is already registered, for ModuleListExperts of plugin sequential_experts");
    error = graft_error_none();
    check(graft_library_register(library, &mine, 1, 1, &error));
    check(graft_library_patches(library, &patches, &n, &error));
    assert_int_equal(n, 1);
    assert_null(patches[0].plugin);
    graft_patches_free(patches);
    assert_string_equal(experts_class(), "MyExperts");
}

/* --- Plugins in memory --- */

static struct graft_plugin plugin_of(const char *id, const struct graft_replacement *replacements, int32_t n) {
    return (struct graft_plugin){GRAFT_PLUGIN_HEADER,
                                 .id = id,
                                 .version = "1.0.0",
                                 .license = "Apache-2.0",
                                 .description = "A plugin of the tests",
                                 .replacements = replacements,
                                 .n_replacements = n,
                                 .replacement_stride = sizeof *replacements};
}

#define REPLACEMENT(key_kind, text, cls) \
    { .struct_size = sizeof(struct graft_replacement), .key = (key_kind), .target = (text), .replacement = (cls) }

static const struct graft_class plugins_mlp = SUPER_CLASS("PluginsMLP", GRAFT_INTERFACE_MLP, &mlp_vtable);
static const struct graft_replacement by_name[] = {REPLACEMENT(GRAFT_KEY_NAME, "LlamaMLP", &plugins_mlp)};
static struct graft_plugin plugin;

/* A load's patch comes before calls, calls before plugins; only within one of them the kind of key decides. Classes
 * that call super are followed by the next ones. */
static void test_one_rule(void **state) {
    const struct graft_patch element = {.struct_size = sizeof element, .key = "MLP", .replacement = &second_mlp};
    const struct graft_load_patch patch = {.struct_size = sizeof patch, .classes = &element, .n_classes = 1};
    (void)state;
    plugin = plugin_of("named", by_name, 1);
    check(graft_library_register_plugin(library, &plugin, &error));
    assert_string_equal(mlp_class(NULL), "PluginsMLP");
    put(library, "^Llama.LP", &first_mlp);
    assert_string_equal(mlp_class(NULL), "FirstMLP");
    const struct graft_named_module *super = graft_model_find_module(model, "model.layers.0.mlp")->super;
    assert_string_equal(super->class_name, "PluginsMLP");
    assert_string_equal(super->super->class_name, "LlamaMLP");
    assert_null(super->super->super);
    check(unregister("^Llama.LP"));
    check(unregister("LlamaMLP"));
    put(library, "LlamaMLP", &first_mlp);
    assert_string_equal(mlp_class(&patch), "SecondMLP");
    assert_string_equal(mlp_class(NULL), "FirstMLP");
}

/* A patch with a module path replaces only the module at that path; others get the class that is registered with the
 * same key. */
static void test_patch_of_a_path(void **state) {
    const struct graft_patch element = {
        .struct_size = sizeof element, .key = "LlamaMLP", .replacement = &second_mlp, .module_path = "layers\\.1\\."};
    const struct graft_load_patch patch = {.struct_size = sizeof patch, .classes = &element, .n_classes = 1};
    (void)state;
    put(library, "LlamaMLP", &first_mlp);
    assert_string_equal(mlp_class(&patch), "FirstMLP");
    assert_string_equal(graft_model_class_at(model, "model.layers.1.mlp"), "SecondMLP");
}

/* Scopes also hold the elements of plugins. */
static void test_scopes(void **state) {
    struct graft_scope *scope = NULL;
    const struct graft_class *cls = NULL;
    (void)state;
    load_experts();
    check(graft_library_enter(library, &scope, &error));
    check(graft_library_clear(library, &error));
    check(graft_library_class(library, "MixtralExperts", &cls, &error));
    assert_string_equal(cls->name, "ModuleListExperts");
    graft_library_leave(library, scope);
    check(graft_library_class(library, "MixtralExperts", &cls, &error));
    assert_string_equal(cls->name, "MixtralExperts");
}

/* A group does nothing once one of its members is removed. */
static void test_group(void **state) {
    static struct graft_replacement pair[] = {
        REPLACEMENT(GRAFT_KEY_NAME, "LlamaMLP", &plugins_mlp),
        REPLACEMENT(GRAFT_KEY_NAME, "Linear", &my_linear),
    };
    (void)state;
    pair[0].group = pair[1].group = "pair";
    plugin = plugin_of("paired", pair, 2);
    check(graft_library_register_plugin(library, &plugin, &error));
    assert_string_equal(mlp_class(NULL), "PluginsMLP");
    check(unregister("Linear"));
    assert_string_equal(mlp_class(NULL), "LlamaMLP");
    assert_true(has_note("paired: group pair is left out: some of its replacements are no longer registered"));
}

/* One key for several model types is removed as one. */
static void test_shared_key(void **state) {
    static const char *const llama[] = {"llama", NULL}, *const mistral[] = {"mistral", NULL};
    static struct graft_replacement two[] = {
        REPLACEMENT(GRAFT_KEY_PATTERN, "MLP$", &plugins_mlp),
        REPLACEMENT(GRAFT_KEY_PATTERN, "MLP$", &first_mlp),
    };
    struct graft_patch *patches = NULL;
    size_t n = 0;
    (void)state;
    two[0].model_types = llama;
    two[1].model_types = mistral;
    plugin = plugin_of("twice", two, 2);
    check(graft_library_register_plugin(library, &plugin, &error));
    assert_string_equal(mlp_class(NULL), "PluginsMLP");
    assert_string_equal(class_in("mistral", NULL, "model.layers.0.mlp"), "FirstMLP");
    check(graft_library_register(library,
                                 &(const struct graft_patch){.struct_size = sizeof(struct graft_patch),
                                                             .key = "MLP$",
                                                             .replacement = &second_mlp},
                                 1, 1, &error));
    check(graft_library_patches(library, &patches, &n, &error));
    assert_int_equal(n, 1);
    graft_patches_free(patches);
    assert_string_equal(class_in("mistral", NULL, "model.layers.0.mlp"), "SecondMLP");
    check(unregister("MLP$"));
    assert_string_equal(mlp_class(NULL), "LlamaMLP");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_listed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_unregistered, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_cleared, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_overwritten, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_one_rule, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_patch_of_a_path, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_scopes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_group, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_shared_key, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
