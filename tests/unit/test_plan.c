/* SPDX-License-Identifier: Apache-2.0 */
/* Tensors under the names of parameters: found, missing, tied, or with another shape or type. */
#include "fake_plan.h"

#include "base/dtype.h"

#define LEAF "test.leaf/1"
#define ROOT "test.root/1"

static const struct fake_parameter leaf_parameters[] = {{.name = "weight", .rank = 2, .shape = {3, 2}}, {.name = NULL}};
static const struct fake_structure leaf_structure = {.parameters = leaf_parameters};
static const struct graft_class leaf = FAKE_CLASS("Leaf", LEAF, &leaf_structure);

static const struct fake_child root_children[] = {
    {"model.a", "Leaf", LEAF}, {"head", "Leaf", LEAF}, {NULL, NULL, NULL}};
static const char *const root_ties[][2] = {{"head.weight", "model.a.weight"}, {NULL, NULL}};
static const struct fake_structure root_structure = {.children = root_children, .ties = root_ties};
static const struct graft_class root = FAKE_CLASS("Root", ROOT, &root_structure);

static const struct fake_structure untied_structure = {.children = root_children};
static const struct graft_class untied = FAKE_CLASS("Untied", ROOT, &untied_structure);

static const struct fake_parameter initial_parameters[] = {
    {.name = "zeros", .rank = 1, .shape = {3}, .init = GRAFT_INIT_ZEROS},
    {.name = "ones", .rank = 2, .shape = {2, 2}, .init = GRAFT_INIT_ONES},
    {.name = "optional", .rank = 1, .shape = {2}, .init = GRAFT_INIT_ABSENT},
    {.name = NULL}};
static const struct fake_structure initial_structure = {.parameters = initial_parameters};
static const struct graft_class initial = FAKE_CLASS("Initial", ROOT, &initial_structure);

/* c takes b's weight, b takes a's, and a wants it in one block. */
static const struct fake_parameter chain_parameters[] = {
    {.name = "c", .rank = 1, .shape = {2}},
    {.name = "b", .rank = 1, .shape = {2}, .flags = GRAFT_PARAMETER_CONTIGUOUS},
    {.name = "a", .rank = 1, .shape = {2}},
    {.name = "d", .rank = 1, .shape = {2}},
    {.name = NULL}};
static const char *const chain_ties[][2] = {{"c", "b"}, {"b", "a"}, {"d", "b"}, {NULL, NULL}};
static const struct fake_structure chain_structure = {.parameters = chain_parameters, .ties = chain_ties};
static const struct graft_class chain = FAKE_CLASS("Chain", ROOT, &chain_structure);

static const struct fake_parameter measured_parameters[] = {
    {.name = "scales", .rank = 2, .shape = {8, 2}, .flags = GRAFT_PARAMETER_ANY_LENGTH}, {.name = NULL}};
static const struct fake_structure measured_structure = {.parameters = measured_parameters};
static const struct graft_class measured = FAKE_CLASS("Measured", ROOT, &measured_structure);

static struct fake_plan fake;

static int set_up(void **state) {
    const struct graft_class *const classes[] = {&leaf, &root, &untied, &initial, &chain, &measured};
    (void)state;
    fake_plan_init(&fake);
    for (size_t i = 0; i < sizeof classes / sizeof classes[0]; i++) {
        fake_model_add(&fake.model, classes[i]);
    }
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    fake_plan_finish(&fake);
    return 0;
}

static const struct fake_tensor both[] = {
    {.name = "head.weight", .rank = 2, .shape = {3, 2}}, {.name = "model.a.weight", .rank = 2, .shape = {3, 2}}, {0}};

static void assert_status(const char *name, enum graft_binding_status status) {
    assert_int_equal(fake_plan_binding(&fake, name)->status, status);
}

