/* SPDX-License-Identifier: Apache-2.0 */
/* Conversions in a plan: the tensors that they use, what they make of them, and faults that are refused. */
#include "fake_plan.h"

#define ROOT "test.root/1"
#define EXPERTS "test.experts/1"

static const struct graft_operation stack_and_join[] = {
    {.struct_size = sizeof(struct graft_operation), .kind = GRAFT_OP_MERGE_MODULELIST, .dim = 0},
    {.struct_size = sizeof(struct graft_operation), .kind = GRAFT_OP_CONCATENATE, .dim = 1},
};
static const struct graft_operation join[] = {
    {.struct_size = sizeof(struct graft_operation), .kind = GRAFT_OP_CONCATENATE, .dim = 0}};
static const struct graft_operation join_columns[] = {
    {.struct_size = sizeof(struct graft_operation), .kind = GRAFT_OP_CONCATENATE, .dim = 1}};
static const struct graft_operation cut[] = {
    {.struct_size = sizeof(struct graft_operation), .kind = GRAFT_OP_CHUNK, .dim = 1},
    {.struct_size = sizeof(struct graft_operation), .kind = GRAFT_OP_SPLIT_MODULELIST, .dim = 0},
};

static const char *const expert_sources[] = {"*.gate.weight", "*.up.weight"};
static const char *const expert_targets[] = {"gate_up"};
static const char *const qkv_sources[] = {"q.weight", "k.weight", "v.weight"};
static const char *const qkv_targets[] = {"qkv.weight"};
static const char *const list_sources[] = {"gate_up"};
static const char *const list_targets[] = {"*.gate.weight", "*.up.weight"};
static const char *const old_source[] = {"old_name"};
static const char *const new_target[] = {"new_name"};

#define CONVERSION(from, n_from, to, n_to, steps, n_steps)                                                         \
    {                                                                                                              \
        .struct_size = sizeof(struct graft_conversion), .n_sources = (n_from), .sources = (from), .targets = (to), \
        .operations = (steps), .n_targets = (n_to), .n_operations = (n_steps),                                     \
        .operation_stride = sizeof(struct graft_operation)                                                         \
    }

static const struct graft_conversion expert_conversion =
    CONVERSION(expert_sources, 2, expert_targets, 1, stack_and_join, 2);
static const struct graft_conversion qkv_conversion = CONVERSION(qkv_sources, 3, qkv_targets, 1, join, 1);
static const struct graft_conversion columns_conversion = CONVERSION(qkv_sources, 3, qkv_targets, 1, join_columns, 1);
static const struct graft_conversion list_conversion = CONVERSION(list_sources, 1, list_targets, 2, cut, 2);
static const struct graft_conversion renaming = CONVERSION(old_source, 1, new_target, 1, NULL, 0);

/* Experts of [2, 3] each, stacked: [4, 2 * 2, 3]. */
static const struct fake_parameter stacked_parameters[] = {{.name = "gate_up", .rank = 3, .shape = {4, 4, 3}},
                                                           {.name = NULL}};
static const struct fake_parameter pair_parameters[] = {{.name = "weight", .rank = 2, .shape = {2, 3}}, {.name = NULL}};
static const struct fake_child list_children[] = {{"0.gate", "Pair", "test.pair/1"},
                                                  {"0.up", "Pair", "test.pair/1"},
                                                  {"1.gate", "Pair", "test.pair/1"},
                                                  {"1.up", "Pair", "test.pair/1"},
                                                  {NULL, NULL, NULL}};
/* q has 4 rows, k and v have 1 each. */
static const struct fake_parameter qkv_parameters[] = {{.name = "weight", .rank = 2, .shape = {6, 3}}, {.name = NULL}};
static const struct fake_parameter block_parameters[] = {
    {.name = "weight", .rank = 2, .shape = {6, 3}, .flags = GRAFT_PARAMETER_CONTIGUOUS}, {.name = NULL}};
static const struct fake_child qkv_children[] = {{"qkv", "Qkv", "test.qkv/1"}, {NULL, NULL, NULL}};
static const struct fake_child block_children[] = {{"qkv", "Block", "test.qkv/1"}, {NULL, NULL, NULL}};
static const struct fake_parameter renamed_parameters[] = {{.name = "new_name", .rank = 1, .shape = {2}},
                                                           {.name = NULL}};

