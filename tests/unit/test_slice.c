/* SPDX-License-Identifier: Apache-2.0 */
/* A wrapper that passes the class it calls half of every tensor: by a Slice in its description, whatever that class
 * makes of the tensors. */
#include <stdlib.h>

#include "base/alloc.h"
#include "save_fixture.h"

#define ROOT "test.root/1"
#define BLOCK "test.block/1"
#define PAIR "test.pair/1"

#define STEP(...) \
    { .struct_size = sizeof(struct graft_operation), __VA_ARGS__ }
#define HALF(along) STEP(.kind = GRAFT_OP_SLICE, .dim = (along), .begin = 1, .length = 1, .of = 2)

static const struct graft_operation half_rows[] = {HALF(0)};
static const struct graft_operation half_columns[] = {HALF(-1)};
static const struct graft_operation half_list[] = {STEP(.kind = GRAFT_OP_MERGE_MODULELIST), HALF(0),
                                                   STEP(.kind = GRAFT_OP_SPLIT_MODULELIST)};
static const struct graft_operation two_indices[] = {STEP(.kind = GRAFT_OP_SLICE, .dim = 1, .begin = 3, .length = 2)};
static const struct graft_operation half_parts[] = {
    STEP(.kind = GRAFT_OP_SLICE, .begin = 1, .length = 1, .of = 2, .parts = {2, 1})};
static const struct graft_operation join[] = {STEP(.kind = GRAFT_OP_CONCATENATE)};
static const struct graft_operation stack[] = {STEP(.kind = GRAFT_OP_MERGE_MODULELIST)};
static const struct graft_operation turn[] = {STEP(.kind = GRAFT_OP_TRANSPOSE, .dim = 0, .dim1 = 1)};

#define CONVERSION(n_from, from, to, steps)                                                                        \
    {                                                                                                              \
        .struct_size = sizeof(struct graft_conversion), .n_sources = (n_from), .sources = (from), .targets = (to), \
        .operations = (steps), .n_targets = 1, .n_operations = sizeof(steps) / sizeof(steps)[0],                   \
        .operation_stride = sizeof(struct graft_operation)                                                         \
    }
#define NAMES(name, ...) static const char *const name[] = {__VA_ARGS__}
NAMES(rows, "rows");
NAMES(columns, "columns");
NAMES(middle, "middle");
NAMES(left, "left");
NAMES(right, "right");
NAMES(sides, "left", "right");
NAMES(joined, "joined");
NAMES(experts, "x.*.w");
NAMES(stacked, "stacked");
NAMES(pairs, "e.*.weight");
NAMES(turned, "turned");
NAMES(packed, "packed");

/* The results of the wrapper's conversions, each under the name of its source. */
static const struct graft_conversion halves[] = {
    CONVERSION(1, rows, rows, half_rows),       CONVERSION(1, columns, columns, half_columns),
    CONVERSION(1, middle, middle, two_indices), CONVERSION(1, left, left, half_rows),
    CONVERSION(1, right, right, half_rows),     CONVERSION(1, experts, experts, half_list),
    CONVERSION(1, pairs, pairs, half_list),     CONVERSION(1, turned, turned, half_columns),
    CONVERSION(1, packed, packed, half_parts)};
enum { HALVES = sizeof halves / sizeof halves[0] };

/* The results of the wrapped class's conversions of these. */
static const struct graft_conversion own[] = {
    CONVERSION(2, sides, joined, join), CONVERSION(1, experts, stacked, stack), CONVERSION(1, turned, turned, turn)};

static const struct fake_parameter parameters[] = {
    {.name = "rows", .rank = 2, .shape = {2, 4}},    {.name = "packed", .rank = 2, .shape = {3, 4}},
    {.name = "columns", .rank = 2, .shape = {4, 2}}, {.name = "middle", .rank = 2, .shape = {2, 2}},
    {.name = "joined", .rank = 2, .shape = {3, 4}},  {.name = "stacked", .rank = 3, .shape = {2, 2, 3}},
    {.name = "turned", .rank = 2, .shape = {3, 2}},  {.name = NULL}};
