/* SPDX-License-Identifier: Apache-2.0 */
/* Conditions of replacements: on the config and on a module's tensors, beside patterns, groups and stacks. */
#include "fake_model.h"

#include "base/alloc.h"
#include "registry/assignment.h"

static const struct fake_structure nothing;
static const struct graft_class leaf = FAKE_CLASS("Leaf", "graft.linear/1", &nothing);
static const struct graft_class norm = FAKE_CLASS("Norm", "graft.norm/1", &nothing);
static const struct graft_class my_leaf = FAKE_CLASS("MyLeaf", "graft.linear/1", &nothing);
static const struct graft_class my_norm = FAKE_CLASS("MyNorm", "graft.norm/1", &nothing);
static const struct graft_class wrapper = {.struct_size = sizeof wrapper,
                                           .name = "Wrapper",
                                           .flags = GRAFT_CLASS_CALLS_SUPER,
                                           .interface_id = "graft.linear/1",
                                           .forward = ""};
static const struct fake_child root_children[] = {
    {"a", "Leaf", "graft.linear/1"}, {"b", "Leaf", "graft.linear/1"}, {"norm", "Norm", "graft.norm/1"}, {0}};
static const struct fake_structure root_structure = {.children = root_children};
static const struct graft_class root = FAKE_CLASS("Root", "graft.causal_lm/1", &root_structure);

static struct fake_model model;
static struct graft_model_facts facts;
static char notes[1024];

/* Module `a` has been converted. */
static const struct graft_tensor_view *tensor(const void *data, const char *path, const char *name) {
    static const struct graft_tensor_view view = {.name = "a.qweight"};
    (void)data;
    return strcmp(path, "a") == 0 && strcmp(name, "qweight") == 0 ? &view : NULL;
}