static const struct fake_structure stacked_structure = {.parameters = stacked_parameters};
static const struct fake_structure pair_structure = {.parameters = pair_parameters};
static const struct fake_structure list_structure = {.children = list_children};
static const struct fake_structure qkv_structure = {.parameters = qkv_parameters};
static const struct fake_structure block_structure = {.parameters = block_parameters};
static const struct fake_structure fused_structure = {.children = qkv_children};
static const struct fake_structure fused_block_structure = {.children = block_children};
static const struct fake_structure renamed_structure = {.parameters = renamed_parameters};

static const struct graft_class pair = FAKE_CLASS("Pair", "test.pair/1", &pair_structure);
static const struct graft_class qkv = FAKE_CLASS("Qkv", "test.qkv/1", &qkv_structure);
static const struct graft_class block = FAKE_CLASS("Block", "test.qkv/1", &block_structure);

static struct fake_plan fake;
static const struct graft_class *extra; /* one more class of the model; NULL: none */

/* Plans a model "Root" whose only child "m" has the given structure and conversion. */
static int plan(const struct fake_structure *structure, const struct graft_conversion *conversion,
                const struct fake_tensor *tensors) {
    static const struct fake_child root_children[] = {{"m", "Module", EXPERTS}, {NULL, NULL, NULL}};
    static const struct fake_structure root_structure = {.children = root_children};
    static const struct graft_class root = FAKE_CLASS("Root", ROOT, &root_structure);
    static struct graft_class module;
    module = (struct graft_class)FAKE_CLASS("Module", EXPERTS, structure);
    module.conversions = conversion;
    module.n_conversions = 1;
    module.conversion_stride = sizeof *conversion;
    fake_plan_init(&fake);
    fake_model_add(&fake.model, &pair);
    fake_model_add(&fake.model, &qkv);
    fake_model_add(&fake.model, &block);
    if (extra != NULL) {
        fake_model_add(&fake.model, extra);
    }
    fake_model_add(&fake.model, &module);
    fake_model_add(&fake.model, &root);
    return fake_plan_make(&fake, "Root", tensors);
}

#define EXPERT(name_)                                 \
    {                                                 \
        .name = (name_), .rank = 2, .shape = { 2, 3 } \
    }

static const struct fake_tensor experts[] = {
    EXPERT("m.0.gate.weight"), EXPERT("m.0.up.weight"), EXPERT("m.1.gate.weight"), EXPERT("m.1.up.weight"),
    EXPERT("m.2.gate.weight"), EXPERT("m.2.up.weight"), EXPERT("m.3.gate.weight"), EXPERT("m.3.up.weight")};
enum { EXPERTS_TENSORS = 8 };

static void test_experts(void **state) {
    struct fake_tensor tensors[EXPERTS_TENSORS + 2] = {{0}};
    (void)state;
    memcpy(tensors, experts, sizeof experts);
    tensors[EXPERTS_TENSORS] = (struct fake_tensor)EXPERT("m.shared.gate.weight");
    assert_int_equal(plan(&stacked_structure, &expert_conversion, tensors), GRAFT_OK);
    fake_plan_account(&fake);
    assert_int_equal(graft_plan_check(fake.plan, NULL), GRAFT_OK);
    const struct graft_value *value = &fake_plan_binding(&fake, "m.gate_up")->value;
    assert_int_equal(value->n_parts, 8);
    for (size_t i = 0; i < 8; i++) {
        assert_string_equal(value->parts[i].tensor->name, experts[i].name);
        assert_int_equal(value->parts[i].box.begin, 0);
        assert_int_equal(graft_box_count(&value->parts[i].box), 6);
    }
    assert_int_equal(fake.plan->copied_bytes, 0);
    assert_int_equal(fake.plan->n_unexpected, 1);
    assert_string_equal(fake.plan->unexpected[0]->name, "m.shared.gate.weight");
    fake_plan_finish(&fake);
}

