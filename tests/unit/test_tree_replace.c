/* SPDX-License-Identifier: Apache-2.0 */
/* Replacements in a tree: which win, what they inherit, and originals that replacements call. */
#include "fake_model.h"
#include "plugin/host_services.h"

#define LEAF "test.leaf/1"
#define BLOCK "test.block/1"
#define ROOT "test.root/1"

static const struct fake_parameter leaf_parameters[] = {{.name = "weight", .rank = 1, .shape = {2}}, {.name = NULL}};
static const struct fake_parameter scale_parameters[] = {{.name = "scale", .rank = 1, .shape = {2}}, {.name = NULL}};
static const struct fake_child block_children[] = {{"leaf", "Leaf", LEAF}, {NULL, NULL, NULL}};
static const struct fake_child root_children[] = {
    {"0", "Block", BLOCK}, {"1", "Block", BLOCK}, {"leaf", "Leaf", LEAF}, {NULL, NULL, NULL}};
static const struct fake_child wrapper_children[] = {
    {"inner", "Block", BLOCK}, {"leaf", "Leaf", LEAF}, {NULL, NULL, NULL}};

static const struct fake_structure leaf_structure = {.parameters = leaf_parameters};
static const struct fake_structure scale_structure = {.parameters = scale_parameters};
static const struct fake_structure block_structure = {.children = block_children};
static const struct fake_structure root_structure = {.children = root_children};
static const struct fake_structure wrapper_structure = {.children = wrapper_children};

/* The number of instances, and of creations that may still succeed. */
static int alive;
static int left;

static int create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                  struct graft_error *error) {
    if (left-- == 0) {
        return graft_error_set(error, GRAFT_ERROR_PLUGIN, build->path, "%s: no more", cls->name);
    }
    *instance = malloc(1);
    alive++;
    return *instance != NULL ? GRAFT_OK : GRAFT_ERROR_INTERNAL;
}

static void destroy(void *instance) {
    alive--;
    free(instance);
}

#define COUNTED(class_name, interface, structure, vtable)                                                         \
    {                                                                                                             \
        .struct_size = sizeof(struct graft_class), .name = (class_name), .interface_id = (interface),             \
        .describe = fake_describe, .create = create, .destroy = destroy, .forward = (vtable), .data = (structure) \
    }

static const struct graft_class leaf = COUNTED("Leaf", LEAF, &leaf_structure, "leaf");
static const struct graft_class block = COUNTED("Block", BLOCK, &block_structure, "block");
static const struct graft_class root = COUNTED("Root", ROOT, &root_structure, "root");
static const struct graft_class my_leaf = COUNTED("MyLeaf", LEAF, &scale_structure, "my leaf");
static const struct graft_class wrapper = COUNTED("Wrapper", BLOCK, &wrapper_structure, "wrapper");

static struct fake_model model;

static int set_up(void **state) {
    (void)state;
    fake_model_init(&model);
    fake_model_add(&model, &leaf);
    fake_model_add(&model, &block);
    fake_model_add(&model, &root);
    alive = 0;
    left = -1;
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    fake_model_finish(&model);
    assert_int_equal(alive, 0);
    return 0;
}

static const struct graft_replacement replace_leaf = {
    .struct_size = sizeof replace_leaf, .key = GRAFT_KEY_NAME, .target = "Leaf", .replacement = &my_leaf};
static const struct graft_replacement wrap_block = {
    .struct_size = sizeof wrap_block, .key = GRAFT_KEY_NAME, .target = "Block", .replacement = &wrapper};

static void assert_class(const char *path, const char *class_name) {
    const struct graft_node *node = fake_model_node(&model, path);
    assert_non_null(node);
    assert_string_equal(node->class_name, class_name);
}

