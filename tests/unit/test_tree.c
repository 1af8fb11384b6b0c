/* SPDX-License-Identifier: Apache-2.0 */
/* What classes may describe, and the resulting tree. Replacements are tested in test_tree_replace.c. */
#include "arch/basic/activation.h"
#include "fake_model.h"

#define LEAF "test.leaf/1"
#define ROOT "test.root/1"

static const struct fake_parameter leaf_parameters[] = {{.name = "weight", .rank = 2, .shape = {3, 2}}, {.name = NULL}};
static const struct fake_structure leaf_structure = {.parameters = leaf_parameters};
static const struct graft_class leaf = FAKE_CLASS("Leaf", LEAF, &leaf_structure);

/* Builds a model whose root describes `structure`. */
static int build(struct fake_model *model, const struct fake_structure *structure) {
    static struct graft_class root;
    root = (struct graft_class)FAKE_CLASS("Root", ROOT, structure);
    fake_model_init(model);
    fake_model_add(model, &leaf);
    fake_model_add(model, &root);
    return fake_model_build(model, "Root");
}

/* Builds it, and expects an error at the root that contains `words`. */
static void refuse(const struct fake_structure *structure, const char *words) {
    struct fake_model model;
    assert_int_not_equal(build(&model, structure), GRAFT_OK);
    assert_null(model.tree);
    if (strstr(model.error.message, words) == NULL) {
        fail_msg("\"%s\" does not say \"%s\"", model.error.message, words);
    }
    fake_model_finish(&model);
}

static void test_structure(void **state) {
    static const struct fake_parameter parameters[] = {
        {.name = "bias", .rank = 1, .shape = {7}, .flags = GRAFT_PARAMETER_CONTIGUOUS, .init = GRAFT_INIT_ONES},
        {.name = NULL}};
    static const struct fake_child children[] = {
        {"head", "Leaf", LEAF}, {"layers.0", "Leaf", LEAF}, {"layers.1.inner", "Leaf", LEAF}, {NULL, NULL, NULL}};
    const struct fake_structure structure = {.parameters = parameters, .children = children};
    struct fake_model model;
    (void)state;
    assert_int_equal(build(&model, &structure), GRAFT_OK);
    const struct graft_parameter *bias = graft_node_parameter(model.tree->root, "bias");
    assert_string_equal(bias->name, "bias");
    assert_int_equal(bias->shape[0], 7);
    assert_int_equal(bias->shape[1], 1);
    assert_int_equal(bias->init, GRAFT_INIT_ONES);
    const struct graft_parameter *weight = graft_node_parameter(fake_model_node(&model, "layers.1.inner"), "weight");
    assert_string_equal(weight->name, "layers.1.inner.weight");
    assert_string_equal(weight->own_name, "weight");
    assert_int_equal(weight->rank, 2);
    assert_string_equal(fake_model_node(&model, "layers")->class_name, "ModuleList");
    assert_string_equal(fake_model_node(&model, "layers.1")->class_name, "ModuleList");
    assert_string_equal(fake_model_node(&model, "layers.0")->class_name, "Leaf");
    assert_ptr_equal(fake_model_node(&model, "layers.0")->parent, fake_model_node(&model, "layers"));
    assert_null(fake_model_node(&model, "layers.2"));
    assert_null(fake_model_node(&model, "layer"));
    assert_int_equal(model.tree->n_parameters, 4);
    fake_model_finish(&model);
}

static void test_bad_names(void **state) {
    static const char *const names[] = {"", ".", "a.", ".a", "a..b", "a b", "a/b", "\xc3\xa4", "a\n", "*"};
    static char too_long[300];
    (void)state;
    memset(too_long, 'a', sizeof too_long - 1);
    for (size_t i = 0; i <= sizeof names / sizeof names[0]; i++) {
        const char *name = i < sizeof names / sizeof names[0] ? names[i] : too_long;
        const struct fake_parameter parameters[] = {{.name = name, .rank = 1, .shape = {1}}, {.name = NULL}};
        const struct fake_child children[] = {{name, "Leaf", LEAF}, {NULL, NULL, NULL}};
        refuse(&(struct fake_structure){.parameters = parameters}, "invalid name");
        refuse(&(struct fake_structure){.children = children}, "invalid name");
    }
}