/* Ten experts and more: 10 follows 9, not 1. */
static void test_order_of_indices(void **state) {
    static char names[24][32];
    struct fake_tensor tensors[25] = {{0}};
    static const struct fake_parameter parameters[] = {{.name = "gate_up", .rank = 3, .shape = {12, 2, 1}},
                                                       {.name = NULL}};
    const struct fake_structure structure = {.parameters = parameters};
    (void)state;
    for (int i = 0; i < 24; i++) {
        (void)snprintf(names[i], sizeof names[i], "m.%d.%s.weight", i / 2, i % 2 == 0 ? "gate" : "up");
        tensors[i] = (struct fake_tensor){.name = names[i], .rank = 2, .shape = {1, 1}};
    }
    assert_int_equal(plan(&structure, &expert_conversion, tensors), GRAFT_OK);
    assert_int_equal(graft_plan_check(fake.plan, NULL), GRAFT_OK);
    const struct graft_value *value = &fake_plan_binding(&fake, "m.gate_up")->value;
    for (size_t i = 0; i < 24; i++) {
        assert_string_equal(value->parts[i].tensor->name, names[i]);
    }
    fake_plan_finish(&fake);
}

/* Plans the experts with `tensors`, and expects an error that contains `words`. */
static void refuse_experts(const struct fake_tensor *tensors, const char *words) {
    assert_int_equal(plan(&stacked_structure, &expert_conversion, tensors), GRAFT_OK);
    fake_plan_refused(&fake, "m.gate_up", words);
    fake_plan_finish(&fake);
}

static void test_gaps(void **state) {
    static const struct fake_tensor gap[] = {EXPERT("m.0.gate.weight"),
                                             EXPERT("m.0.up.weight"),
                                             EXPERT("m.2.gate.weight"),
                                             EXPERT("m.2.up.weight"),
                                             EXPERT("m.7.gate.weight"),
                                             EXPERT("m.7.up.weight"),
                                             {0}};
    static const struct fake_tensor from_one[] = {EXPERT("m.1.gate.weight"), EXPERT("m.1.up.weight"), {0}};
    static const struct fake_tensor zeros[] = {EXPERT("m.00.gate.weight"), EXPERT("m.0.up.weight"), {0}};
    (void)state;
    refuse_experts(gap, "m.2.gate.weight");
    refuse_experts(from_one, "m.1.gate.weight");
    refuse_experts(zeros, "*.gate.weight");
}

static void test_missing_experts(void **state) {
    struct fake_tensor tensors[EXPERTS_TENSORS + 1] = {{0}};
    (void)state;
    memcpy(tensors, experts, sizeof experts);
    tensors[6].name = NULL; /* the last expert */
    refuse_experts(tensors, "[3, 4, 3]");
    tensors[6] = experts[6];
    tensors[7].name = NULL; /* one half of it */
    refuse_experts(tensors, "[3, 2, 3]");
    static const struct fake_tensor gates_only[] = {EXPERT("m.0.gate.weight"), EXPERT("m.1.gate.weight"), {0}};
    refuse_experts(gates_only, "*.up.weight");
    static const struct fake_tensor none[] = {EXPERT("m.shared.gate.weight"), {0}};
    refuse_experts(none, "missing");
}

static void test_other_shapes(void **state) {
    struct fake_tensor tensors[EXPERTS_TENSORS + 1] = {{0}};
    (void)state;
    memcpy(tensors, experts, sizeof experts);
    tensors[4].shape[0] = 1;
    refuse_experts(tensors, "[1, 3]");
    tensors[4] = (struct fake_tensor){.name = "m.2.gate.weight", .rank = 2, .shape = {0, 1 << 30}};
    refuse_experts(tensors, "m.2.gate.weight");
    tensors[4] = (struct fake_tensor){.name = "m.2.gate.weight", .rank = 2, .shape = {2, 3}, .dtype = GRAFT_DTYPE_I32};
    refuse_experts(tensors, "I32");
}