static const struct fake_parameter pair_parameters[] = {{.name = "weight", .rank = 2, .shape = {2, 3}}, {.name = NULL}};
static const struct fake_child block_children[] = {{"e.0", "Pair", PAIR}, {"e.1", "Pair", PAIR}, {NULL, NULL, NULL}};
static const struct fake_child root_children[] = {{"m", "Block", BLOCK}, {NULL, NULL, NULL}};
static const struct fake_structure pair_structure = {.parameters = pair_parameters};
static const struct fake_structure block_structure = {.parameters = parameters, .children = block_children};
static const struct fake_structure root_structure = {.children = root_children};

#define PIECE(name_)                                  \
    {                                                 \
        .name = (name_), .rank = 2, .shape = { 2, 3 } \
    }
static const struct fake_tensor tensors[] = {{.name = "m.rows", .rank = 2, .shape = {4, 4}},
                                             {.name = "m.columns", .rank = 2, .shape = {4, 4}},
                                             {.name = "m.middle", .rank = 2, .shape = {2, 7}},
                                             {.name = "m.left", .rank = 2, .shape = {2, 4}},
                                             {.name = "m.right", .rank = 2, .shape = {4, 4}},
                                             {.name = "m.turned", .rank = 2, .shape = {2, 6}},
                                             {.name = "m.packed", .rank = 2, .shape = {6, 4}},
                                             PIECE("m.x.0.w"),
                                             PIECE("m.x.1.w"),
                                             PIECE("m.x.2.w"),
                                             PIECE("m.x.3.w"),
                                             PIECE("m.e.0.weight"),
                                             PIECE("m.e.1.weight"),
                                             PIECE("m.e.2.weight"),
                                             PIECE("m.e.3.weight"),
                                             {.name = NULL}};

static struct saver saver;
static struct graft_class root = FAKE_CLASS("Root", ROOT, &root_structure);
static struct graft_class pair = FAKE_CLASS("Pair", PAIR, &pair_structure);
static struct graft_class block;
static struct graft_class half;
static struct graft_replacement patch;

static int describe_half(const struct graft_class *cls, const struct graft_config *config,
                         const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    int status = GRAFT_OK;
    (void)cls;
    (void)config;
    (void)args;
    for (int32_t i = 0; i < HALVES && status == GRAFT_OK; i++) {
        status = sink->conversion(sink->data, &halves[i], error);
    }
    return status;
}

static void use(int (*describe)(const struct graft_class *, const struct graft_config *, const struct graft_args *,
                                const struct graft_sink *, struct graft_error *),
                uint32_t flags) {
    half = (struct graft_class)FAKE_CLASS("Half", BLOCK, &block_structure);
    half.describe = describe;
    half.flags = flags;
    patch = (struct graft_replacement){
        .struct_size = sizeof patch, .key = GRAFT_KEY_NAME, .target = "Block", .replacement = &half};
    fake_model_replace(&saver.fake.model, &patch);
}

static int set_up(void **state) {
    (void)state;
    block = (struct graft_class)FAKE_CLASS("Block", BLOCK, &block_structure);
    block.conversions = own;
    block.n_conversions = 3;
    block.conversion_stride = sizeof own[0];
    saver_init(&saver);
    fake_model_add(&saver.fake.model, &root);
    fake_model_add(&saver.fake.model, &block);
    fake_model_add(&saver.fake.model, &pair);
    fake_checkpoint_write(saver.fake.folder, tensors);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    saver_finish(&saver);
    return 0;
}

/* The bytes of row `row` of a bound parameter. */
static const char *bound_row(const char *name, int64_t row) {
    const struct graft_weight *weight = fake_plan_binding(&saver.fake, name)->parameter->weight;
    int32_t i = 0;
    while (row >= graft_weight_block(weight, i)->rows) {
        row -= graft_weight_block(weight, i++)->rows;
    }
    return (const char *)graft_weight_block(weight, i)->data + row * weight->columns * 4;
}