static int describe_parameter_last(const struct graft_class *cls, const struct graft_config *config,
                                   const struct graft_args *args, const struct graft_sink *sink,
                                   struct graft_error *error) {
    const int64_t length = 1;
    (void)cls, (void)config, (void)args;
    int status = graft_describe_child(sink, "a", "Leaf", LEAF, NULL, 0, error);
    return status == GRAFT_OK ? graft_describe_parameter(sink, "a.b", 1, &length, 0, GRAFT_INIT_NONE, error) : status;
}

/* A parameter's name may contain dots, unless a child could have a parameter of that name. */
static void test_dotted_parameter(void **state) {
    static const struct fake_parameter dotted[] = {{.name = "a.b.c", .rank = 1, .shape = {1}}, {.name = NULL}};
    static const struct fake_child others[] = {{"b", "Leaf", LEAF}, {"aa", "Leaf", LEAF}, {NULL, NULL, NULL}};
    static const struct fake_child same[] = {{"a", "Leaf", LEAF}, {NULL, NULL, NULL}};
    static const struct fake_child lists[] = {{"a.0", "Leaf", LEAF}, {NULL, NULL, NULL}};
    static const struct fake_structure structure = {.parameters = dotted, .children = others};
    struct fake_model model;
    (void)state;
    fake_model_init(&model);
    fake_model_add(&model, &(struct graft_class)FAKE_CLASS("Root", ROOT, &structure));
    fake_model_add(&model, &leaf);
    assert_int_equal(fake_model_build(&model, "Root"), GRAFT_OK);
    const struct graft_parameter *parameter = graft_node_find_parameter(model.tree->root, "a.b.c");
    assert_non_null(parameter);
    assert_string_equal(parameter->name, "a.b.c");
    assert_string_equal(parameter->own_name, "a.b.c");
    assert_null(graft_node_find_parameter(model.tree->root, "a.b"));
    fake_model_finish(&model);
    refuse(&(struct fake_structure){.parameters = dotted, .children = same},
           "a parameter below the name of child \"a\"");
    refuse(&(struct fake_structure){.parameters = dotted, .children = lists}, "below the name of child \"a.0\"");
    fake_model_init(&model);
    struct graft_class last = FAKE_CLASS("Root", ROOT, NULL);
    last.describe = describe_parameter_last;
    fake_model_add(&model, &last);
    fake_model_add(&model, &leaf);
    assert_int_not_equal(fake_model_build(&model, "Root"), GRAFT_OK);
    assert_non_null(strstr(model.error.message, "a child, and a parameter below its name: \"a.b\""));
    fake_model_finish(&model);
}

static void test_twice(void **state) {
    static const struct fake_parameter parameters[] = {
        {.name = "w", .rank = 1, .shape = {1}}, {.name = "w", .rank = 1, .shape = {1}}, {.name = NULL}};
    static const struct fake_child same[] = {{"a", "Leaf", LEAF}, {"a", "Leaf", LEAF}, {NULL, NULL, NULL}};
    static const struct fake_child list[] = {{"a.0", "Leaf", LEAF}, {"a", "Leaf", LEAF}, {NULL, NULL, NULL}};
    static const struct fake_child below[] = {{"a", "Leaf", LEAF}, {"a.0", "Leaf", LEAF}, {NULL, NULL, NULL}};
    (void)state;
    refuse(&(struct fake_structure){.parameters = parameters}, "two parameters");
    refuse(&(struct fake_structure){.children = same}, "two children");
    refuse(&(struct fake_structure){.children = list}, "two children");
    refuse(&(struct fake_structure){.children = below}, "below another");
}