/* A checkpoint with stacked tensors is used as it is. */
static void test_stacked_layout(void **state) {
    static const struct fake_tensor tensors[] = {{.name = "m.gate_up", .rank = 3, .shape = {4, 4, 3}}, {0}};
    struct fake_tensor mixed[EXPERTS_TENSORS + 2] = {{0}};
    (void)state;
    assert_int_equal(plan(&stacked_structure, &expert_conversion, tensors), GRAFT_OK);
    fake_plan_account(&fake);
    assert_int_equal(graft_plan_check(fake.plan, NULL), GRAFT_OK);
    assert_null(fake_plan_binding(&fake, "m.gate_up")->conversion);
    assert_int_equal(fake.plan->copied_bytes, 0);
    fake_plan_finish(&fake);
    memcpy(mixed, experts, sizeof experts);
    mixed[EXPERTS_TENSORS] = tensors[0];
    assert_int_equal(plan(&stacked_structure, &expert_conversion, mixed), GRAFT_OK);
    fake_plan_account(&fake);
    assert_int_equal(fake.plan->n_unexpected, EXPERTS_TENSORS);
    fake_plan_finish(&fake);
}

/* The reverse: a stacked tensor becomes a list of modules. */
static void test_list_of_modules(void **state) {
    static const struct fake_tensor tensors[] = {{.name = "m.gate_up", .rank = 3, .shape = {2, 4, 3}}, {0}};
    static const struct fake_tensor more[] = {{.name = "m.gate_up", .rank = 3, .shape = {3, 4, 3}}, {0}};
    static const struct fake_tensor fewer[] = {{.name = "m.gate_up", .rank = 3, .shape = {1, 4, 3}}, {0}};
    static const struct fake_tensor odd[] = {{.name = "m.gate_up", .rank = 3, .shape = {2, 5, 3}}, {0}};
    static const struct fake_tensor flat[] = {{.name = "m.gate_up", .rank = 1, .shape = {24}}, {0}};
    (void)state;
    assert_int_equal(plan(&list_structure, &list_conversion, tensors), GRAFT_OK);
    fake_plan_account(&fake);
    assert_int_equal(graft_plan_check(fake.plan, NULL), GRAFT_OK);
    assert_int_equal(fake.plan->copied_bytes, 0);
    assert_int_equal(fake_plan_binding(&fake, "m.0.gate.weight")->value.parts[0].box.begin, 0);
    assert_int_equal(fake_plan_binding(&fake, "m.0.up.weight")->value.parts[0].box.begin, 6);
    assert_int_equal(fake_plan_binding(&fake, "m.1.up.weight")->value.parts[0].box.begin, 18);
    fake_plan_finish(&fake);
    assert_int_equal(plan(&list_structure, &list_conversion, more), GRAFT_OK);
    fake_plan_refused(&fake, "m.0.gate.weight", "index 2");
    fake_plan_finish(&fake);
    assert_int_equal(plan(&list_structure, &list_conversion, fewer), GRAFT_OK);
    fake_plan_refused(&fake, "m.1.gate.weight", "missing");
    fake_plan_finish(&fake);
    assert_int_equal(plan(&list_structure, &list_conversion, odd), GRAFT_OK);
    fake_plan_refused(&fake, "m.0.gate.weight", "[2, 5, 3]");
    fake_plan_finish(&fake);
    assert_int_equal(plan(&list_structure, &list_conversion, flat), GRAFT_OK);
    fake_plan_refused(&fake, "m.0.gate.weight", "[24]");
    fake_plan_finish(&fake);
}

/* An expert that exists both on its own and in the stacked tensor is an error. */
static void test_partly_listed(void **state) {
    static const struct fake_tensor tensors[] = {
        {.name = "m.gate_up", .rank = 3, .shape = {2, 4, 3}}, EXPERT("m.1.gate.weight"), {0}};
    (void)state;
    assert_int_equal(plan(&list_structure, &list_conversion, tensors), GRAFT_OK);
    fake_plan_refused(&fake, "m.0.gate.weight", "m.1.gate.weight");
    fake_plan_finish(&fake);
}

static struct fake_tensor row(const char *name, int64_t rows, graft_dtype dtype) {
    return (struct fake_tensor){.name = name, .rank = 2, .shape = {rows, 3}, .dtype = dtype};
}

