/* SPDX-License-Identifier: Apache-2.0 */
/* Modules that belong to another process: nothing is built of them, and their tensors and files may be missing here. */
#include "fake_plan.h"

#define ROOT "test.root/1"
#define BLOCK "test.block/1"

static const struct fake_parameter parameters[] = {{.name = "weight", .rank = 1, .shape = {2}}, {.name = NULL}};
static const struct fake_child blocks[] = {{"a", "Block", BLOCK}, {"b", "Block", BLOCK}, {NULL, NULL, NULL}};
static const struct fake_structure block_structure = {.parameters = parameters};
static const struct fake_structure root_structure = {.parameters = parameters, .children = blocks};
static const struct fake_tensor tensors[] = {
    {.name = "a.more", .rank = 1, .shape = {1}},    {.name = "a.weight", .rank = 1, .shape = {2}},
    {.name = "ab.weight", .rank = 1, .shape = {2}}, {.name = "b.weight", .rank = 1, .shape = {2}},
    {.name = "weight", .rank = 1, .shape = {2}},    {.name = NULL}};

static struct fake_plan fake;
static struct graft_class root = FAKE_CLASS("Root", ROOT, &root_structure);
static struct graft_class block = FAKE_CLASS("Block", BLOCK, &block_structure);

/* Block "a" belongs to another process; "b" wraps what it replaces. */
static int describe_far(const struct graft_class *cls, const struct graft_config *config, const struct graft_args *args,
                        const struct graft_sink *sink, struct graft_error *error) {
    (void)cls;
    (void)config;
    (void)args;
    return strcmp(sink->path, "a") == 0 ? sink->elsewhere(sink->data, error) : GRAFT_OK;
}

/* Declares the module as another process's after describing it, which is too late. */
static int describe_late(const struct graft_class *cls, const struct graft_config *config,
                         const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    int status = fake_describe(cls, config, args, sink, error);
    return status == GRAFT_OK ? sink->elsewhere(sink->data, error) : status;
}

static int create_far(const struct graft_class *cls, const struct graft_build *build, void **instance,
                      struct graft_error *error) {
    (void)cls;
    (void)error;
    assert_int_equal(build->super == NULL, strcmp(build->path, "a") == 0);
    *instance = NULL;
    return GRAFT_OK;
}

static struct graft_class far_class(int (*describe)(const struct graft_class *, const struct graft_config *,
                                                    const struct graft_args *, const struct graft_sink *,
                                                    struct graft_error *),
                                    uint32_t flags) {
    struct graft_class cls = FAKE_CLASS("Far", BLOCK, &block_structure);
    cls.describe = describe;
    cls.create = create_far;
    cls.flags = flags;
    return cls;
}

/* Results of the queries in `describe_asking`: the bytes before the paths "a", "b", "c" and NULL, and whether a module
 * comes before another one of an interface. */
static int64_t before[4];
static int32_t comes_before[3]; /* a before a Block; b before a Block; either before an interface that no module has */

static int describe_asking(const struct graft_class *cls, const struct graft_config *config,
                           const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    (void)cls;
    (void)config;
    (void)args;
    before[0] = sink->bytes_before(sink->data, "a");
    before[1] = sink->bytes_before(sink->data, "b");
    before[2] = sink->bytes_before(sink->data, "c");
    before[3] = sink->bytes_before(sink->data, NULL);
    comes_before[strcmp(sink->path, "b") == 0] = sink->comes_before(sink->data, BLOCK);
    comes_before[2] = sink->comes_before(sink->data, "test.none/1");
    return strcmp(sink->path, "b") == 0 ? sink->elsewhere(sink->data, error) : GRAFT_OK;
}

static struct graft_replacement patch; /* of the registry, as long as that lives */

static void replace(const struct graft_class *cls) {
    patch = (struct graft_replacement){
        .struct_size = sizeof patch, .key = GRAFT_KEY_NAME, .target = "Block", .replacement = cls};
    fake_model_replace(&fake.model, &patch);
}

static int set_up(void **state) {
    (void)state;
    fake_plan_init(&fake);
    fake_model_add(&fake.model, &root);
    fake_model_add(&fake.model, &block);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    fake_plan_finish(&fake);
    return 0;
}