static void test_found(void **state) {
    (void)state;
    assert_int_equal(fake_plan_make(&fake, "Untied", both), GRAFT_OK);
    fake_plan_account(&fake);
    assert_status("model.a.weight", GRAFT_BINDING_FOUND);
    assert_int_equal(graft_plan_check(fake.plan, NULL), GRAFT_OK);
    assert_int_equal(fake.plan->copied_bytes, 0);
    assert_int_equal(fake.plan->mapped_bytes, 48);
    assert_int_equal(fake.plan->n_unexpected, 0);
}

static void test_missing_and_unexpected(void **state) {
    static const struct fake_tensor tensors[] = {{.name = "head.weight", .rank = 2, .shape = {3, 2}},
                                                 {.name = "model.a.weights", .rank = 2, .shape = {3, 2}},
                                                 {.name = "model.rotary_emb.inv_freq", .rank = 1, .shape = {4}},
                                                 {0}};
    (void)state;
    assert_int_equal(fake_plan_make(&fake, "Untied", tensors), GRAFT_OK);
    assert_status("model.a.weight", GRAFT_BINDING_MISSING);
    fake_plan_refused(&fake, "model.a.weight", "missing");
    assert_int_equal(fake.plan->n_unexpected, 1);
    assert_string_equal(fake.plan->unexpected[0]->name, "model.a.weights");
}

static void test_mismatched(void **state) {
    static const struct fake_tensor shapes[] = {{.rank = 2, .shape = {2, 3}},
                                                {.rank = 1, .shape = {6}},
                                                {.rank = 3, .shape = {3, 2, 1}},
                                                {.rank = 0},
                                                {.rank = 2, .shape = {0, 2}}};
    (void)state;
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        struct fake_tensor tensors[] = {both[0], shapes[i], {0}};
        tensors[1].name = "model.a.weight";
        assert_int_equal(fake_plan_make(&fake, "Untied", tensors), GRAFT_OK);
        assert_status("model.a.weight", GRAFT_BINDING_MISMATCHED);
        fake_plan_refused(&fake, "model.a.weight", "expected [3, 2]");
    }
    fake_plan_refused(&fake, "model.a.weight", "[0, 2]");
}

/* A parameter that is as long as the checkpoint's tensor, up to a limit. */
static void test_any_length(void **state) {
    static const struct {
        struct fake_tensor tensor;
        int64_t length; /* 0: it does not fit */
    } cases[] = {
        {{.name = "scales", .rank = 2, .shape = {5, 2}}, 5}, {{.name = "scales", .rank = 2, .shape = {8, 2}}, 8},
        {{.name = "scales", .rank = 2, .shape = {9, 2}}, 0}, {{.name = "scales", .rank = 2, .shape = {5, 3}}, 0},
        {{.name = "scales", .rank = 1, .shape = {5}}, 0},    {{.name = "scales", .rank = 2, .shape = {0, 2}}, 0}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct fake_tensor tensors[] = {cases[i].tensor, {0}};
        assert_int_equal(fake_plan_make(&fake, "Measured", tensors), GRAFT_OK);
        assert_status("scales", cases[i].length > 0 ? GRAFT_BINDING_FOUND : GRAFT_BINDING_MISMATCHED);
        if (cases[i].length > 0) {
            assert_int_equal(fake_plan_binding(&fake, "scales")->parameter->shape[0], cases[i].length);
        }
    }
}

