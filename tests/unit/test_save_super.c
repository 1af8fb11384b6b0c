/* SPDX-License-Identifier: Apache-2.0 */
/* Saves with a replacement that calls the original, where both have parameters from the same tensors. */
#include "save_fixture.h"

#define ROOT "test.root/1"
#define BLOCK "test.block/1"

static const struct fake_child children[] = {{"block", "Block", BLOCK}, {NULL, NULL, NULL}};
static const struct fake_structure root_structure = {.children = children};
static const struct fake_parameter parts[] = {{.name = "q", .rank = 2, .shape = {3, 2}},
                                              {.name = "k", .rank = 2, .shape = {1, 2}},
                                              {.name = "norm", .rank = 1, .shape = {4}},
                                              {.name = NULL}};
static const struct fake_structure part_structure = {.parameters = parts};
static const struct fake_parameter fused[] = {
    {.name = "qk", .rank = 2, .shape = {4, 2}}, {.name = "norm", .rank = 1, .shape = {4}}, {.name = NULL}};
static const struct fake_structure fused_structure = {.parameters = fused};
static const struct fake_parameter confused[] = {{.name = "q", .rank = 2, .shape = {4, 2}}, {.name = NULL}};
static const struct fake_structure confused_structure = {.parameters = confused};

static const struct graft_operation join[] = {
    {.struct_size = sizeof(struct graft_operation), .kind = GRAFT_OP_CONCATENATE, .dim = 0}};
static const char *const sources[] = {"q_proj", "k_proj"};
static const char *const fused_targets[] = {"qk"};
static const char *const confused_targets[] = {"q"};
static const char *const q_source[] = {"q_proj"}, *const k_source[] = {"k_proj"};
static const char *const q_target[] = {"q"}, *const k_target[] = {"k"};

#define JOINED(to)                                                                                                \
    {                                                                                                             \
        .struct_size = sizeof(struct graft_conversion), .n_sources = 2, .sources = sources, .targets = (to),      \
        .operations = join, .n_targets = 1, .n_operations = 1, .operation_stride = sizeof(struct graft_operation) \
    }
#define RENAMED(from, to)                                                                                   \
    {                                                                                                       \
        .struct_size = sizeof(struct graft_conversion), .n_sources = 1, .sources = (from), .targets = (to), \
        .n_targets = 1                                                                                      \
    }

static const struct graft_conversion part_conversions[] = {RENAMED(q_source, q_target), RENAMED(k_source, k_target)};
static const struct graft_conversion fused_conversions[] = {JOINED(fused_targets)};
static const struct graft_conversion confused_conversions[] = {JOINED(confused_targets)};

static const struct fake_tensor tensors[] = {{.name = "block.q_proj", .rank = 2, .shape = {3, 2}},
                                             {.name = "block.k_proj", .rank = 2, .shape = {1, 2}},
                                             {.name = "block.norm", .rank = 1, .shape = {4}},
                                             {.name = NULL}};

static struct saver saver;
static struct graft_class root, block, replacement;
static const struct graft_replacement patch = {
    .struct_size = sizeof patch, .key = GRAFT_KEY_NAME, .target = "Block", .replacement = &replacement};

static int set_up(void **state) {
    (void)state;
    root = (struct graft_class)FAKE_CLASS("Root", ROOT, &root_structure);
    block = (struct graft_class)FAKE_CLASS("Block", BLOCK, &part_structure);
    block.conversions = part_conversions;
    block.n_conversions = 2;
    block.conversion_stride = sizeof part_conversions[0];
    replacement = (struct graft_class)FAKE_CLASS("Fused", BLOCK, &fused_structure);
    replacement.flags = GRAFT_CLASS_CALLS_SUPER;
    replacement.conversions = fused_conversions;
    replacement.n_conversions = 1;
    replacement.conversion_stride = sizeof fused_conversions[0];
    saver_init(&saver);
    fake_model_add(&saver.fake.model, &root);
    fake_model_add(&saver.fake.model, &block);
    fake_checkpoint_write(saver.fake.folder, tensors);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    saver_finish(&saver);
    return 0;
}

