/* SPDX-License-Identifier: Apache-2.0 */
/* Two parameters that use the same tensor: an error that names both, unless they belong to a replacement and the
 * original that it calls. */
#include "bind/bind.h"
#include "fake_plan.h"

#define ROOT "test.root/1"
#define BLOCK "test.block/1"

static const struct graft_operation join[] = {
    {.struct_size = sizeof(struct graft_operation), .kind = GRAFT_OP_CONCATENATE, .dim = 0}};
static const char *const ab_sources[] = {"a", "b"}, *const ab_targets[] = {"ab"};
static const char *const bc_sources[] = {"b", "c"}, *const bc_targets[] = {"bc"};
static const char *const cd_sources[] = {"c", "d"}, *const cd_targets[] = {"cd"};

#define JOINED(name)                                                                               \
    {                                                                                              \
        .struct_size = sizeof(struct graft_conversion), .n_sources = 2, .sources = name##_sources, \
        .targets = name##_targets, .operations = join, .n_targets = 1, .n_operations = 1,          \
        .operation_stride = sizeof(struct graft_operation)                                         \
    }
static const struct graft_conversion overlapping[] = {JOINED(ab), JOINED(bc)};
static const struct graft_conversion apart[] = {JOINED(ab), JOINED(cd)};

static const struct fake_child children[] = {{"block", "Block", BLOCK}, {NULL, NULL, NULL}};
static const struct fake_structure root_structure = {.children = children};
static const struct fake_tensor tensors[] = {{.name = "block.a", .rank = 2, .shape = {2, 3}},
                                             {.name = "block.b", .rank = 2, .shape = {4, 3}},
                                             {.name = "block.c", .rank = 2, .shape = {1, 3}},
                                             {.name = "block.d", .rank = 2, .shape = {5, 3}},
                                             {.name = NULL}};

static struct fake_plan fake;
static struct graft_class root, block, replacement;

static struct graft_class class_of(const char *name, const struct fake_structure *structure,
                                   const struct graft_conversion *conversions, int32_t n) {
    struct graft_class cls = FAKE_CLASS(name, BLOCK, structure);
    cls.conversions = conversions;
    cls.n_conversions = n;
    cls.conversion_stride = sizeof *conversions;
    return cls;
}

static int set_up(void **state) {
    (void)state;
    root = (struct graft_class)FAKE_CLASS("Root", ROOT, &root_structure);
    fake_plan_init(&fake);
    fake_model_add(&fake.model, &root);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    fake_plan_finish(&fake);
    return 0;
}

static void test_two_conversions(void **state) {
    static const struct fake_parameter parameters[] = {
        {.name = "ab", .rank = 2, .shape = {6, 3}}, {.name = "bc", .rank = 2, .shape = {5, 3}}, {.name = NULL}};
    static const struct fake_structure structure = {.parameters = parameters};
    (void)state;
    block = class_of("Block", &structure, overlapping, 2);
    fake_model_add(&fake.model, &block);
    assert_int_equal(fake_plan_make(&fake, "Root", tensors), GRAFT_OK);
    fake_plan_refused(
        &fake, "block.bc",
        "tensor block.b is taken twice: by the conversion to ab of \"block\" and by the conversion to bc of "
        "\"block\"");
    assert_int_equal(fake_plan_binding(&fake, "block.ab")->status, GRAFT_BINDING_FOUND);
}

static void test_conversion_and_name(void **state) {
    static const struct fake_parameter parameters[] = {
        {.name = "ab", .rank = 2, .shape = {6, 3}}, {.name = "b", .rank = 2, .shape = {4, 3}}, {.name = NULL}};
    static const struct fake_structure structure = {.parameters = parameters};
    (void)state;
    block = class_of("Block", &structure, overlapping, 1);
    fake_model_add(&fake.model, &block);
    assert_int_equal(fake_plan_make(&fake, "Root", tensors), GRAFT_OK);
    fake_plan_refused(
        &fake, "block.b",
        "tensor block.b is taken twice: by the conversion to ab of \"block\" and by parameter \"block.b\"");
}