/* The error names the place, and the unused tensors in the module or else around it. */
static void test_neighbours(void **state) {
    static const struct fake_tensor inside[] = {
        {.name = "head.weight", .rank = 2, .shape = {3, 2}}, {.name = "model.a.b", .rank = 1, .shape = {1}},
        {.name = "model.a.c.d", .rank = 1, .shape = {1}},    {.name = "model.ab", .rank = 1, .shape = {1}},
        {.name = "model.other", .rank = 1, .shape = {1}},    {0}};
    static const struct fake_tensor around[] = {
        {.name = "head.weight", .rank = 2, .shape = {3, 2}}, {.name = "mode", .rank = 1, .shape = {1}},
        {.name = "model.x1", .rank = 1, .shape = {1}},       {.name = "model.x2", .rank = 1, .shape = {1}},
        {.name = "model.x3", .rank = 1, .shape = {1}},       {.name = "model.x4", .rank = 1, .shape = {1}},
        {.name = "model.x5.a", .rank = 1, .shape = {1}},     {0}};
    static const struct fake_tensor mismatched[] = {{.name = "head.weight", .rank = 2, .shape = {3, 2}},
                                                    {.name = "model.a.weight", .rank = 2, .shape = {3, 1}},
                                                    {.name = "a.scales", .rank = 1, .shape = {3}},
                                                    {0}};
    struct graft_error error = graft_error_none();
    (void)state;
    assert_int_equal(fake_plan_make(&fake, "Untied", inside), GRAFT_OK);
    assert_int_equal(graft_plan_check(fake.plan, &error), GRAFT_ERROR_MODEL);
    assert_string_equal(error.source, folder_path(fake.folder, "model.safetensors"));
    assert_string_equal(error.message,
                        "model.a.weight: missing, the checkpoint has no tensor for this parameter; unused "
                        "tensors of model.a: model.a.b, model.a.c.d");
    assert_int_equal(fake_plan_make(&fake, "Untied", around), GRAFT_OK);
    error = graft_error_none();
    assert_int_equal(graft_plan_check(fake.plan, &error), GRAFT_ERROR_MODEL);
    assert_string_equal(error.message,
                        "model.a.weight: missing, the checkpoint has no tensor for this parameter; unused "
                        "tensors of model: model.x1, model.x2, model.x3, model.x4 and 1 more");
    assert_int_equal(fake_plan_make(&fake, "Untied", mismatched), GRAFT_OK);
    error = graft_error_none();
    assert_int_equal(graft_plan_check(fake.plan, &error), GRAFT_ERROR_MODEL);
    assert_string_equal(error.source, folder_path(fake.folder, "model.safetensors"));
    assert_string_equal(error.message,
                        "model.a.weight: expected [3, 2], but the checkpoint has the shape [3, 1]; unused "
                        "tensors of model.a: a.scales");
}

/* If config.json mentions quantization, the error suggests it as the reason. */
static void test_quantized(void **state) {
    static const char config[] = "{\"quantization_config\": {\"quant_method\": \"gptq\"}}";
    struct graft_error error = graft_error_none();
    graft_json *document = NULL;
    (void)state;
    assert_int_equal(graft_json_parse(config, strlen(config), "config.json", &document, NULL), GRAFT_OK);
    fake.model.config.view = graft_config_view(document, "config.json");
    assert_int_equal(fake_plan_make(&fake, "Chain", (const struct fake_tensor[]){{.name = "x", .rank = 0}, {0}}),
                     GRAFT_OK);
    assert_int_equal(graft_plan_check(fake.plan, &error), GRAFT_ERROR_MODEL);
    assert_string_equal(error.message, "c: missing, the checkpoint has no tensor for this parameter; unused "
                                       "tensors of the model: x; config.json has a quantization_config");
    graft_json_free(document);
}

/* A type that no kernel reads is reported before anything runs. */
static void test_types(void **state) {
    static const graft_dtype dtypes[] = {GRAFT_DTYPE_I8, GRAFT_DTYPE_F64, GRAFT_DTYPE_BOOL, GRAFT_DTYPE_F8_E4M3};
    (void)state;
    for (size_t i = 0; i < sizeof dtypes / sizeof dtypes[0]; i++) {
        struct fake_tensor tensors[] = {both[0], both[1], {0}};
        tensors[1].dtype = dtypes[i];
        assert_int_equal(fake_plan_make(&fake, "Untied", tensors), GRAFT_OK);
        assert_status("model.a.weight", GRAFT_BINDING_FAILED);
        fake_plan_refused(&fake, "model.a.weight", graft_dtype_name(dtypes[i]));
    }
    struct fake_tensor tensors[] = {both[0], both[1], {0}};
    tensors[0].dtype = GRAFT_DTYPE_BF16;
    tensors[1].dtype = GRAFT_DTYPE_F16;
    assert_int_equal(fake_plan_make(&fake, "Untied", tensors), GRAFT_OK);
    assert_int_equal(graft_plan_check(fake.plan, NULL), GRAFT_OK);
    assert_int_equal(fake_plan_binding(&fake, "head.weight")->dtype, GRAFT_DTYPE_BF16);
    assert_int_equal(fake.plan->mapped_bytes, 24);
}

