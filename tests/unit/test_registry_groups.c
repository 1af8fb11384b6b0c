/* SPDX-License-Identifier: Apache-2.0 */
/* Groups of replacements: all of them take effect in a model, or none. */
#include "fake_model.h"

#include "base/alloc.h"
#include "registry/assignment.h"

static const struct fake_structure nothing;
static const struct graft_class leaf = FAKE_CLASS("Leaf", "graft.linear/1", &nothing);
static const struct graft_class norm = FAKE_CLASS("Norm", "graft.norm/1", &nothing);
static const struct graft_class my_leaf = FAKE_CLASS("MyLeaf", "graft.linear/1", &nothing);
static const struct graft_class my_norm = FAKE_CLASS("MyNorm", "graft.norm/1", &nothing);
static const struct fake_child block_children[] = {
    {"leaf", "Leaf", "graft.linear/1"}, {"norm", "Norm", "graft.norm/1"}, {0}};
static const struct fake_structure block_structure = {.children = block_children};
static const struct graft_class block = FAKE_CLASS("Block", "graft.mlp/1", &block_structure);
static const struct graft_class my_block = FAKE_CLASS("MyBlock", "graft.mlp/1", &block_structure);
static const struct fake_child bare_children[] = {{"leaf", "Leaf", "graft.linear/1"}, {0}};
static const struct fake_structure bare_structure = {.children = bare_children};
static const struct graft_class bare_block = FAKE_CLASS("BareBlock", "graft.mlp/1", &bare_structure);
static const struct fake_child root_children[] = {{"a", "Block", "graft.mlp/1"}, {"b", "Block", "graft.mlp/1"}, {0}};
static const struct fake_structure root_structure = {.children = root_children};
static const struct graft_class root = FAKE_CLASS("Root", "graft.causal_lm/1", &root_structure);

static struct fake_model model;
static char notes[1024];

static int set_up(void **state) {
    (void)state;
    fake_model_init(&model);
    fake_model_add(&model, &leaf);
    fake_model_add(&model, &norm);
    fake_model_add(&model, &block);
    fake_model_add(&model, &root);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    fake_model_finish(&model);
    return 0;
}

static int keep_note(void *data, char *note_take, size_t unused_plugins, struct graft_error *error) {
    (void)unused_plugins;
    size_t length = strlen(notes);
    (void)data, (void)error;
    (void)snprintf(notes + length, sizeof notes - length, "%s\n", note_take);
    graft_free(note_take);
    return GRAFT_OK;
}

static int build(void) {
    int status = fake_model_build(&model, "Root");
    notes[0] = '\0';
    if (status == GRAFT_OK) {
        assert_int_equal(graft_assignment_notes(model.tree->assignment, keep_note, NULL, NULL), GRAFT_OK);
    }
    return status;
}

static void add(const char *plugin, int rank, const struct graft_replacement *replacement) {
    const struct graft_origin origin = {.plugin = plugin, .rank = rank};
    assert_int_equal(graft_registry_add_replacement(model.registry, replacement, &origin, NULL), GRAFT_OK);
}

#define NAMED(target_name, class_, group_name)                                                           \
    {                                                                                                    \
        .struct_size = sizeof(struct graft_replacement), .key = GRAFT_KEY_NAME, .target = (target_name), \
        .replacement = &(class_), .group = (group_name)                                                  \
    }

static const struct graft_replacement leaf_in_pair = NAMED("Leaf", my_leaf, "pair");
static const struct graft_replacement norm_in_pair = NAMED("Norm", my_norm, "pair");
static const struct graft_replacement block_in_pair = NAMED("Block", my_block, "pair");
static const struct graft_replacement absent_in_pair = NAMED("Absent", my_leaf, "pair");
static const struct graft_replacement leaf_alone = NAMED("Leaf", my_leaf, NULL);
static const struct graft_replacement block_alone = NAMED("Block", bare_block, NULL);

static void assert_class(const char *path, const char *class_name) {
    assert_string_equal(fake_model_node(&model, path)->class_name, class_name);
}

static void test_whole(void **state) {
    (void)state;
    add("one", 0, &leaf_in_pair);
    add("one", 0, &norm_in_pair);
    assert_int_equal(build(), GRAFT_OK);
    assert_class("a.leaf", "MyLeaf");
    assert_class("b.norm", "MyNorm");
    assert_string_equal(notes, "");
}

static void test_absent(void **state) {
    (void)state;
    add("one", 0, &leaf_in_pair);
    add("one", 0, &absent_in_pair);
    add("two", 0, &norm_in_pair); /* another plugin's group of that name */
    assert_int_equal(build(), GRAFT_OK);
    assert_class("a.leaf", "Leaf");
    assert_class("a.norm", "MyNorm");
    assert_string_equal(notes, "one: group pair is left out: \"Absent\" matches nothing in this model\n"
                               "plugin one has no effect on this model\n");
}

