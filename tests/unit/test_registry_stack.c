/* SPDX-License-Identifier: Apache-2.0 */
/* Replacements of the same module: those that call super wrap each other, and one of the others is innermost. */
#include "fake_model.h"

#include "base/alloc.h"
#include "registry/assignment.h"
#include "registry/implementations.h"
#include "registry/mapping.h"

#define LEAF "graft.linear/1"

static const struct fake_parameter leaf_parameters[] = {{.name = "weight", .rank = 2, .shape = {2, 2}}, {.name = NULL}};
static const struct fake_parameter a_parameters[] = {{.name = "lora_A", .rank = 2, .shape = {1, 2}}, {.name = NULL}};
static const struct fake_parameter quant_parameters[] = {{.name = "qweight", .rank = 2, .shape = {2, 2}},
                                                         {.name = NULL}};
static const struct fake_child root_children[] = {{"leaf", "Leaf", LEAF}, {"other", "Leaf", LEAF}, {0}};
static const struct fake_structure leaf_structure = {.parameters = leaf_parameters};
static const struct fake_structure a_structure = {.parameters = a_parameters};
static const struct fake_structure quant_structure = {.parameters = quant_parameters};
static const struct fake_structure root_structure = {.children = root_children};

static const struct graft_class leaf = FAKE_CLASS("Leaf", LEAF, &leaf_structure);
static const struct graft_class root = FAKE_CLASS("Root", "graft.causal_lm/1", &root_structure);
static const struct graft_class quant = FAKE_CLASS("Quant", LEAF, &quant_structure);
static const struct graft_class other_quant = FAKE_CLASS("OtherQuant", LEAF, &quant_structure);

#define WRAPPER(class_name)                                                                                \
    {                                                                                                      \
        .struct_size = sizeof(struct graft_class), .flags = GRAFT_CLASS_CALLS_SUPER, .name = (class_name), \
        .interface_id = LEAF, .forward = &linear                                                           \
    }

static int forward(void *self, const struct graft_call *call, const struct graft_linear_args *args,
                   struct graft_error *error) {
    return graft_linear_forward(self, call, args, error);
}

static const struct graft_linear linear = {.struct_size = sizeof linear, .forward = forward};
static const struct graft_class clip = WRAPPER("Clip");
static const struct graft_class log_calls = WRAPPER("Log");
static const struct graft_class lora = {.struct_size = sizeof lora,
                                        .flags = GRAFT_CLASS_CALLS_SUPER,
                                        .name = "Lora",
                                        .interface_id = LEAF,
                                        .describe = fake_describe,
                                        .create = graft_create_stateless,
                                        .forward = &linear,
                                        .data = &a_structure};

static struct fake_model model;

static int set_up(void **state) {
    (void)state;
    fake_model_init(&model);
    fake_model_add(&model, &leaf);
    fake_model_add(&model, &root);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    fake_model_finish(&model);
    return 0;
}

static void add_key(const char *plugin, int rank, int32_t key, const char *target, const struct graft_class *cls) {
    static struct graft_replacement replacements[64];
    static size_t n;
    struct graft_replacement *replacement = &replacements[n++ % 64];
    const struct graft_origin origin = {.plugin = plugin, .rank = rank};
    *replacement = (struct graft_replacement){
        .struct_size = sizeof *replacement, .key = key, .target = target, .replacement = cls};
    assert_int_equal(graft_registry_add_replacement(model.registry, replacement, &origin, NULL), GRAFT_OK);
}

static void add(const char *plugin, int rank, const struct graft_class *cls) {
    add_key(plugin, rank, GRAFT_KEY_NAME, "Leaf", cls);
}

/* Builds the model; the classes at "leaf", outermost first, must be these. */
static void assert_stack(const char *classes) {
    char found[256] = "";
    assert_int_equal(fake_model_build(&model, "Root"), GRAFT_OK);
    for (const struct graft_node *node = fake_model_node(&model, "leaf"); node != NULL; node = node->super) {
        size_t length = strlen(found);
        (void)snprintf(found + length, sizeof found - length, "%s%s", length > 0 ? " " : "", node->class_name);
        assert_string_equal(node->path, "leaf");
        assert_int_equal(node->below_super, node->wrapper != NULL);
        assert_true(node->wrapper == NULL || node->wrapper->super == node);
    }
    assert_string_equal(found, classes);
}

static void test_order_of_user(void **state) {
    (void)state;
    add("clip", 2, &clip);
    add("quant", 3, &quant);
    add("lora", 1, &lora);
    assert_stack("Lora Clip Quant");
}

/* A class that does not call super is innermost, whatever its rank. */
static void test_innermost(void **state) {
    (void)state;
    add("quant", 1, &quant);
    add("clip", 2, &clip);
    assert_stack("Clip Quant");
    assert_ptr_equal(fake_model_node(&model, "leaf")->original->cls, &leaf);
    assert_ptr_equal(fake_model_node(&model, "leaf")->super->original->cls, &leaf);
}