/* Types that nothing computes with: a used tensor is an error, an unused one is not. */
static void test_kept_types(void **state) {
    (void)state;
    for (graft_dtype dtype = GRAFT_DTYPE_C64; dtype <= GRAFT_DTYPE_F4; dtype++) {
        struct fake_tensor tensors[] = {both[0], both[1], {.name = "other", .rank = 1, .shape = {8}}, {0}};
        tensors[2].dtype = dtype;
        assert_int_equal(fake_plan_make(&fake, "Untied", tensors), GRAFT_OK);
        assert_int_equal(graft_plan_check(fake.plan, NULL), GRAFT_OK);
        fake_plan_account(&fake);
        tensors[1] = (struct fake_tensor){.name = both[1].name, .rank = 2, .shape = {4, 2}, .dtype = dtype};
        assert_int_equal(fake_plan_make(&fake, "Untied", tensors), GRAFT_OK);
        assert_status("model.a.weight", GRAFT_BINDING_FAILED);
        fake_plan_refused(&fake, "model.a.weight", graft_stored_dtype_name(dtype));
    }
}

static void test_tied_both_ways(void **state) {
    (void)state;
    for (int has = 0; has < 2; has++) {
        const struct fake_tensor tensors[] = {both[has], {0}};
        const char *lacking = both[1 - has].name;
        assert_int_equal(fake_plan_make(&fake, "Root", tensors), GRAFT_OK);
        fake_plan_account(&fake);
        assert_int_equal(graft_plan_check(fake.plan, NULL), GRAFT_OK);
        assert_status(lacking, GRAFT_BINDING_TIED);
        assert_ptr_equal(fake_plan_binding(&fake, lacking)->tied_to, fake_plan_binding(&fake, both[has].name));
        assert_int_equal(fake.plan->mapped_bytes, 24);
    }
    const struct fake_tensor none[] = {{.name = "other", .rank = 1, .shape = {1}}, {0}};
    assert_int_equal(fake_plan_make(&fake, "Root", none), GRAFT_OK);
    fake_plan_refused(&fake, "model.a.weight", "missing");
}

/* A tied parameter with a tensor of its own uses that. */
static void test_tied_with_own_tensor(void **state) {
    (void)state;
    assert_int_equal(fake_plan_make(&fake, "Root", both), GRAFT_OK);
    fake_plan_account(&fake);
    assert_status("head.weight", GRAFT_BINDING_FOUND);
    assert_status("model.a.weight", GRAFT_BINDING_FOUND);
    assert_ptr_not_equal(fake_plan_binding(&fake, "head.weight")->value.parts[0].tensor,
                         fake_plan_binding(&fake, "model.a.weight")->value.parts[0].tensor);
}

/* Ties of ties: all get the tensor, whichever has it. */
static void test_tied_in_a_chain(void **state) {
    static const char *const names[] = {"a", "b", "c", "d"};
    (void)state;
    for (size_t has = 0; has < 4; has++) {
        const struct fake_tensor tensors[] = {{.name = names[has], .rank = 1, .shape = {2}}, {0}};
        assert_int_equal(fake_plan_make(&fake, "Chain", tensors), GRAFT_OK);
        assert_int_equal(graft_plan_check(fake.plan, NULL), GRAFT_OK);
        for (size_t i = 0; i < 4; i++) {
            const struct graft_binding *binding = fake_plan_binding(&fake, names[i]);
            assert_int_equal(binding->status, i == has ? GRAFT_BINDING_FOUND : GRAFT_BINDING_TIED);
            assert_ptr_equal(binding->tied_to, i == has ? NULL : fake_plan_binding(&fake, names[has]));
        }
        assert_true(fake_plan_binding(&fake, names[has])->contiguous);
    }
}

