/* SPDX-License-Identifier: Apache-2.0 */
/* Classes with lossy operations take effect only if the user asked for their plugin. */
#include "fake_model.h"

#include "base/alloc.h"
#include "registry/assignment.h"
#include "registry/mapping.h"

#define LEAF "graft.linear/1"

static const struct fake_structure nothing;
static const struct fake_child root_children[] = {{"leaf", "Leaf", LEAF}, {"other", "Other", LEAF}, {0}};
static const struct fake_structure root_structure = {.children = root_children};
static const struct graft_class root = FAKE_CLASS("Root", "graft.causal_lm/1", &root_structure);
static const struct graft_class leaf = FAKE_CLASS("Leaf", LEAF, &nothing);
static const struct graft_class other = FAKE_CLASS("Other", LEAF, &nothing);

/* Never called, because nothing is planned here. */
static int infer(const struct graft_custom_operation *self, const struct graft_custom_shapes *shapes,
                 struct graft_error *error) {
    (void)shapes;
    return graft_error_set(error, GRAFT_ERROR_INTERNAL, self->name, "called");
}

static int apply(const struct graft_custom_operation *self, const struct graft_custom_work *work,
                 struct graft_error *error) {
    (void)work;
    return graft_error_set(error, GRAFT_ERROR_INTERNAL, self->name, "called");
}

static const struct graft_custom_operation rounding = {
    .struct_size = sizeof rounding, .flags = GRAFT_CUSTOM_LOSSY, .name = "rounding", .infer = infer, .apply = apply};
static const struct graft_operation operations[] = {
    {.struct_size = sizeof operations[0], .kind = GRAFT_OP_TRANSPOSE, .dim1 = 1},
    {.struct_size = sizeof operations[0], .kind = GRAFT_OP_CUSTOM, .custom = &rounding}};
static const char *const source[] = {"weight"}, *const target[] = {"qweight"};
static const struct graft_conversion conversions[] = {{.struct_size = sizeof conversions[0],
                                                       .n_sources = 1,
                                                       .sources = source,
                                                       .targets = target,
                                                       .operations = operations,
                                                       .n_targets = 1,
                                                       .n_operations = 2,
                                                       .operation_stride = sizeof operations[0]}};

static const struct graft_class fast = FAKE_CLASS("Fast", LEAF, &nothing);
static struct graft_class quant;
static struct graft_replacement replacements[2]; /* of Leaf by Quant, of Other by Fast */
static struct graft_plugin plugin;
static struct fake_model model;
static char notes[512];