static void test_order_of_ids(void **state) {
    (void)state;
    add("lora", 0, &lora);
    add("log", 0, &log_calls);
    add("clip", 0, &clip);
    assert_stack("Clip Log Lora Leaf");
    assert_null(fake_model_node(&model, "leaf")->super->super->super->original);
}

/* Each class describes its own parameters; the state dict has those of all. */
static void test_parameters(void **state) {
    (void)state;
    add("lora", 0, &lora);
    add("quant", 0, &quant);
    assert_stack("Lora Quant");
    const struct graft_node *node = fake_model_node(&model, "leaf");
    assert_string_equal(graft_node_parameter(node, "lora_A")->name, "leaf.lora_A");
    assert_string_equal(graft_node_parameter(node->super, "qweight")->name, "leaf.qweight");
    assert_null(graft_node_parameter(node->super, "weight"));
}

static void test_conflict(void **state) {
    (void)state;
    add("quant", 0, &quant);
    add("clip", 0, &clip);
    add("other", 0, &other_quant);
    assert_int_equal(fake_model_build(&model, "Root"), GRAFT_ERROR_PLUGIN);
    assert_string_equal(model.error.message, "plugins quant and other both replace Leaf");
    fake_model_finish(&model);
    (void)set_up(NULL);
    add("quant", 2, &quant);
    add("clip", 3, &clip);
    add("other", 1, &other_quant);
    assert_stack("Clip OtherQuant");
}

/* A plugin has one place in a stack: that of the key by which it would win alone. */
static void test_one_of_each_source(void **state) {
    (void)state;
    add_key("clip", 0, GRAFT_KEY_PATTERN, "L", &log_calls);
    add_key("clip", 0, GRAFT_KEY_NAME, "Leaf", &clip);
    add_key("clip", 0, GRAFT_KEY_NAME, "Leaf", &quant);
    assert_stack("Clip Leaf");
}

/* A load's patch comes before calls, calls before plugins; the patch may also name a plugin's class. */
static void test_sources(void **state) {
    const struct graft_patch called = {.struct_size = sizeof called, .key = "Leaf", .replacement = &log_calls};
    const struct graft_patch patched = {.struct_size = sizeof patched, .key = "Leaf", .replacement = &clip};
    struct graft_snapshot *made = NULL;
    (void)state;
    add("clip", 1, &clip);
    add("lora", 2, &lora);
    assert_int_equal(graft_registry_register(model.registry, &called, 1, 1, NULL), GRAFT_OK);
    assert_stack("Log Leaf"); /* `overwrite` took the key from the plugins */
    add("clip", 1, &clip);
    add("lora", 2, &lora);
    assert_stack("Log Clip Lora Leaf");
    struct graft_snapshot *snapshot = graft_registry_snapshot(model.registry);
    assert_int_equal(graft_snapshot_with_patches(snapshot, &patched, 1, &made, NULL), GRAFT_OK);
    graft_registry_restore(model.registry, made);
    graft_snapshot_release(snapshot);
    graft_snapshot_release(made);
    assert_stack("Clip Log Lora Leaf");
}

/* A look-up by name gives a program the class that a parent would call. */
static void test_look_up(void **state) {
    const struct graft_class *cls = NULL;
    const struct graft_class *describing[GRAFT_MAX_STACK];
    struct graft_scope *scope = NULL;
    size_t n = 0;
    (void)state;
    add("quant", 1, &quant);
    add("lora", 2, &lora);
    add("log", 3, &log_calls);
    assert_int_equal(graft_registry_enter(model.registry, &scope, NULL), GRAFT_OK);
    assert_int_equal(graft_registry_look_up(model.registry, "Leaf", NULL, &cls, NULL), GRAFT_OK);
    assert_ptr_equal(cls, &lora);
    graft_registry_leave(model.registry, scope);
    struct graft_snapshot *snapshot = graft_registry_snapshot(model.registry);
    assert_int_equal(graft_snapshot_describing_classes(snapshot, "Leaf", "fake", describing, &n, NULL), GRAFT_OK);
    assert_int_equal(n, 2);
    assert_ptr_equal(describing[0], &lora);
    assert_ptr_equal(describing[1], &quant);
    assert_int_equal(graft_snapshot_describing_classes(snapshot, "Root", "fake", describing, &n, NULL), GRAFT_OK);
    assert_int_equal(n, 1);
    assert_ptr_equal(describing[0], &root);
    graft_snapshot_release(snapshot);
}

