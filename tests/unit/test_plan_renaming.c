/* SPDX-License-Identifier: Apache-2.0 */
/* Modules with another name in checkpoints: the class that names a child declares the other name, which holds for
 * everything below. */
#include "fake_plan.h"

#define ROOT "test.root/1"
#define LAYER "test.layer/1"
#define BLOCK "test.block/1"
#define EXPERTS "test.experts/1"

static const char *const block_source[] = {"sparse"};
static const char *const block_target[] = {"mlp"};
static const char *const list_source[] = {"list"};
static const char *const list_target[] = {"experts"};
static const char *const expert_sources[] = {"*.w"};
static const char *const expert_targets[] = {"stacked"};
static const struct graft_operation stack[] = {
    {.struct_size = sizeof(struct graft_operation), .kind = GRAFT_OP_MERGE_MODULELIST, .dim = 0}};

static const struct graft_conversion layer_conversion = GRAFT_RENAMING(block_source, block_target);
static const struct graft_conversion block_conversion = GRAFT_RENAMING(list_source, list_target);
static const struct graft_conversion experts_conversion = {
    .struct_size = sizeof experts_conversion,
    .n_sources = 1,
    .sources = expert_sources,
    .targets = expert_targets,
    .operations = stack,
    .n_targets = 1,
    .n_operations = 1,
    .operation_stride = sizeof stack[0],
};

/* layers.0.mlp.gate [3] and layers.0.mlp.experts.stacked [2, 3]. */
static const struct fake_parameter gate[] = {{.name = "gate", .rank = 1, .shape = {3}}, {.name = NULL}};
static const struct fake_parameter stacked[] = {{.name = "stacked", .rank = 2, .shape = {2, 3}}, {.name = NULL}};
static const struct fake_child root_children[] = {{"layers.0", "Layer", LAYER}, {NULL, NULL, NULL}};
static const struct fake_child layer_children[] = {{"mlp", "Block", BLOCK}, {NULL, NULL, NULL}};
static const struct fake_child block_children[] = {{"experts", "Experts", EXPERTS}, {NULL, NULL, NULL}};
static const struct fake_structure root_structure = {.children = root_children};
static const struct fake_structure layer_structure = {.children = layer_children};
static const struct fake_structure block_structure = {.parameters = gate, .children = block_children};
static const struct fake_structure gate_structure = {.parameters = gate};
static const struct fake_structure experts_structure = {.parameters = stacked};
static const struct graft_class root = FAKE_CLASS("Root", ROOT, &root_structure);

static struct graft_class with_conversion(struct graft_class cls, const struct graft_conversion *conversion) {
    cls.conversions = conversion;
    cls.n_conversions = 1;
    cls.conversion_stride = sizeof *conversion;
    return cls;
}

/* Plans the model with `replacement` (or NULL) in place of the class `target`. */
static int plan(struct fake_plan *fake, const char *target, const struct graft_class *replacement,
                const struct fake_tensor *tensors) {
    static struct graft_class classes[3];
    static struct graft_replacement declared;
    const struct graft_class layer = FAKE_CLASS("Layer", LAYER, &layer_structure);
    const struct graft_class block = FAKE_CLASS("Block", BLOCK, &block_structure);
    const struct graft_class experts = FAKE_CLASS("Experts", EXPERTS, &experts_structure);
    classes[0] = with_conversion(layer, &layer_conversion);
    classes[1] = with_conversion(block, &block_conversion);
    classes[2] = with_conversion(experts, &experts_conversion);
    fake_plan_init(fake);
    fake_model_add(&fake->model, &root);
    for (size_t i = 0; i < 3; i++) {
        fake_model_add(&fake->model, &classes[i]);
    }
    if (replacement != NULL) {
        declared = (struct graft_replacement){
            .struct_size = sizeof declared, .key = GRAFT_KEY_NAME, .target = target, .replacement = replacement};
        fake_model_replace(&fake->model, &declared);
    }
    int status = fake_plan_make(fake, "Root", tensors);
    fake_plan_account(fake);
    return status;
}

#define VECTOR(name_)                              \
    {                                              \
        .name = (name_), .rank = 1, .shape = { 3 } \
    }

static const struct fake_tensor renamed[] = {
    VECTOR("layers.0.sparse.gate"), VECTOR("layers.0.sparse.list.0.w"), VECTOR("layers.0.sparse.list.1.w"), {0}};