static int set_up(void **state) {
    static const char text[] =
        "{\"method\": {\"name\": \"gptq\", \"bits\": 4, \"sym\": true, \"none\": null, \"x\": 0.5}}";
    (void)state;
    fake_model_init(&model);
    assert_int_equal(graft_json_parse(text, strlen(text), "config.json", &model.config.document, NULL), GRAFT_OK);
    model.config.view = graft_config_view(model.config.document, model.config.file);
    facts = (struct graft_model_facts){.config = &model.config.view, .tensor = tensor};
    model.facts = &facts;
    fake_model_add(&model, &leaf);
    fake_model_add(&model, &norm);
    fake_model_add(&model, &root);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    fake_model_finish(&model);
    graft_json_free(model.config.document);
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

static void build(void) {
    assert_int_equal(fake_model_build(&model, "Root"), GRAFT_OK);
    notes[0] = '\0';
    assert_int_equal(graft_assignment_notes(model.tree->assignment, keep_note, NULL, NULL), GRAFT_OK);
}

static void add(const char *plugin, const struct graft_replacement *replacement) {
    const struct graft_origin origin = {.plugin = plugin};
    assert_int_equal(graft_registry_add_replacement(model.registry, replacement, &origin, NULL), GRAFT_OK);
}

static void assert_class(const char *path, const char *class_name) {
    assert_string_equal(fake_model_node(&model, path)->class_name, class_name);
}

static const char *const packed[] = {"qweight", NULL};
static const struct graft_condition is_packed = {sizeof is_packed, GRAFT_CONDITION_TENSOR, NULL, packed};

static struct graft_replacement named(const char *target, const struct graft_class *cls,
                                      const struct graft_condition *condition) {
    return (struct graft_replacement){.struct_size = sizeof(struct graft_replacement),
                                      .key = GRAFT_KEY_NAME,
                                      .target = target,
                                      .replacement = cls,
                                      .conditions = condition,
                                      .n_conditions = 1,
                                      .condition_stride = sizeof *condition};
}

/* Whether Leaf is replaced on the condition that the config has `field` with one of two values, if they are not
 * NULL. */
static int holds_as(int32_t kind, const char *field, const char *value, const char *or_value) {
    const char *any_of[] = {value, or_value, NULL};
    const struct graft_condition condition = {sizeof condition, kind, field, value != NULL ? any_of : NULL};
    const struct graft_replacement replacement = named("Leaf", &my_leaf, &condition);
    (void)tear_down(NULL);
    (void)set_up(NULL);
    add("one", &replacement);
    build();
    return strcmp(fake_model_node(&model, "a")->class_name, "MyLeaf") == 0;
}

static int holds(const char *field, const char *value, const char *or_value) {
    return holds_as(GRAFT_CONDITION_CONFIG, field, value, or_value);
}

static void test_no_config(void **state) {
    (void)state;
    assert_int_equal(holds_as(GRAFT_CONDITION_NO_CONFIG, "method.none", NULL, NULL), 1);
    assert_int_equal(holds_as(GRAFT_CONDITION_NO_CONFIG, "method.name", "awq", "fp8"), 1);
    assert_string_equal(notes, "");
    assert_int_equal(holds_as(GRAFT_CONDITION_NO_CONFIG, "method", NULL, NULL), 0);
    assert_string_equal(notes, "plugin one has no effect on this model: method is set\n");
    assert_int_equal(holds_as(GRAFT_CONDITION_NO_CONFIG, "method.name", "awq", "gptq"), 0);
    assert_string_equal(notes, "plugin one has no effect on this model: method.name is one of \"awq\", \"gptq\"\n");
}

static void test_config(void **state) {
    (void)state;
    assert_int_equal(holds("method", NULL, NULL), 1);
    assert_int_equal(holds("method.bits", NULL, NULL), 1);
    assert_int_equal(holds("method.name", "gptq", NULL), 1);
    assert_int_equal(holds("method.name", "awq", "gptq"), 1);
    assert_int_equal(holds("method.bits", "4", NULL), 1);
    assert_int_equal(holds("method.sym", "true", NULL), 1);
    assert_string_equal(notes, "");
    assert_int_equal(holds("method.sym", "1", NULL), 0);
    assert_int_equal(holds("method.x", "0.5", NULL), 0);
    assert_int_equal(holds("method.none", NULL, NULL), 0);
    assert_string_equal(notes, "plugin one has no effect on this model: method.none is not set\n");
    assert_int_equal(holds("method.name", "awq", NULL), 0);
    assert_string_equal(notes, "plugin one has no effect on this model: method.name is not \"awq\"\n");
    assert_int_equal(holds("method.bits", "2", "8"), 0);
    assert_string_equal(notes, "plugin one has no effect on this model: method.bits is none of \"2\", \"8\"\n");
}

/* Plugins that the same field keeps from the model share a note, which lists all values that they accept. */
static void test_alike(void **state) {
    static const char *const awq[] = {"awq", NULL}, *const either[] = {"fp8", "awq", NULL},
                             *const eight[] = {"8", NULL};
    const struct graft_condition conditions[] = {
        {sizeof conditions[0], GRAFT_CONDITION_CONFIG, "method.name", awq},
        {sizeof conditions[0], GRAFT_CONDITION_CONFIG, "method.bits", eight},
        {sizeof conditions[0], GRAFT_CONDITION_CONFIG, "method.name", either},
        {sizeof conditions[0], GRAFT_CONDITION_CONFIG, "method.name", NULL},
        {sizeof conditions[0], GRAFT_CONDITION_NO_CONFIG, "method.name", NULL},
    };
    const struct graft_replacement first = named("Leaf", &my_leaf, &conditions[0]);
    const struct graft_replacement apart = named("Leaf", &my_leaf, &conditions[1]);
    const struct graft_replacement second = named("Norm", &my_norm, &conditions[2]);
    const struct graft_replacement used = named("Norm", &my_norm, &conditions[3]);
    const struct graft_replacement reversed = named("Leaf", &my_leaf, &conditions[4]);
    (void)state;
    add("one", &first);
    add("two", &apart);
    add("three", &second);
    add("three", &first);
    build();
    assert_string_equal(notes, "plugins one and three have no effect on this model: method.name is none of \"awq\", "
                               "\"fp8\"\n"
                               "plugin two has no effect on this model: method.bits is not \"8\"\n");
    add("four", &first);
    add("five", &used);
    add("six", &reversed);
    build();
    assert_string_equal(notes, "plugins one, three and four have no effect on this model: method.name is none of "
                               "\"awq\", \"fp8\"\n"
                               "plugin two has no effect on this model: method.bits is not \"8\"\n"
                               "plugin six has no effect on this model: method.name is set\n");
}

/* Another replacement of the plugin takes effect, so the note is about this one. */
static void test_one_of_two(void **state) {
    const struct graft_condition absent = {sizeof absent, GRAFT_CONDITION_CONFIG, "absent", NULL};
    const struct graft_replacement some = named("Leaf", &my_leaf, &absent);
    struct graft_replacement other = named("Norm", &my_norm, &absent);
    (void)state;
    other.n_conditions = 0;
    add("one", &some);
    add("one", &other);
    build();
    assert_class("a", "Leaf");
    assert_class("norm", "MyNorm");
    assert_string_equal(notes, "one: class \"Leaf\" is not used: absent is not set\n");
}

/* Two replacements by the same class: if one takes effect, the other is not mentioned. If neither does, the note is
 * about the one that meets more conditions. */
static void test_alternatives(void **state) {
    static const char *const gptq[] = {"gptq", NULL}, *const awq[] = {"awq", NULL}, *const four[] = {"4", NULL},
                             *const eight[] = {"8", NULL};
    const struct graft_condition other[] = {{sizeof other[0], GRAFT_CONDITION_CONFIG, "method.name", awq}};
    const struct graft_condition fits[] = {{sizeof fits[0], GRAFT_CONDITION_CONFIG, "method.name", gptq},
                                           {sizeof fits[0], GRAFT_CONDITION_CONFIG, "method.bits", four}};
    const struct graft_condition near[] = {{sizeof near[0], GRAFT_CONDITION_CONFIG, "method.name", gptq},
                                           {sizeof near[0], GRAFT_CONDITION_CONFIG, "method.bits", eight}};
    const struct graft_replacement first = named("Leaf", &my_leaf, other);
    struct graft_replacement second = named("Leaf", &my_leaf, fits), third = named("Leaf", &my_leaf, near);
    (void)state;
    second.n_conditions = third.n_conditions = 2;
    add("one", &first);
    add("one", &third);
    build();
    assert_class("a", "Leaf");
    assert_string_equal(notes, "plugin one has no effect on this model: method.bits is not \"8\"\n");
    add("one", &second);
    build();
    assert_class("a", "MyLeaf");
    assert_string_equal(notes, "");
}

static void test_tensor(void **state) {
    const struct graft_replacement replacement = named("Leaf", &my_leaf, &is_packed);
    (void)state;
    add("one", &replacement);
    build();
    assert_class("a", "MyLeaf");
    assert_class("b", "Leaf");
    assert_string_equal(notes, "one: class \"Leaf\" leaves 1 module alone, b: no tensor \"qweight\"\n");
    facts.tensor = NULL;
    build();
    assert_class("a", "Leaf");
    assert_string_equal(notes, "plugin one has no effect on this model\n"
                               "one: class \"Leaf\" leaves 2 modules alone, first a: no tensor \"qweight\"\n");
    model.facts = NULL;
    build();
    assert_class("a", "Leaf");
}

static void test_no_tensor(void **state) {
    static const char *const either[] = {"packed", "qweight", NULL};
    struct graft_condition condition = {sizeof condition, GRAFT_CONDITION_NO_TENSOR, NULL, packed};
    const struct graft_replacement replacement = named("Leaf", &my_leaf, &condition);
    (void)state;
    add("one", &replacement);
    build();
    assert_class("a", "Leaf");
    assert_class("b", "MyLeaf");
    assert_string_equal(notes, "one: class \"Leaf\" leaves 1 module alone, a: a tensor \"qweight\"\n");
    condition.any_of = either;
    build();
    assert_class("a", "Leaf");
    assert_string_equal(notes,
                        "one: class \"Leaf\" leaves 1 module alone, a: one of the tensors \"packed\", \"qweight\"\n");
    facts.tensor = NULL;
    build();
    assert_class("a", "MyLeaf");
    model.facts = NULL; /* no model, no tensors */
    build();
    assert_class("b", "MyLeaf");
}

static void test_any_tensor(void **state) {
    static const char *const either[] = {"packed", "qweight", NULL};
    static const char *const neither[] = {"packed", "codes", NULL};
    struct graft_condition condition = {sizeof condition, GRAFT_CONDITION_TENSOR, NULL, either};
    const struct graft_replacement replacement = named("Leaf", &my_leaf, &condition);
    (void)state;
    add("one", &replacement);
    build();
    assert_class("a", "MyLeaf");
    condition.any_of = neither;
    build();
    assert_class("a", "Leaf");
    assert_non_null(strstr(notes, "first a: none of the tensors \"packed\", \"codes\"\n"));
}

/* A pattern is judged by the classes that it would replace: Norm has no such tensor. */
static void test_pattern(void **state) {
    struct graft_replacement replacement = named("Leaf|Norm", &my_leaf, &is_packed);
    (void)state;
    replacement.key = GRAFT_KEY_PATTERN;
    add("one", &replacement);
    build();
    assert_class("a", "MyLeaf");
    assert_class("norm", "Norm");
}

/* Two plugins for modules of different layouts do not conflict, and both can be wrapped. */
static void test_stack(void **state) {
    static const char *const other[] = {"codes", NULL};
    const struct graft_condition is_other = {sizeof is_other, GRAFT_CONDITION_TENSOR, NULL, other};
    const struct graft_replacement first = named("Leaf", &my_leaf, &is_packed);
    const struct graft_replacement second = named("Leaf", &my_leaf, &is_other);
    struct graft_replacement around = named("Leaf", &wrapper, &is_other);
    (void)state;
    add("one", &first);
    add("two", &second);
    add("three", &around);
    build();
    assert_class("a", "MyLeaf");
    assert_class("b", "Leaf");
    around.conditions = &is_packed;
    build();
    assert_class("a", "Wrapper");
    assert_string_equal(fake_model_node(&model, "a")->super->class_name, "MyLeaf");
    assert_class("b", "Leaf");
}

static void test_group(void **state) {
    struct graft_condition condition = {sizeof condition, GRAFT_CONDITION_TENSOR, NULL, packed};
    struct graft_replacement in_leaf = named("Leaf", &my_leaf, &is_packed);
    struct graft_replacement in_norm = named("Norm", &my_norm, &condition);
    (void)state;
    in_leaf.group = in_norm.group = "pair";
    add("one", &in_leaf);
    add("one", &in_norm);
    build();
    assert_class("a", "Leaf");
    assert_string_equal(notes, "one: group pair is left out: modules that \"Norm\" matches have no tensor \"qweight\"\n"
                               "plugin one has no effect on this model\n");
    condition = (struct graft_condition){sizeof condition, GRAFT_CONDITION_CONFIG, "absent", NULL};
    build();
    assert_class("a", "MyLeaf");
    assert_class("norm", "Norm");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_config, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_no_config, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_alike, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_one_of_two, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_alternatives, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_tensor, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_no_tensor, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_any_tensor, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_pattern, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_stack, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_group, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