/* Children named by consecutive numbers are looked up by number, others by name: with the same result. */
static void test_numbered(void **state) {
    static const struct fake_child children[] = {
        {"list.0", "Leaf", LEAF},  {"list.1", "Leaf", LEAF},  {"list.2", "Leaf", LEAF},  {"late.1", "Leaf", LEAF},
        {"late.0", "Leaf", LEAF},  {"gap.0", "Leaf", LEAF},   {"gap.2", "Leaf", LEAF},   {"mixed.0", "Leaf", LEAF},
        {"mixed.x", "Leaf", LEAF}, {"mixed.1", "Leaf", LEAF}, {"long.00", "Leaf", LEAF}, {NULL, NULL, NULL}};
    static const char *const absent[] = {"list.3",  "list.00",         "list.01", "list.1x",
                                         "list.-1", "list.4294967296", "late.2",  "gap.1",
                                         "mixed.2", "mixed.00",        "long.0",  "list.99999999999999999999"};
    static const struct fake_child again[] = {
        {"a.0", "Leaf", LEAF}, {"a.1", "Leaf", LEAF}, {"a.2", "Leaf", LEAF}, {"a.1", "Leaf", LEAF}, {NULL, NULL, NULL}};
    const struct fake_structure structure = {.children = children};
    struct fake_model model;
    (void)state;
    assert_int_equal(build(&model, &structure), GRAFT_OK);
    for (size_t i = 0; children[i].name != NULL; i++) {
        const struct graft_node *node = fake_model_node(&model, children[i].name);
        assert_non_null(node);
        assert_string_equal(node->path, children[i].name);
    }
    for (size_t i = 0; i < sizeof absent / sizeof absent[0]; i++) {
        assert_null(fake_model_node(&model, absent[i]));
    }
    fake_model_finish(&model);
    refuse(&(struct fake_structure){.children = again}, "two children");
}