/* A kernel that was chosen by name replaces the forward of its class, wherever in a stack of wrappers that class is. */
static void test_kernels(void **state) {
    static const char *const name = "fast";
    static const struct graft_class fast_leaf = {
        .struct_size = sizeof fast_leaf, .name = "FastLeaf", .interface_id = LEAF, .create = graft_create_stateless};
    static const struct graft_class fast_clip = {
        .struct_size = sizeof fast_clip, .name = "FastClip", .interface_id = LEAF, .create = graft_create_stateless};
    static const struct graft_replacement on_leaf = {
        .struct_size = sizeof on_leaf, .key = GRAFT_KEY_NAME, .target = "Leaf", .replacement = &fast_leaf};
    static const struct graft_replacement on_clip = {
        .struct_size = sizeof on_clip, .key = GRAFT_KEY_NAME, .target = "Clip", .replacement = &fast_clip};
    static const struct graft_kernel_override kernels[] = {
        {.struct_size = sizeof kernels[0], .name = "fast", .replacement = &on_leaf},
        {.struct_size = sizeof kernels[0], .name = "fast", .replacement = &on_clip}};
    const struct graft_origin origin = {.plugin = "offers"};
    struct graft_snapshot *made = NULL;
    (void)state;
    add("log", 1, &log_calls);
    add("clip", 2, &clip);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(graft_registry_add_implementation(model.registry, GRAFT_IMPLEMENTATION_KERNEL, "fast",
                                                           &kernels[i], &origin, NULL),
                         GRAFT_OK);
    }
    struct graft_snapshot *snapshot = graft_registry_snapshot(model.registry);
    assert_int_equal(graft_snapshot_with_kernels(snapshot, &name, 1, &made, NULL), GRAFT_OK);
    graft_registry_restore(model.registry, made);
    graft_snapshot_release(snapshot);
    graft_snapshot_release(made);
    assert_stack("Log FastClip FastLeaf");
    const struct graft_node *node = fake_model_node(&model, "leaf")->super;
    assert_ptr_equal(node->kernel_on->cls, &clip);
    assert_ptr_equal(node->described_by->cls, &clip);
    assert_ptr_equal(node->made_by->cls, &fast_clip);
    assert_null(node->super->kernel_on);
    assert_ptr_equal(node->super->described_by->cls, &leaf);
    assert_non_null(graft_node_parameter(node->super, "weight"));
}

static void test_too_many(void **state) {
    static char ids[GRAFT_MAX_STACK][16];
    (void)state;
    for (int i = 0; i < GRAFT_MAX_STACK; i++) {
        (void)snprintf(ids[i], sizeof ids[i], "plugin_%02d", i);
    }
    static struct graft_class wrappers[GRAFT_MAX_STACK];
    for (int i = 0; i < GRAFT_MAX_STACK - 2; i++) {
        wrappers[i] = clip;
        add(ids[i], 0, &wrappers[i]);
    }
    assert_int_equal(fake_model_build(&model, "Root"), GRAFT_OK);
    add(ids[GRAFT_MAX_STACK - 2], 0, &log_calls);
    assert_int_equal(fake_model_build(&model, "Root"), GRAFT_ERROR_PLUGIN);
    assert_string_equal(model.error.source, "plugin_30");
    assert_string_equal(model.error.message, "Log for Leaf: expected at most 30 plugins to replace one module");
}

static int first_note(void *data, char *note_take, size_t unused_plugins, struct graft_error *error) {
    (void)unused_plugins;
    char *kept = data;
    (void)error;
    if (kept[0] == '\0') {
        (void)snprintf(kept, 256, "%s", note_take);
    }
    graft_free(note_take);
    return GRAFT_OK;
}

/* A plugin that wraps a module has not lost it, so its group takes effect. */
static void test_groups(void **state) {
    static const struct graft_replacement wrapping[] = {{.struct_size = sizeof wrapping[0],
                                                         .key = GRAFT_KEY_NAME,
                                                         .target = "Leaf",
                                                         .replacement = &clip,
                                                         .module_path = "leaf",
                                                         .group = "both"},
                                                        {.struct_size = sizeof wrapping[0],
                                                         .key = GRAFT_KEY_NAME,
                                                         .target = "Leaf",
                                                         .replacement = &clip,
                                                         .module_path = "other",
                                                         .group = "both"}};
    const struct graft_origin origin = {.plugin = "clip", .rank = 2};
    char note[256] = "";
    (void)state;
    add("quant", 1, &quant);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(graft_registry_add_replacement(model.registry, &wrapping[i], &origin, NULL), GRAFT_OK);
    }
    assert_stack("Clip Quant");
    assert_string_equal(fake_model_node(&model, "other")->class_name, "Clip");
    assert_int_equal(graft_assignment_notes(model.tree->assignment, first_note, note, NULL), GRAFT_OK);
    assert_string_equal(note, "");
}

#define WITH_MODEL(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        WITH_MODEL(test_order_of_user), WITH_MODEL(test_innermost), WITH_MODEL(test_order_of_ids),
        WITH_MODEL(test_parameters),    WITH_MODEL(test_conflict),  WITH_MODEL(test_one_of_each_source),
        WITH_MODEL(test_sources),       WITH_MODEL(test_look_up),   WITH_MODEL(test_kernels),
        WITH_MODEL(test_too_many),      WITH_MODEL(test_groups),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