static void test_plan(void **state) {
    const struct graft_class far = far_class(describe_far, GRAFT_CLASS_CALLS_SUPER);
    (void)state;
    replace(&far);
    assert_int_equal(fake_plan_make(&fake, "Root", tensors), GRAFT_OK);
    assert_null(graft_node_find(fake.model.tree->root, "a")->super);
    assert_non_null(graft_node_find(fake.model.tree->root, "b")->super);
    assert_int_equal(fake.plan->n_bindings, 2);
    assert_int_equal(fake.plan->n_elsewhere, 2);
    assert_string_equal(fake.plan->elsewhere[0]->name, "a.more");
    assert_string_equal(fake.plan->elsewhere[1]->name, "a.weight");
    assert_int_equal(fake.plan->n_unexpected, 1);
    assert_string_equal(fake.plan->unexpected[0]->name, "ab.weight");
    assert_int_equal(graft_plan_check(fake.plan, NULL), GRAFT_OK);
}

/* Two shards, of which the first holds the other process's tensors and is missing. */
static void write_shards(const char *of_first) {
    static const struct fake_tensor second[] = {
        {.name = "b.weight", .rank = 1, .shape = {2}}, {.name = "weight", .rank = 1, .shape = {2}}, {.name = NULL}};
    char index[256], from[128], to[128];
    fake_checkpoint_write(fake.folder, second);
    (void)snprintf(from, sizeof from, "%s/model.safetensors", fake.folder);
    (void)snprintf(to, sizeof to, "%s/2", fake.folder);
    assert_int_equal(rename(from, to), 0);
    (void)snprintf(index, sizeof index, "{\"metadata\":{},\"weight_map\":{%s,\"b.weight\":\"2\",\"weight\":\"2\"}}",
                   of_first);
    folder_put(fake.folder, "model.safetensors.index.json", index, strlen(index));
}

static void test_absent_file(void **state) {
    const struct graft_class far = far_class(describe_far, GRAFT_CLASS_CALLS_SUPER);
    (void)state;
    replace(&far);
    write_shards("\"a.weight\":\"1\"");
    assert_int_equal(fake_plan_again(&fake, "Root"), GRAFT_OK);
    assert_int_equal(fake.plan->n_elsewhere, 0);
    assert_int_equal(graft_plan_check(fake.plan, NULL), GRAFT_OK);
    write_shards("\"a.weight\":\"1\",\"ab.weight\":\"1\"");
    assert_int_equal(fake_plan_again(&fake, "Root"), GRAFT_ERROR_MODEL);
    assert_string_equal(fake.model.error.message,
                        "weight_map lists \"1\" for 2 tensors (\"ab.weight\"), but that file does not exist");
}

/* The root's own parameter comes first, and those of the other process's modules count as well. */
static void test_sizes(void **state) {
    const struct graft_class far = far_class(describe_asking, GRAFT_CLASS_CALLS_SUPER);
    (void)state;
    replace(&far);
    assert_int_equal(fake_plan_make(&fake, "Root", tensors), GRAFT_OK);
    assert_int_equal(before[0], 4);
    assert_int_equal(before[1], 8);
    assert_int_equal(before[2], 12);
    assert_int_equal(before[3], 12);
    assert_int_equal(comes_before[0], 1);
    assert_int_equal(comes_before[1], 0);
    assert_int_equal(comes_before[2], 0);
    assert_non_null(graft_node_find(fake.model.tree->root, "a")->super);
    assert_null(graft_node_find(fake.model.tree->root, "b")->super);
}

static void assert_refused(const struct graft_class *cls, const char *words) {
    replace(cls);
    assert_int_not_equal(fake_model_build(&fake.model, "Root"), GRAFT_OK);
    assert_string_equal(fake.model.error.message, words);
}

static void test_wrong_class(void **state) {
    const struct graft_class plain = far_class(describe_far, 0);
    (void)state;
    assert_refused(&plain, "Far describes as elsewhere what only a class that calls super may: \"a\"");
}

static void test_too_late(void **state) {
    const struct graft_class late = far_class(describe_late, GRAFT_CLASS_CALLS_SUPER);
    (void)state;
    assert_refused(&late, "Far describes as elsewhere a module that it has declared something of: \"a\"");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_plan, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_absent_file, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_sizes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_wrong_class, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_too_late, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