/* Compares rows of a parameter with those of a tensor, from a column on. */
static void assert_rows(const char *parameter, int64_t row, const char *tensor, int64_t from, int64_t column,
                        int64_t n) {
    const struct graft_tensor_view *view = graft_checkpoint_find(saver.fake.checkpoint, tensor);
    const struct graft_parameter *bound = fake_plan_binding(&saver.fake, parameter)->parameter;
    assert_non_null(view);
    for (int64_t i = 0; i < n; i++) {
        assert_memory_equal(bound_row(parameter, row + i),
                            (const char *)view->data + ((from + i) * view->shape[1] + column) * 4,
                            (size_t)bound->shape[bound->rank - 1] * 4);
    }
}

static void test_bound(void **state) {
    (void)state;
    use(describe_half, GRAFT_CLASS_CALLS_SUPER);
    saver_bind(&saver, "Root");
    assert_rows("m.rows", 0, "m.rows", 2, 0, 2);
    assert_rows("m.columns", 0, "m.columns", 0, 2, 4);
    assert_rows("m.middle", 0, "m.middle", 0, 3, 2);
    assert_rows("m.packed", 0, "m.packed", 2, 0, 2);
    assert_rows("m.packed", 2, "m.packed", 5, 0, 1);
    assert_rows("m.joined", 0, "m.left", 1, 0, 1);
    assert_rows("m.joined", 1, "m.right", 2, 0, 2);
    assert_rows("m.stacked", 0, "m.x.2.w", 0, 0, 2);
    assert_rows("m.stacked", 2, "m.x.3.w", 0, 0, 2);
    assert_rows("m.e.0.weight", 0, "m.e.2.weight", 0, 0, 2);
    assert_rows("m.e.1.weight", 0, "m.e.3.weight", 0, 0, 2);
    const float *numbers = graft_checkpoint_find(saver.fake.checkpoint, "m.turned")->data;
    for (int i = 0; i < 3; i++) {
        assert_memory_equal(bound_row("m.turned", i), &numbers[3 + i], 4);
        assert_memory_equal(bound_row("m.turned", i) + 4, &numbers[6 + 3 + i], 4);
    }
}

/* Rows are views, columns are copied; the dropped pieces belong to another process. */
static void test_cost(void **state) {
    static const char *const elsewhere[] = {"m.e.0.weight", "m.e.1.weight", "m.x.0.w", "m.x.1.w"};
    const struct graft_plan *plan;
    (void)state;
    use(describe_half, GRAFT_CLASS_CALLS_SUPER);
    saver_bind(&saver, "Root");
    plan = saver.fake.plan;
    assert_int_equal(fake_plan_binding(&saver.fake, "m.rows")->copied, 0);
    assert_int_equal(fake_plan_binding(&saver.fake, "m.columns")->copied, 1);
    assert_int_equal(plan->n_unexpected, 0);
    assert_int_equal(plan->n_elsewhere, 4);
    for (size_t i = 0; i < 4; i++) {
        assert_string_equal(plan->elsewhere[i]->name, elsewhere[i]);
    }
    assert_int_equal(plan->elsewhere_bytes, 4 * (8 + 8 + 2 * 5 + 4 + 8 + 6 + 12 + 4 * 6));
}

/* Without the wrapper nothing fits: the class is the same, but tensors are whole. */
static void test_whole(void **state) {
    (void)state;
    assert_int_equal(fake_plan_again(&saver.fake, "Root"), GRAFT_OK);
    fake_plan_refused(&saver.fake, "m.rows", "the checkpoint has the shape [4, 4]");
    assert_int_equal(saver.fake.plan->elsewhere_bytes, 0);
}

