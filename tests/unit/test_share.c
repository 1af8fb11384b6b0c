/* SPDX-License-Identifier: Apache-2.0 */
/* A share of a Linear's outputs or inputs: which part of each tensor is read, by the class's statement of their
 * layout. */
#include "fake_model.h"

static const struct fake_child root_children[] = {{"block", "Block", "test.block/1"}, {0}};
static const struct fake_structure root_structure = {.children = root_children};
static const struct graft_class root = FAKE_CLASS("Root", "graft.causal_lm/1", &root_structure);

/* The only tensor of a module, which is no plain weight. */
static const struct graft_tensor_view *view;
static struct graft_parameter_info coded;

static int describe_leaf(const struct graft_class *cls, const struct graft_config *config,
                         const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    const int64_t shape[2] = {graft_args_int(args, "out_features", 0), graft_args_int(args, "in_features", 0)};
    (void)cls, (void)config;
    int status = graft_describe_parameter(sink, "weight", 2, shape, 0, GRAFT_INIT_NONE, error);
    return status == GRAFT_OK && view != NULL ? sink->parameter(sink->data, &coded, error) : status;
}

static const struct graft_class leaf = {.struct_size = sizeof leaf,
                                        .name = "Leaf",
                                        .interface_id = "graft.linear/1",
                                        .describe = describe_leaf,
                                        .create = graft_create_stateless,
                                        .forward = ""};

/* The declared share, and the Linear that has it. */
static int64_t features[2];

static int describe_block(const struct graft_class *cls, const struct graft_config *config,
                          const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    const struct graft_arg own[] = {graft_int_arg("out_features", features[0]),
                                    graft_int_arg("in_features", features[1]), graft_int_arg("bias", 0)};
    (void)cls, (void)config, (void)args;
    return graft_describe_child(sink, "q", "Leaf", GRAFT_INTERFACE_LINEAR, own, 3, error);
}

static const struct graft_class block = {.struct_size = sizeof block,
                                         .name = "Block",
                                         .interface_id = "test.block/1",
                                         .describe = describe_block,
                                         .create = graft_create_stateless,
                                         .forward = ""};

static const char *name;
static int32_t of;
static struct graft_operation share;

static int describe_sharing(const struct graft_class *cls, const struct graft_config *config,
                            const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    (void)cls, (void)config, (void)args;
    return sink->share(sink->data, name, of, &share, error);
}

static const struct graft_class sharing = {.struct_size = sizeof sharing,
                                           .name = "Sharing",
                                           .flags = GRAFT_CLASS_CALLS_SUPER,
                                           .interface_id = "test.block/1",
                                           .describe = describe_sharing,
                                           .forward = ""};

static const struct graft_tensor_view *tensor(const void *data, const char *path, const char *tensor_name) {
    (void)data;
    return view != NULL && strcmp(path, "block.q") == 0 && strcmp(tensor_name, "codes") == 0 ? view : NULL;
}

static struct fake_model model;
static struct graft_model_facts facts;

static int build(void) {
    static struct graft_replacement replacement;
    fake_model_init(&model);
    facts = (struct graft_model_facts){.config = &model.config.view, .tensor = tensor};
    fake_model_add(&model, &leaf);
    fake_model_add(&model, &block);
    fake_model_add(&model, &root);
    model.facts = &facts;
    replacement = (struct graft_replacement){
        .struct_size = sizeof replacement, .key = GRAFT_KEY_NAME, .target = "Block", .replacement = &sharing};
    fake_model_replace(&model, &replacement);
    return fake_model_build(&model, "Root");
}

/* Rank `begin` of `pieces` has `length` pieces. */
static void set(int32_t what, int64_t outputs, int64_t inputs, int64_t begin, int64_t length, int64_t pieces) {
    name = "q";
    of = what;
    features[0] = outputs;
    features[1] = inputs;
    share = (struct graft_operation){
        .struct_size = sizeof share, .kind = GRAFT_OP_SLICE, .begin = begin, .length = length, .of = pieces};
    view = NULL;
}