static void test_prefix(void **state) {
    static const struct fake_tensor lacking[] = {
        {.name = "a.weight", .rank = 2, .shape = {3, 2}}, {.name = "head.weight", .rank = 2, .shape = {3, 2}}, {0}};
    static const struct fake_tensor added[] = {{.name = "model.head.weight", .rank = 2, .shape = {3, 2}},
                                               {.name = "model.model.a.weight", .rank = 2, .shape = {3, 2}},
                                               {0}};
    static const struct fake_tensor not_the_prefix[] = {{.name = "head.weight", .rank = 2, .shape = {3, 2}},
                                                        {.name = "modelXa.weight", .rank = 2, .shape = {3, 2}},
                                                        {.name = "xmodel.a.weight", .rank = 2, .shape = {3, 2}},
                                                        {0}};
    static const struct fake_tensor two[] = {{.name = "a.weight", .rank = 2, .shape = {3, 2}},
                                             {.name = "head.weight", .rank = 2, .shape = {3, 2}},
                                             {.name = "model.a.weight", .rank = 2, .shape = {3, 2}},
                                             {0}};
    (void)state;
    assert_int_equal(fake_plan_make(&fake, "Untied", lacking), GRAFT_OK);
    fake_plan_account(&fake);
    assert_int_equal(graft_plan_check(fake.plan, NULL), GRAFT_OK);
    assert_int_equal(fake_plan_make(&fake, "Untied", added), GRAFT_OK);
    fake_plan_account(&fake);
    assert_int_equal(graft_plan_check(fake.plan, NULL), GRAFT_OK);
    assert_int_equal(fake_plan_make(&fake, "Untied", not_the_prefix), GRAFT_OK);
    fake_plan_account(&fake);
    fake_plan_refused(&fake, "model.a.weight", "missing");
    assert_int_equal(fake.plan->n_unexpected, 2);
    assert_int_equal(fake_plan_make(&fake, "Untied", two), GRAFT_OK);
    fake_plan_account(&fake);
    assert_int_equal(fake.plan->n_unexpected, 1);
    assert_string_equal(fake.plan->unexpected[0]->name, "a.weight");
}

/* A module whose name only begins like the prefix keeps its name. */
static void test_no_prefix(void **state) {
    static const struct fake_child children[] = {{"modelled", "Leaf", LEAF}, {NULL, NULL, NULL}};
    static const struct fake_structure structure = {.children = children};
    static const struct graft_class similar = FAKE_CLASS("Similar", ROOT, &structure);
    static const struct fake_tensor tensors[] = {
        {.name = "ed.weight", .rank = 2, .shape = {3, 2}}, {.name = "led.weight", .rank = 2, .shape = {3, 2}}, {0}};
    (void)state;
    fake_model_add(&fake.model, &similar);
    assert_int_equal(fake_plan_make(&fake, "Similar", tensors), GRAFT_OK);
    fake_plan_refused(&fake, "modelled.weight", "missing");
    assert_int_equal(fake.plan->n_unexpected, 2);
}

