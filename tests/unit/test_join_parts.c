/* SPDX-License-Identifier: Apache-2.0 */
/* A class that wraps a module which is joined from parts: which of the parts it is told of, and when it exists. */
#include "fake_model.h"

static const struct fake_structure nothing;
static const struct fake_child root_children[] = {{"block", "Block", "test.block/1"}, {0}};
static const struct fake_structure root_structure = {.children = root_children};
static const struct graft_class root = FAKE_CLASS("Root", "graft.causal_lm/1", &root_structure);
static const struct graft_class leaf = FAKE_CLASS("Leaf", "graft.linear/1", &nothing);

static int describe_leaf(const struct graft_sink *sink, const char *name, int64_t outputs, struct graft_error *error) {
    const struct graft_arg args[] = {graft_int_arg("in_features", 4), graft_int_arg("out_features", outputs),
                                     graft_int_arg("bias", 0)};
    return graft_describe_child(sink, name, "Leaf", GRAFT_INTERFACE_LINEAR, args, 3, error);
}

static int describe_block(const struct graft_class *cls, const struct graft_config *config,
                          const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    (void)cls, (void)config, (void)args;
    int status = describe_leaf(sink, "q", 3, error);
    return status == GRAFT_OK ? describe_leaf(sink, "k", 5, error) : status;
}

static const struct graft_class block = {.struct_size = sizeof block,
                                         .name = "Block",
                                         .interface_id = "test.block/1",
                                         .describe = describe_block,
                                         .create = graft_create_stateless,
                                         .forward = ""};

static int64_t joined_outputs;

static int describe_joined(const struct graft_class *cls, const struct graft_config *config,
                           const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    (void)cls, (void)config, (void)args;
    return describe_leaf(sink, "qk", joined_outputs, error);
}

static const char *const sources[] = {"q.weight", "k.weight"}, *const targets[] = {"qk.weight"};
static const struct graft_operation join[] = {{.struct_size = sizeof join[0], .kind = GRAFT_OP_CONCATENATE, .dim = 0}};
static const struct graft_conversion conversions[] = {{.struct_size = sizeof conversions[0],
                                                       .n_sources = 2,
                                                       .sources = sources,
                                                       .n_targets = 1,
                                                       .targets = targets,
                                                       .n_operations = 1,
                                                       .operations = join,
                                                       .operation_stride = sizeof join[0]}};
static const struct graft_class joining = {.struct_size = sizeof joining,
                                           .name = "Joining",
                                           .interface_id = "test.block/1",
                                           .describe = describe_joined,
                                           .create = graft_create_stateless,
                                           .forward = "",
                                           GRAFT_CLASS_CONVERSIONS(conversions)};

/* The parts that the wrapper was told of last. */
static struct {
    char path[32];
    int32_t n;
    struct {
        char name[8];
        char path[16];
        int64_t first;
        int64_t outputs;
    } parts[2];
} told;

static int describe_wrapper(const struct graft_class *cls, const struct graft_config *config,
                            const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    struct graft_part_info part = {.struct_size = sizeof part};
    (void)cls, (void)config, (void)args, (void)error;
    (void)snprintf(told.path, sizeof told.path, "%s", sink->path);
    for (told.n = 0; told.n < 2 && sink->part(sink->data, told.n, &part); told.n++) {
        (void)snprintf(told.parts[told.n].name, sizeof told.parts[0].name, "%s", part.name);
        (void)snprintf(told.parts[told.n].path, sizeof told.parts[0].path, "%s", part.path);
        told.parts[told.n].first = part.first;
        told.parts[told.n].outputs = part.outputs;
    }
    assert_int_equal(sink->part(sink->data, told.n, &part), 0);
    assert_int_equal(sink->part(sink->data, -1, &part), 0);
    return GRAFT_OK;
}

#define WRAPPER(flag)                                                                                            \
    {                                                                                                            \
        .struct_size = sizeof(struct graft_class), .name = "Wrapper", .flags = GRAFT_CLASS_CALLS_SUPER | (flag), \
        .interface_id = "graft.linear/1", .describe = describe_wrapper, .forward = ""                            \
    }
static const struct graft_class taking = WRAPPER(GRAFT_CLASS_TAKES_PARTS), other = WRAPPER(0);

static const char *const adapted[] = {"adapter.*.x", NULL};
static const struct graft_condition is_adapted = {sizeof is_adapted, GRAFT_CONDITION_TENSOR, NULL, adapted};

/* An adapter changes `k`. */
static const struct graft_tensor_view *tensor(const void *data, const char *path, const char *name) {
    static const struct graft_tensor_view view = {.name = "adapter.a.block.k.x"};
    (void)data;
    return strcmp(path, "block.k") == 0 && strcmp(name, "adapter.*.x") == 0 ? &view : NULL;
}