static int set_up(void **state) {
    (void)state;
    fake_model_init(&model);
    fake_model_add(&model, &root);
    fake_model_add(&model, &leaf);
    fake_model_add(&model, &other);
    quant = (struct graft_class)FAKE_CLASS("Quant", LEAF, &nothing);
    quant.conversions = conversions;
    quant.n_conversions = 1;
    quant.conversion_stride = sizeof conversions[0];
    replacements[0] = (struct graft_replacement){
        .struct_size = sizeof replacements[0], .key = GRAFT_KEY_NAME, .target = "Leaf", .replacement = &quant};
    replacements[1] = (struct graft_replacement){
        .struct_size = sizeof replacements[0], .key = GRAFT_KEY_NAME, .target = "Other", .replacement = &fast};
    plugin = (struct graft_plugin){GRAFT_PLUGIN_HEADER, .id = "quant", .replacements = replacements,
                                   .n_replacements = 2, .replacement_stride = sizeof replacements[0]};
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

/* Builds a model with the plugin at a rank; the classes at "leaf" and "other" must be these. */
static void assert_classes(int rank, const char *at_leaf, const char *at_other) {
    const struct graft_known_plugin known = {.descriptor = &plugin,
                                             .origin = {.plugin = "quant", .file = "quant.so", .rank = rank}};
    assert_int_equal(graft_registry_add_plugins(model.registry, &known, 1, NULL), GRAFT_OK);
    assert_int_equal(fake_model_build(&model, "Root"), GRAFT_OK);
    assert_string_equal(fake_model_node(&model, "leaf")->class_name, at_leaf);
    assert_string_equal(fake_model_node(&model, "other")->class_name, at_other);
    notes[0] = '\0';
    assert_int_equal(graft_assignment_notes(model.tree->assignment, keep_note, NULL, NULL), GRAFT_OK);
}

#define QUANT_NOTE "quant.so: Quant is not used, because it changes the model's results; enable it by id (quant)\n"

/* Only the lossy class waits, not the whole plugin. */
static void test_unasked(void **state) {
    const struct graft_class *cls = NULL;
    struct graft_scope *scope = NULL;
    (void)state;
    assert_classes(0, "Leaf", "Fast");
    assert_string_equal(notes, QUANT_NOTE);
    assert_int_equal(graft_registry_enter(model.registry, &scope, NULL), GRAFT_OK);
    assert_int_equal(graft_registry_look_up(model.registry, "Leaf", NULL, &cls, NULL), GRAFT_OK);
    assert_ptr_equal(cls, &leaf);
    graft_registry_leave(model.registry, scope);
}

static void test_asked_for(void **state) {
    (void)state;
    assert_classes(1, "Quant", "Fast");
    assert_string_equal(notes, "");
}

/* An exact class may be declared to wait as well. */
static void test_on_request(void **state) {
    (void)state;
    replacements[1].flags = GRAFT_REPLACEMENT_ON_REQUEST;
    assert_classes(0, "Leaf", "Other");
    assert_string_equal(notes, QUANT_NOTE "quant.so: Fast is not used; enable it by id (quant)\n");
}

/* A program registers a plugin by a call, which comes before those from files. */
static void test_called(void **state) {
    (void)state;
    assert_classes(INT32_MIN, "Quant", "Fast");
}

static void test_group(void **state) {
    (void)state;
    replacements[0].group = replacements[1].group = "both";
    assert_classes(0, "Leaf", "Other");
    assert_string_equal(notes, QUANT_NOTE);
}

/* A plugin gets one note, however many of its classes and rules wait. */
static void test_several(void **state) {
    struct graft_replacement three[] = {replacements[0], replacements[1], replacements[0]};
    (void)state;
    three[0].flags = three[1].flags = three[2].flags = GRAFT_REPLACEMENT_ON_REQUEST;
    three[2].target = "Root";
    plugin.replacements = three;
    plugin.n_replacements = 3;
    assert_classes(0, "Leaf", "Other");
    assert_string_equal(notes, "quant.so: Quant and 1 more of its classes are not used; enable it by id (quant)\n");
}

/* Plugins that wait entirely, for the same reason, share a note. */
static void test_several_plugins(void **state) {
    struct graft_plugin others[] = {plugin, plugin, plugin};
    struct graft_known_plugin known[3];
    static const char *const ids[] = {"four", "eight", "half"};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        others[i].id = ids[i];
        others[i].n_replacements = i == 2 ? 2 : 1; /* that of `half` which is not lossy takes effect */
        known[i] = (struct graft_known_plugin){.descriptor = &others[i], .origin = {.plugin = ids[i], .file = ids[i]}};
    }
    assert_int_equal(graft_registry_add_plugins(model.registry, known, 3, NULL), GRAFT_OK);
    assert_int_equal(fake_model_build(&model, "Root"), GRAFT_OK);
    notes[0] = '\0';
    assert_int_equal(graft_assignment_notes(model.tree->assignment, keep_note, NULL, NULL), GRAFT_OK);
    assert_string_equal(
        notes,
        "plugins four and eight are not used, because they change the model's results; to use one, enable it by id\n"
        "half: Quant is not used, because it changes the model's results; enable it by id (half)\n");
}

/* A class that describes a lossy child is lossy, although the host cannot tell which class of the plugin that is. */
static void test_private_class(void **state) {
    (void)state;
    plugin.classes = &quant;
    plugin.n_classes = 1;
    plugin.class_stride = sizeof quant;
    plugin.replacements = &replacements[1];
    plugin.n_replacements = 1;
    assert_classes(0, "Leaf", "Other");
    assert_string_equal(
        notes, "quant.so: Fast is not used, because it changes the model's results; enable it by id (quant)\n");
}

/* A patch that names the class counts as a request. */
static void test_patch(void **state) {
    const struct graft_patch element = {.struct_size = sizeof element, .key = "Leaf", .replacement = &quant};
    struct graft_snapshot *made = NULL;
    (void)state;
    quant.forward = NULL; /* what the original has */
    quant.create = NULL;
    assert_classes(0, "Leaf", "Fast");
    struct graft_snapshot *snapshot = graft_registry_snapshot(model.registry);
    assert_int_equal(graft_snapshot_with_patches(snapshot, &element, 1, &made, &model.error), GRAFT_OK);
    graft_registry_restore(model.registry, made);
    graft_snapshot_release(snapshot);
    graft_snapshot_release(made);
    assert_int_equal(fake_model_build(&model, "Root"), GRAFT_OK);
    assert_string_equal(fake_model_node(&model, "leaf")->class_name, "Quant");
}

#define WITH_MODEL(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        WITH_MODEL(test_unasked),         WITH_MODEL(test_asked_for),     WITH_MODEL(test_on_request),
        WITH_MODEL(test_called),          WITH_MODEL(test_group),         WITH_MODEL(test_several),
        WITH_MODEL(test_several_plugins), WITH_MODEL(test_private_class), WITH_MODEL(test_patch)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