static void test_unequal_parts(void **state) {
    const struct fake_tensor tensors[] = {row("m.k.weight", 1, GRAFT_DTYPE_NONE),
                                          row("m.q.weight", 4, GRAFT_DTYPE_NONE),
                                          row("m.v.weight", 1, GRAFT_DTYPE_NONE),
                                          {0}};
    (void)state;
    assert_int_equal(plan(&fused_structure, &qkv_conversion, tensors), GRAFT_OK);
    fake_plan_account(&fake);
    assert_int_equal(graft_plan_check(fake.plan, NULL), GRAFT_OK);
    const struct graft_value *value = &fake_plan_binding(&fake, "m.qkv.weight")->value;
    assert_int_equal(value->n_parts, 3);
    assert_string_equal(value->parts[0].tensor->name, "m.q.weight");
    assert_string_equal(value->parts[2].tensor->name, "m.v.weight");
    assert_int_equal(fake.plan->copied_bytes, 0);
    fake_plan_finish(&fake);
}

static void test_parts_missing(void **state) {
    (void)state;
    for (int absent = 0; absent < 3; absent++) {
        static const char *const names[] = {"m.q.weight", "m.k.weight", "m.v.weight"};
        const struct fake_tensor tensors[] = {
            row(names[(absent + 1) % 3], 1, GRAFT_DTYPE_NONE), row(names[(absent + 2) % 3], 1, GRAFT_DTYPE_NONE), {0}};
        assert_int_equal(plan(&fused_structure, &qkv_conversion, tensors), GRAFT_OK);
        fake_plan_refused(&fake, "m.qkv.weight", names[absent] + 2);
        fake_plan_finish(&fake);
    }
}

/* One block of two types, or of several runs, is a copy; blocks of rows with several types are not. */
static void test_what_is_copied(void **state) {
    const struct fake_tensor mixed[] = {row("m.q.weight", 4, GRAFT_DTYPE_F32),
                                        row("m.k.weight", 1, GRAFT_DTYPE_BF16),
                                        row("m.v.weight", 1, GRAFT_DTYPE_BF16),
                                        {0}};
    const struct fake_tensor halves[] = {row("m.q.weight", 4, GRAFT_DTYPE_F16),
                                         row("m.k.weight", 1, GRAFT_DTYPE_F16),
                                         row("m.v.weight", 1, GRAFT_DTYPE_F16),
                                         {0}};
    (void)state;
    assert_int_equal(plan(&fused_structure, &qkv_conversion, mixed), GRAFT_OK);
    assert_int_equal(fake.plan->copied_bytes, 0);
    assert_int_equal(fake.plan->mapped_bytes, 4 * 12 + 2 * 6);
    fake_plan_finish(&fake);
    assert_int_equal(plan(&fused_block_structure, &qkv_conversion, mixed), GRAFT_OK);
    assert_int_equal(fake_plan_binding(&fake, "m.qkv.weight")->dtype, GRAFT_DTYPE_F32);
    assert_int_equal(fake.plan->copied_bytes, 6 * 12);
    fake_plan_finish(&fake);
    assert_int_equal(plan(&fused_block_structure, &qkv_conversion, halves), GRAFT_OK);
    assert_int_equal(fake_plan_binding(&fake, "m.qkv.weight")->dtype, GRAFT_DTYPE_F16);
    assert_int_equal(fake.plan->copied_bytes, 6 * 6);
    assert_int_equal(fake.plan->mapped_bytes, 0);
    fake_plan_finish(&fake);
}

/* Joined columns do not consist of whole rows of a file. */
static void test_columns_are_copied(void **state) {
    static const struct fake_tensor tensors[] = {{.name = "m.q.weight", .rank = 2, .shape = {6, 1}},
                                                 {.name = "m.k.weight", .rank = 2, .shape = {6, 1}},
                                                 {.name = "m.v.weight", .rank = 2, .shape = {6, 1}},
                                                 {0}};
    (void)state;
    assert_int_equal(plan(&fused_structure, &columns_conversion, tensors), GRAFT_OK);
    assert_int_equal(graft_plan_check(fake.plan, NULL), GRAFT_OK);
    assert_int_equal(fake.plan->copied_bytes, 72);
    fake_plan_finish(&fake);
}