static void test_bad_shapes(void **state) {
    static const struct fake_parameter bad[] = {
        {.name = "w", .rank = 0},
        {.name = "w", .rank = 1, .shape = {0}},
        {.name = "w", .rank = 2, .shape = {4, -1}},
        {.name = "w", .rank = 2, .shape = {INT64_MAX / 8, 2}},
        {.name = "w", .rank = 4, .shape = {1 << 20, 1 << 20, 1 << 20, 2}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        const struct fake_parameter parameters[] = {bad[i], {.name = NULL}};
        refuse(&(struct fake_structure){.parameters = parameters}, "shape");
    }
    static const struct fake_parameter init[] = {{.name = "w", .rank = 1, .shape = {1}, .init = 9}, {.name = NULL}};
    refuse(&(struct fake_structure){.parameters = init}, "initial value");
}

static void test_children_that_cannot_be(void **state) {
    static const struct fake_child unknown[] = {{"a", "NoSuchClass", LEAF}, {NULL, NULL, NULL}};
    static const struct fake_child interface[] = {{"a", "Leaf", ROOT}, {NULL, NULL, NULL}};
    static const struct fake_child nameless[] = {{"a", NULL, LEAF}, {NULL, NULL, NULL}};
    static const struct fake_child faceless[] = {{"a", "Leaf", NULL}, {NULL, NULL, NULL}};
    (void)state;
    refuse(&(struct fake_structure){.children = unknown}, "NoSuchClass");
    refuse(&(struct fake_structure){.children = interface}, LEAF);
    refuse(&(struct fake_structure){.children = nameless}, "without class");
    refuse(&(struct fake_structure){.children = faceless}, "without class");
}

/* Each class has two children: without a limit on the depth the tree would be infinite. */
static void test_depth_bomb(void **state) {
    static const struct fake_child children[] = {{"a", "Root", ROOT}, {"b", "Root", ROOT}, {NULL, NULL, NULL}};
    (void)state;
    refuse(&(struct fake_structure){.children = children}, "too deeply");
}

static int describe_many(const struct graft_class *cls, const struct graft_config *config,
                         const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    int64_t depth = graft_args_int(args, "depth", 0);
    const struct graft_arg deeper = graft_int_arg("depth", depth + 1);
    int status = GRAFT_OK;
    (void)cls;
    (void)config;
    for (int i = 0; i < 33 && depth < 4 && status == GRAFT_OK; i++) {
        char name[16];
        (void)snprintf(name, sizeof name, "%d", i);
        status = graft_describe_child(sink, name, "Many", LEAF, &deeper, 1, error);
    }
    return status;
}

/* Arguments reach children; a million modules are too many. */
static void test_breadth_bomb(void **state) {
    static const struct graft_class many = {.struct_size = sizeof many,
                                            .name = "Many",
                                            .interface_id = LEAF,
                                            .describe = describe_many,
                                            .create = graft_create_stateless,
                                            .forward = ""};
    struct fake_model model;
    (void)state;
    fake_model_init(&model);
    fake_model_add(&model, &many);
    assert_int_not_equal(fake_model_build(&model, "Many"), GRAFT_OK);
    assert_non_null(strstr(model.error.message, "too many modules"));
    fake_model_finish(&model);
}

static int describe_args(const struct graft_class *cls, const struct graft_config *config,
                         const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    const struct graft_arg nameless = graft_int_arg(NULL, 1);
    int64_t size = graft_args_int(args, "size", 0);
    const struct graft_arg given = graft_int_arg("size", 5);
    (void)config;
    if (size > 0) {
        return graft_describe_parameter(sink, "weight", 1, &size, 0, GRAFT_INIT_NONE, error);
    }
    return graft_describe_child(sink, "child", "Args", LEAF, cls->data != NULL ? &nameless : &given, 1, error);
}

static void test_args(void **state) {
    struct graft_class args = {.struct_size = sizeof args,
                               .name = "Args",
                               .interface_id = LEAF,
                               .describe = describe_args,
                               .create = graft_create_stateless,
                               .forward = ""};
    struct fake_model model;
    (void)state;
    fake_model_init(&model);
    fake_model_add(&model, &args);
    assert_int_equal(fake_model_build(&model, "Args"), GRAFT_OK);
    assert_int_equal(graft_node_parameter(fake_model_node(&model, "child"), "weight")->shape[0], 5);
    args.data = "an argument without a name";
    assert_int_not_equal(fake_model_build(&model, "Args"), GRAFT_OK);
    assert_non_null(strstr(model.error.message, "invalid arguments"));
    fake_model_finish(&model);
}

/* Declares something that only a newer host understands, or one thing more than this host allows. */
static int describe_newer(const struct graft_class *cls, const struct graft_config *config,
                          const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    const char *what = cls->data;
    const uint32_t capability = 1u << 15, requirement = 1u << 31;
    struct graft_args given = graft_args_of(NULL, 0);
    struct graft_parameter_info weight = {
        .struct_size = sizeof weight, .flags = capability, .name = "weight", .rank = 1, .shape = {1}};
    struct graft_child_info child = {.struct_size = sizeof child,
                                     .flags = capability,
                                     .name = "child",
                                     .class_name = "Leaf",
                                     .interface_id = LEAF,
                                     .args = &given};
    (void)config, (void)args;
    weight.flags |= strcmp(what, "requirements for parameter") == 0 ? requirement : 0;
    weight.reserved = strcmp(what, "parameter whose struct is too short or not zeroed") == 0;
    weight.join.kind =
        strcmp(what, "an unknown way to join or divide parameter") == 0 ? GRAFT_JOIN_EQUAL + 1 : GRAFT_JOIN_NONE;
    if (strcmp(what, "way to join or divide parameter") == 0) { /* equal, though of any length */
        weight.flags |= GRAFT_PARAMETER_ANY_LENGTH;
        weight.join.kind = GRAFT_JOIN_EQUAL;
    }
    if (strcmp(what, "an initial value for source") == 0) {
        weight.flags |= GRAFT_PARAMETER_SOURCE;
        weight.init = GRAFT_INIT_ZEROS;
    }
    child.flags |= strcmp(what, "requirements for child") == 0 ? requirement : 0;
    given.reserved = strcmp(what, "invalid arguments") == 0;
    int status = sink->parameter(sink->data, &weight, error);
    return status == GRAFT_OK ? sink->child(sink->data, &child, error) : status;
}

/* Unknown capabilities are ignored; unknown requirements and reserved values are refused. */
static void test_newer_structs(void **state) {
    static const char *const refused[] = {"requirements for parameter",
                                          "parameter whose struct is too short or not zeroed",
                                          "requirements for child",
                                          "invalid arguments",
                                          "an unknown way to join or divide parameter",
                                          "way to join or divide parameter",
                                          "an initial value for source"};
    struct graft_class newer = {
        .struct_size = sizeof newer, .name = "Newer", .interface_id = ROOT, .describe = describe_newer, .data = ""};
    struct fake_model model;
    (void)state;
    fake_model_init(&model);
    fake_model_add(&model, &newer);
    fake_model_add(&model, &leaf);
    assert_int_equal(fake_model_build(&model, "Newer"), GRAFT_OK);
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        newer.data = refused[i];
        assert_int_not_equal(fake_model_build(&model, "Newer"), GRAFT_OK);
        assert_non_null(strstr(model.error.message, refused[i]));
    }
    fake_model_finish(&model);
}