/* A class that a replacement names as its child's means the original; children are replaced as elsewhere. */
static void test_nested(void **state) {
    (void)state;
    fake_model_replace(&model, &replace_leaf);
    fake_model_replace(&model, &wrap_block);
    assert_int_equal(fake_model_build(&model, "Root"), GRAFT_OK);
    assert_class("0", "Wrapper");
    assert_ptr_equal(fake_model_node(&model, "0")->original->cls, &block);
    assert_class("0.inner", "Block");
    assert_null(fake_model_node(&model, "0.inner")->original);
    assert_class("0.inner.leaf", "MyLeaf");
    assert_class("1.leaf", "MyLeaf");
    assert_class("leaf", "MyLeaf");
    assert_non_null(graft_node_parameter(fake_model_node(&model, "leaf"), "scale"));
    assert_null(graft_node_parameter(fake_model_node(&model, "leaf"), "weight"));
}

static void test_some_paths_only(void **state) {
    static const struct graft_replacement some = {.struct_size = sizeof some,
                                                  .key = GRAFT_KEY_NAME,
                                                  .target = "Leaf",
                                                  .replacement = &my_leaf,
                                                  .module_path = "^1\\."};
    (void)state;
    fake_model_replace(&model, &some);
    assert_int_equal(fake_model_build(&model, "Root"), GRAFT_OK);
    assert_class("0.leaf", "Leaf");
    assert_class("1.leaf", "MyLeaf");
}

/* A broad pattern is an error that lists all matches, not only the first module. */
static void test_broad_pattern(void **state) {
    static const struct graft_replacement broad = {
        .struct_size = sizeof broad, .key = GRAFT_KEY_PATTERN, .target = "L|B", .replacement = &my_leaf};
    (void)state;
    fake_model_replace(&model, &broad);
    assert_int_equal(fake_model_build(&model, "Root"), GRAFT_ERROR_PLUGIN);
    assert_string_equal(model.error.source, "test.so");
    assert_non_null(strstr(model.error.message, "also matches Block (" BLOCK "); classes that fit: Leaf"));
    assert_string_equal(model.error.hint, "use the pattern \"^(Leaf)$\"");
}

/* A broad pattern for another model type does not matter to this model. */
static void test_broad_pattern_elsewhere(void **state) {
    static const char *const types[] = {"other", NULL};
    static const struct graft_replacement broad = {.struct_size = sizeof broad,
                                                   .key = GRAFT_KEY_PATTERN,
                                                   .target = ".",
                                                   .replacement = &my_leaf,
                                                   .model_types = types};
    (void)state;
    fake_model_replace(&model, &broad);
    assert_int_equal(fake_model_build(&model, "Root"), GRAFT_OK);
    assert_class("leaf", "Leaf");
}

/* A replacement without a function uses the original's: here its description, below its other functions. */
static void test_inherited_description(void **state) {
    static const struct graft_class quick = {.struct_size = sizeof quick,
                                             .name = "Quick",
                                             .interface_id = BLOCK,
                                             .create = create,
                                             .destroy = destroy,
                                             .forward = "quick"};
    static const struct graft_replacement patch = {
        .struct_size = sizeof patch, .key = GRAFT_KEY_NAME, .target = "Block", .replacement = &quick};
    (void)state;
    fake_model_replace(&model, &patch);
    assert_int_equal(fake_model_build(&model, "Root"), GRAFT_OK);
    assert_class("0", "Quick");
    assert_class("0.leaf", "Leaf");
    assert_int_equal(graft_tree_instantiate(model.tree, graft_host_get(), &model.error), GRAFT_OK);
    assert_string_equal(fake_model_node(&model, "0")->module.forward, "quick");
    assert_string_equal(fake_model_node(&model, "0")->module.class_name, "Quick");
    assert_int_equal(alive, 6);
}

static void test_inherited_functions(void **state) {
    static const struct graft_class thin = {.struct_size = sizeof thin,
                                            .name = "Thin",
                                            .interface_id = LEAF,
                                            .describe = fake_describe,
                                            .data = &scale_structure};
    static const struct graft_replacement patch = {
        .struct_size = sizeof patch, .key = GRAFT_KEY_NAME, .target = "Leaf", .replacement = &thin};
    (void)state;
    fake_model_replace(&model, &patch);
    assert_int_equal(fake_model_build(&model, "Root"), GRAFT_OK);
    assert_non_null(graft_node_parameter(fake_model_node(&model, "leaf"), "scale"));
    assert_int_equal(graft_tree_instantiate(model.tree, graft_host_get(), &model.error), GRAFT_OK);
    assert_string_equal(fake_model_node(&model, "leaf")->module.forward, "leaf");
}

