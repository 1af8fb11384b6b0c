/* SPDX-License-Identifier: Apache-2.0 */
/* Fusion families on a tree: the modules that they get, results that are kept, and faults that are refused. */
#include "base/alloc.h"
#include "fake_model.h"
#include "graft/fusion.h"
#include "graft/linear.h"
#include "model/fusion.h"
#include "registry/assignment.h"
#include "registry/mapping.h"

#define ROOT "test.root/1"

/* Even leaves can be fused, odd ones cannot. */
static const struct fake_parameter even_parameters[] = {{.name = "weight", .rank = 1, .shape = {4}}, {.name = NULL}};
static const struct fake_parameter odd_parameters[] = {{.name = "weight", .rank = 1, .shape = {3}}, {.name = NULL}};
static const struct fake_child root_children[] = {{"a.stem", "Even", GRAFT_INTERFACE_LINEAR},
                                                  {"b.stem", "Odd", GRAFT_INTERFACE_LINEAR},
                                                  {"c.stem", "Even", GRAFT_INTERFACE_LINEAR},
                                                  {"top", "Even", GRAFT_INTERFACE_LINEAR},
                                                  {NULL, NULL, NULL}};
static const struct fake_structure even_structure = {.parameters = even_parameters};
static const struct fake_structure odd_structure = {.parameters = odd_parameters};
static const struct fake_structure root_structure = {.children = root_children};

static int linear_forward(void *self, const struct graft_call *call, const struct graft_linear_args *args,
                          struct graft_error *error) {
    (void)self, (void)call, (void)args, (void)error;
    return GRAFT_OK;
}

static const struct graft_linear vtable = {.struct_size = sizeof vtable, .forward = linear_forward};

static const struct graft_class even = FAKE_CLASS("Even", GRAFT_INTERFACE_LINEAR, &even_structure);
static const struct graft_class odd = FAKE_CLASS("Odd", GRAFT_INTERFACE_LINEAR, &odd_structure);
static const struct graft_class root = FAKE_CLASS("Root", ROOT, &root_structure);
static const struct graft_class mine = FAKE_CLASS("Mine", GRAFT_INTERFACE_LINEAR, &odd_structure);

/* --- The fusion family of these tests, which counts its calls --- */

static int asked;
static int made;

static int is_fusable(const struct graft_fusion_family *self, const struct graft_module_info *module,
                      const struct graft_config *options, struct graft_fusion_verdict *verdict,
                      struct graft_error *error) {
    int64_t shape[GRAFT_MAX_RANK] = {0};
    (void)self, (void)options, (void)error;
    asked++;
    if (module->parameter(module->data, "weight", shape) != 1) {
        return graft_fusion_decide(verdict, 0, "it has no weight");
    }
    return shape[0] % 2 == 0 ? graft_fusion_decide(verdict, 1, "its weight can be halved")
                             : graft_fusion_decide(verdict, 0, "its weight is odd");
}

/* Describes what the argument selects. */
static int fused_describe(const struct graft_class *cls, const struct graft_config *config,
                          const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    int64_t half = graft_args_int(args, "half", 0);
    (void)cls, (void)config;
    return graft_describe_parameter(sink, "halves", 1, &half, 0, GRAFT_INIT_NONE, error);
}

static const struct graft_class fused = {
    .struct_size = sizeof fused,
    .interface_id = GRAFT_INTERFACE_LINEAR,
    .describe = fused_describe,
    .create = graft_create_stateless,
    .forward = &vtable,
};

static const struct graft_class *make_fused_class(const struct graft_fusion_family *self,
                                                  const struct graft_module_info *module,
                                                  const struct graft_config *options,
                                                  const struct graft_fusion_sink *sink, struct graft_error *error) {
    int64_t shape[GRAFT_MAX_RANK] = {0};
    (void)options;
    made++;
    (void)module->parameter(module->data, "weight", shape);
    const struct graft_arg half = graft_int_arg("half", shape[0] / 2);
    const struct graft_args args = graft_args_of(&half, 1);
    return sink->arguments(sink->data, &args, error) == GRAFT_OK ? self->data : NULL;
}