/* A parameter, and the given number of sources, which may have its name. */
static int describe_sources(const struct graft_class *cls, const struct graft_config *config,
                            const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    const int64_t shape[] = {6, 4};
    const int *n = cls->data;
    (void)config, (void)args;
    int status = graft_describe_joined(sink, "weight", 2, shape, 0, 0, graft_join_rows(0, 1), error);
    for (int i = 0; i < *n && status == GRAFT_OK; i++) {
        status = graft_describe_joined(sink, "weight", 2, shape, GRAFT_DTYPE_I32, GRAFT_PARAMETER_SOURCE,
                                       graft_join_rows(1, 8), error);
    }
    return status;
}

/* Sources of a parameter are no parameters themselves; their number is limited. */
static void test_sources(void **state) {
    int n = 64;
    const struct graft_class made = {
        .struct_size = sizeof made, .name = "Made", .interface_id = ROOT, .describe = describe_sources, .data = &n};
    struct fake_model model;
    (void)state;
    fake_model_init(&model);
    fake_model_add(&model, &made);
    assert_int_equal(fake_model_build(&model, "Made"), GRAFT_OK);
    assert_int_equal(model.tree->root->n_parameters, 1);
    assert_int_equal(model.tree->n_parameters, 1);
    assert_int_equal(model.tree->root->n_sources, 64);
    n = 65;
    assert_int_not_equal(fake_model_build(&model, "Made"), GRAFT_OK);
    assert_non_null(strstr(model.error.message, "too many sources"));
    fake_model_finish(&model);
}

static int describe_sized(const struct graft_class *cls, const struct graft_config *config,
                          const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    const struct graft_arg given = graft_int_arg("size", 5);
    int64_t size;
    (void)cls, (void)config;
    return args->count > 0 ? graft_args_size(args, "size", 4, sink->path, &size, error)
                           : graft_describe_child(sink, "layers.0", "Sized", LEAF, &given, 1, error);
}

/* A description knows the place of its module. */
static void test_path(void **state) {
    static const struct graft_class sized = {
        .struct_size = sizeof sized, .name = "Sized", .interface_id = LEAF, .describe = describe_sized};
    struct fake_model model;
    (void)state;
    fake_model_init(&model);
    fake_model_add(&model, &sized);
    assert_int_equal(fake_model_build(&model, "Sized"), GRAFT_ERROR_PLUGIN);
    assert_string_equal(model.error.source, "layers.0");
    assert_string_equal(model.error.message, "argument size: expected 1 to 4 from the parent, got 5");
    fake_model_finish(&model);
}

/* Asks for the class of each activation, all of which are built in. */
static int describe_activations(const struct graft_class *cls, const struct graft_config *config,
                                const struct graft_args *args, const struct graft_sink *sink,
                                struct graft_error *error) {
    static const char *const names[] = {"silu",
                                        "swish",
                                        "gelu",
                                        "gelu_python",
                                        "gelu_new",
                                        "gelu_fast",
                                        "gelu_pytorch_tanh",
                                        "gelu_python_tanh",
                                        "quick_gelu",
                                        "relu",
                                        "tanh",
                                        "sigmoid",
                                        "relu2",
                                        "relu6",
                                        "leaky_relu",
                                        "prelu",
                                        "xielu",
                                        "mish",
                                        "linear",
                                        "laplace",
                                        "hardswish",
                                        "gelu_10",
                                        "gelu_accurate",
                                        "sqrtsoftplus"};
    (void)cls, (void)config, (void)args, (void)error;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *class_name = sink->activation_class(sink->data, names[i]);
        const struct graft_class *at = graft_activation_classes;
        assert_non_null(class_name);
        while (at->name != NULL && strcmp(at->name, class_name) != 0) {
            at++;
        }
        assert_non_null(at->name);
    }
    assert_string_equal(sink->activation_class(sink->data, "gelu_new"), "NewGELUActivation");
    assert_null(sink->activation_class(sink->data, "gelu_newer"));
    assert_null(sink->activation_class(sink->data, NULL));
    return GRAFT_OK;
}