/* Saving copies the other pieces from the files, so nothing is lost; the runtime layout would lack them. */
static void test_saved(void **state) {
    (void)state;
    use(describe_half, GRAFT_CLASS_CALLS_SUPER);
    saver_bind(&saver, "Root");
    assert_same_tensors(saver.fake.folder, saver_save(&saver, "original", 0, 0));
    assert_int_equal(saver_try(&saver, "runtime", 1, 0), GRAFT_ERROR_MODEL);
    assert_string_equal(saver.fake.model.error.source, "m.columns");
    assert_string_equal(saver.fake.model.error.message,
                        "no parameter holds all of it, so the runtime layout would lose some");
}

/* Plans with one Slice of `rows`, which has 4 rows of 4. */
static void assert_refused(struct graft_operation slice, const char *words) {
    static struct graft_class sliced;
    static struct graft_operation operation;
    static const struct fake_parameter one[] = {{.name = "rows", .rank = 2, .shape = {2, 4}}, {.name = NULL}};
    static const struct fake_structure structure = {.parameters = one};
    static struct graft_conversion conversion = CONVERSION(1, rows, rows, half_rows);
    static int number;
    static char names[8][16];
    static const struct fake_tensor alone[] = {{.name = "rows", .rank = 2, .shape = {4, 4}}, {.name = NULL}};
    static struct graft_class classes[8];
    operation = slice;
    operation.struct_size = sizeof operation;
    operation.kind = GRAFT_OP_SLICE;
    conversion.operations = &operation;
    (void)snprintf(names[number], sizeof names[number], "Sliced%d", number);
    sliced = (struct graft_class)FAKE_CLASS(names[number], ROOT, &structure);
    sliced.conversions = &conversion;
    sliced.n_conversions = 1;
    sliced.conversion_stride = sizeof conversion;
    classes[number] = sliced;
    fake_model_add(&saver.fake.model, &classes[number]);
    assert_int_equal(fake_plan_make(&saver.fake, names[number], alone), GRAFT_OK);
    fake_plan_refused(&saver.fake, "rows", words);
    number++;
}

static void test_refused(void **state) {
    (void)state;
    assert_refused((struct graft_operation){.begin = 3, .length = 2},
                   "Slice: dimension 0 of [4, 4] has 4 pieces, not 2 from number 3 on");
    assert_refused((struct graft_operation){.begin = 2, .length = 1, .of = 2}, "has 2 pieces, not 1 from number 2 on");
    assert_refused((struct graft_operation){.length = 1, .of = 3},
                   "dimension 0 of [4, 4] does not divide into 3 pieces");
    assert_refused((struct graft_operation){.length = 1, .parts = {1, 2}},
                   "dimension 0 of [4, 4] has no part of 1 in 3");
    assert_refused((struct graft_operation){.dim = 2, .length = 1}, "dimension 2 is outside the shape [4, 4]");
    assert_refused((struct graft_operation){.length = 1}, "the checkpoint has the shape [1, 4]");
}

static struct graft_conversion bad;

static int describe_bad(const struct graft_class *cls, const struct graft_config *config, const struct graft_args *args,
                        const struct graft_sink *sink, struct graft_error *error) {
    (void)cls;
    (void)config;
    (void)args;
    return sink->conversion(sink->data, &bad, error);
}

static void test_bad_descriptions(void **state) {
    static struct graft_operation operation = HALF(0);
    (void)state;
    use(describe_bad, GRAFT_CLASS_CALLS_SUPER);
    bad = (struct graft_conversion)CONVERSION(1, rows, rows, half_rows);
    bad.operations = &operation;
    operation.length = 2;
    assert_int_equal(fake_model_build(&saver.fake.model, "Root"), GRAFT_ERROR_PLUGIN);
    assert_string_equal(saver.fake.model.error.source, "m");
    assert_string_equal(saver.fake.model.error.message,
                        "Half.conversions[0].operations[0].of: expected 0, or 3 and more, got 2");
    operation.length = 0;
    assert_int_equal(fake_model_build(&saver.fake.model, "Root"), GRAFT_ERROR_PLUGIN);
    assert_string_equal(saver.fake.model.error.message,
                        "Half.conversions[0].operations[0].begin: expected a Slice with a length of at least 1 and a "
                        "begin of at least 0, got 0 and 1");
    operation = (struct graft_operation)HALF(0);
    operation.struct_size = 96;
    assert_int_equal(fake_model_build(&saver.fake.model, "Root"), GRAFT_ERROR_PLUGIN);
    assert_string_equal(saver.fake.model.error.message,
                        "Half.conversions[0].operations[0].struct_size: expected at least 152, got 96");
}