static const char *const sources[] = {"weight"};
static const char *const targets[] = {"halves"};

static int make_transforms(const struct graft_fusion_family *self, const struct graft_config *config,
                           const struct graft_module_info *module, const struct graft_config *options,
                           const struct graft_fusion_sink *sink, struct graft_error *error) {
    const struct graft_conversion rename = GRAFT_RENAMING(sources, targets);
    (void)self, (void)config, (void)module, (void)options;
    return sink->conversion(sink->data, &rename, error);
}

static const char *const patterns[] = {"(^|\\.)stem$", NULL};

#define FAMILY(family_name, family_patterns, fused_class)                                                             \
    {                                                                                                                 \
        .struct_size = sizeof(struct graft_fusion_family), .name = (family_name), .description = "-",                 \
        .target_modules_patterns = (family_patterns), .is_fusable = is_fusable, .make_fused_class = make_fused_class, \
        .make_transforms = make_transforms, .data = (fused_class)                                                     \
    }

static const struct graft_fusion_family stems = FAMILY("stems", patterns, &fused);
static const struct graft_fusion_family twins = FAMILY("twins", NULL, &fused);
static const struct graft_origin origin = {.plugin = "halving", .file = "halving.so"};

/* --- Opening with a fusion_config --- */

static struct fake_model model;
static graft_json *document;

static graft_json *parse(const char *text) {
    graft_json *value = NULL;
    struct graft_error error = graft_error_none();
    assert_int_equal(graft_json_parse(text, strlen(text), "test", &value, &error), GRAFT_OK);
    return value;
}

static void add_family(const struct graft_fusion_family *family) {
    assert_int_equal(graft_registry_add_fusion(model.registry, family, &origin, &model.error), GRAFT_OK);
}

static int set_up(void **state) {
    (void)state;
    fake_model_init(&model);
    fake_model_add(&model, &even);
    fake_model_add(&model, &odd);
    fake_model_add(&model, &root);
    add_family(&stems);
    document = parse("{\"size\": 1}");
    model.config.document = document;
    asked = made = 0;
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    fake_model_finish(&model);
    graft_json_free(document);
    return 0;
}

static int open_with(const char *fusion_config) {
    const struct graft_fusion_source source = {"test", GRAFT_ERROR_USAGE};
    struct graft_snapshot *snapshot = graft_registry_snapshot(model.registry);
    struct graft_fusion_request request;
    struct graft_tree_options options = {
        .config = &model.config, .snapshot = snapshot, .class_name = "Root", .fusion = &request};
    graft_json *config = parse(fusion_config);
    graft_tree_free(model.tree);
    model.tree = NULL;
    model.error = graft_error_none();
    int status = graft_fusion_request_read(snapshot, config, &source, &request, &model.error);
    if (status == GRAFT_OK) {
        status = graft_tree_build(&options, &model.tree, &model.error);
    }
    graft_fusion_request_finish(&request);
    graft_json_free(config);
    graft_snapshot_release(snapshot);
    assert_int_equal(status, model.error.code);
    return status;
}

static void assert_class(const char *path, const char *class_name) {
    assert_string_equal(fake_model_node(&model, path)->class_name, class_name);
}

static void test_paths_that_fit(void **state) {
    (void)state;
    assert_int_equal(open_with("{\"stems\": true}"), GRAFT_OK);
    assert_class("a.stem", "FusedEven");
    assert_class("b.stem", "Odd");
    assert_class("c.stem", "FusedEven");
    assert_class("top", "Even");
    const struct graft_node *node = fake_model_node(&model, "a.stem");
    assert_string_equal(node->known->origin.plugin, "halving");
    assert_string_equal(node->original->cls->name, "Even");
    assert_int_equal(graft_node_parameter(node, "halves")->shape[0], 2);
    assert_int_equal(node->described_by->cls->n_conversions, 1);
    assert_string_equal(node->described_by->cls->conversions[0].sources[0], "weight");
}