/* Examines its `super` and its child, and has an instance of its own. */
static int create_extended(const struct graft_class *cls, const struct graft_build *build, void **instance,
                           struct graft_error *error) {
    assert_non_null(build->super);
    assert_string_equal(build->super->forward, "block");
    assert_string_equal(build->super->class_name, "Block");
    assert_string_equal(build->super->path, build->path);
    assert_non_null(build->super->instance);
    assert_non_null(build->child(build->data, "extra"));
    return create(cls, build, instance, error);
}

static void test_super(void **state) {
    static const struct fake_child children[] = {{"extra", "Leaf", LEAF}, {NULL, NULL, NULL}};
    static const struct fake_structure structure = {.children = children};
    static const struct graft_class extended = {.struct_size = sizeof extended,
                                                .flags = GRAFT_CLASS_CALLS_SUPER,
                                                .name = "Extended",
                                                .interface_id = BLOCK,
                                                .describe = fake_describe,
                                                .create = create_extended,
                                                .destroy = destroy,
                                                .forward = "extended",
                                                .data = &structure};
    static const struct graft_replacement patch = {
        .struct_size = sizeof patch, .key = GRAFT_KEY_NAME, .target = "Block", .replacement = &extended};
    (void)state;
    fake_model_replace(&model, &patch);
    fake_model_replace(&model, &replace_leaf);
    assert_int_equal(fake_model_build(&model, "Root"), GRAFT_OK);
    const struct graft_node *node = fake_model_node(&model, "0");
    assert_string_equal(node->class_name, "Extended");
    assert_non_null(node->super);
    assert_string_equal(node->super->class_name, "Block");
    assert_string_equal(node->super->path, "0");
    assert_true(node->super->wrapper == node && node->super->below_super && !node->below_super);
    assert_class("0.extra", "MyLeaf");
    assert_class("0.leaf", "MyLeaf"); /* of the original beside it */
    assert_true(fake_model_node(&model, "0.leaf")->below_super);
    assert_int_equal(graft_tree_instantiate(model.tree, graft_host_get(), &model.error), GRAFT_OK);
    assert_int_equal(alive, 2 * 4 + 2);
}

/* Without a `create`, a class that calls super gets the original's module. */
static void test_super_without_create(void **state) {
    static const struct graft_class logging = {.struct_size = sizeof logging,
                                               .flags = GRAFT_CLASS_CALLS_SUPER,
                                               .name = "Logging",
                                               .interface_id = BLOCK,
                                               .forward = "logging"};
    static const struct graft_replacement patch = {
        .struct_size = sizeof patch, .key = GRAFT_KEY_NAME, .target = "Block", .replacement = &logging};
    (void)state;
    fake_model_replace(&model, &patch);
    assert_int_equal(fake_model_build(&model, "Root"), GRAFT_OK);
    assert_int_equal(graft_tree_instantiate(model.tree, graft_host_get(), &model.error), GRAFT_OK);
    const struct graft_node *node = fake_model_node(&model, "1");
    assert_string_equal(node->module.forward, "logging");
    assert_ptr_equal(node->module.instance, &node->super->module);
    assert_int_equal(node->n_children, 0);
    assert_int_equal(node->super->n_children, 1);
}

/* Each class of a stack is created after the one that it calls, and gets that one's module. */
static int create_outer(const struct graft_class *cls, const struct graft_build *build, void **instance,
                        struct graft_error *error) {
    assert_string_equal(build->super->class_name, "Logging");
    assert_string_equal(build->super->path, build->path);
    assert_non_null(build->child(build->data, "extra"));
    return create(cls, build, instance, error);
}

static const struct fake_child extra_children[] = {{"extra", "Leaf", LEAF}, {NULL, NULL, NULL}};
static const struct fake_structure extra_structure = {.children = extra_children};
static const struct graft_class outer = {.struct_size = sizeof outer,
                                         .flags = GRAFT_CLASS_CALLS_SUPER,
                                         .name = "Outer",
                                         .interface_id = BLOCK,
                                         .describe = fake_describe,
                                         .create = create_outer,
                                         .destroy = destroy,
                                         .forward = "outer",
                                         .data = &extra_structure};