static void test_super(void **state) {
    (void)state;
    fake_model_replace(&saver.fake.model, &patch);
    saver_bind(&saver, "Root");
    assert_same_tensors(saver.fake.folder, saver_save(&saver, "original", 0, 0));
    (void)saver_save(&saver, "runtime", 1, 0);
    saver_adopt(&saver, "runtime");
    saver_bind(&saver, "Root");
    assert_int_equal(graft_checkpoint_count(saver.fake.checkpoint), 4); /* qk, q, k, and one norm */
    assert_int_equal(saver.fake.plan->n_unexpected, 0);
    assert_same_tensors(folder_path(saver.outputs, "original"), saver_save(&saver, "back", 0, 0));
}

/* One name for two different parameters: the original layout works, the runtime layout cannot hold both. */
static void test_one_name(void **state) {
    (void)state;
    replacement.data = &confused_structure;
    replacement.conversions = confused_conversions;
    fake_model_replace(&saver.fake.model, &patch);
    saver_bind(&saver, "Root");
    assert_same_tensors(saver.fake.folder, saver_save(&saver, "original", 0, 0));
    assert_int_equal(saver_try(&saver, "runtime", 1, 0), GRAFT_ERROR_PLUGIN);
    assert_string_equal(saver.fake.model.error.source, "block.q");
    assert_int_equal(folder_count(saver.outputs), 1);
}

/* Three classes of one module, each with its own parameters. */
static void test_stack(void **state) {
    static const struct fake_parameter gain[] = {{.name = "gain", .rank = 1, .shape = {4}}, {.name = NULL}};
    static const struct fake_structure gain_structure = {.parameters = gain};
    static const char *const norm_source[] = {"norm"}, *const gain_target[] = {"gain"};
    static const struct graft_conversion gain_conversions[] = {RENAMED(norm_source, gain_target)};
    static const struct graft_origin origin = {.plugin = "outer"};
    static struct graft_class outer = FAKE_CLASS("Outer", BLOCK, &gain_structure);
    static const struct graft_replacement wrapping = {
        .struct_size = sizeof wrapping, .key = GRAFT_KEY_NAME, .target = "Block", .replacement = &outer};
    (void)state;
    outer.flags = GRAFT_CLASS_CALLS_SUPER;
    outer.conversions = gain_conversions;
    outer.n_conversions = 1;
    outer.conversion_stride = sizeof gain_conversions[0];
    fake_model_replace(&saver.fake.model, &patch);
    assert_int_equal(graft_registry_add_replacement(saver.fake.model.registry, &wrapping, &origin, NULL), GRAFT_OK);
    saver_bind(&saver, "Root");
    assert_same_tensors(saver.fake.folder, saver_save(&saver, "original", 0, 0));
    (void)saver_save(&saver, "runtime", 1, 0);
    saver_adopt(&saver, "runtime");
    saver_bind(&saver, "Root");
    assert_int_equal(graft_checkpoint_count(saver.fake.checkpoint), 5); /* gain, qk, q, k, and one norm */
    assert_int_equal(saver.fake.plan->n_unexpected, 0);
    assert_same_tensors(folder_path(saver.outputs, "original"), saver_save(&saver, "back", 0, 0));
}

/* Without the plugin the error names it. */
static void test_hint(void **state) {
    struct graft_error error = graft_error_none();
    (void)state;
    replacement.flags = 0;
    fake_model_replace(&saver.fake.model, &patch);
    saver_bind(&saver, "Root");
    (void)saver_save(&saver, "runtime", 1, 0);
    saver_adopt(&saver, "runtime");
    (void)graft_error_set(&error, GRAFT_ERROR_MODEL, "", "something is missing");
    graft_save_hint(saver.fake.folder, saver.fake.model.tree, NULL, &error);
    assert_string_equal(error.hint, "");
    fake_model_finish(&saver.fake.model);
    fake_model_init(&saver.fake.model);
    fake_model_add(&saver.fake.model, &root);
    fake_model_add(&saver.fake.model, &block);
    assert_int_equal(fake_plan_again(&saver.fake, "Root"), GRAFT_OK);
    assert_int_equal(graft_plan_check(saver.fake.plan, NULL), GRAFT_ERROR_MODEL);
    graft_save_hint(saver.fake.folder, saver.fake.model.tree, graft_plan_fault(saver.fake.plan, NULL, NULL), &error);
    assert_string_equal(
        error.hint,
        "the directory is in the runtime layout of Fused for Block (plugin test); load it with the plugins named");
}

#define WITH_SAVER(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {WITH_SAVER(test_super), WITH_SAVER(test_one_name), WITH_SAVER(test_stack),
                                       WITH_SAVER(test_hint)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