static void test_initial_values(void **state) {
    static const struct fake_tensor tensors[] = {{.name = "ones", .rank = 2, .shape = {2, 2}}, {0}};
    static const struct fake_tensor none[] = {{.name = "x", .rank = 1, .shape = {1}}, {0}};
    static const struct fake_tensor optional[] = {{.name = "optional", .rank = 1, .shape = {2}}, {0}};
    static const struct fake_tensor wrong[] = {{.name = "optional", .rank = 1, .shape = {3}}, {0}};
    (void)state;
    assert_int_equal(fake_plan_make(&fake, "Initial", optional), GRAFT_OK);
    assert_status("optional", GRAFT_BINDING_FOUND);
    assert_int_equal(fake_plan_make(&fake, "Initial", wrong), GRAFT_OK);
    assert_status("optional", GRAFT_BINDING_MISMATCHED);
    assert_int_equal(fake_plan_make(&fake, "Initial", none), GRAFT_OK);
    assert_int_equal(graft_plan_check(fake.plan, NULL), GRAFT_OK);
    assert_status("zeros", GRAFT_BINDING_INITIAL);
    assert_status("ones", GRAFT_BINDING_INITIAL);
    assert_status("optional", GRAFT_BINDING_ABSENT);
    assert_int_equal(fake.plan->copied_bytes, 4 * (3 + 4));
    assert_int_equal(fake_plan_make(&fake, "Initial", tensors), GRAFT_OK);
    assert_status("ones", GRAFT_BINDING_FOUND);
    assert_int_equal(fake.plan->copied_bytes, 12);
    assert_int_equal(fake.plan->mapped_bytes, 16);
}

/* A tensor whose data is not aligned to its type cannot be a view. */
static void test_misaligned(void **state) {
    static const char header[] = "{\"head.weight\":{\"dtype\":\"BF16\",\"shape\":[3,2],\"data_offsets\":[0,12]},"
                                 "\"model.a.weight\":{\"dtype\":\"F32\",\"shape\":[3,2],\"data_offsets\":[12,36]}}";
    (void)state;
    for (size_t padding = 0; padding < 4; padding++) {
        char padded[sizeof header + 8];
        size_t begin = (8 + sizeof header - 1 + padding) % 4;
        (void)snprintf(padded, sizeof padded, "%s%*s", header, (int)padding, "");
        tensor_file_put(fake.folder, "model.safetensors", padded, 36);
        assert_int_equal(fake_plan_again(&fake, "Untied"), GRAFT_OK);
        assert_int_equal(graft_plan_check(fake.plan, NULL), GRAFT_OK);
        assert_int_equal(fake_plan_binding(&fake, "head.weight")->copied, begin % 2 != 0);
        assert_int_equal(fake_plan_binding(&fake, "model.a.weight")->copied, begin % 4 != 0);
        assert_int_equal(fake.plan->copied_bytes, (begin % 2 != 0 ? 12 : 0) + (begin % 4 != 0 ? 24 : 0));
        assert_int_equal(fake.plan->copied_bytes + fake.plan->mapped_bytes, 36);
    }
}

/* An original beside its replacement uses the same bytes, which are mapped once. */
static void test_super_shares(void **state) {
    static const struct graft_class extended = {.struct_size = sizeof extended,
                                                .flags = GRAFT_CLASS_CALLS_SUPER,
                                                .name = "Extended",
                                                .interface_id = LEAF,
                                                .describe = fake_describe,
                                                .create = graft_create_stateless,
                                                .forward = "",
                                                .data = &leaf_structure};
    static const struct graft_replacement patch = {
        .struct_size = sizeof patch, .key = GRAFT_KEY_NAME, .target = "Leaf", .replacement = &extended};
    (void)state;
    fake_model_replace(&fake.model, &patch);
    assert_int_equal(fake_plan_make(&fake, "Untied", both), GRAFT_OK);
    fake_plan_account(&fake);
    assert_int_equal(graft_plan_check(fake.plan, NULL), GRAFT_OK);
    assert_int_equal(fake.plan->n_bindings, 4);
    assert_int_equal(fake.plan->mapped_bytes, 48);
    for (size_t i = 0; i < 4; i++) {
        const struct graft_binding *binding = &fake.plan->bindings[i];
        assert_int_equal(binding->status, GRAFT_BINDING_FOUND);
        assert_int_equal(binding->shared_with != NULL, binding->parameter->node->wrapper != NULL);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_found, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_missing_and_unexpected, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_mismatched, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_any_length, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_types, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_kept_types, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_neighbours, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_quantized, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_tied_both_ways, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_tied_with_own_tensor, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_tied_in_a_chain, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_prefix, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_no_prefix, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_initial_values, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_misaligned, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_super_shares, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