static void test_nothing_asked(void **state) {
    static const char *const configs[] = {"{}", "null", "{\"stems\": false}"};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(open_with(configs[i]), GRAFT_OK);
        assert_class("a.stem", "Even");
        assert_int_equal(model.tree->n_fused_modules, 0);
    }
    assert_int_equal(asked, 0);
}

static void test_reasons(void **state) {
    static const char *const rows[][2] = {{"a.stem", "its weight can be halved"},
                                          {"b.stem", "its weight is odd"},
                                          {"c.stem", "its weight can be halved"},
                                          {"top", "its path is not one of \"(^|\\.)stem$\""}};
    (void)state;
    assert_int_equal(open_with("{\"stems\": {\"any\": \"option\"}}"), GRAFT_OK);
    assert_int_equal(model.tree->n_fused_modules, 1);
    const struct graft_fused_modules *discovery = model.tree->fused_modules[0];
    assert_int_equal(discovery->n, 4);
    for (size_t i = 0; i < 4; i++) {
        struct graft_text reason = {0};
        assert_string_equal(discovery->candidates[i]->path, rows[i][0]);
        assert_string_equal(discovery->candidates[i]->reason, rows[i][1]);
        int is_fused = graft_tree_is_fused(model.tree, discovery->candidates[i], &reason);
        assert_int_equal(is_fused, i % 2 == 0);
        assert_true(is_fused || strcmp(reason.bytes, rows[i][1]) == 0);
        graft_text_free(&reason);
    }
}

/* A second model of the same class, config and options calls no function of the family; another config or other options
 * do. */
static void test_discovery_is_kept(void **state) {
    (void)state;
    assert_int_equal(open_with("{\"stems\": true}"), GRAFT_OK);
    int once = asked;
    assert_true(once > 0);
    const struct graft_fused_modules *first = model.tree->fused_modules[0];
    assert_int_equal(open_with("{\"stems\": {}}"), GRAFT_OK); /* as true */
    assert_ptr_equal(model.tree->fused_modules[0], first);
    assert_int_equal(asked, once);
    assert_int_equal(made, 2);
    assert_int_equal(open_with("{\"stems\": {\"x\": 1}}"), GRAFT_OK);
    assert_int_equal(asked, 2 * once);
    graft_json_free(document);
    document = parse("{\"size\": 2}");
    model.config.document = document;
    assert_int_equal(open_with("{\"stems\": true}"), GRAFT_OK);
    assert_int_equal(asked, 3 * once);
    assert_class("a.stem", "FusedEven");
}

/* With more configs than the limit the oldest results are dropped, and nothing breaks. */
static void test_many_configs(void **state) {
    (void)state;
    for (int i = 0; i < 40; i++) {
        char text[64];
        (void)snprintf(text, sizeof text, "{\"stems\": {\"x\": %d}}", i);
        assert_int_equal(open_with(text), GRAFT_OK);
    }
    int before = asked;
    assert_int_equal(open_with("{\"stems\": {\"x\": 39}}"), GRAFT_OK);
    assert_int_equal(asked, before);
    assert_int_equal(open_with("{\"stems\": {\"x\": 0}}"), GRAFT_OK);
    assert_true(asked > before);
}

static void assert_refused(const char *fusion_config, const char *message) {
    assert_int_not_equal(open_with(fusion_config), GRAFT_OK);
    if (strstr(model.error.message, message) == NULL) {
        fail_msg("expected \"%s\", got \"%s\"", message, model.error.message);
    }
}

static void test_bad_requests(void **state) {
    (void)state;
    add_family(&twins);
    assert_refused("{\"stems\": true, \"stem\": true}", "there is no fusion family \"stem\"; known: stems, twins");
    assert_refused("{\"unknown\": false}", "there is no fusion family \"unknown\"");
    assert_refused("{\"stems\": 1}",
                   "fusion_config.stems: expected true, false or an object of options, got an integer");
    assert_refused("{\"stems\": null}", "got null; known: stems, twins");
    assert_refused("{\"stems\": \"yes\"}", "got a string");
    assert_refused("{\"stems\": []}", "got an array");
    assert_refused("[\"stems\"]", "expected an object of fusion families, got an array");
    assert_int_equal(asked, 0);
}