static void test_activations(void **state) {
    static const struct graft_class asking = {.struct_size = sizeof asking,
                                              .name = "Asking",
                                              .interface_id = LEAF,
                                              .describe = describe_activations,
                                              .create = graft_create_stateless,
                                              .forward = ""};
    struct fake_model model;
    (void)state;
    fake_model_init(&model);
    fake_model_add(&model, &asking);
    assert_int_equal(fake_model_build(&model, "Asking"), GRAFT_OK);
    fake_model_finish(&model);
}

static int describe_silently(const struct graft_class *cls, const struct graft_config *config,
                             const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    (void)cls, (void)config, (void)args, (void)sink, (void)error;
    return GRAFT_ERROR_PLUGIN;
}

static void test_silent_failure(void **state) {
    static const struct graft_class silent = {
        .struct_size = sizeof silent, .name = "Silent", .interface_id = LEAF, .describe = describe_silently};
    struct fake_model model;
    (void)state;
    fake_model_init(&model);
    fake_model_add(&model, &silent);
    assert_int_equal(fake_model_build(&model, "Silent"), GRAFT_ERROR_PLUGIN);
    assert_non_null(strstr(model.error.message, "Silent"));
    fake_model_finish(&model);
}

static int leaves_described;

static int describe_counted(const struct graft_class *cls, const struct graft_config *config,
                            const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    (void)cls, (void)config, (void)args, (void)sink, (void)error;
    leaves_described++;
    return GRAFT_OK;
}

/* Ignores the status of every call, and returns GRAFT_OK. */
static int describe_careless(const struct graft_class *cls, const struct graft_config *config,
                             const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    (void)cls, (void)config, (void)args;
    graft_describe_child(sink, "first", "Leaf", LEAF, NULL, 0, error);
    graft_describe_vector(sink, "no name", 1, error);
    graft_describe_vector(sink, "", 1, error);
    graft_describe_child(sink, "second", "Leaf", LEAF, NULL, 0, error);
    assert_null(sink->keep(sink->data, 8, error));
    assert_int_equal(sink->base(sink->data, NULL, error), GRAFT_ERROR_MODEL);
    return GRAFT_OK;
}

/* A description fails with its first failing call, whatever it calls afterwards and whatever it returns. */
static void test_first_failure(void **state) {
    struct fake_model model;
    struct graft_class root = FAKE_CLASS("Root", ROOT, NULL), counted = leaf;
    (void)state;
    root.describe = describe_careless;
    counted.describe = describe_counted;
    fake_model_init(&model);
    fake_model_add(&model, &root);
    fake_model_add(&model, &counted);
    leaves_described = 0;
    assert_int_equal(fake_model_build(&model, "Root"), GRAFT_ERROR_MODEL);
    assert_non_null(strstr(model.error.message, "\"no name\""));
    assert_int_equal(leaves_described, 1);
    fake_model_finish(&model);
}

static void test_ties(void **state) {
    static const struct fake_child children[] = {{"a", "Leaf", LEAF}, {"b", "Leaf", LEAF}, {NULL, NULL, NULL}};
    static const char *const ties[][2] = {{"a.weight", "b.weight"}, {"a.absent", "b.weight"}, {NULL, NULL}};
    static const char *const bad[][2] = {{"a..weight", "b.weight"}, {NULL, NULL}};
    static const char *const other_shape[][2] = {{"a.weight", "own"}, {NULL, NULL}};
    static const struct fake_parameter own[] = {{.name = "own", .rank = 2, .shape = {2, 3}}, {.name = NULL}};
    struct fake_model model;
    (void)state;
    assert_int_equal(build(&model, &(struct fake_structure){.children = children, .ties = ties}), GRAFT_OK);
    const struct graft_parameter *a = graft_node_parameter(fake_model_node(&model, "a"), "weight");
    const struct graft_parameter *b = graft_node_parameter(fake_model_node(&model, "b"), "weight");
    assert_ptr_equal(a->tied_to, b);
    assert_null(b->tied_to);
    fake_model_finish(&model);
    refuse(&(struct fake_structure){own, children, bad, NULL}, "tie");
    refuse(&(struct fake_structure){own, children, other_shape, NULL}, "another shape");
}

#define STATE(state_name, type, dimensions, ...)                                                                     \
    {                                                                                                                \
        .struct_size = sizeof(struct graft_state_info), .name = (state_name), .dtype = (type), .rank = (dimensions), \
        .shape = {                                                                                                   \
            __VA_ARGS__                                                                                              \
        }                                                                                                            \
    }