static void test_renaming(void **state) {
    static const struct fake_tensor tensors[] = {{.name = "m.old_name", .rank = 1, .shape = {2}}, {0}};
    static const struct fake_tensor both[] = {
        {.name = "m.new_name", .rank = 1, .shape = {2}}, {.name = "m.old_name", .rank = 1, .shape = {2}}, {0}};
    static const struct fake_tensor without_prefix[] = {{.name = "model.m.old_name", .rank = 1, .shape = {2}}, {0}};
    (void)state;
    assert_int_equal(plan(&renamed_structure, &renaming, tensors), GRAFT_OK);
    fake_plan_account(&fake);
    assert_int_equal(graft_plan_check(fake.plan, NULL), GRAFT_OK);
    fake_plan_finish(&fake);
    assert_int_equal(plan(&renamed_structure, &renaming, both), GRAFT_OK);
    fake_plan_account(&fake);
    assert_int_equal(fake.plan->n_unexpected, 1);
    assert_string_equal(fake.plan->unexpected[0]->name, "m.old_name");
    fake_plan_finish(&fake);
    assert_int_equal(plan(&renamed_structure, &renaming, without_prefix), GRAFT_OK);
    fake_plan_account(&fake);
    assert_int_equal(graft_plan_check(fake.plan, NULL), GRAFT_OK);
    fake_plan_finish(&fake);
}

static const struct graft_operation swap[] = {
    {.struct_size = sizeof(struct graft_operation), .kind = GRAFT_OP_TRANSPOSE, .dim = 0, .dim1 = 1}};
static const struct graft_operation swap_each[] = {
    {.struct_size = sizeof(struct graft_operation), .kind = GRAFT_OP_MERGE_MODULELIST, .dim = 0},
    {.struct_size = sizeof(struct graft_operation), .kind = GRAFT_OP_TRANSPOSE, .dim = 1, .dim1 = 2},
    {.struct_size = sizeof(struct graft_operation), .kind = GRAFT_OP_SPLIT_MODULELIST, .dim = 0}};
static const char *const proj[] = {"proj.weight"};
static const char *const projs[] = {"*.gate.weight"};
static const struct graft_conversion in_place = CONVERSION(proj, 1, proj, 1, swap, 1);

/* Whether a binding is a square of 3 whose rows are the tensor's columns. */
static void assert_transposed(const char *name) {
    const struct graft_binding *binding = fake_plan_binding(&fake, name);
    assert_int_equal(binding->status, GRAFT_BINDING_FOUND);
    assert_non_null(binding->conversion);
    assert_int_equal(binding->value.n_parts, 1);
    const struct graft_box *box = &binding->value.parts[0].box;
    assert_int_equal(box->loops, 2);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(box->size[i], 3);
        assert_int_equal(box->from[i], box->to[i] == 3 ? 1 : 3);
    }
}

/* A tensor with the parameter's own name is converted if the class says so: the shape cannot tell, since it is a
 * square. */
static void test_in_place(void **state) {
    static const struct fake_parameter square[] = {{.name = "weight", .rank = 2, .shape = {3, 3}}, {.name = NULL}};
    static const struct fake_parameter dotted[] = {{.name = "proj.weight", .rank = 2, .shape = {3, 3}}, {.name = NULL}};
    static const struct fake_structure square_structure = {.parameters = square};
    static const struct graft_class square_class = FAKE_CLASS("Square", "test.pair/1", &square_structure);
    static const struct fake_child child[] = {{"proj", "Square", "test.pair/1"}, {NULL, NULL, NULL}};
    static const struct fake_child several[] = {
        {"0.gate", "Square", "test.pair/1"}, {"1.gate", "Square", "test.pair/1"}, {NULL, NULL, NULL}};
    const struct graft_conversion each = CONVERSION(projs, 1, projs, 1, swap_each, 3);
    const struct fake_structure own = {.parameters = dotted};
    const struct fake_structure below = {.children = child};
    const struct fake_structure list = {.children = several};
    static const struct fake_tensor tensors[] = {{.name = "m.proj.weight", .rank = 2, .shape = {3, 3}}, {0}};
    static const struct fake_tensor listed[] = {{.name = "m.0.gate.weight", .rank = 2, .shape = {3, 3}},
                                                {.name = "m.1.gate.weight", .rank = 2, .shape = {3, 3}},
                                                {0}};
    (void)state;
    extra = &square_class;
    assert_int_equal(plan(&own, &in_place, tensors), GRAFT_OK);
    assert_transposed("m.proj.weight");
    fake_plan_account(&fake);
    fake_plan_finish(&fake);
    assert_int_equal(plan(&below, &in_place, tensors), GRAFT_OK);
    assert_transposed("m.proj.weight");
    fake_plan_account(&fake);
    fake_plan_finish(&fake);
    assert_int_equal(plan(&list, &each, listed), GRAFT_OK);
    assert_transposed("m.0.gate.weight");
    assert_transposed("m.1.gate.weight");
    fake_plan_account(&fake);
    fake_plan_finish(&fake);
    extra = NULL;
}