/* Both classes make the target from the same tensors; each also has parameters that the other lacks. */
static void test_replacement_and_super(void **state) {
    static const struct fake_parameter parameters[] = {{.name = "ab", .rank = 2, .shape = {6, 3}}, {.name = NULL}};
    static const struct fake_parameter more[] = {
        {.name = "ab", .rank = 2, .shape = {6, 3}}, {.name = "cd", .rank = 2, .shape = {6, 3}}, {.name = NULL}};
    static const struct fake_structure structure = {.parameters = parameters}, more_structure = {.parameters = more};
    static const struct graft_replacement patch = {
        .struct_size = sizeof patch, .key = GRAFT_KEY_NAME, .target = "Block", .replacement = &replacement};
    struct graft_bound *bound = NULL;
    const float *filled[2] = {NULL, NULL};
    size_t n = 0;
    (void)state;
    block = class_of("Block", &structure, apart, 1);
    replacement = class_of("Mine", &more_structure, apart, 2);
    replacement.flags = GRAFT_CLASS_CALLS_SUPER;
    fake_model_add(&fake.model, &block);
    fake_model_replace(&fake.model, &patch);
    assert_int_equal(fake_plan_make(&fake, "Root", tensors), GRAFT_OK);
    assert_int_equal(graft_plan_check(fake.plan, &fake.model.error), GRAFT_OK);
    assert_int_equal(fake.plan->n_unexpected, 0);
    assert_int_equal(graft_bind(fake.plan, &bound, &fake.model.error), GRAFT_OK);
    for (size_t i = 0; i < fake.plan->n_bindings; i++) {
        const struct graft_parameter *parameter = fake.plan->bindings[i].parameter;
        if (strcmp(parameter->name, "block.ab") == 0) {
            assert_in_range(n, 0, 1);
            assert_non_null(parameter->weight);
            assert_int_equal(parameter->weight->rows, 6);
            filled[n++] = graft_weight_block(parameter->weight, 0)->data;
        }
    }
    assert_int_equal(n, 2);
    assert_memory_equal(filled[0], graft_checkpoint_find(fake.checkpoint, "block.a")->data, 2 * 3 * 4);
    assert_memory_equal(filled[1], filled[0], 2 * 3 * 4);
    graft_bound_free(bound);
}

static void replace_block(const char *plugin, const struct graft_class *cls) {
    static struct graft_replacement patches[4];
    static size_t n;
    struct graft_replacement *patch = &patches[n++ % 4];
    const struct graft_origin origin = {.plugin = plugin};
    *patch = (struct graft_replacement){
        .struct_size = sizeof *patch, .key = GRAFT_KEY_NAME, .target = "Block", .replacement = cls};
    assert_int_equal(graft_registry_add_replacement(fake.model.registry, patch, &origin, NULL), GRAFT_OK);
}

/* All classes of a stack may use the tensors of their module, each by its own conversions, but none twice. */
static void test_stack(void **state) {
    static const struct fake_parameter parameters[] = {{.name = "ab", .rank = 2, .shape = {6, 3}}, {.name = NULL}};
    static const struct fake_parameter plain[] = {
        {.name = "a", .rank = 2, .shape = {2, 3}}, {.name = "b", .rank = 2, .shape = {4, 3}}, {.name = NULL}};
    static const struct fake_parameter both[] = {
        {.name = "ab", .rank = 2, .shape = {6, 3}}, {.name = "b", .rank = 2, .shape = {4, 3}}, {.name = NULL}};
    static const struct fake_structure structure = {.parameters = parameters}, plain_structure = {.parameters = plain},
                                       both_structure = {.parameters = both};
    static struct graft_class outer;
    (void)state;
    outer = class_of("Outer", &structure, apart, 1);
    outer.flags = GRAFT_CLASS_CALLS_SUPER;
    replacement = class_of("Middle", &structure, apart, 1);
    replacement.flags = GRAFT_CLASS_CALLS_SUPER;
    block = class_of("Block", &plain_structure, NULL, 0);
    fake_model_add(&fake.model, &block);
    replace_block("a", &outer);
    replace_block("b", &replacement);
    assert_int_equal(fake_plan_make(&fake, "Root", tensors), GRAFT_OK);
    assert_int_equal(graft_plan_check(fake.plan, &fake.model.error), GRAFT_OK);
    replacement.data = &both_structure;
    assert_int_equal(fake_plan_make(&fake, "Root", tensors), GRAFT_OK);
    fake_plan_refused(
        &fake, "block.b",
        "tensor block.b is taken twice: by the conversion to ab of \"block\" and by parameter \"block.b\"");
}

#define WITH_PLAN(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {WITH_PLAN(test_two_conversions), WITH_PLAN(test_conversion_and_name),
                                       WITH_PLAN(test_replacement_and_super), WITH_PLAN(test_stack)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