/* States are numbered through the whole model; names are unique within a module. */
static void test_states(void **state) {
    static const struct graft_state_info states[] = {
        STATE("conv_states", GRAFT_DTYPE_F32, 2, 3, 5), STATE("sum", GRAFT_DTYPE_F64, 1, 2), {.name = NULL}};
    static const struct fake_child children[] = {{"a", "Root", ROOT}, {"b", "Root", ROOT}, {NULL, NULL, NULL}};
    static const struct fake_structure inner = {.states = states};
    static const struct graft_class root = FAKE_CLASS("Root", ROOT, &inner);
    const struct fake_structure structure = {.children = children, .states = states};
    const struct graft_class top = FAKE_CLASS("Top", LEAF, &structure);
    struct fake_model model;
    (void)state;
    fake_model_init(&model);
    fake_model_add(&model, &root);
    fake_model_add(&model, &top);
    assert_int_equal(fake_model_build(&model, "Top"), GRAFT_OK);
    assert_int_equal(model.tree->n_states, 6);
    assert_int_equal(graft_node_state(model.tree->root, "conv_states")->bytes, 60);
    assert_int_equal(graft_node_state(fake_model_node(&model, "a"), "sum")->bytes, 16);
    assert_null(graft_node_state(fake_model_node(&model, "a"), "sums"));
    int seen = 0;
    const char *const paths[] = {"", "a", "b"};
    for (size_t i = 0; i < 6; i++) {
        const struct graft_node *node = fake_model_node(&model, paths[i / 2]);
        seen |= 1 << graft_node_state(node, i % 2 == 0 ? "conv_states" : "sum")->index;
    }
    assert_int_equal(seen, 63);
    fake_model_finish(&model);
}

static void test_bad_states(void **state) {
    static const struct {
        struct graft_state_info info;
        const char *words;
    } bad[] = {
        {STATE("a.b", GRAFT_DTYPE_F32, 1, 1), "invalid name"},
        {STATE("s", GRAFT_DTYPE_NONE, 1, 1), "an invalid type or shape"},
        {STATE("s", 1000, 1, 1), "an invalid type or shape"},
        {STATE("s", GRAFT_DTYPE_F32, 0, 1), "an invalid type or shape"},
        {STATE("s", GRAFT_DTYPE_F32, GRAFT_MAX_RANK + 1, 1), "an invalid type or shape"},
        {STATE("s", GRAFT_DTYPE_F32, 2, 4, 0), "an invalid type or shape"},
        {STATE("s", GRAFT_DTYPE_F32, 2, INT64_MAX / 8, 2), "an invalid type or shape"},
        {STATE("s", GRAFT_DTYPE_F32, 1, INT64_C(1) << 40), "an invalid type or shape"},
        {{.struct_size = 8, .name = "s"}, "too short"},
        {{.struct_size = sizeof(struct graft_state_info), .flags = 1u << 16, .name = "s"}, "unknown requirements"},
    };
    static const struct graft_state_info twice[] = {
        STATE("s", GRAFT_DTYPE_F32, 1, 1), STATE("s", GRAFT_DTYPE_F32, 1, 1), {.name = NULL}};
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        const struct graft_state_info states[] = {bad[i].info, {.name = NULL}};
        refuse(&(struct fake_structure){.states = states}, bad[i].words);
    }
    refuse(&(struct fake_structure){.states = twice}, "two states");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_structure),
        cmocka_unit_test(test_bad_names),
        cmocka_unit_test(test_twice),
        cmocka_unit_test(test_numbered),
        cmocka_unit_test(test_bad_shapes),
        cmocka_unit_test(test_depth_bomb),
        cmocka_unit_test(test_children_that_cannot_be),
        cmocka_unit_test(test_breadth_bomb),
        cmocka_unit_test(test_args),
        cmocka_unit_test(test_silent_failure),
        cmocka_unit_test(test_first_failure),
        cmocka_unit_test(test_ties),
        cmocka_unit_test(test_states),
        cmocka_unit_test(test_bad_states),
        cmocka_unit_test(test_path),
        cmocka_unit_test(test_activations),
        cmocka_unit_test(test_sources),
        cmocka_unit_test(test_newer_structs),
        cmocka_unit_test(test_dotted_parameter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