static struct fake_model model;
static struct graft_model_facts facts;

static void replace(const char *target, const struct graft_class *by, const struct graft_condition *condition,
                    struct graft_replacement *replacement) {
    *replacement = (struct graft_replacement){.struct_size = sizeof *replacement,
                                              .key = GRAFT_KEY_NAME,
                                              .target = target,
                                              .replacement = by,
                                              .conditions = condition,
                                              .n_conditions = condition != NULL,
                                              .condition_stride = sizeof *condition};
    fake_model_replace(&model, replacement);
}

/* The model with its leaves wrapped and, if `joins`, with `q` and `k` joined. */
static void build(const struct graft_class *wrapper, int joins, int knows_plain) {
    static struct graft_replacement replacements[2];
    memset(&told, 0, sizeof told);
    fake_model_init(&model);
    facts = (struct graft_model_facts){.config = &model.config.view, .tensor = tensor};
    fake_model_add(&model, &leaf);
    fake_model_add(&model, &block);
    fake_model_add(&model, &root);
    assert_int_equal(fake_model_build(&model, "Root"), GRAFT_OK);
    struct graft_tree *plain = model.tree;
    model.tree = NULL;
    model.plain = knows_plain ? plain : NULL;
    model.facts = &facts;
    replace("Leaf", wrapper, &is_adapted, &replacements[0]);
    if (joins) {
        replace("Block", &joining, NULL, &replacements[1]);
    }
    assert_int_equal(fake_model_build(&model, "Root"), GRAFT_OK);
    graft_tree_free(plain);
}

static int tear_down(void **state) {
    (void)state;
    fake_model_finish(&model);
    return 0;
}

static void assert_part(int32_t i, const char *name, const char *path, int64_t first, int64_t outputs) {
    assert_string_equal(told.parts[i].name, name);
    assert_string_equal(told.parts[i].path, path);
    assert_int_equal(told.parts[i].first, first);
    assert_int_equal(told.parts[i].outputs, outputs);
}

/* Whether names below a child are also those below another name. */
static int has_renaming(const char *source, const char *target) {
    const struct graft_conversion *conversion;
    const struct graft_node *node = fake_model_node(&model, "block");
    for (size_t i = 0; (conversion = graft_node_conversion(node, i)) != NULL; i++) {
        if (conversion->n_operations == 0 && strcmp(conversion->sources[0], source) == 0 &&
            strcmp(conversion->targets[0], target) == 0) {
            return 1;
        }
    }
    return 0;
}

static void test_joined(void **state) {
    (void)state;
    joined_outputs = 8;
    build(&taking, 1, 1);
    assert_string_equal(fake_model_node(&model, "block.qk")->class_name, "Wrapper");
    assert_string_equal(told.path, "block.qk");
    assert_int_equal(told.n, 2);
    assert_part(0, "q", "block.q", 0, 3);
    assert_part(1, "k", "block.k", 3, 5);
    assert_true(has_renaming("q", "qk.q") && has_renaming("k", "qk.k"));
}

static void test_not_joined(void **state) {
    (void)state;
    build(&taking, 0, 1);
    assert_string_equal(fake_model_node(&model, "block.q")->class_name, "Leaf");
    assert_string_equal(fake_model_node(&model, "block.k")->class_name, "Wrapper");
    assert_int_equal(told.n, 1);
    assert_part(0, "", "block.k", 0, 5);
}

static void assert_apart(void) {
    assert_null(fake_model_node(&model, "block.qk"));
    assert_string_equal(fake_model_node(&model, "block.k")->class_name, "Wrapper");
    assert_int_equal(told.n, 1);
}

/* The parts are not joined if the class has not asked for something, or the host does not know it. */
static void test_other(void **state) {
    (void)state;
    joined_outputs = 8;
    build(&other, 1, 1);
    assert_apart();
}

static void test_unknown_outputs(void **state) {
    (void)state;
    joined_outputs = 8;
    build(&taking, 1, 0);
    assert_apart();
}

static void test_other_outputs(void **state) {
    (void)state;
    for (joined_outputs = 7; joined_outputs <= 9; joined_outputs += 2) {
        build(&taking, 1, 1);
        assert_apart();
        if (joined_outputs == 7) {
            fake_model_finish(&model);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_joined, tear_down),
        cmocka_unit_test_teardown(test_not_joined, tear_down),
        cmocka_unit_test_teardown(test_other, tear_down),
        cmocka_unit_test_teardown(test_unknown_outputs, tear_down),
        cmocka_unit_test_teardown(test_other_outputs, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