static void test_other_model_type(void **state) {
    static const char *const types[] = {"other", NULL};
    struct graft_replacement elsewhere = absent_in_pair;
    (void)state;
    elsewhere.model_types = types;
    add("one", 0, &leaf_in_pair);
    add("one", 0, &elsewhere);
    assert_int_equal(build(), GRAFT_OK);
    assert_class("a.leaf", "MyLeaf");
    assert_string_equal(notes, "");
}

/* A plugin gets a note if none of its replacements is for the model's type. */
static void test_other_model_types(void **state) {
    static const char *const first_types[] = {"one_type", "both", NULL};
    static const char *const second_types[] = {"both", "last", NULL};
    struct graft_replacement first = leaf_alone;
    struct graft_replacement second = leaf_alone;
    (void)state;
    first.model_types = first_types;
    second.model_types = second_types;
    add("one", 0, &first);
    assert_int_equal(build(), GRAFT_OK);
    assert_string_equal(notes,
                        "plugin one has no effect on this model: model_type is none of \"one_type\", \"both\"\n");
    add("one", 0, &second);
    assert_int_equal(build(), GRAFT_OK);
    assert_class("a.leaf", "Leaf");
    assert_string_equal(notes, "plugin one has no effect on this model: model_type is none of \"one_type\", \"both\", "
                               "\"last\"\n");
}

static void test_taken(void **state) {
    (void)state;
    add("one", 2, &leaf_in_pair);
    add("one", 2, &norm_in_pair);
    add("two", 1, &leaf_alone);
    assert_int_equal(build(), GRAFT_OK);
    assert_class("a.norm", "Norm");
    assert_non_null(strstr(notes, "one: group pair is left out: two replaces what \"Leaf\" matches\n"));
}

/* A module that another replacement leaves out of the model does not exist for a group. */
static void test_taken_with_its_parent(void **state) {
    (void)state;
    add("one", 0, &leaf_in_pair);
    add("one", 0, &norm_in_pair);
    add("two", 0, &block_alone);
    assert_int_equal(build(), GRAFT_OK);
    assert_class("a", "BareBlock");
    assert_class("a.leaf", "Leaf");
    assert_non_null(strstr(notes, "one: group pair is left out: \"Norm\" matches nothing in this model\n"));
}

/* A group that does not take effect takes no modules from others, and conflicts with none. */
static void test_no_quarrel(void **state) {
    (void)state;
    add("one", 0, &block_in_pair);
    add("one", 0, &absent_in_pair);
    add("two", 0, &block_alone);
    assert_int_equal(build(), GRAFT_OK);
    assert_class("a", "BareBlock");
}

static void test_quarrel(void **state) {
    (void)state;
    add("one", 0, &leaf_in_pair);
    add("two", 0, &leaf_alone);
    assert_int_equal(build(), GRAFT_ERROR_PLUGIN);
    assert_string_equal(model.error.message, "plugins one and two both replace Leaf");
}

/* A plugin that is skipped because its pattern matches a misfit hinders neither groups nor the plugins that would have
 * lost to it. */
static void test_skipped(void **state) {
    static const struct graft_replacement broad = {
        .struct_size = sizeof broad, .key = GRAFT_KEY_PATTERN, .target = ".", .replacement = &my_leaf};
    static const struct graft_replacement some = {.struct_size = sizeof some,
                                                  .key = GRAFT_KEY_PATTERN,
                                                  .target = "Leaf|Norm",
                                                  .replacement = &my_norm,
                                                  .flags = GRAFT_REPLACEMENT_WHERE_IT_FITS};
    struct graft_snapshot *snapshot;
    (void)state;
    add("bad", 1, &leaf_alone);
    add("bad", 1, &broad);
    add("one", 2, &leaf_in_pair);
    add("one", 2, &block_in_pair);
    add("two", 3, &some);
    assert_int_equal(build(), GRAFT_ERROR_PLUGIN);
    snapshot = graft_registry_snapshot(model.registry);
    const struct graft_tree_options options = {
        .config = &model.config, .snapshot = snapshot, .class_name = "Root", .skip_bad_plugins = 1};
    assert_int_equal(graft_tree_build(&options, &model.tree, NULL), GRAFT_OK);
    graft_snapshot_release(snapshot);
    assert_class("a", "MyBlock");
    assert_class("a.leaf", "MyLeaf");
    assert_class("a.norm", "MyNorm");
    notes[0] = '\0';
    assert_int_equal(graft_assignment_notes(model.tree->assignment, keep_note, NULL, NULL), GRAFT_OK);
    assert_string_equal(notes,
                        "bad: skipped: pattern \".\" for MyLeaf (graft.linear/1) also matches Root "
                        "(graft.causal_lm/1), Block (graft.mlp/1), Norm (graft.norm/1); classes that fit: Leaf\n"
                        "two: pattern \"Leaf|Norm\" leaves Leaf (graft.linear/1) alone: MyNorm is a graft.norm/1\n");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_whole, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_absent, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_other_model_type, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_other_model_types, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_taken, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_taken_with_its_parent, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_no_quarrel, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_quarrel, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_skipped, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