/* The module describes [rows, columns] of codes; the checkpoint has [all_rows, all_columns]. */
static void set_codes(int64_t rows, int64_t columns, int64_t all_rows, int64_t all_columns, struct graft_join join,
                      struct graft_join inputs) {
    static struct graft_tensor_view found;
    found = (struct graft_tensor_view){.name = "block.q.codes", .rank = 2, .shape = {all_rows, all_columns}};
    view = &found;
    coded = (struct graft_parameter_info){.struct_size = sizeof coded,
                                          .name = "codes",
                                          .rank = 2,
                                          .shape = {rows, columns},
                                          .dtype = GRAFT_DTYPE_I32,
                                          .join = join,
                                          .inputs = inputs};
}

/* The part of a tensor that the module reads; NULL: all. */
static const struct graft_operation *taken(const char *target) {
    const struct graft_node *node = fake_model_node(&model, "block");
    const struct graft_conversion *conversion;
    for (size_t i = 0; (conversion = graft_node_conversion(node, i)) != NULL; i++) {
        if (strcmp(conversion->targets[0], target) == 0) {
            assert_string_equal(conversion->sources[0], target);
            return graft_conversion_operation(conversion, 0);
        }
    }
    return NULL;
}

static void assert_taken(const char *target, int64_t dim, int64_t begin, int64_t length, int64_t pieces) {
    const struct graft_operation *slice = taken(target);
    assert_non_null(slice);
    assert_int_equal(slice->kind, GRAFT_OP_SLICE);
    assert_int_equal(slice->dim, dim);
    assert_int_equal(slice->begin, begin);
    assert_int_equal(slice->length, length);
    assert_int_equal(slice->of, pieces);
}

static int tear_down(void **state) {
    (void)state;
    fake_model_finish(&model);
    return 0;
}

static void test_plain(void **state) {
    (void)state;
    set(GRAFT_SHARE_OUTPUTS, 4, 8, 1, 1, 2);
    assert_int_equal(build(), GRAFT_OK);
    assert_taken("q.weight", 0, 1, 1, 2);
    assert_taken("q.bias", 0, 1, 1, 2);
    fake_model_finish(&model);
    set(GRAFT_SHARE_INPUTS, 4, 8, 1, 1, 2);
    assert_int_equal(build(), GRAFT_OK);
    assert_taken("q.weight", 1, 1, 1, 2);
    assert_null(taken("q.bias"));
}

static void test_codes(void **state) {
    const struct graft_join each = graft_join_rows(1, 1), words = graft_join_rows(0, 8);
    (void)state;
    set(GRAFT_SHARE_OUTPUTS, 4, 32, 1, 1, 2);
    set_codes(4, 4, 4, 8, each, words);
    assert_int_equal(build(), GRAFT_OK);
    assert_taken("q.codes", 1, 1, 1, 2);
    fake_model_finish(&model);
    set(GRAFT_SHARE_INPUTS, 8, 16, 1, 1, 2);
    set_codes(2, 8, 4, 8, each, words);
    assert_int_equal(build(), GRAFT_OK);
    assert_taken("q.codes", 0, 1, 1, 2);
}

/* One step covers all inputs, before and after sharing; a tensor may also have no inputs. */
static void test_whole(void **state) {
    (void)state;
    set(GRAFT_SHARE_INPUTS, 8, 16, 1, 1, 2);
    set_codes(8, 1, 8, 1, graft_join_rows(0, 1), graft_join_rows(1, 16));
    assert_int_equal(build(), GRAFT_OK);
    assert_null(taken("q.codes"));
    fake_model_finish(&model);
    set_codes(8, 1, 8, 1, graft_join_rows(0, 1), graft_join_whole(GRAFT_JOIN_EQUAL));
    assert_int_equal(build(), GRAFT_OK);
    assert_null(taken("q.codes"));
}

/* The last of two runs of 8 and 4 outputs, in words of 8. */
static void test_run(void **state) {
    (void)state;
    set(GRAFT_SHARE_OUTPUTS, 4, 32, 8, 4, 12);
    set_codes(1, 4, 2, 4, graft_join_rows(0, 8), graft_join_rows(1, 8));
    assert_int_equal(build(), GRAFT_OK);
    assert_taken("q.weight", 0, 8, 4, 12);
    assert_taken("q.codes", 0, 1, 1, 2);
}