static void test_user_order(void **state) {
    struct graft_fusion_request request;
    const struct graft_fusion_source source = {"test", GRAFT_ERROR_USAGE};
    (void)state;
    add_family(&twins);
    struct graft_snapshot *snapshot = graft_registry_snapshot(model.registry);
    graft_json *config = parse("{\"twins\": {}, \"stems\": true}");
    assert_int_equal(graft_fusion_request_read(snapshot, config, &source, &request, &model.error), GRAFT_OK);
    assert_int_equal(request.n, 2);
    assert_string_equal(graft_fusion_family_of(request.choices[0].known)->name, "twins");
    assert_string_equal(graft_fusion_family_of(request.choices[1].known)->name, "stems");
    graft_fusion_request_finish(&request);
    graft_json_free(config);
    graft_snapshot_release(snapshot);
}

static void test_registered_twice(void **state) {
    static const struct graft_fusion_family other = FAMILY("stems", patterns, &fused);
    (void)state;
    add_family(&stems);
    assert_int_equal(open_with("{\"stems\": true}"), GRAFT_OK);
    assert_int_equal(model.tree->n_fused_modules, 1);
    assert_int_equal(graft_registry_add_fusion(model.registry, &other, &origin, &model.error), GRAFT_ERROR_PLUGIN);
    assert_non_null(
        strstr(model.error.message, "fusion family stems: there is already one with that name in halving.so"));
}

/* A fusion that is requested by name takes effect, and a note says so to the plugin that wanted the module. */
static int remember(void *data, char *note_take, size_t unused_plugins, struct graft_error *error) {
    (void)unused_plugins;
    (void)error;
    (void)snprintf(data, 256, "%s", note_take);
    graft_free(note_take);
    return GRAFT_OK;
}

static void test_before_plugins(void **state) {
    static const struct graft_replacement replace = {.struct_size = sizeof replace,
                                                     .key = GRAFT_KEY_NAME,
                                                     .target = "Even",
                                                     .replacement = &mine,
                                                     .module_path = "^a\\."};
    char note[256] = "";
    (void)state;
    fake_model_replace(&model, &replace);
    assert_int_equal(open_with("{\"stems\": true}"), GRAFT_OK);
    assert_class("a.stem", "FusedEven");
    assert_int_equal(graft_assignment_notes(model.tree->assignment, remember, note, &model.error), GRAFT_OK);
    assert_string_equal(note, "plugin test has no effect on this model");
    assert_int_equal(open_with("{}"), GRAFT_OK);
    assert_class("a.stem", "Mine");
}

/* A child that a replaced parent lacks cannot be fused. */
static const struct fake_child bare_children[] = {{"a.stem", "Odd", GRAFT_INTERFACE_LINEAR}, {NULL, NULL, NULL}};
static const struct fake_structure bare_structure = {.children = bare_children};
static const struct graft_class bare = FAKE_CLASS("Bare", ROOT, &bare_structure);
static const struct graft_replacement make_bare = {
    .struct_size = sizeof make_bare, .key = GRAFT_KEY_NAME, .target = "Root", .replacement = &bare};

static void test_below_replaced(void **state) {
    struct graft_text text = {0};
    (void)state;
    fake_model_replace(&model, &make_bare);
    assert_int_equal(open_with("{\"stems\": true}"), GRAFT_OK);
    assert_class("a.stem", "Odd");
    const struct graft_fused_modules *discovery = model.tree->fused_modules[0];
    assert_int_equal(graft_tree_is_fused(model.tree, discovery->candidates[0], &text), 0);
    graft_text_add_string(&text, "; ");
    assert_int_equal(graft_tree_is_fused(model.tree, discovery->candidates[2], &text), 0);
    assert_string_equal(text.bytes, "it is no longer a Even: a module above it was replaced; "
                                    "it is gone: a module above it was replaced");
    graft_text_free(&text);
    graft_tree_fusion_note(model.tree, discovery, &text);
    assert_string_equal(text.bytes,
                        "fusion stems: nothing in this model is compatible: a.stem: it is no longer a Even: a module "
                        "above it was replaced; b.stem: its weight is odd; c.stem: it is gone: a module above it was "
                        "replaced; top: its path is not one of \"(^|\\.)stem$\"");
    graft_text_free(&text);
}