static void test_renamed(void **state) {
    struct fake_plan fake;
    (void)state;
    assert_int_equal(plan(&fake, NULL, NULL, renamed), GRAFT_OK);
    assert_int_equal(graft_plan_check(fake.plan, NULL), GRAFT_OK);
    assert_int_equal(fake.plan->n_unexpected, 0);
    assert_ptr_equal(fake_plan_binding(&fake, "layers.0.mlp.gate")->conversion, &layer_conversion);
    const struct graft_binding *binding = fake_plan_binding(&fake, "layers.0.mlp.experts.stacked");
    assert_ptr_equal(binding->conversion, &experts_conversion);
    assert_int_equal(binding->value.n_parts, 2);
    assert_string_equal(binding->value.parts[1].tensor->name, "layers.0.sparse.list.1.w");
    fake_plan_finish(&fake);
}

static void test_prefix(void **state) {
    static const struct fake_tensor tensors[] = {VECTOR("model.layers.0.sparse.gate"),
                                                 VECTOR("model.layers.0.sparse.list.0.w"),
                                                 VECTOR("model.layers.0.sparse.list.1.w"),
                                                 {0}};
    struct fake_plan fake;
    (void)state;
    assert_int_equal(plan(&fake, NULL, NULL, tensors), GRAFT_OK);
    assert_int_equal(graft_plan_check(fake.plan, NULL), GRAFT_OK);
    fake_plan_finish(&fake);
}

/* Own names come first; a name that only looks like the module's is not renamed. */
static void test_own_names(void **state) {
    static const struct fake_tensor tensors[] = {VECTOR("layers.0.mlp.gate"),
                                                 VECTOR("layers.0.sparse.gate"),
                                                 VECTOR("layers.0.sparse2.gate"),
                                                 {.name = "layers.0.mlp.experts.stacked", .rank = 2, .shape = {2, 3}},
                                                 {0}};
    struct fake_plan fake;
    (void)state;
    assert_int_equal(plan(&fake, NULL, NULL, tensors), GRAFT_OK);
    assert_int_equal(graft_plan_check(fake.plan, NULL), GRAFT_OK);
    assert_null(fake_plan_binding(&fake, "layers.0.mlp.gate")->conversion);
    assert_int_equal(fake.plan->n_unexpected, 2);
    fake_plan_finish(&fake);
}

/* Unused tensors of a renamed module are listed, too. */
static void test_neighbours(void **state) {
    static const struct fake_tensor tensors[] = {VECTOR("layers.0.sparse.gat"), VECTOR("layers.0.sparse2.gate"), {0}};
    struct fake_plan fake;
    (void)state;
    assert_int_equal(plan(&fake, NULL, NULL, tensors), GRAFT_OK);
    fake_plan_refused(&fake, "layers.0.mlp.gate", "unused tensors of layers.0.mlp: layers.0.sparse.gat");
    assert_int_equal(fake.plan->n_unexpected, 2);
    fake_plan_finish(&fake);
}

/* A renaming by the layer also holds if the block's class is replaced; a layer of another class has none. */
static void test_replaced(void **state) {
    const struct graft_class block = FAKE_CLASS("NewBlock", BLOCK, &gate_structure);
    const struct graft_class layer = FAKE_CLASS("NewLayer", LAYER, &layer_structure);
    struct fake_plan fake;
    (void)state;
    assert_int_equal(plan(&fake, "Block", &block, renamed), GRAFT_OK);
    assert_int_equal(graft_plan_check(fake.plan, NULL), GRAFT_OK);
    assert_int_equal(fake.plan->n_unexpected, 2);
    fake_plan_finish(&fake);
    assert_int_equal(plan(&fake, "Layer", &layer, renamed), GRAFT_OK);
    fake_plan_refused(&fake, "layers.0.mlp.gate", "missing");
    assert_int_equal(fake.plan->n_unexpected, 3);
    fake_plan_refused(&fake, "layers.0.mlp.gate", "unused tensors of layers.0: layers.0.sparse.gate, ");
    fake_plan_finish(&fake);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_renamed),  cmocka_unit_test(test_prefix),     cmocka_unit_test(test_own_names),
        cmocka_unit_test(test_replaced), cmocka_unit_test(test_neighbours),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