/* The arguments of the wrapped class: the wrapper's come before the parent's. */
static int describe_sized(const struct graft_class *cls, const struct graft_config *config,
                          const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    const struct graft_arg more[] = {graft_int_arg("size", 3)};
    const struct graft_args given = graft_args_of(more, 1);
    (void)cls;
    (void)config;
    assert_int_equal(graft_args_int(args, "size", 6), 6);
    return sink->super(sink->data, &given, error);
}

static int64_t given_size;

static int describe_given(const struct graft_class *cls, const struct graft_config *config,
                          const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    (void)cls;
    (void)config;
    (void)sink;
    (void)error;
    given_size = graft_args_int(args, "size", 6);
    return GRAFT_OK;
}

static void test_super(void **state) {
    (void)state;
    block.describe = describe_given;
    block.n_conversions = 0;
    use(describe_sized, GRAFT_CLASS_CALLS_SUPER);
    assert_int_equal(fake_model_build(&saver.fake.model, "Root"), GRAFT_OK);
    assert_int_equal(given_size, 3);
}

static void test_no_super(void **state) {
    (void)state;
    use(describe_sized, 0);
    assert_int_equal(fake_model_build(&saver.fake.model, "Root"), GRAFT_ERROR_PLUGIN);
    assert_string_equal(saver.fake.model.error.message, "Half describes its super: it calls none");
}

/* Each allocation fails in turn, from building the tree to saving. */
static void test_memory(void **state) {
    long unspent = 0;
    (void)state;
    use(describe_half, GRAFT_CLASS_CALLS_SUPER);
    assert_int_equal(graft_checkpoint_open(saver.fake.folder, &saver.fake.checkpoint, NULL), GRAFT_OK);
    struct graft_snapshot *snapshot = graft_registry_snapshot(saver.fake.model.registry);
    const struct graft_tree_options options = {
        .config = &saver.fake.model.config, .snapshot = snapshot, .class_name = "Root"};
    const struct graft_plan_options plan_options = {.base_model_prefix = "model"};
    for (long n = 1; unspent == 0; n++) {
        struct graft_error error = graft_error_none();
        struct graft_tree *tree = NULL;
        struct graft_plan *plan = NULL;
        struct graft_bound *bound = NULL;
        graft_alloc_fail_at(n);
        int status = graft_tree_build(&options, &tree, &error);
        if (status == GRAFT_OK) {
            status = graft_plan_make(tree, saver.fake.checkpoint, &plan_options, &plan, &error);
        }
        if (status == GRAFT_OK) {
            status = graft_bind(plan, &bound, &error);
        }
        unspent = graft_alloc_fail_at(0);
        assert_int_equal(status, unspent == 0 ? GRAFT_ERROR_INTERNAL : GRAFT_OK);
        graft_bound_free(bound);
        graft_plan_free(plan);
        graft_tree_free(tree);
    }
    graft_snapshot_release(snapshot);
}

#define WITH_SAVER(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        WITH_SAVER(test_bound), WITH_SAVER(test_cost),     WITH_SAVER(test_whole),
        WITH_SAVER(test_saved), WITH_SAVER(test_refused),  WITH_SAVER(test_bad_descriptions),
        WITH_SAVER(test_super), WITH_SAVER(test_no_super), WITH_SAVER(test_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