static const struct graft_class logging = {.struct_size = sizeof logging,
                                           .flags = GRAFT_CLASS_CALLS_SUPER,
                                           .name = "Logging",
                                           .interface_id = BLOCK,
                                           .forward = "logging"};

static void add_outer_and_logging(void) {
    static const struct graft_replacement replacements[] = {
        {.struct_size = sizeof replacements[0], .key = GRAFT_KEY_NAME, .target = "Block", .replacement = &outer},
        {.struct_size = sizeof replacements[0], .key = GRAFT_KEY_NAME, .target = "Block", .replacement = &logging}};
    static const struct graft_origin origins[] = {{.plugin = "a"}, {.plugin = "b"}};
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(graft_registry_add_replacement(model.registry, &replacements[i], &origins[i], &model.error),
                         GRAFT_OK);
    }
}

static void test_stack(void **state) {
    (void)state;
    fake_model_replace(&model, &wrap_block);
    add_outer_and_logging();
    assert_int_equal(fake_model_build(&model, "Root"), GRAFT_OK);
    const struct graft_node *node = fake_model_node(&model, "1");
    assert_string_equal(node->super->super->class_name, "Wrapper");
    assert_null(node->super->super->super);
    assert_class("1.extra", "Leaf");
    assert_class("1.inner", "Block"); /* the description of the innermost class */
    assert_true(fake_model_node(&model, "1.inner.leaf")->below_super);
    assert_true(graft_nodes_share_tensors(node, fake_model_node(&model, "1.inner.leaf")));
    assert_true(graft_nodes_share_tensors(fake_model_node(&model, "1.inner"), fake_model_node(&model, "1.extra")));
    assert_false(graft_nodes_share_tensors(node, fake_model_node(&model, "1.extra")));
    assert_false(graft_nodes_share_tensors(node, fake_model_node(&model, "0.extra")));
    assert_int_equal(graft_tree_instantiate(model.tree, graft_host_get(), &model.error), GRAFT_OK);
    assert_string_equal(node->module.forward, "outer");
    assert_string_equal(node->super->module.forward, "logging");
    assert_ptr_equal(node->super->module.instance, &node->super->super->module);
    assert_string_equal(node->super->super->module.forward, "wrapper");
}

/* Whichever creation fails, the instances created before are destroyed once. */
static void test_create_fails_in_stack(void **state) {
    enum { INSTANCES = 2 + 2 * 6 };
    (void)state;
    fake_model_replace(&model, &wrap_block);
    add_outer_and_logging();
    for (int succeed = 0; succeed <= INSTANCES; succeed++) {
        assert_int_equal(fake_model_build(&model, "Root"), GRAFT_OK);
        left = succeed;
        int status = graft_tree_instantiate(model.tree, graft_host_get(), &model.error);
        assert_int_equal(alive, succeed);
        assert_int_equal(status == GRAFT_OK, succeed == INSTANCES);
        graft_tree_destroy_instances(model.tree);
        assert_int_equal(alive, 0);
    }
}

static void test_create_fails(void **state) {
    (void)state;
    fake_model_replace(&model, &wrap_block);
    for (int succeed = 0;; succeed++) {
        assert_int_equal(fake_model_build(&model, "Root"), GRAFT_OK);
        left = succeed;
        int status = graft_tree_instantiate(model.tree, graft_host_get(), &model.error);
        assert_int_equal(alive, status == GRAFT_OK ? 10 : succeed);
        graft_tree_destroy_instances(model.tree);
        assert_int_equal(alive, 0);
        if (status == GRAFT_OK) {
            assert_int_equal(succeed, 10);
            break;
        }
        assert_non_null(strstr(model.error.message, "no more"));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_nested, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_some_paths_only, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_broad_pattern, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_broad_pattern_elsewhere, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_inherited_description, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_inherited_functions, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_super, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_super_without_create, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_stack, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_create_fails_in_stack, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_create_fails, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