/* A class below converts the result of the conversion above instead of the tensor. */
static void test_in_place_above(void **state) {
    static const char *const weight[] = {"weight"};
    static const char *const kept[] = {"kept"};
    static const struct graft_operation again[] = {
        {.struct_size = sizeof(struct graft_operation), .kind = GRAFT_OP_CHUNK, .dim = 0}};
    static const struct graft_conversion keep = CONVERSION(weight, 1, kept, 1, again, 1);
    static const struct fake_parameter parameters[] = {{.name = "kept", .rank = 2, .shape = {3, 3}}, {.name = NULL}};
    static const struct fake_structure structure = {.parameters = parameters};
    static const struct fake_child child[] = {{"proj", "Keeper", "test.pair/1"}, {NULL, NULL, NULL}};
    const struct fake_structure below = {.children = child};
    struct graft_class keeper = FAKE_CLASS("Keeper", "test.pair/1", &structure);
    static const struct fake_tensor tensors[] = {{.name = "m.proj.weight", .rank = 2, .shape = {3, 3}}, {0}};
    (void)state;
    keeper.conversions = &keep;
    keeper.n_conversions = 1;
    keeper.conversion_stride = sizeof keep;
    extra = &keeper;
    assert_int_equal(plan(&below, &in_place, tensors), GRAFT_OK);
    assert_transposed("m.proj.kept");
    fake_plan_account(&fake);
    fake_plan_finish(&fake);
    extra = NULL;
}

/* A conversion is left out if the module has none of its parameters; it is an error if the module has some. */
static void test_targets(void **state) {
    static const char *const half[] = {"new_name", "no_such_name"};
    const struct graft_conversion broken = CONVERSION(list_sources, 1, half, 2, cut, 1);
    static const struct fake_tensor tensors[] = {{.name = "m.new_name", .rank = 1, .shape = {2}}, {0}};
    static const struct fake_tensor other[] = {{.name = "m.gate_up", .rank = 1, .shape = {2}}, {0}};
    (void)state;
    assert_int_equal(plan(&renamed_structure, &qkv_conversion, tensors), GRAFT_OK);
    assert_int_equal(graft_plan_check(fake.plan, NULL), GRAFT_OK);
    fake_plan_finish(&fake);
    assert_int_equal(plan(&renamed_structure, &broken, other), GRAFT_ERROR_PLUGIN);
    assert_string_equal(fake.model.error.source, "m");
    fake_plan_finish(&fake);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_experts),        cmocka_unit_test(test_order_of_indices),
        cmocka_unit_test(test_gaps),           cmocka_unit_test(test_missing_experts),
        cmocka_unit_test(test_other_shapes),   cmocka_unit_test(test_stacked_layout),
        cmocka_unit_test(test_partly_listed),  cmocka_unit_test(test_list_of_modules),
        cmocka_unit_test(test_unequal_parts),  cmocka_unit_test(test_parts_missing),
        cmocka_unit_test(test_what_is_copied), cmocka_unit_test(test_columns_are_copied),
        cmocka_unit_test(test_renaming),       cmocka_unit_test(test_targets),
        cmocka_unit_test(test_in_place),       cmocka_unit_test(test_in_place_above),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