/* In the mapping a fusion is an element like any other, except that it lists the modules that fit. */
static void test_in_the_mapping(void **state) {
    struct graft_class plain = fused;
    const struct graft_patch earlier = {.struct_size = sizeof earlier, .key = "Even", .replacement = &plain};
    struct graft_patch *patches = NULL;
    size_t n = 0;
    (void)state;
    assert_int_equal(open_with("{\"stems\": true}"), GRAFT_OK);
    const struct graft_fused_modules *discovery = graft_fused_modules_retain(model.tree->fused_modules[0]);
    plain.name = "Earlier";
    assert_int_equal(graft_registry_register(model.registry, &earlier, 1, 0, &model.error), GRAFT_OK);
    for (int i = 0; i < 2; i++) { /* twice is once */
        assert_int_equal(graft_registry_put_fusion(model.registry, discovery, "fake", &model.error), GRAFT_OK);
        assert_int_equal(graft_registry_patches(model.registry, &patches, &n, &model.error), GRAFT_OK);
        assert_int_equal(n, 1);
        assert_string_equal(patches[0].key, "Even");
        assert_string_equal(patches[0].replacement->name, "FusedEven");
        graft_patches_free(patches);
    }
    assert_int_equal(open_with("{}"), GRAFT_OK);
    assert_class("a.stem", "FusedEven");
    assert_class("b.stem", "Odd");
    assert_class("top", "Even");
    assert_int_equal(graft_node_parameter(fake_model_node(&model, "c.stem"), "halves")->shape[0], 2);
    model.config.model_type = "other";
    assert_int_equal(open_with("{}"), GRAFT_OK);
    assert_class("a.stem", "Even");
    model.config.model_type = "fake";
    graft_fused_modules_release(discovery);
    assert_int_equal(graft_registry_clear(model.registry, &model.error), GRAFT_OK);
    assert_int_equal(open_with("{}"), GRAFT_OK);
    assert_class("a.stem", "Even");
}

static void test_two_families_one_module(void **state) {
    (void)state;
    add_family(&twins);
    assert_refused("{\"twins\": true, \"stems\": true}", "fusion families twins and stems both fuse this module");
    assert_string_equal(model.error.source, "a.stem");
}

/* The root takes a tensor that belongs to a fused module. */
static const char *const root_sources[] = {"c.*.weight"};
static const char *const root_targets[] = {"extra"};
static const struct graft_operation merge = {.struct_size = sizeof merge, .kind = GRAFT_OP_MERGE_MODULELIST, .dim = 0};
static const struct graft_conversion root_conversion = {
    .struct_size = sizeof root_conversion,
    .n_sources = 1,
    .sources = root_sources,
    .n_targets = 1,
    .targets = root_targets,
    .n_operations = 1,
    .operations = &merge,
    .operation_stride = sizeof merge,
};

static void test_conversions_collide(void **state) {
    static struct graft_class greedy = FAKE_CLASS("Greedy", ROOT, &root_structure);
    static const struct graft_replacement make_greedy = {
        .struct_size = sizeof make_greedy, .key = GRAFT_KEY_NAME, .target = "Root", .replacement = &greedy};
    (void)state;
    greedy.conversions = &root_conversion;
    greedy.n_conversions = 1;
    greedy.conversion_stride = sizeof root_conversion;
    fake_model_replace(&model, &make_greedy);
    assert_int_equal(open_with("{}"), GRAFT_OK);
    assert_refused("{\"stems\": true}", "fusion stems: its conversion of weight collides with that of Greedy at ");
    assert_string_equal(model.error.source, "c.stem");
}

/* --- Results of a family are checked --- */