static void assert_refused(int status, const char *words) {
    assert_int_equal(build(), status);
    if (strstr(model.error.message, words) == NULL) {
        fail_msg("expected \"%s\": %s", words, model.error.message);
    }
}

static void test_steps(void **state) {
    (void)state;
    set(GRAFT_SHARE_INPUTS, 8, 12, 1, 1, 2);
    set_codes(8, 2, 8, 3, graft_join_rows(0, 1), graft_join_rows(1, 8));
    assert_refused(GRAFT_ERROR_USAGE, "24 inputs cannot be divided in 2: \"codes\" has them in steps of 8");
}

/* Each part of a weight is shared by itself. */
static void test_steps_of_parts(void **state) {
    (void)state;
    set(GRAFT_SHARE_OUTPUTS, 12, 4, 1, 1, 2);
    set_codes(3, 4, 6, 4, graft_join_rows(0, 4), graft_join_rows(1, 1));
    share.parts[0] = 4;
    share.parts[1] = share.parts[2] = 1;
    assert_refused(GRAFT_ERROR_USAGE, "24 outputs cannot be divided in 2: \"codes\" has them in steps of 4");
}

static void test_unknown(void **state) {
    (void)state;
    set(GRAFT_SHARE_INPUTS, 8, 16, 1, 1, 2);
    set_codes(8, 2, 8, 4, graft_join_rows(0, 1), graft_join_whole(GRAFT_JOIN_NONE));
    assert_refused(GRAFT_ERROR_USAGE, "inputs cannot be divided in 2: Leaf does not say how they lie in \"codes\"");
    fake_model_finish(&model);
    set(GRAFT_SHARE_OUTPUTS, 4, 16, 1, 1, 2);
    set_codes(4, 4, 4, 4, graft_join_whole(GRAFT_JOIN_EACH), graft_join_whole(GRAFT_JOIN_NONE));
    coded.shape[0] = 4;
    assert_refused(GRAFT_ERROR_USAGE, "outputs cannot be divided in 2: Leaf does not say how they lie in \"codes\"");
}

/* A class built with the headers of 1.0 says nothing about inputs. */
static void test_1_0(void **state) {
    (void)state;
    set(GRAFT_SHARE_INPUTS, 8, 16, 1, 1, 2);
    set_codes(8, 2, 8, 4, graft_join_rows(0, 1), graft_join_rows(1, 8));
    coded.struct_size = GRAFT_PARAMETER_INFO_SIZE_1_0;
    assert_refused(GRAFT_ERROR_USAGE, "Leaf does not say how they lie in \"codes\"");
}

static void test_invalid(void **state) {
    static const char words[] = "Sharing describes a share of \"q\" that is none";
    (void)state;
    set(3, 4, 8, 1, 1, 2);
    assert_refused(GRAFT_ERROR_PLUGIN, words);
    fake_model_finish(&model);
    set(GRAFT_SHARE_INPUTS, 4, 8, 2, 1, 2);
    assert_refused(GRAFT_ERROR_PLUGIN, words);
    fake_model_finish(&model);
    set(GRAFT_SHARE_INPUTS, 4, 8, 0, 1, 2);
    share.kind = GRAFT_OP_CHUNK;
    assert_refused(GRAFT_ERROR_PLUGIN, words);
    fake_model_finish(&model);
    set(GRAFT_SHARE_INPUTS, 4, 8, 0, 1, 2);
    set_codes(4, 8, 4, 8, graft_join_rows(0, 1), graft_join_rows(2, 1));
    assert_refused(GRAFT_ERROR_MODEL, "an unknown way to join or divide parameter \"codes\"");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_plain, tear_down),   cmocka_unit_test_teardown(test_codes, tear_down),
        cmocka_unit_test_teardown(test_whole, tear_down),   cmocka_unit_test_teardown(test_run, tear_down),
        cmocka_unit_test_teardown(test_steps, tear_down),   cmocka_unit_test_teardown(test_steps_of_parts, tear_down),
        cmocka_unit_test_teardown(test_unknown, tear_down), cmocka_unit_test_teardown(test_1_0, tear_down),
        cmocka_unit_test_teardown(test_invalid, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