static void test_bad_class(void **state) {
    static struct graft_class bad;
    static const struct graft_fusion_family broken = FAMILY("broken", patterns, &bad);
    static const struct graft_fusion_family silent = FAMILY("silent", patterns, NULL);
    (void)state;
    add_family(&broken);
    add_family(&silent);
    assert_refused("{\"silent\": true}", "fusion family silent: make_fused_class failed without recording an error");
    bad = fused;
    bad.struct_size = 8;
    assert_refused("{\"broken\": true}", "broken.make_fused_class.struct_size: ");
    bad = fused;
    bad.n_conversions = 1;
    bad.conversions = &root_conversion;
    assert_refused("{\"broken\": true}",
                   "broken.make_fused_class.n_conversions: expected 0, because make_transforms gives");
    bad = fused;
    bad.forward = NULL;
    assert_refused("{\"broken\": true}", "broken.make_fused_class.forward: ");
    bad = fused;
    bad.interface_id = "graft.mlp/1";
    assert_refused("{\"broken\": true}",
                   "broken.make_fused_class.interface_id: expected graft.linear/1, that of Even at "
                   "a.stem, got graft.mlp/1");
    bad = fused;
    assert_int_equal(open_with("{\"broken\": true}"), GRAFT_OK);
}

static int bad_transforms(const struct graft_fusion_family *self, const struct graft_config *config,
                          const struct graft_module_info *module, const struct graft_config *options,
                          const struct graft_fusion_sink *sink, struct graft_error *error) {
    (void)config, (void)module, (void)options;
    return sink->conversion(sink->data, self->data, error);
}

static const struct graft_class *plain_fused_class(const struct graft_fusion_family *self,
                                                   const struct graft_module_info *module,
                                                   const struct graft_config *options,
                                                   const struct graft_fusion_sink *sink, struct graft_error *error) {
    (void)self, (void)module, (void)options;
    const struct graft_arg half = graft_int_arg("half", 1);
    const struct graft_args args = graft_args_of(&half, 1);
    assert_int_equal(sink->arguments(sink->data, &args, error), GRAFT_OK);
    return &fused;
}

static void test_bad_transforms(void **state) {
    static const char *const absolute[] = {".weight"};
    static const struct graft_conversion conversion = GRAFT_RENAMING(absolute, targets);
    struct graft_fusion_family broken = FAMILY("broken", patterns, &conversion);
    (void)state;
    broken.make_fused_class = plain_fused_class;
    broken.make_transforms = bad_transforms;
    add_family(&broken);
    assert_refused("{\"broken\": true}", "broken.make_transforms.sources[0]: expected a name relative to the module");
}

/* With any failed allocation, opening fails cleanly or succeeds. */
static void test_without_memory(void **state) {
    (void)state;
    int status = GRAFT_ERROR_INTERNAL;
    for (long n = 1; status != GRAFT_OK && n < 4000; n++) {
        struct graft_snapshot *snapshot = graft_registry_snapshot(model.registry);
        struct graft_fusion_request request = {0};
        struct graft_fusion_choice choice = {graft_snapshot_fusion(snapshot, "stems"), NULL};
        struct graft_tree_options options = {
            .config = &model.config, .snapshot = snapshot, .class_name = "Root", .fusion = &request};
        struct graft_error error = graft_error_none();
        struct graft_tree *tree = NULL;
        request.choices = &choice;
        request.n = 1;
        graft_alloc_fail_at(n);
        status = graft_tree_build(&options, &tree, &error);
        graft_alloc_fail_at(0);
        assert_int_equal(status, error.code);
        graft_tree_free(tree);
        graft_snapshot_release(snapshot);
    }
    assert_int_equal(status, GRAFT_OK);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_paths_that_fit, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_nothing_asked, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_reasons, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_discovery_is_kept, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_many_configs, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_bad_requests, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_user_order, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_registered_twice, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_before_plugins, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_below_replaced, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_in_the_mapping, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_two_families_one_module, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_conversions_collide, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_bad_class, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_bad_transforms, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_without_memory, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
